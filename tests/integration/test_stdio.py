"""A real server process over stdio: what it writes, what it survives, and how it ends."""

import json
import os
import select
import signal
import subprocess
import sys
from collections import Counter
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from random import Random
from threading import Thread

import pytest
from mcp_types import JSONRPCRequest

from mcp_memory.server.incoming import read_message

PROGRAM = Path(__file__).with_name("word_memory.py")
ROOT = PROGRAM.parents[2]
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
ERAS = pytest.mark.parametrize("era", ["2024-11-05", "2025-11-25", "2026-07-28"])
ENDS_S = 10
"""Far more than the two seconds that a server has for leaving, as the machine may be busy."""


class Wire:
    """A client that reads and writes single lines."""

    def __init__(self, process, era):
        self.process = process
        self.modern = era == "2026-07-28"
        self.last = 0
        if self.modern:
            assert self.ask("server/discover")["result"]["supportedVersions"] == [era]
            return
        info = {"name": "test", "version": "1"}
        reply = self.ask("initialize", protocolVersion=era, capabilities={}, clientInfo=info)
        assert reply["result"]["protocolVersion"] == era
        self.send(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}).encode())

    def send(self, line):
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def ask(self, method, **params):
        self.last += 1
        if self.modern:
            params["_meta"] = ENVELOPE
        request = {"jsonrpc": "2.0", "id": self.last, "method": method, "params": params}
        self.send(json.dumps(request, ensure_ascii=False).encode())
        reply = json.loads(self.process.stdout.readline())
        assert reply["id"] == self.last
        return reply

    def call(self, tool, **arguments):
        return self.ask("tools/call", name=tool, arguments=arguments)["result"]


@contextmanager
def served(era="2026-07-28", *options, **environment):
    command = [sys.executable, str(PROGRAM), *options]
    surroundings = os.environ | {"PYTHONPATH": str(ROOT)} | environment
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, env=surroundings, **pipes) as process:
        try:
            yield Wire(process, era)
        finally:
            process.kill()


@ERAS
def test_a_process_speaks_each_revision_of_the_protocol(era):
    with served(era) as wire:
        assert len(wire.ask("tools/list")["result"]["tools"]) == 8
        assert not wire.call("memory_write", text="日本 привет 👩‍👩‍👧").get("isError")
        recalled = wire.call("memory_reconstruct")["structuredContent"]["evidence"]
        assert [item["text"] for item in recalled] == ["日本 привет 👩‍👩‍👧"]


@pytest.mark.parametrize("warnings", ["default", "error"])
def test_only_protocol_messages_are_on_stdout_even_if_a_library_prints(warnings):
    with served("2025-11-25", "--print", PYTHONWARNINGS=warnings) as wire:
        wire.call("memory_status")
        rest, errors = wire.process.communicate(timeout=ENDS_S)
        assert rest == b""
        assert b"a print from a library" in errors
        assert b"a write to descriptor 1" in errors
        assert wire.process.returncode == 0


BITS = [
    b"\\ud83d",
    b"\xff",
    b"\r",
    b"NaN",
    b"null",
    b"\x00",
    b"\xed\xa0\x80",
    b'"',
    b"{",
    b"}",
    b"[",
    b",",
    b"\\",
    b"1e999",
]
IDS = [b'"t"', b"-3", b"0", b"null", b"1.5", b"true", b"{}", b'"\\udead"', b"123456789012345678901234567890"]
ARGUMENTS = [{}, {"text": "Ann rows."}, {"query": "who?", "limit": "3"}, {"question": "Who rows?"}, {"x": 1}, [1], "a"]


def spoilt_lines(seed, number):
    """Return requests and other lines, many of them changed somewhere."""
    random = Random(seed)
    tools = ["memory_status", "memory_write", "memory_reconstruct", "memory_answer", "none"]
    lines = []
    for place in range(number):
        method = random.choice(
            ["ping", "tools/list", "tools/call", "tools/call", "resources/read", "x/y", "server/discover"]
        )
        call = {"name": random.choice(tools), "arguments": random.choice(ARGUMENTS), "uri": "memory://guide"}
        line = json.dumps({"jsonrpc": "2.0", "id": place + 1000, "method": method, "params": call}).encode()
        for _ in range(random.randrange(3)):
            at, to = sorted(random.randrange(len(line) + 1) for _ in range(2))
            line = random.choice(
                [
                    line[:at] + random.choice(BITS) + line[at:],
                    line[:at] + random.choice(BITS) + line[to:],
                    line[:at] + line[min(to, at + 3) :],
                    line[:to],
                    line[:at] + bytes([random.randrange(256)]) + line[at + 1 :],
                    line.replace(str(place + 1000).encode(), random.choice(IDS)),
                    b"[" + line + b"]",
                    b"\xef\xbb\xbf" + line + b" \r",
                    line + line,
                ]
            ).replace(b"\n", b" ")
            if not line:
                break
        lines.append(line)
    return lines


def due_to(line):
    """Return the id of the reply to a line, in a list; nothing where none is due."""
    read = read_message(BytesIO(line), 1_000_000)
    if read is None:
        return []
    message, refusal = read
    if message is None:
        return [json.dumps(json.loads(refusal)["id"])]
    return [json.dumps(message.id)] if isinstance(message, JSONRPCRequest) else []


def test_each_line_but_notifications_and_answers_gets_exactly_one_reply():
    lines = spoilt_lines(0, 200)
    due = Counter(one for line in lines for one in due_to(line))
    with served("2025-11-25") as wire:
        Thread(target=lambda: [wire.send(line) for line in lines], daemon=True).start()
        came = Counter(json.dumps(json.loads(wire.process.stdout.readline())["id"]) for _ in range(due.total()))
        assert came == due
        assert wire.ask("ping")["result"] == {}  # and nothing more came before it


def test_the_process_ends_when_the_client_closes_its_end():
    with served() as wire:
        wire.call("memory_status")
        wire.process.stdin.close()
        assert wire.process.wait(ENDS_S) == 0


def test_a_blocked_library_cannot_keep_the_process_alive():
    with served("2026-07-28", "--stuck") as wire:
        request = {"jsonrpc": "2.0", "id": 9, "method": "tools/call"}
        request["params"] = {"name": "memory_status", "arguments": {}, "_meta": ENVELOPE}
        wire.send(json.dumps(request).encode())
        wire.process.stdin.close()
        assert wire.process.wait(ENDS_S) == 0


def test_the_process_ends_when_its_replies_are_no_longer_read():
    with served() as wire:
        wire.process.stdout.close()
        wire.send(
            json.dumps({"jsonrpc": "2.0", "id": 9, "method": "tools/list", "params": {"_meta": ENVELOPE}}).encode()
        )
        assert wire.process.wait(ENDS_S) == 0


def test_a_process_without_any_request_ends_as_well():
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, str(PROGRAM)], env=environment, input=b"", capture_output=True, timeout=30)
    assert (done.returncode, done.stdout) == (0, b"")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signals to tell a process to end")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_process_ends_on_a_signal_while_the_client_still_holds_stdin(number):
    with served() as wire:
        wire.call("memory_status")
        wire.process.send_signal(number)
        assert wire.process.wait(ENDS_S) == 0


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pipe that outlives the parent")
def test_the_process_ends_when_its_parent_is_killed_though_its_stdin_stays_open():
    parent = f"""
import subprocess, sys
child = subprocess.Popen([sys.executable, {str(PROGRAM)!r}])
child.wait()
"""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", parent], env=environment, **pipes) as process:
        Wire(process, "2026-07-28")  # the child has its parent's pipes, and answers
        process.kill()
        assert select.select([process.stdout], [], [], ENDS_S)[0]
        assert process.stdout.read() == b""  # the end of the pipe: it comes when the child has gone too
