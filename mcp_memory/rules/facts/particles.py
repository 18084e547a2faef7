"""The particles of a verb: "grow up", "move back in" are verbs of their own in the table."""

from __future__ import annotations

from collections.abc import Sequence

from mcp_memory.rules.facts import grammar
from mcp_memory.rules.facts.frames import by_verb
from mcp_memory.rules.facts.tables import small_words as small
from mcp_memory.rules.facts.verbgroup import Verb
from mcp_memory.rules.facts.words import Word


def particles_of(words: Sequence[Word], verb: Verb) -> tuple[tuple[str, ...], int]:
    """Return the words behind a verb that belong to it by the table, and the place after them."""
    for passive in dict.fromkeys((verb.passive, False)):
        for frame in by_verb().get((passive, verb.lemma), ()):
            place = verb.place
            while (
                place < len(words)
                and grammar.is_adverb(words, place)
                and frame.particles
                and words[place].low not in frame.particles
                and words[place].kind != "time"
            ):
                place += 1
            last = place + len(frame.particles)
            if not frame.particles or last > len(words):
                continue
            if tuple(word.low for word in words[place:last]) != frame.particles:
                continue
            if frame.particles[-1] in ("in", "on", "to") and not (
                last < len(words) and words[last].low in small.PREPOSITIONS and not words[last].capital
            ):
                continue
            return frame.particles, last
    return (), verb.place
