"""A caller's facts beside messages: when they were said, and what a denial that ends nothing is told."""

import pytest
from learning_memory import memory

from mcp_memory.domain.query import Query
from mcp_memory.domain.requests import NewFact, NewItem, WriteRequest
from mcp_memory.language import iso
from mcp_memory.server.tools.reconstruct import recall_reply
from mcp_memory.server.tools.write import write_reply

pytestmark = pytest.mark.anyio
MAY, JUNE = (iso.parse(f"2023-0{month}-08")[0] for month in (5, 6))


async def written(one, facts, *items):
    request = WriteRequest("default", "talk", "message" if items else "statement", items, tuple(facts))
    return request, await one.write(request)


async def test_a_fact_without_a_source_was_said_with_the_last_message_of_its_call():
    one = memory()
    items = (NewItem("Hello.", speaker="Ann", said_at=MAY), NewItem("I moved.", speaker="Ann", said_at=JUNE))
    _, result = await written(one, [NewFact("Ann", "lives_in", "Keld")], *items)
    assert [iso.show(fact.valid_from)[:10] for fact in result.facts] == ["2023-06-08"]
    _, alone = await written(one, [NewFact("Bob", "lives_in", "Keld")])
    assert [iso.show(fact.valid_from)[:10] for fact in alone.facts] == ["2024-01-01"]  # the day of writing


async def test_a_denial_that_ends_nothing_is_named_also_beside_facts_that_are_new():
    one = memory()
    denied = NewFact("Ann", "lives_in", "Oslo", negated=True)
    request, result = await written(one, [NewFact("Ann", "has_pet", "a cat"), denied])
    assert "ends by what was negated of: Ann lives_in Oslo." in write_reply(request, result).text
    one = memory()
    await written(one, [NewFact("Ann", "lives_in", "Oslo", valid_from=MAY)])
    request, result = await written(one, [NewFact("Ann", "has_pet", "a dog"), denied])
    assert "negated of" not in write_reply(request, result).text


async def test_a_message_whose_fact_has_ended_is_marked_where_it_stands():
    one = memory()
    said = NewItem("Our stack is Node and Postgres 15.", ref="m1", speaker="Ann", said_at=MAY)
    await written(one, [NewFact("Kite", "uses", "Postgres 15", source="m1")], said)
    question = Query("What is our stack?", "default", 12)
    assert not (await one.reconstruct(question)).evidence[0].outdated
    later = NewItem("Postgres is upgraded.", ref="m2", speaker="Ann", said_at=JUNE)
    await written(one, [NewFact("Kite", "uses", "Postgres 15", source="m2", negated=True)], later)
    found = await one.reconstruct(question)
    (old,) = [item for item in found.evidence if "stack" in item.text]
    assert old.outdated == "Kite uses Postgres 15 until Thu 8 Jun 2023"
    assert "(perhaps changed later: Kite uses Postgres 15 until Thu 8 Jun 2023)" in recall_reply(found, 2000).text
    past = await one.reconstruct(Query("What was our stack?", "default", 12))
    assert not any(item.outdated for item in past.evidence)
