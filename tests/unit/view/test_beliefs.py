"""A space stores the last belief about each sentence, also in arrays."""

import random
from dataclasses import replace

import numpy as np
import pytest
from batches import belief, lesson

from mcp_memory.view.beliefs import Beliefs


@pytest.mark.parametrize("seed", range(4))
def test_the_last_belief_about_a_sentence_counts_also_in_the_arrays(seed):
    """One by one or several at once; the others keep their rows, and an unlearnt sentence has none (DESIGN I20)."""
    dice = random.Random(seed)
    beliefs, last = Beliefs(), {}
    assert beliefs.get("s_1") is None
    while len(last) < 20:
        some = [belief(f"s_{dice.randrange(30)}", dice.randrange(1, 6)) for _ in range(dice.randrange(1, 9))]
        last |= {one.sentence_id: one for one in some}
        beliefs.add(some)
        assert np.array_equal(beliefs.task, [one.task for one in last.values()])
    assert beliefs.sentence_ids == list(last)
    assert [beliefs.get(name) for name in last] == list(last.values())
    assert np.array_equal(beliefs.time, [np.zeros(8) if one.time is None else one.time for one in last.values()])
    assert beliefs.task_doubts.tolist() == [one.task_doubt for one in last.values()]
    assert beliefs.time_doubts.tolist() == [one.time_doubt for one in last.values()]


def test_the_first_lesson_of_a_judge_about_an_episode_stays():
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
