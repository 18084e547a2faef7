"""Answers of Claude as a client receives them, over the protocol and over HTTP, with and without a key."""

from contextlib import asynccontextmanager

import anyio
from integration.client_calls import checked_reply
from integration.client_calls import connected as in_memory
from standin.messages_api import each, standing_in
from standin.replies import meant, said
from stdio_client import serving
from unit.reasoning.judged_memory import KEY, TALK, wired

MESSAGES = [
    {"speaker": line.split(": ")[0], "text": line.split(": ")[1], "time": f"2023-05-{8 + day:02}"}
    for day, line in enumerate(TALK)  # one a day, so that none says how another is meant
]
QUESTION = "Where did Bob move to?"


@asynccontextmanager
async def connected(script, **engine):
    """Yield a client whose server asks the stand-in, which is yielded too."""
    async with standing_in(script) as api, in_memory(one=wired(api.url, **engine)) as client:
        await structured(client, "memory_write", messages=MESSAGES)
        yield client, api


async def structured(client, name, **arguments):
    """Return the structured part of a reply, and its text as ``read``."""
    reply = await checked_reply(client, name, **arguments)
    return reply.structured_content | {"read": reply.content[0].text}


def citing(request):
    """Answer with the line that says where."""
    number = next(number for number, line in request.lines.items() if "I moved to Lisbon" in line)
    return said("Lisbon", (number,))


async def test_an_answer_by_claude_states_its_engine_its_citations_and_its_cost():
    async with connected(citing) as (client, api):
        answer = await structured(client, "memory_answer", question=QUESTION, detail="full")
        assert (answer["answer"], answer["engine"], answer["warnings"]) == ("Lisbon", "anthropic", [])
        (citation,) = answer["citations"]
        assert citation["quote"] == "I moved to Lisbon last Friday."
        assert citation["id"] in {item["id"] for item in answer["evidence"]}
        spent = answer["budget"]["claude"]
        assert 0 < spent["seconds"] < 30
        counted = {"calls": 1, "input_tokens": api.tokens, "cached_tokens": 0, "output_tokens": 60}
        assert spent == counted | {"seconds": spent["seconds"]}
        status = await structured(client, "memory_status")
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
            talk.structured("memory_write", messages=MESSAGES)
            return talk.structured("memory_answer", question=QUESTION), talk.noise

    async with standing_in(each(question=[meant()], answer=citing)) as api:
        answer, noise = await anyio.to_thread.run_sync(converse, api.url)
    assert (answer["answer"], answer["engine"], answer["warnings"], noise) == ("Lisbon", "anthropic", [], [])
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert (tmp_path / "store.stderr") in files
    assert not [path for path in files if KEY.encode() in path.read_bytes()]
    assert b"adopted a beagle" not in (tmp_path / "store.stderr").read_bytes()
