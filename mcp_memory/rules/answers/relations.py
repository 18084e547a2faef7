"""Which relation a query asks for: its words are compared with those of the registry, "Where does Ann *work*?".

The comparison is strict on purpose, since a fact about another relation is a wrong answer. A query asks for a relation
only if it holds one of its words, and every content word that nothing explains (neither the relation, nor a name, nor
the time) counts against it, because the query then asks for something more specific than the fact states.

Question words are English; the words of relations are compared by their stems in any language.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from mcp_memory.domain.query import Query
from mcp_memory.domain.relations import DID, EntityType, Relation, relations
from mcp_memory.language.questions import UNSURE
from mcp_memory.language.stated import stated_times
from mcp_memory.language.tokens import STOP_WORDS, stem, words

_WEAK = frozenset(
    """
    where when what why be have go get see make know stay from into start begin lead head run date old call
    number country group include effect reason because becom after before
    """.split()  # noqa: SIM905 - a list of words is read as words
)
"""Words of the registry that are too general to ask for a relation alone."""
_ORDER_WORDS = frozenset(
    """
    first last final latest recent recently newest earliest initial initially original originally previous
    previously former formerly current currently presently nowadays today still anymore longer now moment
    present ago already ever always once used these days time times year years month months date day long since
    until
    """.split()  # noqa: SIM905 - a list of words is read as words
)
"""Words that say when or how long, which the query's `Constraint` already holds."""
_FRAME = UNSURE | frozenset(
    """
    name names kind type sort tell know remember
    say said please many much different total exactly actually user assistant called according also did does do
    living going away place person people one ones thing things some any list all number
    """.split()  # noqa: SIM905 - a list of words is read as words
)
"""Words that shape a question and do not narrow it."""
_PARTICLES = frozenset(("out", "on", "off", "up", "with", "without", "through", "against"))
"""After a relation's word they change its meaning: "work out", "live with"."""
_TYPE_WORDS: dict[str, EntityType] = {
    **dict.fromkeys(("city", "town", "place", "village", "location", "capital"), "place"),
    **dict.fromkeys(
        ("company", "employer", "firm", "organisation", "organization", "team", "club", "school", "university",
         "college", "institution", "party", "band", "workplace", "business"),
        "organisation",
    ),
    **dict.fromkeys(("person", "man", "woman"), "person"),
    **dict.fromkeys(("year", "date", "day", "month"), "time"),
}  # fmt: skip
_TYPE_NOUN = re.compile(
    r"\b(?:what|which|how many)\s+(?:(?:kind|type|sort)s?\s+of\s+)?((?:[\w'’-]+\s+){0,2}?[\w'’-]+)", re.I
)
_END_VERBS = frozenset(
    "leave quit stop end finish resign retire divorce split separate separated cease depart abandon drop".split()  # noqa: SIM905 - as above
)
_START_VERBS = frozenset(
    "start begin join become get take adopt marry settle arrive move relocate".split()  # noqa: SIM905 - as above
)
_OF_TIME = re.compile(r"\s(?:on|in|at|by|of|for|around|during)\s*$", re.I)
"""The preposition of a time: "live on 3 May" is not "live on"."""
_MOVE_AWAY = re.compile(
    r"\b(?:move|moved|moving|moves)\s+(?:away|out)\b|\b(?:move|moved|moving)\s+from\b(?!.*\bto\b)", re.I
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


def query_tokens(text: str) -> tuple[QueryToken, ...]:
    """Return the words of a query without its times."""
    for stated in reversed(stated_times(text, None)):
        text = _OF_TIME.sub(" ", text[: stated.start]) + " " + text[stated.end :]
    found = []
    for word in words(text):
        content = word not in STOP_WORDS and word not in _ORDER_WORDS and word not in _FRAME
        found.append(QueryToken(word, stem(word), content))
    return tuple(found)


def name_positions(tokens: Sequence[QueryToken], names: Sequence[str]) -> frozenset[int]:
    """Return the positions of the first of these names that the query holds whole; empty without one."""
    for name in names:
        wanted = words(name)
        said = [token.word for token in tokens]
        for place in range(len(said) - len(wanted) + 1):
            if wanted and said[place : place + len(wanted)] == wanted:
                return frozenset(range(place, place + len(wanted)))
    return frozenset()


class RelationMention(NamedTuple):
    """How a query asks for a relation.

    Attributes:
        positions: the positions of the relation's words in the query.
        strength: how clearly, about 1 for a word of this relation alone.
        noun: the noun for the value ("city", "sister"), as a word, or None.
    """

    positions: frozenset[int]
    strength: float
    noun: str | None


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


def find_mention(tokens: Sequence[QueryToken], relation: Relation) -> RelationMention | None:
    """Return how the query's words ask for a relation, or None.

    Nothing asks for `DID`: "what did Ann buy?" has its verb, but asks for what its other words mean.
    """
    if relation.name == DID:
        return None
    said = [token.stem for token in tokens]
    places: set[int] = set()
    strength = 0.0
    wanted: str | None = None
    label = tuple(word for word in _phrase_stems(relation.label) if word not in STOP_WORDS)
    known = bool(relation.asked) and relation.name in {known.name for known in relations()}
    if not known:  # "favourite_colour": all of its words, or it is another relation
        name = _phrase_stems(relation.name.replace("_", " "))
        if not name or not set(name) <= set(said):
            return None
        places = {said.index(word) for word in name}
        return RelationMention(frozenset(places), 1.0, tokens[max(places)].word)
    for phrase in relation.asked:
        plain = _phrase_stems(phrase)
        for place in range(len(said) - len(plain) + 1):
            after = place + len(plain)
            if tuple(said[place:after]) != plain:
                continue
            if after < len(tokens) and tokens[after].word in _PARTICLES:
                continue
            weight = 1.0 / _relations_by_phrase()[plain] ** 0.5 + 0.5 * (plain[0] in label)
            if len(plain) == 1 and plain[0] in _WEAK:
                weight = 0.2 if plain[0] not in ("where", "when", "what", "why") else 0.0
            if weight:
                places.update(range(place, place + len(plain)))
                strength = max(strength, weight)
                wanted = tokens[place].word if len(plain) == 1 else wanted
    return RelationMention(frozenset(places), strength, wanted) if strength else None


def asked_type(question: str) -> tuple[EntityType | None, str | None]:
    """Return the entity type that a "what" or "which" asks for by its noun ("which city"), and that noun."""
    for found in _TYPE_NOUN.finditer(question):
        for word in words(found[1]):
            for form in (word, word.removesuffix("s"), word.removesuffix("ies") + "y"):
                if form in _TYPE_WORDS:
                    return _TYPE_WORDS[form], word
    return None, None


def mentions_end(text: str) -> bool:
    """Return whether a text speaks of an end: "left", "stopped", "moved away"."""
    return not _stems(_END_VERBS).isdisjoint(map(stem, words(text))) or _MOVE_AWAY.search(text) is not None


def change_positions(tokens: Sequence[QueryToken]) -> frozenset[int]:
    """Return the positions of the words that speak of a beginning or an end."""
    return frozenset(place for place, token in enumerate(tokens) if token.stem in _stems(_END_VERBS | _START_VERBS))


@cache
def _stems(plain: frozenset[str]) -> frozenset[str]:
    return frozenset(stem(word) for word in plain)


DOES_WHAT = re.compile(
    r"^\W*what\s+(?:does|do|did)\s(?:[\w'’.-]+\s){1,4}?do"
    r"(?:\s+(?:now|nowadays|currently|these\s+days|at\s+the\s+moment|for\s+(?:a\s+living|work)))*\W*$",
    re.I,
)
_WHEN_IS = re.compile(r"^\W*when\s+(?:is|are)\b", re.I)


def asked_mention(
    query: Query, tokens: tuple[QueryToken, ...], relation: Relation, changes: frozenset[int]
) -> RelationMention | None:
    """Return how a query asks for a relation, by a word of it or without one.

    Args:
        query: the query.
        tokens: its words.
        relation: the relation.
        changes: positions of the verbs of a beginning or an end, if the query names a value that may begin or end.
    """
    if mention := find_mention(tokens, relation):
        return mention
    if changes:
        return RelationMention(changes, 0.8, None)  # "When did Ann leave Acme?"
    if relation.name == "works_as" and DOES_WHAT.search(query.text):
        return RelationMention(frozenset(), 0.8, None)  # "What does Ann do?"
    told_by_form = (
        (relation.name == "scheduled_for" and _WHEN_IS.match(query.text))  # "When is our standup?"
        or (relation.name == "has_command" and query.answer_type == "how")  # "How do we deploy?"
        or (relation.name in ("located_at", "located_in") and query.answer_type == "where")  # "Where is the guide?"
    )
    return RelationMention(frozenset(), 0.5, None) if told_by_form else None
