"""Claims of clauses with "be" or "become": roles, classes, ages, origins, and the rows of adjectives and nouns.

What "is a teacher" or "is 40" states depends on the noun itself, its article and its text (a message or a document),
and on no slot, so functions read it. The rows give what stands behind an adjective or noun ("allergic to", "a fan of")
and "X's hometown is Y".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from mcp_memory.language.vocabulary import RELATIVES, kinship_words
from mcp_memory.rules.facts import kinds
from mcp_memory.rules.facts.claims import Claim, kinship_claims
from mcp_memory.rules.facts.clause import Clause
from mcp_memory.rules.facts.complements import Slot
from mcp_memory.rules.facts.noun_phrases import NounPhrase
from mcp_memory.rules.facts.rows import Effect, Row
from mcp_memory.rules.facts.set_phrases import age_claims
from mcp_memory.rules.facts.statements import possession_row, subject_statements, word_statements
from mcp_memory.rules.facts.tables import closed, nouns

_NO_LONGER = frozenset(("any more", "anymore", "no longer"))


def copula_claims(clause: Clause, *, talk: bool) -> Iterator[Claim]:
    """Yield the claims of a clause whose verb is "be" or "become".

    Args:
        clause: the clause of a sentence.
        talk: whether the text is a message; a document classifies more things ("X is a Y").
    """
    effect: Effect = "begin" if clause.verb.lemma == "become" else "state"
    if len(clause.subject) == 1:
        subject = clause.subject[0]
        claims = list(_first_or_last_period_claims(clause, subject))
        claims = claims or list(subject_statements(clause, subject, effect, talk=talk))
        if claims := claims or list(_possession_claims(clause, subject, effect, talk)):
            yield from claims
            return
    for subject in clause.subject:
        claims = list(_adjective_claims(clause, subject, effect, talk))
        yield from claims or _predicative_claims(clause, subject, effect, talk)
        if not claims:
            yield from _preposition_claims(clause, subject, effect, talk)
            for index, slot in enumerate(clause.slots[1:], 1):  # "a vegan since 2017 and gluten free since June"
                if not slot.preposition and not clause.slots[index - 1].preposition:
                    times = tuple(time for time in clause.times if time.start > slot.end)
                    rest = replace(clause, slots=clause.slots[index:], times=times)
                    for claim in _predicative_claims(rest, subject, effect, talk) if times else ():
                        yield replace(claim, times=times)


def _adjective_claims(clause: Clause, subject: NounPhrase, effect: Effect, talk: bool) -> Iterator[Claim]:
    slot = _predicative(clause)
    if slot is None or (subject.pronoun in ("it", "that", "this")):
        return
    noun, behind = slot.nouns[-1], list(clause.slots[1:3])
    if slot.nouns[0].of is not None and not slot.nouns[0].determiner:  # "afraid of wasps and of heights"
        noun = slot.nouns[0]
        of = (slot.nouns[0].of, *slot.nouns[1:])
        behind = [Slot("of", of, of[-1].end), *behind]
    words = dict.fromkeys((noun.head, noun.text.lower(), noun.text.split()[0].lower()))
    yield from word_statements("adj", tuple(words), behind, subject, effect, talk=talk)


def _predicative_claims(clause: Clause, subject: NounPhrase, effect: Effect, talk: bool) -> Iterator[Claim]:
    slot = _predicative(clause)
    if slot is None or subject.pronoun in ("that", "this", "there"):
        return
    for number, noun in enumerate(slot.nouns):
        if noun.uncertain or noun.pronoun or (number and _is_beside(slot.nouns[number - 1], noun)):
            continue
        yield from _relational_claims(subject, noun, slot, effect)
        if _is_new_name(subject, noun):
            yield Claim(subject, "also_known_as", noun, "lasting", None, slot.end)
            continue
        if kinds.is_age(noun) and clause.verb.tense != "perfect" and not noun.determiner and subject.pronoun != "it":
            next_head = clause.slots[1].nouns[0].head if len(clause.slots) > 1 and clause.slots[1].preposition else ""
            if next_head in ("", "years"):
                yield from age_claims(clause, subject, noun.text, effect, slot.end)
            continue
        if (
            noun.head in ("months", "weeks")
            and clause.adverbs & {"only", "just", "already"}
            and kinds.is_human(subject)
        ):
            if noun.text.split()[0].isdecimal():
                yield Claim(subject, "age", noun.text, effect, None, slot.end)  # "Ines is only 18 months"
            continue
        if noun.head == "old" and kinds.is_age(replace(noun, text=noun.text.split()[0])) and "year" in noun.text:
            yield Claim(subject, "age", noun.text.split()[0], effect, None, slot.end)
            continue
        if noun.owner is None:
            yield from _class_claims(clause, subject, noun, slot, effect, talk)


def _is_new_name(subject: NounPhrase, noun: NounPhrase) -> bool:
    """Return whether a name is another of the same person's: "Dana Holt is now Dana Reyes"."""
    one, other = subject.name.split(), noun.name.split()
    return subject.text != noun.text and len(one) > 1 and len(other) > 1 and one[0] == other[0]


def _is_beside(before: NounPhrase, noun: NounPhrase) -> bool:
    """Return whether a phrase is about the name that a comma alone parts it from: "a suburb of Brisbane, the …"."""
    return noun.determiner == "the" and before.of is not None and before.of.named and 0 <= noun.start - before.end <= 2


def _relational_claims(subject: NounPhrase, noun: NounPhrase, slot: Slot, effect: Effect) -> Iterator[Claim]:
    """Yield the claim of "Ann is my sister" or "ramen is my favourite food"."""
    if noun.owner is None or noun.name:
        return
    if noun.text.startswith(("favourite", "favorite")):
        kind = noun.text.split(" of ")[0].removeprefix("favourite").removeprefix("favorite").strip()
        if kind and subject.pronoun == "" and kinds.fits(subject, "thing"):
            yield Claim(noun.owner, "favourite_" + kind.replace(" ", "_").lower(), subject, effect, None, slot.end)
        elif not kind and kinds.fits(subject, "thing"):
            yield Claim(noun.owner, "likes", subject, "state", None, slot.end)
    elif noun.head == "home" and subject.named and kinds.fits(subject, "place"):
        yield Claim(noun.owner, "lives_in", subject, effect, None, slot.end)
    elif noun.head in ("passion", "hobby") and noun.text.lower() == noun.head and kinds.fits(subject, "liked"):
        yield Claim(noun.owner, "interested_in", subject, effect, None, slot.end)
    elif (
        noun.head in RELATIVES
        and RELATIVES[noun.head][0][0] != "("
        and subject.pronoun not in ("it", "that")
        and (subject.pronoun or subject.named or kinds.is_kin(subject) or _is_name_in_lower_case(subject, noun))
    ):
        name = subject.text.capitalize()
        subject = (
            replace(subject, name=name, text=name, named=True) if _is_name_in_lower_case(subject, noun) else subject
        )
        yield from kinship_claims(noun.owner, RELATIVES[noun.head][0], subject, slot.end)


def _is_name_in_lower_case(noun: NounPhrase, relative: NounPhrase) -> bool:
    """Return whether a subject must be a name: "sanna is my flatmate". No common noun stands there without article.

    "Music is my friend" is no such sentence: only relatives who are nothing but people count.
    """
    if relative.head in kinship_words("friend_of", "parent_of", "dating") and relative.head not in (
        "girlfriend",
        "boyfriend",
    ):
        return False
    bare = not (noun.determiner or noun.owner or noun.pronoun or noun.named or noun.plural or noun.of)
    return bare and noun.text.isalpha() and noun.text.islower() and noun.head not in closed.EMPTY


def _class_claims(
    clause: Clause, subject: NounPhrase, noun: NounPhrase, slot: Slot, effect: Effect, talk: bool
) -> Iterator[Claim]:
    behind = list(clause.slots[1:2])
    if noun.of:
        behind.insert(0, Slot("of", (noun.of,), slot.end))
    claims = list(word_statements("noun", (noun.head,), behind, subject, effect, talk=talk))
    is_office = kinds.is_role(noun)
    if claims := [claim for claim in claims if not (claim.relation == "leads" and is_office)]:
        yield from claims
        return
    if kinds.is_demonym(noun) and not noun.determiner and subject.pronoun not in ("it", "they"):
        if subject.owner is None or kinds.is_kin(subject) or subject.name:
            yield Claim(subject, "nationality", noun, "lasting", None, slot.end)
        return
    if noun.head in nouns.STATES or noun.text.lower().replace(" ", "-") in nouns.STATES:
        condition = {noun.head, noun.text.lower().replace(" ", "-")} & nouns.CONDITIONED
        relation = "has_condition" if condition else "is_a"
        yield Claim(subject, relation, noun, effect, None, slot.end)
        return
    if (subject.pronoun == "it" and talk) or noun.determiner in ("this", "that", "no", "some", "any", "another"):
        return
    heads = noun.head in nouns.OFFICES and noun.determiner in ("the", "") and noun.of is not None
    if heads and kinds.is_human(subject) and not kinds.is_role(noun) and talk:  # "the head of finance"
        yield Claim(subject, "works_as", noun, effect, None, slot.end)
        yield from _employer_claims(clause, subject, noun, effect)
        return
    is_second_role = noun is not slot.nouns[0] and kinds.is_role(slot.nouns[0]) and kinds.fits(noun, "role")
    if (kinds.is_role(noun) or is_second_role) and not noun.name:
        if noun.text.split()[0].lower() in nouns.JUDGING or noun.determiner == "such":
            yield Claim(subject, "is_a", noun, effect, None, slot.end)
        elif noun.determiner in ("a", "an", "the", "") and not noun.plural and "like" not in clause.adverbs:
            if noun.head in nouns.ROYAL and not (noun.of and noun.of.named):
                return  # "queen of the dance floor"
            yield Claim(subject, "works_as", noun, effect, None, slot.end)
            if noun.text.split()[0].lower() in nouns.NATIONALITIES and noun.determiner:
                yield Claim(subject, "nationality", noun.text.split()[0], "lasting", None, slot.end)
            yield from _employer_claims(clause, subject, noun, effect)
        return
    by = any(next_slot.preposition == "by" for next_slot in clause.slots[1:2])
    unique = noun.determiner == "the" and (noun.of is not None or by) and not talk
    is_classified = noun.determiner in ("a", "an") or unique
    if noun.name or noun.head in nouns.VAGUE - {"person"} or noun.head in RELATIVES or not is_classified:
        return
    if not talk or noun.head in nouns.PERSONISH | nouns.PETS | nouns.STATES:
        if subject.pronoun == "" and not (subject.named or subject.determiner == "the" or not talk):
            return
        for next_slot in clause.slots[1:2]:
            if next_slot.preposition == "by" and noun.head in nouns.WORKS:
                for author in next_slot.nouns:
                    yield Claim(author, "wrote", subject, "event", None, next_slot.end)
        lasting: Effect = "lasting" if not talk and effect == "state" else effect
        yield Claim(subject, "is_a", noun, lasting, None, slot.end)
        for next_slot in clause.slots[1:2]:
            if next_slot.preposition in ("in", "on", "from") and not talk:
                for item in next_slot.nouns[:1]:
                    if kinds.fits(item, "place"):
                        relation = "comes_from" if next_slot.preposition == "from" else "located_in"
                        if relation == "comes_from" or noun.head not in nouns.WORKS | nouns.EVENTS | nouns.PERSONISH:
                            yield Claim(subject, relation, item, "lasting", None, next_slot.end)


def _employer_claims(clause: Clause, subject: NounPhrase, noun: NounPhrase, effect: Effect) -> Iterator[Claim]:
    """Yield the employer of "is a professor at Felden University", and the band of "is the drummer of Tin Orchard"."""
    if noun.of and noun.head in nouns.MUSICIANS and kinds.fits(noun.of, "org"):
        yield Claim(subject, "member_of", noun.of, effect, None)
    for next_slot in clause.slots[1:4]:
        if next_slot.preposition in ("at", "for", "with") and kinds.fits(next_slot.nouns[0], "org"):
            relation = "member_of" if noun.head in nouns.MUSICIANS else "works_at"
            if noun.head in nouns.SPORTS_ROLES:
                relation = "plays_for"
            if not (next_slot.preposition == "for" and not kinds.fits(next_slot.nouns[0], "name")):
                for employer in next_slot.nouns if relation == "plays_for" else next_slot.nouns[:1]:
                    yield Claim(subject, relation, employer, effect, employer.times or None, next_slot.end)


def _preposition_claims(clause: Clause, subject: NounPhrase, effect: Effect, talk: bool) -> Iterator[Claim]:
    """Yield the claims of a bare preposition: "is from Pune", "has been in Manchester since 2020", "is into horses"."""
    lasts = clause.verb.tense == "perfect" or bool(clause.adverbs & {"still"})
    for slot in clause.slots[:1]:
        for noun in slot.nouns:
            match slot.preposition:
                case "from" if kinds.fits(noun, "name") and subject.pronoun not in ("it", "that", "this"):
                    if "back" in clause.adverbs or "back" in clause.particles:
                        yield Claim(subject, "visited", noun, "event", None, slot.end)
                    elif not clause.adverbs & {"from time to time", "home"}:
                        yield Claim(subject, "comes_from", noun, "lasting", None, slot.end)
                case "into" if kinds.fits(noun, "hobby") and subject.pronoun != "it":
                    yield Claim(subject, "interested_in", noun, effect, None, slot.end)
                case "in" if kinds.fits(noun, "name") and noun.determiner != "the":
                    left = clause.verb.negated and clause.adverbs & _NO_LONGER and kinds.is_human(subject)
                    if talk and (left or (lasts and clause.times)):
                        yield Claim(subject, "lives_in", noun, effect, None, slot.end)
                    elif not talk and clause.verb.tense == "present" and not subject.pronoun:
                        yield Claim(subject, "located_in", noun, effect, None, slot.end)
                case "in" if noun.head in nouns.HOMES and noun.determiner in ("a", "an") and _lives_there(clause):
                    place = clause.slots[1].nouns[0]  # "we're in a rented flat in Turku now"
                    yield Claim(subject, "lives_in", place, effect, None, clause.slots[1].end)
                case "with" if kinds.is_company(noun) and "now" in clause.adverbs and noun.determiner != "a":
                    yield Claim(subject, "works_at", noun, effect, None, slot.end)
                case "with" if kinds.is_company(noun) and noun.named and lasts and clause.times:
                    yield Claim(subject, "works_at", noun, effect, None, slot.end)
                case "at" if kinds.fits(noun, "name") and lasts and (kinds.is_company(noun) or clause.times):
                    yield Claim(subject, "works_at", noun, effect, None, slot.end)


def _lives_there(clause: Clause) -> bool:
    """Return whether the home of "in a flat in Turku now" is where somebody lives at present."""
    place = clause.slots[1] if len(clause.slots) > 1 else None
    now = clause.adverbs & {"now", "still", "at the moment", "currently"} and clause.verb.tense == "present"
    return bool(now) and place is not None and place.preposition == "in" and kinds.fits(place.nouns[0], "name")


def _predicative(clause: Clause) -> Slot | None:
    """Return the noun phrase behind the copula, unless a preposition follows it."""
    return clause.slots[0] if clause.slots and not clause.slots[0].preposition else None


def _possession_claims(clause: Clause, subject: NounPhrase, effect: Effect, talk: bool) -> Iterator[Claim]:
    """Yield the claims of "my favourite food is ramen" or "Ann's hometown is Bergen"."""
    slot = _predicative(clause)
    owner = subject.owner or (subject.of if subject.determiner == "the" else None)
    if owner is None or (subject.name and not (subject.name.isupper() and len(subject.name) < 4)):
        return
    if subject.head in nouns.JOBS and slot is None:
        return
    if clause.times and (dated := possession_row(subject.head, None, talk=talk)):
        yield Claim(owner, dated.relation, clause.times[0].text, "lasting", (), clause.end)
        return
    if slot is None:
        return
    for noun in slot.nouns:
        if noun.pronoun or noun.uncertain:
            continue
        if subject.text.startswith(("favourite ", "favorite ")):
            kind = subject.text.split(" of ")[0].removeprefix("favourite ").removeprefix("favorite ")
            if not (noun.determiner in ("this", "that") or noun.head in nouns.VAGUE):
                yield Claim(owner, "favourite_" + kind.replace(" ", "_").lower(), noun, effect, None, slot.end)
        elif row := _row_of_possession(subject, noun, talk):
            tail: NounPhrase | str = noun.text if "value" in row.tail or "time" in row.tail else noun
            head, other = (noun, owner) if row.swapped else (owner, tail)
            meant = "lasting" if "time" in row.tail else effect if row.effect == "state" else row.effect
            yield Claim(head, row.relation, other, meant, None, slot.end, False, row.confidence)
        elif (
            subject.head in RELATIVES
            and noun.name
            and not (noun.common or noun.owner or kinds.is_demonym(noun))
            and subject.owner
        ):
            relation = RELATIVES[subject.head][0]
            yield from kinship_claims(owner, subject.head if relation == "(person)" else relation, noun, slot.end)
        elif subject.owner and subject.head in nouns.OWNABLE:
            if noun.named and noun.determiner != "the" and clause.verb.tense == "present":
                relation = "drives" if kinds.fits(subject, "vehicle") else "owns"  # "my car is a Skoda Fabia"
                yield Claim(owner, relation, noun, effect, None, slot.end)
        elif subject.owner and _noun_can_be_relation(clause, owner, subject, noun):
            name = subject.text.lower().replace(" ", "_").replace("-", "_")
            if not (noun.text.isdecimal() and clause.end - slot.end > 1):  # not 140 of "140 over 90"
                yield Claim(owner, name, noun, effect, None, slot.end)


_OF_PHONES = frozenset(("phone", "telephone", "mobile", "cell", "work", "home", "office", "landline", "whatsapp"))


_LEAST_DIGITS = 5
"""Digits of a phone number."""


def _row_of_possession(subject: NounPhrase, noun: NounPhrase, talk: bool) -> Row | None:
    """Return the row of a possession; "our wifi name" is no name of ours."""
    compound = subject.text.lower().removeprefix("new ") != subject.head
    if compound and subject.head == "name" and subject.text.lower() not in ("full name", "first name"):
        return None
    if compound and subject.head == "number" and not _OF_PHONES & set(subject.text.lower().split()):
        return None  # "my insurance number"
    row = possession_row(subject.head, noun, talk=talk)
    if row is not None and row.relation == "phone" and sum(letter.isdigit() for letter in noun.text) < _LEAST_DIGITS:
        return None  # "my phone is a Fairphone 5"
    is_office = (
        row is not None and "role" in row.tail and not (kinds.is_role(noun) and noun.determiner in ("a", "an", ""))
    )
    return None if is_office else row


def _noun_can_be_relation(clause: Clause, owner: NounPhrase, subject: NounPhrase, noun: NounPhrase) -> bool:
    """Return whether the noun of a possession can be a relation of its own: "my dentist is Dr. Okafor"."""
    clear = not (subject.of or subject.plural or subject.modifiers) and owner.pronoun != "it"
    if not clear or clause.verb.tense != "present" or subject.head in nouns.VAGUE | closed.EMPTY | nouns.JUDGED:
        return False
    if subject.head in RELATIVES and RELATIVES[subject.head][0][0] != "(":
        return False
    sign = noun.named or any(letter.isdigit() for letter in noun.text)
    return sign and not noun.determiner and noun.owner is None and not kinds.is_demonym(noun)


def _first_or_last_period_claims(clause: Clause, subject: NounPhrase) -> Iterator[Claim]:
    """Yield the claims of "my last month at Orbix was May 2019" or "her first day in Oslo was …"."""
    first = subject.text.split()[0].lower()
    if (
        subject.head not in ("day", "month", "week", "year")
        or first not in ("last", "final", "first")
        or not subject.owner
    ):
        return
    effect: Effect = "begin" if first == "first" else "end"
    for preposition, noun in subject.modifiers if clause.times else ():
        if preposition in ("at", "with") and kinds.fits(noun, "org"):
            yield Claim(subject.owner, "works_at", noun, effect)
        elif preposition == "as" and kinds.fits(noun, "role"):
            yield Claim(subject.owner, "works_as", noun, effect)
        elif preposition == "in" and kinds.fits(noun, "place"):
            yield Claim(subject.owner, "lives_in", noun, effect)
