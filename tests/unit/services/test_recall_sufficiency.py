"""What a recall says of itself: nobody judged it, which names no record has, and why it stopped."""

import pytest
from learning_memory import memory, recalled, told

from mcp_memory.domain.requests import NewFact

pytestmark = pytest.mark.anyio
TALK = ("Ann: I painted a red kayak at the lake.", "Bob: That sounds great, good for you!")


async def test_without_a_judge_nobody_says_whether_the_evidence_is_enough():
    one = await told(memory(), *TALK)
    for question in ("Where did Ann paint a red kayak?", "Where did Bob paint a red kayak?", "Who sold the barn?"):
        recall = await recalled(one, question)
        assert (recall.sufficiency, recall.sufficient, recall.sufficiency_by) == (None, None, "nobody")
    assert (await recalled(one, "Where did Ann paint a red kayak?")).stop == "covered"
    assert (await recalled(one, "Where did Bob paint a red kayak?")).stop != "covered"


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        ("Where did Ann paint the kayak?", ()),
        ("Where did Bob buy the barn?", ()),  # common words may be said in other words
        ("Where did Zoe paint the kayak?", ("Zoe",)),
        ("Did Ann take flight 482 to Keld?", ("Keld", "482")),
        ("What did Ann do in May 2019?", ()),  # a time is no number
        ("When was the trip to Málaga?", ()),
        ("When was the trip to Malaga?", ()),
        ("Does chloé like the kayak?", ()),
        ("Does Chloe like the kayak?", ()),
        ("Does Chloë like 3 kayaks?", ("3",)),
        ("Summarise it.", ()),  # every question begins with a capital letter
    ],
)
async def test_missing_are_exactly_the_names_and_numbers_that_no_record_has(question, missing):
    one = await told(memory(), *TALK, "Chloé: Ann was with me in Málaga.", facts=[NewFact("Ann", "likes", "Carbury")])
    assert (await recalled(one, question)).missing == missing
    assert (await recalled(one, "Who likes Carbury?")).missing == ()
