"""Select the entities that a query is about, the roots of the search (REAL §3.3.1, DESIGN 3.1).

The most certain sources come first, and less certain ones are used only if the earlier ones found nothing:

1. names that the caller passes, speakers that the query names, the entities that "I" and "you" refer to, and the names
   that the query mentions; a name that no fact bears selects entities with a similar name: "Patel" may be any person of
   that name. Last come the names that a model reads from the query, except common nouns with many facts;
2. if the query has names and all of them are unknown, parts of them; if it has none, common nouns with few facts:
   "video game", but not "film" where there are a thousand.

Every root carries the intent of the query, the kind of fact that it asks for. The paper lets a language model give each
root its own intent; here one intent is read from the whole query, by a lexicon or by a model, and all roots share it.

**Mentions.** Spelling separates names from common nouns. In a query written with capitals a name is a *run* of
capitalised words ("Bank of England") or a quoted text; brackets after a name only distinguish it from others of that
name, "Dream (Ann Lee song)". Entities are looked up by their words, the longest first, and no word is used twice, so
that "New York City" does not also mention "York". Each is mentioned in one of three ways:

- *named*: its name is the whole capitalised phrase, or the end of it after a title, "President Marie Patel";
- *partly*: its name is less than that. A query about Madeleine of Savoy is not about every other entity of Savoy; but
  if nothing better is found, the entity known as Madeleine may be meant;
- *common*: it is written in lower case, "the director", or as a number.

In a query without capitals (an unicameral script, or typed in haste) an entity is named if the source texts write it
like a name; all others are common.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from heapq import nsmallest
from itertools import islice, product
from typing import Literal

from mcp_memory.domain.entities import TITLES, entity_key
from mcp_memory.domain.paths import Root
from mcp_memory.domain.query import Query
from mcp_memory.domain.spelling import MARKS
from mcp_memory.domain.turns import USERS
from mcp_memory.language.questions import ASSISTANTS
from mcp_memory.language.tokens import STOP_WORDS
from mcp_memory.language.tokens import words as tokens
from mcp_memory.navigation.fact_query import fact_query
from mcp_memory.navigation.settings import DEFAULTS, NavigationSettings
from mcp_memory.view.facts import Facts

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
_POSSESSIVE = re.compile(r"['’](?:s$|(?!\w))")
_BRACKETS = re.compile(r"[(（\[][^()（）\[\]]{0,200}[)）\]]")
_JOINED = re.compile(r"[\s:.&-]*")  # allowed between two words of one name
_SENTENCE_END = re.compile(r"[.!?。？！]\s*$")
_LONGEST = 8  # words of a name
_LONGEST_RUN = 10  # characters of a name in a script without spaces
_READ = 100  # words of a query in which names are looked up
_LETTERS = 4_000  # characters of a query that are read
_NAMED = frozenset(("person", "organisation", "place"))

_Words = Sequence[re.Match[str]]
_Way = Literal["named", "partly", "common"]


def select_roots(
    facts: Facts,
    query: Query,
    named: Sequence[str] = (),
    *,
    settings: NavigationSettings = DEFAULTS,
) -> tuple[Root, ...]:
    """Return the roots of a query, each once, in order of certainty; some fact is about each of them.

    Args:
        facts: the facts of the space.
        query: understood.
        named: names from the caller; they come first.
        settings: the settings of this room.
    """
    mentioned, unknown, partly, common = mentions(facts, query.text, query.names)
    keys: dict[str, None] = {}
    for name in (*named, *query.speakers, *_first_and_second_person(facts, query)):
        keys.update(dict.fromkeys(resolve_name(facts, name, settings.joint)))
    keys.update(dict.fromkeys(_possessions(facts, query)))
    keys.update(dict.fromkeys(mentioned))
    for name in unknown:
        keys.update(dict.fromkeys(resolve_name(facts, name, settings.joint)))
    if not keys:
        specific = (key for key in common if facts.degree(key) <= settings.specific)
        names = (name for name in unknown if " " in name or not query.text.lstrip().startswith(name))  # not "Tell me"
        keys.update(dict.fromkeys(partly if any(names) else specific))
    intent = fact_query(query).intent
    return tuple(Root(key, facts.name(key), intent) for key in list(keys)[: settings.roots])


def resolve_name(facts: Facts, name: str, joint: float) -> list[str]:
    """Return the entities that a name may refer to: the one that bears it, else at most three similar ones, best first.

    Names are similar if they share enough words (Jaccard index ≥ ``joint``). For people, organisations, places and
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
        if (similarity := _name_similarity(facts, name, words, key, joint))
    ]
    return [key for _, _, key in nsmallest(_MEANT, similar)] if len(similar) <= _VAGUE else []


def _content_words(key: str) -> tuple[str, ...]:
    return tuple(word for word in key.split() if word not in STOP_WORDS)


def _name_similarity(facts: Facts, name: str, words: tuple[str, ...], key: str, joint: float) -> float:
    """Return the Jaccard index of the words of a name and an entity, or 0 if the name does not refer to the entity."""
    other = _content_words(key)
    shared = set(words).intersection(other)
    index = len(shared) / len({*words, *other})
    if not shared or not is_name(facts, key):
        return index if index >= joint else 0.0
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


def mentions(
    facts: Facts, question: str, names: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Return what a query mentions, of all entities that some fact is about; nothing twice.

    Args:
        facts: the facts of the space.
        question: text of the query.
        names: the names that `language.tokens.names` finds in it.

    Returns:
        named: keys of entities, the longest names first.
        unknown: names as written that no fact bears; they may be variants of one that a fact bears.
        partly: keys of entities whose name is a part of a run, or stands in brackets after one.
        common: keys of entities mentioned as common nouns, the longest first.
    """
    text = unicodedata.normalize("NFKC", question[:_LETTERS]).strip()
    names = [unicodedata.normalize("NFKC", name) for name in names[:_READ] if len(name) < _LETTERS]
    plain = _BRACKETS.sub(lambda match: (" " * len(match[0])) if match.start() else match[0], text)
    words = list(_WORD.finditer(plain))[:_READ]
    runs = _runs(plain, words, names)
    ways: dict[_Way, dict[str, None]] = {"named": {}, "partly": {}, "common": {}}
    resolved: set[range] = set()
    for span, key in _entity_spans(facts, words):
        way, run = _way(facts, key, words, span, runs)
        if way != "partly" or _bears(facts, key, " ".join(words[place][0] for place in span)):
            ways[way][key] = None
        if way == "named" and run:
            resolved.add(run)
    for word in words:
        if not word[0].isascii() and len(tokens(word[0])) > 1 and not facts.resolve(word[0]):
            ways["named"].update(dict.fromkeys(_names_without_spaces(facts, word[0].casefold()[:_READ])))
    for name in names:
        inner = None if name in plain else facts.resolve(name)  # it stands in brackets
        if inner is not None and facts.degree(inner) and _bears(facts, inner, name):
            ways["partly"][inner] = None
    unknown = [plain[words[run.start].start() : words[run.stop - 1].end()] for run in runs if run not in resolved]
    return tuple(ways["named"]), tuple(dict.fromkeys(unknown)), tuple(ways["partly"]), tuple(ways["common"])


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


def _runs(text: str, words: _Words, names: Sequence[str]) -> list[range]:
    """Return the runs of words that are names by their spelling."""
    inside = [False] * len(words)
    starts = {word.start(): place for place, word in enumerate(words)}
    for name in names:  # capitalised words with the words that join them, "of", "de la"; and quoted texts
        start = text.find(name)
        while start >= 0:
            place, end = starts.get(start, len(words)), start + len(name)
            while place < len(words) and words[place].start() < end:
                inside[place] = True
                place += 1
            start = text.find(name, end)
    runs: list[range] = []
    for place, word in enumerate(words):
        opens = not place or _SENTENCE_END.search(text, words[place - 1].end(), word.start())
        capital = word[0][0].isupper() and word[0] != "I"
        if not inside[place] and (not capital or (opens and _has_little_content(word))):
            continue
        before = words[place - 1] if runs and runs[-1].stop == place else None
        if before and _JOINED.fullmatch(text, before.end(), word.start()) and not _POSSESSIVE.search(before[0]):
            runs[-1] = range(runs[-1].start, place + 1)
        else:
            runs.append(range(place, place + 1))
    return runs


def _way(facts: Facts, key: str, words: _Words, span: range, runs: Sequence[range]) -> tuple[_Way, range | None]:
    """Return how a span mentions an entity, and the run that contains it, if any."""
    if all(words[place][0].isdecimal() for place in span):
        return "common", None
    content = [words[place][0] for place in span if not _has_little_content(words[place])]
    if not runs and not any(word[0][0].isupper() for word in words[1:]):
        return ("named" if is_name(facts, key) else "common"), None
    run = next((run for run in runs if run.start < span.stop and span.start < run.stop), None)
    if run is None:
        return ("common" if any(word[0].islower() for word in content) else "named"), None
    whole = sum(not _has_little_content(words[place]) for place in run)
    if not any(place not in span and not _has_little_content(words[place]) for place in run):
        return "named", run
    # The end of a run is a name of its own after the first word of a sentence, or after a title or role.
    ends = span.stop >= run.stop and (len(content) > 1 or (run.start == 0 and whole == 2))
    return ("named" if ends else "partly"), run


def is_name(facts: Facts, key: str) -> bool:
    """Return whether an entity has a proper name: by its kind, or if it neither begins nor ends in lower case.

    "King of Zhou" has, "Korean drama" does not; in unicameral scripts every entity has.
    """
    if facts.kind(key) in _NAMED:
        return True
    words = [word for word in facts.name(key).split() if word.casefold() not in STOP_WORDS]
    return bool(words) and not (words[0][0].islower() or words[-1][0].islower())


def _bears(facts: Facts, key: str, name: str) -> bool:
    """Return whether an entity with a proper name bears exactly this name, not another that stands for it."""
    return key == entity_key(name) and is_name(facts, key)


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
