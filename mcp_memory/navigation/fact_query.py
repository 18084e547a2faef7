"""What a query asks of the facts: for which relations, with what intent, of which time, and whether it accepts guesses.

All of it is read from the words, and from what a model said of the query if one did (REAL §3.3.1 asks a language model;
`domain.query.with_interpretation`). A relation is asked for by the words that the registry lists for it ("job" for
``works_as``), by those of its label, or because the model names it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache, cached_property, lru_cache

from mcp_memory.domain.facts import Intent, Version
from mcp_memory.domain.query import Query
from mcp_memory.domain.relations import relations
from mcp_memory.domain.times import BEGINNING, FOREVER, Constraint, Millis
from mcp_memory.language.gregorian import MONTHS, WEEKDAYS
from mcp_memory.language.names import names
from mcp_memory.language.question_form import looks_back, wants_guesses
from mcp_memory.language.tokens import STOP_WORDS, stem, stems, words
from mcp_memory.view.facts import Facts

Moment = tuple[Millis, Millis]
"""The time in question, ``[since, until)``. One millisecond is an *instant*: the moment of asking, or the
``as_of`` of the caller; a longer one is a time that the query names."""

_LEXICON: tuple[tuple[Intent, re.Pattern[str]], ...] = (
    (
        "CAUSAL",
        re.compile(
            r"\b(?:why|because|reasons?|causes?|caused|how come|due to|le(?:d|ads?|ading) to|result(?:s|ed)? in)\b"
        ),
    ),
    (
        "EVOLUTION",
        re.compile(
            r"\b(?:chang(?:ed?|es|ing)|used to|becom(?:es?|ing)|became|still|no longer|any ?more|switch(?:ed|es)?"
            r"|evol(?:ved?|ves|ution)|over (?:time|the years)|progress(?:ed)?|ever|previous(?:ly)?|former(?:ly)?)\b"
        ),
    ),
    (
        "TEMPORAL",
        re.compile(
            r"\b(?:when|before|after|since|until|till|during|dates?|years?|months?|how long|ago|recent(?:ly)?"
            r"|first|last|latest|earliest|(?:1\d|20)\d\d)\b"
        ),
    ),
    ("CONTRAST", re.compile(r"\b(?:than|but|instead|rather|differ(?:s|ent|ence|ences)?|compar\w+|versus|vs|unlike)\b")),
)
_CHOICE = re.compile(r"\b(?:or|both|either|neither|than)\b")
_TELLING_APART = re.compile(r"[\"”]?\s?[(（\[][^()（）\[\]]{0,200}[)）\]]")  # of two that bear one name
_OPENING = 2_000  # characters of a query that are read for its form
_ASKING = frozenset(("who", "whom", "whose", "when", "where", "why", "what", "which", "how", "be"))
_CAUSES = frozenset(("causes", "caused_by"))
_ORDERS = frozenset(("before", "after"))
HINTED = 0.5
"""How far a relation is asked for by words that say little else ("from" for ``comes_from``)."""


class FactQuery:
    """A query as it is put to the facts; `fact_query` returns the one of a query.

    Attributes:
        query: understood.
        accepts_guesses: whether it wants guesses too ("might she …?").
        past: whether it asks of the past in general ("where did she …?").
        compares: whether it asks the same of several ("is A or B older?").
    """

    def __init__(self, query: Query) -> None:
        self.query = query
        self.accepts_guesses = query.accepts_guesses or wants_guesses(query.text)
        self.past = looks_back(query.text)
        self.compares = _CHOICE.search(_plain(query.text)) is not None
        self._words = frozenset(words(query.text))
        self._plain = _plain_stems(query.text)
        self._asked: dict[str, float] = {}
        self._matches: dict[str, tuple[float, frozenset[str]]] = {}
        self._stems_for: dict[str, frozenset[str]] = {}

    @cached_property
    def intent(self) -> Intent:
        """What the answer is made of, of several the first in REAL's order: as a model said, else by the words."""
        return self.query.intent or _intent(_plain(_nameless(self.query)), self.query)

    def asks(self, relation: str) -> float:
        """Return how far the query asks for a relation, in [0, 1]: itself, or half as far what it implies."""
        if relation not in self._asked:
            implied = (HINTED * self._match(name)[0] for name in relations().get(relation).implies)
            self._asked[relation] = max(self._match(relation)[0], *implied, 0.0)
        return self._asked[relation]

    def wants(self, version: Version, intent: Intent, facts: Facts) -> float:
        """Return how far a fact is what a root with an intent is asked for, in [0, 1].

        A fact of the kind that the intent looks for is, and one whose relation the query asks for by name is
        whatever its kind: "when was the director of Tidewater born?" wants a time, and to come there it wants the
        director first.

        **Departure.** REAL's intents are those of single roots; ours is that of the whole query (`anchor`), so it
        is the intent of its last step, and says nothing against those that lead there.
        """
        return 1.0 if serves(version, intent, facts) else self.asks(version.relation)

    def words_for(self, relation: str) -> frozenset[str]:
        """Return the stems of the query by which it asks for a relation, or for what it implies."""
        if relation not in self._stems_for:
            implied = (self._match(name)[1] for name in relations().get(relation).implies)
            self._stems_for[relation] = self._match(relation)[1].union(*implied)
        return self._stems_for[relation]

    @cached_property
    def relations(self) -> tuple[str, ...]:
        """The relations of the registry that are asked for themselves, if only by a hint, in its order."""
        near = {name for word in (*self._plain, *self._words) for name in _called_by().get(word, ())}
        near.update(self.query.relations)
        return tuple(known.name for known in relations() if known.name in near and self._match(known.name)[0] > 0)

    def names_entity(self, key: str) -> bool:
        """Return whether the query itself names an entity, which is then hardly what it asks for."""
        own = words(key)
        return bool(own) and self._words.issuperset(own)

    def allows(self, relation: str) -> bool:
        """Return whether a relation could answer; any could if the query asks for none in so many words."""
        return not self._asks_for_one or self.asks(relation) > 0

    @cached_property
    def _asks_for_one(self) -> bool:
        return any(self._match(name)[0] >= 1 for name in self.relations)

    def _match(self, relation: str) -> tuple[float, frozenset[str]]:
        if relation not in self._matches:
            self._matches[relation] = self._matched(relation)
        return self._matches[relation]

    @cached_property
    def _named_relations(self) -> frozenset[str]:
        """The relations that a model named; who asks for a relation asks for its inverse."""
        named = self.query.relations
        return frozenset((*named, *(other for name in named if (other := relations().get(name).inverse))))

    def _matched(self, relation: str) -> tuple[float, frozenset[str]]:
        """Return how far a relation is asked for, and the stems by which it is.

        A relation that the model names is asked for, by words that the registry does not know. If it is the only one,
        these are what is left of the query beside its names.
        """
        strength, explained = self._by_words(relation)
        if relation not in self._named_relations:
            return strength, explained
        alone = self._named_relations <= {relation, relations().get(relation).inverse}
        return 1.0, self._beside_names if alone and not explained else explained

    @cached_property
    def _beside_names(self) -> frozenset[str]:
        named = (*self.query.names, *self.query.speakers, *self.query.extra_names)
        return content_stems(self.query).difference(*(stems(name) for name in named))

    def _by_words(self, relation: str) -> tuple[float, frozenset[str]]:
        strength, explained = 0.0, frozenset[str]()
        known = relations().get(relation)
        if known.asked == tuple(relation.split("_")):  # not in the registry: all that is known is its name
            own = _phrase(" ".join(known.asked))[0]
            said = own & self._plain.keys()
            return (len(said) / len(own) if own else 0.0), self._written(said)
        for phrase in (*known.asked, known.label):
            own, plain = _phrase(phrase)
            if own and own <= self._plain.keys():
                strength = 1.0
                explained |= self._written(own)
            elif not own and phrase != known.label and plain <= self._words and not plain <= _ASKING:
                strength = max(strength, HINTED)
        return strength, explained

    def _written(self, plain: Iterable[str]) -> frozenset[str]:
        """Return the stems of the query's words whose plain forms these are."""
        return frozenset(said for one in plain for said in self._plain[one])


fact_query = lru_cache(maxsize=16)(FactQuery)
"""Returns the `FactQuery` of a query; several steps of one call ask for it."""


@lru_cache(maxsize=4_096)  # the registry has some hundred phrases; the rest are names of relations in the spaces
def _phrase(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the stems of the plain forms of a phrase's words but stop words, and its words."""
    return frozenset(_plain_stems(text)), frozenset(words(text))


@cache
def _called_by() -> dict[str, set[str]]:
    """Return the relations of the registry by the words, and by the plain stems, that some phrase for them has."""
    found: dict[str, set[str]] = {}
    for known in relations():
        for phrase in (*known.asked, " ".join(known.asked), known.label):
            for word in frozenset[str]().union(*_phrase(phrase)):
                found.setdefault(word, set()).add(known.name)
    return found


def _plain_stems(text: str) -> dict[str, set[str]]:
    """Return the stems of the plain forms of a text's words, each with the stems that the words themselves have."""
    found: dict[str, set[str]] = {}
    for word in words(text):
        if word not in STOP_WORDS:
            found.setdefault(stem(word), set()).update(stems(word))
    return found


def serves(version: Version, intent: Intent, facts: Facts) -> bool:
    """Return whether a fact is of the kind that an intent looks for (REAL's IntentCompatible).

    The intent of a query names what its answer is made of, so a fact serves it by what it is as well as by how it
    was worded: a dated fact serves a query for a time, a value that changed a query for a change.
    """
    if intent in ("FACT", version.intent):
        return True
    if intent == "CAUSAL":
        return version.relation in _CAUSES
    if intent == "TEMPORAL":
        return version.stated or version.relation in _ORDERS or relations().get(version.relation).tail == "time"
    if intent == "EVOLUTION":
        if version.status == "closed" or any(assertion.change for assertion in version.assertions):
            return True
        single = facts.cardinality(version.relation) == "single"
        return single and len(facts.versions(facts.key(version.head), version.relation)) > 1
    return version.status == "contested" or relations().get(version.relation).antonym is not None


def moment(constraint: Constraint | None, *, as_of: Millis | None, now: Millis) -> Moment | None:
    """Return the time in question: what the query names, else ``as_of``, else now (DESIGN 3.1).

    None, which filters nothing, if the query wants a place in the order of things ("first"), or names an event
    whose time is not known.
    """
    instant = now if as_of is None else as_of
    if constraint is None or constraint.order == "now":
        return instant, instant + 1
    if not constraint.dated:
        return None
    if constraint.order == "before":
        return BEGINNING, constraint.since
    if constraint.order == "after":
        return constraint.until, FOREVER
    return constraint.since, constraint.until


def holds(version: Version, at: Moment | None, intent: Intent, *, past: bool = False) -> bool:
    """Return whether a fact belongs to the time in question (REAL's TimeValid, with DESIGN D29).

    - An explicit interval has to share an instant with the fact. An event without an end of its own is one instant.
    - At an instant, a state has to hold and an event to have happened: "what did she buy?" asks of all purchases.
    - Questions for a change, a comparison or a time (EVOLUTION, CONTRAST, TEMPORAL) need what is over, so for them an
      instant filters nothing; for the first two, neither does an interval. A question in the past tense that names no
      time ("where did she work?") takes what is over too.

    What was contested never held; only a comparison wants it.
    """
    since, until = version.since, version.until
    if since >= until:
        return intent == "CONTRAST"
    if at is None or intent in ("EVOLUTION", "CONTRAST"):
        return True
    instant = at[1] - at[0] <= 1
    if instant and intent == "TEMPORAL":
        return True
    event = relations().get(version.relation).event
    if instant and (event or past):
        return since < at[1]
    if event and until >= FOREVER:
        until = since + 1
    return since < at[1] and until > at[0]


def _plain(text: str) -> str:
    return " ".join(text[:_OPENING].casefold().split())


def _nameless(query: Query) -> str:
    """Return the opening of a query without its names, whose words ask for nothing: "The Change (1995 film)"."""
    opening = query.text[:_OPENING]
    called = query.names if len(opening) == len(query.text) else names(opening)
    spans = [(start, -len(name)) for name in called for start in _standing(name, opening)]
    kept, end = [], 0
    for start, length in sorted(spans):  # the first, and of those that begin together the longest
        if start >= end:
            kept.append(opening[end:start])
            apart = _TELLING_APART.match(opening, start - length)
            end = apart.end() if apart else start - length
    return " ".join((*kept, opening[end:]))


def _standing(name: str, text: str) -> Iterator[int]:
    """Yield where a name stands in a text as words of its own; to make a pattern of it would take long."""
    start = text.find(name)
    while start >= 0:
        around = text[max(0, start - 1) : start] + text[start + len(name) : start + len(name) + 1]
        if not any(letter.isalnum() or letter == "_" for letter in around):
            yield start
        start = text.find(name, start + 1)


def _intent(text: str, query: Query) -> Intent:
    """Return what the answer is made of, by the words of a query.

    One that names its time and asks for something else ("what did she own in 2015?") is not after times: what held then
    answers it (`holds`), whether or not a date was stated with it.
    """
    wants_time = query.answer_type in ("when", "how_long")
    bound = not wants_time and query.time is not None and query.time.dated
    for intent, sign in _LEXICON:
        if sign.search(text) and not (intent == "TEMPORAL" and bound):
            return intent
    return "TEMPORAL" if wants_time else "FACT"


def content_stems(query: Query) -> frozenset[str]:
    """Return the stems of a query without those of times, which validity accounts for."""
    return frozenset(stem for stem in query.stems if stem not in _times() and not stem.isdecimal())


@cache
def _times() -> frozenset[str]:
    """Return the stems of words that only say when; a function, since the stemmer is loaded when first needed."""
    return frozenset(
        stems(
            f"{' '.join(MONTHS)} {' '.join(WEEKDAYS)} day week month year decade century today yesterday tomorrow"
            " currently nowadays recently ago first last"
        )
    )
