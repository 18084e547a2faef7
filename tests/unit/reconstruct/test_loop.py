"""The loop keeps its budgets whatever the operators do, and the same calls end in the same state (DESIGN I35)."""

from random import Random

import pytest
from unit.reconstruct.talk_space import new_space, say

from mcp_memory.configurable import RecallLoopSettings
from mcp_memory.domain.evidence import Suggestion
from mcp_memory.language.questions import understand
from mcp_memory.ports import OperatorResult
from mcp_memory.reconstruct import loop
from mcp_memory.reconstruct.loop import LoopState, run_loop
from mcp_memory.view.evidence import sentence_evidence

LINES = [f"Ann: This is line {number}." for number in range(40)]


def begun(*candidates: int) -> LoopState:
    space = say(new_space(), *LINES)
    return LoopState.begin(space, understand("What is it?", ()), [(row, 1.0) for row in candidates], width=2)


def item(space, row, score=1.0):
    return sentence_evidence(space, space.sentences[row], score, ("any",))


def random_loop(seed):
    """Return a state, and random functions to select and execute calls that give the same result for the same call."""
    rng = Random(seed)

    def select(state):
        return [Suggestion(rng.choice("abc"), {"entity": str(rng.randrange(30))}, "", rng.random()) for _ in range(20)]

    def take(step):
        chance = Random(f"{seed}{step.key}")
        rows = chance.sample(range(len(LINES)), 3)
        onward = Suggestion("a", {"entity": "on"}, "why")
        return OperatorResult(tuple(item(space, row, chance.random()) for row in rows), (onward,))

    state = begun(0)
    space = state.space
    return state, select, take


def run(state, select, take, covered=lambda _: False, **limits):
    ticks = iter(range(1000))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(loop, "select_calls", lambda state, tags: select(state))
        return run_loop(state, take, covered, RecallLoopSettings(**limits), tags=True, clock=lambda: next(ticks))


@pytest.mark.parametrize("seed", range(20))
def test_the_loop_keeps_within_its_turns_and_calls_and_makes_no_call_twice(seed):
    state, select, take = random_loop(seed)
    stop = run(state, select, take)
    per_turn = [sum(call.turn == turn for call in state.trace) for turn in range(1, state.turns + 1)]
    assert stop in ("max_turns", "exhausted", "budget")
    assert state.turns <= 8
    assert max(per_turn) <= 10
    assert len(state.trace) <= 50
    assert len({(call.operator, *call.args.items()) for call in state.trace}) == len(state.trace) > 0


@pytest.mark.parametrize("seed", range(20))
def test_the_same_calls_end_in_the_same_state(seed):
    first, select, take = random_loop(seed)
    proposed = []

    def noted(state):
        proposed.append(select(state))
        return proposed[-1]

    run(first, noted, take)
    again = begun(0)
    run(again, lambda *_: proposed.pop(0), take)
    assert again.trace == first.trace
    assert again.found == first.found


def test_the_loop_ends_after_two_turns_without_anything_new():
    state, select, _ = random_loop(2)

    assert run(state, select, lambda _: OperatorResult(())) == "exhausted"
    assert state.turns == 2


def test_the_remaining_calls_are_divided_among_the_remaining_turns(monkeypatch):
    state, select, take = random_loop(5)
    monkeypatch.setattr(loop, "MOST_CALLS", 8)
    run(state, select, take, max_turns=4)
    assert [call.turn for call in state.trace] == [1, 1, 2, 2, 3, 3, 4, 4]
    assert run(state, select, take, max_turns=8) == "budget"


def test_a_result_counts_more_when_its_call_is_proposed_again_from_something_stronger():
    state = begun(0)
    weak, strong = Suggestion("a", {"entity": "x"}, "", 0.2), Suggestion("a", {"entity": "X"}, "", 0.9)
    state.propose([weak])
    state.add_turn([(weak, OperatorResult((item(state.space, 7),)))])
    assert state.found[7] == 0.2
    assert state.propose([strong]) == [strong]
    state.add_turn([], [strong])
    assert (state.found[7], len(state.trace)) == (0.9, 1)
    assert state.frontier == (7,)


def test_no_turn_begins_after_the_deadline_or_once_the_query_is_covered(monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(loop, "DEADLINE_S", 2.5)
        state, select, take = random_loop(5)
        assert run(state, select, take) == "deadline"
    assert state.turns == 2
    state, select, take = random_loop(5)
    assert run(state, select, take, covered=lambda state: state.turns == 3) == "covered"
    assert state.turns == 3
