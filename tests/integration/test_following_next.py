"""A client that explores memory by following `next` alone, as a model would, connected in memory."""

import json

import pytest
from fakes import FakeEmbedder, FakeStore
from jsonschema import validate
from mcp import Client

from mcp_memory.memory import Memory
from mcp_memory.reconstruct.graph import CueGraph
from mcp_memory.reconstruct.topics import Topics
from mcp_memory.search.candidates import INDEXES
from mcp_memory.server.app import build
from mcp_memory.services.settings import WriteSettings
from mcp_memory.settings import ServerSettings, Settings
from mcp_memory.view.view import View

pytestmark = pytest.mark.anyio
CONFIG = Settings(server=ServerSettings(warm_up="first_call"), write=WriteSettings(wait=True))
CHAIN = (
    "We keep the spare key inside a green box.",
    "A green box went home with Rita Quill.",
    "I heard that Rita Quill moved to Larch Hall.",
    "They say Larch Hall opens with the word zebra.",
)
NOISE = tuple(
    f"On walk {n} I counted {n} {bird} by a river." for n in range(6) for bird in ("herons", "gulls", "terns")
)


def memory_of_fakes():
    def view():
        return View((*INDEXES, CueGraph, Topics))

    return Memory(CONFIG, FakeStore(dimension=64, make_view=view), FakeEmbedder())


class Walker:
    """Takes steps and remembers which it took."""

    def __init__(self, client, schemas):
        self.client, self.schemas, self.taken = client, schemas, []

    async def step(self, operator, **args):
        self.taken.append((operator, json.dumps(args, sort_keys=True)))
        result = await self.client.call_tool("memory_explore", {"operator": operator, **args})
        assert not result.is_error, result.content[0].text
        validate(result.structured_content, self.schemas["memory_explore"])
        return result.structured_content

    async def walk(self, leaf, most, operator, **args):
        """Return what was seen on the way to the leaf, going wherever `next` says, in its order; None for none."""
        ways = [(operator, args, ())]
        while ways and len(self.taken) < most:
            operator, args, before = ways.pop(0)
            if (operator, json.dumps(args, sort_keys=True)) in self.taken:
                continue
            found = await self.step(operator, **args)
            for item in found["items"]:
                if leaf in item["text"]:
                    return (*before, (operator, item["text"]))
            here = (*before, *((operator, item["text"]) for item in found["items"]))
            ways += [(one["operator"], one["args"], here) for one in found["next"]]
        return None


async def test_following_next_leads_from_a_question_to_a_sentence_three_steps_away():
    async def opened():
        return memory_of_fakes()

    async with Client(build(opened, CONFIG)) as client:
        texts = [line for n, clue in enumerate(CHAIN) for line in (*NOISE[n * 4 : n * 4 + 4], clue)]
        messages = [{"id": f"m{n}", "speaker": "Ann", "text": text} for n, text in enumerate(texts)]
        assert not (await client.call_tool("memory_write", {"messages": messages})).is_error
        schemas = {tool.name: tool.output_schema for tool in (await client.list_tools()).tools}
        walker = Walker(client, schemas)
        first = await walker.step("tag_events", query="Where is the spare key?")
        assert CHAIN[0] == first["items"][0]["text"]
        assert not any("zebra" in item["text"] for item in first["items"])
        walker.taken.clear()
        way = await walker.walk("zebra", 60, "tag_events", query="Where is the spare key?")
        assert way is not None
        assert set(CHAIN) <= {text for _, text in way}  # each clue had to be found to get to the next


async def test_a_step_can_start_at_a_topic_of_the_topics_resource():
    async def opened():
        return memory_of_fakes()

    async with Client(build(opened, CONFIG)) as client:

        async def content():
            (part,) = (await client.read_resource("memory://default/topics")).contents
            return json.loads(part.text)

        assert await content() == {"space": "default", "topics": [], "total": 0}
        messages = [{"id": f"m{n}", "speaker": "Ann", "text": text} for n, text in enumerate(NOISE)]
        await client.call_tool("memory_write", {"messages": messages})
        listed = await content()
        assert listed["total"] == len(listed["topics"]) > 0
        largest = listed["topics"][0]
        assert largest["passages"] >= 2
        assert largest["source"]["speaker"] == "Ann"
        begun = await Walker(
            client, {tool.name: tool.output_schema for tool in (await client.list_tools()).tools}
        ).step("topic_events", topic=largest["id"], limit=200)
        assert len(begun["items"]) == largest["passages"]
        assert largest["summary"] in [item["text"] for item in begun["items"]]
        templates = (await client.list_resource_templates()).resource_templates
        assert "memory://{space}/topics{?cursor}" in [template.uri_template for template in templates]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"operator": "tag_events"}, "entity or query: neither is given. The operator tag_events cannot do"),
        ({"operator": "event_time"}, "ids: is missing. The operator event_time"),
        ({"operator": "topic_events"}, "topic: is missing"),
        ({"operator": "personal_aspect", "entity": "Ann"}, "relation or tag: neither is given"),
        ({"operator": "personal_aspect", "tag": "home"}, "entity: is missing"),
    ],
)
async def test_a_missing_argument_of_a_step_is_named(arguments, words):
    async def opened():
        return memory_of_fakes()

    async with Client(build(opened, CONFIG)) as client:
        result = await client.call_tool("memory_explore", arguments)
        assert result.is_error
        assert words in result.content[0].text
