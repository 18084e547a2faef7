"""A real server process over stdio: what it writes, what it survives, and how it ends."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from random import Random

import pytest
from mcp_types import JSONRPCRequest
from stdio_client import ENVELOPE, MODERN, ROOT, Gone, StdioClient, serving

from mcp_memory.server.incoming import read_message

PROGRAM = str(Path(__file__).with_name("word_memory.py"))
ENDS_S = 30
"""Far more than the two seconds that a server has for leaving, as the machine may be busy."""


@pytest.fixture
def served(tmp_path):
    """Return what starts a server over a memory of words, and what it wrote to stderr stands in ``store.stderr``."""
    return lambda era=MODERN, *options, **environment: serving(
        tmp_path / "store", era, program=(PROGRAM, *options), **environment
    )


def ended(client):
    """Return the status with which a server ends, after all that it wrote was read."""
    with pytest.raises(Gone):
        client.reply(0, ENDS_S)
    return client.process.wait(ENDS_S)


@pytest.mark.parametrize("era", ["2024-11-05", "2025-11-25", MODERN])
def test_a_process_speaks_each_revision_of_the_protocol(served, era):
    with served(era) as client:
        assert len(client.ask("tools/list")["result"]["tools"]) == 8
        client.structured("memory_write", text="日本 привет 👩‍👩‍👧")
        recalled = client.structured("memory_reconstruct")["evidence"]
        assert [item["text"] for item in recalled] == ["日本 привет 👩‍👩‍👧"]


@pytest.mark.parametrize("warnings", ["default", "error"])
def test_only_protocol_messages_are_on_stdout_even_if_a_library_prints(served, tmp_path, warnings):
    with served("2025-11-25", "--print", PYTHONWARNINGS=warnings) as client:
        client.call("memory_status")
        client.process.stdin.close()
        assert (ended(client), client.noise) == (0, [])
    errors = (tmp_path / "store.stderr").read_bytes()
    assert b"a print from a library" in errors
    assert b"a write to descriptor 1" in errors


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


def test_each_line_but_notifications_and_answers_gets_exactly_one_reply(served):
    lines = spoilt_lines(0, 200)
    due = Counter(one for line in lines for one in due_to(line))
    with served("2025-11-25") as client:
        before = len(client.answered)
        client.process.stdin.write(b"".join(line + b"\n" for line in lines))
        client.process.stdin.flush()
        while len(client.answered) < before + due.total():
            time.sleep(0.05)
        assert client.ask("ping")["result"] == {}
        assert Counter(map(json.dumps, client.answered[before:-1])) == due


def test_the_process_ends_when_the_client_closes_its_end(served):
    with served() as client:
        client.call("memory_status")
        client.process.stdin.close()
        assert ended(client) == 0


def test_a_blocked_library_cannot_keep_the_process_alive(served):
    with served(MODERN, "--stuck") as client:
        client.begin("memory_status")
        client.process.stdin.close()
        assert ended(client) == 0


@contextmanager
def process_of(*command):
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, *command], env=environment, **pipes) as process:
        try:
            yield process
        finally:
            process.kill()


def test_the_process_ends_when_its_replies_are_no_longer_read():
    with process_of(PROGRAM) as process:
        process.stdout.close()
        asked = {"jsonrpc": "2.0", "id": 9, "method": "tools/list", "params": {"_meta": ENVELOPE}}
        process.stdin.write(json.dumps(asked).encode() + b"\n")
        process.stdin.flush()
        assert process.wait(30) == 0


def test_a_process_without_any_request_ends_as_well():
    with process_of(PROGRAM) as process:
        assert process.communicate(timeout=30) == (b"", None)
        assert process.returncode == 0


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signals to tell a process to end")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_process_ends_on_a_signal_while_the_client_still_holds_stdin(served, number):
    with served() as client:
        client.call("memory_status")
        client.process.send_signal(number)
        assert ended(client) == 0


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pipe that outlives the parent")
def test_the_process_ends_when_its_parent_is_killed_though_its_stdin_stays_open():
    parent = f"import subprocess, sys; subprocess.Popen([sys.executable, {PROGRAM!r}]).wait()"
    with process_of("-c", parent) as process:
        client = StdioClient(process)  # the child has its parent's pipes, and answers
        process.kill()
        with pytest.raises(Gone):  # the end of the pipe: it comes when the child has gone too
            client.reply(0, ENDS_S)
