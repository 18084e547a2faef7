"""Which facts a question asks for: the one relation of one entity, or nothing (DESIGN 4 step 5).

A question has to name the entity (or describe it by facts that a path leads over, "Ann's sister"), hold a word of the
relation, want the type of thing that its values are, and say nothing more: a content word that none of these explain
asks for something more special than the fact says. Of two relations that it may ask for, the clearer has to lead.

English, as far as the words below go.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from mcp_memory.domain.answers import KnownFacts, RelationFacts
from mcp_memory.domain.entities import entity_key
from mcp_memory.domain.query import Query
from mcp_memory.domain.relations import EntityType, relations
from mcp_memory.language.tokens import stem
from mcp_memory.rules.answers.held import Held, held
from mcp_memory.rules.answers.relations import Asks, Token, asks, names_in, tokens, turning, wanted_type

_COUNTED = re.compile(r"\bhow many\s+(?:(?:different|other|more)\s+)?([\w'’-]+)", re.I)
_DOES = frozenset(("do", "does", "did"))
_ME = frozenset(("i", "me", "my", "mine", "myself", "you", "your", "yours", "yourself"))
_OTHER_END: dict[str, frozenset[str]] = {
    "parent_of": frozenset(("child", "son", "daughter", "kid")),
    "child_of": frozenset(("parent", "mother", "father", "mom", "mum", "dad")),
    "grandparent_of": frozenset(("grandchild", "grandson", "granddaughter")),
    "grandchild_of": frozenset(("grandparent", "grandmother", "grandfather", "grandma", "grandpa", "granny")),
    "aunt_or_uncle_of": frozenset(("niece", "nephew")),
    "niece_or_nephew_of": frozenset(("aunt", "auntie", "uncle")),
}
"""Relations between two people whose ends have names of their own: what the tail is called."""
_DOINGS = ("paint", "cook", "bake", "build", "design", "compose", "invent", "develop")
_SPECIAL = (
    ("mother", "mom", "mum"), ("father", "dad"), ("son",), ("daughter",), ("brother",), ("sister",), ("twin",),
    ("grandmother", "grandma", "granny"), ("grandfather", "grandpa"), ("grandson",), ("granddaughter",),
    ("aunt", "auntie"), ("uncle",), ("niece",), ("nephew",),
    ("dog", "puppy"), ("cat", "kitten"), ("car",), ("book", "novel"), ("movie", "film"), ("song",), ("award", "medal"),
    ("instrument",), ("sport",), ("hobby",), ("game",),
    ("party",), ("band",), ("school",), ("university", "college"), ("degree", "major"),
    *((doing,) for doing in _DOINGS),
)  # fmt: skip
"""Words that are narrower than the relation that they ask for: a fact counts only where its own words say so too."""
_NARROW = {stem(word): tuple(stem(same) for same in words) for words in _SPECIAL for word in words}
_OPPOSITE = {
    stem(word): stem(other)
    for pair in (
        *(("mother", "father"), ("son", "daughter"), ("brother", "sister"), ("aunt", "uncle"), ("niece", "nephew")),
        *(("grandmother", "grandfather"), ("grandson", "granddaughter")),
    )
    for one, opposite in (pair, pair[::-1])
    for words, other in ((next(kind for kind in _SPECIAL if one in kind), opposite),)
    for word in words
}
"""Of the words for kin, what cannot be meant where the other is said: a sister is no brother."""
_NARROWER = frozenset(stem(word) for word in ("country", "state", "street", "county", "region", "continent"))
"""Places of a size that facts do not tell."""


@dataclass(frozen=True, slots=True)
class Match:
    """A group that a question may ask for.

    Attributes:
        group: the facts.
        values: those that count, by start.
        named: of these, those that the question names itself.
        certain: whether the values are of the kind that the question's noun names.
        score: how clearly it is asked for.
    """

    group: RelationFacts
    values: tuple[Held, ...]
    named: tuple[Held, ...]
    certain: bool
    score: float


def clearest(question: Query, knowledge: KnownFacts, apart: float) -> Match | None:
    """Return the one group that the question asks for, or None where there is none or more than one.

    Args:
        question: taken apart.
        knowledge: of the entities that it names.
        apart: how much more clearly it has to ask for one relation than for the next.
    """
    asked = tokens(question.text, question.time)
    matches = [found for group in knowledge.groups if (found := _match(question, asked, group, knowledge))]
    matches.sort(key=lambda match: -match.score)
    if not matches:
        return None
    best = matches[0]
    rivals = [one for one in matches[1:] if one.score > best.score - apart]
    return best if all(_facts(one) == _facts(best) or _values(one) == _values(best) for one in rivals) else None


def _values(match: Match) -> frozenset[str]:
    return frozenset(entity_key(one.value) for one in match.values)


def _facts(match: Match) -> frozenset[str]:
    """Return what a match is about; one fact that is named whole is seen from both its ends."""
    return frozenset(one.version.id for one in match.named or match.values)


def _match(question: Query, asked: tuple[Token, ...], group: RelationFacts, knowledge: KnownFacts) -> Match | None:
    relation = relations().get(group.relation)
    values = held(group, knowledge)
    entity = _naming(asked, group)
    if entity is None or not (values or group.denials):
        return None
    explained = set(entity)
    named = [one for one in values if not names_in(asked, (one.value,)) <= entity]
    turned = turning(asked)
    how = asks(asked, relation)
    if how is None and named and turned:
        how = Asks(turned, 0.8, None)  # "When did Ann leave Acme?"
    if how is None or not _fits_side(group, how, asked):
        return None
    explained |= how.places | turned
    if question.answer_type in ("yes_no", "when", "how_long"):
        for value in (*(one.value for one in named), *(group.value(denied) for denied in group.denials)):
            explained |= names_in(asked, (value,))
    else:
        named = []
    for step in group.through:
        over = asks(asked, relations().get(step.version.relation))
        if over is None:
            return None
        explained |= over.places
    kind, noun = wanted_type(question.text)
    fit = _fit(question, kind, relation.tail if group.forward else relation.head, asked)
    if fit is None:
        return None
    if kind and noun:
        explained |= {place for place, token in enumerate(asked) if token.word == noun}
    narrowed = _narrowed(values, noun or how.wanted, group, knowledge)
    certain = narrowed is not None
    if narrowed == [] and values:
        return None  # her only sibling is a sister, and no brother
    if narrowed is None:
        if question.answer_type not in ("who", "what") or len(values) != 1 or not _may_be(noun or how.wanted):
            return None
        narrowed = values  # her only sibling may be the sister
    if question.answer_type == "how_many" and not _counts(question, asked, how, noun):
        return None
    if any(token.content for place, token in enumerate(asked) if place not in explained):
        return None  # it asks for something more special
    kept = tuple(one for one in named if one in narrowed)
    return Match(group, tuple(narrowed), kept, certain, how.strength + fit)


def _naming(asked: Sequence[Token], group: RelationFacts) -> frozenset[int] | None:
    """Return the places of the words that name a group's entity, or the one it is reached from; None without."""
    if group.through:
        first = group.through[0]
        start = first.version.head if first.forward else first.version.tail
        names: tuple[str, ...] = (start,)
    else:
        names = group.names
    if places := names_in(asked, names):
        return places
    parts = [word for name in names for word in name.split() if len(name.split()) > 1 and word[:1].isupper()]
    if places := names_in(asked, parts):
        return places
    mine = frozenset(place for place, token in enumerate(asked) if token.word in _ME)
    if mine and not any(token.content and token.word == name.casefold() for token in asked for name in names):
        return mine
    return None


def _counts(question: Query, asked: Sequence[Token], how: Asks, noun: str | None) -> bool:
    """Return whether what a question counts are the values: "how many pets", not "how much" or "how many times"."""
    counted = _COUNTED.search(question.text)
    if counted is None:
        return False
    return counted[1].lower() == noun or any(asked[place].word == counted[1].lower() for place in how.places)


def _fits_side(group: RelationFacts, how: Asks, asked: Sequence[Token]) -> bool:
    """Return whether the question wants the end of the relation that the group gives: a mother, not a child."""
    if group.relation in _OTHER_END and how.wanted is not None:
        tail = how.wanted in _OTHER_END[group.relation] or how.wanted.removesuffix("s") in _OTHER_END[group.relation]
        return tail == group.forward
    if group.relation in ("coaches", "likes") and group.forward:  # not "her coach", nor "what is she like?"
        return any(token.word in _DOES for token in asked) or how.wanted not in ("coach", "manager", "like")
    return True


def _fit(question: Query, kind: EntityType | None, value: EntityType | None, asked: Sequence[Token]) -> float | None:
    """Return how well the type of a relation's values fits what is asked for, or None where it does not."""
    match question.answer_type:
        case "where":
            return 0.5 if value == "place" else 0.3 if value == "organisation" else None
        case "who" if value == "organisation":
            return 0.0 if any(token.word in ("for", "with", "at") for token in asked) else None
        case "who":
            return 0.5 if value == "person" else None
        case "what":
            if kind is not None:
                return 0.5 if value == kind else None
            return 0.2 if value in (None, "thing") else 0.0
        case "when" if value == "time":
            return 0.3  # "when was she born?" wants the date of birth, not the time of a fact about the place
        case _:
            return 0.0


def _may_be(wanted: str | None) -> bool:
    """Return whether the only value may be of a kind that nobody named; not of a place's size or a way of making."""
    return wanted is not None and stem(wanted.removesuffix("s")) not in _NARROWER | frozenset(map(stem, _DOINGS))


def _narrowed(
    values: Sequence[Held], wanted: str | None, group: RelationFacts, knowledge: KnownFacts
) -> list[Held] | None:
    """Return the values that are of the kind asked for by their own words; None where that cannot be told."""
    noun = stem(wanted.removesuffix("s")) if wanted else ""
    if noun in _NARROWER and group.relation not in ("nationality", "comes_from"):
        return None
    kinds = _NARROW.get(noun)
    if not kinds:
        return list(values)
    # "Beth is my sister" calls the tail a sister: seen from Beth, it does not say what Ann is.
    telling = group.forward or not relations().get(group.relation).symmetric
    kept, other = [], []
    for one in values:
        quotes = (place.quote for said in one.said if telling and (place := knowledge.source(said)))
        spoken = {token.stem for token in tokens(" ".join([one.value, *quotes]))}
        if not spoken.isdisjoint(kinds):
            kept.append(one)
        elif not spoken.isdisjoint(_NARROW.get(_OPPOSITE.get(noun, ""), ())):
            other.append(one)
    return kept or ([] if values and len(other) == len(values) else None)
