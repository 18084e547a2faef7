"""A real server process over stdio: what it writes, what it survives, and how it ends."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import pytest
from stdio_client import ENVELOPE, MODERN, ROOT, Gone, StdioClient, serving

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


LINES = {  # what a client may send, and the id of the reply; None where none is due
    b'{"jsonrpc":"2.0","id":101,"method":"ping"}\r': 101,
    b'\xef\xbb\xbf{"jsonrpc":"2.0","id":"102","method":"ping"} ': "102",
    b'{"jsonrpc":"2.0","id":103,"method":"x/y"}': 103,
    b'{"jsonrpc":"2.0","id":104,"method":"tools/call","params":{"name":"memory_status","arguments":[1]}}': 104,
    b'{"jsonrpc":"2.0","id":105,"method":"resources/read","params":{"uri":null}}': 105,
    b'{"jsonrpc":"2.0","id":106,"method":"ping","params":{"x":NaN}}': 106,
    b'{"jsonrpc":"2.0","id":107,"method":"ping"': 107,
    b'{"jsonrpc":"2.0","id":"\\ud83d","method":"ping"}': "\ufffd",
    b'{"jsonrpc":"2.0","method":"notifications/x"}': None,
    b'{"jsonrpc":"2.0","id":108,"result":{}}': None,
}
NO_REQUESTS = [b"null", b"[]", b"\xff", b"\x00", b"{}{}", b'[{"jsonrpc":"2.0","id":9,"method":"ping"}]']


def test_each_line_but_notifications_and_answers_gets_exactly_one_reply(served):
    with served("2025-11-25") as client:
        before = len(client.answered)
        client.process.stdin.write(b"".join(line + b"\n" for line in [*LINES, b"", *NO_REQUESTS]))
        client.process.stdin.flush()
        due = Counter([one for one in LINES.values() if one is not None] + [None] * len(NO_REQUESTS))
        while len(client.answered) < before + due.total():
            time.sleep(0.05)
        assert client.ask("ping")["result"] == {}
        assert Counter(client.answered[before:-1]) == due


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
