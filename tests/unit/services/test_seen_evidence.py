"""Evidence that a judge has seen is remembered for the goal of a space, the newest only."""

from mcp_memory.services.points.edits import SeenEvidence


def test_seen_evidence_is_known_for_its_goal_and_space_only():
    one = SeenEvidence()
    one.add("default", "Rufus", ["s_1", "s_2"])
    assert one.all("default", "RUFUS", ["s_2"])
    assert not one.all("default", "Rufus", ["s_1", "s_3"])
    assert not one.all("default", "Bella", ["s_1"])
    assert not one.all("other", "Rufus", ["s_1"])


def test_the_oldest_is_dropped():
    one = SeenEvidence(most=2)
    one.add("default", "Rufus", ["s_1", "s_2", "s_3"])
    assert not one.all("default", "Rufus", ["s_1"])
    assert one.all("default", "Rufus", ["s_2", "s_3"])
