"""Attacks on a server over HTTP, each refused with the right status, and callers who see their spaces only."""

import base64
import json
import time
from contextlib import asynccontextmanager
from dataclasses import replace

import anyio
import httpx2
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from integration.client_calls import FACTS, TALK, refused, structured
from integration.http_server import (
    AUDIENCE,
    HEADERS,
    HELLO,
    ISSUER,
    LIST,
    answer,
    client_of,
    closed,
    grant,
    guarded,
    head,
    post,
    public,
    request,
    signed,
    started,
    tool,
)
from mcp.shared.exceptions import MCPError
from mcp_types import ResourceTemplateReference
from word_memory import word_memory

from mcp_memory.errors import StoreBusy, StoreError, StoreUnwritable

pytestmark = pytest.mark.anyio
OTHER_KEY = ec.generate_private_key(ec.SECP256R1())


BAD_TOKENS = {  # others in unit/access/test_issuer.py
    "nonsense": lambda: "nonsense",
    "one of the right form": lambda: "mcpm_" + "A" * 43,
    "another issuer": lambda: signed(iss="https://evil.example"),
    "another audience": lambda: signed(aud="https://else.example/mcp"),
    "expired": lambda: signed(exp=int(time.time()) - 60),
    "another key under this name": lambda: signed(OTHER_KEY),
    "a key of its own": lambda: signed(OTHER_KEY, kid="one", header={"jwk": public(OTHER_KEY)}),
}


async def test_good_tokens_are_let_in_and_bad_ones_refused(tmp_path):
    async with guarded(tmp_path) as (url, _, ann):
        for good in (ann, signed(), signed(kid=None), signed(aud=[AUDIENCE, "https://else.example"])):
            assert (await post(url, good)).status_code == 200
        for name, bad in BAD_TOKENS.items():
            reply = await post(url, bad())
            assert reply.status_code == 401, name
            assert 'error="invalid_token"' in reply.headers["www-authenticate"], name
            assert "/.well-known/oauth-protected-resource/mcp" in reply.headers["www-authenticate"], name
        assert (await post(url, "mcpm_" + "A" * 20_000)).status_code in (400, 401)


async def test_what_is_not_a_single_bearer_token_in_its_header_is_refused(tmp_path):
    async with guarded(tmp_path) as (url, file, ann), httpx2.AsyncClient() as http:
        digest = file.list()[0].digest
        for headers, path in (
            ([], ""),
            ([("Authorization", "Bearer")], ""),
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
        metadata = (await http.get(f"{url}/.well-known/oauth-protected-resource/mcp")).json()
    assert metadata["authorization_servers"] == [ISSUER]


async def test_revoked_and_expired_tokens_and_those_that_allow_nothing_are_refused(tmp_path):
    async with guarded(tmp_path) as (url, file, ann):
        lasting = file.add(grant("lasting", "ann", expires=time.time() + 600))
        over = file.add(grant("over", "ann", expires=time.time() - 1))
        assert (await post(url, over)).status_code == 401
        for name, token in (("ann", ann), ("lasting", lasting)):
            assert (await post(url, token)).status_code == 200
            file.revoke(name)
            assert (await post(url, token)).status_code == 401
        file.revoke("over")
        nothing = await post(url, signed(scope="openid memory:dream:bea memory:read:../x"))
        assert nothing.status_code == 403
        assert 'error="insufficient_scope"' in nothing.headers["www-authenticate"]
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
    "a header names another space than the call": (modern(*NAMED, ("Mcp-Param-Space", "bob")), recall_in("ann"), 403),
    "two headers name two spaces": (
        modern(*NAMED, ("Mcp-Param-Space", "bob"), ("Mcp-Param-Space", "ann")), recall_in("ann"), 403,
    ),
    "a header names a space that the call has not": (modern(*NAMED, ("Mcp-Param-Space", "ann")), recall_in("bob"), 400),
    "no header names the space": (modern(), recall_in("bob"), 400),
    "the headers name a harmless method": (
        modern(("Mcp-Method", "tools/list"), ("Mcp-Name", "memory_status")), recall_in("ann"), 403,
    ),
    "the headers name another tool": (
        modern(("Mcp-Method", "tools/call"), ("Mcp-Name", "memory_status"), ("Mcp-Param-Space", "bob")),
        recall_in("bob"), 400,
    ),
    "several calls in one body": ([], [ANNS, LIST], 400),
    "one key twice, the foreign space last": ([], TEXT.replace('"space"', '"space": "bob", "space"'), 403),
    "one key twice, the tool last": ([], TEXT.replace('"name"', '"name": "memory_status", "name"'), 403),
    "a mark before the body": ([], b"\xef\xbb\xbf" + TEXT.encode(), 400),
    "another encoding": ([], TEXT.encode("utf-16"), 400),
    "another case": ([], tool("memory_reconstruct", query="pump", space="ANN"), 403),
    "another method in a header": ([("X-HTTP-Method-Override", "GET")], ANNS, 403),
    "an encoding that it has not": ([("Content-Encoding", "gzip")], ANNS, 403),
    "another user in a header": ([("X-Forwarded-User", "ann"), ("X-Remote-User", "ann")], ANNS, 403),
    "another path in a header": ([("X-Original-URL", "/healthz"), ("X-Rewrite-URL", "/healthz")], ANNS, 403),
}  # fmt: skip


async def test_foreign_names_and_requests_that_say_two_things_are_refused(tmp_path):
    async with guarded(tmp_path, word_memory(), json=True) as (url, file, ann):
        assert (await post(url, ann, tool("memory_write", text="The pump leaks."))).status_code == 200
        bob = file.add(grant("bob", "bob"))
        for name, (headers, body, status) in TRICKS.items():
            reply = await post(url, bob, body, headers)
            assert (reply.status_code, "leaks" in reply.text) == (status, False), (name, reply.text)


async def test_other_methods_and_other_spellings_of_the_path_need_a_token_as_well(tmp_path):
    async with guarded(tmp_path) as (url, _, ann), httpx2.AsyncClient() as http:
        for method in ("GET", "DELETE", "PUT", "PATCH", "HEAD", "OPTIONS", "TRACE"):
            assert (await http.request(method, f"{url}/mcp", headers=HEADERS)).status_code == 401, method
            if method != "GET":
                allowed = HEADERS | {"Authorization": f"Bearer {ann}"}
                assert (await http.request(method, f"{url}/mcp", headers=allowed)).status_code == 405, method
        for path in ("/mcp/", "/mcp%2f", "/./mcp", "/x/../mcp", "//mcp", "/MCP", "/mcp;x", "/metrics/", "/mcp/mcp"):
            for more, statuses in (({}, (401, 404)), ({"Host": "evil.example"}, (421, 404))):
                reply = await http.post(f"{url}{path}", headers=HEADERS | more, json=LIST)
                assert reply.status_code in statuses, path


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
        assert (await post(url, ann, b"[" + b"[]," * 300_000 + b"[]]")).status_code == 413


async def test_slow_headers_slow_bodies_and_broken_requests_are_refused(tmp_path):
    async with guarded(tmp_path, receive_s=0.5) as (url, _, ann):
        start = f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {ann}\r\n".encode()
        for parts, words in (
            ((), b" 408 "),
            ((start,), b" 408 "),
            ((start + b"Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{",), b" 408 "),
            ((b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\n\r\n",), b" 400 "),
            ((b"POST /mcp HTTP/1.0\r\n\r\n",), b" 421 "),
            ((start + b"X: " + b"x" * 100_000 + b"\r\n\r\n",), b" 400 "),
        ):
            assert words in await answer(url, *parts), parts
        ping = json.dumps(request("ping")).encode()
        stream = await started(url)
        for pause in (1.0, 0.0):  # a connection that is kept open is not slow
            await stream.send(head(ann, len(ping)) + ping)
            with anyio.fail_after(300):
                assert b" 200 " in await stream.receive()
                with anyio.move_on_after(pause):
                    while b" 408 " not in await stream.receive():
                        pass
                    raise AssertionError("the connection was ended")
        await stream.send(start)
        with anyio.fail_after(300):
            while b" 408 " not in await stream.receive():
                pass
        await closed(stream)


async def test_floods_are_refused_by_caller_whatever_address_they_claim(tmp_path):
    async with guarded(tmp_path, rate=0.001, burst=5) as (url, file, ann):
        bob = file.add(grant("bob", "bob"))
        seen = [
            (await post(url, ann, headers=[("X-Forwarded-For", f"10.0.0.{number}")])).status_code for number in range(7)
        ]
        assert seen == [200] * 5 + [429] * 2
        assert (await post(url, bob)).status_code == 200
        wrong = [(await post(url, "wrong")).status_code]
        while wrong[-1] == 401 and len(wrong) < 100:  # five seconds make up for one
            wrong.append((await post(url, "wrong")).status_code)
        assert len(wrong) > 20
        assert wrong[-1] == 429
        assert (await post(url, bob)).status_code == 200  # others' wrong tokens do not lock anybody out


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
                with pytest.raises(MCPError, match="your token does not allow") as raised:
                    await bob.call_tool(name, arguments)
                assert "Lisbon" not in str(raised.value)
            judged = {"episode": anns, "feedback": {"supports": ["1"]}, "space": "bob"}
            assert "is not known" in await refused(bob, "memory_evolve", **judged)
            for path in ("status", "sessions", "sessions/diary", "entities", "entities/Ann", "timeline/Ann", "graph",
                         "graph.mermaid", "graph.graphml", "points", "topics", "wishes"):  # fmt: skip
                with pytest.raises(MCPError, match="your token does not allow to read in 'ann'"):
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


@pytest.mark.parametrize("json_replies", [True, False])
async def test_a_right_that_a_token_does_not_have_is_answered_by_403_and_the_scopes_that_it_would_take(
    json_replies, tmp_path
):
    memory = word_memory()
    async with guarded(tmp_path, memory, json=json_replies) as (url, file, ann):
        await post(url, ann, tool("memory_write", text="The pump leaks."))
        reader = file.add(grant("reader", "bob", rights=("read",)))
        blind = file.add(grant("blind", "bob", rights=("write",)))
        by_issuer = signed(scope="memory:read:bob")
        for token, body, scopes in (
            (reader, tool("memory_write", text="x", space="bob"), "memory:write:bob"),
            (reader, tool("memory_write", text="x"), "memory:write:bob"),  # what it means, who names no space
            (reader, tool("memory_write"), "memory:write:bob"),  # the right comes first, whatever else is wrong
            (by_issuer, tool("memory_write", text="x", space="bob"), "memory:write:bob"),
            (reader, tool("memory_forget", everything=True, space="bob"), "memory:forget:bob memory:read:bob"),
            (reader, tool("memory_evolve", goal="pumps", space="bob"), "memory:read:bob memory:write:bob"),
            (reader, tool("memory_reconstruct", query="pump", space="ann"), "memory:read:ann"),
            (reader, tool("memory_reconstruct", query="pump", spaces=["bob", "ann"]), "memory:read:ann"),
            (reader, tool("memory_reconstruct", query="pump", spaces='["ann"]'), "memory:read:ann"),
            (reader, tool("memory_reconstruct", query="pump", space="nobodys"), "memory:read:nobodys"),
            (blind, tool("memory_reconstruct", query="pump", space="bob"), "memory:read:bob"),
            (reader, request("resources/read", uri="memory://ann/status"), "memory:read:ann"),
            (reader, request("resources/read", uri="memory://%61nn/status"), "memory:read:ann"),
            (reader, request("resources/read", uri="memory://nobodys/entities/Ann"), "memory:read:nobodys"),
            (reader, request("resources/subscribe", uri="memory://ann/sessions"), "memory:read:ann"),
            (reader, tool("memory_graph", space="ä"), ""),
        ):
            reply = await post(url, token, body)
            assert reply.status_code == 403, body
            header = reply.headers["www-authenticate"]
            assert header.startswith('Bearer error="insufficient_scope", '), header
            assert (f'scope="{scopes}"' in header) if scopes else ("scope=" not in header)
            assert "/.well-known/oauth-protected-resource/mcp" in header
            said = reply.json()
            assert said["id"] == 7
            assert "your token does not allow" in said["error"]["message"]
        for body in (
            tool("memory_reconstruct", query="pump", space="bob"),
            tool("memory_reconstruct", query="pump", space="no\nname"),
            request("resources/read", uri="memory://spaces"),
            request("resources/read", uri='memory://"%0A/status'),
        ):
            assert (await post(url, reader, body)).status_code in (200, 400), body
    assert not memory.store._view.space("bob").turns


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_caller_with_some_spaces_is_not_told_where_the_store_lies_when_it_fails(mode, tmp_path, caplog):
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
    memory.store.damage = ("3 of 10 commits are gone. Damaged: /srv/place/turns.lance.",)
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


async def test_the_audit_log_says_who_did_what_and_counts_what_was_stored_without_texts(tmp_path):
    fact = {"head": "Ann", "relation": "lives_in", "tail": "Lisbon", "valid_from": "2023-05-01"}
    memory = word_memory()
    async with guarded(tmp_path, memory) as (url, _, ann), client_of(url, ann) as client:
        for arguments in ({"messages": TALK, "session": "diary"}, {"facts": [fact]}):
            for _ in ("new", "there already"):
                await structured(client, "memory_write", **arguments)
        await structured(client, "memory_reconstruct", query="adopted a dog")
        with pytest.raises(MCPError, match="does not allow"):
            await client.call_tool("memory_reconstruct", {"query": "secret plans", "space": "bob"})
        await client.read_resource("memory://ann/sessions/diary")
    text = (tmp_path / "audit.jsonl").read_text()
    lines = [json.loads(line) for line in text.splitlines()]
    seen = [(line["who"], line["what"], line["space"], line["outcome"]) for line in lines]
    assert ("ann", "memory_write", "ann", "ok") in seen
    assert ("ann", "memory_reconstruct", "bob", "refused") in seen
    assert ("ann", "session", "ann", "ok") in seen
    assert [line["count"] for line in lines if line["what"] == "memory_write"] == [len(TALK), 0, 1, 0]
    assert not any(word in text for word in ("Lisbon", "dog", "diary", "secret", ann))
    assert (tmp_path / "audit.jsonl").stat().st_mode & 0o077 == 0
