"""The three scores of a path, and who gives them (REAL §3.3.2; the formulas of DESIGN 3.2).

Whoever judges is a `PathJudge`; without a language model it is the `EmbeddedJudge`:

- *relevance*, S_QR: ``x + (1 − x)·.7·a``, where x is the calibrated cosine ``cal(x) = clip((x − μ)/(4σ), 0, 1)`` of
  the question with the path, and a how far the question asks for its relations by name, both as the mean over the
  steps; .05 less for each step walked from tail to head (DESIGN D36). So δ = .5 is a cosine two deviations above the
  background, or a relation that is asked for in so many words.
- *coherence*, S_LC: the mean over the steps of .5·[it does not lie wholly before the step before it]
  + .3·[it is of the kind that the intent looks for; else how far the question asks for it by name]
  + .2·(1 − ln(1 + degree)/ln(1 + assertions)) of the entity it leads to.
- *sufficiency*, S_AS: .5·(share of the question's content words that the path covers, weighed by their idf; the root,
  words of time and question words left out, and in a question that compares several roots all of them, since no path
  runs over two; 1 where nothing is left) + .5·[its end is of the type that is asked for; .5 where either is unknown; 0
  for what the question names itself]; of a guess, times its confidence, for it suffices only as far as it is sure. 0
  for a path without a step.

**Departures.** The paper embeds the path as it is put into words. Here the cosine of a version is the best cosine of
the question with a *sentence that states it*: that is its verbalisation by whoever said it, and no text is embedded
when a question is asked. The degree is held against the number of assertions, which bounds every degree, instead of
the greatest degree, which would have to be looked for in the whole space.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log1p
from typing import Protocol

from mcp_memory.domain.facts import Assertion, Version
from mcp_memory.domain.paths import Path, PathScores, Step
from mcp_memory.domain.query import AnswerType, Query
from mcp_memory.domain.relations import EntityType, relations
from mcp_memory.language.tokens import stems
from mcp_memory.navigation.fact_query import FactQuery, content_stems
from mcp_memory.navigation.settings import NavigationSettings
from mcp_memory.view.facts import Facts

Cosine = Callable[[Sequence[Assertion]], list[float]]
"""The cosine of the question with the sentence that states each assertion, in [-1, 1]."""

_EXPECTED: Mapping[AnswerType, EntityType] = {"who": "person", "where": "place", "when": "time", "how_many": "number"}
_SOUGHT: frozenset[AnswerType] = frozenset(("who", "where", "what"))
"""Questions for something that they do not name themselves."""
_SUPPORT = 16
"""Assertions of one version whose sentences are compared, the newest; a fact may be said a thousand times."""


class PathJudge(Protocol):
    """Says how good paths are."""

    def score(self, question: Query, paths: Sequence[Path]) -> list[PathScores]:
        """Return the scores of paths, in their order; asked once a step for the candidates of all beams.

        Args:
            question: taken apart.
            paths: of one or more steps; their own scores mean nothing yet.
        """


class Likeness:
    """How near to the question facts are said, looked up once for each."""

    def __init__(self, cosine: Cosine, background: tuple[float, float], spread: float) -> None:
        """Calibrate.

        Args:
            cosine: of assertions.
            background: mean μ and deviation σ of the cosine between what has nothing to do with each other.
            spread: deviations that reach from 0 to 1.
        """
        self._cosine = cosine
        self._mean, deviation = background
        self._span = spread * deviation
        self._known: dict[str, float] = {}

    def of(self, versions: Iterable[Version]) -> list[float]:
        """Return the calibrated cosine of each version, in [0, 1]."""
        asked = list(versions)
        missing = {version.id: version.assertions[-_SUPPORT:] for version in asked if version.id not in self._known}
        statements = [assertion for support in missing.values() for assertion in support]
        found = iter(self._cosine(statements) if statements else ())
        for name, support in missing.items():
            self._known[name] = max((self.calibrated(next(found)) for _ in support), default=0.0)
        return [self._known[version.id] for version in asked]

    def calibrated(self, cosine: float) -> float:
        """Return cal(x): 0 at the background, 1 at ``spread`` deviations above it."""
        if self._span <= 0:  # a space so small that it has no background
            return min(1.0, max(0.0, cosine))
        return min(1.0, max(0.0, (cosine - self._mean) / self._span))


@dataclass(frozen=True, slots=True)
class EmbeddedJudge:
    """Scores paths by the formulas of this module.

    Attributes:
        facts: of the space.
        asking: the question.
        likeness: of versions.
        rarity: the idf of stems; one that is not there counts 1.
        settings: of this room.
        roots: keys of the entities that the question is about.
        intents: whether the kind of a fact counts.
    """

    facts: Facts
    asking: FactQuery
    likeness: Likeness
    rarity: Mapping[str, float]
    settings: NavigationSettings
    roots: tuple[str, ...] = ()
    intents: bool = True

    def score(self, question: Query, paths: Sequence[Path]) -> list[PathScores]:
        """See `PathJudge`."""
        cosines = iter(self.likeness.of(step.version for path in paths for step in path.steps))
        words = content_stems(question)
        if self.asking.compares:
            words = words.difference(*map(_stems, self.roots))
        return [
            PathScores(
                relevance(path, [next(cosines) for _ in path.steps], self.asking, self.settings),
                coherence(path, self.facts, self.asking if self.intents else None),
                sufficiency(path, self.facts, self.asking, words, self.rarity),
            )
            for path in paths
        ]


def relevance(path: Path, likeness: Sequence[float], asking: FactQuery, settings: NavigationSettings) -> float:
    """Return S_QR of a path, from the calibrated cosine of each of its steps."""
    near = sum(likeness) / len(likeness)
    asked = sum(asking.asks(step.version.relation) for step in path.steps) / len(path.steps)
    backward = sum(not step.forward for step in path.steps)
    return max(0.0, near + (1 - near) * settings.asked * asked - settings.backward * backward)


def coherence(path: Path, facts: Facts, asking: FactQuery | None) -> float:
    """Return S_LC of a path; without a question the kind of its facts does not count."""
    total, before = 0.0, None
    most = log1p(max(1, len(facts.rows)))
    for step, end in zip(path.steps, ends(path, facts), strict=True):
        ordered = before is None or step.inferred == "succession" or _follows(before, step.version)
        kind = asking.wants(step.version, path.root.intent, facts) if asking else 1.0
        total += 0.5 * ordered + 0.3 * kind + 0.2 * max(0.0, 1 - log1p(facts.degree(end)) / most)
        before = step.version
    return total / len(path.steps)


def sufficiency(
    path: Path, facts: Facts, asking: FactQuery, words: frozenset[str], rarity: Mapping[str, float]
) -> float:
    """Return S_AS of a path.

    Args:
        path: to judge; its root's own words count for nothing.
        facts: of the space.
        asking: the question.
        words: stems of the question's content.
        rarity: their idf.
    """
    if not path.steps:
        return 0.0
    wanted = words.difference(_stems(path.root.name), _stems(path.root.key))
    said: set[str] = set()
    for step in path.steps:
        said |= _stems(step.version.text)
        said |= asking.words_for(step.version.relation)
    whole = sum(rarity.get(stem, 1.0) for stem in sorted(wanted))
    covered = sum(rarity.get(stem, 1.0) for stem in sorted(wanted & said)) / whole if whole > 0 else 1.0
    fits = _fits(path.steps[-1], path.end, asking, facts)
    guessed = min((step.confidence for step in path.steps if step.inferred), default=1.0)
    return guessed * (0.5 * covered + 0.5 * fits)


@lru_cache(maxsize=8_192)  # facts and roots that questions come back to; some hundred bytes each
def _stems(text: str) -> frozenset[str]:
    return frozenset(stems(text))


def ends(path: Path, facts: Facts) -> list[str]:
    """Return the key of the entity that each step of a path leads to."""
    if not path.steps:
        return []
    reached = [facts.target_key(step.version, forward=step.forward) for step in path.steps[:-1]]
    return [*reached, path.end]


def visits(path: Path, facts: Facts) -> frozenset[str]:
    """Return the keys of all entities on a path, to none of which it comes again (DESIGN I32)."""
    return frozenset((path.root.key, *ends(path, facts)))


def _follows(before: Version, after: Version) -> bool:
    """Return whether a fact shares an instant with the one before it, or comes later."""
    return after.until > before.since


def _fits(step: Step, end: str, asking: FactQuery, facts: Facts) -> float:
    """Return whether what a step leads to is of the type that is asked for: 1, 0, or .5 where that is not known."""
    asked = asking.query.answer_type
    if asked in _SOUGHT and asking.names_entity(end):
        return 0.0
    known = relations().get(step.version.relation)
    kind = (known.tail if step.forward else known.head) or facts.kind(end)
    if asked == "how_long":
        return 1.0 if kind in ("time", "number") or step.version.stated else 0.5
    expected = _EXPECTED.get(asked)
    if expected is None:
        return 0.5
    if expected == "time" and step.version.stated:
        return 1.0
    if expected == "number":  # else what is asked for may be how many such facts there are
        return 1.0 if kind == "number" or any(letter.isdecimal() for letter in end) else 0.5
    return 0.5 if kind is None else float(kind == expected)
