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


async def rank(query, words, **asked):
    recall = await recalled(await told(memory(), *TALK), query, **asked)
    return next(number for number, item in enumerate(recall.evidence, 1) if words in item.text), recall


async def test_a_wording_brings_its_sentence_to_the_front():
    plain, without = await rank("What was closed on that day?", "flat boots")
    better, recall = await rank(
        "What was closed on that day?", "flat boots", wordings=("I swapped the heels for boots.",)
    )
    assert better < plain
    assert recall.texts == without.texts + 1


async def test_a_wording_that_repeats_the_query_costs_nothing():
    _, without = await rank(QUESTION, "flat boots")
    _, recall = await rank(QUESTION, "flat boots", wordings=(QUESTION,))
    assert (recall.texts, [item.id for item in recall.evidence]) == (without.texts, [i.id for i in without.evidence])


async def test_a_role_that_nobody_has_is_said_with_the_speakers_that_there_are():
    one = await told(memory(), *TALK)
    nobody = await recalled(one, QUESTION, role="assistant")
    assert nobody.evidence == ()
    assert nobody.warnings == (
        "Nobody here has the role assistant; speakers are Ann, Bob. Leave role out, and name one in the query.",
    )
    assert (await recalled(await told(memory(), "user: I wear boots."), QUESTION, role="user")).warnings == ()
