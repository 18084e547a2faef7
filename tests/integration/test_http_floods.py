"""One caller, or nobody's connections, never take so much of a server over HTTP that others are not served."""

import json
import logging
import random
import socket
import threading
from dataclasses import replace

import anyio
import httpx2
import pytest
from integration.http_server import (
    HELLO,
    LIST,
    PING,
    answer,
    client_of,
    closed,
    grant,
    guarded,
    head,
    post,
    received,
    request,
    started,
    tool,
)
from word_memory import word_memory

from mcp_memory.domain.access import CALLER
from mcp_memory.server import subscriptions
from mcp_memory.server.tools.catalogue import TOOLS

pytestmark = pytest.mark.anyio


async def served(*call, **how):
    """Call until the answer is not 429, since a connection that is closed is noticed a little later."""
    with anyio.fail_after(20):
        while (await post(*call, **how)).status_code == 429:  # noqa: ASYNC110 - the server has no event for it
            await anyio.sleep(0.02)


async def test_a_caller_may_have_a_part_of_all_sessions_and_the_others_have_theirs(tmp_path):
    async with guarded(tmp_path, stateless=False, sessions=8) as (url, file, ann):
        tokens = [file.add(grant(name, name)) for name in ("bob", "cid", "dan", "eve")]
        seen = [(await post(url, ann, HELLO)).status_code for _ in range(4)]
        assert seen == [200, 200, 429, 429]
        refused = await post(url, ann, HELLO)
        assert ("sessions of one caller" in refused.text, refused.headers["retry-after"]) == (True, "5")
        for token in tokens[:3]:
            assert [(await post(url, token, HELLO)).status_code for _ in range(2)] == [200, 200]
        assert (await post(url, tokens[3], HELLO)).status_code == 503


async def test_a_caller_may_have_a_part_of_all_streams_and_requests_and_gets_them_back(tmp_path):
    async with guarded(tmp_path, connections=20) as (url, file, ann):
        bob = file.add(grant("bob", "bob"))
        slow = [await started(url, head(ann, 100), b"{") for _ in range(5)]
        for _ in range(3):
            over = await post(url, ann)
            assert (over.status_code, "requests of one caller" in over.text) == (429, True)
            assert (await post(url, bob)).status_code == 200
        await closed(*slow)
        await served(url, ann)
    (tmp_path / "two").mkdir()
    async with guarded(tmp_path / "two", stateless=False, connections=20, sessions=100) as (url, file, ann):
        bob = file.add(grant("bob", "bob"))
        sessions = [(await post(url, ann, HELLO)).headers["mcp-session-id"] for _ in range(5)]
        streams = [await started(url, head(ann, method="GET", more=f"Mcp-Session-Id: {one}\r\n")) for one in sessions]
        assert [b" 200 " in await received(stream) for stream in streams] == [True] * 5
        assert (await post(url, ann, request("ping"))).status_code == 429
        assert (await post(url, bob, HELLO)).status_code == 200
        await closed(*streams)
        await served(url, ann, HELLO)


async def test_the_bytes_of_a_callers_bodies_are_counted_until_its_calls_have_ended(tmp_path):
    memory, go = word_memory(), anyio.Event()
    memory.pause = go.wait
    limits = {"body_bytes": 10_000, "held_bytes": 100_000, "caller_share": 0.3}
    async with guarded(tmp_path, memory, stateless=False, **limits) as (url, file, ann):
        bob = file.add(grant("bob", "bob"))
        slow = [await started(url, head(ann, 9_000), b"{" + b" " * 8_000) for _ in range(3)]
        for _ in range(2):
            refused = await post(url, ann, tool("memory_write", text="x" * 8_000))
            assert (refused.status_code, "bytes of requests of one caller" in refused.text) == (429, True)
        assert (await post(url, bob, request("ping"))).status_code == 400  # it has no session, and is read
        await closed(*slow)
        session = (await post(url, ann, HELLO)).headers["mcp-session-id"]
        mine = [("Mcp-Session-Id", session)]
        body = json.dumps(tool("memory_write", text="x" * 8_000)).encode()
        for _ in range(3):  # who leaves while the call goes on gets nothing back for that
            stream = await started(url, head(ann, len(body), more=f"Mcp-Session-Id: {session}\r\n"), body)
            assert b" 200 " in await received(stream)
            await closed(stream)
        assert (await post(url, ann, tool("memory_write", text="x" * 8_000), headers=mine)).status_code == 429
        go.set()
        await served(url, ann, tool("memory_write", text="y" * 8_000), headers=mine)


async def test_connections_that_bring_no_request_make_room_for_those_that_do(tmp_path):
    async with guarded(tmp_path, connections=20) as (url, _, ann):
        idle = []
        for kind in ((), (b"POST /mcp HT",), (head("wrong", 9_000), b"{"), (head("wrong", 0),)):
            idle += [await started(url, *kind) for _ in range(30)]
            assert (await post(url, ann)).status_code == 200
            async with httpx2.AsyncClient() as http:
                assert (await http.get(f"{url}/readyz")).text == "ready"
        await closed(*idle)


async def test_who_does_not_take_replies_holds_up_nobody(tmp_path):
    body = json.dumps(LIST).encode()
    how = {"connections": 10, "caller_share": 1.0, "receive_s": 0.5, "json": True}
    async with guarded(tmp_path, **how) as (url, file, ann):
        bob, greedy = file.add(grant("bob", "bob")), []
        for _ in range(15):
            greedy.append(socket.socket())
            greedy[-1].setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2_048)
            greedy[-1].connect(("127.0.0.1", int(url.rpartition(":")[2])))
            greedy[-1].setblocking(False)
            greedy[-1].send((head(ann, len(body)) + body) * 12)
            await anyio.sleep(0.1)
        with anyio.fail_after(20):
            while (await post(url, bob)).status_code != 200:  # noqa: ASYNC110 - the server has no event for it
                await anyio.sleep(0.1)
            for _ in range(5):
                assert (await post(url, bob)).status_code == 200
        for one in greedy:
            one.close()


async def test_calls_of_one_caller_wait_for_each_other_and_nobody_elses(tmp_path):
    memory, go, running = word_memory(), anyio.Event(), []

    async def pause():
        if CALLER.get().caller == "ann":
            running.append(1)
            await go.wait()

    memory.pause = pause
    async with guarded(tmp_path, memory, caller_calls=3, json=True) as (url, file, ann):
        bob = file.add(grant("bob", "bob"))
        seen = []

        async def write(number):
            seen.append((await post(url, ann, tool("memory_write", text=f"{number}."))).status_code)

        async with anyio.create_task_group() as tasks:
            for number in range(9):
                tasks.start_soon(write, number)
            for number in range(3):
                reply = await post(url, bob, tool("memory_write", text=f"{number}."))
                assert reply.json()["result"]["isError"] is False
            assert len(running) <= 3
            go.set()
        assert seen == [200] * 9


async def test_large_bodies_count_as_several_requests(tmp_path):
    async with guarded(tmp_path, rate=0.1, burst=5) as (url, file, ann):
        bob = file.add(grant("bob", "bob"))
        assert (await post(url, ann, b" " * 1_100_000)).status_code == 400
        refused = await post(url, ann, request("ping"))
        assert (refused.status_code, 10 < int(refused.headers["retry-after"]) <= 30) == (429, True)
        assert (await post(url, bob, request("ping"))).status_code == 200


async def test_the_arguments_of_a_call_are_read_once_and_those_of_a_large_one_hold_up_nobody(tmp_path, monkeypatch):
    write, read, go, reading = TOOLS["memory_write"], [], threading.Event(), anyio.Event()

    def run(args):
        read.append(threading.current_thread() is threading.main_thread())
        if not read[-1]:
            anyio.from_thread.run_sync(reading.set)
            assert go.wait(20)
        return write.run(args)

    monkeypatch.setitem(TOOLS, "memory_write", replace(write, run=run))
    async with guarded(tmp_path, word_memory(), caller_calls=1, json=True) as (url, file, ann):
        bob = file.add(grant("bob", "bob"))
        large, foreign = tool("memory_write", text="x " * 10_000), tool("memory_write", text="x", space="bob")
        async with anyio.create_task_group() as tasks:
            for _ in range(3):
                tasks.start_soon(post, url, ann, large)
            with anyio.fail_after(20):
                await reading.wait()
            assert (await post(url, bob, tool("memory_write", text="Pump 3 leaks."))).status_code == 200
            assert (await post(url, ann, foreign)).status_code == 403
            assert read == [False, True]  # the other large ones wait for their turn
            go.set()
    assert read == [False, True, False, False]


@pytest.mark.filterwarnings("ignore:resources/subscribe is removed")
async def test_a_caller_may_follow_so_many_resources_over_all_its_clients(tmp_path, monkeypatch):
    monkeypatch.setattr(subscriptions, "FOLLOWED_BY_CALLER", 3)
    async with guarded(tmp_path, stateless=False) as (url, file, ann):
        bob = file.add(grant("bob", "bob"))
        async with client_of(url, ann, "legacy") as one, client_of(url, ann, "legacy") as other:
            for client, name in ((one, "a"), (one, "b"), (other, "c")):
                await client.subscribe_resource(f"memory://ann/entities/{name}")
            with pytest.raises(Exception, match="There may be 3"):
                await other.subscribe_resource("memory://ann/entities/d")
            async with client_of(url, bob, "legacy") as theirs:
                await theirs.subscribe_resource("memory://bob/entities/a")


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
                found = reply.status_code, reply.json()["error"]["code"], reply.json()["id"]
                assert found == (400, code, None), (revision, body[:100])


HOSTS = ["127.0.0.1#.evil", "127.0.0.1?.evil", "127.0.0.1/.evil", "127.0.0.1\\.evil", "127.0.0.1/", "@127.0.0.1",
         "x@127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:80:80", "127.0.0.1 evil", "127.0.0.1,evil",
         "//127.0.0.1", "http://127.0.0.1", "[127.0.0.1]", "127.1", "2130706433", "127.0.0.1.", "127.0.0.1%00",
         ""]  # fmt: skip


async def test_only_a_plain_name_of_the_server_is_one_and_a_body_has_one_length(tmp_path):
    chunked = f"{len(PING):x}\r\n{PING}\r\n0\r\n\r\n".encode()
    async with guarded(tmp_path) as (url, _, ann):
        for host in HOSTS:
            raw = head(ann, len(PING)).replace(b"Host: 127.0.0.1", f"Host: {host}".encode()) + PING.encode()
            assert b" 421 " in await answer(url, raw), host
            page = head(ann, len(PING), more=f"Origin: http://{host}\r\n") + PING.encode()
            assert b" 403 " in await answer(url, page), host
        assert b" 200 " in await answer(url, head(ann, len(PING)) + PING.encode())
        for length in (len(PING), len(chunked), 3, 0):
            both = head(ann, length, more="Transfer-Encoding: chunked\r\n") + chunked
            assert b" 400 " in await answer(url, both), length
        for more in ("Content-Length: 3\r\nContent-Length: 4\r\n", "Transfer-Encoding: gzip, chunked\r\n",
                     "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n"):  # fmt: skip
            assert b" 200 " not in await answer(url, head(ann, more=more) + chunked), more
        assert b" 200 " in await answer(url, head(ann, more="Transfer-Encoding: chunked\r\n") + chunked)


PIECES = [b"\r\n", b"\n", b"\x00", b"\xff\xfe", b" ", b":", b"NaN", b"{", b"[" * 50, b'"', b"\\ud800", b"9" * 300,
          b"\r\n\r\n", b"Host: evil\r\n", b"Transfer-Encoding: chunked\r\n", b"Content-Length: 7\r\n",
          b"HTTP/0.9", b"../", b"Upgrade: websocket\r\nConnection: Upgrade\r\n", b"Expect: 100-continue\r\n",
          b"%00", b"A" * 3_000]  # fmt: skip


def mutated(random, raw):
    """Return a request that somebody has broken in one to five places."""
    for _ in range(random.randint(1, 5)):
        place, end = sorted(random.choices(range(len(raw) + 1), k=2))
        raw = random.choice(
            (
                raw[:place] + random.choice(PIECES) + raw[place:],
                raw[:place] + raw[min(end, place + 9) :],
                raw[:place] + bytes((random.randrange(256),)) + raw[place + 1 :],
                raw[:end],
                raw + raw[place:end],
            )
        )
    return raw


@pytest.mark.parametrize("seed", range(2))
async def test_whatever_bytes_come_the_server_stands_and_others_are_served(seed, tmp_path, caplog):
    caplog.set_level(logging.ERROR)
    chance = random.Random(seed)
    how = {"receive_s": 1.0, "rate": 10_000.0, "burst": 10_000, "connections": 60, "stateless": bool(seed % 2)}
    async with guarded(tmp_path, word_memory(), **how) as (url, file, ann):
        bob = file.add(grant("bob", "bob", rights=("read",)))
        bodies = [json.dumps(body) for body in (
            HELLO, tool("memory_write", text="x", space="ann"), tool("memory_reconstruct", query="pump", space="bob"),
            request("resources/read", uri="memory://bob/status"), request("subscriptions/listen", notifications={}),
        )]  # fmt: skip
        session = {} if seed % 2 else {"Mcp-Session-Id": (await post(url, ann, HELLO)).headers["mcp-session-id"]}
        limit, slowest = anyio.CapacityLimiter(20), 0.0

        async def attack():
            body = chance.choice(bodies).encode()
            raw = mutated(chance, head(chance.choice((bob, "wrong")), len(body)) + body)
            async with limit:
                await answer(url, raw, seconds=0.2)

        async with anyio.create_task_group() as tasks:
            for _ in range(150):
                tasks.start_soon(attack)
            for number in range(15):
                began = anyio.current_time()
                reply = await post(url, ann, tool("memory_write", text=f"Pump {number} leaks."), session.items())
                assert '"isError":false' in reply.text, reply.text
                slowest = max(slowest, anyio.current_time() - began)
        assert slowest < 10  # on a busy machine; alone it is a tenth
        found = await post(url, ann, tool("memory_reconstruct", query="pump leaks", space="ann"), session.items())
        assert "leaks" in found.text
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []
