"""Many clients of several replicas: mixed calls over HTTP, every reply checked for words of other spaces.

``python tests/soak/http_clients.py --clients 32 --replicas 3 --seconds 600``. The replicas are processes on one local
store; each client has a token for one of eight spaces, and sends each call to a replica by chance: half of them in the
protocol's revision 2026-07-28, half in an older one. What a client has written it asks for at once, from another one.
"""

import argparse
import json
import os
import random
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

import anyio
import httpx2
import psutil

SPACES = 8
VERBS = ("leaks", "hums", "rattles", "shines", "creaks", "sticks", "glows", "drips")
THINGS = ("pump", "boiler", "engine", "lamp", "door", "valve", "kettle", "winch", "anchor", "mast")
MODERN, OLDER = "2026-07-28", "2025-11-25"
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
}


def marker(space):
    return f"quay{'abcdefgh'[space]}x"


class Run:
    """What happened."""

    def __init__(self):
        self.seconds = defaultdict(list)
        self.errors = []
        self.leaks = 0
        self.late = 0
        self.asked_back = 0


async def call(http, url, token, revision, name, arguments):
    params = {"name": name, "arguments": arguments}
    headers = {
        "Authorization": f"Bearer {token}",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": revision,
    }
    if revision == MODERN:
        params["_meta"] = META
        headers |= {"Mcp-Method": "tools/call", "Mcp-Name": name}
        if "space" in arguments:
            headers["Mcp-Param-Space"] = arguments["space"]
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    try:
        reply = await http.post(f"{url}/mcp", json=body, headers=headers)
    except httpx2.TransportError as error:
        return f"{name}: {type(error).__name__} {error}", ""
    if reply.status_code != 200:
        return f"{name}: {reply.status_code} {reply.text[:200]}", ""
    text = reply.text
    if text.startswith(("event", ":", "data", "id")):
        text = [line[6:] for line in text.splitlines() if line.startswith("data: {")][-1]
    result = json.loads(text).get("result") or {}
    return (f"{name}: {text[:300]}" if result.get("isError") or "content" not in result else ""), text


async def client(number, urls, token, until, run):
    chance, space = random.Random(number), number % SPACES
    revision, name = (MODERN if number % 2 else OLDER), f"team-{space}"
    foreign = [marker(other) for other in range(SPACES) if other != space]
    async with httpx2.AsyncClient(timeout=60) as http:
        count = 0
        while time.monotonic() < until:
            kind = chance.choices(("write", "recall", "answer", "explore", "status"), (3, 5, 2, 1, 1))[0]
            thing, verb = chance.choice(THINGS), chance.choice(VERBS)
            url, fresh = chance.choice(urls), ""
            if kind == "write":
                count += 1
                fresh = f"n{number}c{count}"
                text = f"The {thing} number {fresh} at {marker(space)} {verb}."
                asked = "memory_write", {"messages": [{"id": fresh, "text": text, "speaker": "Ann"}], "space": name}
            elif kind == "recall":
                asked = "memory_reconstruct", {"query": f"Which {thing} {verb}?", "space": name}
            elif kind == "answer":
                asked = "memory_answer", {"question": f"What {verb} at {marker(space)}?", "space": name}
            elif kind == "explore":
                asked = "memory_explore", {"operator": "topic_events", "topic": thing, "space": name}
            else:
                asked = "memory_status", {}
            began = time.monotonic()
            error, text = await call(http, url, token, revision, *asked)
            run.seconds[asked[0]].append(time.monotonic() - began)
            if error:
                run.errors.append(error)
            if kind == "write" and not error:
                asked = "memory_reconstruct", {"query": f"What does number {fresh} do?", "space": name}
                other = chance.choice([one for one in urls if one != url] or urls)
                error, found = await call(http, other, token, revision, *asked)
                run.asked_back += 1
                run.late += fresh not in found
                if error:
                    run.errors.append(error)
                text += found
            teams = [f"team-{other}" for other in range(SPACES) if other != space]
            run.leaks += any(word in text for word in (*foreign, *teams))


def replicas(folder, number):
    environment = os.environ | {
        "MCP_MEMORY_STORAGE_URI": str(folder / "store"),
        "MCP_MEMORY_ACCESS_TOKENS": str(folder / "tokens.json"),
        "MCP_MEMORY_HTTP_STATELESS": "true",
        "MCP_MEMORY_HTTP_RATE": "1000",
        "MCP_MEMORY_HTTP_BURST": "1000",
    }
    tokens = [
        subprocess.run(
            [sys.executable, "-m", "mcp_memory", "token", "add", f"team {space}", "--space", f"team-{space}"],
            env=environment, capture_output=True, text=True, check=True,
        ).stdout.strip()
        for space in range(SPACES)
    ]  # fmt: skip
    processes, urls = [], []
    for _ in range(number):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            urls.append(f"127.0.0.1:{probe.getsockname()[1]}")
        command = [sys.executable, "-m", "mcp_memory", "serve", "--http", urls[-1]]
        processes.append(subprocess.Popen(command, env=environment))
    return tokens, processes, [f"http://{url}" for url in urls]


async def ready(urls):
    async with httpx2.AsyncClient() as http:
        for url in urls:
            for _ in range(300):
                try:
                    if (await http.get(f"{url}/readyz")).status_code == 200:
                        break
                except httpx2.TransportError:
                    pass
                await anyio.sleep(0.2)


def memory_of(processes):
    return [round(psutil.Process(one.pid).memory_info().rss / 1e6) for one in processes]


async def main(options, folder):
    run = Run()
    tokens, processes, urls = replicas(folder, options.replicas)
    try:
        await ready(urls)
        async with httpx2.AsyncClient(timeout=120) as http:
            for url in urls:  # so that the models are loaded
                await call(http, url, tokens[0], OLDER, "memory_write", {"text": "Warm.", "space": "team-0"})
        until, sizes = time.monotonic() + options.seconds, []
        async with anyio.create_task_group() as tasks:
            for number in range(options.clients):
                tasks.start_soon(client, number, urls, tokens[number % SPACES], until, run)
            while time.monotonic() < until:
                sizes.append(memory_of(processes))
                await anyio.sleep(min(options.seconds / 5, 30))
        sizes.append(memory_of(processes))
    finally:
        for process in processes:
            process.send_signal(signal.SIGTERM)
        codes = [process.wait(30) for process in processes]
    print(f"{sum(map(len, run.seconds.values()))} calls, {len(run.errors)} errors, {run.leaks} leaks")
    print(f"of {run.asked_back} writes {run.late} were not found at once by another replica; exit codes {codes}")
    for name, took in sorted(run.seconds.items()):
        ordered = sorted(took)
        late = ordered[int(len(ordered) * 0.95)]
        print(f"{name}: {len(took)} calls, median {statistics.median(took) * 1e3:.0f} ms, p95 {late * 1e3:.0f} ms")
    print("MB of each replica in the course of time:", *sizes)
    for error in run.errors[:10]:
        print(error)
    return 1 if run.errors or run.leaks else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--replicas", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=600)
    with tempfile.TemporaryDirectory() as place:
        sys.exit(anyio.run(main, parser.parse_args(), Path(place)))
