"""Groups of connected evidence, from which memory points can be made (HGMem eq. 2; DESIGN 2.1).

**Departures.** The paper gives everything that was retrieved to a language model, which groups it. Here items of
evidence belong together if they name the same entity, directly or through other items: connected components. A hub, an
entity in very many sentences, joins nothing; otherwise all statements of one speaker would be one point. The speaker of
an item joins nothing either: in a small memory, where no entity is a hub, a single speaker would join everything.

A point may be made of a single sentence, as in the paper, if that names two entities besides its speaker. A sentence
that names only one entity (besides its speaker) makes no point.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from mcp_memory.domain.points import MAX_ENTITIES, MIN_ENTITIES
from mcp_memory.domain.times import Millis
from mcp_memory.domain.turns import Sentence
from mcp_memory.language.tokens import mentions, names, words
from mcp_memory.view.entities import EntityIndex
from mcp_memory.view.evidence import known_sentences
from mcp_memory.view.space import Space

HUB_SHARE = 0.95
"""The share of entities that are no hubs: they have the fewest sentences (DESIGN 2.1)."""
HUB_LEAST = 10
"""An entity with this many sentences is no hub, whatever the share: in a small memory every entity that joins others
would be one."""
_VALUES = ("time", "number")
"""Kinds of entities that no point joins: a common year says nothing about two things."""
_PAUSES = frozenset(",!.?;:–—-…")
_READ = 20_000
"""Texts that are searched for a word in lower case."""


@dataclass(frozen=True, slots=True)
class EvidenceGroup:
    """Evidence that is connected by common entities; at first a single item.

    Attributes:
        entities: spellings of the entities that it is about, by key.
        texts: the texts that it consists of, each with its time, those of better evidence first.
        sentences: ids of its sentences, likewise.
        facts: ids of its facts, likewise.
        tellers: keys of its speakers that it does not name; "I" is no name.
    """

    entities: Mapping[str, str]
    texts: tuple[tuple[Millis, str], ...]
    sentences: tuple[str, ...]
    facts: tuple[str, ...] = ()
    tellers: frozenset[str] = frozenset()


def evidence_item(space: Space, evidence_id: str, sentences: Iterable[str]) -> EvidenceGroup | None:
    """Return a sentence, segment or fact for grouping; None if no stored text says it, as for a hypothesis."""
    facts = space.facts
    pieces = known_sentences(space, dict.fromkeys(sentences))
    entities: dict[str, str] = {}
    for piece in pieces:
        for name in _entity_names(space, piece):
            _keep_spelling(entities, facts.key(name), name)
    texts = tuple((space.turns[piece.turn_id].time, _with_speaker(space, piece)) for piece in pieces)
    version = facts.version(evidence_id)
    if version is not None:
        for name in (version.head, version.tail):
            _keep_spelling(entities, facts.key(name), name)
        if not pieces:
            texts = ((version.since, f"{version.text.rstrip('.')}."),)
    if not texts:
        return None
    ids = tuple(piece.id for piece in pieces)
    return EvidenceGroup(entities, texts, ids, (version.id,) if version else (), _tellers(space, pieces))


def group_evidence(space: Space, items: Sequence[EvidenceGroup]) -> list[EvidenceGroup]:
    """Return the groups of evidence that join two or more entities, those with the best evidence first."""
    joins = _without_hubs(space, {key for item in items for key in item.entities})
    of = list(range(len(items)))  # the group of each item, as the place of its first one
    met: dict[str, int] = {}
    for place, item in enumerate(items):
        for key in item.entities:
            if key not in joins or key in item.tellers:
                continue
            other = of[met.setdefault(key, place)]
            here = of[place]
            if other != here:
                of = [min(other, here) if group in (other, here) else group for group in of]
    parts = ([items[place] for place, group in enumerate(of) if group == first] for first in dict.fromkeys(of))
    return [_group(part, joins) for part in parts if _joined_entities(part) >= MIN_ENTITIES]


def _joined_entities(items: Sequence[EvidenceGroup]) -> int:
    """Return how many entities a group joins; a single text joins only those that it names."""
    alone = len({text for item in items for text in item.texts}) == 1
    return len({key for item in items for key in item.entities if not (alone and key in item.tellers)})


def _group(items: Sequence[EvidenceGroup], joins: frozenset[str]) -> EvidenceGroup:
    """Return some items as one group: its most frequent entities, and its texts, sentences and facts, each once."""
    spelt: dict[str, str] = {}
    for item in items:
        for key, name in item.entities.items():
            _keep_spelling(spelt, key, name)
    often = Counter(key for item in items for key in item.entities)
    kept = sorted(spelt, key=lambda key: (-often[key], key not in joins))[:MAX_ENTITIES]
    return EvidenceGroup(
        {key: name for key, name in spelt.items() if key in kept},
        tuple(dict.fromkeys(text for item in items for text in item.texts)),
        tuple(dict.fromkeys(name for item in items for name in item.sentences)),
        tuple(dict.fromkeys(name for item in items for name in item.facts)),
    )


def _without_hubs(space: Space, keys: set[str]) -> frozenset[str]:
    """Return the entities that are no hubs."""
    index = space.index(EntityIndex)
    degrees = [index.degree(number) for number in range(len(index))]
    most = max(float(np.quantile(degrees, HUB_SHARE)) if degrees else 0.0, HUB_LEAST)

    def degree(key: str) -> int:
        number = index.find(key)
        return space.facts.degree(key) if number is None else index.degree(number)

    return frozenset(key for key in keys if degree(key) <= most)


def _entity_names(space: Space, piece: Sentence) -> Iterable[str]:
    """Yield the entities of a sentence: the names in it, and both ends of the stable facts that were read from it.

    A time or a number is no entity. Of names that contain each other only the first counts: the title of the text or
    its speaker, then the ends of facts that are names, the names, and the other ends of facts. So "the Blue Mill" of
    "the old Blue Mill" is the mill that others name, and "Mill" is no further entity.
    """
    turn, text, facts = space.turns[piece.turn_id], space.text(piece), space.facts
    about = next(iter(mentions(turn, "")), "")
    stated = [facts.version_of(said) for said in facts.assertions_in(piece.turn_id) if said.sentence == piece.index]
    stable = [version for version in stated if version is not None and version.confidence >= facts.stable]
    ends = [name for version in stable for name in (version.head, version.tail)]
    ends = [name for name in ends if facts.kind(facts.key(name)) not in _VALUES]
    proper = [name for name in ends if name[:1].isupper()]
    spoken = [name for name in mentions(turn, text) if name != about and not _only_starts_sentence(space, name, text)]
    times = {word for time in piece.times for word in words(turn.text[time.start : time.end])}
    kept: list[str] = []
    for name in (_original_spelling(about, f"{turn.title or ''} {turn.text}"), *proper, *spoken, *ends):
        said = f" {' '.join(words(name))} "
        if said.strip() and not times.issuperset(said.split()) and not any(said in one or one in said for one in kept):
            kept.append(said)
            yield name


def _tellers(space: Space, pieces: Iterable[Sentence]) -> frozenset[str]:
    tellers, named = set(), set()
    for piece in pieces:
        turn = space.turns[piece.turn_id]
        if turn.kind != "document" and (who := turn.speaker or turn.role):
            tellers.add(space.facts.key(who))
        named |= {space.facts.key(name) for name in names(space.text(piece))}
    return frozenset(tellers - named)


def _only_starts_sentence(space: Space, name: str, text: str) -> bool:
    """Return whether a name only begins its sentence: an exclamation, or a word that elsewhere is in lower case."""
    alone = " " not in name and text.startswith(name) and text[len(name) : len(name) + 1] in _PAUSES | {" "}
    if not alone or name in space.speakers or space.facts.resolve(name) is not None:
        return False
    small = re.compile(rf"\b{re.escape(name.casefold())}\b")
    return text[len(name)] in _PAUSES or any(
        small.search(turn.text) for turn in islice(space.turns.values(), _READ) if name.casefold() in turn.text
    )


def _original_spelling(folded: str, text: str) -> str:
    """Return case-folded words as the text first writes them; unchanged if it does not contain them."""
    found = re.search(r"\b" + r"\W+".join(map(re.escape, folded.split())) + r"\b", text, re.IGNORECASE)
    return found[0] if folded and found else folded


def _keep_spelling(entities: dict[str, str], key: str, name: str) -> None:
    """Keep the first spelling of an entity, or the first one with capitals."""
    if key not in entities or (entities[key].islower() and not name.islower()):
        entities[key] = name


def _with_speaker(space: Space, piece: Sentence) -> str:
    """Return a sentence after the name of its speaker, whom "I" does not name."""
    turn = space.turns[piece.turn_id]
    who = turn.speaker or turn.role
    return f"{who}: {space.text(piece)}" if who and turn.kind != "document" else space.text(piece)
