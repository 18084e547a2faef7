"""Match clauses and phrases with what they state: the rows of the relation table, and what no row can say.

For every phrase of a clause the first row that fits gives the relation. A row fits if its word and particles are those
of the clause, the phrase stands in one of its slots and is of its kind of thing, and the clause meets its conditions.

A row gives one phrase one relation. Functions read what depends on more than that: what "is a teacher" or "is 40" says
depends on the noun, its article and its text, and on no slot; "started my job at" means nothing without its object; and
"my sister Anna" says who its name is, whatever its clause says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from mcp_memory.domain.relations import Effect, Row, Sort, relations
from mcp_memory.language.vocabulary import RELATIVES, word_set
from mcp_memory.rules.facts import kinds
from mcp_memory.rules.facts.clauses import Clause, Slot
from mcp_memory.rules.facts.noun_phrases import NounPhrase, read_phrase
from mcp_memory.rules.facts.tables import closed, nouns, rows
from mcp_memory.rules.facts.words import Word, in_calendar

_POINTING = re.compile(r"(?:last|this|next|yesterday|today|tonight|tomorrow|recently|.*\bago\b)", re.IGNORECASE)
_FAVOURITE = ("favourite", "favorite")
_ALSO_POSSESSED = word_set("new full first phone mobile cell work home")
"""Words that leave a possession what it is: "my new phone number", but not "my insurance number"."""
_JOB_VERBS: dict[str, Effect] = {
    **dict.fromkeys(["start", "begin", "get", "take", "accept", "find"], "begin"),
    "have": "state",
    **dict.fromkeys(["quit", "leave", "lose"], "end"),
}
_LOST = word_set("died passed death buried lost gone rehomed sold")
"""Words beside which a pet or a spouse of somebody's is one no longer."""
_LOSING = word_set("die pass lose bury sell rehome mourn give")
_FORMERLY = word_set("former late old ex previous last first then future deceased")
"""Words by which what a phrase names is, or was, at another time: "my late wife Ida", "my old boss Kim"."""
_MINE = frozenset(("my", "our"))
_BEINGS = RELATIVES.keys() | nouns.PETS


@dataclass(frozen=True, slots=True)
class Claim:
    """One fact as a text states it, before references and times are resolved.

    Attributes:
        head: what it is about: a phrase, or a name that is resolved already.
        relation: its name.
        tail: a phrase, or the text itself.
        effect: what the time of the clause means for it.
        end: first character after the words that state it; 0 for the end of its clause.
        times: the times of this claim alone; None for those of its clause.
    """

    head: NounPhrase | str
    relation: str
    tail: NounPhrase | str
    effect: Effect = "state"
    end: int = 0
    times: tuple[Word, ...] | None = None


def _kinship_claims(owner: NounPhrase, relative: str, name: NounPhrase, end: int) -> Iterator[Claim]:
    """Yield the claim that one person is a relative of another, if the word for that ("sister") states a relation."""
    relation = RELATIVES[relative][0]
    if relation.startswith("<"):
        yield Claim(name, relation[1:], owner, end=end)
    elif not relation.startswith("("):
        yield Claim(owner, relation, name, end=end)


def clause_claims(clause: Clause) -> Iterator[Claim]:
    """Yield what a clause states."""
    if clause.verb.lemma in ("be", "become") and not clause.verb.passive:
        yield from _copula_claims(clause)
    yield from _claims_of_two_parts(clause)
    yield from _verb_claims(clause)


def phrase_claims(clause: Clause) -> Iterator[tuple[NounPhrase, Claim]]:
    """Yield the claims of the phrases of a clause, each with its phrase."""
    lost = clause.verb.lemma in _LOSING  # "my dog Miso died last week"
    phrases = (*clause.subject, *(noun for slot in clause.slots for noun in slot.nouns))
    every = (one for noun in phrases for one in (noun, noun.owner, noun.of))
    for noun in (one for one in every if one is not None and not one.pronoun):
        for claim in _claims_of_phrase(noun, lost=lost):
            yield noun, claim


def presupposed_claims(words: Sequence[Word]) -> Iterator[tuple[NounPhrase, Claim]]:
    """Yield who the named relatives and pets of a sentence are, each with its phrase: "remember my nephew Ruben?".

    That Ruben is a nephew is said along with whatever the sentence asks or wishes.
    """
    lost = any(word.low in _LOST for word in words)
    for index, word in enumerate(words[:-1]):
        noun = read_phrase(words, index, verb_seen=True) if word.low in _MINE else None
        called = words[min(index + 2, len(words) - 1)].low == "called"  # "my friend called Ann yesterday"
        if noun and noun.name and noun.head in _BEINGS and not (called or kinds.is_calendar(noun)):
            for claim in _claims_of_phrase(noun, lost=lost):
                yield noun, claim


def _verb_claims(clause: Clause) -> Iterator[Claim]:
    """Yield what the verb of a clause states with its objects, prepositions and times."""
    found = rows().get(("passive" if clause.verb.passive else "verb", clause.verb.lemma), ())
    candidates = [row for row in found if row.particles == clause.particles and _meets(row, clause)]
    yield from _timed(clause, candidates)
    yield from _mutual(clause, candidates)
    taken: set[tuple[str, Effect]] = set()
    for slot in clause.slots:
        phrases = _with_names(slot.nouns)
        fitting = [(noun, row) for noun in phrases for row in _fitting(candidates, slot, noun, taken, clause.talk)]
        for noun, row in fitting:
            for tail in _named_by(noun):
                for subject in clause.subject:
                    head, other = (tail, subject) if "swapped" in row.options else (subject, tail)
                    yield Claim(head, row.relation, other, row.effect, max(slot.end, noun.end), noun.times or None)
        taken |= {(row.relation, row.effect) for _, row in fitting}


def _meets(row: Row, clause: Clause) -> bool:
    """Return whether a clause meets the conditions of a row."""
    verb = clause.verb
    if clause.talk and row.effect == "event" and verb.tense == "present" and not clause.times:
        return False  # "she writes novels" tells no event
    met = {
        "present": verb.tense == "present",
        "past": verb.tense != "present" or (row.effect == "event" and bool(clause.times)),
        "perfect": verb.tense == "perfect",
        "simple": not verb.progressive,
        "negated": verb.negated,
        "employed": all(
            slot.preposition not in ("", "on") or slot.nouns[0].head in nouns.JOBS for slot in clause.slots
        ),
        "intransitive": not clause.slots or bool(clause.slots[0].preposition),
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
        if stands and not (first and "also" not in row.options) and _fits_row(noun, row, talk=talk):
            first = first or "also" not in row.options
            yield row


def _fits_row(noun: NounPhrase, row: Row, *, talk: bool) -> bool:
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


def _named_by(noun: NounPhrase) -> tuple[NounPhrase, ...]:
    """Return the names in apposition to a phrase, "two cats, Salt and Pepper"; the phrase itself if it has none."""
    return tuple(name for name in noun.appositions if name.name and not name.determiner) or (noun,)


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


def _word_claims(
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
                yield Claim(subject, row.relation, noun, effect, slot.end)


def _subject_claims(clause: Clause, subject: NounPhrase, effect: Effect) -> Iterator[Claim]:
    """Yield what "the page size is 50" states about the thing that is the subject itself."""
    if subject.pronoun or not clause.slots or clause.slots[0].preposition:
        return
    slot, head = clause.slots[0], subject if subject.owner or subject.named else subject.text
    rated = any(one.preposition == "per" for one in clause.slots)  # "120 requests per minute"
    for row in rows().get(("subject", subject.head), ()):
        if _fits_row(slot.nouns[0], row, talk=clause.talk) and len(slot.nouns) == 1 and not rated:
            yield Claim(head, row.relation, slot.nouns[0], effect, slot.end)
            return


def _possession_row(word: str, noun: NounPhrase | None, *, talk: bool) -> Row | None:
    """Return the row of "X's hometown is Y" that fits a noun and its value; None for the value is a date."""
    for row in rows().get(("possessed", word), ()):
        if ("time" in row.tail) if noun is None else _fits_row(noun, row, talk=talk):
            return row
    return None


def _copula_claims(clause: Clause) -> Iterator[Claim]:
    """Yield the claims of a clause whose verb is "be" or "become"."""
    effect: Effect = "begin" if clause.verb.lemma == "become" else "state"
    slot = clause.slots[0] if clause.slots else None
    if slot and slot.preposition == "from":
        names = [noun for noun in slot.nouns if kinds.fits(noun, "name")]
        yield from (Claim(one, "comes_from", noun, "lasting", slot.end) for one in clause.subject for noun in names)
    if len(clause.subject) == 1:
        subject = clause.subject[0]
        claims = list(_subject_claims(clause, subject, effect))
        if claims := claims or list(_possession_claims(clause, subject, effect)):
            yield from claims
            return
    for subject in clause.subject:
        if slot and not slot.preposition and subject.pronoun not in ("that", "this", "there"):
            claims = list(_adjective_claims(clause, subject, slot, effect))
            yield from claims or _predicative_claims(clause, subject, slot, effect)


def _adjective_claims(clause: Clause, subject: NounPhrase, slot: Slot, effect: Effect) -> Iterator[Claim]:
    noun, behind = slot.nouns[-1], list(clause.slots[1:3])
    if slot.nouns[0].of is not None:  # "afraid of wasps and heights"
        noun, of = slot.nouns[0], (slot.nouns[0].of, *slot.nouns[1:])
        behind = [Slot("of", of, of[-1].end), *behind]
    words = dict.fromkeys((noun.head, noun.text.lower(), noun.text.split()[0].lower()))
    yield from _word_claims("adj", tuple(words), behind, subject, effect, talk=clause.talk)


def _predicative_claims(clause: Clause, subject: NounPhrase, slot: Slot, effect: Effect) -> Iterator[Claim]:
    for noun in slot.nouns:
        if noun.uncertain or noun.pronoun:
            continue
        if kinds.is_age(noun):
            being = subject.pronoun in ("i", "he", "she") or subject.head in _BEINGS  # "my room is 14" tells no age
            behind = clause.slots[1].nouns[0].head if len(clause.slots) > 1 else "years"
            if being and clause.verb.tense == "present" and not noun.determiner and behind == "years":
                yield Claim(subject, "age", noun.text, effect, slot.end)
        elif noun.owner is None:
            yield from _class_claims(clause, subject, noun, slot, effect)
        elif noun.text.startswith(_FAVOURITE):
            yield Claim(noun.owner, _favourite(noun), subject, effect, slot.end)
        elif noun.head in RELATIVES and not noun.name and (subject.pronoun or subject.named):
            yield from _kinship_claims(noun.owner, noun.head, subject, slot.end)


def _favourite(noun: NounPhrase) -> str:
    """Return the relation of "favourite food"; "my favourite" is only liked."""
    kind = "_".join(noun.text.split(" of ")[0].lower().split()[1:])
    return f"favourite_{kind}" if kind else "likes"


def _class_claims(clause: Clause, subject: NounPhrase, noun: NounPhrase, slot: Slot, effect: Effect) -> Iterator[Claim]:
    """Yield the occupation, the nationality or the state that a noun behind "be" says."""
    slots = [*([Slot("of", (noun.of,), slot.end)] if noun.of else ()), *clause.slots[1:2]]
    if claims := list(_word_claims("noun", (noun.head,), slots, subject, effect, talk=clause.talk)):
        yield from claims
    elif kinds.is_demonym(noun):
        yield Claim(subject, "nationality", noun, "lasting", slot.end)
    elif state := {noun.head, noun.text.lower().replace(" ", "-")} & nouns.STATES:
        yield Claim(subject, "has_condition" if state & nouns.CONDITIONED else "is_a", noun, effect, slot.end)
    elif noun.name:
        return
    elif kinds.is_role(noun):
        judged = noun.text[0].isdigit() or noun.text.split()[0].lower() in nouns.JUDGING  # "a terrible actress"
        praised = noun.head in nouns.ROYAL and not (noun.of and noun.of.named)  # "queen of the dance floor"
        if not (judged or praised):
            yield Claim(subject, "works_as", noun, effect, slot.end)
            yield from _employer_claims(clause, subject, noun, effect)


def _employer_claims(clause: Clause, subject: NounPhrase, role: NounPhrase, effect: Effect) -> Iterator[Claim]:
    """Yield the employer of "is a professor at Felden University"."""
    relation = "plays_for" if role.head in nouns.SPORTS_ROLES else "works_at"
    for slot in clause.slots[1:4]:
        kind = "name" if slot.preposition == "for" else "org"
        if slot.preposition in ("at", "for", "with") and kinds.fits(slot.nouns[0], kind):
            yield Claim(subject, relation, slot.nouns[0], effect, slot.end, slot.nouns[0].times or None)


def _possession_claims(clause: Clause, subject: NounPhrase, effect: Effect) -> Iterator[Claim]:
    """Yield the claims of "my favourite food is ramen" or "Ann's hometown is Bergen"."""
    owner = subject.owner or (subject.of if subject.determiner == "the" else None)
    if owner is None or subject.name:
        return
    if clause.times and (dated := _possession_row(subject.head, None, talk=clause.talk)):
        yield Claim(owner, dated.relation, clause.times[0].text, "lasting", clause.end)
        return
    if not clause.slots or clause.slots[0].preposition:
        return
    slot, words = clause.slots[0], subject.text.lower().replace("-", " ").split()
    vague = subject.head in nouns.VAGUE | closed.EMPTY  # else it is one person or thing to its owner, "my dentist"
    for noun in slot.nouns:
        if noun.pronoun or noun.uncertain:
            continue
        also = _ALSO_POSSESSED.issuperset(words[:-1])
        row = _possession_row(subject.head, noun, talk=clause.talk) if also else None
        plain = noun.named and not (noun.determiner or noun.owner) and not kinds.is_demonym(noun)
        if words[0] in _FAVOURITE:
            yield Claim(owner, _favourite(subject), noun, effect, slot.end)
        elif row:
            head, tail = (noun, owner) if "swapped" in row.options else (owner, noun)
            yield Claim(head, row.relation, tail, effect, slot.end)
        elif subject.head in RELATIVES:
            if plain and noun.name and not noun.common and subject.owner:
                yield from _kinship_claims(owner, subject.head, noun, slot.end)
        elif plain and clause.verb.tense == "present" and subject.owner and not subject.plural and not vague:
            yield Claim(owner, "_".join(words), noun, effect, slot.end)


def _claims_of_two_parts(clause: Clause) -> Iterator[Claim]:
    """Yield the claims of a clause that are in two of its parts."""
    if not clause.slots or not clause.subject or clause.slots[0].preposition:
        return
    verb, slot, first = clause.verb, clause.slots[0], clause.slots[0].nouns[0]
    effect = _JOB_VERBS.get(verb.lemma)
    if effect and first.head in nouns.JOBS:  # "started my job at Halden Clinic"
        for place in clause.slots[1:]:
            if place.preposition in ("at", "with", "for") and kinds.fits(place.nouns[0], "workplace"):
                yield Claim(clause.subject[0], "works_at", place.nouns[0], effect, place.end)
    elif verb.lemma == "turn" and kinds.is_age(first):  # "turned 40"
        for person in (person for subject in clause.subject for person in _named_by(subject)):
            yield Claim(person, "age", first.text, "begin", slot.end)
    elif verb.passive and verb.lemma in ("call", "name"):  # "my wife is called Nele"
        subject = clause.subject[0]
        if first.named and subject.owner and subject.head in RELATIVES:
            yield from _kinship_claims(subject.owner, subject.head, first, slot.end)
        elif first.named and subject.owner and subject.head in nouns.PETS:
            yield Claim(subject.owner, "has_pet", first, "state", slot.end)


def _claims_of_phrase(noun: NounPhrase, *, lost: bool) -> Iterator[Claim]:
    """Yield who a named relative, a pet or the bearer of a title is; of "my late wife Ida" nothing.

    Args:
        noun: the phrase.
        lost: whether a pet or a spouse is one no longer.
    """
    if not _FORMERLY.isdisjoint(noun.common.lower().split()[:1]):
        return
    if noun.owner is None:
        if noun.name and _is_title(noun):
            yield Claim(noun.name, "works_as", noun.common, end=noun.end)
        return
    for name in (one for one in _named_by(noun) if one.name):
        if noun.head in RELATIVES:
            kin = _kinship_claims(noun.owner, noun.head, name, noun.end)
            yield from (claim for claim in kin if not (lost and claim.relation == "married_to"))
        elif noun.head in nouns.PETS and not lost:
            yield Claim(noun.owner, "has_pet", name, end=noun.end)


def _is_title(noun: NounPhrase) -> bool:
    """Return whether the common words before a name are the occupation of its bearer, "the poet Tom Lunn"."""
    alone = noun.common and noun.determiner in ("the", "")
    return bool(alone) and kinds.is_role(noun) and noun.head not in RELATIVES and not noun.common.endswith("s")
