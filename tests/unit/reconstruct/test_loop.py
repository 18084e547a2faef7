"""The walk keeps its budgets whatever the operators do, and the same calls end in the same state (DESIGN I35)."""

from random import Random

import pytest
from unit.reconstruct.talk_space import new_space, say

from mcp_memory.domain.evidence import Suggestion
from mcp_memory.language.questions import understand
from mcp_memory.ports import OperatorResult
from mcp_memory.reconstruct.assess import Assessment
from mcp_memory.reconstruct.loop import Budget, walk
from mcp_memory.reconstruct.state import Action, Asked, State
from mcp_memory.view.evidence import sentence_evidence

pytestmark = pytest.mark.anyio
LINES = [f"Ann: This is line {number}." for number in range(40)]
NOT_ENOUGH, ENOUGH = Assessment(False, 0.2), Assessment(True, 0.9)


def begun(*looked: int) -> State:
    asked = Asked(say(new_space(), *LINES), understand("What is it?", ()))
    return State.begin(asked, [(row, 1.0) for row in looked], active=2)


def item(space, row, score=1.0):
    return sentence_evidence(space, space.sentences[row], score, ("any",))


def random_walk(seed):
    """Return what selects and what executes: calls and finds by chance, the same for the same call."""
    rng = Random(seed)

    def select(state, assessment, turns):
        return [Action(rng.choice("abc"), {"entity": str(rng.randrange(30))}, rng.random()) for _ in range(20)]

    async def execute(actions):
        return [found(action) for action in actions]

    def found(action):
        chance = Random(f"{seed}{action.key}")
        rows = chance.sample(range(len(LINES)), 3)
        onward = Suggestion("a", {"entity": "on"}, "why")
        return OperatorResult(tuple(item(space, row, chance.random()) for row in rows), (onward,))

    state = begun(0)
    space = state.asked.space
    return state, select, execute


async def walked(state, select, execute, assess=lambda _: NOT_ENOUGH, first=NOT_ENOUGH, **limits):
    ticks = iter(range(1000))
    return await walk(
        state,
        first,
        select=select,
        execute=execute,
        assess=assess,
        budget=Budget(**limits),
        clock=lambda: next(ticks),
    )


@pytest.mark.parametrize("seed", range(20))
async def test_a_walk_keeps_within_its_turns_and_calls_and_makes_no_call_twice(seed):
    state, select, execute = random_walk(seed)
    stop = await walked(state, select, execute)
    per_turn = [sum(call.turn == turn for call in state.trace) for turn in range(1, state.turns + 1)]
    assert stop in ("max_turns", "exhausted", "budget")
    assert state.turns <= 8
    assert max(per_turn) <= 10
    assert len(state.trace) <= 50
    assert len({(call.operator, *call.args.items()) for call in state.trace}) == len(state.trace) > 0


@pytest.mark.parametrize("seed", range(20))
async def test_all_that_is_held_was_there_at_first_or_was_found_by_a_call_of_the_trace(seed):
    state, select, execute = random_walk(seed)
    await walked(state, select, execute)
    for held in state.held.values():
        assert (held.call == -1) == (not held.via)
        if held.call >= 0:
            call = state.trace[held.call]
            (found,) = await execute([Action(call.operator, call.args)])
            assert call.operator == held.via
            assert state.asked.space.sentences[held.row].id in {one.id for one in found.items}


@pytest.mark.parametrize("seed", range(20))
async def test_the_calls_of_a_trace_made_again_end_in_the_same_state(seed):
    first, select, execute = random_walk(seed)
    thought = []

    def noted(state, assessment, turns):
        thought.append(select(state, assessment, turns))
        return thought[-1]

    await walked(first, noted, execute)
    again = begun(0)
    await walked(again, lambda *_: thought.pop(0), execute)
    assert again.trace == first.trace
    assert again.held == first.held


async def test_where_the_first_look_is_enough_nothing_is_called():
    state, select, execute = random_walk(0)
    assert await walked(state, select, execute, first=ENOUGH) == "sufficient"
    assert (state.turns, state.trace) == (0, [])


async def test_a_walk_ends_as_soon_as_what_it_holds_is_enough():
    state, select, execute = random_walk(1)
    stop = await walked(state, select, execute, assess=lambda state: ENOUGH if state.turns == 2 else NOT_ENOUGH)
    assert (stop, state.turns) == ("sufficient", 2)


async def test_a_walk_ends_after_two_turns_without_anything_new():
    state, select, _ = random_walk(2)

    async def nothing(actions):
        return [OperatorResult(()) for _ in actions]

    assert await walked(state, select, nothing) == "exhausted"
    assert state.turns == 2


async def test_a_walk_that_nobody_knows_a_call_for_is_exhausted_at_once():
    state, _, execute = random_walk(3)
    assert await walked(state, lambda *_: [], execute) == "exhausted"
    assert state.turns == 0


async def test_a_walk_begins_no_turn_after_its_deadline():
    state, select, execute = random_walk(4)
    assert await walked(state, select, execute, deadline_s=3) == "deadline"
    assert state.turns == 2


async def test_the_calls_are_shared_out_among_the_turns_that_are_left():
    state, select, execute = random_walk(5)
    await walked(state, select, execute, max_turns=4, calls=8)
    assert [call.turn for call in state.trace] == [1, 1, 2, 2, 3, 3, 4, 4]
    assert await walked(state, select, execute, max_turns=8, calls=8) == "budget"


async def test_what_is_found_from_something_surer_counts_as_surely_though_the_call_is_not_made_again():
    state = begun(0)
    weak, strong = Action("a", {"entity": "x"}, 0.2), Action("a", {"entity": "X"}, 0.9)
    state.consider([weak])
    state.take([(weak, OperatorResult((item(state.asked.space, 7),)))])
    assert state.held[7].strength == 0.2
    assert state.consider([strong]) == [strong]
    state.take([], [strong])
    assert (state.held[7].strength, len(state.trace)) == (0.9, 1)
    assert [held.row for held in state.active] == [7]


async def test_what_is_too_weak_is_let_go_and_the_trace_says_so():
    state = begun(0)
    state.take([(Action("a", {}, 0.5), OperatorResult((item(state.asked.space, 7, 0.01), item(state.asked.space, 8))))])
    assert set(state.held) == {0, 8}
    assert (state.trace[0].found, state.trace[0].kept) == (2, 1)
