"""What a project's space reads of the default space: the user's standing wishes, and who the user is.

Spaces are walls. A person who has a space for each project still is one person: "answer in Dutch" and "I am allergic to
nuts" hold in all of them. So a recall in a project's space also shows the wishes that stand in the default space, and
where a question asks for a fact about the user, the certain facts that answer it there (``server.shared_profile``).
Nothing else of that space is read, nothing is written to it, and what is shown says that it is from there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Protocol

from mcp_memory.domain.access import CALLER, DEFAULT_SPACE, MEANT_SPACE
from mcp_memory.domain.evidence import Evidence, RecallResult
from mcp_memory.domain.facts import CERTAIN
from mcp_memory.domain.query import ANY_TIME, Query
from mcp_memory.domain.turns import USER
from mcp_memory.language.questions import understand
from mcp_memory.navigation.anchors import select_roots
from mcp_memory.navigation.fact_query import fact_query
from mcp_memory.navigation.known_facts import known_facts
from mcp_memory.ports import Embedder, Store
from mcp_memory.search.wishes import SHOWN, newest_wishes, wishes_for
from mcp_memory.services.learn.episodes import Episodes, new_episode
from mcp_memory.services.recall.across import place_episode
from mcp_memory.services.recall.pipeline import embed_query
from mcp_memory.services.recall.settings import RecallSettings
from mcp_memory.view.evidence import fact_evidence
from mcp_memory.view.space import Space

FACTS = 3
"""Most facts about the user that a recall shows."""
_OWNED = re.compile(r"\b(?:my|our)\s+[\w'’-]+", re.IGNORECASE)
"""What a question names as the user's. "My job" asks for a fact about the user; where the rest asks for it anyway, it
asks it of what is named: "where does my neighbour live?"."""
ASKED = 0.5
"""How strongly a question has to ask for a relation (`FactQuery.demand`)."""


class Sharing(Protocol):
    """The settings that say which spaces show it."""

    @property
    def space(self) -> str:
        """The setting ``server.space``."""

    @property
    def shared_profile(self) -> str:
        """The setting of this name: ``workspace``, ``always`` or ``never``."""


def shares_profile(space: str, sharing: Sharing) -> bool:
    """Return whether a recall in a space, alone, shows what the default space says of the user, to who calls."""
    of_workspace = sharing.space == "workspace" and space == MEANT_SPACE.get()  # not one that a caller names
    chosen = sharing.shared_profile == "always" or (sharing.shared_profile == "workspace" and of_workspace)
    return chosen and space != DEFAULT_SPACE and CALLER.get().may(("read",), DEFAULT_SPACE)


async def with_profile(
    store: Store,
    embedder: Embedder,
    query: Query,
    result: RecallResult,
    settings: RecallSettings,
    episodes: Episodes,
    sharing: Sharing,
) -> RecallResult:
    """Return the result of a project's space with the wishes of the default space, and with facts about the user first.

    A space that does not share them gets its result as it is.

    Args:
        store: the store of both spaces.
        embedder: the embedder of the query.
        query: as it was asked in the project's space, with the moment of asking.
        result: what that space holds.
        settings: the settings of recall.
        episodes: where the recall has kept its episode; facts of the default space are shown under the same id.
        sharing: which spaces show it.
    """
    if not shares_profile(query.space, sharing):
        return result
    project, query = query.space, replace(query, space=DEFAULT_SPACE, mode="best")
    async with store.reading(whole=False) as view:
        if not view.space(DEFAULT_SPACE).turns:
            return result
    if query.text:
        query = await embed_query(store, embedder, query)
    async with store.reading() as view:
        space = view.space(DEFAULT_SPACE)
        standing = (await wishes_for(space, query, embedder))[0] if query.text else newest_wishes(space)
        facts = [replace(fact, space=DEFAULT_SPACE) for fact in _asked_of_user(space, query)]
        theirs = new_episode(space, query, replace(result, evidence=tuple(facts)))
    if settings.search.wishes:
        known = {wish.text for wish in result.wishes}
        wishes = [replace(wish, space=DEFAULT_SPACE) for wish in standing if wish.text not in known]
        result = replace(result, wishes=(*result.wishes, *wishes)[:SHOWN])
    if not facts or result.breadth != "best":
        return result
    evidence = (*facts, *result.evidence)[: max(query.limit, len(facts))]
    for name, kept in ((None, episodes.get(project, result.episode)), (DEFAULT_SPACE, theirs)):
        if kept is not None:
            places = {item.id: number for number, item in enumerate(evidence, 1) if item.space == name}
            episodes.keep(place_episode(kept, result.episode, places))
    return replace(result, evidence=evidence)


def _asked_of_user(space: Space, query: Query) -> Iterator[Evidence]:
    """Yield the certain facts about the user that a question asks for, the strongest first; none of a chosen time."""
    if not query.text or query.window != ANY_TIME or query.role is not None:
        return
    facts, wanted = space.facts, fact_query(query)
    rest = fact_query(understand(Query(_OWNED.sub(" ", query.text)), space.speakers, query.now))
    users = {facts.key(name) for name in (USER, space.speakers.asker or USER)}
    roots = [root for root in select_roots(facts, query) if root.key in users]
    found = [
        version
        for group in known_facts(space, query, roots, (), ()).groups
        if group.key in users and group.forward and not group.inferred and wanted.demand(group.relation) >= ASKED
        if not _OWNED.search(query.text) or rest.demand(group.relation) < ASKED
        for version in group.versions
        if version.confidence >= CERTAIN and version.status != "contested"
    ]
    found.sort(key=lambda version: (-wanted.demand(version.relation), not version.current, -version.since))
    for version in found[:FACTS]:
        yield fact_evidence(space, version, 1.0, ("profile",))
