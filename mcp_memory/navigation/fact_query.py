"""Read what a query asks of the facts: which relations, with what intent, and of which time (REAL §III-B1).

All of it comes from the words of the query, and from a language model's interpretation if there is one, as in REAL
(``reasoning/anthropic/understanding.py``). A query asks for a relation by the words that the
registry lists for it ("job" for ``works_as``), by those of its label, or because the model names it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, cached_property

from mcp_memory.domain.facts import Intent, Version
from mcp_memory.domain.query import Constraint, Query
from mcp_memory.domain.relations import Relation, relations
from mcp_memory.domain.times import BEGINNING, FOREVER, Millis
from mcp_memory.heap import text_cache
from mcp_memory.language.iso import MONTHS, WEEKDAYS
from mcp_memory.language.questions import looks_back
from mcp_memory.language.tokens import STOP_WORDS, stem, stems, words
from mcp_memory.view.facts import Facts

Moment = tuple[Millis, Millis]
"""The time in question, ``[since, until)``. One millisecond is an *instant*: the time of the call, or the ``as_of`` of
the caller; a longer interval is a time that the query names."""

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
_QUALIFIER = r"[\"”]?\s?[(（\[][^()（）\[\]]{0,200}[)）\]]"  # after one of two entities with the same name
_NAMES = 50  # names of a query that are left out of its words
_OPENING = 2_000  # characters of a query in which its form is read
_ASKING = frozenset(("who", "whom", "whose", "when", "where", "why", "what", "which", "how", "be"))
_CAUSES = frozenset(("causes", "caused_by"))
_ORDERS = frozenset(("before", "after"))
HINTED = 0.5
"""How strongly words with little content ask for a relation ("from" for ``comes_from``)."""


class FactQuery:
    """What a query asks of the facts; `fact_query` returns the one of a query.

    Attributes:
        query: understood.
        past: whether it asks about the past in general ("where did she …?").
        compares: whether it asks the same about several entities ("is A or B older?").
    """

    def __init__(self, query: Query) -> None:
        self.query = query
        self.past = looks_back(query.text)
        self.compares = _CHOICE.search(_plain(query.text)) is not None
        self._words = frozenset(words(query.text))
        self._plain = _stems_by_plain_form(query.text)
        self._asked: dict[str, tuple[float, frozenset[str]]] = {}

    @cached_property
    def intent(self) -> Intent:
        """The kind of fact that answers the query, by a model or by its words; of several the first in REAL's order."""
        return self.query.intent or _intent(_plain(_nameless(self.query)), self.query)

    def demand(self, relation: str) -> float:
        """Return how strongly the query asks for a relation, in [0, 1]: for itself, or half for one that it implies."""
        return self._asked_for(relation)[0]

    def words_for(self, relation: str) -> frozenset[str]:
        """Return the stems of the query by which it asks for a relation, or for what it implies."""
        return self._asked_for(relation)[1]

    def suitability(self, version: Version, intent: Intent, facts: Facts) -> float:
        """Return how well a fact suits the intent of a root, in [0, 1].

        A fact of the kind that the intent looks for suits it, and so does one whose relation the query asks for by
        name, whatever its kind: "when was the director of Tidewater born?" asks for a time, but the path to it first
        needs the director.

        **Departure.** REAL's intents belong to single roots; ours belongs to the whole query (`navigation.anchors`). So
        it describes the last step of a path, and is no reason against the steps that lead there.
        """
        return 1.0 if serves(version, intent, facts) else self.demand(version.relation)

    @cached_property
    def relations(self) -> tuple[str, ...]:
        """The relations of the registry that the query itself asks for, at least by a hint, in the registry's order."""
        return tuple(known.name for known in relations() if self._match(known)[0] > 0)

    @cached_property
    def _meant(self) -> frozenset[str]:
        """The relations that a model named, and their inverses, for which such a query asks too."""
        named = self.query.relations
        return frozenset((*named, *(other for name in named if (other := relations().get(name).inverse))))

    def names_entity(self, key: str) -> bool:
        """Return whether the query itself names an entity, which is then unlikely to be its answer."""
        own = words(key)
        return bool(own) and self._words.issuperset(own)

    @cached_property
    def _by_name(self) -> bool:
        """Whether the query asks for some relation by its name."""
        return any(self._match(relations().get(name))[0] >= 1 for name in self.relations)

    def allows(self, relation: str) -> bool:
        """Return whether a relation could answer the query; any could if the query asks for none by name."""
        return self.demand(relation) > 0 or not self._by_name

    def _asked_for(self, relation: str) -> tuple[float, frozenset[str]]:
        """Return how strongly the query asks for a relation or for what it implies, and by which stems."""
        if relation not in self._asked:
            known = relations().get(relation)
            strength, explained = self._match(known)
            for name in known.implies:
                other, further = self._match(relations().get(name))
                strength, explained = max(strength, HINTED * other), explained | further
            self._asked[relation] = strength, explained
        return self._asked[relation]

    def _match(self, known: Relation) -> tuple[float, frozenset[str]]:
        """Return how strongly the query asks for a relation itself, and by which stems.

        It asks for one that a model named, too, by words that the registry does not know: if the model named no other,
        by all content words except names.
        """
        strength, explained = self._match_words(known)
        if known.name not in self._meant:
            return strength, explained
        if not explained and self._meant <= {known.name, known.inverse}:
            names = (*self.query.names, *self.query.speakers, *self.query.extra_names)
            explained = content_stems(self.query).difference(*(stems(name) for name in names))
        return 1.0, explained

    def _match_words(self, known: Relation) -> tuple[float, frozenset[str]]:
        strength, explained = 0.0, frozenset[str]()
        if known.asked == tuple(known.name.split("_")):  # not in the registry: only its name is known
            own = _phrase(" ".join(known.asked))[0]
            shared = own & self._plain.keys()
            return (len(shared) / len(own) if own else 0.0), self._stems_of(shared)
        for phrase in (*known.asked, known.label):
            own, plain = _phrase(phrase)
            if own and own <= self._plain.keys():
                strength = 1.0
                explained |= self._stems_of(own)
            elif not own and phrase != known.label and plain <= self._words and not plain <= _ASKING:
                strength = max(strength, HINTED)
        return strength, explained

    def _stems_of(self, plain: Iterable[str]) -> frozenset[str]:
        """Return the stems of the query's words that have these plain forms."""
        return frozenset(stem for form in plain for stem in self._plain[form])


fact_query = text_cache(16)(FactQuery)
"""Returns the `FactQuery` of a query; cached, since several steps of one call need it."""


@text_cache(4_096)  # the registry has some hundred phrases; the others are relation names in the spaces
def _phrase(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the stems of the plain forms of a phrase's words, without stop words, and its words."""
    return frozenset(_stems_by_plain_form(text)), frozenset(words(text))


def _stems_by_plain_form(text: str) -> dict[str, set[str]]:
    """Return the stems of the plain forms of a text's words, each with the stems of the words themselves."""
    forms: dict[str, set[str]] = {}
    for word in words(text):
        if word not in STOP_WORDS:
            forms.setdefault(stem(word), set()).update(stems(word))
    return forms


def serves(version: Version, intent: Intent, facts: Facts) -> bool:
    """Return whether a fact is of the kind that an intent looks for (REAL's IntentCompatible).

    The intent names the kind of the answer, so a fact can match by its content as well as by its wording: a dated fact
    matches a query for a time, a value that changed matches a query for a change.
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


def moment(constraint: Constraint | None, instant: Millis) -> Moment | None:
    """Return the time in question: that of the query, else the instant whose facts are wanted (DESIGN 3.1).

    None, which filters nothing, if the query asks for a position in a sequence ("first"), or names an event whose time
    is unknown.
    """
    if constraint is None or constraint.order == "now":
        return instant, instant + 1
    if not constraint.dated:
        return None
    if constraint.order == "before":
        return BEGINNING, constraint.since
    if constraint.order == "after":
        return constraint.until, FOREVER
    return constraint.since, constraint.until


def is_time_valid(version: Version, at: Moment | None, intent: Intent, *, past: bool = False) -> bool:
    """Return whether a fact belongs to the time in question (REAL's TimeValid, with DESIGN D29).

    - An explicit interval has to share an instant with the fact. An event without an end of its own is one instant.
    - At an instant, a state has to hold and an event has to have happened: "what did she buy?" includes all purchases.
    - Queries for a change, a comparison or a time (EVOLUTION, CONTRAST, TEMPORAL) need past facts, so for them an
      instant filters nothing; for the first two, neither does an interval. A query in the past tense that names no time
      ("where did she work?") includes past facts too.

    A contested fact (since ≥ until) never held; only a comparison includes it.
    """
    since, until = version.since, version.until
    if since >= until:
        return intent == "CONTRAST"
    if at is None or intent in ("EVOLUTION", "CONTRAST"):
        return True
    instant = at[1] - at[0] <= 1
    if instant and intent == "TEMPORAL":
        return True
    relation = relations().get(version.relation)
    if version.kind == "planned":
        return relation.last_told or not instant
    event = relation.event or version.kind == "event"
    if instant and (event or past):
        return since < at[1]
    if event and until >= FOREVER:
        until = since + 1
    return since < at[1] and until > at[0]


def _plain(text: str) -> str:
    return " ".join(text[:_OPENING].casefold().split())


def _nameless(query: Query) -> str:
    """Return the opening of a query without its names, whose words ask for nothing: "The Change (1995 film)"."""
    named = "|".join(re.escape(name) for name in sorted(query.names[:_NAMES], key=len, reverse=True))
    opening = query.text[:_OPENING]
    return re.sub(rf"(?<!\w)(?:{named})(?!\w)(?:{_QUALIFIER})?", " ", opening) if named else opening


def _intent(text: str, query: Query) -> Intent:
    """Return the intent of a query by its words.

    A query that names a time and asks for something else ("what did she own in 2015?") does not ask for a time: facts
    that held then answer it (`is_time_valid`), whether or not they were stated with a date.
    """
    wants_time = query.answer_type in ("when", "how_long")
    bound = not wants_time and query.time is not None and query.time.dated
    for intent, pattern in _LEXICON:
        if pattern.search(text) and not (intent == "TEMPORAL" and bound):
            return intent
    return "TEMPORAL" if wants_time else "FACT"


def content_stems(query: Query) -> frozenset[str]:
    """Return the stems of a query without those of times, which the filter by validity handles."""
    return frozenset(stem for stem in query.stems if stem not in _times() and not stem.isdecimal())


@cache
def _times() -> frozenset[str]:
    """Return the stems of words that only express a time; a function, since the stemmer is loaded on first use."""
    return frozenset(
        stems(
            f"{' '.join(MONTHS)} {' '.join(WEEKDAYS)} day week month year decade century today yesterday tomorrow"
            " currently nowadays recently ago first last"
        )
    )
