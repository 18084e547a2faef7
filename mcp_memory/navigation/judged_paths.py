"""Which paths through the facts a judge is asked to score, if it scores any (REAL §3.3.2, II; DESIGN L5).

The formulas score all candidates first, which takes milliseconds, and the beam search yields each step before anything
is decided; a judge's scores then replace these. While the judge thinks, no view is held, and nothing of a view is kept:
for the next step the search starts again, over the space as it is then, and each judged step is decided by its recorded
scores. So writes and rebuilds may happen meanwhile. A path that the judge has not seen keeps the scores of the
formulas, and so do all that come after a judge that failed.

The paper asks in every step. A call costs an answer a seventh of its budget and takes seconds, so the judge is asked
about `QuestionJudge.scored_steps` steps at most, where it decides most:

- where a path could go on in several ways of which one does what is asked: Stop or Expand, and the places of the next
  step. What stands next to a root is shown then as well, beside what it goes on to. Where there is only one way on, all
  that is decided is where the path ends, and either end rests on the same texts;
- where a root has more such neighbours than places.

It is not asked about what the rules recover: a model draws such conclusions itself from the texts of the premises,
which it is shown. Of 34 two- to four-hop questions over documents, simulated with a judge that was asked twice and
about guesses too, 24 asked, 16 twice; none of the second scores led anywhere, and six questions lacked the call later.

Measured while any way on counted, over facts that rules read, with a judge that knows which texts
are right, so that no model does better: of questions to long dialogues, where hardly anything stands behind a
neighbour, one in six asks (62.2 points of R@2 without, 62.5 with it), of questions to documents nearly all do, 1.1
times each (89.5 and 90.0). Asked in every step it is asked 2.2 and 2.9 times and finds .2 points more and nothing more.
Of 50 multi-hop questions to documents 30 asked then, and 10 do now.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from mcp_memory.domain.paths import Path
from mcp_memory.domain.query import Query
from mcp_memory.language.tokens import stems
from mcp_memory.navigation.beam import BeamStep, Evaluation, find_paths
from mcp_memory.navigation.fact_query import FactQuery, fact_query
from mcp_memory.navigation.paths import CLASSES, leads_back
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
    """Return whether the scores of a step can change an answer: of several ways on, one does what the question asks.

    In none of some 80 requests of trials about dialogues, chats and documents did the scores lead to the answer: nearly
    all that were asked about shared a year, a kind or a part of a name with the question.
    """
    asked = fact_query(query)
    if step.inferred or max((path.scores.relevance for path in step.paths), default=0.0) < NEAR_NOTHING:
        return False
    roots = {path.root.key for path in step.beams}  # what lies beyond another root is asked about from there
    for path, group in zip(step.beams, step.extensions, strict=True):
        ways = [way for way in group if _is_way(way, query)]
        if sum(not way.steps[-1].forward for way in ways) > width:  # what a country or a year has
            ways = [way for way in ways if way.steps[-1].forward]
        several = len({way.end for way in ways}) > (1 if path.steps and path.end not in roots else width)
        if several and any(_does_what_is_asked(way, asked) for way in ways):
            return True
    return False


def _is_way(path: Path, query: Query) -> bool:
    """Return whether a path begins at what a question names, and tells something of it.

    It does not go through what many share (a year, a kind, a country), and its root is no part of a longer name: "Nest"
    of "The Hornets' Nest".
    """
    if path.root.soft or path.steps[-1].version.relation in CLASSES or _within_a_name(path.root.name, query):
        return False
    return not any(leads_back(replace(path, steps=path.steps[:count])) for count in range(1, len(path.steps) + 1))


def _does_what_is_asked(path: Path, asked: FactQuery) -> bool:
    """Return whether the last step of a path has a relation or a word that a question asks for."""
    last = path.steps[-1].version
    names = {stem for name in (path.root.name, last.head, *asked.query.speakers) for stem in stems(name)}
    return asked.demand(last.relation) > 0 or not (set(asked.query.stems) - names).isdisjoint(stems(last.text))


def _within_a_name(root: str, query: Query) -> bool:
    """Return whether a question has a name only as a part of longer ones."""
    others = [name for name in (*query.names, *query.extra_names) if len(name) > len(root)]
    pattern = re.compile(rf"(?<!\w){re.escape(root)}(?!\w)", re.IGNORECASE)
    longer = [name for name in others if pattern.search(name)]
    text = query.text
    for name in longer:
        text = text.replace(name, " ")
    return bool(longer) and pattern.search(text) is None
