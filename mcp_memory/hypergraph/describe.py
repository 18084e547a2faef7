"""What a point says, taken word for word from what supports it: no sentence twice, and few enough to read.

**Departures.** In the paper a language model writes the description (Ω^rel). Without one it is an extract: sentences in
their order, without those that repeat an earlier one (ROUGE-L), as far as the words suffice.
"""

from __future__ import annotations

from collections.abc import Sequence

from mcp_memory.language.rouge import rouge_l
from mcp_memory.language.sentences import split
from mcp_memory.language.tokens import words


def extract(texts: Sequence[str], priority: Sequence[int], most: int, redundant: float) -> str:
    """Return texts as one, in their order, without repetitions.

    Args:
        texts: sentences, in the order in which they are to be read.
        priority: places of texts, those that are to be kept first.
        most: words; the first is kept whole, however long it is.
        redundant: ROUGE-L from which on one repeats another that is kept.
    """
    kept: dict[int, list[str]] = {}
    room = most
    for place in priority:
        said = words(texts[place])
        if any(rouge_l(said, other) >= redundant for other in kept.values()):
            continue
        room -= len(texts[place].split())
        if room < 0 and kept:
            break
        kept[place] = said
    return " ".join(" ".join(texts[place].split()) for place in sorted(kept))


def united(descriptions: Sequence[str], most: int, redundant: float) -> str:
    """Return several descriptions as one; arguments as `extract`."""
    texts = [text[start:end] for text in descriptions for start, end in split(text)]
    return extract(texts, range(len(texts)), most, redundant)
