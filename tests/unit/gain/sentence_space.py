"""A space made by hand of passages, each a list of sentences with the names in it and its vector."""

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.turns import Kind, Segment, Sentence, Turn
from mcp_memory.view.entities import EntityIndex
from mcp_memory.view.space import Space

Line = tuple[str, Sequence[float]]


def capitals(_: Turn, sentence: str) -> list[str]:
    """Every word with a capital is a name."""
    return [word.strip(".") for word in sentence.split() if word[0].isupper()]


def documents(
    *passages: Sequence[Line], kind: Kind = "document", named: Callable[[Turn, str], Iterable[str]] = capitals
) -> Space:
    """Return a space of documents, one segment each; the sentences are ``s_0.0``, ``s_0.1``, ``s_1.0`` and so on."""
    turns, segments, sentences = [], [], []
    for number, lines in enumerate(passages):
        text = " ".join(words for words, _ in lines)
        turns.append(Turn(f"t_{number}", "x", "s", str(number), kind, text, None, None, None, number, number, 0, 0))
        segments.append(Segment(f"g_{number}", "x", f"t_{number}", 0, 0, len(text), 0, len(lines) - 1))
        start = 0
        for index, (words, _) in enumerate(lines):
            end = start + len(words)
            sentences.append(Sentence(f"s_{number}.{index}", "x", f"t_{number}", index, start, end, ()))
            start = end + 1
    rows = np.array([vector for lines in passages for _, vector in lines], dtype=np.float32)
    space = Space("x", (lambda: EntityIndex(named),))
    space.add(Batch(tuple(turns), tuple(segments), tuple(sentences), rows[[0] * len(segments)], rows))
    return space


def unit(seed: int, width: int = 6) -> np.ndarray:
    """Return some vector of length 1."""
    vector = np.random.default_rng(seed).normal(size=width)
    return (vector / np.linalg.norm(vector)).astype(np.float32)
