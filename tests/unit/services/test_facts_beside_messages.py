"""A caller's facts beside messages: when they were said, and what a denial that ends nothing is told."""

from learning_memory import memory

from mcp_memory.domain.query import Query
from mcp_memory.domain.requests import ExploreRequest, NewFact, NewItem, WriteRequest
from mcp_memory.domain.times import FOREVER
from mcp_memory.language import iso
from mcp_memory.server.tools.write import write_reply

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


async def test_a_date_that_moved_is_closed_and_no_contradiction():
    one = memory()
    due = [NewFact("report", "due_on", "2023-06-20", source="m1")]
    await written(one, due, NewItem("The report is due on 20 June.", ref="m1", speaker="Ann", said_at=MAY))
    moved = [
        NewFact("report", "due_on", "2023-06-27", source="m2"),
        NewFact("report", "due_on", "2023-06-20", source="m2", negated=True),
    ]
    said = NewItem("The report moved to 27 June.", ref="m2", speaker="Ann", said_at=JUNE)
    request, result = await written(one, moved, said)
    assert [(fact.text, fact.op) for fact in result.facts] == [
        ("report is due on 2023-06-27", "added"),
        ("report is due on 2023-06-20", "closed"),
    ]
    old = "- closed: report is due on 2023-06-20 (from 2023-05-08, but set aside for another statement)"
    assert old in write_reply(request, result).text
    found = await one.reconstruct(Query("When is the report due?", "default", 12))
    assert not [line for line in found.conflicts if "was also said" in line]


async def test_a_date_to_come_is_not_told_as_past_and_the_one_told_last_counts():
    one = memory()
    for number, day in enumerate(("2031-03-01", "2031-02-19")):
        said = NewFact("launch", "date", day, valid_from=iso.parse(day)[0])
        _, result = await written(one, [said], NewItem(f"The launch is set: {day}.", said_at=MAY + number))
    assert [(fact.text, fact.op) for fact in result.facts] == [
        ("launch has the date 2031-02-19", "added"),
        ("launch has the date 2031-03-01", "closed"),
    ]


async def test_a_misread_fact_is_taken_back_and_what_it_had_ended_goes_on():
    one = memory()
    museum = NewItem("I work at the museum.", ref="m1", speaker="Ann", said_at=MAY)
    await written(one, [NewFact("Ann", "works_at", "the museum", source="m1")], museum)
    club = NewItem("I work with the club on Sundays.", ref="m2", speaker="Ann", said_at=JUNE)
    await written(one, [NewFact("Ann", "works_at", "the club", source="m2")], club)
    wrong = NewFact("Ann", "works_at", "the club", valid_from=JUNE, negated=True)
    request, result = await written(one, [wrong], NewItem("No, I only run there.", said_at=JUNE + 1))
    told = write_reply(request, result).text
    assert "- closed: Ann works at the club (from 2023-06-08, but set aside for another statement)" in told
    answer = await one.answer(Query("Where does Ann work?", "default", 12))
    assert answer.text == "the museum"
    history = await one.explore(ExploreRequest("default", "versions", "Ann"))
    assert [(item.text, item.valid_to) for item in history.items] == [
        ("Ann works at the museum", FOREVER),
        ("Ann works at the club", JUNE),
    ]
