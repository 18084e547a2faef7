"""What "is" tells: roles, kinds, ages, origins, and whatever the tables of adjectives and nouns name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from mcp_memory.rules.facts import kinds
from mcp_memory.rules.facts.clause import Clause
from mcp_memory.rules.facts.complements import Slot
from mcp_memory.rules.facts.frames import Effect
from mcp_memory.rules.facts.lines import lines
from mcp_memory.rules.facts.noun import Noun
from mcp_memory.rules.facts.possessions import complement_of, kinship, possession, turning_point
from mcp_memory.rules.facts.subjects import RELATIVES
from mcp_memory.rules.facts.tables import adjectives as tables
from mcp_memory.rules.facts.tables import kinds as table
from mcp_memory.rules.facts.tables.kin import PETS
from mcp_memory.rules.facts.told import Told
from mcp_memory.rules.facts.verbal import is_age


def copular(clause: Clause, *, talk: bool) -> Iterator[Told]:
    """Yield what a clause tells whose verb is "be" or "become".

    Args:
        clause: of a sentence.
        talk: whether somebody speaks; a document says of more things what they are.
    """
    effect: Effect = "begin" if clause.verb.lemma == "become" else "state"
    if (
        len(clause.subject) == 1
        and clause.subject[0].within
        and (found := list(turning_point(clause, clause.subject[0])))
    ):
        yield from found
        return
    if len(clause.subject) == 1 and (found := list(possession(clause, clause.subject[0], effect))):
        yield from found
        return
    for subject in clause.subject:
        found = list(_adjective(clause, subject, effect))
        yield from found or _object(clause, subject, effect, talk)
        if not found:
            yield from _place(clause, subject, effect, talk)
            for place, slot in enumerate(clause.slots[1:], 1):  # "a vegan since 2017 and gluten free since June"
                if not slot.preposition and not clause.slots[place - 1].preposition:
                    times = tuple(time for time in clause.times if time.start > slot.end)
                    beside = replace(clause, slots=clause.slots[place:], times=times)
                    yield from (replace(told, times=times) for told in _object(beside, subject, effect, talk) if times)


def _adjective(clause: Clause, subject: Noun, effect: Effect) -> Iterator[Told]:
    slot = complement_of(clause)
    if slot is None or (subject.pronoun in ("it", "that", "this")):
        return
    noun = slot.nouns[-1]
    for words, prepositions, relation, tail in lines(tables.ADJECTIVES):
        if words[0] in (noun.head, noun.text.lower()) and len(words) == 1:
            for behind in clause.slots[1:3]:
                if behind.preposition in prepositions:
                    for item in behind.nouns:
                        if kinds.fits(item, tail):
                            relation_ = (
                                relation
                                if relation != "enrolled"
                                else ("studies_at" if kinds.is_school(item) else "studies")
                            )
                            yield Told(subject, relation_, item, effect, None, behind.end)


def _object(clause: Clause, subject: Noun, effect: Effect, talk: bool) -> Iterator[Told]:
    slot = complement_of(clause)
    if slot is None or subject.pronoun in ("that", "this", "there"):
        return
    for noun in slot.nouns:
        if noun.uncertain or noun.pronoun:
            continue
        yield from _is_somebody(subject, noun, slot, effect)
        if is_age(noun) and clause.verb.tense != "perfect" and not noun.determiner and subject.pronoun != "it":
            behind = clause.slots[1].nouns[0].head if len(clause.slots) > 1 and clause.slots[1].preposition else ""
            if behind in ("", "years"):
                yield Told(subject, "age", noun.text, effect, None, slot.end)
            continue
        if noun.head == "old" and is_age(replace(noun, text=noun.text.split()[0])) and "year" in noun.text:
            yield Told(subject, "age", noun.text.split()[0], effect, None, slot.end)
            continue
        if noun.owner is None:
            yield from _is_something(clause, subject, noun, slot, effect, talk)


def _is_somebody(subject: Noun, noun: Noun, slot: Slot, effect: Effect) -> Iterator[Told]:
    """Yield what "Ann is my sister" or "ramen is my favourite food" tells."""
    if noun.owner is None or noun.name:
        return
    if noun.text.startswith(("favourite", "favorite")):
        kind = noun.text.split(" of ")[0].removeprefix("favourite").removeprefix("favorite").strip()
        if kind and subject.pronoun == "" and kinds.fits(subject, "thing"):
            yield Told(noun.owner, "favourite_" + kind.replace(" ", "_").lower(), subject, effect, None, slot.end)
        elif not kind and kinds.fits(subject, "thing"):
            yield Told(noun.owner, "likes", subject, "state", None, slot.end)
    elif noun.head == "home" and subject.named and kinds.fits(subject, "place"):
        yield Told(noun.owner, "lives_in", subject, effect, None, slot.end)
    elif noun.head in ("passion", "hobby") and noun.text.lower() == noun.head and kinds.fits(subject, "liked"):
        yield Told(noun.owner, "interested_in", subject, effect, None, slot.end)
    elif noun.head in RELATIVES and RELATIVES[noun.head][0][0] != "(" and subject.pronoun not in ("it", "that"):
        yield from kinship(noun.owner, RELATIVES[noun.head][0], subject, slot.end)


def _is_something(clause: Clause, subject: Noun, noun: Noun, slot: Slot, effect: Effect, talk: bool) -> Iterator[Told]:
    for words, prepositions, relation, tail in lines(tables.NOUNS):
        if noun.head not in words:
            continue
        if (
            noun.of
            and "of" in prepositions
            and kinds.fits(noun.of, tail)
            and not (relation == "leads" and kinds.is_role(noun))
        ):
            yield Told(subject, relation, noun.of, effect, None, slot.end)
            return
        for behind in clause.slots[1:2]:
            if behind.preposition in prepositions:
                for item in behind.nouns:
                    if kinds.fits(item, tail):
                        yield Told(subject, relation, item, effect, None, behind.end)
                return
    if kinds.is_demonym(noun) and not noun.determiner and subject.pronoun not in ("it", "they"):
        if subject.owner is None or kinds.is_kin(subject) or subject.name:
            yield Told(subject, "nationality", noun, "lasting", None, slot.end)
        return
    if noun.head in table.STATES or noun.text.lower().replace(" ", "-") in table.STATES:
        yield Told(subject, "is_a", noun, effect, None, slot.end)
        return
    if (subject.pronoun == "it" and talk) or noun.determiner in ("this", "that", "no", "some", "any", "another"):
        return
    beside = noun is not slot.nouns[0] and kinds.is_role(slot.nouns[0]) and kinds.fits(noun, "role")
    if (kinds.is_role(noun) or beside) and not noun.name:
        if noun.text.split()[0].lower() in table.JUDGING or noun.determiner == "such":
            yield Told(subject, "is_a", noun, effect, None, slot.end)
        elif noun.determiner in ("a", "an", "the", "") and not noun.plural and "like" not in clause.adverbs:
            if noun.head in table.ROYAL and not (noun.of and noun.of.named):
                return  # "queen of the dance floor"
            yield Told(subject, "works_as", noun, effect, None, slot.end)
            if noun.text.split()[0].lower() in table.NATIONALITIES and noun.determiner:
                yield Told(subject, "nationality", noun.text.split()[0], "lasting", None, slot.end)
            yield from _where(clause, subject, noun, effect)
        return
    by = any(behind.preposition == "by" for behind in clause.slots[1:2])
    the = noun.determiner == "the" and (noun.of is not None or by) and not talk
    kind_is_told = noun.determiner in ("a", "an") or the
    if noun.name or noun.head in table.VAGUE - {"person"} or noun.head in RELATIVES or not kind_is_told:
        return
    if not talk or noun.head in table.PERSONISH | PETS | table.STATES:
        if subject.pronoun == "" and not (subject.named or subject.determiner == "the" or not talk):
            return
        for behind in clause.slots[1:2]:
            if behind.preposition == "by" and noun.head in table.WORKS:
                yield from (Told(author, "wrote", subject, "event", None, behind.end) for author in behind.nouns)
        lasting: Effect = "lasting" if not talk and effect == "state" else effect
        yield Told(subject, "is_a", noun, lasting, None, slot.end)
        for behind in clause.slots[1:2]:
            if behind.preposition in ("in", "on", "from") and not talk:
                for item in behind.nouns[:1]:
                    if kinds.fits(item, "place"):
                        relation = "comes_from" if behind.preposition == "from" else "located_in"
                        if relation == "comes_from" or noun.head not in table.WORKS | table.EVENTS | table.PERSONISH:
                            yield Told(subject, relation, item, "lasting", None, behind.end)


def _where(clause: Clause, subject: Noun, noun: Noun, effect: Effect) -> Iterator[Told]:
    """Yield the employer of "is a professor at Felden University", and the band of "is the drummer of Tin Orchard"."""
    if noun.of and noun.head in table.MUSICIANS and kinds.fits(noun.of, "org"):
        yield Told(subject, "member_of", noun.of, effect, None)
    for behind in clause.slots[1:4]:
        if behind.preposition in ("at", "for", "with") and kinds.fits(behind.nouns[0], "org"):
            relation = "member_of" if noun.head in table.MUSICIANS else "works_at"
            if noun.head in table.SPORTS_ROLES:
                relation = "plays_for"
            if not (behind.preposition == "for" and not kinds.fits(behind.nouns[0], "name")):
                for employer in behind.nouns if relation == "plays_for" else behind.nouns[:1]:
                    yield Told(subject, relation, employer, effect, employer.times or None, behind.end)


def _place(clause: Clause, subject: Noun, effect: Effect, talk: bool) -> Iterator[Told]:
    """Yield what a bare preposition tells: "is from Pune", "has been in Manchester since 2020", "is into horses"."""
    lasts = clause.verb.tense == "perfect" or bool(clause.adverbs & {"still"})
    for slot in clause.slots[:1]:
        for noun in slot.nouns:
            match slot.preposition:
                case "from" if kinds.fits(noun, "name") and subject.pronoun not in ("it", "that", "this"):
                    if not clause.adverbs & {"from time to time"}:
                        yield Told(subject, "comes_from", noun, "lasting", None, slot.end)
                case "into" if kinds.fits(noun, "hobby") and subject.pronoun != "it":
                    yield Told(subject, "interested_in", noun, effect, None, slot.end)
                case "in" if kinds.fits(noun, "name") and noun.determiner != "the":
                    if lasts and clause.times and talk:
                        yield Told(subject, "lives_in", noun, effect, None, slot.end)
                    elif not talk and clause.verb.tense == "present" and not subject.pronoun:
                        yield Told(subject, "located_in", noun, effect, None, slot.end)
                case "with" if kinds.is_company(noun) and noun.named and lasts and clause.times:
                    yield Told(subject, "works_at", noun, effect, None, slot.end)
                case "at" if kinds.fits(noun, "employer") and lasts and (kinds.is_company(noun) or clause.times):
                    yield Told(subject, "works_at", noun, effect, None, slot.end)
