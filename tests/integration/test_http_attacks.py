"""Attacks on a server over HTTP, each refused with the right status, and callers who see their spaces only."""

import base64
import json
import time
from contextlib import asynccontextmanager
from dataclasses import replace

import anyio
import httpx2
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from fakes import FakeEmbedder, FakeStore
from integration.client_calls import structured
from integration.http_server import SETTINGS, client_of, listening
from integration.word_client import FACTS, TALK, refused
from mcp.shared.exceptions import MCPError
from mcp_types import ResourceTemplateReference
from word_memory import WordMemory

from mcp_memory.access.settings import AccessSettings
from mcp_memory.domain.access import RIGHTS, Grant, Permission
from mcp_memory.errors import StoreBusy, StoreError, StoreUnwritable
from mcp_memory.memory import Memory
from mcp_memory.reconstruct.graph import CueGraph
from mcp_memory.search.candidates import INDEXES
from mcp_memory.server.http.access import open_access, token_file
from mcp_memory.view.view import View

pytestmark = pytest.mark.anyio

ISSUER, AUDIENCE = "https://issuer.example", "https://memory.example/mcp"
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
HEADERS = {"MCP-Protocol-Version": "2025-06-18", "Accept": "application/json, text/event-stream"}
KEY, OTHER_KEY = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())


def public(key):
    return json.loads(jwt.algorithms.ECAlgorithm.to_jwk(key.public_key()))


def settings_in(folder, **http):
    (folder / "jwks.json").write_text(json.dumps({"keys": [public(KEY) | {"kid": "one", "use": "sig"}]}))
    access = AccessSettings(
        str(folder / "tokens.json"), issuer=ISSUER, audience=AUDIENCE, jwks=str(folder / "jwks.json")
    )
    return replace(SETTINGS, access=access, http=replace(SETTINGS.http, **{"stateless": True} | http))


def grant(name, *spaces, rights=RIGHTS, **how):
    return Grant(name, tuple(Permission(space, frozenset(rights)) for space in spaces), **how)


@asynccontextmanager
async def guarded(folder, memory=None, **http):
    settings = settings_in(folder, **http)
    file = token_file(settings)
    ann = file.add(grant("ann", "ann"))
    async with listening(settings, open_access(settings), memory=memory) as url:
        yield url, file, ann


async def post(url, token=None, body=LIST, headers=(), **how):
    given = list(HEADERS.items()) + ([("Authorization", f"Bearer {token}")] if token else []) + list(headers)
    async with httpx2.AsyncClient(timeout=20) as http:
        return await http.post(f"{url}/mcp", headers=given, **({"json": body} | how))


def claims(**changed):
    now = int(time.time())
    usual = {"iss": ISSUER, "aud": AUDIENCE, "sub": "bea", "iat": now, "exp": now + 60}
    usual["scope"] = "openid memory:read:bea memory:write:bea"
    return {name: value for name, value in (usual | changed).items() if value is not None}


def signed(key=KEY, algorithm="ES256", kid="one", typ="at+jwt", header=None, **changed):
    headers = {"typ": typ, **({"kid": kid} if kid else {}), **(header or {})}
    return jwt.encode(claims(**changed), key, algorithm, headers=headers)


def forged_payload():
    head, _, signature = signed().split(".")
    payload = base64.urlsafe_b64encode(json.dumps(claims(scope="memory:read:*")).encode()).decode().rstrip("=")
    return f"{head}.{payload}.{signature}"


def by_public_key_as_secret():
    """Sign by hand what the library refuses to sign."""
    import hashlib
    import hmac

    def part(value):
        return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=")

    text = part({"alg": "HS256", "typ": "at+jwt", "kid": "one"}) + b"." + part(claims())
    mac = hmac.new(json.dumps(public(KEY)).encode(), text, hashlib.sha256).digest()
    return (text + b"." + base64.urlsafe_b64encode(mac).rstrip(b"=")).decode()


async def test_a_good_token_of_this_server_and_one_of_the_issuer_are_let_in(tmp_path):
    async with guarded(tmp_path) as (url, _, ann):
        assert (await post(url, ann)).status_code == 200
        assert (await post(url, signed())).status_code == 200
        assert (await post(url, signed(kid=None))).status_code == 200
        assert (await post(url, signed(aud=[AUDIENCE, "https://else.example"]))).status_code == 200


BAD_TOKENS = {
    "nonsense": lambda: "nonsense",
    "one of the right form": lambda: "mcpm_" + "A" * 43,
    "an endless one": lambda: "mcpm_" + "A" * 20_000,
    "no algorithm": lambda: jwt.encode(claims(), None, "none", headers={"kid": "one", "typ": "at+jwt"}),
    "the public key as a secret": by_public_key_as_secret,
    "another issuer": lambda: signed(iss="https://evil.example"),
    "another audience": lambda: signed(aud="https://else.example/mcp"),
    "no audience": lambda: signed(aud=None),
    "expired": lambda: signed(exp=int(time.time()) - 60),
    "without an end": lambda: signed(exp=None),
    "not valid yet": lambda: signed(nbf=int(time.time()) + 600),
    "another key under this name": lambda: signed(OTHER_KEY),
    "an unknown key": lambda: signed(OTHER_KEY, kid="two"),
    "a key of its own": lambda: signed(OTHER_KEY, kid="one", header={"jwk": public(OTHER_KEY)}),
    "another payload": forged_payload,
    "a logout token": lambda: signed(typ="logout+jwt"),
    "nobody's": lambda: signed(sub=None),
    "a tenant where there are none": lambda: signed(tenant="acme"),
    "a tenant up the tree": lambda: signed(tenant="../acme"),
}


@pytest.mark.parametrize("bad", BAD_TOKENS.values(), ids=BAD_TOKENS)
async def test_a_bad_token_is_refused(bad, tmp_path):
    async with guarded(tmp_path) as (url, _, _):
        reply = await post(url, bad())
    assert reply.status_code in (400, 401) if len(bad()) > 10_000 else reply.status_code == 401
    if reply.status_code == 401:
        assert 'error="invalid_token"' in reply.headers["www-authenticate"]
        assert "/.well-known/oauth-protected-resource/mcp" in reply.headers["www-authenticate"]


async def test_what_is_not_a_single_bearer_token_in_its_header_is_refused(tmp_path):
    async with guarded(tmp_path) as (url, file, ann):
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
            async with httpx2.AsyncClient() as http:
                reply = await http.post(f"{url}/mcp{path}", headers=[*HEADERS.items(), *headers], json=LIST)
            assert reply.status_code == 401, headers
        async with httpx2.AsyncClient() as http:
            metadata = (await http.get(f"{url}/.well-known/oauth-protected-resource/mcp")).json()
    assert metadata["authorization_servers"] == [ISSUER]


async def test_revoked_and_expired_tokens_and_those_that_allow_nothing_are_refused(tmp_path):
    async with guarded(tmp_path) as (url, file, ann):
        lasting = file.add(grant("lasting", "ann", expires=time.time() + 600))
        over = file.add(grant("over", "ann", expires=time.time() - 1))
        assert (await post(url, lasting)).status_code == 200
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


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ([("Host", "evil.example")], 421),
        ([("Host", "127.0.0.1.evil.example")], 421),
        ([("Host", "127.0.0.1@evil.example")], 421),
        ([("Host", "evil.example"), ("X-Forwarded-Host", "127.0.0.1")], 421),
        ([("Origin", "https://evil.example")], 403),
        ([("Origin", "null")], 403),
        ([("Origin", "http://127.0.0.1.evil.example")], 403),
        ([("Origin", "http://127.0.0.1@evil.example")], 403),
        ([("Content-Type", "text/plain")], 400),
        ([("Mcp-Session-Id", "0123456789abcdef0123456789abcdef")], 404),
        ([("MCP-Protocol-Version", "1999-01-01")], 400),
    ],
)
async def test_foreign_names_pages_and_headers_are_refused(headers, status, tmp_path):
    names = {name for name, _ in headers}
    async with (
        guarded(tmp_path, stateless="Mcp-Session-Id" not in names) as (url, _, ann),
        httpx2.AsyncClient() as http,
    ):
        usual = {name: value for name, value in HEADERS.items() if name not in names}
        given = [*usual.items(), ("Authorization", f"Bearer {ann}"), *headers]
        assert (await http.post(f"{url}/mcp", headers=given, json=LIST)).status_code == status


async def test_bodies_that_are_too_large_or_not_json_are_refused(tmp_path):
    async def pieces():
        for _ in range(200):
            yield b"x" * 1_000

    async with guarded(tmp_path, body_bytes=100_000) as (url, _, ann):
        json_type = [("Content-Type", "application/json")]
        assert (await post(url, ann, json=None, content=b"x" * 200_000, headers=json_type)).status_code == 413
        assert (await post(url, ann, json=None, content=pieces(), headers=json_type)).status_code == 413
        assert (await post(url, ann, json=None, content=b"{", headers=json_type)).status_code == 400
    async with guarded(tmp_path / "..", body_bytes=10_000_000) as (url, file, ann):
        many = b"[" + b"[]," * 300_000 + b"[]]"
        assert (await post(url, ann, json=None, content=many, headers=json_type)).status_code == 413
        assert file.path.name == "tokens.json"


async def _raw(url, *parts, wait=30.0):
    """Send parts of a request as they are, and return what comes."""
    host, port = url.removeprefix("http://").split(":")
    async with await anyio.connect_tcp(host, int(port)) as stream:
        for part in parts:
            await stream.send(part)
        with anyio.fail_after(wait):
            return await stream.receive()


async def test_slow_headers_slow_bodies_and_broken_requests_are_refused(tmp_path):
    async with guarded(tmp_path, receive_s=0.5) as (url, _, ann):
        start = f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {ann}\r\n".encode()
        assert b" 408 " in await _raw(url)
        assert b" 408 " in await _raw(url, start)
        body = start + b"Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
        assert b" 408 " in await _raw(url, body)
        ping = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}'
        whole = start + f"Accept: application/json, text/event-stream\r\nContent-Length: {len(ping)}\r\n".encode()
        whole += b"Content-Type: application/json\r\nMCP-Protocol-Version: 2025-06-18\r\n\r\n" + ping
        host, port = url.removeprefix("http://").split(":")
        async with await anyio.connect_tcp(host, int(port)) as stream:  # one that is kept open is not slow
            for pause in (1.0, 0.0):
                await stream.send(whole)
                with anyio.fail_after(300):
                    assert b" 200 " in await stream.receive()
                    with anyio.move_on_after(pause):
                        while b" 408 " not in await stream.receive():
                            pass
                        raise AssertionError("the connection was ended")
            await stream.send(start)
            with anyio.fail_after(300):
                received = b""
                while b" 408 " not in received:
                    received = await stream.receive()
        twice = b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\n\r\n"
        assert b" 400 " in await _raw(url, twice)
        assert b" 421 " in await _raw(url, b"POST /mcp HTTP/1.0\r\n\r\n")
        smuggled = start + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n"
        assert b" 200 " not in await _raw(url, smuggled)
        assert b" 400 " in await _raw(url, start + b"X: " + b"x" * 100_000 + b"\r\n\r\n")


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
        client = {"name": "attack", "version": "1"}
        opening = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
        hello = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": opening}
        session = (await post(url, ann, hello)).headers["mcp-session-id"]
        mine = [("Mcp-Session-Id", session)]
        assert (await post(url, bob, headers=mine)).status_code == 404
        assert (await post(url, None, headers=mine)).status_code == 401
        async with httpx2.AsyncClient() as http:
            gone = await http.delete(f"{url}/mcp", headers=[*mine, ("Authorization", f"Bearer {bob}")])
            assert gone.status_code == 404
        assert (await post(url, ann, headers=mine)).status_code == 200
        assert (await post(url, bob, hello)).status_code == 200
        assert (await post(url, file.add(grant("cid", "cid")), hello)).status_code == 503


@asynccontextmanager
async def two_callers(folder, mode):
    """Yield clients of ann and of bob, who have a space each, with something in both."""
    memory = WordMemory()
    async with guarded(folder, memory, stateless=False) as (url, file, ann):
        bob = file.add(grant("bob", "bob", "bob-*", rights=("read", "write")))
        async with client_of(url, ann, mode) as ann_client, client_of(url, bob, mode) as bob_client:
            await structured(ann_client, "memory_write", messages=TALK, facts=FACTS, session="diary")
            await structured(bob_client, "memory_write", text="The pump leaks.", space="bob")
            yield ann_client, bob_client


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_caller_sees_its_spaces_only(mode, tmp_path):
    async with two_callers(tmp_path, mode) as (ann, bob):
        mine = await structured(ann, "memory_status")
        assert [row["space"] for row in mine["spaces"]] == ["ann"]
        assert (mine["space"], mine["counts"]["messages"]) == ("ann", mine["spaces"][0]["messages"])
        assert "bytes" not in mine["storage"]
        (part,) = (await bob.read_resource("memory://spaces")).contents
        assert [row["space"] for row in json.loads(part.text)["spaces"]] == ["bob"]
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


def request(method, **params):
    return {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}


def tool(name, **arguments):
    return request("tools/call", name=name, arguments=arguments)


@pytest.mark.parametrize("json_replies", [True, False])
async def test_a_right_that_a_token_does_not_have_is_answered_by_403_and_the_scopes_that_it_would_take(
    json_replies, tmp_path
):
    memory = WordMemory()
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
            tool("memory_reconstruct", query="pump"),
            tool("memory_reconstruct", query="pump", space="no\nname"),
            tool("memory_reconstruct", space="bob"),
            request("resources/read", uri="memory://spaces"),
            request("resources/read", uri='memory://"%0A/status'),
        ):
            assert (await post(url, reader, body)).status_code in (200, 400), body
    assert not memory.view.space("bob").turns


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_caller_with_some_spaces_is_not_told_where_the_store_lies_when_it_fails(mode, tmp_path, caplog):
    class Failing(WordMemory):
        damage = ("3 of 10 commits are gone. Damaged: /srv/place/turns.lance.",)

        async def status(self):
            found = await super().status()
            return replace(found, store=replace(found.store, uri="/srv/place", problems=("'/srv/place' is full.",)))

        async def evolve(self, request, progress):
            raise (StoreBusy if request.goal else StoreUnwritable)("storage.uri '/srv/place' cannot be written to.")

        @asynccontextmanager
        async def reading(self, whole=True):
            raise StoreError("storage.uri '/srv/place' cannot be read.")
            yield

    async with guarded(tmp_path, Failing(), stateless=False) as (url, file, ann):
        told = []
        for token in (ann, file.add(grant("owner", "*"))):
            async with client_of(url, token, mode) as client:
                await client.list_tools()
                said = [
                    str(await client.call_tool("memory_status", {})),
                    await refused(client, "memory_evolve", goal="x"),
                ]
                said.append(await refused(client, "memory_evolve", episode="e", feedback={"supports": ["1"]}))
                with pytest.raises(MCPError) as raised:
                    await client.read_resource("memory://ann/sessions")
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


async def test_the_audit_log_says_who_did_what_without_texts(tmp_path):
    async with guarded(tmp_path) as (url, _, ann), client_of(url, ann) as client:
        await structured(client, "memory_write", messages=TALK, session="diary")
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
    assert not any(word in text for word in ("Lisbon", "dog", "diary", "secret", ann))
    assert (tmp_path / "audit.jsonl").stat().st_mode & 0o077 == 0


async def test_the_audit_log_counts_what_a_write_stored_and_not_what_was_there_already(tmp_path):
    fact = {"head": "Ann", "relation": "lives_in", "tail": "Lisbon", "valid_from": "2023-05-01"}
    memory = Memory(SETTINGS, FakeStore(dimension=64, make_view=lambda: View((*INDEXES, CueGraph))), FakeEmbedder())
    async with guarded(tmp_path, memory) as (url, _, ann), client_of(url, ann) as client:
        for arguments in ({"messages": TALK}, {"facts": [fact]}):
            await structured(client, "memory_write", **arguments)
            await structured(client, "memory_write", **arguments)
    lines = [json.loads(line) for line in (tmp_path / "audit.jsonl").read_text().splitlines()]
    assert [line["count"] for line in lines if line["what"] == "memory_write"] == [len(TALK), 0, 1, 0]
