"""Read what a query asks of the facts: about which entities, for which relations, of which time (REAL §III-B1).

All of it comes from the words of the query, and from a language model's interpretation if there is one, as in REAL
(``reasoning/understanding.py``). A query asks for a relation by the words that the registry lists for it
("job" for ``works_as``), by those of its label, or because the model names it.

**Roots** (`select_roots`) are the entities that it is about (DESIGN 3.1). The most certain sources come first: names
that the caller passes, speakers that the query names, whom "I" and "you" mean, the names that the query mentions, and
those that Claude reads in it if they are rare or spelt like names. A name that no fact bears selects entities with a
similar name: "Patel" may be any person of that name. Only in a query without names, common nouns with few facts are
roots: "video game", but not "film" where there are a thousand.

**Mentions.** Entities are looked up by the words of the query, the longest first, and no word is used twice, so that
"New York City" does not also mention "York". Of a name of several words ("Madeleine of Savoy") only the entity that
bears it whole is meant, or one that bears its end after a title, "President Marie Patel". In a query without capitals
(an unicameral script, or typed in haste) an entity is named if the source texts write it like a name.

**Departures.** The paper has a language model name the roots, each with an intent of its own. Here rules name them,
too, and all share one intent, the kind of fact that the whole query asks for: the one that Claude reads in it, else
that of a lexicon (`FactQuery.intent`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, cached_property
from heapq import nsmallest
from itertools import islice, product

from mcp_memory.domain.entities import TITLES, entity_key
from mcp_memory.domain.evidence import Root
from mcp_memory.domain.facts import Intent, Version
from mcp_memory.domain.query import Constraint, Query
from mcp_memory.domain.relations import Relation, relations
from mcp_memory.domain.times import BEGINNING, FOREVER, Millis
from mcp_memory.domain.turns import USERS
from mcp_memory.heap import text_cache
from mcp_memory.language.iso import MONTHS, WEEKDAYS
from mcp_memory.language.questions import ASSISTANTS, looks_back
from mcp_memory.language.tokens import STOP_WORDS, stem, stems, words
from mcp_memory.view.facts import Facts
from mcp_memory.visible import MARKS

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
_NAMES_LEFT_OUT = 50  # names of a query that are left out of its words
_FORM_CHARS = 2_000  # characters of a query in which its form is read
_ASKING = frozenset(("who", "whom", "whose", "when", "where", "why", "what", "which", "how", "be"))
_CAUSES = frozenset(("causes", "caused_by"))
_ORDERS = frozenset(("before", "after"))
HINT_STRENGTH = 0.5
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

        **Departure.** REAL's intents belong to single roots; ours belongs to the whole query. So it describes the last
        step of a path, and is no reason against the steps that lead there.
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
    def _names_a_relation(self) -> bool:
        """Whether the query asks for some relation by its name."""
        return any(self._match(relations().get(name))[0] >= 1 for name in self.relations)

    def allows(self, relation: str) -> bool:
        """Return whether a relation could answer the query; any could if the query asks for none by name."""
        return self.demand(relation) > 0 or not self._names_a_relation

    def _asked_for(self, relation: str) -> tuple[float, frozenset[str]]:
        """Return how strongly the query asks for a relation or for what it implies, and by which stems."""
        if relation not in self._asked:
            known = relations().get(relation)
            strength, explained = self._match(known)
            for name in known.implies:
                other, further = self._match(relations().get(name))
                strength, explained = max(strength, HINT_STRENGTH * other), explained | further
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
                strength = max(strength, HINT_STRENGTH)
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
    return " ".join(text[:_FORM_CHARS].casefold().split())


def _nameless(query: Query) -> str:
    """Return the opening of a query without its names, whose words ask for nothing: "The Change (1995 film)"."""
    named = "|".join(re.escape(name) for name in sorted(query.names[:_NAMES_LEFT_OUT], key=len, reverse=True))
    opening = query.text[:_FORM_CHARS]
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


MOST_ROOTS = 8
"""At most this many roots are followed; ours, so that a long query stays cheap."""
SPECIFIC_PAIRS = 8
"""A common noun is a root only if it takes part in at most this many (entity, relation) pairs; ours: it keeps "film"
from being one."""
SAME_NAME_OVERLAP = 0.6
"""Jaccard index of their words from which on two names may mean the same entity; ours."""
# Capitalised forms inside a sentence belong to titles, "My Fair Lady".
_FIRST_PERSON = re.compile(
    r"\b(?:I|my|MY|me|ME|mine|MINE|myself|MYSELF|we|our|ours)\b|(?:^|[.!?]\s+)(?:My|Me|Mine|We|Our)\b"
)
_SECOND_PERSON = re.compile(r"\b(?:you|YOU|your|YOUR|yours|YOURS|yourself|YOURSELF)\b|(?:^|[.!?]\s+)(?:You|Your)\b")
_OWNED = re.compile(r"\b(?:my|our)\s+((?:[\w-]+\s*){1,3})", re.I)
_MOST_MEANT = 3  # entities that one name may refer to if none bears it exactly
_VAGUE_FROM = 12  # a name that more entities resemble refers to none
_ENTITIES_COMPARED = 256  # entities with a word in common that are compared with a name

_WORD = re.compile(rf"[\w{MARKS}+#]+(?:['’][\w{MARKS}]+)*")
_BRACKETS = re.compile(
    r"(?<=.)[(（\[][^()（）\[\]]{0,200}[)）\]]"
)  # they tell a name from others: "Dream (Ann Lee song)"
_NAME_WORDS = 8  # words of a name
_LONGEST_RUN = 10  # characters of a name in a script without spaces
_QUERY_WORDS = 100  # words of a query in which names are looked up
_QUERY_CHARS = 4_000  # characters of a query that are read
_NAMED = frozenset(("person", "organisation", "place"))

_Words = Sequence[re.Match[str]]


def select_roots(facts: Facts, query: Query) -> tuple[Root, ...]:
    """Return the roots of a query, each once, in order of certainty; some fact is about each of them.

    The names that the caller gives come first.
    """
    mentioned, unknown, common = mentioned_entities(facts, query.text, query.names)
    keys: dict[str, None] = {}
    for name in (*query.entities, *query.speakers, *_first_and_second_person(facts, query)):
        keys.update(dict.fromkeys(resolve_name(facts, name)))
    keys.update(dict.fromkeys(_possessions(facts, query)))
    keys.update(dict.fromkeys(mentioned))
    for name in unknown:
        keys.update(dict.fromkeys(resolve_name(facts, name)))
    for name in query.extra_names:
        similar = resolve_name(facts, name)
        keys.update(dict.fromkeys(key for key in similar if facts.degree(key) <= SPECIFIC_PAIRS or is_name(facts, key)))
    if not keys:
        opening = query.text.lstrip()
        if all(" " not in name and opening.startswith(name) for name in unknown):  # "Tell me" names nobody
            keys.update(dict.fromkeys(key for key in common if facts.degree(key) <= SPECIFIC_PAIRS))
    intent = fact_query(query).intent
    return tuple(Root(key, facts.name(key), intent) for key in list(keys)[:MOST_ROOTS])


def resolve_name(facts: Facts, name: str) -> list[str]:
    """Return the entities that a name may refer to: the one that bears it, else at most three similar ones, best first.

    Names are similar if they share enough words (`SAME_NAME_OVERLAP`). For people, organisations, places and
    other proper names two more conditions hold: one of the two names contains all words of the other, and names of
    people begin or end alike, so that Ann Lee is never Bob Lee. A single word of a longer name refers to a person of
    that name, or to an entity whose name begins with it ("Acme" and "Acme Corporation"). A name that more than a dozen
    entities resemble refers to none. Stop words are not compared.

    Villages, films and people that share all words but one are different entities.
    """
    exact = facts.resolve(name)
    if exact is not None:
        return [exact] if facts.degree(exact) else []
    words = _content_words(entity_key(name))
    similar = [
        (-similarity, -facts.degree(key), key)
        for key in facts.entities_with_words(words, _ENTITIES_COMPARED)
        if (similarity := _name_similarity(facts, name, words, key))
    ]
    return [key for _, _, key in nsmallest(_MOST_MEANT, similar)] if len(similar) <= _VAGUE_FROM else []


def _content_words(key: str) -> tuple[str, ...]:
    return tuple(word for word in key.split() if word not in STOP_WORDS)


def _name_similarity(facts: Facts, name: str, words: tuple[str, ...], key: str) -> float:
    """Return the Jaccard index of the words of a name and an entity, or 0 if the name does not refer to the entity."""
    other = _content_words(key)
    shared = set(words).intersection(other)
    index = len(shared) / len({*words, *other})
    if not shared or not is_name(facts, key):
        return index if index >= SAME_NAME_OVERLAP else 0.0
    if len(shared) < min(len(set(words)), len(set(other))):
        return 0.0  # each of the two names has a word that the other lacks
    first, last = words[0] == other[0], words[-1] == other[-1]
    person = facts.kind(key) == "person"
    if len(shared) > 1:
        return index if first or last or not person else 0.0
    if len(words) != len(entity_key(name).split()):  # "The Right One" has more words than its one content word
        return 0.0
    if person:
        return index if first or (last and len(words) == 1) else 0.0
    return index if first and index >= 1 / 2 else 0.0  # "Acme" and "Acme Corporation", not "Bank of Acme"


def _first_and_second_person(facts: Facts, query: Query) -> Iterator[str]:
    """Yield the entities of this space that "I" and "you" refer to, if it has facts about them."""
    for pattern, usual, roles in ((_FIRST_PERSON, "user", USERS), (_SECOND_PERSON, "assistant", ASSISTANTS)):
        if pattern.search(query.text) and not any(speaker.casefold() in roles for speaker in query.speakers):
            known = (role for role in (usual, *sorted(roles)) if (key := facts.resolve(role)) and facts.degree(key))
            yield from islice(known, 1)


def _possessions(facts: Facts, query: Query) -> Iterator[str]:
    """Yield the things of the asking person that a query names, "my bike", known as "user's bike"."""
    owners = [*_first_and_second_person(facts, query), *query.speakers, "user"]
    for found in islice(_OWNED.finditer(query.text[:_QUERY_CHARS]), _MOST_MEANT):
        parts = found[1].split()
        for owner, length in product(dict.fromkeys(owners), range(len(parts), 0, -1)):
            key = facts.known_entity(f"{owner}'s {' '.join(parts[:length])}".casefold())
            if key is not None and facts.degree(key):
                yield key
                break


def mentioned_entities(
    facts: Facts, question: str, names: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Return what a query mentions, of all entities that some fact is about; nothing twice.

    Returns:
        named: keys of entities, the longest names first.
        unknown: names as written that no fact bears; they may be variants of one that a fact bears.
        common: keys of entities mentioned as common nouns, the longest first.
    """
    text = _BRACKETS.sub(" ", unicodedata.normalize("NFKC", question[:_QUERY_CHARS]).strip())
    names = [unicodedata.normalize("NFKC", name) for name in names[:_QUERY_WORDS] if len(name) < _QUERY_CHARS]
    spoken = list(_WORD.finditer(text))[:_QUERY_WORDS]
    runs = list(_occurrences(text, spoken, names))
    capitals = bool(runs) or any(word[0][0].isupper() for word in spoken[1:])
    named: dict[str, None] = {}
    common: dict[str, None] = {}
    known: set[range] = set()
    for span, key in _entity_spans(facts, spoken):
        run = next((run for run in runs if run.start < span.stop and span.start < run.stop), None)
        written = [spoken[place][0] for place in span if not _has_little_content(spoken[place])]
        if all(word.isdecimal() for word in written):
            common[key] = None
        elif run is None:
            lower = any(word[0].islower() for word in written) if capitals else not is_name(facts, key)
            (common if lower else named)[key] = None
        elif _is_whole(spoken, span, run):
            named[key] = None
            known.add(run)
    for word in spoken:
        if not word[0].isascii() and len(words(word[0])) > 1 and not facts.resolve(word[0]):
            named.update(dict.fromkeys(_names_without_spaces(facts, word[0].casefold()[:_QUERY_WORDS])))
    unknown = [text[spoken[run.start].start() : spoken[run.stop - 1].end()] for run in runs if run not in known]
    return tuple(named), tuple(dict.fromkeys(unknown)), tuple(common)


def _entity_spans(facts: Facts, words: _Words) -> Iterator[tuple[range, str]]:
    """Yield the spans of words that are the name of an entity, and its key; longest first, without overlaps."""
    plain = [word[0].casefold().replace("’", "'") for word in words]  # as `entity_key` writes them
    last = [word.removesuffix("'s") or word for word in plain]
    little = [_has_little_content(word) for word in words]
    used = [  # or part of no name at all
        not facts.is_name_word(inner) and not facts.is_name_word(ending)
        for inner, ending in zip(plain, last, strict=True)
    ]
    for length in range(min(_NAME_WORDS, len(words)), 0, -1):
        for start in range(len(words) - length + 1):
            stop = start + length
            if True in used[start:stop] or all(little[start:stop]):
                continue
            key = facts.known_entity(" ".join((*plain[start : stop - 1], last[stop - 1])))
            if key is not None and facts.degree(key):
                used[start:stop] = [True] * length
                yield range(start, stop), key


def _has_little_content(word: re.Match[str]) -> bool:
    plain = word[0].casefold()
    return plain in STOP_WORDS or plain in TITLES


def _occurrences(text: str, words: _Words, names: Sequence[str]) -> Iterator[range]:
    """Yield the words of each place where one of some names stands."""
    starts = {word.start(): place for place, word in enumerate(words)}
    for name in names:
        start = text.find(name)
        while start >= 0:
            end = start + len(name)
            if (first := starts.get(start)) is not None:
                last = first + 1
                while last < len(words) and words[last].start() < end:
                    last += 1
                yield range(first, last)
            start = text.find(name, end)


def _is_whole(words: _Words, span: range, run: range) -> bool:
    """Return whether a span is all of a name, or its end behind a title or the first word of a sentence."""
    rest = [place for place in run if place not in span and not _has_little_content(words[place])]
    content = sum(not _has_little_content(words[place]) for place in span)
    return not rest or (span.stop >= run.stop and (content > 1 or (run.start == 0 and len(rest) == 1)))


def is_name(facts: Facts, key: str) -> bool:
    """Return whether an entity has a proper name: by its kind, or if it neither begins nor ends in lower case.

    "King of Zhou" has, "Korean drama" does not; in unicameral scripts every entity has.
    """
    if facts.kind(key) in _NAMED:
        return True
    words = [word for word in facts.name(key).split() if word.casefold() not in STOP_WORDS]
    return bool(words) and not (words[0][0].islower() or words[-1][0].islower())


def _names_without_spaces(facts: Facts, run: str) -> Iterator[str]:
    """Yield the entities that a run of a script without spaces names, from its start, the longest first."""
    start = 0
    while start < len(run) - 1:
        ends = range(min(len(run), start + _LONGEST_RUN), start + 1, -1)
        names = ((end, facts.resolve(run[start:end])) for end in ends)
        end, key = next(((end, key) for end, key in names if key and facts.degree(key)), (start + 1, None))
        if key:
            yield key
        start = end
