"""Extend paths by one step, score them, and write them as text (REAL §III-B2, DESIGN 3.2).

`Neighbourhood` applies REAL's filters (step I) to the facts around an entity, in both directions (DESIGN D36), and
ranks what remains by similarity and by how strongly the query asks for the relation, a step from tail to head and a
fact of another kind than the intent's a little lower (DESIGN D35: a penalty, since a strict filter removes most
answers). Of a hub only the first versions on each side are read: those of relations that the query asks for come first.

`score_paths` gives a path three scores:

- *relevance*, S_QR: ``x + (1 − x)·.7·a``. x is the calibrated cosine ``cal(x) = clip((x − μ)/(4σ), 0, 1)`` of the query
  with the path, and a is how strongly the query asks for its relations by name, both as means over the steps. Each step
  from tail to head subtracts .05 (DESIGN D36).
- *coherence*, S_LC: the mean over the steps of .5·[it does not lie wholly before the previous step] + .3·[it is of the
  kind that the intent looks for; else how strongly the query asks for it by name] + .2·(1 − ln(1 + degree)/ln(1 +
  assertions)) of the entity that it leads to. Nothing is before the first step, so there the other two count .6 and .4.
- *sufficiency*, S_AS: .5·(share of the query's content words that the path covers, weighted by idf) + .5·[the type of
  its end is the expected type; .5 where either is unknown; 0 for an entity that the query itself names]. The words of
  the root do not count; in a query that compares several roots the words of none of them do, since no path joins two;
  with no word left the share is 1. The score of an inferred path is multiplied by its confidence.

**Departures.** The paper picks candidates by the cosine of the query with the name of the relation and the tail, and
its semantic evaluator gives S_QR. Here a relation that the query asks for by name raises both, and the cosine of a
version is the highest cosine of the query with a *sentence that states it*, which is the source's own wording, so no
text is embedded at query time. The formulas above stand for the evaluator. The degree is divided by the number of
assertions, which is at least as large as every degree, instead of the largest degree, which would require reading the
whole space.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from math import log1p

from mcp_memory.domain.evidence import Path, PathScores, Step
from mcp_memory.domain.facts import Assertion, Intent, Version
from mcp_memory.domain.query import AnswerType, Query
from mcp_memory.domain.relations import DID, EntityType, relations
from mcp_memory.domain.times import BEGINNING, FOREVER, Millis
from mcp_memory.heap import text_cache
from mcp_memory.language.iso import FIRST_INSTANT, LAST_INSTANT, civil
from mcp_memory.language.tokens import stems
from mcp_memory.navigation.fact_query import FactQuery, Moment, content_stems, is_time_valid
from mcp_memory.view.facts import Facts

Cosine = Callable[[Sequence[Assertion]], list[float]]
"""Returns the cosine of the query with the sentence that states each assertion, in [-1, 1]."""
Edge = tuple[Step, str, float]
"""A possible step, the key of the entity that it leads to, and its rank among the neighbours; higher is better."""

EXPANDED_NEIGHBOURS = 5
"""Neighbours that are scored at the end of each path. m (REAL §IV-C2, Table IV; 10 gains .05 there)."""
SCANNED_VERSIONS = 256
"""Versions on each side of a root that are read before the best m are taken; ours, for hubs."""
PASSED_VERSIONS = 48
"""The same for an entity further along a path; with 256 here too, searching dense facts takes twice as long."""
ASKED_BONUS = 0.7
"""Bonus on relevance for a relation that the query asks for, as a share of the distance to 1; ours."""
SPREAD = 4.0
"""Standard deviations of the background cosine that span the calibrated cosine from 0 to 1 (DESIGN 3.2)."""
BACKWARD_PENALTY = 0.05
"""Subtracted from relevance for a step from tail to head (DESIGN D36)."""
INCOMPATIBLE_PENALTY = 0.15
"""Subtracted from a neighbour's rank if it does not have the kind that the root's intent looks for, less the more the
query asks for its relation by name (DESIGN D35, which gives no number)."""
UNKNOWN = "…"
"""Replaces a start that is unknown, and times outside the calendar of four-digit years."""
_EXPECTED: Mapping[AnswerType, EntityType] = {"who": "person", "where": "place", "when": "time", "how_many": "number"}
_NOT_NAMED: frozenset[AnswerType] = frozenset(("who", "where", "what"))
"""Answer types whose answer the query does not itself name."""
_SUPPORTS_COMPARED = 16
"""Newest assertions of a version whose sentences are compared; a fact may be stated a thousand times."""


@dataclass(slots=True)
class StatementSimilarity:
    """The calibrated similarity of facts to the query, computed once for each version.

    Attributes:
        cosine: the cosine of assertions.
        background: mean μ and deviation σ of the cosine of unrelated texts.
    """

    cosine: Cosine
    background: tuple[float, float]
    _known: dict[str, float] = field(default_factory=dict)
    _said: dict[str, float] = field(default_factory=dict)  # by assertion, which several versions and guesses rest on

    def of(self, versions: Iterable[Version]) -> list[float]:
        """Return the calibrated cosine of each version, in [0, 1]."""
        rows = list(versions)
        missing = {
            version.id: version.assertions[-_SUPPORTS_COMPARED:] for version in rows if version.id not in self._known
        }
        new = {one.id: one for support in missing.values() for one in support if one.id not in self._said}
        if new:
            self._said |= zip(new, map(self.calibrate, self.cosine(tuple(new.values()))), strict=True)
        for name, support in missing.items():
            self._known[name] = max((self._said[one.id] for one in support), default=0.0)
        return [self._known[version.id] for version in rows]

    def calibrate(self, cosine: float) -> float:
        """Return cal(x): 0 at the background, 1 at `SPREAD` deviations above it."""
        mean, deviation = self.background
        if deviation <= 0:  # a space too small to have a background
            return min(1.0, max(0.0, cosine))
        return min(1.0, max(0.0, (cosine - mean) / (SPREAD * deviation)))


@dataclass(slots=True)
class Neighbourhood:
    """The facts around entities, filtered and ranked for one query; each entity is read once.

    Attributes:
        facts: the facts of the space.
        fact_query: what the query asks of them.
        similarity: the similarity of versions to the query.
        roots: keys of the entities that the query is about.
        at: the time in question, None for any.
    """

    facts: Facts
    fact_query: FactQuery
    similarity: StatementSimilarity
    roots: Collection[str]
    at: Moment | None
    _neighbours: dict[str, tuple[tuple[Version, bool, str], ...]] = field(default_factory=dict)
    _edges: dict[tuple[str, Intent], tuple[Edge, ...]] = field(default_factory=dict)

    @property
    def uncertain(self) -> bool:
        """Whether suspected facts take part."""
        return self.fact_query.query.include_uncertain

    def compare(self, ends: Iterable[tuple[str, Intent]]) -> None:
        """Compare all that may lead on from some entities with the query at once: faster than one entity at a time."""
        new = [end for end in dict.fromkeys(ends) if end not in self._edges]
        self.similarity.of(one for key, intent in new for one, _, _ in self._around(key) if self._holds(one, intent))

    def edges(self, key: str, intent: Intent) -> tuple[Edge, ...]:
        """Return the steps that pass the filters, best first."""
        if (key, intent) not in self._edges:
            valid = [neighbour for neighbour in self._around(key) if self._holds(neighbour[0], intent)]
            self._edges[key, intent] = self._rank(valid, intent)
        return self._edges[key, intent]

    def edges_of_other_times(self, key: str, intent: Intent) -> tuple[Edge, ...]:
        """Return the steps that only the time filter removes, without contested facts, best first."""
        dated = [neighbour for neighbour in self._around(key) if neighbour[0].since < neighbour[0].until]
        return self._rank([neighbour for neighbour in dated if not self._holds(neighbour[0], intent)], intent)

    def links(self, key: str, intent: Intent, wanted: Callable[[str], bool]) -> list[tuple[Step, str]]:
        """Return the steps along the wanted relations that pass the time filter, with their ends, not ranked."""
        return [
            (Step(version, forward, confidence=version.confidence), end)
            for version, forward, end in self._around(key)
            if wanted(version.relation) and self._holds(version, intent)
        ]

    def _holds(self, version: Version, intent: Intent) -> bool:
        return is_time_valid(version, self.at, intent, past=self.fact_query.past)

    def _rank(self, neighbours: list[tuple[Version, bool, str]], intent: Intent) -> tuple[Edge, ...]:
        similarities = self.similarity.of(version for version, _, _ in neighbours)
        edges = []
        for (version, forward, end), similarity in zip(neighbours, similarities, strict=True):
            rank = similarity + (1 - similarity) * ASKED_BONUS * self.fact_query.demand(version.relation)
            rank -= BACKWARD_PENALTY * (not forward)
            rank -= INCOMPATIBLE_PENALTY * (1 - self.fact_query.suitability(version, intent, self.facts))
            edges.append((Step(version, forward, confidence=version.confidence), end, rank))
        edges.sort(key=lambda edge: (-edge[2], -edge[0].version.since, edge[0].version.id))
        return tuple(edges)

    def _around(self, key: str) -> tuple[tuple[Version, bool, str], ...]:
        if key not in self._neighbours:
            alias = self.facts.known_entity(key) not in (key, None)  # of what lies before it: `Facts.target_key`
            limit = 0 if alias else PASSED_VERSIONS
            limit = SCANNED_VERSIONS if key in self.roots else limit
            out = [(one, True, self.facts.target_key(one, forward=True)) for one in islice(self._out(key), limit)]
            into = self.facts.to(key, suspected=self.uncertain, first=lambda name: -self.fact_query.demand(name))
            back = [(version, False, self.facts.key(version.head)) for version in islice(into, limit)]
            self._neighbours[key] = tuple(
                neighbour for neighbour in (*out, *back) if neighbour[2] != key and neighbour[0].relation != DID
            )
        return self._neighbours[key]

    def _out(self, key: str) -> Iterator[Version]:
        # Versions are computed only when read: those of relations that the query asks for, then the others in order.
        # The phrase of an event without a relation of its own is no entity that a path could pass.
        for relation in sorted({*self.facts.relations_of(key)} - {DID}, key=lambda name: -self.fact_query.demand(name)):
            yield from self._versions(key, relation)

    def _versions(self, key: str, relation: str) -> Iterator[Version]:
        """Yield the versions of one (head, relation) that take part, newest first."""
        yield from reversed(self.facts.versions(key, relation))
        if self.uncertain:
            yield from reversed(self.facts.suspected(key, relation))


def score_paths(
    near: Neighbourhood, query: Query, rarity: Mapping[str, float], paths: Sequence[Path]
) -> list[PathScores]:
    """Return the scores of paths of one or more steps, in their order.

    ``rarity`` is the idf of the stems of the query, whose words a path has to cover; a stem without one counts 1.
    """
    similarities = iter(near.similarity.of(step.version for path in paths for step in path.steps))
    words = content_stems(query)
    if near.fact_query.compares:
        words = words.difference(*map(_stems, near.roots))
    return [
        PathScores(
            relevance(path, [next(similarities) for _ in path.steps], near.fact_query),
            coherence(path, near.facts, near.fact_query),
            sufficiency(path, near.facts, near.fact_query, words, rarity),
        )
        for path in paths
    ]


def leads_back(path: Path) -> bool:
    """Return whether a path ends at what only shares a kind, a year or a country with what lies before it.

    Its last two steps then have one relation and meet at its tail, or its last step was guessed by co-occurrence. By a
    reading of 120 such paths of questions to dialogues and documents none was on the way to the answer.
    """
    if not path.steps:
        return False
    last = path.steps[-1]
    if last.inferred == "cooccurrence":
        return True
    if len(path.steps) < 2 or last.forward or not path.steps[-2].forward:
        return False
    relation = last.version.relation
    return relation == path.steps[-2].version.relation or relations().get(relation).shared


def relevance(path: Path, similarities: Sequence[float], fact_query: FactQuery) -> float:
    """Return S_QR of a path, from the calibrated cosine of each of its steps."""
    mean = sum(similarities) / len(similarities)
    demand = sum(fact_query.demand(step.version.relation) for step in path.steps) / len(path.steps)
    backward = sum(not step.forward for step in path.steps)
    return max(0.0, mean + (1 - mean) * ASKED_BONUS * demand - BACKWARD_PENALTY * backward)


def coherence(path: Path, facts: Facts, fact_query: FactQuery) -> float:
    """Return S_LC of a path."""
    total = 0.0
    before: Version | None = None
    most = log1p(max(1, len(facts.rows)))
    for step, end in zip(path.steps, ends(path, facts), strict=True):
        # It shares an instant with the fact before it, or comes later.
        kind = fact_query.suitability(step.version, path.root.intent, facts)
        far = max(0.0, 1 - log1p(facts.degree(end)) / most)
        if before is None:
            total += 0.6 * kind + 0.4 * far
        else:
            ordered = step.inferred == "succession" or step.version.until > before.since
            total += 0.5 * ordered + 0.3 * kind + 0.2 * far
        before = step.version
    return total / len(path.steps)


def sufficiency(
    path: Path, facts: Facts, fact_query: FactQuery, words: frozenset[str], rarity: Mapping[str, float]
) -> float:
    """Return S_AS of a path; of the stems of the query's content words those of its root do not count."""
    if not path.steps:
        return 0.0
    wanted = words.difference(_stems(path.root.name), _stems(path.root.key))
    stated: set[str] = set()
    for step in path.steps:
        stated |= _stems(step.version.text)
        stated |= fact_query.words_for(step.version.relation)
    weights = [(stem, rarity.get(stem, 1.0)) for stem in sorted(wanted)]
    whole = sum(weight for _, weight in weights)
    covered = sum(weight for stem, weight in weights if stem in stated) / whole if whole > 0 else 1.0
    fit = _type_fit(path.steps[-1], path.end, fact_query, facts)
    certainty = min((step.confidence for step in path.steps if step.inferred), default=1.0)
    return certainty * (0.5 * covered + 0.5 * fit)


@text_cache(8_192)  # facts and roots that queries return to; some hundred bytes each
def _stems(text: str) -> frozenset[str]:
    return frozenset(stems(text))


def ends(path: Path, facts: Facts) -> list[str]:
    """Return the key of the entity that each step of a path leads to."""
    if not path.steps:
        return []
    return [*(facts.target_key(step.version, forward=step.forward) for step in path.steps[:-1]), path.end]


def entities_on(path: Path, facts: Facts) -> frozenset[str]:
    """Return the keys of all entities on a path; it never returns to one of them (DESIGN I32)."""
    return frozenset((path.root.key, *ends(path, facts)))


def _type_fit(step: Step, end: str, fact_query: FactQuery, facts: Facts) -> float:
    """Return whether the end of a step is of the expected type: 1, 0, or .5 where that is unknown."""
    answer_type = fact_query.query.answer_type
    if answer_type in _NOT_NAMED and fact_query.names_entity(end):
        return 0.0
    known = relations().get(step.version.relation)
    kind = (known.tail if step.forward else known.head) or facts.kind(end)
    if answer_type == "how_long":
        return 1.0 if kind in ("time", "number") or step.version.stated else 0.5
    expected = _EXPECTED.get(answer_type)
    if expected is None:
        return 0.5
    if expected == "time" and step.version.stated:
        return 1.0
    if expected == "number":  # otherwise the answer may be the number of such facts
        return 1.0 if kind == "number" or any(letter.isdecimal() for letter in end) else 0.5
    return 0.5 if kind is None else float(kind == expected)


def serialise(path: Path) -> str:
    """Return a path as one line (REAL eq. 9): ``Alice -lives_in[2015-03-01,now) c=.95-> London``.

    The line has the root, and for each step the relation, its interval, its confidence and its end. A step from tail to
    head has its arrow on the other side, ``London <-lives_in[2015-03-01,now) c=.95- Alice``. An inferred step names its
    rule, ``Ann -interested_in[2015-03-01,now) c=.76 by symmetry-> jazz``. An event of which nobody said when has no
    start.
    """
    parts = [path.root.name]
    for step in path.steps:
        version = step.version
        untimed = version.kind == "event" and version.precision == "before"  # only the day of its telling is known
        since = UNKNOWN if version.since <= BEGINNING or untimed else _day(version.since)
        until = "now" if version.until >= FOREVER else _day(version.until)
        confidence = f"{step.confidence:.2f}".removeprefix("0")
        rule = f" by {step.inferred}" if step.inferred else ""
        label = f"{version.relation}[{since},{until}) c={confidence}{rule}"
        parts += [f"-{label}->", version.tail] if step.forward else [f"<-{label}-", version.head]
    return " ".join(parts)


def _day(instant: Millis) -> str:
    return "{:04}-{:02}-{:02}".format(*civil(instant)) if FIRST_INSTANT <= instant < LAST_INSTANT else UNKNOWN
