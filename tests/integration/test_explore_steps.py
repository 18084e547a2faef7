"""What each of the 15 operators finds and suggests, for a client that is connected in memory.

A line of ``explore_steps.jsonl`` is a call: its arguments, the texts of the items in order, and the steps of ``next``.
In place of an id, which is the store's own, stands ``@`` and the text that it names; of a topic's ``@`` alone.
"""

from dataclasses import replace

from beside import table_beside
from integration.client_calls import connected, structured
from remembering import space_in
from unit.services.learning_memory import memory

from mcp_memory.configurable import Switches
from mcp_memory.domain.operators import OPERATORS
from mcp_memory.services.recall.loop import operators

CALLS = table_beside(__file__, "explore_steps.jsonl")
TALK = (
    "Ann: I planned the Oslo trip with Bob.",
    "Bob: The garden needs water.",
    "Ann: The Oslo trip was cold last week.",
    "Bob: My garden has a pond. A heron lives at the pond.",
    "Cid: I paint herons. Rufus posed for me.",
    "Dot: The pond in the garden froze.",
    "Dot: Eve owns Rufus.",
    "Eve: Green tea helps.",
    "Eve: Does green tea help?",
)
FACTS = [
    {"head": "Ann", "relation": "lives_in", "tail": "Rome", "valid_from": "2015-01-01"},
    {"head": "Ann", "relation": "lives_in", "tail": "Oslo", "valid_from": "2020-01-01"},
    {"head": "Ann", "relation": "lives_in", "tail": "Mars", "valid_from": "2022-01-01", "confidence": 0.45},
    {"head": "Ann", "relation": "works_at", "tail": "Red Mill", "valid_from": "2018-01-01"},
    {"head": "Red Mill", "relation": "located_in", "tail": "Leeds", "valid_from": "2001-01-01"},
    {"head": "Bob", "relation": "likes", "tail": "Ann", "valid_from": "2021-01-01"},
]
POINTS = [
    {"entities": ["Ann", "Bob"], "description": "They travel together."},
    {"entities": ["Bob", "Rufus"], "description": "Bob feeds Rufus."},
]


async def filled(client):
    """Fill the memory, one message a day, and return the text that each id names."""
    messages = [
        {"speaker": line.split(": ")[0], "text": line.split(": ")[1], "time": f"2024-05-0{day}"}
        for day, line in enumerate(TALK, 1)
    ]
    for message in messages:
        await structured(client, "memory_write", messages=[message], session="talk")
    await structured(client, "memory_write", facts=FACTS)
    made = await structured(client, "memory_evolve", points={"insert": POINTS})
    return {change["id"]: f"@{change['after']}" for change in made["changes"]}


async def test_every_operator_finds_and_suggests_what_its_line_says():
    one = memory()
    async with connected(one=one) as client:
        names = await filled(client)
        space = await space_in(one.store)
        names |= {piece.id: f"@{space.text(piece)}" for piece in (*space.segments, *space.sentences)}
        names |= {version.id: f"@{version.text}" for version in space.facts.all(suspected=True)}
        ids = {text: name for name, text in names.items()}
        found = []
        for call in CALLS:
            step = {name: value for name, value in call.items() if name not in ("items", "next")}
            given = {name: [ids[one] for one in value] if name == "ids" else value for name, value in step.items()}
            reply = await structured(client, "memory_explore", **given)
            shown = [item["text"] for item in reply["items"]]
            ways = [{"operator": way["operator"], **way["args"]} for way in reply["next"]]
            for way in ways:
                way |= {"ids": [names[name] for name in way["ids"]]} if "ids" in way else {}
                way |= {"topic": "@"} if "topic" in way else {}
            found.append({**step, "items": shown, "next": ways})
    assert {call["operator"] for call in CALLS} == OPERATORS.keys() == operators(Switches()).keys()
    assert [one for one in found if one not in CALLS] == []


async def test_without_its_switch_reflect_finds_nothing_and_says_why():
    found = []
    for enabled in (True, False):
        one = memory()
        one.settings = replace(one.settings, switches=replace(one.settings.switches, reflection=enabled))
        async with connected(one=one) as client:
            await filled(client)
            step = {"operator": "reflect", "query": "Whom did Bob meet in the garden?"}
            found.append(await structured(client, "memory_explore", **step))
    assert found[0]["items"]
    assert not found[1]["items"]
    assert "switch reflection is off" in found[1]["warnings"][0]
