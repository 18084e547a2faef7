"""The server as a client sees it, connected in memory, in both eras of the protocol: tools, opening, prompts."""

import re
from contextlib import asynccontextmanager

import anyio
import pytest
from integration.client_calls import ERAS, TALK, connected, refused, structured
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS
from word_memory import word_memory

from mcp_memory.domain.operators import OPERATORS
from mcp_memory.errors import StoreUnwritable
from mcp_memory.settings import Settings


@ERAS
async def test_what_is_written_is_recalled_answered_and_counted(mode):
    async with connected(mode=mode) as client:
        fact = {"head": "Ann", "relation": "lives_in", "tail": "Lisbon", "source": "D1:1"}
        written = await structured(client, "memory_write", messages=TALK, facts=[fact], session="s1")
        assert [item["id"] for item in written["items"]] == ["D1:1", "D1:2"]
        assert written["counts"] == {"stored": 2, "unchanged": 0, "segments": 2, "sentences": 2}
        recalled = await structured(client, "memory_reconstruct", query="adopted a dog", limit=1)
        assert recalled["evidence"][0]["sources"] == [
            {"id": "D1:2", "session": "s1", "speaker": "Bob", "time": "2023-05-09T10:00:00Z"}
        ]
        answer = await structured(client, "memory_answer", question="Where does Ann live?")
        assert (answer["answer"], answer["citations"][0]["quote"]) == ("Lisbon", "I moved to Lisbon")
        status = await structured(client, "memory_status")
        assert status["counts"]["messages"] == 2


async def test_without_a_query_the_newest_records_come_first_within_the_window():
    async with connected() as client:
        await structured(client, "memory_write", messages=TALK)
        newest = await structured(client, "memory_reconstruct")
        assert [item["sources"][0]["id"] for item in newest["evidence"]] == ["D1:2", "D1:1"]
        many = await structured(client, "memory_reconstruct", query="a dog", wordings=list("abcde"))
        assert many["warnings"] == ["Of 5 wordings the first 4 were looked for."]
        day = await structured(client, "memory_reconstruct", until="2023-05-08")
        assert [item["sources"][0]["id"] for item in day["evidence"]] == ["D1:1"]


@ERAS
async def test_an_error_reaches_the_model_as_a_message_and_never_as_a_dump(mode, caplog):
    memory = word_memory()

    async def broken(_query):
        raise RuntimeError("a secret of the inside")

    memory.answer = broken
    async with connected(one=memory, mode=mode) as client:
        assert "limit: 0" in await refused(client, "memory_reconstruct", limit=0)
        with pytest.raises(MCPError, match="there is no tool 'memory_dream'") as unknown:
            await client.call_tool("memory_dream", {})
        assert unknown.value.error.code == INVALID_PARAMS
        await structured(client, "memory_write", messages=TALK)
        taken = await refused(client, "memory_write", messages=[{"id": "D1:1", "text": "other"}])
        assert taken.startswith("messages[0].id: ")
        told = await refused(client, "memory_answer", question="Who moved?")
        assert "secret" not in told
        assert "mcp-memory doctor" in told
        assert "a secret of the inside" in caplog.text  # the log has what the client has not


async def test_capabilities_list_only_what_works():
    async with connected(mode="legacy") as client:
        capabilities = client.server_capabilities.model_dump(exclude_none=True)
    assert capabilities.keys() == {"tools", "prompts", "resources", "completions"}
    assert [name for part in capabilities.values() for name, value in part.items() if value] == ["subscribe"]


async def test_the_memory_opens_in_the_background_after_the_list_of_tools():
    opened = anyio.Event()

    async def opener():
        opened.set()
        return word_memory()

    async with connected(opener=opener, settings=Settings()) as client:
        assert not opened.is_set()
        await client.list_tools()
        with anyio.fail_after(300):
            await opened.wait()


async def test_a_failed_opening_is_reported_and_retried_by_the_next_call():
    tries = []

    async def opener():
        tries.append(1)
        if len(tries) == 1:
            raise StoreUnwritable("storage.uri (MCP_MEMORY_STORAGE_URI) names a folder that cannot be written to.")
        if len(tries) == 2:
            raise OSError("no such device")
        return word_memory()

    async with connected(opener=opener) as client:
        assert "MCP_MEMORY_STORAGE_URI" in await refused(client, "memory_status")
        assert "could not be opened (OSError: no such device)" in await refused(client, "memory_status")
        await structured(client, "memory_status")


async def test_a_cancelled_call_does_not_keep_others_from_the_memory_that_it_was_opening():
    started, go, tries = anyio.Event(), anyio.Event(), []

    async def opener():
        tries.append(1)
        started.set()
        await go.wait()
        return word_memory()

    async with connected(opener=opener) as client, anyio.create_task_group() as tasks:

        async def impatient(scope):
            with scope:
                await client.call_tool("memory_status", {})

        scope = anyio.CancelScope()
        tasks.start_soon(impatient, scope)
        await started.wait()
        scope.cancel()
        tasks.start_soon(client.call_tool, "memory_status", {})
        go.set()
        await structured(client, "memory_status")
    assert len(tries) <= 2


async def test_the_memory_is_closed_when_the_client_leaves():
    memory, closed = word_memory(), []

    async def close():
        closed.append(True)

    memory.store.aclose = close
    async with connected(one=memory) as client:
        await structured(client, "memory_status")
        assert closed == []
    assert closed == [True]


@ERAS
async def test_a_long_write_reports_its_progress(mode):
    seen = []

    async def progress(done, total, message):
        seen.append((done, total, message))

    async with connected(mode=mode) as client:
        messages = [{"text": f"message {number}"} for number in range(20)]
        await client.call_tool("memory_write", {"messages": messages}, progress_callback=progress)
    done = [entry[0] for entry in seen]
    assert done == sorted(set(done))
    assert {entry[1:] for entry in seen} == {(20, "indexing")}


@ERAS
@pytest.mark.parametrize("name", ["memory_reconstruct", "memory_answer", "memory_status"])
async def test_a_cancelled_call_ends_and_the_server_goes_on(mode, name):
    started, arguments = anyio.Event(), {"memory_answer": {"question": "Who adopted a dog?"}}

    async def wait(*_):
        started.set()
        await anyio.sleep_forever()

    memory = word_memory()
    memory.reconstruct = memory.answer = memory.status = wait
    async with connected(one=memory, mode=mode) as client:
        with anyio.fail_after(300):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(client.call_tool, name, arguments.get(name, {}))
                await started.wait()
                tasks.cancel_scope.cancel()
            await structured(client, "memory_write", messages=TALK)


@ERAS
async def test_a_cancelled_write_is_stored_completely_or_not_at_all(mode):
    memory = word_memory()
    embed, writing, scope, cut = memory.embedder.embed, memory.store.writing, anyio.CancelScope(), ""

    async def reach(place):
        if place == cut:
            scope.cancel()
            await anyio.wait_all_tasks_blocked()

    async def embedding(texts):
        await reach("embedding")
        return await embed(texts)

    @asynccontextmanager
    async def locked():
        await reach("lock")
        async with writing() as transaction:
            yield transaction
        await reach("stored")

    memory.embedder.embed, memory.store.writing = embedding, locked
    async with connected(one=memory, mode=mode) as client:
        await structured(client, "memory_status")
        for attempt, place in enumerate(("embedding", "lock", "stored", "embedding", "stored")):
            cut, scope = place, anyio.CancelScope()
            messages = [{"id": str(number), "text": f"message {number}"} for number in range(30)]
            with scope:
                await client.call_tool("memory_write", {"messages": messages, "session": str(attempt)})
        cut = ""
        await structured(client, "memory_status")
        sizes = {len(turns) for turns in memory.store._view.space("default").sessions.values()}
    assert sizes == {30}
    assert set(memory.store._view.space("default").sessions) >= {"2", "4"}


@ERAS
async def test_prompts_are_listed_and_filled_in(mode):
    async with connected(mode=mode) as client:
        names = [prompt.name for prompt in (await client.list_prompts()).prompts]
        assert names == ["remember", "recall", "investigate", "review", "consolidate"]
        recall = await client.get_prompt("recall", {"question": "Where does Ann live, for $5?"})
        assert recall.messages[0].content.text.startswith("Answer this from memory: Where does Ann live, for $5?\n")
        remember = await client.get_prompt("remember")
        assert "What it is about: this whole conversation." in remember.messages[0].content.text
        investigate = await client.get_prompt("investigate", {"question": "Why did Ann move?"})
        text = investigate.messages[0].content.text
        named = set(re.findall(r"(?:event|tag|personal|topic|local|global|expand)_[a-z]+|versions|timeline", text))
        assert len(named) == 9
        assert named <= OPERATORS.keys()  # every step that it names can be taken
        review = await client.get_prompt("review", {"about": "Ann's job"})
        assert review.messages[0].content.text.startswith(
            "Review what memory knows about Ann's job, and how it changed"
        )
        for name, arguments, words in (
            ("recall", {}, "question: is missing"),
            ("review", {"about": " "}, "about: is missing"),
            ("recall", {"question": "a", "who": "b"}, "who: the prompt 'recall' has no such argument"),
            ("forget", {}, "there is no prompt 'forget'"),
        ):
            with pytest.raises(MCPError, match=words):
                await client.get_prompt(name, arguments)
