"""A step that knows no next one says where else to look: a name written otherwise, no limits, the topics, around it."""

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
async def test_of_an_unknown_name_those_are_next_that_are_written_much_like_it(operator, name):
    following = await stepped(operator, entity=name)
    assert following[0] == (operator, {"entity": "Katharine Lindqvist"})
    assert following[-1] == ("tag_events", {"entity": name})


async def test_a_name_like_no_other_leads_to_the_sentences_with_it_alone():
    assert await stepped("versions", entity="Zzyzx") == [("tag_events", {"entity": "Zzyzx"})]


async def test_of_a_known_entity_without_guesses_the_aspects_and_sentences_are_next():
    following = await stepped("counterfactual", entity="Bob", relation="likes", query="What does Bob like?")
    assert following == [
        ("counterfactual", {"entity": "Bob", "query": "What does Bob like?"}),
        ("personal_information", {"entity": "Bob"}),
        ("tag_events", {"entity": "Bob"}),
    ]


async def test_what_a_time_shuts_out_is_next_without_it():
    following = await stepped("timeline", entity="Bob", window=Window(until=5))
    assert following[0] == ("timeline", {"entity": "Bob"})


async def test_of_an_unknown_topic_those_that_there_are_are_next():
    following = await stepped("topic_events", topic="zebra")
    assert following[0][0] == "topic_events"
    assert following[0][1]["topic"] != "zebra"
    assert following[-1] == ("tag_events", {"query": "zebra"})
    assert {name for name, _ in await stepped("tag_events", query="zebra")} == {"topic_events"}


async def test_what_leads_nowhere_by_facts_leads_on_by_what_is_said_there_and_around_it():
    found = await explored("versions", entity="Bob")
    ids = tuple(item.id for item in found.items)
    assert [item.text for item in found.items] == ["Bob lives in Rome"]
    assert [(one.operator, dict(one.args)) for one in found.next] == [
        ("event_keywords", {"ids": ids}),
        ("event_context", {"ids": ids}),
    ]
