"""The policy: which calls the loop makes next, without a model."""

import pytest
from unit.reconstruct.talk_space import new_space, say

from mcp_memory.language.questions import understand
from mcp_memory.reconstruct.loop import LoopState, select_calls

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
