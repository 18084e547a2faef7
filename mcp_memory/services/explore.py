"""Explore: one step of navigation, for a client whose own model decides where to go.

The steps are operators of the rooms (``domain/operators.py``). Each reply names further steps that can be taken as they
are given, so any client can run the papers' active loop itself. Evidence of a step can be named in feedback on a recall
(``services/learn/feedback.py``).

Most operators suggest the next steps themselves. Where one suggests none, the text next to what it found is suggested,
and after a step without results a search for its words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from anyio import to_thread

from mcp_memory.domain.episodes import Episode
from mcp_memory.domain.evidence import Suggestion
from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.operators import OPERATORS
from mcp_memory.domain.points import Point
from mcp_memory.domain.query import Query
from mcp_memory.domain.requests import ExploreRequest
from mcp_memory.domain.times import BEGINNING, FOREVER, Millis
from mcp_memory.errors import InvalidInput
from mcp_memory.gain.gates import sentence_gates, sentence_weights
from mcp_memory.navigation.beam import no_similarity, statement_similarity
from mcp_memory.ports import Embedder, OperatorInput, OperatorResult, Step, Store, Weigh
from mcp_memory.search.channels import similarity
from mcp_memory.services.learn.episodes import Episodes, find_episode, record_ids, record_number
from mcp_memory.services.recall.loop import RecallSettings
from mcp_memory.services.recall.pipeline import embed_query, in_space, unknown_space
from mcp_memory.view.space import NONE, Space

_ARGUMENTS = ("entity", "relation", "tag", "topic", "ids", "query", "since", "until")
_POINTS = "local_points"
"""The operator whose ids are those of memory points."""
_IDS_OF_POINTS = " Ids of memory points begin with h_; a recall names those that are related."
_IDS_OF_EVIDENCE = (
    " Ids of evidence stand in the replies of this tool; of a recall give its episode, and numbers of records."
)
_KNOWN_IDS = (
    "Give ids as replies name them (s_, g_, f_, h_), or numbers of records with the episode of their reply; of a "
    "hypothesis (i_) the facts that it follows from, and look around a point that rests on no text with local_points."
)
_SUGGESTIONS = 3
"""Suggestions of one kind."""


async def explore(
    store: Store,
    embedder: Embedder,
    settings: RecallSettings,
    request: ExploreRequest,
    *,
    now: Millis,
    offset: int = 0,
    episodes: Episodes | None = None,
    working: tuple[Point, ...] = (),
) -> OperatorResult:
    """Return what one step finds, or what to try if it finds nothing; a warning says that a space is unknown.

    Records of the episodes of this process may be named by number, and the episodes keep what the step finds. Its ids
    may also name ``working`` memory points, which are not stored.

    Raises:
        InvalidInput: a required argument is missing, an argument is not used by the operator, or the evidence or the
            episode is unknown.
    """
    _check_arguments(request)
    episode = None
    if request.episode is not None:
        episode = await find_episode(store, episodes or Episodes(), request.space, request.episode)
    ids = _ids(request, episode)
    query: Query | None = None
    if request.query is not None:
        query = await embed_query(store, embedder, Query(request.query, request.space, now=now, offset=offset))
    async with store.reading() as view:
        space, warnings = view.space(request.space), unknown_space(view, request.space)
        own = {point.id for point in working}
        if not warnings and not own.issuperset(ids):
            ids = _resolve_ids(space, request.operator, ids, episode)
        cosine, weigh = _measures(space, query, request, settings)
        call = OperatorInput(
            space,
            cosine,
            query,
            entity=request.entity,
            relation=request.relation,
            tag=request.tag,
            topic=request.topic,
            ids=ids,
            window=request.window,
            limit=request.limit,
            weigh=weigh,
            points=working,
        )
        # In a thread: the first that walks cues reads every sentence.
        found = await to_thread.run_sync(_take, request.operator, settings.operators[request.operator], call)
        if episodes is not None:
            episodes.keep_explored(space, found.items)
        return replace(found, next=in_space(space, found.next), warnings=(*warnings, *found.warnings))


def _check_arguments(request: ExploreRequest) -> None:
    """Check that a request has the arguments that its operator needs, and no others.

    Raises:
        InvalidInput: it lacks one, or has one that the operator does not use.
    """
    name, operator = request.operator, OPERATORS[request.operator]
    for needed in operator.needs:
        either = needed.split(" or ")
        if not any(_has_argument(request, argument) for argument in either):
            problem, without = ("is missing", "it") if len(either) == 1 else ("neither is given", "one of them")
            remedy = f"The operator {name} cannot do without {without}."
            if needed == "ids":
                remedy += _IDS_OF_POINTS if name == _POINTS else _IDS_OF_EVIDENCE
            raise InvalidInput(needed, problem, remedy)
    for argument in _ARGUMENTS:
        if argument not in operator.uses and _has_argument(request, argument):
            remedy = f"Leave it out, or take another operator; this one uses {', '.join(operator.uses)} and limit."
            raise InvalidInput(argument, f"the operator {name} does not use it", remedy)
    if request.episode is not None and "ids" not in operator.uses:
        remedy = f"Leave it out; this one takes no records, it uses {', '.join(operator.uses)} and limit."
        raise InvalidInput("episode", f"the operator {name} does not use it", remedy)


def _measures(
    space: Space, query: Query | None, request: ExploreRequest, settings: RecallSettings
) -> tuple[Callable[[Sequence[Assertion]], list[float]], Weigh | None]:
    """Return how near facts are to a query, and how much sentences weigh for it; of no query zeros, and None."""
    if query is None:
        return no_similarity, None
    cosines = similarity(space, query.vector)
    gates: Mapping[int, float] = {}
    if settings.switches.learning:
        gates = sentence_gates(space, query, settings.gain.gate)
    weigh = sentence_weights(space, query.vector, cosines, gates, request.window)
    return statement_similarity(space, query.vector, cosines), weigh


def _take(operator: str, step: Step, call: OperatorInput) -> OperatorResult:
    """Return what a step finds; where it leads nowhere by itself, with steps to the text next to it, or to try."""
    found = step(call)
    if found.next or not call.space.turns:
        return found
    if not found.items:
        words = call.entity or call.topic or (call.query.text if call.query else "")
        way = ("tag_events", "entity" if call.entity else "query")
        name, argument = ("reflect", "query") if operator == "tag_events" else way
        return replace(
            found, next=(Suggestion(name, {argument: words}, "what has to do with these words"),) if words else ()
        )
    best = found.items[::-1] if found.oldest else found.items
    ids = tuple(item.id for item in best if item.inferred is None and item.kind != "point")[:_SUGGESTIONS]
    ways = (
        ("event_keywords", "what these are about, and where that leads"),
        ("event_context", "what was said around them"),
    )
    steps = (
        Suggestion(name, {"ids": ids, **call.query_argument}, why) for name, why in ways if ids and name != operator
    )
    return replace(found, next=tuple(steps))


def _ids(request: ExploreRequest, episode: Episode | None) -> tuple[str, ...]:
    """Return the named ids; a record's number is replaced by its id."""
    if episode is not None:
        return record_ids(request.ids, episode, "ids")
    for place, name in enumerate(request.ids):
        if record_number(name) is not None:
            problem = f"{name} is the number of a record, and no episode is given"
            raise InvalidInput(f"ids[{place}]", problem, "Give the episode of that reply too, or the record's id.")
    return request.ids


def _resolve_ids(space: Space, operator: str, ids: Sequence[str], episode: Episode | None) -> tuple[str, ...]:
    """Return ids in the form that an operator takes.

    For one that takes no points, points are replaced by their supporting sentences. A hypothesis is replaced by its
    sources too, if an episode has them.
    """
    shown = {item.id: item.sentences for item in episode.shown} if episode is not None else {}
    found: list[str] = []
    for place, name in enumerate(ids):
        point = space.hypergraph.resolve(name)
        if operator == _POINTS:
            if point is None:
                problem = f"{name[:60]!r} is no memory point of space {space.name!r}"
                remedy = "Give ids of memory points, which begin with h_; for other evidence take event_context."
                raise InvalidInput(f"ids[{place}]", problem, remedy)
            found.append(name)
        elif space.sentence(name) or space.facts.version(name) or space.segments.row(name) != NONE:
            found.append(name)
        elif sentences := shown.get(name) or (point.sentences if point is not None else ()):
            found += sentences
        else:
            problem = f"space {space.name!r} holds no evidence {name[:60]!r} with a text"
            raise InvalidInput(f"ids[{place}]", problem, _KNOWN_IDS)
    return tuple(dict.fromkeys(found))


def _has_argument(request: ExploreRequest, argument: str) -> bool:
    if argument == "since":
        return request.window.since > BEGINNING
    if argument == "until":
        return request.window.until < FOREVER
    return bool(getattr(request, argument))
