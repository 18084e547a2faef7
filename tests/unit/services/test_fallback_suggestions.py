"""A step without a next one suggests similar names, no limits, the topics, or what was said around its results."""

import pytest
from fakes import FakeEmbedder, FakeStore

from mcp_memory.domain.query import Window
from mcp_memory.domain.requests import ExploreRequest, NewFact, NewItem, WriteRequest
from mcp_memory.navigation.operators import Counterfactual, Timeline, Versions
from mcp_memory.reconstruct.episodic_operators import TagEvents
from mcp_memory.reconstruct.graph import CueGraph
from mcp_memory.reconstruct.semantic_operators import TopicEvents
from mcp_memory.reconstruct.topics import Topics
from mcp_memory.search.candidates import INDEXES
from mcp_memory.services.explore import explore
from mcp_memory.services.ingest import Reading
from mcp_memory.services.write import write
from mcp_memory.view.view import View

pytestmark = pytest.mark.anyio
NOW = 1_700_000_000_000
OPERATORS = {one.name: one for one in (Versions(), Timeline(), Counterfactual(), TagEvents(), TopicEvents())}
FACTS = NewFact("Katharine Lindqvist", "likes", "tea"), NewFact("Bob", "lives_in", "Rome", valid_from=NOW)


async def quiet(_done, _total, _what):
    pass


async def explored(operator, **asked):
    store = FakeStore(dimension=64, make_view=lambda: View((*INDEXES, CueGraph, Topics)))
    items = tuple(NewItem(f"Katharine brewed tea number {number} in a kettle.") for number in range(4))
    request = WriteRequest("default", "s", "message", items, FACTS)
    await write(store, Reading(FakeEmbedder(), None, 200), request, now=NOW, progress=quiet)
    return await explore(store, FakeEmbedder(), OPERATORS, ExploreRequest("default", operator, **asked), now=NOW)


async def stepped(operator, **asked):
    found = await explored(operator, **asked)
    assert (found.items, found.warnings) == ((), ())
    return [(one.operator, dict(one.args)) for one in found.next]


@pytest.mark.parametrize("operator", ["versions", "timeline", "counterfactual"])
@pytest.mark.parametrize("name", ["Katharine Linquist", "Lindqvist's"])
async def test_an_unknown_name_leads_to_similarly_spelt_names(operator, name):
    following = await stepped(operator, entity=name)
    assert following[0] == (operator, {"entity": "Katharine Lindqvist"})
    assert following[-1] == ("tag_events", {"entity": name})


async def test_a_name_similar_to_no_other_leads_only_to_the_sentences_that_contain_it():
    assert await stepped("versions", entity="Zzyzx") == [("tag_events", {"entity": "Zzyzx"})]


async def test_a_known_entity_without_hypotheses_leads_to_its_aspects_and_sentences():
    following = await stepped("counterfactual", entity="Bob", relation="likes", query="What does Bob like?")
    assert following == [
        ("counterfactual", {"entity": "Bob", "query": "What does Bob like?"}),
        ("personal_information", {"entity": "Bob"}),
        ("tag_events", {"entity": "Bob"}),
    ]


async def test_a_step_that_its_time_limits_exclude_is_suggested_without_them():
    following = await stepped("timeline", entity="Bob", window=Window(until=5))
    assert following[0] == ("timeline", {"entity": "Bob"})


async def test_an_unknown_topic_leads_to_the_topics_that_exist():
    following = await stepped("topic_events", topic="zebra")
    assert following[0][0] == "topic_events"
    assert following[0][1]["topic"] != "zebra"
    assert following[-1] == ("tag_events", {"query": "zebra"})
    assert {name for name, _ in await stepped("tag_events", query="zebra")} == {"topic_events"}


async def test_results_that_no_fact_extends_lead_on_by_their_words_and_context():
    found = await explored("versions", entity="Bob")
    ids = tuple(item.id for item in found.items)
    assert [item.text for item in found.items] == ["Bob lives in Rome"]
    assert [(one.operator, dict(one.args)) for one in found.next] == [
        ("event_keywords", {"ids": ids}),
        ("event_context", {"ids": ids}),
    ]
