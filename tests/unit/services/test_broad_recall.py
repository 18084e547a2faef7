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
