"""Match clauses against the rows of the relation table (`rules.facts.rows`): what each of them states.

For every phrase of a clause the first row that fits gives the relation. A row fits if its word and particles are those
of the clause, the phrase stands in one of its slots and is of its kind of thing, and the clause meets its conditions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from mcp_memory.domain.relations import relations
from mcp_memory.language.vocabulary import word_set
from mcp_memory.rules.facts import kinds
from mcp_memory.rules.facts.claims import Claim
from mcp_memory.rules.facts.clause import Clause
from mcp_memory.rules.facts.complements import Slot
from mcp_memory.rules.facts.noun_phrases import NounPhrase
from mcp_memory.rules.facts.rows import Effect, Row, Sort, rows
from mcp_memory.rules.facts.software import is_tool
from mcp_memory.rules.facts.tables import closed
from mcp_memory.rules.facts.tables.nouns import HOMES
from mcp_memory.rules.facts.tails import completed

_FOR_GOOD = frozenset(("for good", "permanently"))
_JOBS = word_set("job work position role post career internship apprenticeship placement shift")
"""What one starts at an employer."""
_NO_LONGER = frozenset(("anymore", "any more", "no longer"))
_POINTING = re.compile(r"(?:last|this|next|yesterday|today|tonight|tomorrow|recently|.*\bago\b)", re.IGNORECASE)
_EMPTY_SUBJECTS = frozenset(("it", "that", "this", "there"))


def verb_statements(clause: Clause, *, talk: bool) -> Iterator[Claim]:
    """Yield what the verb of a clause states with its objects, prepositions, subjects and times.

    Args:
        clause: the clause of a sentence.
        talk: whether the text is a message, of which tails have to be clear (`kinds.is_clear`).
    """
    clause = _ungapped(clause)
    own = any(subject.pronoun in ("i", "we") for subject in clause.subject)
    candidates = [row for row in _rows_of_verb(clause) if _meets(row, clause, talk)]
    claims = [*_timed(clause, candidates, talk), *_mutual(clause, candidates)]
    taken: set[tuple[str, Effect]] = set()
    for index, slot in enumerate(clause.slots):
        found: set[tuple[str, Effect]] = set()
        for noun in _with_name(slot.nouns) if talk else slot.nouns:
            if talk and slot.nouns[0].determiner == "the" and _lacks_article(noun):
                noun = replace(noun, determiner="the")  # "the moss and stone theme"
            for row in _fitting(candidates, slot, noun, set() if slot.joined else taken, talk):
                found.add((row.relation, row.effect))
                phrases, place = _place(clause, row, index, noun)
                if place is slot:
                    phrases = [completed(one, row, clause.slots, index, talk=talk, own=own) for one in phrases]
                claims += _claims(clause, row, phrases, place)
        taken |= found
    if not claims and clause.verb.passive:
        claims += _agents(clause, talk)
    elif not claims and talk and (undergone := _undergone(clause)):
        claims += verb_statements(undergone, talk=talk)
    yield from claims


_NOMINATIVE = {"me": "i", "us": "we", "him": "he", "her": "she"}


def _undergone(clause: Clause) -> Clause | None:
    """Return an active clause as the passive about its object: "they made me head baker" as "I was made head baker"."""
    verb, slots = clause.verb, clause.slots
    if verb.passive or (verb.unreal and not verb.future) or len(slots) < 2 or slots[0].preposition:
        return None
    object_ = slots[0].nouns[0]
    if len(slots[0].nouns) > 1 or object_.pronoun not in _NOMINATIVE:
        return None
    if verb.lemma == "make" and not kinds.is_role(slots[1].nouns[0]):
        return None  # "made me remember"
    subject = replace(object_, pronoun=_NOMINATIVE[object_.pronoun])
    return replace(clause, subject=(subject,), verb=replace(verb, passive=True), slots=slots[1:])


def _with_name(phrases: Sequence[NounPhrase]) -> Sequence[NounPhrase]:
    """Return the phrases of a slot, relatives with the name behind the comma: "a sister, Bryony, and a brother, Al"."""
    joined: list[NounPhrase] = []
    for noun in phrases:
        first = joined[-1] if joined else noun
        single = first.determiner in ("a", "an", "one") and first.head in kinds.PEOPLE and not first.name
        if single and noun.named and noun.name and not noun.determiner and noun.start - first.end == 2:
            joined[-1] = replace(first, appositions=(noun,))
        else:
            joined.append(noun)
    return joined


_OWN_PLACE = frozenset(("for", "in", "at", "from", "to", "on"))
"""Prepositions that two things of a list may have each for itself: "bread for dinner and milk for the cat"."""


def _ungapped(clause: Clause) -> Clause:
    """Return a clause with the object that shares its verb: "we use Stripe for payments and Postmark for email"."""
    slots = list(clause.slots)
    for place in range(len(slots) - 2):
        thing, first, second = slots[place : place + 3]
        shared, beside = first.nouns[-1], first.nouns[0]
        if (
            not thing.preposition
            and first.preposition == second.preposition != ""
            and len(first.nouns) > 1
            and not shared.pronoun
            and (
                first.preposition in _OWN_PLACE
                or shared.named != beside.named
                or kinds.is_human(beside) != kinds.is_human(shared)
            )
            and not kinds.is_calendar(second.nouns[0])
        ):
            rest = first.nouns[:-1]
            slots[place + 1 : place + 2] = [
                replace(first, nouns=rest, end=rest[-1].end),
                Slot("", (shared,), shared.end, joined=True),
            ]
            break
    return replace(clause, slots=tuple(slots))


def _lacks_article(noun: NounPhrase) -> bool:
    """Return whether a phrase of two words or more in the singular shares the article of the phrase before it."""
    bare = not (noun.determiner or noun.owner or noun.named or noun.quoted or noun.pronoun)
    return bare and not noun.plural and " " in noun.text


def _rows_of_verb(clause: Clause) -> Sequence[Row]:
    verb = clause.verb
    found = rows().get(("passive" if verb.passive else "verb", verb.lemma), ())
    good = bool(clause.adverbs & _FOR_GOOD)
    return [
        row
        for row in found
        if (row.particles == clause.particles or (good and "for_good" in row.conditions and "back" in clause.adverbs))
    ]


_NOT_TOLERATED = word_set(
    "lactose gluten dairy milk nuts wheat soy soya fructose caffeine alcohol sugar shellfish peanuts eggs fish pork"
)


def _meets(row: Row, clause: Clause, talk: bool) -> bool:
    """Return whether a clause meets the conditions of a row."""
    verb, first = clause.verb, clause.slots[0].nouns[0] if clause.slots else None
    met = {
        "present": verb.tense == "present" or verb.phase in ("begin", "end"),  # "started volunteering at …"
        "past": (verb.tense != "present" and not verb.phase) or (row.effect == "event" and bool(clause.times)),
        "done": verb.tense != "present" and not verb.phase,
        "perfect": verb.tense == "perfect",
        "progressive": verb.progressive,
        "simple": not verb.progressive,
        "negated": verb.negated,
        "positive": not verb.negated,
        "employed": all(slot.preposition or slot.nouns[0].head in _JOBS for slot in clause.slots),
        "for_good": bool(clause.adverbs & _FOR_GOOD),
        "talk": talk,
        "document": not talk,
        "owned": all(subject.owner or kinds.fits(subject, "ownable") for subject in clause.subject),
        "human": all(kinds.is_human(subject) for subject in clause.subject),
    }
    if talk and row.effect == "event" and verb.tense == "present" and not verb.phase and not clause.times:
        return False  # "she writes novels" tells no event
    if row.relation == "works_at" and row.tail == ("role",):
        return bool(clause.slots) and clause.slots[0].nouns[0].determiner in ("a", "an")  # "I work for a baker"
    if row.relation == "works_at" and any(slot.preposition == "on" for slot in clause.slots[:1]):
        return False  # "I'm working on a project with a deadline set for …"
    if row.relation == "teaches" and talk and any(slot.nouns[0].pronoun for slot in clause.slots[:1]):
        return False  # "he taught us the importance of …"
    if row.relation == "works_as" and verb.lemma == "make" and (first is None or not kinds.is_role(first)):
        return False  # "I was made redundant"
    if row.relation == "eats" and verb.lemma != "eat":
        what = clause.slots[0].nouns[0].text.lower() if clause.slots else ""  # "I can't do lactose"
        return verb.unreal and verb.negated and not clause.times and what in _NOT_TOLERATED
    if row.relation == "eats" and verb.unreal and any(slot.nouns[0].determiner for slot in clause.slots[:1]):
        return False  # "I can't eat that much"
    if row.relation == "eats" and not verb.negated:
        again = "again" in clause.adverbs or verb.phase == "begin"  # "I've started to eat fish again"
        if (
            not (again and clause.slots)
            or (verb.tense == "past" and not verb.phase)
            or clause.slots[0].nouns[0].determiner
        ):
            return False
    if row.relation in ("owns", "parent_of") and any(
        slot.preposition in ("in", "on") and slot.nouns[0].head in _GROUPS for slot in clause.slots
    ):
        return False  # "20 kids in my class", "a house in mind"
    if row.relation == "owns" and clause.slots and clause.slots[0].nouns[0].pronoun:
        return False  # "she had me flat on the grass"
    if row.relation == "lives_in" and row.effect == "begin" and any(not slot.preposition for slot in clause.slots):
        return False  # "we moved the jobs to Temporal"
    person = relations().get(row.relation).head == "person" and not row.swapped
    return all(met[condition] for condition in row.conditions) and not (
        person and any(subject.pronoun in _EMPTY_SUBJECTS for subject in clause.subject) and talk
    )


def _fitting(
    candidates: Sequence[Row], slot: Slot, noun: NounPhrase, taken: set[tuple[str, Effect]], talk: bool
) -> Iterator[Row]:
    """Yield the first row that fits a phrase in a slot, and the rows that hold beside it."""
    first = False
    for row in candidates:
        if (
            (slot.preposition or "obj") not in row.slots
            or (row.relation, row.effect) in taken
            or (first and not row.also)
        ):
            continue
        moves, works = row.relation == "lives_in" and row.effect != "state", row.relation == "works_at"
        if (moves or (works and slot.preposition == "with")) and is_tool(noun.text):
            continue  # "we moved to Kubernetes", "I started with Rust"
        if fits_row(noun, row, talk=talk):
            first = first or not row.also
            yield row


_NO_PET = word_set("toy hot stuffed robot virtual plush imaginary half")
_GROUPS = word_set("class team group course school year choir squad club tutorial mind")
_LET = word_set(
    "rental rented hire hired borrowed loan flat apartment room studio cottage villa bungalow chalet cabin lodge"
)
"""Homes that people have for a week or for rent as often as for their own."""


def fits_row(noun: NounPhrase, row: Row, *, talk: bool) -> bool:
    """Return whether a phrase is of one of the kinds of a row, and clear enough for a message."""
    if talk and row.relation == "owns" and row.word in ("get", "have") and _may_be_lent(noun):
        return False
    if talk and row.relation == "has_pet" and row.word in ("get", "have"):
        lent = (noun.determiner == "the" and row.word == "have") or (
            noun.owner is not None and bool(noun.owner.name)
        )  # "I have Tom's dog"
        if lent or not _NO_PET.isdisjoint(noun.text.lower().split()):
            return False
    return any(kinds.fits(noun, kind) and (not talk or kinds.is_clear(noun, kind)) for kind in row.tail)


def _may_be_lent(noun: NounPhrase) -> bool:
    """Return whether somebody may have a thing that is not theirs: "the car", a flat that is let."""
    return (
        noun.determiner == "the" or noun.head in _LET or bool(_LET & {*noun.common.split(), *noun.text.lower().split()})
    )


def _place(clause: Clause, row: Row, index: int, noun: NounPhrase) -> tuple[Sequence[NounPhrase], Slot]:
    """Return the phrases that are the tails, and their slot: "a week in Malta" gives Malta."""
    slot = clause.slots[index]
    if row.relation == "lives_in" and noun.head in HOMES and not noun.named and index + 1 < len(clause.slots):
        inside = clause.slots[index + 1]  # "moved to a bigger flat in Turku"
        return (inside.nouns, inside) if inside.preposition == "in" and inside.nouns[0].named else ((noun,), slot)
    if "trip" not in row.tail or not kinds.is_trip(noun):
        return (noun,), slot
    inner = clause.slots[index + 1] if index + 1 < len(clause.slots) else None
    if inner is None or inner.preposition not in ("in", "to", "at"):
        return (), slot
    return [item for item in inner.nouns if item.named], inner


def _claims(clause: Clause, row: Row, nouns: Sequence[NounPhrase], slot: Slot) -> Iterator[Claim]:
    relation, affirmed = row.relation, False
    antonym = relations().get(relation).antonym
    if clause.verb.negated and antonym and row.effect == "state" and not clause.adverbs & _NO_LONGER:
        if relation != "likes":
            return
        relation, affirmed = antonym, True  # "doesn't like ham"
    for noun in nouns:
        for tail in named_by(noun):
            for subject in clause.subject:
                head, other = (tail, subject) if row.swapped else (subject, tail)
                end = max(slot.end, noun.end)
                yield Claim(head, relation, other, row.effect, noun.times or None, end, affirmed, row.confidence)
        if len(clause.subject) == 1 and relation in ("plays", "visited", "attended"):
            for companion in _companions(clause):
                yield Claim(companion, relation, noun, row.effect, None, slot.end, False, row.confidence)


def _companions(clause: Clause) -> list[NounPhrase]:
    """Return the people who take part in an action with the subject."""
    companions = [noun for slot in clause.slots if slot.preposition == "with" for noun in slot.nouns]
    return [noun for noun in companions if kinds.fits(noun, "person") and not noun.pronoun]


def named_by(noun: NounPhrase) -> tuple[NounPhrase, ...]:
    """Return the names in apposition to a phrase, "two cats, Salt and Pepper"; the phrase itself if it has none."""
    names = noun.appositions
    has_names = not noun.name and all(name.name and not name.determiner for name in names)
    return names if names and has_names else (noun,)


def _timed(clause: Clause, candidates: Sequence[Row], talk: bool) -> Iterator[Claim]:
    """Yield the claims whose tail is a date: "she was born on 3 May 1980", "the bridge was built in 1911"."""
    row = next((row for row in candidates if "time" in row.slots), None)
    if row is None or any(slot.preposition in ("", "by") for slot in clause.slots):
        return
    own = clause.subject[0].pronoun in ("i", "we", "you")
    if own and row.relation != "born_on":
        return
    if talk and row.relation == "died_on" and not all(kinds.is_being(subject) for subject in clause.subject):
        return  # "the Rover died on Monday": it broke
    dated = [time for time in clause.times if time.time and time.text[:5].lower() not in ("until", "since")]
    if dated and not _POINTING.match(dated[0].text):  # not "I was born yesterday", nor "she died last week"
        for subject in clause.subject:
            yield Claim(subject, row.relation, dated[0].text, row.effect, confidence=row.confidence)


def _mutual(clause: Clause, candidates: Sequence[Row]) -> Iterator[Claim]:
    """Yield the claim of two subjects about each other: "Sven and Carla got married"."""
    row = next((row for row in candidates if "each" in row.slots), None)
    if row is None or len(clause.subject) != 2:
        return
    if any(slot.preposition in ("to", "with", "from", "") for slot in clause.slots):
        return
    subject, partner = clause.subject
    if partner.pronoun in closed.FIRST:  # "Nora and I": the speaker is the head
        subject, partner = partner, subject
    yield Claim(subject, row.relation, partner, row.effect, confidence=row.confidence)


def _agents(clause: Clause, talk: bool) -> Iterator[Claim]:
    """Yield the agent of a passive, "by X", as the head of what the active verb states."""
    agents = [(slot, noun) for slot in clause.slots if slot.preposition == "by" for noun in slot.nouns]
    for row in rows().get(("verb", clause.verb.lemma), ()):
        if "obj" not in row.slots or row.particles != clause.particles or row.also or row.effect == "end":
            continue
        subjects = [subject for subject in clause.subject if fits_row(subject, row, talk=talk)]
        if subjects and _meets(row, clause, talk):
            for slot, agent in agents:
                if kinds.fits(agent, "name"):
                    for subject in subjects:
                        yield Claim(
                            agent, row.relation, subject, row.effect, None, slot.end, False, row.confidence
                        )  # fmt: skip
            return


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
    taken: set[tuple[str, Effect]] = set()
    own = subject.pronoun in ("i", "we")
    for index, slot in enumerate(slots):
        for noun in slot.nouns:
            for row in _fitting(candidates, slot, noun, taken, talk):
                thing = completed(noun, row, slots, index, talk=talk, own=own) if talk else noun
                head, tail = (thing, subject) if row.swapped else (subject, thing)
                meant = effect if row.effect == "state" else row.effect
                yield Claim(head, row.relation, tail, meant, None, slot.end, False, row.confidence)


def subject_statements(clause: Clause, subject: NounPhrase, effect: Effect, *, talk: bool) -> Iterator[Claim]:
    """Yield what "the page size is 50" and "my car is blue" state about the thing that is the subject itself."""
    if subject.pronoun or subject.uncertain or not clause.slots or clause.slots[0].preposition:
        return
    slot, text = clause.slots[0], subject.text
    if text.startswith(("favourite", "favorite")):
        return
    behind = [("of", subject.of)] if subject.of and " of " not in text else []
    for preposition, noun in (*behind, *subject.modifiers):
        text = f"{text} {preposition} {noun.text}"
    head = subject if subject.owner or subject.named else text
    for row in (*rows().get(("subject", subject.head), ()), *rows().get(("subject", "any"), ())):
        if fits_row(slot.nouns[0], row, talk=talk) and _meets(row, clause, talk) and len(slot.nouns) == 1:
            tail = _amount(clause) if "amount" in row.tail else slot.nouns[0]
            meant = effect if row.effect == "state" else row.effect
            yield Claim(head, row.relation, tail, meant, None, slot.end, False, row.confidence)
            return


def _amount(clause: Clause) -> str:
    """Return the value behind "be" with its rate: "120 requests per minute"."""
    text = clause.slots[0].nouns[0].text
    rate = clause.slots[1] if len(clause.slots) > 1 else None
    return f"{text} per {rate.nouns[0].text}" if rate and rate.preposition == "per" else text


def possession_row(word: str, noun: NounPhrase | None, *, talk: bool) -> Row | None:
    """Return the row of "X's hometown is Y" that fits a noun and its value; None for the value is a date."""
    for row in rows().get(("possessed", word), ()):
        if ("time" in row.tail) if noun is None else fits_row(noun, row, talk=talk):
            return row
    return None
