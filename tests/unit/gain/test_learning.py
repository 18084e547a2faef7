"""What one label does to a belief: each channel by itself, and a silent channel is unchanged."""

from dataclasses import replace

import numpy as np
import pytest
from sentence_space import unit

from mcp_memory.domain.episodes import Belief
from mcp_memory.gain.kalman import Teacher
from mcp_memory.gain.settings import GainSettings
from mcp_memory.ports import LearningExample

TAUGHT = LearningExample("s_1", "x", unit(1), unit(2))
TIMED = replace(TAUGHT, time=unit(3), query_time=unit(4))


def test_the_first_label_starts_from_the_sentence_vector() -> None:
    belief = Teacher()(TAUGHT, None, 1, "anthropic")
    share = 1 / 1.5
    before = float(TAUGHT.query @ TAUGHT.vector)
    assert (belief.sentence_id, belief.space) == ("s_1", "x")
    assert float(belief.task @ TAUGHT.query) == pytest.approx((1 - share) * before + share, abs=1e-6)
    assert belief.task_doubt == pytest.approx(1 - share + 0.001)
    assert (belief.supported, belief.unsupported) == (1, 0)


def test_learning_without_a_belief_equals_learning_from_the_initial_one() -> None:
    first = Belief("s_1", "x", TAUGHT.vector)
    for target in (1, 0, -1):
        made, given = Teacher()(TAUGHT, None, target, "caller"), Teacher()(TAUGHT, first, target, "caller")
        assert (made.task == given.task).all()
        assert made.task_doubt == given.task_doubt


@pytest.mark.parametrize("silent", [replace(TIMED, time=None), replace(TIMED, query_time=None)])
def test_a_question_or_sentence_without_a_time_leaves_the_time_memory_alone(silent: LearningExample) -> None:
    before = Teacher()(TIMED, None, 1, "caller")
    after = Teacher()(silent, before, 1, "caller")
    assert after.time is before.time
    assert after.time_doubt == before.time_doubt < 1
    assert after.task_doubt < before.task_doubt
    assert Teacher()(silent, None, 1, "caller").time is None


def test_times_are_learnt_by_themselves() -> None:
    belief = Teacher()(TIMED, None, 1, "caller")
    plain = Teacher()(TAUGHT, None, 1, "caller")
    assert (belief.task == plain.task).all()
    assert belief.time is not None
    assert TIMED.time is not None
    assert TIMED.query_time is not None
    assert belief.time @ TIMED.query_time > TIMED.time @ TIMED.query_time
    twice = Teacher()(TIMED, belief, 1, "caller")
    assert twice.time is not None
    assert twice.time @ TIMED.query_time > belief.time @ TIMED.query_time


def test_each_memory_can_be_switched_off() -> None:
    only_time = Teacher(GainSettings(task_memory=False))(TIMED, None, 1, "caller")
    assert (only_time.task == TIMED.vector).all()
    assert only_time.task_doubt == 1 > only_time.time_doubt
    only_task = Teacher(GainSettings(time_memory=False))(TIMED, None, 1, "caller")
    assert only_task.time is None
    assert only_task.time_doubt == 1 > only_task.task_doubt


def test_labels_are_counted_and_weighted_by_their_source() -> None:
    teacher = Teacher(GainSettings(embedded=4.0))
    caller, rules = teacher(TAUGHT, None, 1, "caller"), teacher(TAUGHT, None, 1, "embedded")
    assert caller.task @ TAUGHT.query > rules.task @ TAUGHT.query
    assert rules.task_doubt == pytest.approx(2 / 3 + 0.001)
    after = teacher(TAUGHT, teacher(TAUGHT, caller, 0, "caller"), -1, "caller")
    assert (after.supported, after.unsupported) == (1, 2)


def test_the_component_orthogonal_to_the_question_keeps_its_direction() -> None:
    belief = Teacher()(TAUGHT, None, 1, "caller")
    sides = [vector - (vector @ TAUGHT.query) * TAUGHT.query for vector in (TAUGHT.vector, belief.task)]
    before, after = (side / np.linalg.norm(side) for side in sides)
    assert after == pytest.approx(before, abs=1e-5)
