"""A step without a next one suggests its words, or what was said around its results."""

import pytest
from fakes import FakeEmbedder, FakeStore

from mcp_memory.domain.requests import ExploreRequest, NewFact, NewItem, WriteRequest
from mcp_memory.operators import operators
from mcp_memory.reconstruct.graph import CueGraph
from mcp_memory.reconstruct.topics import Topics
from mcp_memory.search.candidates import INDEXES
from mcp_memory.services.explore import explore
from mcp_memory.services.ingest import Reading
from mcp_memory.services.write import write
from mcp_memory.settings import Settings
from mcp_memory.view.view import View

pytestmark = pytest.mark.anyio
NOW = 1_700_000_000_000
OPERATORS = operators(Settings())
FACTS = NewFact("Katharine Lindqvist", "likes", "tea"), NewFact("Bob", "lives_in", "Rome", valid_from=NOW)


async def quiet(_done, _total, _what):
    pass


async def explored(operator, **asked):
    store = FakeStore(dimension=64, make_view=lambda: View((*INDEXES, CueGraph, Topics)))
    items = tuple(NewItem(f"Katharine brewed tea number {number} in a kettle.") for number in range(4))
    request = WriteRequest("default", "s", "message", items, FACTS)
    await write(store, Reading(FakeEmbedder(), None, 200), request, now=NOW, progress=quiet)
    return await explore(store, FakeEmbedder(), OPERATORS, ExploreRequest("default", operator, **asked), now=NOW)


@pytest.mark.parametrize(
    ("operator", "asked", "following"),
    [
        ("versions", {"entity": "Zzyzx"}, ("tag_events", {"entity": "Zzyzx"})),
        ("topic_events", {"topic": "zebra"}, ("tag_events", {"query": "zebra"})),
        ("tag_events", {"query": "zebra"}, ("reflect", {"query": "zebra"})),
    ],
)
async def test_a_step_that_finds_nothing_suggests_a_search_for_its_words(operator, asked, following):
    found = await explored(operator, **asked)
    assert (found.items, found.warnings) == ((), ())
    assert [(one.operator, dict(one.args)) for one in found.next] == [following]


async def test_results_that_no_fact_extends_lead_on_by_their_words_and_context():
    found = await explored("versions", entity="Bob")
    ids = tuple(item.id for item in found.items)
    assert [item.text for item in found.items] == ["Bob lives in Rome"]
    assert [(one.operator, dict(one.args)) for one in found.next] == [
        ("event_keywords", {"ids": ids}),
        ("event_context", {"ids": ids}),
    ]
