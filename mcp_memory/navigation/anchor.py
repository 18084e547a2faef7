"""Where a search begins: the entities that a question is about (REAL §3.3.1, DESIGN 3.1).

What is the surest comes first, and less sure ways are tried only where nothing was found before:

1. names that the caller gives, speakers that the question names, who "I" and "you" are, the names that it mentions,
   and of names that no fact bears those that are almost borne: "Patel" may be any person of that name. Last come those
   whom a reader takes it to be about, unless much is known of a common noun;
2. where it has names, all of them unknown, their parts; where it has none, common nouns of which little is known:
   "video game", but not "film" where there are a thousand;
3. what the facts nearest in meaning are about, marked soft.

Every root carries what the question wants to know of it, its intent. The paper has a language model tell the intents
of the roots apart; ours is one of the whole question, by a lexicon or by a reader's word, so all roots share it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from heapq import nsmallest
from itertools import islice

from mcp_memory.domain.entities import entity_key
from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.paths import Root
from mcp_memory.domain.query import Query
from mcp_memory.language.questions import ASSISTANTS, USERS
from mcp_memory.language.tokens import STOP_WORDS
from mcp_memory.navigation.fact_query import fact_query
from mcp_memory.navigation.mentions import is_name, mentions
from mcp_memory.navigation.scores import Cosine
from mcp_memory.navigation.settings import NavigationSettings
from mcp_memory.view.facts import Facts

# Capitalised within a sentence these stand in titles, "My Fair Lady".
_FIRST_PERSON = re.compile(r"\b(?:I|my|MY|me|ME|mine|MINE|myself|MYSELF)\b|(?:^|[.!?]\s+)(?:My|Me|Mine)\b")
_SECOND_PERSON = re.compile(r"\b(?:you|YOU|your|YOUR|yours|YOURS|yourself|YOURSELF)\b|(?:^|[.!?]\s+)(?:You|Your)\b")
_MEANT = 3  # entities that one name may mean where none bears it exactly
_VAGUE = 12  # a name that so many and more come near to says nothing
_COMPARED = 256  # entities with a word in common that are compared with a name


def anchor(
    facts: Facts,
    question: Query,
    named: Sequence[str] = (),
    *,
    cosine: Cosine | None = None,
    nearby: Callable[[], Sequence[Assertion]] = tuple,
    settings: NavigationSettings | None = None,
    uncertain: bool = False,
) -> tuple[Root, ...]:
    """Return the roots of a question.

    Args:
        facts: of the space.
        question: taken apart.
        named: names that the caller knows it is about; they come first.
        cosine: of the question with assertions, for soft roots; None for none of these.
        nearby: gives the assertions from which soft roots may come, if they are wanted.
        settings: of this room.
        uncertain: whether soft roots may come from facts that are only suspected.

    Returns:
        Entities that some fact is about, each once, in the order of the question's own certainty of them.
    """
    settings = settings or NavigationSettings()
    said = mentions(facts, question.text, question.names)
    keys: dict[str, None] = {}
    for name in (*named, *question.speakers, *_persons(facts, question)):
        keys.update(dict.fromkeys(meant(facts, name, settings.joint)))
    keys.update(dict.fromkeys(said.named))
    for name in said.unknown:
        keys.update(dict.fromkeys(meant(facts, name, settings.joint)))
    for name in question.extra_names:
        near = meant(facts, name, settings.joint)
        keys.update(dict.fromkeys(key for key in near if facts.degree(key) <= settings.specific or is_name(facts, key)))
    if not keys and said.unknown:
        keys.update(dict.fromkeys(said.partly))
    elif not keys:
        specific = (key for key in said.common if facts.degree(key) <= settings.specific)
        keys.update(dict.fromkeys(specific))
    soft = not keys
    if soft and cosine:
        keys.update(dict.fromkeys(_near(facts, nearby(), cosine, settings, uncertain=uncertain)))
    intent = fact_query(question).intent
    return tuple(Root(key, facts.name(key), intent, soft) for key in list(keys)[: settings.roots])


def meant(facts: Facts, name: str, joint: float) -> list[str]:
    """Return the entities that a name may mean: the one that bears it, else at most three that come near, best first.

    Near is a thing whose name shares enough words with it (Jaccard). For people, organisations, places and what is
    written like a name, more is asked: one of the two names holds all words of the other, and people's begin or end
    alike, so that Ann Lee is never Bob Lee. A single word of a longer name means somebody who is called so, or what
    begins so ("Acme" and "Acme Corporation"). A name that fits more than a dozen means nobody. Stop words are never
    compared.

    **Departure** from DESIGN 3.1, which takes a name by its Jaccard index alone: villages, films and people that share
    all words but one are others.
    """
    exact = facts.resolve(name)
    if exact is not None:
        return [exact] if facts.degree(exact) else []
    wanted = _content(entity_key(name))
    found = [
        (-likeness, -facts.degree(key), key)
        for key in facts.entities_with_words(wanted, _COMPARED)
        if (likeness := _likeness(facts, name, wanted, key, joint))
    ]
    return [key for _, _, key in nsmallest(_MEANT, found)] if len(found) <= _VAGUE else []


def _content(key: str) -> tuple[str, ...]:
    return tuple(word for word in key.split() if word not in STOP_WORDS)


def _likeness(facts: Facts, name: str, wanted: tuple[str, ...], key: str, joint: float) -> float:
    """Return the Jaccard index of the words of a name and an entity, or 0 where the name does not mean the entity."""
    other = _content(key)
    shared = set(wanted).intersection(other)
    index = len(shared) / len({*wanted, *other})
    if not shared or not is_name(facts, key):
        return index if index >= joint else 0.0
    if len(shared) < min(len(set(wanted)), len(set(other))):
        return 0.0  # of two names each has a word of its own
    first, last = wanted[0] == other[0], wanted[-1] == other[-1]
    person = facts.kind(key) == "person"
    if len(shared) > 1:
        return index if first or last or not person else 0.0
    if len(wanted) != len(entity_key(name).split()):  # "The Right One" is more than its only word that says something
        return 0.0
    if person:
        return index if first or (last and len(wanted) == 1) else 0.0
    return index if first and index >= 1 / 2 else 0.0  # "Acme" and "Acme Corporation", not "Bank of Acme"


def _persons(facts: Facts, question: Query) -> Iterator[str]:
    """Return who "I" and "you" are in this space, where somebody is."""
    for sign, usual, roles in ((_FIRST_PERSON, "user", USERS), (_SECOND_PERSON, "assistant", ASSISTANTS)):
        if sign.search(question.text) and not any(speaker.casefold() in roles for speaker in question.speakers):
            known = (role for role in (usual, *sorted(roles)) if (key := facts.resolve(role)) and facts.degree(key))
            yield from islice(known, 1)


def _near(
    facts: Facts, rows: Sequence[Assertion], cosine: Cosine, settings: NavigationSettings, *, uncertain: bool
) -> Iterator[str]:
    """Yield the heads and tails of the facts nearest to the question, but for common nouns that much is known of."""
    scores = cosine(rows) if rows else []
    order = sorted(range(len(rows)), key=lambda row: (-scores[row], rows[row].id))
    seen: set[str] = set()
    for row in order:
        if len(seen) == settings.soft_roots:
            return
        version = facts.version_of(rows[row])
        if version is None or version.id in seen or (version.confidence < facts.stable and not uncertain):
            continue
        seen.add(version.id)
        for key in (facts.key(version.head), facts.key(version.tail)):
            if facts.degree(key) <= settings.specific or is_name(facts, key):
                yield key
