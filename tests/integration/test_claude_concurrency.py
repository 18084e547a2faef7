"""Calls that wait for Claude, for each kind of judgement: cancelled by the client, and ten at once."""

from collections import Counter
from contextlib import asynccontextmanager

import anyio
import pytest
from anyio.lowlevel import checkpoint
from integration.client_calls import connected as in_memory
from integration.client_calls import structured
from standin.messages_api import each, room, standing_in
from standin.replies import Silence, meant, said
from unit.reasoning.enriched_memory import facts
from unit.reasoning.judged_memory import claude_of, wired

TIME = "2023-05-08"
TALK = (
    *("Ann: My brother is Bob.", "Ann: My sister is Cleo.", "Ann: I like jazz.", "Ann: Bob met Cleo in Oslo."),
    *("Bob: I live in Rome.", "Bob: I work at Acme.", "Bob: I like tea.", "Cleo: I live in Oslo."),
)
MESSAGES = [{"speaker": line.split(": ")[0], "text": line.split(": ")[1], "time": TIME} for line in TALK]
QUESTION = "Where does the brother of Ann work?"
GOAL = "How did Bob and Cleo meet?"
POINTS = [
    {"entities": ["Bob", "Cleo"], "description": "They met."},
    {"entities": ["Ann", "Bob"], "description": "He is her brother."},
]
CALLS = {
    "memory_answer": {"question": QUESTION, "learn": False},
    "memory_reconstruct": {"query": QUESTION},
    "memory_evolve": {"goal": GOAL},
}
WAITS = [(tool, name) for tool in CALLS for name in ("question", "answer")]


def answering(request):
    """Answer with the line that says where, if the question is for that."""
    found = tuple(number for number, line in request.lines.items() if "work at Acme" in line)
    return said("Acme", found) if found and request.question == QUESTION else said(missing=("all of it",))


RIGHT = each(question=[meant()], answer=answering, reading=[facts()])


@asynccontextmanager
async def connected(script, **engine):
    """Yield a client of a server with every step of Claude on, the memory behind it, and the stand-in that it asks."""
    async with standing_in(script) as api:
        memory = wired(api.url, understand=True, points=True, **engine)

        async with in_memory(one=memory) as client:
            await structured(client, "memory_write", messages=MESSAGES)
            await structured(client, "memory_evolve", goal=GOAL, points={"insert": POINTS})
            yield client, memory, api


def held(memory):
    space = memory.store._view.space("default")
    return list(space.turns), list(space.facts.rows), space.hypergraph.all(), len(space.beliefs.lessons())


@pytest.mark.parametrize(("tool", "name"), WAITS)
async def test_a_cancelled_call_ends_its_request_and_changes_nothing(tool, name):
    async with connected(lambda asked: Silence() if room(asked) == name else RIGHT(asked)) as (client, memory, api):
        before = held(memory)
        with anyio.fail_after(300):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(client.call_tool, tool, CALLS[tool])
                while not api.requests or room(api.requests[-1]) != name:
                    await checkpoint()
                tasks.cancel_scope.cancel()
            await api.hung_up.wait()
        assert held(memory) == before
        api.script = RIGHT
        assert (await structured(client, "memory_answer", question=QUESTION))["answer"] == "Acme"
        assert claude_of(memory)._places.borrowed_tokens == 0


async def test_ten_concurrent_calls_share_one_client_and_its_limit():
    async with connected(RIGHT, at_once=3, enrich="all") as (client, memory, api):
        api.gate = anyio.Event()
        calls = [tool for tool in CALLS for _ in range(4)][:10]
        replies, opened = [], set()

        async def call(tool):
            replies.append((tool, await structured(client, tool, **CALLS[tool])))
            opened.add(id(claude_of(memory)._client))

        with anyio.fail_after(300):
            async with anyio.create_task_group() as tasks:
                for tool in calls:
                    tasks.start_soon(call, tool)
                while claude_of(memory)._places.statistics().tasks_waiting < 7 or len(api.requests) < 3:
                    await checkpoint()
                assert len(api.requests) == 3
                api.gate.set()
        assert Counter(tool for tool, _ in replies) == Counter(calls)
        assert {reply["answer"] for tool, reply in replies if tool == "memory_answer"} == {"Acme"}
        assert not [warning for _, reply in replies for warning in reply.get("warnings", [])]
        assert (len(opened), api.most_at_once) == (1, 3)
        assert {room(asked) for asked in api.requests} >= {"question", "answer"}
        assert claude_of(memory).spent.calls == len(api.requests)
