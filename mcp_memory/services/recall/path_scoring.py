"""Evaluate: a judge that takes its time scores the paths that a search chooses from (REAL §3.3.2, II; DESIGN L5).

The formulas score all candidates first, which takes milliseconds, and the search shows each step before anything is
decided. What the judge says takes the place of these scores. While it thinks, nothing is held still, and nothing of a
view is kept: for the next step the search begins anew, over the space as it is then, and each step that was judged is
decided by what was said of it. So it does not matter what is written or rebuilt meanwhile. A path that the judge has
not seen has the scores of the formulas, and so have all that come after a judge that failed.

The paper asks in every step. A call costs an answer a seventh of its budget and seconds, so the judge is asked at most
`CALLS` times, where it decides most:

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
from mcp_memory.domain.times import Millis
from mcp_memory.navigation.beam import Candidates, Searching
from mcp_memory.navigation.navigate import Navigation
from mcp_memory.ports import QuestionJudge, Store
from mcp_memory.services.recall.facts import FORMULAS, Evaluation, stepping
from mcp_memory.services.recall.pipeline import Asked, placed
from mcp_memory.services.recall.settings import RecallSettings
from mcp_memory.services.recall.similarity import cosines

CALLS = 2
"""Steps of one question that a judge is asked about."""


async def evaluated(
    store: Store, asked: Asked, request: Query, settings: RecallSettings, now: Millis, inquiry: QuestionJudge | None
) -> Evaluation:
    """Return what an inquiry says of the paths through the facts; that of the formulas where it is not to be asked.

    Args:
        store: where.
        asked: the question.
        request: as for `find`.
        settings: of recall.
        now: the moment of asking.
        inquiry: who is asked, while nothing is held still.
    """
    evaluation = FORMULAS
    if inquiry is None or not inquiry.scores_paths:
        return evaluation
    for _ in range(CALLS):
        async with store.reading() as view:
            space = view.space(request.space)
            likeness = await cosines(store, space, asked.vectors)
            question = placed(space, asked.question, settings)
            walk = stepping(space, question, asked.vectors, likeness, request, settings.navigation, now)
            seen = _open(walk, evaluation, settings.navigation.width)
        scores = await inquiry.score(asked.question, seen.paths) if seen else None
        if seen is None or scores is None:
            break
        evaluation = evaluation.joined(seen, scores)
    return evaluation


def _open(walk: Searching[Navigation], evaluation: Evaluation, width: int) -> Candidates | None:
    """Return the first step of a search that was not judged and is worth a call; None where there is none."""
    try:
        seen = next(walk)
        while (scores := evaluation.scores(seen)) is not None or not decides(seen, width):
            seen = walk.send(scores)
    except StopIteration:
        return None
    walk.close()
    return seen


def decides(seen: Candidates, width: int) -> bool:
    """Return whether the scores of a step decide enough for a call.

    Args:
        seen: the candidates of all beams.
        width: places of each root in the next step.
    """
    ways = [(path, found) for path, found in zip(seen.beams, seen.found, strict=True) if path.steps]
    if seen.recovered:
        return any(guess.scores.sufficiency > path.scores.sufficiency for path, found in ways for guess in found)
    return any(len(found) > 1 for _, found in ways) or any(len(found) > width for found in seen.found)
