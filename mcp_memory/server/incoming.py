"""The lines that a client sends: read one at a time, and refused before they are parsed if they are too large.

Parsing takes many times the memory of the text: a list of five million empty lists is a line of 15 MB and a gigabyte of
objects. So a line may have so many bytes (``server.max_line``) and so many values. What is longer is skipped piece by
piece, never held; the client is told so under the id of its request, if that stands near either end of the line.
"""

from __future__ import annotations

import json
import re
from itertools import islice
from typing import BinaryIO

KEPT = 1 << 16
"""Bytes at either end of a line in which its id is looked for. Clients write it first, or last."""
PIECE = 1 << 20
"""Bytes read at once of what is skipped."""
VALUES = 250_000
"""Most values of one line, or of one argument that came as JSON text. 1,000 messages with all fields have 9,000."""

_TEXT = r'"(?:[^"\\]|\\.)*+"'  # below, one without an end reaches to the end, so that nothing is read twice
_SEPARATOR = re.compile(rf"{_TEXT}?|([,\[{{])", re.DOTALL)
_TOKEN = re.compile(rf'{_TEXT}?|[{{}}\[\],:]|[^\s{{}}\[\],:"]++', re.DOTALL)
_AT_END = re.compile(rf'"id"\s*:\s*(-?\d{{1,18}}|{_TEXT})\s*(?:,\s*{_TEXT}\s*:\s*{_TEXT}\s*)*\}}\s*$', re.DOTALL)
_PARSE_ERROR, _INVALID_REQUEST = -32700, -32600


def read_line(file: BinaryIO, most: int) -> tuple[str, str | None] | None:
    """Return the next line of a client and the reply that refuses it; None at the end.

    Returns:
        The line, and None; or nothing, and the reply, a JSON-RPC error on one line.
    """
    line = file.readline(most + 1)
    if not line:
        return None
    if len(line) > most and not line.endswith(b"\n"):
        return "", _refusal(*_skip(file, line), most)
    text = line.decode("utf-8", errors="replace")
    if not too_many_values(text):
        return text, None
    found = request_id(text[:KEPT], text[-KEPT:])
    return "", _error(found, f"This line has more than {VALUES} values, so it was not read.")


def too_many_values(text: str) -> bool:
    """Return whether a JSON text has more than `VALUES` values; commas and brackets in its strings do not count."""
    if sum(map(text.count, ",[{")) <= VALUES:  # nearly always, and a hundred times as fast
        return False
    separators = (match for match in _SEPARATOR.finditer(text) if match.lastindex)
    return next(islice(separators, VALUES, None), None) is not None


def request_id(head: str, tail: str) -> str | int | None:
    """Return the id of a request of which only both ends are known; None if it stands in neither."""
    depth, key, is_value = 0, "", False
    for match in _TOKEN.finditer(head):
        token = match.group()
        if token in "{[":
            depth += 1
        elif token in "}]":
            depth -= 1
        elif depth == 1 and token == ":":
            is_value = True
        elif depth == 1 and token != ",":
            if is_value and key == '"id"':
                return _id_of(token) if match.end() < len(head) else None  # else it may be cut off
            key = token
        if token not in ":":
            is_value = False
    found = _AT_END.search(tail, max(0, tail.rfind('"id"')))
    return _id_of(found.group(1)) if found else None


def _id_of(token: str) -> str | int | None:
    try:
        value = json.loads(token)
    except ValueError:
        return None
    return value if isinstance(value, str) or type(value) is int else None


def _skip(file: BinaryIO, start: bytes) -> tuple[bytes, bytes, int]:
    """Read a line to its end without keeping it; return both ends of it and its length."""
    head, tail, length = start[:KEPT], start[-KEPT:], len(start)
    del start
    while not tail.endswith(b"\n") and (piece := file.readline(PIECE)):
        length += len(piece)
        tail = (tail + piece)[-KEPT:]
    return head, tail, length


def _refusal(head: bytes, tail: bytes, length: int, most: int) -> str:
    found = request_id(head.decode("utf-8", errors="replace"), tail.decode("utf-8", errors="replace"))
    what = f"This line has {length / 1e6:.1f} MB; lines above {most / 1e6:g} MB (server.max_line) are not read."
    return _error(found, what)


def _error(found: str | int | None, what: str) -> str:
    """Return the reply to a line that is not read."""
    code = _PARSE_ERROR if found is None else _INVALID_REQUEST
    message = f"{what} Nothing of it was done. Send less at once: fewer items in a call, or a long text in parts."
    return json.dumps({"jsonrpc": "2.0", "id": found, "error": {"code": code, "message": message}}) + "\n"
