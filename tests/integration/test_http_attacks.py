"""Attacks on a server over HTTP, each refused with the right status, and callers who see their spaces only."""

import base64
import json
import time
from contextlib import asynccontextmanager
from dataclasses import replace

import anyio
import httpx2
import pytest
from integration.client_calls import FACTS, TALK, refused, structured
from integration.http_server import (
    HEADERS,
    HELLO,
    LIST,
    PING,
    answer,
    client_of,
    grant,
    guarded,
    head,
    listening,
    post,
    request,
    settings_with,
    tool,
)
from issuers import AUDIENCE, PublishedIssuer
from mcp.shared.exceptions import MCPError
from mcp_types import ResourceTemplateReference
from word_memory import word_memory

from mcp_memory.configurable import AccessSettings
from mcp_memory.errors import StoreBusy, StoreError, StoreUnwritable
from mcp_memory.wiring import open_access


async def test_what_is_not_a_single_bearer_token_in_its_header_is_refused(tmp_path):
    async with guarded(tmp_path) as (url, file, ann), httpx2.AsyncClient() as http:
        digest = file.list()[0].digest
        for headers, path in (
            ([], ""),
            ([("Authorization", "Bearer")], ""),
            ([("Authorization", "Bearer nonsense")], ""),
            ([("Authorization", "Bearer mcpm_" + "A" * 43)], ""),
            ([("Authorization", "Basic " + base64.b64encode(f"ann:{ann}".encode()).decode())], ""),
            ([("Authorization", ann)], ""),
            ([("Authorization", f"Bearer {digest}")], ""),
            ([("Authorization", f"Bearer mcpm_{digest}")], ""),
            ([("Authorization", f"Bearer {ann}x")], ""),
            ([("Authorization", f"Bearer {ann}"), ("Authorization", "Bearer x")], ""),
            ([("X-Authorization", f"Bearer {ann}"), ("Cookie", f"token={ann}")], ""),
            ([], f"?token={ann}&access_token={ann}"),
        ):
            reply = await http.post(f"{url}/mcp{path}", headers=[*HEADERS.items(), *headers], json=LIST)
            assert reply.status_code == 401, headers
            assert reply.headers["www-authenticate"].startswith("Bearer"), headers
        assert (await post(url, ann)).status_code == 200
        assert (await post(url, "mcpm_" + "A" * 20_000)).status_code in (400, 401)


async def test_tokens_of_an_issuer_are_kept_to_their_scopes_and_clients_learn_who_issues_them(tmp_path):
    with PublishedIssuer() as issuer:
        access = AccessSettings(str(tmp_path / "tokens.json"), issuer=issuer.url, audience=AUDIENCE)
        settings = replace(settings_with(stateless=True), access=access)
        async with listening(settings, open_access(settings)) as url:
            async with client_of(url, issuer.signed(issuer.claims(scp=["memory:read:team"]))) as client:
                assert "does not allow" in await refused(client, "memory_write", text="It leaks.", space="team")
                assert "does not allow" in await refused(client, "memory_reconstruct", query="pump", space="notes")
                await structured(client, "memory_reconstruct", query="pump", space="team")
            for token, status, error in (
                (issuer.signed(issuer.claims(scp=["openid", "memory:dream:bea"])), 403, "insufficient_scope"),
                (issuer.signed(key=issuer.add_key("other")), 401, "invalid_token"),
                ("mcpm_" + "A" * 43, 401, "invalid_token"),
            ):
                reply = await post(url, token)
                assert reply.status_code == status
                assert f'error="{error}"' in reply.headers["www-authenticate"]
                assert "/.well-known/oauth-protected-resource/mcp" in reply.headers["www-authenticate"]
            async with httpx2.AsyncClient() as http:
                metadata = (await http.get(f"{url}/.well-known/oauth-protected-resource/mcp")).json()
            assert metadata["authorization_servers"] == [issuer.url]


async def test_revoked_and_expired_tokens_are_refused(tmp_path):
    async with guarded(tmp_path) as (url, file, ann):
        lasting = file.add(grant("lasting", "ann", expires=time.time() + 600))
        over = file.add(grant("over", "ann", expires=time.time() - 1))
        assert (await post(url, over)).status_code == 401
        for name, token in (("ann", ann), ("lasting", lasting)):
            assert (await post(url, token)).status_code == 200
            file.revoke(name)
            assert (await post(url, token)).status_code == 401
        file.revoke("over")
    assert file.exists()  # the last one is revoked, and the door is not open


MODERN = "2026-07-28"
META = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}
NAMED = [("Mcp-Method", "tools/call"), ("Mcp-Name", "memory_reconstruct")]
ANNS = tool("memory_reconstruct", query="pump", space="ann")
TEXT = json.dumps(ANNS)


def recall_in(space):
    arguments = {"query": "pump", "space": space}
    return request("tools/call", name="memory_reconstruct", arguments=arguments, _meta=META)


def modern(*headers):
    return [("MCP-Protocol-Version", MODERN), *(headers or NAMED)]


OWN_NAMES = {
    "another host": ([("Host", "evil.example")], LIST, 421),
    "a host that begins alike": ([("Host", "127.0.0.1.evil.example")], LIST, 421),
    "a host behind a name": ([("Host", "127.0.0.1@evil.example")], LIST, 421),
    "a forwarded host": ([("Host", "evil.example"), ("X-Forwarded-Host", "127.0.0.1")], LIST, 421),
    "another page": ([("Origin", "https://evil.example")], LIST, 403),
    "no page": ([("Origin", "null")], LIST, 403),
    "a page that begins alike": ([("Origin", "http://127.0.0.1.evil.example")], LIST, 403),
    "a page behind a name": ([("Origin", "http://127.0.0.1@evil.example")], LIST, 403),
    "another type": ([("Content-Type", "text/plain")], LIST, 400),
    "another revision": ([("MCP-Protocol-Version", "1999-01-01")], LIST, 400),
}
TRICKS = OWN_NAMES | {
    "the headers name a harmless method": (
        modern(("Mcp-Method", "tools/list"), ("Mcp-Name", "memory_status")), recall_in("ann"), 400,
    ),
    "the headers name another tool": (
        modern(("Mcp-Method", "tools/call"), ("Mcp-Name", "memory_status")), recall_in("bob"), 400,
    ),
    "several calls in one body": ([], [ANNS, LIST], 400),
    "one key twice, the foreign space last": ([], TEXT.replace('"space"', '"space": "bob", "space"'), 200),
    "one key twice, the tool last": ([], TEXT.replace('"name"', '"name": "memory_status", "name"'), 200),
    "a mark before the body": ([], b"\xef\xbb\xbf" + TEXT.encode(), 400),
    "another encoding": ([], TEXT.encode("utf-16"), 400),
    "another case": ([], tool("memory_reconstruct", query="pump", space="ANN"), 200),
    "another method in a header": ([("X-HTTP-Method-Override", "GET")], ANNS, 200),
    "an encoding that it has not": ([("Content-Encoding", "gzip")], ANNS, 200),
    "another user in a header": ([("X-Forwarded-User", "ann"), ("X-Remote-User", "ann")], ANNS, 200),
    "another path in a header": ([("X-Original-URL", "/healthz"), ("X-Rewrite-URL", "/healthz")], ANNS, 200),
}  # fmt: skip


async def test_foreign_names_and_requests_that_say_two_things_are_refused(tmp_path):
    async with guarded(tmp_path, word_memory()) as (url, file, ann):
        assert (await post(url, ann, tool("memory_write", text="The pump leaks."))).status_code == 200
        bob = file.add(grant("bob", "bob"))
        for name, (headers, body, status) in TRICKS.items():
            reply = await post(url, bob, body, headers)
            assert (reply.status_code, "leaks" in reply.text) == (status, False), (name, reply.text)
            assert status != 200 or "your token does not allow" in reply.text, name


async def test_other_methods_and_other_spellings_of_the_path_need_a_token_as_well(tmp_path):
    async with guarded(tmp_path) as (url, _, ann), httpx2.AsyncClient() as http:
        for method in ("GET", "DELETE", "PUT", "PATCH", "HEAD", "OPTIONS", "TRACE"):
            assert (await http.request(method, f"{url}/mcp", headers=HEADERS)).status_code == 401, method
            if method != "GET":
                allowed = HEADERS | {"Authorization": f"Bearer {ann}"}
                assert (await http.request(method, f"{url}/mcp", headers=allowed)).status_code == 405, method
        for path in ("/mcp/", "/mcp%2f", "/./mcp", "/x/../mcp", "//mcp", "/MCP", "/mcp;x", "/metrics/", "/mcp/mcp"):
            for more in ({}, {"Host": "evil.example"}):
                reply = await http.post(f"{url}{path}", headers=HEADERS | more, json=LIST)
                assert reply.status_code in (401, 404), path


async def test_bodies_that_are_too_large_or_not_json_are_refused(tmp_path):
    async def pieces():
        for _ in range(200):
            yield b"x" * 1_000

    async with guarded(tmp_path, body_bytes=100_000) as (url, _, ann):
        assert (await post(url, ann, b"x" * 200_000)).status_code == 413
        assert (await post(url, ann, content=pieces())).status_code == 413
        assert (await post(url, ann, b"{")).status_code == 400
    (tmp_path / "two").mkdir()
    async with guarded(tmp_path / "two", body_bytes=10_000_000) as (url, _, ann):
        assert (await post(url, ann, b"[" + b"[]," * 300_000 + b"[]]")).status_code == 400


async def test_a_session_belongs_to_who_opened_it_and_there_are_so_many(tmp_path):
    async with guarded(tmp_path, stateless=False, sessions=2) as (url, file, ann):
        bob = file.add(grant("bob", "bob"))
        mine = [("Mcp-Session-Id", (await post(url, ann, HELLO)).headers["mcp-session-id"])]
        assert (await post(url, bob, headers=mine)).status_code == 404
        assert (await post(url, None, headers=mine)).status_code == 401
        assert (await post(url, ann, headers=[("Mcp-Session-Id", "0123456789abcdef" * 2)])).status_code == 404
        async with httpx2.AsyncClient() as http:
            gone = await http.delete(f"{url}/mcp", headers=[*mine, ("Authorization", f"Bearer {bob}")])
            assert gone.status_code == 404
        assert (await post(url, ann, headers=mine)).status_code == 200
        assert (await post(url, bob, HELLO)).status_code == 200
        assert (await post(url, file.add(grant("cid", "cid")), HELLO)).status_code == 503


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_caller_sees_its_spaces_only(mode, tmp_path):
    async with guarded(tmp_path, word_memory(), stateless=False) as (url, file, anns_token):
        bobs_token = file.add(grant("bob", "bob", "bob-*", rights=("read", "write")))
        async with client_of(url, anns_token, mode) as ann, client_of(url, bobs_token, mode) as bob:
            await structured(ann, "memory_write", messages=TALK, facts=FACTS, session="diary")
            await structured(bob, "memory_write", text="The pump leaks.", space="bob")
            mine = await structured(ann, "memory_status")
            assert "commit" not in mine["versions"]
            assert [row["space"] for row in mine["spaces"]] == ["ann"]
            assert (mine["space"], mine["counts"]["messages"]) == ("ann", mine["spaces"][0]["messages"])
            assert "bytes" not in mine["storage"]
            (shown,) = (await bob.read_resource("memory://spaces")).contents
            assert [row["space"] for row in json.loads(shown.text)["spaces"]] == ["bob"]
            listed = [resource.uri for resource in (await bob.list_resources()).resources]
            assert "memory://bob/sessions" in listed
            assert not any("ann" in uri for uri in listed)
            anns = (await structured(ann, "memory_reconstruct", query="adopted a dog"))["episode"]
            for name, arguments in (
                ("memory_write", {"text": "x", "space": "ann"}),
                ("memory_reconstruct", {"query": "dog", "space": "ann"}),
                ("memory_reconstruct", {"query": "dog", "spaces": ["bob", "ann"]}),
                ("memory_answer", {"question": "Who adopted a dog?", "space": "ann"}),
                ("memory_explore", {"operator": "timeline", "entity": "Ann", "space": "ann"}),
                ("memory_evolve", {"goal": "dogs", "space": "ann"}),
                ("memory_graph", {"space": "ann"}),
                ("memory_forget", {"everything": True, "space": "ann"}),
                ("memory_forget", {"everything": True, "space": "bob"}),
                ("memory_reconstruct", {"query": "dog", "space": "bobby"}),
            ):
                said = await refused(bob, name, **arguments)
                assert "your token does not allow" in said
                assert "Lisbon" not in said
            assert "does not allow to forget in 'bob'" in await refused(bob, "memory_forget", session="x", space="bob")
            judged = {"episode": anns, "feedback": {"supports": ["1"]}, "space": "bob"}
            assert "is not known" in await refused(bob, "memory_evolve", **judged)
            for path in ("status", "sessions", "sessions/diary", "entities", "entities/Ann", "timeline/Ann", "graph",
                         "graph.mermaid", "graph.graphml", "points", "topics", "wishes"):  # fmt: skip
                with pytest.raises(MCPError, match="nothing was ever written to a space 'ann'"):
                    await bob.read_resource(f"memory://ann/{path}")
            reference = ResourceTemplateReference(uri="memory://{space}/entities/{name}{?cursor}")
            spaces = await bob.complete(reference, {"name": "space", "value": ""})
            assert spaces.completion.values == ["bob"]
            names = await bob.complete(reference, {"name": "name", "value": ""}, {"space": "ann"})
            assert names.completion.values == []
            if mode == "auto":
                followed = ["memory://ann/sessions", "memory://bob/sessions"]
                async with bob.listen(resource_subscriptions=followed) as stream:
                    assert stream.honored.resource_subscriptions == followed[1:]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_caller_with_some_spaces_is_not_told_where_the_store_lies_when_it_fails(
    mode, tmp_path, caplog, monkeypatch
):
    memory = word_memory()
    healthy, reading = await memory.status(), memory.store.reading

    async def status():
        return replace(healthy, store=replace(healthy.store, uri="/srv/place", problems=("'/srv/place' is full.",)))

    async def evolve(request, _progress):
        raise (StoreBusy if request.goal else StoreUnwritable)("storage.uri '/srv/place' cannot be written to.")

    @asynccontextmanager
    async def away(whole=True):
        raise StoreError("storage.uri '/srv/place' cannot be read.")
        yield

    memory.status, memory.evolve = status, evolve
    damage = ("3 of 10 commits are gone. Damaged: /srv/place/turns.lance.",)
    monkeypatch.setattr(type(memory.store), "damage", damage)
    async with guarded(tmp_path, memory, stateless=False) as (url, file, ann):
        told = []
        for token in (ann, file.add(grant("owner", "*"))):
            async with client_of(url, token, mode) as client:
                await client.list_tools()
                said = [str(await client.call_tool("memory_status", {}))]
                said.append(await refused(client, "memory_evolve", goal="x"))
                said.append(await refused(client, "memory_evolve", episode="e", feedback={"supports": ["1"]}))
                memory.store.reading = away
                with pytest.raises(MCPError) as raised:
                    await client.read_resource("memory://ann/sessions")
                memory.store.reading = reading
                told.append([*said, str(raised.value)])
    assert not any("/srv" in text or "of 10" in text for text in told[0]), told[0]
    assert all("/srv/place" in text for text in told[1]), told[1]
    assert ["damaged" in told[0][0], "busy" in told[0][1], "cannot do this now" in told[0][2]] == [True] * 3
    assert "'/srv/place' cannot be written to" in caplog.text


async def test_a_stream_ends_when_its_token_is_revoked(tmp_path):
    async with guarded(tmp_path, stateless=False) as (url, file, ann):
        spaces = ["memory://spaces"]
        async with client_of(url, ann) as client, client.listen(resource_subscriptions=spaces) as stream:
            file.revoke("ann")
            with anyio.fail_after(300), pytest.raises(StopAsyncIteration):
                await anext(stream)


NO_MESSAGES = [
    (PING.replace("7", "NaN"), -32700),
    (PING.replace("7", "Infinity"), -32700),
    (PING.replace("}", ', "params": {"x": -Infinity}}'), -32700),
    (PING.replace("7", "1.5"), -32600),
    (PING.replace("7", "true"), -32600),
    (PING.replace("7", "null"), -32600),
    (PING.replace("7", "[1]"), -32600),
    (PING.replace("7", "9" * 6_000), -32700),
    (PING.replace("7", "[" * 50_000 + "]" * 50_000), -32700),
    ("[" * 100_000, -32700),
    (PING + PING, -32700),
    (f"[{PING}]", -32600),
    ("", -32700),
]


async def test_a_body_that_is_no_message_is_refused_as_over_stdio(tmp_path):
    async with guarded(tmp_path) as (url, _, ann):
        for revision in ("2025-06-18", "2026-07-28"):
            for body, code in NO_MESSAGES:
                reply = await post(url, ann, body, [("MCP-Protocol-Version", revision)])
                assert (reply.status_code, reply.json()["error"]["code"]) == (400, code), (revision, body[:100])


HOSTS = ["127.0.0.1#.evil", "127.0.0.1/.evil", "127.0.0.1\\.evil", "127.0.0.1/", "x@127.0.0.1", "127.0.0.1 evil",
         "//127.0.0.1", "http://127.0.0.1", "[127.0.0.1]", "127.1", "2130706433", "127.0.0.1.", "127.0.0.1%00",
         ""]  # fmt: skip


async def test_only_a_plain_name_of_the_server_is_one_and_a_body_has_one_length(tmp_path):
    async with guarded(tmp_path) as (url, _, ann):
        for host in HOSTS:
            raw = head(ann, len(PING)).replace(b"Host: 127.0.0.1", f"Host: {host}".encode()) + PING.encode()
            assert b" 421 " in await answer(url, raw), host
            page = head(ann, len(PING), more=f"Origin: http://{host}\r\n") + PING.encode()
            assert b" 403 " in await answer(url, page), host
        assert b" 200 " in await answer(url, head(ann, len(PING)) + PING.encode())
        chunked = f"{len(PING):x}\r\n{PING}\r\n0\r\n\r\n".encode()
        for more in ("Content-Length: 3\r\nContent-Length: 4\r\n", "Transfer-Encoding: gzip, chunked\r\n",
                     "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n"):  # fmt: skip
            assert b" 200 " not in await answer(url, head(ann, more=more) + chunked), more
        assert b" 200 " in await answer(url, head(ann, more="Transfer-Encoding: chunked\r\n") + chunked)
