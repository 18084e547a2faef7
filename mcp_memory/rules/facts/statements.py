"""Match clauses against the rows of the relation table (`rules.facts.rows`): what each of them states.

For every phrase of a clause the first row that fits gives the relation. A row fits if its word and particles are those
of the clause, the phrase stands in one of its slots and is of its kind of thing, and the clause meets its conditions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from mcp_memory.domain.relations import Effect, Row, Sort, relations
from mcp_memory.language.vocabulary import RELATIVES, word_set
from mcp_memory.rules.facts import kinds
from mcp_memory.rules.facts.claims import Claim
from mcp_memory.rules.facts.clauses import Clause
from mcp_memory.rules.facts.complements import Slot
from mcp_memory.rules.facts.noun_phrases import NounPhrase
from mcp_memory.rules.facts.rows import rows
from mcp_memory.rules.facts.tables import closed, nouns
from mcp_memory.rules.facts.words import in_calendar

_POINTING = re.compile(r"(?:last|this|next|yesterday|today|tonight|tomorrow|recently|.*\bago\b)", re.IGNORECASE)
_EMPTY_SUBJECTS = word_set("it that this there")


def verb_statements(clause: Clause, *, talk: bool) -> Iterator[Claim]:
    """Yield what the verb of a clause states with its objects, prepositions and times.

    Args:
        clause: the clause of a sentence.
        talk: whether the text is a message, of which tails have to be clear (`kinds.is_clear`).
    """
    found = rows().get(("passive" if clause.verb.passive else "verb", clause.verb.lemma), ())
    candidates = [row for row in found if row.particles == clause.particles and _meets(row, clause, talk)]
    yield from _timed(clause, candidates)
    yield from _mutual(clause, candidates)
    taken: set[tuple[str, Effect]] = set()
    for slot in clause.slots:
        nouns_of_slot = _with_names(slot.nouns)
        fitting = [(noun, row) for noun in nouns_of_slot for row in _fitting(candidates, slot, noun, taken, talk)]
        for noun, row in fitting:
            for tail in named_by(noun):
                for subject in clause.subject:
                    head, other = (tail, subject) if "swapped" in row.options else (subject, tail)
                    yield Claim(head, row.relation, other, row.effect, noun.times or None, max(slot.end, noun.end))
        taken |= {(row.relation, row.effect) for _, row in fitting}


def _meets(row: Row, clause: Clause, talk: bool) -> bool:
    """Return whether a clause meets the conditions of a row."""
    verb = clause.verb
    if talk and row.effect == "event" and verb.tense == "present" and not clause.times:
        return False  # "she writes novels" tells no event
    of_person = relations().get(row.relation).head == "person" and "swapped" not in row.options
    if talk and of_person and any(one.pronoun in _EMPTY_SUBJECTS or one.name.isupper() for one in clause.subject):
        return False  # "it lives here", "CI has moved to Woodpecker"
    met = {
        "present": verb.tense == "present",
        "past": verb.tense != "present" or (row.effect == "event" and bool(clause.times)),
        "perfect": verb.tense == "perfect",
        "simple": not verb.progressive,
        "negated": verb.negated,
        "employed": all(
            slot.preposition not in ("", "on") or slot.nouns[0].head in nouns.JOBS for slot in clause.slots
        ),
        "human": all(kinds.is_human(subject) for subject in clause.subject),
    }
    return all(met[condition] for condition in row.options & met.keys())


def _fitting(
    candidates: Sequence[Row], slot: Slot, noun: NounPhrase, taken: set[tuple[str, Effect]], talk: bool
) -> Iterator[Row]:
    """Yield the first row that fits a phrase in a slot, and the rows that hold beside it."""
    first = False
    for row in candidates:
        stands = (slot.preposition or "obj") in row.slots and (row.relation, row.effect) not in taken
        if stands and not (first and "also" not in row.options) and fits_row(noun, row, talk=talk):
            first = first or "also" not in row.options
            yield row


def fits_row(noun: NounPhrase, row: Row, *, talk: bool) -> bool:
    """Return whether a phrase is of one of the kinds of a row, and clear enough for a message."""
    own = noun.determiner != "the" and not (noun.owner and noun.owner.name)
    if talk and row.word in ("get", "have") and not own:
        return False  # "I have the car", "I got Tom's dog"
    return any(kinds.fits(noun, kind) and (not talk or kinds.is_clear(noun, kind)) for kind in row.tail)


def _with_names(phrases: Sequence[NounPhrase]) -> Sequence[NounPhrase]:
    """Return the phrases of a slot, relatives with the name behind the comma: "a sister, Bryony, and a brother, Al"."""
    joined: list[NounPhrase] = []
    for noun in phrases:
        if joined and joined[-1].determiner and joined[-1].head in RELATIVES and noun.name and not joined[-1].name:
            joined[-1] = replace(joined[-1], appositions=(noun,))
        else:
            joined.append(noun)
    return joined


def named_by(noun: NounPhrase) -> tuple[NounPhrase, ...]:
    """Return the names in apposition to a phrase, "two cats, Salt and Pepper"; the phrase itself if it has none."""
    names = () if noun.name else tuple(name for name in noun.appositions if name.name and not name.determiner)
    return names or (noun,)


def _timed(clause: Clause, candidates: Sequence[Row]) -> Iterator[Claim]:
    """Yield the claims whose tail is a date: "she was born on 3 May 1980", "the bridge was built in 1911"."""
    row = next((row for row in candidates if "time" in row.slots), None)
    if row is None or any(slot.preposition in ("", "by") for slot in clause.slots):
        return
    if clause.subject[0].pronoun in ("i", "we", "you") and relations().get(row.relation).head != "person":
        return
    dated = [time for time in clause.times if time.text[:5].lower() not in ("until", "since")]
    if dated and not _POINTING.match(dated[0].text):  # not "I was born yesterday", nor "she died last week"
        for subject in clause.subject:
            yield Claim(subject, row.relation, in_calendar(dated[0]), row.effect)


def _mutual(clause: Clause, candidates: Sequence[Row]) -> Iterator[Claim]:
    """Yield the claim of two subjects about each other: "Sven and Carla got married"."""
    row = next((row for row in candidates if "each" in row.slots), None)
    if row is not None and len(clause.subject) == 2 and not clause.slots:
        subject, partner = clause.subject
        if partner.pronoun in closed.FIRST:  # "Nora and I": the speaker is the head
            subject, partner = partner, subject
        yield Claim(subject, row.relation, partner, row.effect)


def word_statements(
    sort: Sort, words: Sequence[str], slots: Sequence[Slot], subject: NounPhrase, effect: Effect, *, talk: bool
) -> Iterator[Claim]:
    """Yield what an adjective or a noun behind "be" states with the phrases behind it: "allergic to", "a fan of".

    Args:
        sort: ``adj`` or ``noun``.
        words: the spellings under which the rows may have it.
        slots: behind it.
        subject: the subject of the clause.
        effect: ``begin`` for "become", otherwise ``state``.
        talk: whether the text is a message.
    """
    candidates = [row for word in words for row in rows().get((sort, word), ())]
    for slot in slots:
        for noun in slot.nouns:
            for row in _fitting(candidates, slot, noun, set(), talk):
                yield Claim(subject, row.relation, noun, effect, None, slot.end)


def subject_statements(clause: Clause, subject: NounPhrase, effect: Effect, *, talk: bool) -> Iterator[Claim]:
    """Yield what "the page size is 50" states about the thing that is the subject itself."""
    if subject.pronoun or subject.modified or not clause.slots or clause.slots[0].preposition:
        return
    slot, head = clause.slots[0], subject if subject.owner or subject.named else subject.text
    rated = any(one.preposition == "per" for one in clause.slots)  # "120 requests per minute"
    for row in rows().get(("subject", subject.head), ()):
        if fits_row(slot.nouns[0], row, talk=talk) and len(slot.nouns) == 1 and not rated:
            yield Claim(head, row.relation, slot.nouns[0], effect, None, slot.end)
            return


def possession_row(word: str, noun: NounPhrase | None, *, talk: bool) -> Row | None:
    """Return the row of "X's hometown is Y" that fits a noun and its value; None for the value is a date."""
    for row in rows().get(("possessed", word), ()):
        if ("time" in row.tail) if noun is None else fits_row(noun, row, talk=talk):
            return row
    return None
