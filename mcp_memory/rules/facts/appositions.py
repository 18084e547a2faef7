"""What phrases tell by themselves, whatever their clause says: "my sister Anna", "Calvo, a member of the council"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mcp_memory.language.vocabulary import RELATIVES
from mcp_memory.rules.facts import kinds
from mcp_memory.rules.facts.claims import Told, kinship
from mcp_memory.rules.facts.clause import Clause
from mcp_memory.rules.facts.noun_phrases import Noun
from mcp_memory.rules.facts.tables import closed, nouns, predicatives
from mcp_memory.rules.facts.tables.nouns import PETS
from mcp_memory.rules.facts.tables.predicatives import lines

_PAST = ("former", "ex-", "late", "then", "future", "retired")
_NAMED_KINDS = nouns.COMPANIES | nouns.CLUBS | nouns.PLACES | nouns.WORKS | nouns.SCHOOLS


def asides(clauses: Sequence[Clause], *, talk: bool) -> Iterator[tuple[Clause, Told]]:
    """Yield what the phrases of a sentence tell beside its clauses, each with the clause it stands in."""
    for clause in clauses:
        for noun, where in _phrases(clause):
            for told in _aside(noun, talk, where):
                yield clause, told


def _phrases(clause: Clause) -> Iterator[tuple[Noun, bool]]:
    """Yield the phrases of a clause, each with whether it is where something happens."""
    places = ((noun, slot.preposition in ("in", "at", "from")) for slot in clause.slots for noun in slot.nouns)
    for noun, where in (*((noun, False) for noun in clause.subject), *places):
        yield noun, where
        if noun.owner and not noun.owner.pronoun:
            yield noun.owner, where
        if noun.of:
            yield noun.of, where


def _aside(noun: Noun, talk: bool, where: bool) -> Iterator[Told]:
    end = noun.end
    if noun.owner and noun.head in RELATIVES and (noun.name or _names(noun)):
        relation = RELATIVES[noun.head][0]
        for name in _names(noun) or (noun,):
            yield from kinship(noun.owner, relation, name, end, ())
    elif noun.owner and noun.head in PETS and (noun.name or _names(noun)):
        for name in _names(noun) or (noun,):
            yield Told(noun.owner, "has_pet", name, "state", (), end)
            if noun.name and not noun.plural:
                yield Told(noun, "is_a", noun.head, "lasting", (), end)
    elif noun.name and noun.common and noun.text[:1].isupper() and kinds.is_role(noun) and not noun.owner:
        yield Told(noun.name, "works_as", noun.common, "state", (), end)
    elif noun.name and noun.common and not noun.owner and not noun.quoted and noun.determiner in ("the", ""):
        if noun.plural or noun.head in RELATIVES or noun.common.split()[-1].endswith("s"):
            pass  # "the brothers Ann and Tom …": what each of them is, is not said
        elif kinds.is_role(noun) and not noun.common.startswith(_PAST):
            yield Told(noun.name, "works_as", noun.common, "state", (), end)
        elif noun.determiner == "the" and not talk and noun.head in _NAMED_KINDS and noun.common.islower():
            yield Told(noun.name, "is_a", noun.common, "state", (), end)
    elif (
        noun.owner and noun.owner.pronoun in closed.FIRST and noun.head in PETS and not noun.plural and noun.of is None
    ):
        yield Told(noun.owner, "has_pet", noun, "state", (), end)
    elif noun.owner and noun.head in nouns.CONDITIONS and (noun.owner.named or noun.owner.pronoun in closed.FIRST):
        yield Told(noun.owner, "has_condition", noun, "state", (), end)
    for preposition, place in noun.within:
        if preposition == "in" and noun.name and not talk and kinds.fits(place, "name"):
            yield Told(noun, "located_in", place, "state", (), place.end)
    for beside in noun.also:
        if where and beside.head in RELATIVES:
            continue  # "grew up in Oslo, the son of a smith"
        if kinds.is_age(beside):
            yield Told(noun, "age", beside.text, "state", (), end)
            continue
        if noun.of or noun.quoted or (beside.plural and not noun.plural and beside.of is None):
            continue  # "chairman of the council, a body of nine": it may be said of either
        if (noun.name or not noun.owner) and (beside.determiner or beside.of or beside.owner) and not _names(noun):
            yield from _beside(noun, beside)


def _names(noun: Noun) -> tuple[Noun, ...]:
    """Return the names that stand beside a common noun: "my boys, Kai and Ren"."""
    return tuple(beside for beside in noun.also if beside.name and not beside.determiner) if not noun.name else ()


def _beside(noun: Noun, beside: Noun) -> Iterator[Told]:
    """Yield what an apposition tells of the name before it."""
    end = max(beside.end, noun.end)
    told = False
    if beside.owner:
        if beside.head in RELATIVES and noun.name:
            yield from kinship(beside.owner, RELATIVES[beside.head][0], noun, end, ())
        return
    for words, prepositions, relation, tail in lines(predicatives.NOUNS):
        if beside.head not in words or not beside.of or "of" not in prepositions or relation == "leads":
            continue
        if kinds.fits(beside.of, tail):
            yield Told(noun, relation, beside.of, "state", (), end)
            told = True
    if not told and beside.head not in nouns.VAGUE and not beside.name:
        relation = "works_as" if kinds.is_role(beside) else "is_a"
        yield Told(noun, relation, beside, "state", (), end)
    for origin in beside.also:
        if kinds.fits(origin, "name"):
            yield Told(noun, "comes_from", origin, "lasting", (), origin.end)
