"""A token of one tenant reaches nothing of another, whatever it names: spaces, sessions, streams, episodes."""

import json
from collections import defaultdict
from contextlib import asynccontextmanager
from dataclasses import replace

import anyio
import pytest
from integration.client_calls import structured
from integration.http_server import HELLO, client_of, grant, listening, post, request, settings_in, signed, tool
from integration.word_client import FACTS, TALK, refused
from mcp.shared.exceptions import MCPError
from word_memory import WordMemory

from mcp_memory.domain.access import CALLER
from mcp_memory.server.http.access import open_access, token_file

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def of_two(folder, **http):
    """Yield the address of a server for tenants, a token of each of two, and their memories."""
    settings = settings_in(folder, **http)
    settings = replace(settings, storage=replace(settings.storage, uri=f"{folder}/{{tenant}}"))
    memories, file = defaultdict(WordMemory), token_file(settings)
    tokens = [file.add(grant(f"of {name}", "*", tenant=name)) for name in ("acme", "zeta")]

    async def opened():
        return memories[CALLER.get().tenant]

    async with listening(settings, open_access(settings), opener=opened) as url:
        yield url, *tokens, memories


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_what_one_tenant_has_stored_is_not_there_for_another(mode, tmp_path):
    async with (
        of_two(tmp_path, stateless=False) as (url, acme, zeta, memories),
        client_of(url, acme, mode) as ours,
        client_of(url, zeta, mode) as theirs,
    ):
        await structured(ours, "memory_write", messages=TALK, facts=FACTS, session="diary", space="secrets")
        episode = (await structured(ours, "memory_reconstruct", query="adopted a dog", space="secrets"))["episode"]
        assert memories["acme"].view.space("secrets").turns
        assert (await structured(theirs, "memory_reconstruct", query="dog", space="secrets"))["evidence"] == []
        assert (await structured(theirs, "memory_status"))["spaces"] == []
        judged = {"episode": episode, "feedback": {"supports": ["1"]}, "space": "secrets"}
        assert "is not known" in await refused(theirs, "memory_evolve", **judged)
        (part,) = (await theirs.read_resource("memory://spaces")).contents
        assert json.loads(part.text)["spaces"] == []
        assert not any("secrets" in one.uri for one in (await theirs.list_resources()).resources)
        for path in (
            "sessions",
            "sessions?cursor=0",
            "sessions/diary",
            "entities/Ann",
            "timeline/Ann",
            "graph",
            "points",
            "wishes",
        ):
            try:
                text = (await theirs.read_resource(f"memory://secrets/{path}")).contents[0].text
            except MCPError as error:
                text = str(error)
            assert not any(word in text for word in ("Lisbon", "dog", "Ann adopted")), path
        listed = (await ours.read_resource("memory://secrets/sessions")).contents[0].text
        assert "diary" in listed


async def test_a_session_and_a_stream_of_one_tenant_serve_no_other_of_the_same_subject(tmp_path):
    async with of_two(tmp_path, stateless=False) as (url, acme, zeta, memories):
        scope = "memory:read:* memory:write:*"
        mine, others = (signed(sub="ann", tenant=name, scope=scope) for name in ("acme", "zeta"))
        session = (await post(url, mine, HELLO)).headers["mcp-session-id"]
        for token, status in ((mine, 200), (others, 404), (acme, 404), (zeta, 404), (signed(tenant="acme"), 404)):
            call = tool("memory_write", text="The pump leaks.")
            assert (await post(url, token, call, headers=[("Mcp-Session-Id", session)])).status_code == status
        assert (len(memories["acme"].view.space("default").turns), memories["zeta"].view.space("default").turns) == (
            1,
            {},
        )
        uri, mine_in = "memory://default/sessions", [("Mcp-Session-Id", session)]
        async with client_of(url, zeta) as theirs, theirs.listen(resource_subscriptions=[uri]) as stream:
            assert (await post(url, mine, tool("memory_write", text="It rattles."), headers=mine_in)).status_code == 200
            with anyio.move_on_after(1.5):
                raise AssertionError(await anext(stream))


async def test_no_name_leads_to_another_folder(tmp_path):
    async with of_two(tmp_path) as (url, _, _, memories):
        for tenant in ("", ".", "..", "../acme", "acme/", "ACME", "acme\x00", "%2e%2e", "a" * 64, "acme\n", None):
            assert (await post(url, signed(tenant=tenant), request("ping"))).status_code == 401, tenant
    assert not memories
