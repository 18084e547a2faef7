"""Calls for which Claude is asked, as a client sees them: with and without a key, cancelled, and ten at once."""

from collections import Counter
from contextlib import asynccontextmanager

import anyio
import pytest
from anyio.lowlevel import checkpoint
from integration.client_calls import checked_reply, structured
from integration.client_calls import connected as in_memory
from standin.messages_api import each, room, standing_in
from standin.replies import Silence, meant, said
from stdio_client import serving
from unit.reasoning.judged_memory import KEY, TALK, facts, wired

TOLD = [
    {"speaker": line.split(": ")[0], "text": line.split(": ")[1], "time": f"2023-05-{8 + day:02}"}
    for day, line in enumerate(TALK)  # one a day, so that none says how another is meant
]
WHERE = "Where did Bob move to?"


async def with_text(client, name, **arguments):
    """Return the structured part of a reply, and its text as ``read``."""
    reply = await checked_reply(client, name, **arguments)
    return reply.structured_content | {"read": reply.content[0].text}


def citing(request):
    """Answer with the line that says where."""
    return said("Lisbon", request.numbers_of("I moved to Lisbon")[:1])


async def test_an_answer_by_claude_states_its_engine_its_citations_and_its_cost():
    async with standing_in(citing) as api, in_memory(one=wired(api.url)) as client:
        await structured(client, "memory_write", messages=TOLD)
        answer = await with_text(client, "memory_answer", question=WHERE, detail="full")
        assert (answer["answer"], answer["engine"], answer["warnings"]) == ("Lisbon", "anthropic", [])
        (citation,) = answer["citations"]
        assert citation["quote"] == "I moved to Lisbon last Friday."
        assert citation["id"] in {item["id"] for item in answer["evidence"]}
        spent = answer["budget"]["claude"]
        assert 0 < spent["seconds"] < 30
        counted = {"calls": 1, "input_tokens": api.tokens, "cached_tokens": 0, "output_tokens": 60}
        assert spent == counted | {"seconds": spent["seconds"]}
        status = await with_text(client, "memory_status")
        assert status["engine"] == "anthropic"
        where = {"judge": "anthropic", "model": "claude-haiku-5-5", "url": api.url, "key": True}
        today = {name: number for name, number in spent.items() if name != "seconds"} | {"allowed_tokens": 500_000}
        assert status["claude"] == where | spent | {"today": today}
        assert f"Today (UTC), by all processes: 1 call, {api.tokens:,} of 500,000 tokens sent." in status["read"]
        assert f"the evidence found for them go to claude-haiku-5-5 at {api.url}" in status["read"]


async def test_a_real_process_uses_the_key_from_its_environment_and_stores_it_nowhere(tmp_path):
    def converse(url):
        engine = {"MCP_MEMORY_ENGINE_JUDGE": "anthropic", "MCP_MEMORY_ENGINE_BASE_URL": url}
        secret = {"ANTHROPIC_API_KEY": KEY, "MCP_MEMORY_SERVER_LOG_LEVEL": "DEBUG"}
        with serving(tmp_path / "store", **engine, **secret) as talk:
            talk.structured("memory_write", messages=TOLD)
            return talk.structured("memory_answer", question=WHERE), talk.noise

    async with standing_in(each(question=[meant()], answer=citing)) as api:
        answer, noise = await anyio.to_thread.run_sync(converse, api.url)
    assert (answer["answer"], answer["engine"], answer["warnings"], noise) == ("Lisbon", "anthropic", [], [])
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert (tmp_path / "store.stderr") in files
    assert not [path for path in files if KEY.encode() in path.read_bytes()]
    assert b"adopted a beagle" not in (tmp_path / "store.stderr").read_bytes()


TIME = "2023-05-08"
FAMILY = (
    *("Ann: My brother is Bob.", "Ann: My sister is Cleo.", "Ann: I like jazz.", "Ann: Bob met Cleo in Oslo."),
    *("Bob: I live in Rome.", "Bob: I work at Acme.", "Bob: I like tea.", "Cleo: I live in Oslo."),
)
MESSAGES = [{"speaker": told.split(": ")[0], "text": told.split(": ")[1], "time": TIME} for told in FAMILY]
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
    found = request.numbers_of("work at Acme")
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
        assert memory.language_model._places.borrowed_tokens == 0


async def test_ten_concurrent_calls_share_one_client_and_its_limit():
    async with connected(RIGHT, at_once=3, enrich="all") as (client, memory, api):
        api.gate = anyio.Event()
        calls = [tool for tool in CALLS for _ in range(4)][:10]
        replies, opened = [], set()

        async def call(tool):
            replies.append((tool, await structured(client, tool, **CALLS[tool])))
            opened.add(id(memory.language_model._client))

        with anyio.fail_after(300):
            async with anyio.create_task_group() as tasks:
                for tool in calls:
                    tasks.start_soon(call, tool)
                while memory.language_model._places.statistics().tasks_waiting < 7 or len(api.requests) < 3:
                    await checkpoint()
                assert len(api.requests) == 3
                api.gate.set()
        assert Counter(tool for tool, _ in replies) == Counter(calls)
        assert {reply["answer"] for tool, reply in replies if tool == "memory_answer"} == {"Acme"}
        assert not [warning for _, reply in replies for warning in reply.get("warnings", [])]
        assert (len(opened), api.most_at_once) == (1, 3)
        assert {room(asked) for asked in api.requests} >= {"question", "answer"}
        assert memory.language_model.spent.calls == len(api.requests)
