"""What a judge was asked about is known for the goal of a space, as long as it is among the newest."""

from mcp_memory.services.points.edits import Considered


def test_what_was_considered_is_known_for_its_goal_and_space_alone():
    one = Considered()
    one.add("default", "Rufus", ["s_1", "s_2"])
    assert one.all("default", "RUFUS", ["s_2"])
    assert not one.all("default", "Rufus", ["s_1", "s_3"])
    assert not one.all("default", "Bella", ["s_1"])
    assert not one.all("other", "Rufus", ["s_1"])


def test_the_oldest_is_forgotten():
    one = Considered(most=2)
    one.add("default", "Rufus", ["s_1", "s_2", "s_3"])
    assert not one.all("default", "Rufus", ["s_1"])
    assert one.all("default", "Rufus", ["s_2", "s_3"])
