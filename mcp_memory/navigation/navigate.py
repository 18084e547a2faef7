"""Navigation: the paths through the facts that bear on a question (REAL §3.3).

Read it as the walk of one question: anchor it, look around with its filters, search, keep what was found apart from
how it was found. Nothing is stored, no text is embedded, and the same question over the same facts gives the same
paths.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.paths import Path, Root
from mcp_memory.domain.query import Query
from mcp_memory.navigation.anchor import anchor
from mcp_memory.navigation.asking import Asking, Moment
from mcp_memory.navigation.beam import Decision, Searching, searching
from mcp_memory.navigation.neighbours import Neighbourhood
from mcp_memory.navigation.scores import Cosine, EmbeddedJudge, Likeness
from mcp_memory.navigation.settings import NavigationSettings
from mcp_memory.view.facts import Facts


@dataclass(frozen=True, slots=True)
class Navigation:
    """What navigation found.

    Attributes:
        roots: where it started.
        paths: best first.
        trace: what each beam decided, step by step.
    """

    roots: tuple[Root, ...]
    paths: tuple[Path, ...]
    trace: tuple[Decision, ...]


def navigating(
    facts: Facts,
    question: Query,
    *,
    moment: Moment | None,
    cosine: Cosine,
    nearby: Callable[[], Sequence[Assertion]],
    background: tuple[float, float],
    rarity: Mapping[str, float],
    settings: NavigationSettings,
    named: Sequence[str] = (),
    include_uncertain: bool = False,
) -> Searching[Navigation]:
    """Return the paths that bear on a question, best first; the candidates of each step are shown before that.

    Args:
        facts: of a space whose view is held still.
        question: taken apart.
        moment: the time in question (`navigation.asking.moment`): an interval that the question names, or the one
            millisecond of ``as_of`` or of now; None lets facts of any time through.
        cosine: of the question with the sentence that states each assertion.
        nearby: gives the assertions that may stand in where the question names nothing, the likeliest.
        background: mean and deviation of the cosine in the space.
        rarity: the idf of the question's stems.
        settings: of this room.
        named: entities that the caller knows the question is about.
        include_uncertain: let facts through that are only suspected; a question that asks for guesses does so itself.

    Yields:
        See `beam.searching`.
    """
    asking = Asking(question)
    uncertain = include_uncertain or asking.unsure or not settings.confidence
    roots = anchor(facts, question, named, cosine=cosine, nearby=nearby, settings=settings, uncertain=uncertain)
    likeness = Likeness(cosine, background, settings.spread)
    keys = [root.key for root in roots]
    near = Neighbourhood(facts, asking, likeness, keys, at=moment, uncertain=uncertain, settings=settings)
    judge = EmbeddedJudge(facts, asking, likeness, rarity, settings, tuple(keys), intents=settings.intent)
    paths, trace = yield from searching(question, roots, near, judge)
    return Navigation(roots, tuple(paths), tuple(trace))
