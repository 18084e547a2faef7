"""A space stores the last belief about each sentence, also in arrays."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from batches import belief, known, lesson, taught

from mcp_memory.domain.batch import Batch
from mcp_memory.view.beliefs import Beliefs
from mcp_memory.view.view import View


def test_nothing_learnt_is_an_empty_space_of_beliefs() -> None:
    """A sentence without a label has no belief (DESIGN I20)."""
    beliefs = Beliefs()
    assert (len(beliefs), beliefs.sentence_ids, beliefs.lessons()) == (0, [], [])
    assert beliefs.get("s_1") is None
    assert beliefs.lesson("ep_a", "caller") is None
    assert beliefs.task.shape == beliefs.time.shape == (0, 0)
    assert beliefs.task_doubts.shape == beliefs.time_doubts.shape == (0,)


def test_a_later_belief_replaces_an_earlier_one_in_every_array() -> None:
    """The others keep their rows."""
    beliefs = Beliefs()
    beliefs.add([belief("s_1", 1), belief("s_2", 1)])
    assert np.array_equal(beliefs.task[0], belief("s_1", 1).task)
    assert np.array_equal(beliefs.time[0], belief("s_1", 1).time)
    beliefs.add([belief("s_3", 1), belief("s_1", 2)])
    assert beliefs.sentence_ids == ["s_1", "s_2", "s_3"]
    assert np.array_equal(beliefs.task, [belief(name, n).task for name, n in (("s_1", 2), ("s_2", 1), ("s_3", 1))])
    assert not beliefs.time[0].any()
    assert beliefs.task_doubts.tolist() == [0.25, 0.5, 0.5]


def test_the_first_lesson_of_a_judge_about_an_episode_stays() -> None:
    """Each judge has one."""
    beliefs = Beliefs()
    first, second, other = lesson("a", {"s_1": 1}), lesson("a", {"s_1": 0}), lesson("a", source="embedded")
    beliefs.add([], [first, second])
    beliefs.add([], [other, lesson("b")])
    assert beliefs.lessons("ep_a") == [first, other]
    assert beliefs.lesson("ep_a", "caller") is first
    elsewhere = replace(lesson("c"), query="What else?")
    beliefs.add([], [elsewhere])
    assert beliefs.lessons_for("What else?") == [elsewhere]
    assert not beliefs.lessons_for("What?")


def test_a_returned_belief_stays_the_same_when_its_row_is_overwritten() -> None:
    """Learning compares it with the belief afterwards; and no reader can write to the arrays."""
    beliefs = Beliefs()
    beliefs.add([belief("s_1", 1)])
    before = beliefs.get("s_1")
    beliefs.add([belief("s_1", 2)])
    assert before is not None
    assert known(before) == known(belief("s_1", 1))
    for array in (beliefs.task, beliefs.time):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


@pytest.mark.parametrize("seed", range(8))
def test_the_arrays_match_the_beliefs_in_any_order_of_arrival(seed: int) -> None:
    """One by one or several at once, new and changed, beyond every intermediate size of the arrays."""
    dice = random.Random(seed)
    beliefs, last = Beliefs(), {}
    while len(last) < 70:
        some = [belief(f"s_{dice.randrange(80)}", dice.randrange(1, 6)) for _ in range(dice.randrange(1, 9))]
        last |= {one.sentence_id: one for one in some}
        beliefs.add(some)
    assert beliefs.sentence_ids == list(last)
    assert [known(beliefs.get(name) or belief("")) for name in last] == [known(one) for one in last.values()]
    assert np.array_equal(beliefs.task, [one.task for one in last.values()])
    assert np.array_equal(beliefs.time, [np.zeros(8) if one.time is None else one.time for one in last.values()])
    assert beliefs.task_doubts.tolist() == [one.task_doubt for one in last.values()]
    assert beliefs.time_doubts.tolist() == [one.time_doubt for one in last.values()]


def test_an_episode_is_read_from_the_first_lesson_that_holds_it() -> None:
    """A lesson with a damaged trace holds none; if no lesson holds it, the reason is returned."""
    beliefs = Beliefs()
    beliefs.add([], [replace(lesson("a"), trace=b"{")])
    assert beliefs.episode("ep_a") == "its trace cannot be read"
    beliefs.add([], [lesson("a", source="embedded")])
    assert beliefs.episode("ep_a") == lesson("a").episode()
    assert beliefs.episode("ep_b") is None


def test_a_view_gives_each_space_its_own_lessons() -> None:
    """A lesson alone creates a space, and an unknown space has none."""
    view = View()
    assert not view.has_lesson(lesson("a"))
    both = Batch(
        lessons=(lesson("a"), lesson("a", space="other")), beliefs=(belief("s_1"), belief("s_2", space="other"))
    )
    view.add(both, 1)
    view.add(taught("b", sentence="s_3"), 2)
    assert view.space("default").beliefs.sentence_ids == ["s_1", "s_3"]
    assert view.space("other").beliefs.sentence_ids == ["s_2"]
    assert view.has_lesson(lesson("b"))
    assert not view.has_lesson(lesson("b", space="other"))
