"""Files of every format, cut, spliced, nested and flipped at random, are read or refused in words."""

import json
import random
from contextlib import suppress

import pytest
from foreign_files import MEM0, NOTE, OFFICIAL, chatgpt_chat, claude_chat, records_of

from mcp_memory.access.tokens import TokenFile
from mcp_memory.commands.install import CLIENTS, read_client_file
from mcp_memory.errors import McpMemoryError
from mcp_memory.server.incoming import read_message
from mcp_memory.server.tools.catalogue import TOOLS
from mcp_memory.settings import Settings, load

PIECES = [b"\x00", b"\xff", b'"', b"{", b"}", b"[" * 200, b",", b"\\ud800", b"1e999", b"9" * 400, b"NaN", b"\n", b": ",
          b"&a", b"*a", b"\xef\xbb\xbf", b"null", b"---\n", b"= ", b"x" * 5_000]  # fmt: skip


def client(name):
    """Return what changes our entry of a client's file, and takes it out."""

    def change(path):
        text, known = read_client_file(path), CLIENTS[name]
        found = known.content(path, text)
        known.with_entry(path, None, known.with_entry(path, {"command": "x"}, text))
        return found

    return change


def calls(path):
    """Read the lines of a client, and the arguments of its calls."""
    with path.open("rb") as file:
        while read := read_message(file, 2_000_000):
            params = getattr(read[0], "params", None) or {}
            tool, given = TOOLS.get(str(params.get("name"))), params.get("arguments") or {}
            if tool is not None and isinstance(given, dict):
                tool.prepare(given, Settings().limits)
    return path


TOKEN = {"name": "ann", "digest": "0" * 64, "permissions": [{"spaces": "a*", "rights": ["read"]}], "made": 1.0,
         "expires": None}  # fmt: skip
HEADER = {"format": "mcp-memory export", "version": 1, "program": "x", "exported": "2024-05-05T10:00:00Z",
          "spaces": ["a"]}  # fmt: skip
TEXT = {"record": "message", "space": "a", "session": "s", "id": "m", "text": "Hi.", "written": "2024-05-05T10:00:00Z"}
STATED = {"record": "fact", "space": "a", "session": "s", "id": "m", "head": "Ann", "relation": "likes", "tail": "tea",
          "confidence": 0.9, "intent": "FACT"}  # fmt: skip
CALL = {"jsonrpc": "2.0", "id": 7, "method": "tools/call",
        "params": {"name": "memory_write", "arguments": {"messages": [{"text": "Hi", "id": "1"}]}}}  # fmt: skip
SERVERS = {"mcpServers": {"mcp-memory": {"command": "x", "args": []}, "y": {"command": "y"}}}


def lines(*rows):
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


FORMATS = {
    "chatgpt.json": (json.dumps([chatgpt_chat(0, 2)]).encode(), records_of),
    "claude.json": (json.dumps([claude_chat(0)], indent=1).encode(), records_of),
    "official.jsonl": (lines(*OFFICIAL), records_of),
    "mem0.json": (json.dumps(MEM0).encode(), records_of),
    "note.md": (NOTE.encode(), records_of),
    "export.jsonl": (lines(HEADER, TEXT, STATED, {"record": "end", "records": 2}), records_of),
    "settings.toml": (b'[storage]\nuri = "/tmp/x"\n[limits]\nitems = 5_000\n', lambda path: load(path, {})),
    "tokens.json": (json.dumps({"tokens": [TOKEN]}).encode(), lambda path: TokenFile(path).list()),
    "client.json": (json.dumps(SERVERS).encode(), client("cursor")),
    "client.toml": (b'model = "x"\n[mcp_servers.mcp-memory]\ncommand = "x"\n', client("codex")),
    "calls.jsonl": (lines(CALL, CALL), calls),
}


def mutated(chance, data):
    """Return a file that is broken in one to four places."""
    for _ in range(chance.randint(1, 4)):
        place, end = sorted(chance.choices(range(len(data) + 1), k=2))
        piece = chance.choice(PIECES)
        data = chance.choice(
            (
                data[:place] + piece + data[place:],
                data[:place] + piece + data[end:],
                data[:place] + data[min(end, place + 9) :],
                data[:end],
                data + data[place:end],
                data.replace(data[place : place + 3] or b" ", piece, 2),
            )
        )
    return data


@pytest.mark.parametrize("name", FORMATS)
def test_whatever_a_file_holds_it_is_read_or_refused_in_words(tmp_path, name):
    whole, read = FORMATS[name]
    path = tmp_path / name
    path.write_bytes(whole)
    assert read(path)
    for seed in range(150):
        path.write_bytes(mutated(random.Random(f"{name}{seed}"), whole))
        with suppress(McpMemoryError):
            read(path)
