"""Explore: one step of navigation, for a client whose own model decides where to go.

The steps are operators of the rooms (``ports.Operator``), laid in one table by ``wiring``. Each reply names further
steps, so that any client can run the papers' active loop itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from anyio import to_thread

from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.requests import ExploreRequest
from mcp_memory.domain.times import BEGINNING, FOREVER, Millis
from mcp_memory.errors import InvalidInput
from mcp_memory.gain.gates import opened, weighing
from mcp_memory.gain.learning import Learning
from mcp_memory.gain.propagation import Rows
from mcp_memory.ports import Embedder, Found, Operator, Step, Store
from mcp_memory.services.following import cosine_of
from mcp_memory.services.nearness import cosines
from mcp_memory.services.reconstruct import ask
from mcp_memory.vectors import Scores

_ARGUMENTS = ("entity", "relation", "tag", "topic", "ids", "query", "since", "until")


async def explore(
    store: Store,
    embedder: Embedder,
    operators: Mapping[str, Operator],
    request: ExploreRequest,
    *,
    now: Millis,
    learning: Learning | None = None,
) -> Found:
    """Return what one step finds; of a space or an entity that nobody knows it finds nothing.

    Args:
        store: where.
        embedder: for the query.
        operators: by name.
        request: which step, and with what.
        now: the moment of asking, against which the query's words for times are read.
        learning: how what was learnt counts; None where it does not.

    Raises:
        InvalidInput: there is no such operator, it lacks an argument that it cannot do without, or was given one that
            it does not use.
    """
    operator = operators.get(request.operator)
    if operator is None:
        known = ", ".join(operators)
        raise InvalidInput("operator", f"there is no operator {request.operator[:60]!r}", f"There are: {known}.")
    for needed in operator.needs:
        either = needed.split(" or ")
        if not any(_given(request, argument) for argument in either):
            remedy = "it" if len(either) == 1 else "both; give one of them"
            raise InvalidInput(needed, "is missing", f"The operator {operator.name} cannot do without {remedy}.")
    for argument in _ARGUMENTS:
        if argument not in operator.uses and _given(request, argument):
            remedy = f"Leave it out, or take another operator; this one uses {', '.join(operator.uses)} and limit."
            raise InvalidInput(argument, f"the operator {operator.name} does not use it", remedy)
    question = None
    likeness: Callable[[Sequence[Assertion]], list[float]] = _unlike
    weigh: Callable[[Rows], Scores] | None = None
    if request.query is not None:
        asked = await ask(store, embedder, request.space, request.query, now)
        question, vectors = asked.question, asked.vectors
    async with store.reading() as view:
        space = view.space(request.space)
        if question is not None:
            near = await cosines(store, space, vectors)
            likeness = cosine_of(space, vectors, near)
            gates = {} if learning is None else opened(space, space.beliefs, vectors, asked.time, learning)
            weigh = weighing(space, vectors, near, gates, request.window)
        step = Step(
            space,
            likeness,
            question,
            entity=request.entity,
            relation=request.relation,
            tag=request.tag,
            topic=request.topic,
            ids=request.ids,
            window=request.window,
            limit=request.limit,
            weigh=weigh,
        )
        return await to_thread.run_sync(operator, step)  # the first that walks cues reads every sentence


def _given(request: ExploreRequest, argument: str) -> bool:
    if argument == "since":
        return request.window.since > BEGINNING
    if argument == "until":
        return request.window.until < FOREVER
    return bool(getattr(request, argument))


def _unlike(assertions: Sequence[Assertion]) -> list[float]:
    """Return the likeness of assertions to a query that was not given."""
    return [0.0] * len(assertions)
