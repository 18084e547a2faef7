"""Three replicas with the settings of ``packaging/compose``: processes of this machine, the emulator, and a proxy.

The proxy stands in for nginx: it prefers one replica for each space, by the header that nginx.conf hashes, and takes
the next one where that does not answer.
"""

import http.client
import os
import socket
import subprocess
import sys
import threading
import time
import zlib
from contextlib import ExitStack, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx2
import pytest
from object_store import ObjectStore
from unit.test_compose import COMPOSE, REPLICAS, filled

from mcp_memory.access.tokens import TokenFile
from mcp_memory.domain.access import RIGHTS, Grant, Permission

STARTS_S = 120
MODERN = "2026-07-28"
META = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def replica(name, folder, objects):
    """Yield process and port of a replica with the environment of its service, but for its addresses and files."""
    port = free_port()
    environment = {key: filled(value) for key, value in COMPOSE["services"][name]["environment"].items()}
    environment |= {
        "AWS_ENDPOINT": f"http://127.0.0.1:{objects.port}",
        "MCP_MEMORY_ACCESS_TOKENS": str(folder / "tokens.json"),
        "MCP_MEMORY_ACCESS_AUDIT": str(folder / f"{name}.jsonl"),
    }
    command = [sys.executable, "-m", "mcp_memory", "serve", "--http", f"127.0.0.1:{port}"]
    with (folder / f"{name}.log").open("w") as log:
        process = subprocess.Popen(command, env=os.environ | environment, stderr=log)
        try:
            yield process, port
        finally:
            process.terminate()
            process.wait(30)


@contextmanager
def proxy(ports):
    """Yield the port of a proxy before the replicas at these ports."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            route = self.headers.get("Mcp-Param-Space") or self.headers.get("Authorization", "")
            first = zlib.crc32(route.encode()) % len(ports)
            headers = dict(self.headers.items()) | {"X-Forwarded-For": "192.0.2.7", "X-Forwarded-Proto": "https"}
            for port in (*ports[first:], *ports[:first]):
                with suppress(OSError):
                    upstream = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
                    upstream.request("POST", self.path, body, headers)
                    reply = upstream.getresponse()
                    content = reply.read()
                    upstream.close()
                    self.send_response(reply.status)
                    self.send_header("Content-Type", reply.headers["Content-Type"])
                    self.send_header("X-Replica", str(port))
                    self.end_headers()
                    self.wfile.write(content)
                    return

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def call(port, token, tool, host="memory.example", **arguments):
    """Call a tool and return the text of the reply, and the replica that the proxy chose."""
    headers = {
        "Host": host,
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
    return reply.text, reply.headers.get("X-Replica")


def wait_until_ready(port):
    until = time.monotonic() + STARTS_S
    while time.monotonic() < until:
        with suppress(httpx2.TransportError):
            if httpx2.get(f"http://127.0.0.1:{port}/readyz").status_code == 200:
                return
        time.sleep(0.1)
    pytest.fail("a replica does not start")


def test_what_is_written_through_the_proxy_is_read_from_every_replica_also_after_one_was_killed(tmp_path):
    tokens = TokenFile(tmp_path / "tokens.json")
    token = tokens.add(Grant("team", (Permission("team-*", RIGHTS),)))
    with ExitStack() as stack:
        objects = stack.enter_context(ObjectStore().serving())
        replicas = [stack.enter_context(replica(name, tmp_path, objects)) for name in REPLICAS]
        ports = [port for _, port in replicas]
        for port in ports:
            wait_until_ready(port)
        entry = stack.enter_context(proxy(ports))
        routes = {}
        for space in ("team-a", "team-b", "team-c", "team-d"):
            text = f"The {space} pump leaks in the cellar."
            _, routes[space] = call(entry, token, "memory_write", text=text, space=space, session="talk")
            for port in ports:
                found, _ = call(port, token, "memory_reconstruct", query=f"{space} pump", space=space, host="localhost")
                assert text in found
            _, again = call(entry, token, "memory_reconstruct", query="pump", space=space)
            assert again == routes[space]
        assert len(set(routes.values())) > 1
        killed = next(process for process, port in replicas if str(port) == routes["team-a"])
        killed.kill()
        killed.wait(30)
        call(entry, token, "memory_write", text="The valve is stuck.", space="team-a", session="talk")
        found, other = call(entry, token, "memory_reconstruct", query="valve", space="team-a")
        assert "valve is stuck" in found
        assert other != routes["team-a"]
