"""What one label does to a belief: each channel by itself, and a silent channel is unchanged."""

import pytest
from sentence_space import unit

from mcp_memory.domain.episodes import Belief
from mcp_memory.gain.kalman import Teacher
from mcp_memory.gain.settings import GainSettings

FIRST = Belief("s_1", "x", unit(1))
"""The initial belief: the sentence's own vector, with full doubt."""
QUERY = unit(2)
STATED, QUERY_TIME = TIMES = unit(3), unit(4)


def test_a_question_or_sentence_without_a_time_leaves_the_time_memory_alone() -> None:
    before = Teacher()(FIRST, 1, "caller", QUERY, TIMES)
    after = Teacher()(before, 1, "caller", QUERY)
    assert after.time is before.time
    assert after.time_doubt == before.time_doubt < 1
    assert after.task_doubt < before.task_doubt
    assert Teacher()(FIRST, 1, "caller", QUERY).time is None


def test_labels_are_counted_and_weighted_by_their_source() -> None:
    teacher = Teacher(GainSettings(embedded=4.0))
    caller, rules = teacher(FIRST, 1, "caller", QUERY), teacher(FIRST, 1, "embedded", QUERY)
    assert caller.task @ QUERY > rules.task @ QUERY
    assert rules.task_doubt == pytest.approx(2 / 3 + 0.001)
    after = teacher(teacher(caller, 0, "caller", QUERY), -1, "caller", QUERY)
    assert (after.supported, after.unsupported) == (1, 2)
