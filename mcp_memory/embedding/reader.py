"""The reader: a small cross-encoder, which reads two texts together where an embedder reads each alone.

It is all-MiniLM-L6-v2 with one output, trained by ``training/`` on invented worlds: how likely a record helps with a
query. The weights lie in ``resources/reader.onnx``, in 8 bits, beside ``reader.json``, which has their SHA-256: others
would rank differently without any visible error. The tokenizer is that of the embedder. Nothing is loaded before the
first pair.

Reading costs some milliseconds a pair and core, so it is for what a search has found.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mcp_memory.embedding.onnx import OnnxModel, clip
from mcp_memory.errors import EmbedderError
from mcp_memory.search.words import BEFORE_CHARS, READ_CHARS
from mcp_memory.vectors import Scores

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

PAIR_TOKENS: Final = 128
"""Tokens of a pair that are read, the three special ones included."""
FIRST_TOKENS: Final = 48
"""Tokens of the query: of a longer one the first and the last half of them, since a prompt asks at its end."""
PAIRS_AT_ONCE: Final = 4

REINSTALL: Final = (
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
        self._model = OnnxModel("reader", threads, REINSTALL)
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
        shown: a record as ``search/reading.py`` shows it; what stands before its first colon stays.

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
