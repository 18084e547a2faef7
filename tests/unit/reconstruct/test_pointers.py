"""What the loop calls next: pointers, which lead from one text to others, and the policy, without a model."""

from itertools import pairwise

import pytest
from unit.reconstruct.talk_space import new_space, say, walked

from mcp_memory.domain.evidence import Suggestion
from mcp_memory.language.questions import understand
from mcp_memory.reconstruct.loop import LoopState, find_pointers, select_calls
from mcp_memory.reconstruct.operators import tag_events


def found(*lines, also=()):
    """Return the pointers of the first line; ``also`` gives the strength of other lines."""
    space = say(new_space(), *lines)
    state = LoopState.begin(space, understand("Whom did Rufus meet?", ("Ann",), 0), [(0, 1.0), *also], width=1)
    return {name: round(strength, 2) for name, strength in find_pointers(state)}


def test_a_name_in_only_two_texts_leads_from_one_to_the_other():
    assert found("Ann: Rufus met Bella.", "Bob: Bella won.", "Dan: It rained.") == {"Bella": 1.0}


def test_a_name_in_three_texts_leads_half_as_strongly_and_one_in_four_nowhere():
    lines = ["Ann: Rufus met Bella.", "Bob: Bella won.", "Cid: I know Bella."]
    assert found(*lines) == {"Bella": 0.5}
    assert found(*lines, "Dan: So Bella swims.") == {}


def test_strength_is_divided_among_several_pointers_of_a_text():
    lines = ("Ann: Rufus met Bella near Old Mill.", "Bob: Bella won.", "Cid: I saw Old Mill.")
    assert found(*lines) == {"Bella": 0.71, "Old Mill": 0.71}
    assert found(*lines, "Dan: The Old Mill burnt.") == {"Bella": 0.82, "Old Mill": 0.41}


def test_a_name_that_leads_to_an_equally_strong_segment_is_no_pointer_and_takes_no_share():
    lines = ("Ann: Bella knows Cora.", "Bob: Bella won.", "Cid: I met Cora.")
    assert found(*lines, also=[(1, 0.4)]) == {"Bella": 0.71, "Cora": 0.71}
    assert found(*lines, also=[(1, 1.0)]) == {"Cora": 1.0}


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


LINES = ("Ann: Bella met Cora.", "Bob: Cora won.", "Cid: Tea.", "Dan: It rained.")


def called(question, uncovered=0.0, *, tags=True):
    space = say(new_space(), *LINES)
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
