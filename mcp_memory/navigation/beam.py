"""The beam search of REAL (Algorithm 1): from each root, the k best paths, one step longer at a time.

At each step every beam expands to the m best neighbours of its end, one call judges all candidates of all beams, and
each beam decides for itself:

- *Stop*, where no expansion is more sufficient (S_AS) than the path as it is: it is final;
- else *Expand*: the more sufficient expansions compete for the k places of the next step;
- and *Counterfactual* beside either (DESIGN D39), where what it could expand to is not reliable: what the rules recover
  competes too.

Paths that still go on after the last step are final as well: taken to the letter, Algorithm 1 would lose them (DESIGN
D31).

**Departures.** Of the expansions only the reliable ones are sure of a place in the pool; the others compete with what
was recovered for the places that these leave, so that a beam never adds more than m paths (DESIGN D32, the paper's own
bound). A recovered path, too, has to be more sufficient than the path that it goes on from: the paper does not say so,
and without it every path that stops would drag its guesses along. From a root alone nothing stops as long as there is
a neighbour, however little that says (DESIGN I33).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TypeVar

from mcp_memory.domain.paths import Path, PathScores, Root, Rule
from mcp_memory.domain.query import Query
from mcp_memory.navigation.counterfactual import budget, needed, recover, reliable
from mcp_memory.navigation.neighbours import Neighbourhood
from mcp_memory.navigation.scores import PathJudge, visits
from mcp_memory.navigation.settings import NavigationSettings

_UNSCORED = PathScores(0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Decision:
    """What one beam did in one step, for the trace.

    Attributes:
        depth: of the path before the step; 0 for a root alone.
        path: the path before the step; without a step where it is a root alone.
        expanded: candidates that were judged.
        reliable: how many of these are relied on, |N_rel|.
        stopped: whether the path became final.
        repaired: whether repair was called for.
        recovered: the rules of the recovered paths that joined the pool, best first.
    """

    depth: int
    path: Path
    expanded: int
    reliable: int
    stopped: bool
    repaired: bool
    recovered: tuple[Rule, ...]


@dataclass(frozen=True, slots=True)
class Candidates:
    """What one step of all beams chooses from.

    Attributes:
        depth: of the beams; 0 for roots alone.
        beams: the paths as they are.
        found: what each of them could go on to, with the scores of the search's own judge.
        recovered: whether that was recovered by the rules; else it is what expansion finds.
    """

    depth: int
    beams: tuple[Path, ...]
    found: tuple[tuple[Path, ...], ...]
    recovered: bool = False

    @property
    def place(self) -> tuple[int, bool]:
        """Which step of a search this is; no two have the same."""
        return self.depth, self.recovered

    @property
    def paths(self) -> tuple[Path, ...]:
        """All that has a score: the beams but for roots alone, then what each of them could go on to."""
        return (*(path for path in self.beams if path.steps), *chain.from_iterable(self.found))


Found = tuple[list[Path], list[Decision]]
"""P_final, best first, and what each beam decided in each step."""
ResultT = TypeVar("ResultT")
Searching = Generator[Candidates, Sequence[PathScores] | None, ResultT]
"""A search that can be looked into; see `searching`."""


def searching(question: Query, roots: Sequence[Root], near: Neighbourhood, judge: PathJudge) -> Searching[Found]:
    """Search, and show the candidates of each step to whoever drives the search before anything is decided.

    Args:
        question: taken apart.
        roots: where to start.
        near: the neighbours that the question may walk to; they have to be the same as long as the search lasts.
        judge: asked once a step for all candidates, and once more where something was recovered.

    Yields:
        The candidates as the judge scores them. What is sent takes the place of these scores: one for each of
        ``Candidates.paths``, in their order, or None where they stand.

    Returns:
        P_final, best first: paths of one to D_max steps, no two the same; and one decision for each beam and step, in
        that order.
    """
    settings = near.settings
    beams = [Path(root, (), root.key, _UNSCORED) for root in roots]
    final: list[Path] = []
    decisions: list[Decision] = []
    for depth in range(settings.depth if settings.beam else 1):
        expansions = _judged(question, [_expand(near, path) for path in beams], judge)
        if any(expansions):
            seen = Candidates(depth, tuple(beams), tuple(map(tuple, expansions)))
            beams, expansions = _rescored(seen, (yield seen))
        needy = [settings.counterfactual and needed([p.scores for p in found], settings) for found in expansions]
        recovered = _judged(
            question,
            [
                recover(near, path, {p.steps[-1].version.id for p in found}) if wants else []
                for path, found, wants in zip(beams, expansions, needy, strict=True)
            ],
            judge,
        )
        if any(recovered):
            seen = Candidates(depth, tuple(beams), tuple(map(tuple, recovered)), recovered=True)
            beams, recovered = _rescored(seen, (yield seen))
        pool: list[Path] = []
        for path, found, wants, guesses in zip(beams, expansions, needy, recovered, strict=True):
            stopped = bool(path.steps) and _sufficient(path, found)
            if stopped:
                final.append(path)
            better = [] if stopped else [p for p in found if _better(p, path)]
            rest = [p for p in better if not reliable(p.scores, settings)]
            rest += [p for p in guesses if _better(p, path)]
            rest = sorted(rest, key=order)[: budget([p.scores for p in found], settings)]
            pool += [p for p in better if reliable(p.scores, settings)] + rest
            rules = [p.steps[-1].inferred for p in rest]
            decisions.append(
                Decision(
                    depth,
                    path,
                    expanded=len(found),
                    reliable=sum(reliable(p.scores, settings) for p in found),
                    stopped=stopped,
                    repaired=wants,
                    recovered=tuple(rule for rule in rules if rule),
                )
            )
        beams = _pruned(pool, roots, settings)
        if not beams:
            break
    return sorted([*final, *beams], key=order), decisions


def finished(walk: Searching[ResultT], scores: Callable[[Candidates], Sequence[PathScores] | None]) -> ResultT:
    """Return what a search comes to where ``scores`` says what the candidates of each step are worth.

    Args:
        walk: not begun yet.
        scores: of ``Candidates.paths``, in their order; None where those of the search's own judge stand.
    """
    try:
        seen = next(walk)
        while True:
            seen = walk.send(scores(seen))
    except StopIteration as ended:
        result: ResultT = ended.value
        return result


def order(path: Path) -> tuple[float, float, float, int, int, tuple[str, ...]]:
    """Return the key that sorts the best path first: S, then S_AS, S_QR, shorter, newer, id (DESIGN D34)."""
    scores = path.scores
    newest = max((step.version.since for step in path.steps), default=0)
    ids = (path.root.key, *(step.version.id for step in path.steps))
    return -scores.mean, -scores.sufficiency, -scores.relevance, len(path.steps), -newest, ids


def _expand(near: Neighbourhood, path: Path) -> list[Path]:
    """Return P′ of a path, not yet scored."""
    edges = near.best(path.end, path.root.intent, visits(path, near.facts))
    return [replace(path, steps=(*path.steps, edge.step), end=edge.end) for edge in edges]


def _judged(question: Query, groups: Sequence[list[Path]], judge: PathJudge) -> list[list[Path]]:
    """Return the paths of all groups with their scores, by one call of the judge, or none where there is nothing."""
    every = [path for group in groups for path in group]
    scores = iter(judge.score(question, every) if every else [])
    return [[replace(path, scores=next(scores)) for path in group] for group in groups]


def _rescored(seen: Candidates, scores: Sequence[PathScores] | None) -> tuple[list[Path], list[list[Path]]]:
    """Return the beams of a step and what they may go on to with the scores that somebody gives them, if he does."""
    if scores is None:
        return list(seen.beams), [list(group) for group in seen.found]
    given = iter([replace(path, scores=one) for path, one in zip(seen.paths, scores, strict=True)])
    beams = [next(given) if path.steps else path for path in seen.beams]
    return beams, [[next(given) for _ in group] for group in seen.found]


def _sufficient(path: Path, expansions: Sequence[Path]) -> bool:
    return all(path.scores.sufficiency >= p.scores.sufficiency for p in expansions)  # eq. 7


def _better(expansion: Path, path: Path) -> bool:
    return not path.steps or expansion.scores.sufficiency > path.scores.sufficiency  # eq. 8


def _pruned(pool: Sequence[Path], roots: Sequence[Root], settings: NavigationSettings) -> list[Path]:
    """Return the k best paths of each root, roots in their order."""
    return [
        path
        for root in roots
        for path in sorted((path for path in pool if path.root == root), key=order)[: settings.width]
    ]
