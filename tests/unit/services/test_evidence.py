"""Evidence comes with what it replies to, and what a judge has seen of it is remembered for the goal of a space."""

import pytest
from learning_memory import memory, recalled, told

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


pytestmark = pytest.mark.anyio
TALK = (
    "Bob: I saw your new telescope. Where did you get it?",
    "Ann: It came from a shop in Kelmarsh.",
    "Bob: My canary sings at night.",
)


async def before(query, **asked):
    recall = await recalled(await told(memory(), *TALK), query, **asked)
    return [(item.text, item.before.quote if item.before else None) for item in recall.evidence]


async def test_a_short_reply_comes_with_the_question_before_it():
    assert await before("Kelmarsh shop", limit=1) == [
        ("It came from a shop in Kelmarsh.", "Where did you get it?"),
    ]


async def test_what_is_shown_as_a_record_is_not_repeated():
    assert {quote for _, quote in await before("Which shop in Kelmarsh sold the telescope?", limit=3)} == {None}
