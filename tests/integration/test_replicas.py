"""Three replicas with the settings of ``packaging/compose``: processes of this machine, on the emulator of a bucket."""

import os
import socket
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager, suppress

import httpx2
import pytest
from object_store import ObjectStore
from unit.test_compose import COMPOSE, REPLICAS, filled

from mcp_memory.access.tokens import TokenFile
from mcp_memory.domain.access import RIGHTS, Grant, Permission

STARTS_S = 120
MODERN = "2026-07-28"
META = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}


@contextmanager
def replica(name, folder, objects):
    """Yield process and port of a replica with the environment of its service, but for its addresses and files."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {key: filled(value) for key, value in COMPOSE["services"][name]["environment"].items()}
    environment |= {
        "AWS_ENDPOINT": f"http://127.0.0.1:{objects.port}",
        "MCP_MEMORY_ACCESS_TOKENS": str(folder / "tokens.json"),
    }
    command = [sys.executable, "-m", "mcp_memory", "serve", "--http", f"127.0.0.1:{port}"]
    with (folder / f"{name}.log").open("w") as log:
        process = subprocess.Popen(command, env=os.environ | environment, stderr=log)
        try:
            yield process, port
        finally:
            process.terminate()
            process.wait(30)


def call(port, token, tool, host="memory.example", **arguments):
    """Call a tool of a replica as the proxy does, and return the text of the reply."""
    headers = {
        "Host": host,
        "X-Forwarded-For": "192.0.2.7",
        "X-Forwarded-Proto": "https",
        "Authorization": f"Bearer {token}",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": MODERN,
        "Mcp-Method": "tools/call",
        "Mcp-Name": tool,
        "Mcp-Param-Space": arguments["space"],
    }
    params = {"name": tool, "arguments": arguments, "_meta": META}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    reply = httpx2.post(f"http://127.0.0.1:{port}/mcp", json=body, headers=headers, timeout=60)
    assert reply.status_code == 200, reply.text
    assert 'isError":true' not in reply.text, reply.text
    return reply.text


def wait_until_ready(port):
    until = time.monotonic() + STARTS_S
    while time.monotonic() < until:
        with suppress(httpx2.TransportError):
            if httpx2.get(f"http://127.0.0.1:{port}/readyz").status_code == 200:
                return
        time.sleep(0.1)
    pytest.fail("a replica does not start")


def test_what_is_written_to_one_replica_is_read_from_every_other_also_after_one_was_killed(tmp_path):
    token = TokenFile(tmp_path / "tokens.json").add(Grant("team", (Permission("team-*", RIGHTS),)))
    with ExitStack() as stack:
        objects = stack.enter_context(ObjectStore().serving())
        replicas = [stack.enter_context(replica(name, tmp_path, objects)) for name in REPLICAS]
        ports = [port for _, port in replicas]
        for port in ports:
            wait_until_ready(port)
        for number, space in enumerate(("team-a", "team-b", "team-c", "team-d")):
            text = f"The {space} pump leaks in the cellar."
            call(ports[number % len(ports)], token, "memory_write", text=text, space=space, session="talk")
            for port in ports:
                found = call(port, token, "memory_reconstruct", query=f"{space} pump", space=space, host="localhost")
                assert text in found
        killed, _ = replicas[0]
        killed.kill()
        killed.wait(30)
        call(ports[1], token, "memory_write", text="The valve is stuck.", space="team-a", session="talk")
        for port in ports[1:]:
            assert "valve is stuck" in call(port, token, "memory_reconstruct", query="valve", space="team-a")
