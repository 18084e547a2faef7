"""Which paths through the facts a judge is asked to score, if it scores any (REAL §3.3.2, II; DESIGN L5).

The formulas score all candidates first, which takes milliseconds, and the beam search yields each step before anything
is decided; a judge's scores then replace these. While the judge thinks, no view is held, and nothing of a view is kept:
for the next step the search starts again, over the space as it is then, and each judged step is decided by its recorded
scores. So writes and rebuilds may happen meanwhile. A path that the judge has not seen keeps the scores of the
formulas, and so do all that come after a judge that failed.

The paper asks in every step. A call costs an answer a seventh of its budget and takes seconds, so the judge is asked
about `QuestionJudge.scored_steps` steps at most, where a path could go on in more ways than it keeps and one of them
has a relation that the question asks for. It is not asked about what the rules recover: a model draws such conclusions
itself from the texts of the premises, which it is shown. (Measured with a judge that knows which texts are right, so
that no model does better: asked in every step it finds .2 points of R@2 more than asked where paths fork.)
"""

from __future__ import annotations

from collections.abc import Mapping

from mcp_memory.domain.query import Query
from mcp_memory.navigation.beam import BeamStep, Evaluation, find_paths
from mcp_memory.navigation.fact_query import fact_query
from mcp_memory.navigation.paths import leads_back
from mcp_memory.navigation.settings import NavigationSettings
from mcp_memory.vectors import Scores
from mcp_memory.view.space import Space

NEAR_NOTHING = 0.2
"""S_QR below which no path bears on the question; in nine of eleven requests of a trial no path was worth more."""


def next_unjudged(
    space: Space,
    query: Query,
    cosines: Scores,
    rarity: Mapping[str, float],
    settings: NavigationSettings,
    evaluation: Evaluation,
) -> BeamStep | None:
    """Return the first step of the beam search that was not judged and is worth a call; None if there is none."""
    search = find_paths(space, query, cosines, rarity, settings)
    try:
        step = next(search)
        while (scores := evaluation.scores(step)) is not None or not worth_judging(step, settings.width, query):
            step = search.send(scores)
    except StopIteration:
        return None
    search.close()
    return step


def worth_judging(step: BeamStep, width: int, query: Query) -> bool:
    """Return whether scores of a step can change an answer: of more ways on than are kept, one does what is asked.

    In none of some 80 requests of trials about dialogues, chats and documents did the scores lead to the answer: nearly
    all that were asked about shared a year, a kind or a part of a name with the question.

    Args:
        step: not yet judged.
        width: ways on that a root alone keeps; a longer path ends in one place, so it forks with two.
        query: understood.
    """
    if step.inferred or max((path.scores.relevance for path in step.paths), default=0.0) < NEAR_NOTHING:
        return False
    demand = fact_query(query).demand
    for path, group in zip(step.beams, step.extensions, strict=True):
        ways = [] if path.root.soft else [way for way in group if not leads_back(way)]
        forks = len({way.end for way in ways}) > (1 if path.steps else width)
        if forks and any(demand(way.steps[-1].version.relation) > 0 for way in ways):
            return True
    return False
