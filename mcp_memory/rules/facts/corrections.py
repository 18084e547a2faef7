"""Read "X, not Y", "X instead of Y" and "X rather than Y" in a clause as two: one that states X, one that denies Y.

What verbs say about a change ("switched from A to B", "replaced", "decided against") is in the tables of the verbs. A
slip that is mended at once ("… is Hale. Sorry, I meant Lind") is not read: beside it nothing is certain.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace

from mcp_memory.language.vocabulary import word_set
from mcp_memory.rules.facts import grammar
from mcp_memory.rules.facts.clause import Clause
from mcp_memory.rules.facts.complements import Slot
from mcp_memory.rules.facts.coordination import read_phrases
from mcp_memory.rules.facts.noun_phrases import NounPhrase
from mcp_memory.rules.facts.tables import closed
from mcp_memory.rules.facts.verb_groups import low_at
from mcp_memory.rules.facts.words import Word

_LIKING = word_set("like love enjoy hate dislike adore prefer")
_OVER = frozenset(("any more",))
_CONTRASTS = (("instead", "of"), ("rather", "than"))


@dataclass(frozen=True, slots=True)
class _Value:
    """A phrase that is denied, with its preposition if it has one."""

    preposition: str
    nouns: tuple[NounPhrase, ...]


def with_corrections(words: Sequence[Word], clauses: Sequence[Clause]) -> list[Clause]:
    """Return the clauses of a sentence with those that deny what it corrects.

    Args:
        words: the words of the sentence.
        clauses: read of it, in order.
    """
    starts = [word.start for word in words]
    corrected: list[Clause] = []
    for clause in clauses:
        clause, denial = _contrast(clause)
        following = bisect_left(starts, clause.end)
        if denial is None and clause.confidence > 0 and not clause.verb.negated and following < len(words):
            denial = _not(words, clause, following)
        corrected += [clause] if denial is None else [clause, denial]
    return corrected


def _contrast(clause: Clause) -> tuple[Clause, Clause | None]:
    """Return a clause without its "instead of Y", and the clause that denies Y."""
    for place, slot in enumerate(clause.slots):
        for adverb, preposition in _CONTRASTS:
            if place and slot.preposition == preposition and adverb in clause.adverbs:
                rest = (*clause.slots[:place], *clause.slots[place + 1 :])
                kept = replace(clause, slots=rest)
                value = _Value("", slot.nouns)
                denial = None if clause.verb.negated else _denial(replace(clause, slots=clause.slots[:place]), value)
                return kept, denial
    return clause, None


def _not(words: Sequence[Word], clause: Clause, index: int) -> Clause | None:
    """Return the clause that ", not Y" or "and not Y" behind a clause denies."""
    if words[index].mark and words[index].text in (",", "—", "–", "-", "("):
        index += 1
    if low_at(words, index) == "and":
        index += 1
    value = _value(words, index + 1) if low_at(words, index) in ("not", "n't") else None
    return _denial(clause, value) if value else None


def _value(words: Sequence[Word], index: int) -> _Value | None:
    """Return the phrase at an index that ends there, before a mark, an adverb, a time or a conjunction."""
    preposition = ""
    if low_at(words, index) in closed.PREPOSITIONS and not words[index].capital:
        preposition = words[index].low
        index += 1
    if index >= len(words) or words[index].kind in ("time", "speech"):
        return None
    nouns, after = read_phrases(words, index, verb_seen=True)
    if not nouns:
        return None
    following = grammar.skip_adverbials(words, after)
    ends = following >= len(words) or words[following].mark or words[following].low in ("and", "but", "because", "who")
    return _Value(preposition, nouns) if ends else None


def _with_value(clause: Clause, value: _Value) -> Clause | None:
    """Return a clause with another value in the slot that it fits: that of its preposition, otherwise the last."""
    if not clause.slots or any(noun.pronoun for noun in value.nouns):
        return None
    place = len(clause.slots) - 1
    if value.preposition:
        fitting = [n for n, slot in enumerate(clause.slots) if slot.preposition == value.preposition]
        if not fitting:
            return None
        place = fitting[-1]
    slot = Slot(clause.slots[place].preposition, value.nouns, value.nouns[-1].end)
    return replace(clause, slots=(*clause.slots[:place], slot), end=max(clause.end, slot.end))


def _denial(clause: Clause, value: _Value) -> Clause | None:
    """Return the clause that denies a value of another clause, or its subject: "Dana runs the shop, not Dennis"."""
    if clause.verb.lemma in _LIKING or clause.verb.unreal or not clause.slots:
        return None
    denied: Clause | None
    last, other = clause.slots[-1].nouns[-1], value.nouns[-1]
    of_subject = bool(other.name) and not last.name and bool(clause.subject) and bool(clause.subject[-1].name)
    if of_subject and not value.preposition:
        denied = replace(clause, subject=value.nouns, end=max(clause.end, value.nouns[-1].end))
    else:
        denied = _with_value(clause, value)
    return _denied(denied) if denied is not None else None


def _denied(clause: Clause) -> Clause:
    return replace(clause, verb=replace(clause.verb, negated=True), adverbs=(clause.adverbs - {"now"}) | _OVER)
