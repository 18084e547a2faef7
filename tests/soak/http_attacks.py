"""Attack a real server over HTTP in many ways, one after the other, and see how long another caller waits meanwhile.

``python tests/soak/http_attacks.py --seconds 8``: a process with a store and two tokens; one caller attacks with its
own token, with wrong ones, or with none, the other writes and recalls. Prints for each attack the calls of the other,
how long they took, and what the server answered; fails where one was refused, or the server has ended.
"""

import argparse
import json
import os
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import anyio
import httpx2
import psutil

HEADERS = {
    "Accept": "application/json, text/event-stream",
    "Content-Type": "application/json",
    "MCP-Protocol-Version": "2025-06-18",
}
HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "attack", "version": "1"},
}
TEXTS = [f"Report {number}: the pump of boat {number % 7} leaks at valve {number}." for number in range(200)]


def request(method, **params):
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def call(name, **arguments):
    return request("tools/call", name=name, arguments=arguments)


class Attacks:
    """The attacks; each goes on until it is cancelled."""

    def __init__(self, port, token):
        self.port = port
        self.token = token
        self.said = Counter()

    def head(self, length, token=None, more=""):
        lines = [f"{name}: {value}" for name, value in HEADERS.items()]
        start = f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token or self.token}\r\n"
        return (start + "\r\n".join(lines) + f"\r\nContent-Length: {length}\r\n{more}\r\n").encode()

    async def connect(self, *parts, keep=True, pause=0.0):
        """Send parts on one connection, count the answer, and keep it or not."""
        with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream):
            async with await anyio.connect_tcp("127.0.0.1", self.port) as stream:
                for part in parts:
                    await stream.send(part)
                    await anyio.sleep(pause)
                if keep is not None:
                    found = await stream.receive()
                    self.said[found[9:12].decode(errors="replace")] += 1
                if keep is not False:
                    await anyio.sleep(3_600)

    async def many(self, count, *parts, **how):
        async def again():
            while True:
                await self.connect(*parts, **how)
                await anyio.sleep(0.01)

        async with anyio.create_task_group() as tasks:
            for _ in range(count):
                tasks.start_soon(again)

    async def posts(self, count, body, token=None):
        content = json.dumps(body).encode() if not isinstance(body, bytes) else body
        headers = HEADERS | {"Authorization": f"Bearer {token or self.token}"}

        async def again():
            async with httpx2.AsyncClient(timeout=60) as http:
                while True:
                    with suppress(httpx2.TransportError):
                        reply = await http.post(f"http://127.0.0.1:{self.port}/mcp", content=content, headers=headers)
                        self.said[str(reply.status_code)] += 1

        async with anyio.create_task_group() as tasks:
            for _ in range(count):
                tasks.start_soon(again)

    async def garbage(self):
        chance = random.Random(0)
        whole = self.head(60) + json.dumps(request("ping")).encode()
        while True:
            place = chance.randrange(len(whole))
            await self.connect(whole[:place] + chance.randbytes(chance.randrange(1, 200)) + whole[place:], keep=False)

    def all(self):
        """Return every attack by its name."""
        large = b'{"jsonrpc": "2.0", "id": NaN, "x": "' + b"x" * 15_000_000 + b'"}'
        commas = b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "x": "' + b",[{" * 5_000_000 + b'"}'
        items = call(
            "memory_write", messages=[{"text": f"{n} " + "x" * 2_000} for n in range(4_000)], space="none of mine"
        )
        recall = call("memory_reconstruct", query="Which pumps leak, and why?")
        return {
            "nothing": lambda: anyio.sleep(3_600),
            "idle connections": lambda: self.many(1_500, keep=None),
            "slow headers": lambda: self.many(
                1_200, b"POST /mcp HTTP/1.1\r\n", b"Host: 127.0.0.1\r\n", keep=None, pause=1
            ),
            "slow bodies": lambda: self.many(1_000, self.head(500), b"{", b" ", b" ", pause=1),
            "slow bodies, wrong tokens": lambda: self.many(1_000, self.head(500, "wrong"), b"{", b" ", pause=1),
            "replies that nobody takes": lambda: self.many(300, self.head(0, "wrong") * 3_000, keep=None),
            "sessions": lambda: self.posts(30, request("initialize", **HELLO)),
            "wrong tokens": lambda: self.posts(30, request("ping"), "wrong"),
            "large bodies": lambda: self.posts(20, large),
            "large bodies of commas": lambda: self.posts(20, commas),
            "large calls that are refused": lambda: self.posts(10, items),
            "recalls": lambda: self.posts(150, recall),
            "garbage": self.garbage,
        }


class Other:
    """The other caller, who has work to do."""

    def __init__(self, port, token):
        self.url = f"http://127.0.0.1:{port}/mcp"
        self.headers = HEADERS | {"Authorization": f"Bearer {token}"}

    async def work(self, seconds):
        """Write and recall for so long; return how long each call took."""
        took, number = [], 0
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            body = call("memory_write", text=f"{time.monotonic()}: the lamp shines.") if number % 2 else call(
                "memory_reconstruct", query="What does the lamp do?"
            )  # fmt: skip
            began = time.monotonic()
            async with httpx2.AsyncClient(timeout=60) as http:  # a connection of its own each time
                reply = await http.post(self.url, json=body, headers=self.headers)
            took.append(time.monotonic() - began)
            assert reply.status_code == 200, (reply.status_code, reply.text[:300])
            assert '"isError":false' in reply.text, reply.text[:300]
            number += 1
            await anyio.sleep(0.1)
        return took


async def rounds(port, process, tokens, seconds, only):
    other = Other(port, tokens[1])
    await other.work(2)
    attacks = Attacks(port, tokens[0])
    for text in TEXTS[::20]:
        async with httpx2.AsyncClient(timeout=60) as http:
            await http.post(other.url, json=call("memory_write", text=text), headers=other.headers)
    for name, attack in attacks.all().items():
        if only and only not in name:
            continue
        attacks.said.clear()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(attack)
            await anyio.sleep(1)
            took = await other.work(seconds)
            tasks.cancel_scope.cancel()
        assert process.poll() is None, "the server has ended"
        memory = psutil.Process(process.pid).memory_info().rss / 1e6
        median, longest = statistics.median(took), max(took)
        figures = (
            f"{len(took):4} calls, median {median * 1e3:6.0f} ms, longest {longest * 1e3:6.0f} ms, {memory:5.0f} MB"
        )
        sys.stdout.write(f"{name:30} {figures}, answers {dict(attacks.said)}\n")
        sys.stdout.flush()
        await anyio.sleep(1)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=8.0)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place, socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        probe.close()
        names = {"MCP_MEMORY_STORAGE_URI": f"{place}/store", "MCP_MEMORY_ACCESS_TOKENS": f"{place}/tokens.json"}
        names |= {"MCP_MEMORY_CONFIG": f"{place}/config.toml", "MCP_MEMORY_HTTP_STATELESS": "true", "HOME": place}
        Path(place, "config.toml").touch()
        environment = os.environ | names
        run = [sys.executable, "-m", "mcp_memory"]
        tokens = [
            subprocess.run(
                [*run, "token", "add", name, "--space", name],
                env=environment,
                capture_output=True,
                text=True,
                check=True,
            ).stdout.strip()
            for name in ("ann", "bob")
        ]
        process = subprocess.Popen([*run, "serve", "--http", f"127.0.0.1:{port}"], env=environment)
        try:
            for _ in range(600):
                with suppress(httpx2.TransportError):
                    if httpx2.get(f"http://127.0.0.1:{port}/readyz").status_code == 200:
                        break
                time.sleep(0.1)
            anyio.run(rounds, port, process, tokens, options.seconds, options.only)
        finally:
            process.terminate()
            process.wait()


if __name__ == "__main__":
    main()
