"""A clause, as the rules and the parser both give it to those who say what it means."""

from __future__ import annotations

from dataclasses import dataclass

from mcp_memory.rules.facts.complements import Slot
from mcp_memory.rules.facts.noun import Noun
from mcp_memory.rules.facts.verbgroup import Verb
from mcp_memory.rules.facts.words import Word


@dataclass(frozen=True, slots=True)
class Clause:
    """A subject, its verb, and what depends on it.

    Attributes:
        subject: one phrase or several; empty where it is left out at the start ("Just got back from Malta").
        verb: with all that stands around it.
        particles: words that belong to the verb ("up", "back in").
        slots: objects (under "") and prepositions with their phrases, in order.
        times: those that say when.
        adverbs: of the clause, in lower case.
        confidence: in [0, 1]; 0 for what is not asserted, 1 for what is said plainly.
        start: first character.
        end: first character after it.
        said_by: whoever is quoted as saying it.
        parsed: whether a parser read it, beside what the rules read.
    """

    subject: tuple[Noun, ...]
    verb: Verb
    particles: tuple[str, ...]
    slots: tuple[Slot, ...]
    times: tuple[Word, ...]
    adverbs: frozenset[str]
    confidence: float
    start: int
    end: int
    said_by: tuple[Noun, ...] = ()
    parsed: bool = False
