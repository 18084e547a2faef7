"""Prompt rendering: evidence for a model as numbered lines between two marks that cannot be guessed.

Stored text is data. Each text is one line, without invisible characters, behind a number of ours, between two lines
with the same random mark: it can neither pass for another line nor end the data. The numbers are valid for this one
call; the model's citations are looked up among them, and an unknown number is ignored. Everything that Claude sees is
rendered like this: the evidence of a question in ``evidence.py``, other data in the modules that ask about them.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass

from mcp_memory.domain.evidence import Citation
from mcp_memory.domain.points import Point
from mcp_memory.language.tokens import stems
from mcp_memory.reasoning.anthropic.client import estimate_tokens

LINE_CHARS = 600
"""Length of a line; a longer sentence is cut."""
BEFORE = 4
"""A part of a long sentence begins a line's length divided by this before a word that is asked for."""
_WORD = re.compile(r"\w[\w'’-]*")
MARK_BYTES = 8
FRAME_TOKENS = 2 * estimate_tokens(f"=== {'0' * 2 * MARK_BYTES} ===")


@dataclass(frozen=True, slots=True)
class CitableItem:
    """What a number stands for.

    Attributes:
        key: identifies the item, so that a judge that is asked again need not see it twice; see `Judgement`.
        citations: where it is stated.
        certain: whether it is stated with certainty (no hypothesis, DESIGN I11) and not marked as wrong for this
            question.
        gate: how helpful it is known to be for the question; see `EvidenceSentence`.
        places: the turn and first character of each sentence that a piece of a turn consists of; else empty.
        point: that it is; None for anything else.
    """

    key: Hashable
    citations: tuple[Citation, ...]
    certain: bool = True
    gate: float = 1.0
    places: frozenset[tuple[str, int]] = frozenset()
    point: Point | None = None

    @property
    def keys(self) -> frozenset[Hashable]:
        """What a judge that is asked again need not see once more."""
        return frozenset(self.places) or frozenset([self.key])


@dataclass(frozen=True, slots=True)
class RenderedEvidence:
    """What a model sees, and what its numbers mean.

    Attributes:
        text: points, facts, context and sentences, between two lines with the same mark.
        cited: by number, ``P1`` for a memory point, ``S1`` for a piece of a turn and ``F1`` for a fact.
    """

    text: str
    cited: dict[str, CitableItem]


def frame(lines: Iterable[str]) -> str:
    """Return lines of data between two lines with the same mark, which takes `FRAME_TOKENS`."""
    frame = f"=== {secrets.token_hex(MARK_BYTES)} ==="
    return "\n".join((frame, *lines, frame))


def normalise_number(number: str) -> str:
    """Return a line number in our form, such as ``S1``, however the model writes it."""
    return number.strip("[] \n").upper()


def one_line(text: str, most: int = LINE_CHARS) -> str:
    """Return a text on one line, without invisible characters, cut after ``most`` characters."""
    line = _visible(text)
    return line if len(line) <= most else f"{line[:most]} …"


def telling_line(text: str, weights: Mapping[str, float], most: int = LINE_CHARS) -> str:
    """Return a text on one line as `one_line` does, of a long text the part whose words weigh most, the earliest.

    Args:
        text: of one sentence; tables that became one sentence have thousands of characters.
        weights: of the stems of what is asked for.
        most: characters.
    """
    line = _visible(text)
    if len(line) <= most:
        return line
    said = [(match.start(), stem) for match in _WORD.finditer(line) for stem in stems(match[0]) if stem in weights]

    def worth(begin: int) -> float:
        return sum(weights[stem] for stem in {stem for place, stem in said if begin <= place < begin + most})

    begins = [0]
    for place, _ in said:
        early = max(0, place - most // BEFORE)  # with the words before it, and more of those behind it
        begins.append(line.rfind(" ", 0, early) + 1 if early else 0)
    begin = max(begins, key=lambda begin: (worth(begin), -begin))
    cut = line[begin : begin + most]
    return f"{'… ' if begin else ''}{cut}{' …' if begin + most < len(line) else ''}"


def _visible(text: str) -> str:
    shown = "".join(char if char.isprintable() else " " if char.isspace() else "" for char in text)
    return " ".join(shown.split())
