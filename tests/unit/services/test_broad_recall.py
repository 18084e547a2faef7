"""Recalls of all that bears on a question, and overviews of how something went."""

import pytest
from learning_memory import memory, recalled, told

from mcp_memory.domain.requests import EvolveRequest, PointEdits, PointInsert

pytestmark = pytest.mark.anyio
GARDEN = (
    "@ 2024-03-01",
    "user: I want a garden with roses. The soil is heavy.",
    "assistant: ## Soil\nLoosen the soil.\n## Roses\nPlant roses in March.\n## Water\nWater the garden weekly.",
    "user: And if it rains?",
    "assistant: Then wait a day.",
    "user: My tax return is due.",
    "assistant: File the tax return online.",
    "@ 2024-04-01",
    "user: The garden has a pond now.",
    "assistant: Add plants to the pond.",
    "@ 2024-05-01",
    "user: I changed the garden path to gravel.",
    "assistant: Gravel drains well.",
)
QUESTION = "In what order did I bring up the parts of my garden?"


def said_by(recall):
    return [(item.sources[0].turn.speaker, item.text) for item in recall.evidence]


async def test_all_lists_what_the_person_said_and_a_follow_up_with_it():
    recall = await recalled(await told(memory(), *GARDEN), QUESTION, mode="auto")
    assert recall.breadth == "all"
    lines = said_by(recall)
    assert {speaker for speaker, _ in lines} == {"user"}
    texts = [text for _, text in lines]
    assert "And if it rains?" in texts
    assert {"The garden has a pond now.", "I changed the garden path to gravel."} <= set(texts)
    assert not any("tax" in text for text in texts)
    assert recall.total == len(lines)


async def test_all_lists_what_the_assistant_said_where_that_is_asked():
    recall = await recalled(
        await told(memory(), *GARDEN), "List all the things you suggested for the garden", mode="auto"
    )
    assert {speaker for speaker, _ in said_by(recall)} == {"assistant"}


DEPLOYS = (
    "@ 2024-03-01",
    "user: A phone may send 60 requests a minute.",
    "user: The office plants need water.",
    "user: Every phone keeps its own queue.",
    "user: Requests that fail wait in the queue.",
    "user: 60 is too tight.",
    "user: It's 240 now.",
    "user: My bike has a flat tyre.",
)


async def test_a_number_that_was_said_is_looked_for_among_the_best_evidence_where_little_can_be_counted():
    recall = await recalled(await told(memory(), *DEPLOYS), "How many requests a minute may a phone send?", mode="auto")
    assert recall.breadth == "best"
    assert "It's 240 now." in [text for _, text in said_by(recall)]


async def test_pages_go_on_where_the_one_before_ended():
    one = await told(memory(), *GARDEN)
    whole = await recalled(one, QUESTION, mode="all")
    first = await recalled(one, QUESTION, mode="all", lines=2)
    second = await recalled(one, QUESTION, mode="all", lines=2, skip=2)
    assert [item.id for item in (*first.evidence, *second.evidence)] == [item.id for item in whole.evidence[:4]]
    assert (first.total, second.total, second.skipped) == (whole.total, whole.total, 2)


async def test_an_overview_has_both_sides_of_an_exchange_in_one_line_and_replies_by_their_headings():
    recall = await recalled(await told(memory(), *GARDEN), "How has my garden developed?", mode="auto")
    assert recall.breadth == "overview"
    texts = [item.text for item in recall.evidence]
    assert "I want a garden with roses. The soil is heavy. → assistant: Soil; Roses; Water" in texts
    line = next(item for item in recall.evidence if "pond" in item.text)
    assert [source.turn.speaker for source in line.sources] == ["user", "assistant"]
    assert all(source.quote.split()[0] in line.text for source in line.sources)


async def test_a_point_that_a_caller_made_leads():
    one = await told(memory(), *GARDEN)
    point = PointInsert(("Carla", "tax return"), "Carla's garden counts for the tax return.")
    await one.evolve(EvolveRequest("default", points=PointEdits(insert=(point,))))
    recall = await recalled(one, "In what order did I bring up the parts of Carla's garden?", mode="all")
    assert [(item.kind, item.text) for item in recall.evidence[:1]] == [("point", point.description)]


async def test_among_people_each_message_stands_for_itself_in_the_order_of_the_search():
    one = await told(
        memory(), "Ann: I baked a lemon cake.", "Bob: Nice cake!", "Ann: For the fair I had baked one more, with plums."
    )
    best = await recalled(one, "What cakes has Ann baked?")
    broad = await recalled(one, "What cakes has Ann baked?", mode="auto")
    assert broad.breadth == "all"
    assert [item.text for item in broad.evidence] == [item.text for item in best.evidence][: len(broad.evidence)]


async def test_auto_leaves_documents_to_the_best_evidence():
    one = await told(memory(), "x: The tower has 12 bells.", kind="document")
    recall = await recalled(one, "How many bells does the tower have?", mode="auto")
    assert (recall.breadth, recall.total) == ("best", None)


async def test_code_is_in_no_line():
    code = "user: My garden script fails. Can you mend it?\n```python\ngarden = plant(roses, soil)\nprint(garden)\n```"
    recall = await recalled(await told(memory(), *GARDEN, code), QUESTION, mode="all")
    texts = [text for _, text in said_by(recall)]
    assert any("script fails" in text for text in texts)
    assert not any("plant(" in text for text in texts)


async def test_a_long_message_of_the_user_is_a_line_with_its_matter_and_its_figures():
    long = (
        "user: I'm trying to lay out the garden paths so that nobody steps into the beds, and I want to make sure that "
        "it lasts, I've ordered 14 slabs of slate for 230 euros, so can you help me, because I'm not sure how to begin "
        "and which side of the garden is the better one for a path that my aunt can use with her walking frame?"
    )
    one = await told(memory(), *GARDEN, "@ 2024-06-01", long)
    recall = await recalled(one, "How has my garden developed?", mode="overview")
    (line,) = [item.text for item in recall.evidence if "slate" in item.text]
    assert line.startswith("lay out the garden paths")
    assert "I've ordered 14 slabs of slate for 230 euros" in line
    assert "aunt" not in line


async def test_a_list_takes_in_what_the_wordings_of_the_caller_find():
    question = "What went wrong with the garden so far?"
    one = await told(memory(), *GARDEN, "@ 2024-06-01", "user: The hose burst on Monday.")
    burst = "The hose burst on Monday."
    without = await recalled(one, question, mode="all")
    assert burst not in [text for _, text in said_by(without)]
    found = await recalled(one, question, mode="all", wordings=("the hose burst",))
    assert burst in [text for _, text in said_by(found)]


LIFE = (
    "@ 2023-03-01",
    "user: Dr Bell put me on propranolol, 40 mg twice a day.",
    "user: The mortgage is 968 a month now.",
    "@ 2023-04-02",
    "user: Sprained my wrist at the climbing wall.",
    "user: Parking is a situation of its own, and this year the shed is green.",
    "@ 2023-05-03",
    "user: They raised my salary to 32,050.",
    "user: My tooth is fixed, no filling needed.",
)


def texts_of(recall):
    return " ".join(item.text for item in recall.evidence)


async def test_a_summary_of_an_area_takes_in_what_tells_of_it_in_other_words():
    one = await told(memory(), *LIFE)
    health = texts_of(await recalled(one, "Summarise my health this year", mode="auto"))
    assert all(word in health for word in ("propranolol", "wrist", "tooth"))
    money = texts_of(await recalled(one, "Summarise my money situation", mode="auto"))
    assert all(word in money for word in ("mortgage", "salary"))
    assert "wrist" not in money


async def test_what_is_coming_up_is_what_tells_of_a_time_still_to_come():
    talk = ("@ 2023-12-30", "user: The dentist moved me, it's 11 January at 9:15 now.", "user: Ann came on 2 April.")
    recall = await recalled(await told(memory(), *LIFE, *talk), "What is coming up for me?", mode="auto")
    assert recall.breadth == "all"
    assert recall.evidence[0].text == "The dentist moved me, it's 11 January at 9:15 now."
    assert recall.missing == ()
