"""Evidence comes with what it replies to."""

import pytest
from learning_memory import memory, recalled, told

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
