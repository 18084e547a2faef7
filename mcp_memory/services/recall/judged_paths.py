"""Let a judge score paths through the facts (REAL §3.3.2, II; DESIGN L5).

The formulas score all candidates first, which takes milliseconds, and
the beam search yields each step before anything is decided; a judge's scores then replace these. While the judge
thinks, no view is held, and nothing of a view is kept: for the next step the search starts again, over the space as it
is then, and each judged step is decided by its recorded scores. So writes and rebuilds may happen meanwhile. A path
that the judge has not seen keeps the scores of the formulas, and so do all that come after a judge that failed.

The paper asks in every step. A call costs an answer a seventh of its budget and takes seconds, so the judge is asked
at most `CALLS` times, where it decides most:

- where a path could go on in several ways: Stop or Expand, and the places of the next step. What stands next to a root
  is shown then as well, beside what it goes on to. Where there is only one way on, all that is decided is where the
  path ends, and either end rests on the same texts;
- where a root has more neighbours than places;
- about what the rules recover, only where a path would go on to it.

Measured over facts that rules read, with a judge that knows which texts are right, so that no model does better: of
questions to long dialogues, where hardly anything stands behind a neighbour, one in six asks (62.2 points of R@2
without, 62.5 with it), of questions to documents nearly all do, 1.1 times each (89.5 and 90.0). Asked in every step it
is asked 2.2 and 2.9 times and finds .2 points more and nothing more.
"""

from __future__ import annotations

from mcp_memory.domain.query import Query
from mcp_memory.navigation.beam import FORMULAS, BeamStep, Evaluation, find_paths
from mcp_memory.navigation.paths import leads_back
from mcp_memory.ports import QuestionJudge, Store
from mcp_memory.search.unindexed import estimate_cosines
from mcp_memory.services.recall.prepare import place_event, similarity, word_rarity
from mcp_memory.services.recall.settings import RecallSettings
from mcp_memory.vectors import Matrix
from mcp_memory.view.space import Space

CALLS = 2
"""Steps of one query that a judge is asked about."""
# Paths that only lead back to what shares a kind or a year with a root are not asked about (`leads_back`): of 80
# questions to documents 62 ask, 1.5 times each, instead of 77, 1.7 times; of 120 to dialogues 8, once each.
NEAR_NOTHING = 0.2
"""S_QR below which no path bears on the question; in nine of eleven requests of a trial no path was worth more."""


async def judge_paths(store: Store, query: Query, settings: RecallSettings, judge: QuestionJudge | None) -> Evaluation:
    """Return the scores that a judge gives to paths through the facts; those of the formulas if it is not to be asked.

    Args:
        store: where; no view is held while the judge is asked.
        query: understood and embedded.
        settings: of recall.
        judge: who is asked.
    """
    evaluation = FORMULAS
    if judge is None or not judge.scores_paths:
        return evaluation
    for _ in range(CALLS):
        async with store.reading() as view:
            space = view.space(query.space)
            cosines = estimate_cosines(space, query.stems, await similarity(store, space, query.vectors))
            placed = place_event(space, query, settings)
            step = _next_unjudged(space, placed, cosines, settings, evaluation)
        scores = await judge.score(query, step.paths) if step else None
        if step is None or scores is None:
            break
        evaluation = evaluation.with_scores(step, scores)
        if max(score.relevance for score in scores) < NEAR_NOTHING:
            break  # the facts lead nowhere: what lies beyond them is not worth a call
    return evaluation


def _next_unjudged(
    space: Space, query: Query, cosines: Matrix, settings: RecallSettings, evaluation: Evaluation
) -> BeamStep | None:
    """Return the first step of the beam search that was not judged and is worth a call; None if there is none."""
    search = find_paths(space, query, cosines, word_rarity(space, query), settings.navigation)
    try:
        step = next(search)
        while (scores := evaluation.scores(step)) is not None or not worth_judging(step, settings.navigation.width):
            step = search.send(scores)
    except StopIteration:
        return None
    search.close()
    return step


def worth_judging(step: BeamStep, width: int) -> bool:
    """Return whether the scores of a step decide enough for a call.

    Args:
        step: the candidates of all beams.
        width: places of each root in the next step.
    """
    roots = {path.root.key for path in step.beams}  # what lies beyond another root is asked about from there
    groups = [[path for path in group if not leads_back(path)] for group in step.extensions]
    pairs = zip(step.beams, groups, strict=True)
    longer = [(path, group) for path, group in pairs if path.steps and path.end not in roots]
    if max((path.scores.relevance for path in step.paths), default=0.0) < NEAR_NOTHING:
        return False
    if step.inferred:
        return any(guess.scores.sufficiency > path.scores.sufficiency for path, group in longer for guess in group)
    return any(len(group) > 1 for _, group in longer) or any(len(group) > width for group in groups)
