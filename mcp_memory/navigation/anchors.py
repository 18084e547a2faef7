"""Select the entities that a query is about, the roots of the search (REAL §III-B1, DESIGN 3.1).

The most certain sources come first: names that the caller passes, speakers that the query names, whom "I" and "you"
mean, the names that the query mentions, and those that Claude reads in it if they are rare or spelt like names. A name
that no fact bears selects entities with a similar name: "Patel" may be any person of that name. Only in a query without
names, common nouns with few facts are roots: "video game", but not "film" where there are a thousand.

**Mentions.** Entities are looked up by the words of the query, the longest first, and no word is used twice, so that
"New York City" does not also mention "York". Of a name of several words ("Madeleine of Savoy") only the entity that
bears it whole is meant, or one that bears its end after a title, "President Marie Patel". In a query without capitals
(an unicameral script, or typed in haste) an entity is named if the source texts write it like a name.

**Departures.** The paper has a language model name the roots, each with an intent of its own. Here rules name them,
too, and all share one intent, the kind of fact that the whole query asks for: the one that Claude reads in it
(``reasoning/anthropic/understanding.py``), else that of a lexicon (`FactQuery.intent`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from heapq import nsmallest
from itertools import islice, product

from mcp_memory.domain.entities import TITLES, entity_key
from mcp_memory.domain.paths import Root
from mcp_memory.domain.query import Query
from mcp_memory.domain.spelling import MARKS
from mcp_memory.domain.turns import USERS
from mcp_memory.language.questions import ASSISTANTS
from mcp_memory.language.tokens import STOP_WORDS
from mcp_memory.language.tokens import words as tokens
from mcp_memory.navigation.fact_query import fact_query
from mcp_memory.view.facts import Facts

ROOTS = 8
"""At most this many roots are followed; ours, so that a long query stays cheap."""
SPECIFIC = 8
"""A common noun is a root only if it takes part in at most this many (entity, relation) pairs; ours: it keeps "film"
from being one."""
JOINT = 0.6
"""Jaccard index of their words from which on two names may mean the same entity; ours."""
# Capitalised forms inside a sentence belong to titles, "My Fair Lady".
_FIRST_PERSON = re.compile(
    r"\b(?:I|my|MY|me|ME|mine|MINE|myself|MYSELF|we|our|ours)\b|(?:^|[.!?]\s+)(?:My|Me|Mine|We|Our)\b"
)
_SECOND_PERSON = re.compile(r"\b(?:you|YOU|your|YOUR|yours|YOURS|yourself|YOURSELF)\b|(?:^|[.!?]\s+)(?:You|Your)\b")
_OWNED = re.compile(r"\b(?:my|our)\s+((?:[\w-]+\s*){1,3})", re.I)
_MEANT = 3  # entities that one name may refer to if none bears it exactly
_VAGUE = 12  # a name that more entities resemble refers to none
_COMPARED = 256  # entities with a word in common that are compared with a name

_WORD = re.compile(rf"[\w{MARKS}+#]+(?:['’][\w{MARKS}]+)*")
_BRACKETS = re.compile(
    r"(?<=.)[(（\[][^()（）\[\]]{0,200}[)）\]]"
)  # they tell a name from others: "Dream (Ann Lee song)"
_LONGEST = 8  # words of a name
_LONGEST_RUN = 10  # characters of a name in a script without spaces
_READ = 100  # words of a query in which names are looked up
_LETTERS = 4_000  # characters of a query that are read
_NAMED = frozenset(("person", "organisation", "place"))

_Words = Sequence[re.Match[str]]


def select_roots(facts: Facts, query: Query, named: Sequence[str] = ()) -> tuple[Root, ...]:
    """Return the roots of a query, each once, in order of certainty; some fact is about each of them.

    Args:
        facts: the facts of the space.
        query: understood.
        named: names from the caller; they come first.
    """
    mentioned, unknown, common = mentioned_entities(facts, query.text, query.names)
    keys: dict[str, None] = {}
    for name in (*named, *query.speakers, *_first_and_second_person(facts, query)):
        keys.update(dict.fromkeys(resolve_name(facts, name)))
    keys.update(dict.fromkeys(_possessions(facts, query)))
    keys.update(dict.fromkeys(mentioned))
    for name in unknown:
        keys.update(dict.fromkeys(resolve_name(facts, name)))
    for name in query.extra_names:
        similar = resolve_name(facts, name)
        keys.update(dict.fromkeys(key for key in similar if facts.degree(key) <= SPECIFIC or is_name(facts, key)))
    if not keys:
        opening = query.text.lstrip()
        if all(" " not in name and opening.startswith(name) for name in unknown):  # "Tell me" names nobody
            keys.update(dict.fromkeys(key for key in common if facts.degree(key) <= SPECIFIC))
    intent = fact_query(query).intent
    return tuple(Root(key, facts.name(key), intent) for key in list(keys)[:ROOTS])


def resolve_name(facts: Facts, name: str) -> list[str]:
    """Return the entities that a name may refer to: the one that bears it, else at most three similar ones, best first.

    Names are similar if they share enough words (`JOINT`). For people, organisations, places and
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
        for key in facts.entities_with_words(words, _COMPARED)
        if (similarity := _name_similarity(facts, name, words, key))
    ]
    return [key for _, _, key in nsmallest(_MEANT, similar)] if len(similar) <= _VAGUE else []


def _content_words(key: str) -> tuple[str, ...]:
    return tuple(word for word in key.split() if word not in STOP_WORDS)


def _name_similarity(facts: Facts, name: str, words: tuple[str, ...], key: str) -> float:
    """Return the Jaccard index of the words of a name and an entity, or 0 if the name does not refer to the entity."""
    other = _content_words(key)
    shared = set(words).intersection(other)
    index = len(shared) / len({*words, *other})
    if not shared or not is_name(facts, key):
        return index if index >= JOINT else 0.0
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
    for found in islice(_OWNED.finditer(query.text[:_LETTERS]), _MEANT):
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

    Args:
        facts: the facts of the space.
        question: text of the query.
        names: the names that `language.tokens.names` finds in it.

    Returns:
        named: keys of entities, the longest names first.
        unknown: names as written that no fact bears; they may be variants of one that a fact bears.
        common: keys of entities mentioned as common nouns, the longest first.
    """
    text = _BRACKETS.sub(" ", unicodedata.normalize("NFKC", question[:_LETTERS]).strip())
    names = [unicodedata.normalize("NFKC", name) for name in names[:_READ] if len(name) < _LETTERS]
    words = list(_WORD.finditer(text))[:_READ]
    runs = list(_runs(text, words, names))
    capitals = bool(runs) or any(word[0][0].isupper() for word in words[1:])
    named: dict[str, None] = {}
    common: dict[str, None] = {}
    known: set[range] = set()
    for span, key in _entity_spans(facts, words):
        run = next((run for run in runs if run.start < span.stop and span.start < run.stop), None)
        written = [words[place][0] for place in span if not _has_little_content(words[place])]
        if all(word.isdecimal() for word in written):
            common[key] = None
        elif run is None:
            lower = any(word[0].islower() for word in written) if capitals else not is_name(facts, key)
            (common if lower else named)[key] = None
        elif _is_whole(words, span, run):
            named[key] = None
            known.add(run)
    for word in words:
        if not word[0].isascii() and len(tokens(word[0])) > 1 and not facts.resolve(word[0]):
            named.update(dict.fromkeys(_names_without_spaces(facts, word[0].casefold()[:_READ])))
    unknown = [text[words[run.start].start() : words[run.stop - 1].end()] for run in runs if run not in known]
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
    for length in range(min(_LONGEST, len(words)), 0, -1):
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


def _runs(text: str, words: _Words, names: Sequence[str]) -> Iterator[range]:
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
