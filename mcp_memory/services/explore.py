"""Explore: one step of navigation, for a client whose own model decides where to go.

The steps are operators of the rooms (``ports.Operator``), listed in ``mcp_memory/operators.py``. Each reply names
further steps, to be taken as they are given, so that any client can run the papers' active loop itself. What a step
found can be named in what the caller says of a recall (``feedback.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from anyio import to_thread

from mcp_memory.domain.episodes import Episode
from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.requests import ExploreRequest
from mcp_memory.domain.times import BEGINNING, FOREVER, Millis
from mcp_memory.errors import InvalidInput
from mcp_memory.gain.gates import sentence_gates, sentence_weights
from mcp_memory.gain.propagation import Rows
from mcp_memory.gain.settings import GainSettings
from mcp_memory.hypergraph.operators import LocalPoints
from mcp_memory.ports import Embedder, Operator, OperatorInput, OperatorResult, Store
from mcp_memory.services.fallback_suggestions import beyond, elsewhere
from mcp_memory.services.learn.episodes import Episodes, find_episode, record_ids, record_number
from mcp_memory.services.recall.facts import cosine_of
from mcp_memory.services.recall.pipeline import ask
from mcp_memory.services.recall.similarity import cosines
from mcp_memory.services.recall.spaces import unknown, within
from mcp_memory.vectors import Scores
from mcp_memory.view.space import NONE, Space

_ARGUMENTS = ("entity", "relation", "tag", "topic", "ids", "query", "since", "until")


async def explore(
    store: Store,
    embedder: Embedder,
    operators: Mapping[str, Operator],
    request: ExploreRequest,
    *,
    now: Millis,
    learning: GainSettings | None = None,
    episodes: Episodes | None = None,
) -> OperatorResult:
    """Return what one step finds, or what to try where it finds nothing; of an unknown space it says that.

    Args:
        store: where.
        embedder: for the query.
        operators: by name.
        request: which step, and with what.
        now: the moment of asking, against which the query's words for times are read.
        learning: how what was learnt counts; None where it does not.
        episodes: of this process, whose records may be named by number; they keep what the step finds.

    Raises:
        InvalidInput: there is no such operator, it lacks an argument that it cannot do without, was given one that it
            does not use, or evidence or an episode that nobody knows.
    """
    operator = operators.get(request.operator)
    if operator is None:
        known = ", ".join(operators)
        raise InvalidInput("operator", f"there is no operator {request.operator[:60]!r}", f"There are: {known}.")
    for needed in operator.needs:
        either = needed.split(" or ")
        if not any(_given(request, argument) for argument in either):
            problem, without = ("is missing", "it") if len(either) == 1 else ("neither is given", "one of them")
            raise InvalidInput(needed, problem, f"The operator {operator.name} cannot do without {without}.")
    for argument in _ARGUMENTS:
        if argument not in operator.uses and _given(request, argument):
            remedy = f"Leave it out, or take another operator; this one uses {', '.join(operator.uses)} and limit."
            raise InvalidInput(argument, f"the operator {operator.name} does not use it", remedy)
    if request.episode is not None and "ids" not in operator.uses:
        remedy = f"Leave it out; this one takes no records, it uses {', '.join(operator.uses)} and limit."
        raise InvalidInput("episode", f"the operator {operator.name} does not use it", remedy)
    episode = None
    if request.episode is not None:
        episode = await find_episode(store, episodes or Episodes(), request.space, request.episode)
    ids = _ids(request, episode)
    question = None
    likeness: Callable[[Sequence[Assertion]], list[float]] = _unlike
    weigh: Callable[[Rows], Scores] | None = None
    if request.query is not None:
        asked = await ask(store, embedder, request.space, request.query, now)
        question, vectors = asked.question, asked.vectors
    async with store.reading() as view:
        space, warnings = view.space(request.space), unknown(view, request.space)
        ids = ids if warnings else _held(space, operator, ids, episode)
        if question is not None:
            near = await cosines(store, space, vectors)
            likeness = cosine_of(space, vectors, near)
            gates = {} if learning is None else sentence_gates(space, space.beliefs, vectors, asked.time, learning)
            weigh = sentence_weights(space, vectors, near, gates, request.window)
        step = OperatorInput(
            space,
            likeness,
            question,
            entity=request.entity,
            relation=request.relation,
            tag=request.tag,
            topic=request.topic,
            ids=ids,
            window=request.window,
            limit=request.limit,
            weigh=weigh,
        )
        # In a thread: the first that walks cues reads every sentence.
        found = await to_thread.run_sync(_taken, operator, step)
        if episodes is not None:
            episodes.keep_explored(space, found.items)
        return replace(found, next=within(space, found.next), warnings=warnings)


def _taken(operator: Operator, step: OperatorInput) -> OperatorResult:
    found = operator(step)
    if found.next:
        return found
    return replace(found, next=beyond(step, operator, found.items) if found.items else elsewhere(step, operator))


def _ids(request: ExploreRequest, episode: Episode | None) -> tuple[str, ...]:
    """Return the ids that are named, those of records by their number too."""
    if episode is not None:
        return record_ids(request.ids, episode, "ids")
    for place, name in enumerate(request.ids):
        if record_number(name) is not None:
            problem = f"{name} is the number of a record, and no episode is given"
            raise InvalidInput(f"ids[{place}]", problem, "Give the episode of that reply too, or the record's id.")
    return request.ids


def _held(space: Space, operator: Operator, ids: Sequence[str], episode: Episode | None) -> tuple[str, ...]:
    """Return ids as an operator understands them: of what takes no points, the sentences that points rest on.

    A hypothesis stands for what it rests on as well, where an episode knows that.
    """
    shown = {item.id: item.sentences for item in episode.shown} if episode is not None else {}
    found: list[str] = []
    for place, name in enumerate(ids):
        point = space.hypergraph.resolve(name)
        if operator.name == LocalPoints.name:
            if point is None:
                problem = f"{name[:60]!r} is no memory point of space {space.name!r}"
                remedy = "Give ids of memory points, which begin with h_; for other evidence take event_context."
                raise InvalidInput(f"ids[{place}]", problem, remedy)
            found.append(name)
        elif _is_evidence(space, name):
            found.append(name)
        elif sentences := shown.get(name) or (point.sentences if point is not None else ()):
            found += sentences
        else:
            raise InvalidInput(f"ids[{place}]", *_nothing(space, name, point is not None))
    return tuple(dict.fromkeys(found))


def _is_evidence(space: Space, name: str) -> bool:
    known = space.sentence(name) is not None or space.facts.version(name) is not None
    return known or space.segment_row(name) != NONE


def _nothing(space: Space, name: str, is_point: bool) -> tuple[str, str]:
    """Return why an id stands for no sentence, and what would."""
    if is_point:
        return f"the memory point {name} rests on no sentence, a caller wrote it", "Look around it with local_points."
    if name.startswith("i_"):
        return (
            f"{name[:60]!r} is a hypothesis, stated by nobody",
            "Give the facts that it follows from, or its episode.",
        )
    remedy = "Give ids as replies name them (s_, g_, f_, h_), or numbers of records with the episode of their reply."
    return f"space {space.name!r} holds no evidence {name[:60]!r}", remedy


def _given(request: ExploreRequest, argument: str) -> bool:
    if argument == "since":
        return request.window.since > BEGINNING
    if argument == "until":
        return request.window.until < FOREVER
    return bool(getattr(request, argument))


def _unlike(assertions: Sequence[Assertion]) -> list[float]:
    """Return the likeness of assertions to a query that was not given."""
    return [0.0] * len(assertions)
