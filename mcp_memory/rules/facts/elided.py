"""Verbs that have left out their subject: "… and moved to Oslo", "Just sold the car", "Still driving the bus"."""

from __future__ import annotations

from collections.abc import Sequence

from mcp_memory.rules.facts import grammar
from mcp_memory.rules.facts.tables import small_words as small
from mcp_memory.rules.facts.verbgroup import Verb, verb_at
from mcp_memory.rules.facts.verbs import reading
from mcp_memory.rules.facts.words import Word

_STILL = frozenset(("still", "currently", "now"))


def without_subject(
    words: Sequence[Word], first: int, last: Verb | None, adverbs: frozenset[str], *, shared: bool, talk: bool
) -> Verb | None:
    """Return the verb at ``first`` of a clause that shares the subject before it, or that has left out its "I".

    Args:
        words: of the sentence.
        first: place of the first word of the clause.
        last: the verb of the clause before it.
        adverbs: read before the clause.
        shared: whether it is joined to that clause, so that it may share its subject.
        talk: whether somebody speaks.
    """
    verb = verb_at(words, first)
    if verb is None:
        return _going_on(words, first, adverbs) if talk and last is None else None
    word = words[first]
    if word.capital and first and not grammar.is_adverb(words, first):
        return None
    if last is not None and shared:
        fits = verb.tense != "present" or last.tense != "past" or bool({"now", "still"} & verb.adverbs)
        return verb if fits or word.low in small.AUXILIARIES else None
    main = reading(words[verb.place - 1].low)
    opens = (
        last is None
        and talk
        and all(before.mark or grammar.is_adverb(words, n) for n, before in enumerate(words[:first]))
    )
    if opens and not verb.passive and verb.tense == "past" and main and word.low not in small.AUXILIARIES:
        return verb
    return None


def _going_on(words: Sequence[Word], first: int, adverbs: frozenset[str]) -> Verb | None:
    """Return the verb of "Still driving the bus" and "Currently reading …", told of who speaks."""
    word = words[first]
    main = reading(word.low) if word.kind == "word" and not word.capital else None
    if main is None or main.forms != {"ing"} or not adverbs & _STILL:
        return None
    return Verb(main.lemma, first + 1, word.start, word.end, progressive=True, adverbs=frozenset(("still",)))
