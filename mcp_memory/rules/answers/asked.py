"""Which relation of which entity a query asks for: exactly one, or none (DESIGN 4 step 4).

A fact about another relation is a wrong answer, so the match is strict. A query has to name the entity (or describe it
by facts that a path follows, "Ann's sister"), hold a word of the relation, want the type and the kind of its values,
and say no more: a content word that none of these explain asks for something more specific than the fact states. Of
two relations that match, the better one has to lead by a margin.

The words of questions are those of ``resources/questions.toml``, in English; those of relations are compared by their
stems in any language.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from mcp_memory.domain.answers import KnownFacts, RelationFacts
from mcp_memory.domain.entities import PROJECT, entity_key
from mcp_memory.domain.evidence import Step
from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.query import Query
from mcp_memory.domain.relations import DID, EntityType, Relation, relations
from mcp_memory.domain.turns import USERS
from mcp_memory.language.stated import stated_times
from mcp_memory.language.tokens import STOP_WORDS, stem, words
from mcp_memory.language.vocabulary import word_set
from mcp_memory.rules.answers.values import ValidValue, planned_values, valid_values
from mcp_memory.texts import resource

MARGIN = 0.1
"""By so much the best relation has to lead the next one."""
_TABLE = tomllib.loads(resource("questions.toml"))
_LISTS = {name: word_set(text) for name, text in _TABLE.items() if isinstance(text, str)}
_NO_CONTENT = STOP_WORDS | _LISTS["order"] | _LISTS["frame"]
_WEAK = frozenset(map(stem, _LISTS["weak"]))
_ENDS = frozenset(map(stem, _LISTS["ends"]))
_CHANGES = _ENDS | frozenset(map(stem, _LISTS["starts"]))
_TYPES: dict[str, EntityType] = {word: kind for kind, text in _TABLE["types"].items() for word in text.split()}
_TAILS = {relation: word_set(text) for relation, text in _TABLE["tails"].items()}
_OF_ELSE = {relation: word_set(text) for relation, text in _TABLE["else"].items()}
_CHANGES_OF = {stem(word): word_set(of) for verbs, of in _TABLE["changes"].items() for word in verbs.split()}
_KINDS = [line.split() for line in _TABLE["narrower"]["words"].strip().splitlines()]
_NARROWER = {stem(word): frozenset(map(stem, kind)) for kind in _KINDS for word in kind}
_PRONOUNS = word_set("i me my mine myself we us our ours you your yours yourself")

_ASKS_PLAN = re.compile(r"\b(?:will|going\s+to|plan(?:s|ned|ning)?|about\s+to|intend(?:s|ed|ing)?)\b", re.I)
_YEAR = re.compile(r"\b\d{4}\b")
_TYPE_NOUN = re.compile(r"\b(?:what|which)\s+(?:(?:kind|type|sort)s?\s+of\s+)?((?:[\w'’-]+\s+){0,2}?[\w'’-]+)", re.I)
_OF_TIME = re.compile(r"\s(?:on|in|at|by|of|for|around|during)\s*$", re.I)
"""The preposition of a time: "live on 3 May" is not "live on"."""
_MOVE_AWAY = re.compile(
    r"\b(?:move|moved|moving|moves)\s+(?:away|out)\b|\b(?:move|moved|moving)\s+from\b(?!.*\bto\b)", re.I
)
_DOES_WHAT = re.compile(
    r"^\W*what\s+(?:does|do|did)\s(?:[\w'’.-]+\s){1,4}?do"
    r"(?:\s+(?:now|nowadays|currently|these\s+days|at\s+the\s+moment|for\s+(?:a\s+living|work)))*\W*$",
    re.I,
)


class QueryToken(NamedTuple):
    """A word of a query.

    Attributes:
        word: folded.
        stem: the stem of its plain form; stop words have one too.
        content: whether it narrows the query.
    """

    word: str
    stem: str
    content: bool


class Mention(NamedTuple):
    """How a query asks for a relation.

    Attributes:
        positions: the positions of the relation's words in the query.
        strength: how clearly, about 1 for a word of this relation alone.
        noun: the noun for the value ("city", "sister"), as a word, or None.
    """

    positions: frozenset[int]
    strength: float
    noun: str | None = None


@dataclass(frozen=True, slots=True)
class RelationMatch:
    """Facts that a query asks for.

    Attributes:
        group: the facts about the relation.
        values: those that fit the query, by start.
        named_values: of these, the ones that the query names.
        score: how clearly the query asks for the relation.
    """

    group: RelationFacts
    values: tuple[ValidValue, ...]
    named_values: tuple[ValidValue, ...]
    score: float

    @property
    def version_ids(self) -> frozenset[str]:
        """The ids of what it is about; a fact that is named whole is matched from both its ends."""
        return frozenset(value.version.id for value in self.named_values or self.values)

    @property
    def value_keys(self) -> frozenset[str]:
        """The keys of its values."""
        return frozenset(entity_key(value.value) for value in self.values)


def match_relation(query: Query, knowledge: KnownFacts) -> RelationMatch | None:
    """Return the one match of the query, or None where there is none or more than one."""
    asked = query_tokens(query.text)
    groups = (group for group in knowledge.groups if not group.inferred)
    matches = [match for group in groups if (match := _match_group(query, asked, group, knowledge))]
    if not matches:
        return None
    best = max(matches, key=lambda match: match.score)
    rivals = [match for match in matches if match is not best and match.score > best.score - MARGIN]
    same = (one.version_ids == best.version_ids or one.value_keys == best.value_keys for one in rivals)
    return best if all(same) else None


def query_tokens(text: str) -> tuple[QueryToken, ...]:
    """Return the words of a query without its times."""
    for stated in reversed(stated_times(text, None)):
        text = _OF_TIME.sub(" ", text[: stated.start]) + " " + text[stated.end :]
    return tuple(QueryToken(word, stem(word), word not in _NO_CONTENT) for word in words(text))


def name_positions(tokens: Sequence[QueryToken], names: Sequence[str]) -> frozenset[int]:
    """Return the positions of the first of these names that the query holds whole; empty without one."""
    said = [token.word for token in tokens]
    for name in names:
        wanted = words(name)
        for place in range(len(said) - len(wanted) + 1):
            if wanted and said[place : place + len(wanted)] == wanted:
                return frozenset(range(place, place + len(wanted)))
    return frozenset()


def mentions_end(text: str) -> bool:
    """Return whether a text speaks of an end: "left", "stopped", "moved away"."""
    return not _ENDS.isdisjoint(map(stem, words(text))) or _MOVE_AWAY.search(text) is not None


def change_positions(tokens: Sequence[QueryToken]) -> frozenset[int]:
    """Return the positions of the words that speak of a beginning or an end."""
    return frozenset(place for place, token in enumerate(tokens) if token.stem in _CHANGES)


def _match_group(
    query: Query, tokens: tuple[QueryToken, ...], group: RelationFacts, knowledge: KnownFacts
) -> RelationMatch | None:
    """Return the match of the query with one relation of one entity; None where it does not ask for it."""
    relation = relations().get(group.relation)
    values = (planned_values(group) if _ASKS_PLAN.search(query.text) else []) or valid_values(group)
    entity = _entity_positions(tokens, group, query)
    if entity is None or not values:
        return None
    named = [one for one in values if not name_positions(tokens, (one.value,)) <= entity]
    changes = change_positions(tokens)
    mention = _asked_mention(query, tokens, relation, changes if named else frozenset())
    if mention is None or not _wants_side(group.relation, mention, tokens, forward=group.forward):
        return None
    if _DOES_WHAT.search(query.text) and relation.name not in _LISTS["doings"]:
        return None  # "What does my brother do for a living?" asks for more than his name, and not for where he lives
    if not all(relation.name in _CHANGES_OF.get(tokens[place].stem, (relation.name,)) for place in changes):
        return None  # "When will my brother marry?" does not ask for a brother
    kind, kind_noun = _asked_type(query.text)
    fit = _type_fit(query, kind, relation.tail if group.forward else relation.head, tokens)
    steps = [find_mention(tokens, relations().get(step.version.relation)) for step in group.through]
    if fit is None or not all(
        said and _is_meant(step, said, tokens, knowledge) for step, said in zip(group.through, steps, strict=True)
    ):
        return None
    explained = entity | mention.positions | changes
    explained |= {place for step in steps if step for place in step.positions}
    explained |= {place for place, token in enumerate(tokens) if kind and token.word == kind_noun}
    named = named if query.answer_type == "when" else []
    for one in named:
        explained |= name_positions(tokens, (one.value,))
    if any(token.content and place not in explained and token.word != "s" for place, token in enumerate(tokens)):
        return None  # it asks for something more specific
    meant = _of_kind(values, kind_noun or mention.noun, group, knowledge)
    if kind_noun == "year":
        meant = [one for one in meant if _YEAR.search(one.value)]
    if not meant:
        return None
    matching = tuple(one for one in named if one in meant)
    return RelationMatch(group, tuple(meant), matching, mention.strength + fit)


def _entity_positions(tokens: Sequence[QueryToken], group: RelationFacts, query: Query) -> frozenset[int] | None:
    """Return the positions of the words that name the entity, or the one it is reached from, or None."""
    names = group.names
    if group.through:
        first = group.through[0]
        names = (first.version.head if first.forward else first.version.tail,)
    if places := name_positions(tokens, names):
        return places
    for owned in (name.partition("'s ")[2] for name in names):
        if owned and (places := name_positions(tokens, (owned,))) and tokens[min(places) - 1].word in _PRONOUNS:
            return places  # "my bike", of the user's bike
    parts = [word for name in names for word in name.split() if len(name.split()) > 1 and word[:1].isupper()]
    if places := name_positions(tokens, parts):
        return places
    mine = frozenset(place for place, token in enumerate(tokens) if token.word in _PRONOUNS)
    if query.speakers and not {*map(str.casefold, query.speakers), *USERS, PROJECT} & {*map(str.casefold, names)}:
        return None
    if mine and not any(token.content and token.word == name.casefold() for token in tokens for name in names):
        return mine
    return None


def _asked_mention(
    query: Query, tokens: tuple[QueryToken, ...], relation: Relation, changes: frozenset[int]
) -> Mention | None:
    """Return how a query asks for a relation, by a word of it or by its form.

    Args:
        query: the query.
        tokens: its words.
        relation: the relation.
        changes: positions of the verbs of a beginning or an end, if the query names a value that may begin or end.
    """
    if mention := find_mention(tokens, relation):
        return mention
    if changes:
        return Mention(changes, 0.8)  # "When did Ann leave Acme?"
    match relation.name:
        case "works_as" if _DOES_WHAT.search(query.text):  # "What does Ann do?"
            return Mention(frozenset(), 0.8)
        case "located_at" | "located_in" if query.answer_type == "where":  # "Where is the guide?"
            return Mention(frozenset(), 0.5)
    return None


def find_mention(tokens: Sequence[QueryToken], relation: Relation) -> Mention | None:
    """Return how the query's words ask for a relation, or None.

    Nothing asks for `DID`: "what did Ann buy?" has its verb, but asks for what its other words mean.
    """
    if relation.name == DID:
        return None
    said = [token.stem for token in tokens]
    if not relation.asked or relation.name not in {known.name for known in relations()}:
        name = set(_phrase_stems(relation.name.replace("_", " ")))  # "favourite_colour": all of its words
        if not name or not name <= set(said):
            return None
        places = {said.index(word) for word in name}
        return Mention(frozenset(places), 1.0, tokens[max(places)].word)
    label = {word for word in _phrase_stems(relation.label) if word not in STOP_WORDS}
    places, strength, noun = set(), 0.0, None
    for plain in map(_phrase_stems, relation.asked):
        for place in range(len(said) - len(plain) + 1):
            after = place + len(plain)
            behind = tokens[after].word if after < len(tokens) else ""
            if tuple(said[place:after]) != plain or behind in _LISTS["particles"]:
                continue
            weight = 1.0 / _relations_by_phrase()[plain] ** 0.5 + 0.5 * (plain[0] in label)
            if len(plain) == 1 and plain[0] in _WEAK:
                weight = 0.0 if plain[0] in _LISTS["asking"] else 0.2
            if weight:
                places.update(range(place, after))
                strength = max(strength, weight)
                noun = tokens[place].word if len(plain) == 1 else noun
    return Mention(frozenset(places), strength, noun) if strength else None


@cache
def _phrase_stems(phrase: str) -> tuple[str, ...]:
    return tuple(stem(word) for word in words(phrase))


@cache
def _relations_by_phrase() -> dict[tuple[str, ...], int]:
    """Return how many relations of the registry each phrase asks for."""
    count: dict[tuple[str, ...], int] = {}
    for relation in relations():
        for phrase in {_phrase_stems(word) for word in relation.asked}:
            count[phrase] = count.get(phrase, 0) + 1
    return count


def _wants_side(relation: str, mention: Mention, tokens: Sequence[QueryToken], *, forward: bool) -> bool:
    """Return whether the query wants the tail of a relation, or backwards its head: a mother, not a child."""
    noun, names = mention.noun, _TAILS.get(relation)
    if noun in _OF_ELSE.get(relation, ()):
        return False
    if names is not None and noun is not None:
        return (noun in names or noun.removesuffix("s") in names) == forward
    if relation in ("coaches", "likes") and forward:  # not "her coach", nor "what is she like?"
        asks = any(token.word in ("do", "does", "did") for token in tokens)
        return asks or noun not in ("coach", "manager", "like")
    return True


def _asked_type(question: str) -> tuple[EntityType | None, str | None]:
    """Return the entity type that a "what" or "which" asks for by its noun ("which city"), and that noun."""
    for found in _TYPE_NOUN.finditer(question):
        for word in words(found[1]):
            for form in (word, word.removesuffix("s"), word.removesuffix("ies") + "y"):
                if form in _TYPES:
                    return _TYPES[form], word
    return None, None


def _type_fit(
    query: Query, kind: EntityType | None, value: EntityType | None, tokens: Sequence[QueryToken]
) -> float | None:
    """Return how well the type of the values fits the query, or None where it does not."""
    if kind is not None and value not in (None, kind):
        return None
    match query.answer_type:
        case "where":
            return 0.5 if value == "place" else 0.3 if value == "organisation" else None
        case "who" if value == "organisation":
            return 0.0 if any(token.word in ("for", "with", "at", "employer", "employs") for token in tokens) else None
        case "who":
            return 0.5 if value == "person" else None
        case "what" if kind is not None:
            return 0.5 if value == kind else None
        case "what":
            return 0.2 if value in (None, "thing") else 0.0
        case "when" if value == "time":
            return 0.3  # "when was she born?" wants the date of birth, not the time of a fact about the place
        case _:
            return 0.0


def _is_meant(step: Step, mention: Mention, tokens: Sequence[QueryToken], knowledge: KnownFacts) -> bool:
    """Return whether a query means a step to its entity: to a mother, and neither to a child nor to a father."""
    version, kinds = step.version, _kinds(mention.noun)
    if not _wants_side(version.relation, mention, tokens, forward=step.forward):
        return False
    quotes = _quotes(version.relation, version.assertions, knowledge, forward=step.forward)
    return not kinds or _names(kinds, [version.tail if step.forward else version.head, *quotes])


def _of_kind(
    values: Sequence[ValidValue], wanted: str | None, group: RelationFacts, knowledge: KnownFacts
) -> Sequence[ValidValue]:
    """Return the values whose own words name the wanted kind; all of them where the noun is not narrower."""
    kinds = _kinds(wanted)
    if not kinds:
        return values
    matching = []
    for value in values:
        others = [one.value.casefold() for one in values if one.value != value.value]
        quotes = _quotes(group.relation, value.assertions, knowledge, forward=group.forward)
        own = (quote for quote in quotes if not any(other in quote.casefold() for other in others))
        if _names(kinds, [value.value, *own]):
            matching.append(value)
    return matching


def _kinds(noun: str | None) -> frozenset[str]:
    """Return the stems that name the kind of a noun which is narrower than its relation; none for any other noun."""
    return _NARROWER.get(stem(noun.removesuffix("s")), frozenset()) if noun else frozenset()


def _quotes(relation: str, said: Sequence[Assertion], knowledge: KnownFacts, *, forward: bool) -> list[str]:
    """Return the words that may name the kind of an end of a fact.

    "Beth is my sister" names the kind of the tail: from Beth's side, it does not say what Ann is.
    """
    if not forward and relations().get(relation).symmetric:
        return []
    return [place.quote for one in said if (place := knowledge.source(one))]


def _names(kinds: frozenset[str], texts: Sequence[str]) -> bool:
    return not kinds.isdisjoint(token.stem for token in query_tokens(" ".join(texts)))
