"""Other wordings of a query, which the caller's model brings, find what its own words do not."""

import pytest
from learning_memory import memory, recalled, told

pytestmark = pytest.mark.anyio
TALK = (
    "Ann: My knees hurt after the staircase at work.",
    "Bob: The bakery closes at noon.",
    "Ann: I swapped the heels for flat boots.",
)
QUESTION = "Which shoes does Ann wear these days?"


async def test_a_role_that_nobody_has_is_left_out_and_said_with_the_speakers_that_there_are():
    one = await told(memory(), *TALK)
    with_role = await recalled(one, QUESTION, role="assistant", wordings=("flat boots",))
    without = await recalled(one, QUESTION, wordings=("flat boots",))
    assert [item.id for item in with_role.evidence] == [item.id for item in without.evidence] != []
    assert with_role.warnings == (
        "Nobody here has the role assistant; speakers are Ann, Bob. It was left out: name a speaker in the query.",
    )
    newest = await recalled(one, "", role="assistant")
    assert (len(newest.evidence), newest.warnings) == (len(TALK), with_role.warnings)
    assert (await recalled(await told(memory(), "user: I wear boots."), QUESTION, role="user")).warnings == ()


async def test_of_a_query_longer_than_anybody_types_the_beginning_is_searched_and_the_reply_says_so() -> None:
    one = await told(memory())
    short = await recalled(one, "What pet did Ann adopt?")
    long = await recalled(one, "What pet did Ann adopt?" + " <b>" * 4_000)
    assert long.evidence[0].id == short.evidence[0].id
    assert "Of the query's 16,023 characters the first 2,000 were searched for." in long.warnings
    assert not any("characters" in warning for warning in short.warnings)
