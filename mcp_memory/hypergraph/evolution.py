"""Memory evolution of HGMem (§3.5, eqs 2 and 8; DESIGN 2.1, 2.2): group evidence; insert, update, merge points.

**Groups** (eq. 2, DESIGN 2.1). The paper gives everything that was retrieved to a language model, which groups it. Here
items of evidence belong together if they name the same entity, directly or through other items: connected components. A
hub, an entity in very many sentences, joins nothing; otherwise all statements of one speaker would be one point. The
speaker of an item joins nothing either: in a small memory, where no entity is a hub, a single speaker would join
everything. A point may be made of a single sentence, as in the paper, if that names two entities besides its speaker. A
sentence that names only one entity (besides its speaker) makes no point.

**Insert and update.** Evidence about almost the same entities as a point of the scope updates that point: its vertices
stay, its description takes in the new sentences (DESIGN D02). Other evidence becomes a new point. Evidence for a point
that was merged goes to the point that it was merged into. Known evidence changes nothing, so organising twice equals
organising once.

**Merge.** Two points that belong together become one of higher order. The new point joins the entities of its parents
and keeps their support. The parents stay and name it (DESIGN D03). In one pass each point takes part in one merge at
most, which the reference code does not ensure. Merging is for questions that relate things to each other. Questions
that ask for one thing lose by it: 65 to 60 and 60 to 55 points of accuracy on the primitive questions of two data sets
(Table 3). So without such a goal nothing is merged (DESIGN D05).

**Departures.** In the paper a language model chooses what to update and which pairs to merge, with the goal in mind,
and writes the descriptions (Ω^rel); so does Claude here, if it judges (below), and it may merge groups. Without it:

- A description is an extract: sentences in their order, without those that repeat an earlier one (ROUGE-L), as far as
  the limit of words allows.
- An extract never replaces a description by a caller or Claude; the evidence is only added to the point's support.
  Claude rewrites its own words, never a caller's.
- First merge pairs in which each point contains an entity named in the goal that the other lacks: the goal relates
  them. (Measured: in 89 of 100 such pairs both points rest on evidence for the answer; of pairs that share an entity
  and have a cosine of .6 only in 16.) Then pairs that share an entity and have similar descriptions, the most similar
  first: they say the same twice. The threshold is ours.

**Working memory** (§3.2, §3.5, eqs 2 and 8): the memory points of one question while it is answered. A judge that is
asked a question which relates things to each other proposes, with each judgement, what becomes of these points: an
update changes the description alone (DESIGN D02), an insertion joins entities as no point does, a merge unites the
entities of its parents (I13). They begin with the stored points of the question and are kept apart from the store until
the question is answered and the memory may learn from it (`store_points` in ``services/points.py``).

**Departures.** The paper asks a model for updates and insertions, for merges, for concerns and for each subquery, four
to five requests a step. Here they are one reply with the judgement: an edit brings its concern as a subquery (local
investigation), and the judgement has at most one that no point is about (global exploration).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice

import numpy as np

from mcp_memory.domain.answers import PointEdit
from mcp_memory.domain.entities import entity_key
from mcp_memory.domain.evidence import Citation, Path, Root
from mcp_memory.domain.facts import Engine
from mcp_memory.domain.points import MAX_ENTITIES, MIN_ENTITIES, Point, active_successor, new_point
from mcp_memory.domain.query import Query
from mcp_memory.domain.times import Millis
from mcp_memory.domain.turns import Sentence
from mcp_memory.language.segments import split
from mcp_memory.language.shapes import breadth_of
from mcp_memory.language.tokens import mentions, names, rouge_l, words
from mcp_memory.vectors import Vector
from mcp_memory.view.entities import EntityIndex
from mcp_memory.view.evidence import known_sentences
from mcp_memory.view.facts import Facts
from mcp_memory.view.hypergraph import vertices
from mcp_memory.view.space import Space

HUB_SHARE = 0.95
"""The share of entities that are no hubs: they have the fewest sentences (DESIGN 2.1)."""
HUB_LEAST = 10
"""An entity with this many sentences is no hub, whatever the share: in a small memory every entity that joins others
would be one."""
_VALUES = ("time", "number")
"""Kinds of entities that no point joins: a common year says nothing about two things."""
_PAUSES = frozenset(",!.?;:–—-…")
_TEXTS_READ = 20_000
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
        small.search(turn.text) for turn in islice(space.turns.values(), _TEXTS_READ) if name.casefold() in turn.text
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


UPDATE_OVERLAP = 0.8
"""Share of entities in common from which on evidence updates a point instead of making one. Jaccard index; ours."""
MERGE_COSINE = 0.7
"""Cosine of two descriptions from which on points that share an entity are merged. Applies where the goal does not
relate the two; ours (measured: of such pairs half lie above .62 in dialogues, .59 and .42 in passages of an
encyclopedia, most of them for no other reason than the entity; above .7 lie 19, 8 and 1 of 100)."""
DESCRIPTION_WORDS, MERGED_WORDS = 80, 160
"""Words of a description that the memory writes, and of that of a merged point. Not from the paper."""
REPEATED_ROUGE = 0.6
"""ROUGE-L from which on a sentence repeats another; from QRMeM's pool of questions (§2.1, note 3)."""


def apply_group(
    facts: Facts, points: Mapping[str, Point], group: EvidenceGroup, space: str, scope: str, at: Millis
) -> Point | None:
    """Return the point that a group makes, or the next revision of the point that it updates; None if all is known.

    The points are those of the scope, merged ones included, by id.
    """
    keys = frozenset(map(facts.key, group.entities.values()))
    near = [(jaccard(keys, vertices(facts, point)), point) for point in points.values()]
    best = max(near, key=lambda entry: (entry[0], entry[1].active, entry[1].id), default=None)
    if best is not None and best[0] >= UPDATE_OVERLAP:
        target = active_successor(best[1], points.get)
        return None if target is None else _update_point(target, group, at)
    description = extract_description(_placed(group), DESCRIPTION_WORDS)
    entities = group.entities.values()
    made = new_point(space, scope, entities, description, "embedded", at, sentences=group.sentences, facts=group.facts)
    return None if made.id in points else made


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the Jaccard index of two sets, 0 for empty sets."""
    return len(one & other) / len(one | other) if one | other else 0.0


def _update_point(point: Point, group: EvidenceGroup, at: Millis) -> Point | None:
    if {*group.sentences, *group.facts} <= {*point.sentences, *point.facts}:
        return None
    if point.source != "embedded":
        return add_support(point, group.sentences, group.facts, at)
    texts = [*_placed(group), *_sentences([point.description])]
    description = extract_description(texts, MERGED_WORDS if point.parents else DESCRIPTION_WORDS)
    return reword(add_support(point, group.sentences, group.facts, at), description, "embedded")


def add_support(point: Point, sentences: Iterable[str], facts: Iterable[str], at: Millis) -> Point:
    """Return the next revision of a point, with more support."""
    return replace(
        point,
        revision=point.revision + 1,
        sentences=_union(point.sentences, sentences),
        facts=_union(point.facts, facts),
        at=at,
    )


def reword(point: Point, description: str, source: Engine) -> Point:
    """Return a revision with another description, unless a caller wrote the old one (caller > anthropic > embedded)."""
    return point if point.source == "caller" else replace(point, description=description, source=source)


def _union(*lists: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for names in lists for name in names))


Placed = tuple[tuple[int, int], str]
"""A text with its place in reading order."""


def _placed(group: EvidenceGroup) -> list[Placed]:
    """Return the texts of a group, those of better evidence first; they are read in the order of time, after others."""
    return [((1, time), text) for time, text in group.texts]


def _sentences(descriptions: Iterable[str]) -> list[Placed]:
    texts = (text[start:end] for text in descriptions for start, end in split(text))
    return [((0, place), text) for place, text in enumerate(texts)]


def extract_description(texts: Iterable[Placed], most: int) -> str:
    """Join texts in reading order, each on a line, without repetitions.

    The most important come first: of more words than ``most`` the last are left out. The first is kept whole.
    """
    kept: dict[Placed, list[str]] = {}
    room = most
    for placed in texts:
        said = words(placed[1])
        if any(rouge_l(said, other) >= REPEATED_ROUGE for other in kept.values()):
            continue
        room -= len(placed[1].split())
        if room < 0 and kept:
            break
        kept[placed] = said
    return "\n".join(" ".join(text.split()) for _, text in sorted(kept))


def unite_descriptions(descriptions: Sequence[str]) -> str:
    """Join the descriptions of points that are merged into one."""
    return extract_description(_sentences(descriptions), MERGED_WORDS)


_RELATING = re.compile(
    r"\b(?:compar\w+|differ\w*|versus|vs|relat\w+|connect\w*|between|summar\w+|overview|common|alike|explain|describe)\b",
    re.IGNORECASE,
)


def asks_to_compare(question: Query) -> bool:
    """Return whether the words of a question ask for more than one thing together: a comparison, an overview."""
    if question.answer_type in ("when", "how_long", "how_many"):
        return False  # "how many weeks lie between"
    return _RELATING.search(question.text) is not None or breadth_of(question.text) == "overview"


def is_relational(question: Query, roots: Sequence[Root], paths: Sequence[Path]) -> bool:
    """Return whether a goal relates things to each other (DESIGN D05): a topic, why, how, comparison, several hops."""
    if question.answer_type in ("other", "why", "how") or asks_to_compare(question):
        return True
    return len({root.key for root in roots}) > 1 or (bool(paths) and len(paths[0].steps) > 1)


def pairs_to_merge(
    facts: Facts,
    points: Sequence[Point],
    vector: Callable[[Point], Vector],
    among: Collection[str] | None = None,
    asked: Collection[str] = (),
) -> list[tuple[Point, Point]]:
    """Return which active points of a scope are to be merged in one pass, the best pair first.

    Args:
        facts: the facts of the space.
        points: active, of one scope.
        vector: the vector of a point's description.
        among: ids; each pair has at least one of them; None for any pair.
        asked: keys of the entities that the goal names.
    """
    joined, named = {point.id: vertices(facts, point) for point in points}, frozenset(asked)
    candidates = []
    for one, other in combinations(points, 2):
        fits = len(joined[one.id] | joined[other.id]) <= MAX_ENTITIES
        meant = among is None or one.id in among or other.id in among
        if not meant or not fits:
            continue
        first, second = named & joined[one.id], named & joined[other.id]
        related = bool(first - second) and bool(second - first)
        if related or joined[one.id] & joined[other.id]:
            cosine = float(vector(one) @ vector(other))
            if related or cosine >= MERGE_COSINE:
                candidates.append((not related, -cosine, one.id, other.id, one, other))
    taken: set[str] = set()
    chosen = []
    for *_, one, other in sorted(candidates, key=lambda entry: entry[:4]):
        if not taken & {one.id, other.id}:
            taken |= {one.id, other.id}
            chosen.append((one, other))
    return chosen


def merge_points(
    parents: Sequence[Point], description: str, scope: str, source: Engine, at: Millis
) -> tuple[Point, tuple[Point, ...]]:
    """Return the point of a scope that others are merged into, and the last revisions of the others."""
    entities = [name for parent in parents for name in parent.entities]
    made = new_point(
        parents[0].space, scope, entities, description, source, at,
        sentences=_union(*(parent.sentences for parent in parents)),
        facts=_union(*(parent.facts for parent in parents)),
        parents=tuple(parent.id for parent in parents),
    )  # fmt: skip
    gone = (replace(one, revision=one.revision + 1, status="merged", merged_into=made.id, at=at) for one in parents)
    return made, tuple(gone)


MOST_POINTS = 8
"""Points of one question."""
Cited = Callable[[Sequence[Citation]], tuple[str, ...]]
"""Returns the ids of the sentences that citations quote."""


def evolve_points(
    own: Iterable[Point],
    others: Iterable[Point],
    edits: Iterable[PointEdit],
    *,
    space: str,
    scope: str,
    at: Millis,
    cited: Cited,
    merging: bool,
) -> tuple[list[Point], list[Point], list[tuple[Point, str]]]:
    """Return the points of a question as its judge leaves them, the others, and its concerns, each with its point.

    An update of a point that belongs to another question makes a new one of this question. An edit that does not fit is
    left out: of a point that is gone, of a caller's words, of fewer than two entities or more than a point may join, of
    nothing that was cited, or beyond `MOST_POINTS`.

    Args:
        own: the points of this question before.
        others: what else the judge was shown.
        edits: in order.
        space: its name.
        scope: the question, as `scope_of` has it.
        at: the moment.
        cited: finds the sentences that an edit rests on.
        merging: whether points are merged.
    """
    mine, rest = ({point.id: point for point in points} for points in (own, others))
    concerns: list[tuple[str, str]] = []
    for edit in edits:
        known = mine | rest
        old = [known[point.id] for point in edit.points if point.id in known]
        sentences = tuple(dict.fromkeys((*(name for one in old for name in one.sentences), *cited(edit.citations))))
        if len(old) < len(edit.points) or not sentences:
            continue
        made: Point | None = None
        if len(old) == 1 and old[0].id in mine:
            made = reword(add_support(old[0], sentences, (), at), edit.description, "anthropic")
        elif len(old) < 2 and len(mine) < MOST_POINTS:
            names_of = [name for name in (old[0].entities if old else edit.entities) if entity_key(name)]
            made = new_point(space, scope, names_of, edit.description, "anthropic", at, sentences=sentences)
        elif len(old) > 1 and merging and not any(point.source == "caller" for point in old):
            merged, _ = merge_points(old, edit.description, scope, "anthropic", at)
            made = replace(merged, sentences=sentences)
        if made is None or not MIN_ENTITIES <= len(made.entities) <= MAX_ENTITIES:
            continue
        for point in old:
            if point.id != made.id:  # it became another one
                mine.pop(point.id, None)
                rest.pop(point.id, None)
        mine[made.id] = made
        if edit.concern:
            concerns.append((made.id, edit.concern))
    open_concerns = [(mine[name], concern) for name, concern in concerns if name in mine]
    return list(mine.values()), list(rest.values()), open_concerns
