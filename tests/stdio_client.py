"""A client that knows only lines of JSON, and may have any number of calls in flight, over a real server process."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
MODERN = "2026-07-28"
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
SERVE = ("-m", "mcp_memory", "serve")
WAIT_S = 120.0
"""Far more than any call takes, as the machine may be busy."""


class Gone(Exception):
    """The server has ended, and a reply will not come."""


class StdioClient:
    """One conversation with a server process."""

    def __init__(self, process: subprocess.Popen[bytes], era: str = MODERN) -> None:
        self.process = process  # the server
        self.noise: list[bytes] = []  # lines on stdout that were no message of the protocol
        self.reports: list[dict[str, Any]] = []  # the notifications that came
        self.answered: list[Any] = []  # the ids of the replies that came, in order
        self._modern = era == MODERN
        self._last = 0
        self._replies: dict[int, dict[str, Any]] = {}
        self._came = threading.Condition()
        self._over = False
        threading.Thread(target=self._listen, daemon=True).start()
        if self._modern:
            assert self.ask("server/discover")["result"]["supportedVersions"] == [era]
        else:
            info = {"name": "test", "version": "1"}
            reply = self.ask("initialize", protocolVersion=era, capabilities={}, clientInfo=info)
            assert reply["result"]["protocolVersion"] == era
            self.notify("notifications/initialized")

    def send(self, method: str, **params: Any) -> int:
        """Send a request and return its number."""
        self._last += 1
        self._put({"id": self._last, "method": method, "params": self._enveloped(params)})
        return self._last

    def notify(self, method: str, **params: Any) -> None:
        """Send a notification."""
        self._put({"method": method, "params": self._enveloped(params)})

    def reply(self, number: int, timeout_s: float = WAIT_S) -> dict[str, Any]:
        """Wait for the reply to a request; the server may be `Gone` before it comes."""
        with self._came:
            if not self._came.wait_for(lambda: number in self._replies or self._over, timeout_s):
                raise TimeoutError(f"no reply to request {number} within {timeout_s:g} s")
            if number not in self._replies:
                raise Gone
            return self._replies.pop(number)

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a request and wait for its reply."""
        return self.reply(self.send(method, **params))

    def begin(self, tool: str, **arguments: Any) -> int:
        """Call a tool without waiting."""
        return self.send("tools/call", name=tool, arguments=arguments)

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool, and return what it returned, an error as well."""
        return self.reply(self.begin(tool, **arguments))["result"]

    def structured(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool that must succeed, and return its structured result."""
        result = self.call(tool, **arguments)
        assert not result.get("isError"), result
        return result["structuredContent"]

    def read(self, uri: str) -> Any:
        """Return a resource of JSON."""
        return json.loads(self.ask("resources/read", uri=uri)["result"]["contents"][0]["text"])

    def turns(self, session: str, space: str = "default") -> list[dict[str, Any]]:
        """Return every turn of a session, over all pages; none if nobody knows the session."""
        uri: str | None = f"memory://{space}/sessions/{session}"
        found: list[dict[str, Any]] = []
        while uri:
            reply = self.ask("resources/read", uri=uri)
            if "error" in reply:
                assert "no session" in reply["error"]["message"] or "nothing was ever" in reply["error"]["message"]
                return []
            page = json.loads(reply["result"]["contents"][0]["text"])
            found += page["turns"]
            uri = page.get("next")
        return found

    def _put(self, message: dict[str, Any]) -> None:
        line = json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False).encode()
        try:
            self.process.stdin.write(line + b"\n")
            self.process.stdin.flush()
        except (BrokenPipeError, ValueError) as error:
            raise Gone from error

    def _enveloped(self, params: dict[str, Any]) -> dict[str, Any]:
        return params | {"_meta": ENVELOPE | params.get("_meta", {})} if self._modern else params

    def _listen(self) -> None:
        for line in self.process.stdout:
            try:
                message = json.loads(line)
                assert message["jsonrpc"] == "2.0"
            except (ValueError, TypeError, KeyError, AssertionError):
                self.noise.append(line)
                continue
            with self._came:
                if "method" in message:
                    self.reports.append(message)
                else:
                    self._replies[message["id"]] = message
                    self.answered.append(message["id"])
                self._came.notify_all()
        with self._came:
            self._over = True
            self._came.notify_all()


@contextmanager
def serving(
    store: Path | str, era: str = MODERN, *, program: Sequence[str] = SERVE, **environment: str
) -> Iterator[StdioClient]:
    """Start ``mcp-memory serve`` on a store, with nothing of the user's surroundings, and end it at the end.

    Its writes wait until everything is indexed, unless the environment says otherwise.
    """
    home = Path(store).parent / "home"
    home.mkdir(exist_ok=True)
    ours = {name: text for name, text in os.environ.items() if not name.startswith(("MCP_MEMORY_", "XDG_"))}
    ours |= {"HOME": str(home), "PYTHONPATH": str(ROOT), "MCP_MEMORY_STORAGE_URI": str(store)}
    ours |= {"MCP_MEMORY_WRITE_WAIT": "true"} | environment
    with (
        Path(store).with_suffix(".stderr").open("ab") as errors,
        subprocess.Popen(
            [sys.executable, *program], env=ours, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors
        ) as process,
    ):
        try:
            yield StdioClient(process, era)
        finally:
            process.kill()
