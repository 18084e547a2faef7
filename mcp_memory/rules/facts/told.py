"""What a clause tells, before it is given its times and its place in the memory."""

from __future__ import annotations

from dataclasses import dataclass

from mcp_memory.rules.facts.frames import Effect
from mcp_memory.rules.facts.noun import Noun
from mcp_memory.rules.facts.words import Word


@dataclass(frozen=True, slots=True)
class Told:
    """One fact as a clause tells it.

    Attributes:
        head: whom it is about: a phrase, or a name that was made out already.
        relation: its name.
        tail: a phrase, or the words themselves.
        effect: what the moment does to it.
        times: that belong to this fact alone; None for those of its clause, () for what a phrase tells by itself ("my
            sister Anna"), which holds from when it was said whatever its clause is about.
        end: first character after the words that tell it; 0 for the end of its clause.
        affirmed: whether it holds although its verb is denied: "doesn't like ham" tells of a dislike.
    """

    head: Noun | str
    relation: str
    tail: Noun | str
    effect: Effect = "state"
    times: tuple[Word, ...] | None = None
    end: int = 0
    affirmed: bool = False
