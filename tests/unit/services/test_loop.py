"""The loop keeps its budgets, ends in the same state after the same calls (DESIGN I35), and follows pointers."""

from itertools import pairwise
from random import Random

import pytest
from unit.reconstruct.talk_space import new_space, say, walked

from mcp_memory.configurable import RecallLoopSettings
from mcp_memory.domain.evidence import Suggestion
from mcp_memory.language.questions import understand
from mcp_memory.ports import OperatorResult
from mcp_memory.reconstruct.operators import tag_events
from mcp_memory.services.recall import loop
from mcp_memory.services.recall.loop import LoopState, find_pointers, run_loop, select_calls
from mcp_memory.view.evidence import sentence_evidence

LINES = [f"Ann: This is line {number}." for number in range(40)]


def begun(*candidates):
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


def pointers(*lines, also=()):
    """Return the pointers of the first line; ``also`` gives the strength of other lines."""
    space = say(new_space(), *lines)
    state = LoopState.begin(space, understand("Whom did Rufus meet?", ("Ann",), 0), [(0, 1.0), *also], width=1)
    return {name: round(strength, 2) for name, strength in find_pointers(state)}


def test_a_name_in_only_two_texts_leads_from_one_to_the_other():
    assert pointers("Ann: Rufus met Bella.", "Bob: Bella won.", "Dan: It rained.") == {"Bella": 1.0}


def test_a_name_in_three_texts_leads_half_as_strongly_and_one_in_four_nowhere():
    lines = ["Ann: Rufus met Bella.", "Bob: Bella won.", "Cid: I know Bella."]
    assert pointers(*lines) == {"Bella": 0.5}
    assert pointers(*lines, "Dan: So Bella swims.") == {}


def test_strength_is_divided_among_several_pointers_of_a_text():
    lines = ("Ann: Rufus met Bella near Old Mill.", "Bob: Bella won.", "Cid: I saw Old Mill.")
    assert pointers(*lines) == {"Bella": 0.71, "Old Mill": 0.71}
    assert pointers(*lines, "Dan: The Old Mill burnt.") == {"Bella": 0.82, "Old Mill": 0.41}


def test_a_name_that_leads_to_an_equally_strong_segment_is_no_pointer_and_takes_no_share():
    lines = ("Ann: Bella knows Cora.", "Bob: Bella won.", "Cid: I met Cora.")
    assert pointers(*lines, also=[(1, 0.4)]) == {"Bella": 0.71, "Cora": 0.71}
    assert pointers(*lines, also=[(1, 1.0)]) == {"Cora": 1.0}


@pytest.mark.parametrize("steps", [3, 6, 10])
def test_a_chain_of_texts_that_each_name_the_next_is_as_strong_at_its_end(steps):
    names = [f"Bel{'abcdefghijklm'[number]}or" for number in range(steps + 1)]
    lines = [f"Ann: {here} comes before {there}." for here, there in pairwise(names)]
    space = say(new_space(), *lines)
    state = LoopState.begin(space, understand(f"What ends with {names[0]}?", ("Ann",), 0), [(0, 1.0)], width=1)
    for _ in range(steps):
        calls = [Suggestion("tag_events", {"entity": name}, "", strength) for name, strength in find_pointers(state)]
        state.add_turn([(one, walked(space, tag_events, entity=one.args["entity"])) for one in calls])
    assert state.found == dict.fromkeys(range(steps), 1.0)
    assert len(state.trace) == steps - 1


TALK = ("Ann: Bella met Cora.", "Bob: Cora won.", "Cid: Tea.", "Dan: It rained.")


def called(question, uncovered=0.0, *, tags=True):
    space = say(new_space(), *TALK)
    candidates = [(row, 1.0 - row / 10) for row in range(len(space.segments))]
    state = LoopState.begin(space, understand(question, ("Ann",), 0), candidates, 1, uncovered)
    return [(one.operator, dict(one.args), one.strength) for one in select_calls(state, tags=tags)]


@pytest.mark.parametrize("question", ["When did Bella meet Cora?", "Whom did Bella meet in May 2020?"])
def test_a_question_for_a_time_or_with_a_date_has_the_best_segments_placed_in_time(question):
    assert called(question, 0.9) == [("event_time", {"ids": ("g_0", "g_1", "g_2")}, 1.0)]


def test_pointers_are_followed_where_nothing_covers_most_of_the_question():
    assert called("Whom did Bella meet?", 0.5) == [("tag_events", {"entity": "Cora"}, 1.0)]
    assert called("Whom did Bella meet?", 0.4) == []
    assert called("Whom did Bella meet?", 0.5, tags=False) == []
