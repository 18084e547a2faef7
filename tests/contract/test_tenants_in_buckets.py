"""Tenants with stores on object storage: opened when they call, closed when they do not, and forgotten whole."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from batches import DIMENSION
from lance_at import refs, write
from object_store import ObjectStore

from mcp_memory.access.tokens import TokenFile
from mcp_memory.cli import main
from mcp_memory.domain.access import CALLER, OWNER, RIGHTS, Grant, Permission
from mcp_memory.domain.requests import NewItem, WriteRequest
from mcp_memory.server.opening import Opening
from mcp_memory.server.process import opener
from mcp_memory.settings import HttpSettings, Settings
from mcp_memory.storage.place import Place
from mcp_memory.storage.store import LanceStore

pytestmark = pytest.mark.anyio
EVERY = "s3://bucket/stores/{tenant}"


@pytest.fixture
def objects() -> Iterator[ObjectStore]:
    """An object store that honours conditional writes."""
    with ObjectStore().serving() as served:
        yield served


@pytest.fixture
def configured(objects: ObjectStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TokenFile:
    """The commands' settings; returned is the file of the tokens."""
    monkeypatch.setenv("MCP_MEMORY_STORAGE_URI", EVERY)
    monkeypatch.setenv("MCP_MEMORY_STORAGE_OPTIONS", objects.options)
    monkeypatch.setenv("MCP_MEMORY_ACCESS_TOKENS", str(tmp_path / "tokens.json"))
    return TokenFile(tmp_path / "tokens.json")


def store_of(tenant: str, objects: ObjectStore) -> LanceStore:
    uri = EVERY.replace("{tenant}", tenant)
    return LanceStore(Place(uri, objects.options), embedder="fake", dimension=DIMENSION)


async def run(*arguments: str) -> int:
    return await anyio.to_thread.run_sync(main, list(arguments))


async def test_a_tenant_is_all_that_is_under_its_prefix_and_a_server_that_has_it_open_sees_that_it_is_gone(
    objects: ObjectStore, configured: TokenFile, capsys: pytest.CaptureFixture[str]
) -> None:
    acme, other = store_of("acme", objects), store_of("acme-2", objects)
    for ref in "abc":
        await write(acme, ref)
        await write(other, ref)
    async with acme._alone():  # and in tables, beside the journal
        assert any("stores/acme/turns.lance" in name for name in objects.objects)
    configured.add(Grant("agent", (Permission("*", RIGHTS),), "acme"))
    objects.versions = True
    assert await run("tenant", "list") == 0
    assert capsys.readouterr().out.split() == ["acme", "acme-2"]
    assert await run("tenant", "forget", "acme") == 1
    assert await refs(acme) == set("abc")
    assert await run("tenant", "forget", "acme", "--yes") == 0
    assert not [name for name in objects.objects if name.startswith("bucket/stores/acme/")]
    assert not configured.list()
    assert "keeps earlier versions" in capsys.readouterr().out
    assert await refs(acme) == set()
    assert await refs(other) == set("abc")
    assert await write(acme, "d") == 1  # by a token of an issuer, which is not revoked here
    assert await refs(acme) == {"d"}
    await acme.aclose()
    await other.aclose()


async def test_a_store_that_was_removed_and_begun_again_is_not_mixed_with_the_one_before(
    objects: ObjectStore, configured: TokenFile
) -> None:
    slow, busy = store_of("acme", objects), store_of("acme", objects)
    for ref in "abc":
        await write(slow, ref)
    assert await refs(busy) == set("abc")
    assert await run("tenant", "forget", "acme", "--yes") == 0
    for ref in "defg":
        await write(busy, ref)
    assert await refs(slow) == set("defg")
    assert await write(slow, "h") == 5
    await slow.aclose()
    await busy.aclose()


async def test_a_tenant_that_is_written_to_all_the_time_is_not_said_to_be_gone(
    objects: ObjectStore, configured: TokenFile, capsys: pytest.CaptureFixture[str]
) -> None:
    acme = store_of("acme", objects)
    await write(acme, "a")
    await acme.aclose()
    answer = objects.answer

    def write_again(method: str, *rest: object) -> object:
        replied = answer(method, *rest)  # type: ignore[arg-type]
        if method in ("DELETE", "POST"):
            answer("PUT", "bucket/stores/acme/late", {}, {}, b"late")
        return replied

    objects.answer = write_again  # type: ignore[assignment, method-assign]
    assert await run("tenant", "forget", "acme", "--yes") == 1
    assert "another process writes to it" in capsys.readouterr().err


@pytest.mark.parametrize("uri", ["s3://{tenant}/store", "s3://bucket/of-{tenant}", "s3://bucket/{tenant}.d"])
async def test_a_place_in_which_tenants_cannot_be_told_apart_by_their_prefix_is_refused(
    uri: str, configured: TokenFile, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MCP_MEMORY_STORAGE_URI", uri)
    assert await run("tenant", "list") == 2
    assert "whole part of the path" in capsys.readouterr().err


async def test_memories_of_tenants_are_opened_by_their_calls_and_closed_when_there_are_too_many(
    objects: ObjectStore,
) -> None:
    place = replace(Settings().storage, uri=EVERY, options=objects.options)
    async with anyio.create_task_group() as tasks:
        opening = Opening(opener(replace(Settings(), storage=place)), tasks, HttpSettings(tenants=1))
        for tenant in ("acme", "bolt", "acme"):
            CALLER.set(replace(OWNER, tenant=tenant))
            async with opening.use() as memory:
                text = f"The pump of {tenant} leaks."
                await memory.write(WriteRequest("default", "talk", "message", (NewItem(text),)))
                async with memory.store.reading() as view:
                    found = [turn.text for turn in view.space("default").turns.values()]
                assert found == [text]
            await opening.close_some()
            assert len(opening) == 1
        await opening.aclose()
        tasks.cancel_scope.cancel()
