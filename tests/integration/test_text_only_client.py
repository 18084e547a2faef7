"""A client that sees only the text of replies: the text is enough to continue with."""

import re

import pytest
from fakes import FakeLog
from integration.client_calls import connected

pytestmark = pytest.mark.anyio
TALK = [
    {"speaker": "Ann", "text": "My dog Rufus ran away at Dover pier.", "time": "2023-05-08"},
    {"speaker": "Ann", "text": "Bella found Rufus under a red boat.", "time": "2023-05-09"},
    {"speaker": "Ann", "text": "The kettle whistled all night.", "time": "2023-05-10"},
]


async def read(client, tool, **arguments):
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content[0].text
    return result.content[0].text


async def refused(client, tool, **arguments):
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    return result.content[0].text


async def test_exploring_continues_from_the_number_of_a_record():
    async with connected(FakeLog()) as client:
        await read(client, "memory_write", messages=TALK)
        text = await read(client, "memory_reconstruct", query="Who found Rufus?")
        number = int(re.search(r"^(\d+)\. .*Bella found Rufus", text, re.M)[1])
        episode = re.search(r"Episode (ep_\w+)", text)[1]
        around = await read(client, "memory_explore", operator="event_context", ids=[number], episode=episode)
        found = re.search(r"(s_\w+) \[.*My dog Rufus ran away", around)[1]
        assert "Bella found Rufus" in await read(client, "memory_explore", operator="event_context", ids=[found])
        refusal = await refused(client, "memory_explore", operator="event_context", ids=["1"])
        assert "ids[0]: 1 is the number of a record, and no episode is given" in refusal
        refusal = await refused(client, "memory_explore", operator="event_time", ids=["s_nope"])
        assert "ids[0]: space 'default' holds no evidence 's_nope'" in refusal


async def test_points_are_updated_merged_and_explored_by_the_ids_in_the_text():
    async with connected(FakeLog()) as client:
        await read(client, "memory_write", messages=TALK)
        insert = [
            {"entities": ["Rufus", "Bella"], "description": "Bella saved Rufus."},
            {"entities": ["Rufus", "Dover"], "description": "Rufus was lost in Dover."},
        ]
        made = await read(client, "memory_evolve", points={"insert": insert})
        first, second = re.findall(r"\((h_\w+)\)$", made, re.M)
        update = [{"id": first, "description": "Bella found Rufus for Ann."}]
        assert "1 change." in await read(client, "memory_evolve", points={"update": update})
        text = await read(client, "memory_reconstruct", query="Who found Rufus?")
        assert f"Memory point {first}: Bella found Rufus for Ann." in text
        assert second in await read(client, "memory_explore", operator="local_points", ids=[first])


async def test_the_reply_to_a_correction_states_the_validity_of_each_value():
    async with connected(FakeLog()) as client:
        facts = [{"head": "Ines", "relation": "lives_in", "tail": "Lisbon", "valid_from": "2020-01-01"}]
        await read(client, "memory_write", facts=facts)
        facts = [{"head": "Ines", "relation": "lives_in", "tail": "Porto", "valid_from": "2022-03-01"}]
        text = await read(client, "memory_write", facts=facts)
        assert "- closed: Ines lives in Lisbon (from 2020-01-01 to 2022-03-01)" in text


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("memory_reconstruct", {"query": "Who found Rufus?"}),
        ("memory_reconstruct", {}),
        ("memory_answer", {"question": "Who found Rufus?"}),
        ("memory_explore", {"operator": "timeline"}),
    ],
)
async def test_the_reply_says_that_nothing_was_written_to_a_space(tool, arguments):
    async with connected(FakeLog()) as client:
        await read(client, "memory_write", messages=TALK, space="work")
        text = await read(client, tool, space="wrok", **arguments)
        assert "Warning: There is no space 'wrok' yet; known: work." in text
        assert "There is no space" not in await read(client, tool, space="work", **arguments)
