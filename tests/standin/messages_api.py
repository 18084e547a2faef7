"""The server: HTTP/1.1 over a real socket of 127.0.0.1, in the event loop of the test.

Each request is recorded with what it weighs by the stand-in's own estimate, and answered by the script. No request is
answered twice over one connection, so that a client that goes away is seen to go away.
"""

import json
import math
import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
from anyio.abc import SocketAttribute, SocketStream

from standin.replies import Reply, Silence

CHARS_PER_TOKEN = 3.5
"""English with the tokenizers of 2026 has a little more."""
_LINE = re.compile(r"^\[([A-Z]\d+)\] (.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Asked:
    """A request."""

    headers: dict[str, str]  # names in lower case
    body: dict[str, Any]  # its JSON
    tokens: int  # that it sends, by the stand-in's estimate: everything that the model would read

    @property
    def text(self) -> str:
        """What the user's message says."""
        content = self.body["messages"][-1]["content"]
        return content if isinstance(content, str) else "".join(part["text"] for part in content)

    @property
    def lines(self) -> dict[str, str]:
        """The data by its numbers, as the first mark of the data bounds it."""
        frame = re.search(r"^=== (\w+) ===$", self.text, re.MULTILINE)
        data = self.text.split(frame[0])[1]
        return dict(_LINE.findall(data))

    def numbers_of(self, *words: str) -> tuple[str, ...]:
        """Return the numbers of the data with some of these words."""
        return tuple(number for number, line in self.lines.items() if any(one in line for one in words))

    @property
    def question(self) -> str:
        """What is asked, on the line after the data."""
        return re.findall(r"^Asked on \S+: (.*)$", self.text, re.MULTILINE)[-1]


Script = Callable[[Asked], Reply | Silence]


@dataclass
class StandIn:
    """A stand-in that listens."""

    url: str  # for ``base_url``
    script: Script
    requests: list[Asked] = field(default_factory=list)  # in the order in which they came
    most_at_once: int = 0  # requests that were unanswered at the same time
    arrived: anyio.Event = field(default_factory=anyio.Event)  # set at the first request
    hung_up: anyio.Event = field(default_factory=anyio.Event)  # set when a client went away without its reply
    gate: anyio.Event | None = None  # replies wait for it; None lets them go at once
    _open: int = 0

    @property
    def tokens(self) -> int:
        """Received in all."""
        return sum(asked.tokens for asked in self.requests)

    async def _serve(self, stream: SocketStream) -> None:
        async with stream:
            try:
                asked = await _request(stream)
                self.requests.append(asked)
                self._open += 1
                self.most_at_once = max(self.most_at_once, self._open)
                self.arrived.set()
                try:
                    await self._reply(stream, asked)
                finally:
                    self._open -= 1
            except (anyio.EndOfStream, anyio.BrokenResourceError):
                self.hung_up.set()

    async def _reply(self, stream: SocketStream, asked: Asked) -> None:
        reply = self.script(asked)
        if isinstance(reply, Silence):
            await stream.receive()  # ends when the client goes away
            return
        if self.gate is not None:
            await self.gate.wait()
        usage = {"input_tokens": asked.tokens, "output_tokens": 60, "cache_read_input_tokens": 0}
        body = reply.body.replace(b'"usage": null', json.dumps({"usage": usage})[1:-1].encode())
        headers = {"content-type": reply.mutter, "content-length": str(len(body)), "connection": "close"}
        lines = [
            f"HTTP/1.1 {reply.status} Said",
            *(f"{name}: {value}" for name, value in (headers | reply.headers).items()),
        ]
        await stream.send("\r\n".join((*lines, "", "")).encode() + body[: reply.cut])


@asynccontextmanager
async def standing_in(script: Script | Sequence[Reply | Silence]) -> AsyncIterator[StandIn]:
    """Listen on a free port of 127.0.0.1.

    Args:
        script: what to reply to a request; or replies one after the other, the last of them for ever.
    """
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=0)
    port = listener.extra(SocketAttribute.local_port)
    if not callable(script):
        queue = list(script)
        script = lambda asked: queue.pop(0) if len(queue) > 1 else queue[0]  # noqa: E731
    one = StandIn(f"http://127.0.0.1:{port}", script)
    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, one._serve)
        yield one
        tasks.cancel_scope.cancel()


async def _request(stream: SocketStream) -> Asked:
    received = b""
    while b"\r\n\r\n" not in received:
        received += await stream.receive()
    head, _, body = received.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    assert first.startswith("POST /v1/messages "), first
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    while len(body) < int(headers["content-length"]):
        body += await stream.receive()
    content = json.loads(body)
    return Asked(headers, content, _tokens(content))


def _tokens(content: dict[str, Any]) -> int:
    read = [content.get("system", ""), content["messages"], content.get("output_config", {}), content.get("tools", [])]
    return math.ceil(sum(len(json.dumps(part, ensure_ascii=False)) for part in read) / CHARS_PER_TOKEN)


# By the room


TELLTALE = {"answer": "answerable", "question": "parts", "reading": "facts"}
"""By the room, a field that no other room's form has."""


def room(asked: Asked) -> str:
    """Return the room whose form a request asks for."""
    fields = asked.body["output_config"]["format"]["schema"]["properties"]
    (found,) = (name for name, telltale in TELLTALE.items() if telltale in fields)
    return found


def each(**scripts: Script | Sequence[Reply | Silence]) -> Script:
    """Return a script that goes by the room: what to reply, or replies one after the other, the last of them for ever.

    A request of a room without a script is an error of the test.
    """
    queues = {name: list(script) for name, script in scripts.items() if not callable(script)}

    def reply(asked: Asked) -> Reply | Silence:
        name = room(asked)
        script = scripts[name]
        if callable(script):
            return script(asked)
        return queues[name].pop(0) if len(queues[name]) > 1 else queues[name][0]

    return reply
