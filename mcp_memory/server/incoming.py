"""The lines that a client sends: each is one message, or gets one error as its reply; none is passed over in silence.

Parsing takes many times the memory of the text: a list of five million empty lists is a line of 15 MB and a gigabyte of
objects. So a line may have so many bytes (``server.max_line``) and so many values. What is longer is skipped piece by
piece, never held. Whatever is refused, the client is told so under the id of its request, if that can be found near
either end.

JSON may escape half of a surrogate pair (RFC 8259, section 8.2), as clients do that cut a text inside an emoji. No text
in UTF-8 can hold it, so it is read as U+FFFD wherever it stands.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, BinaryIO

import pydantic_core

from mcp_memory.bounds import MOST_VALUES, too_many_values

if TYPE_CHECKING:
    from mcp_types import JSONRPCMessage

KEPT_BYTES = 1 << 16
"""Bytes at either end of a message in which its id is looked for. Clients write it first, or last."""
PIECE_BYTES = 1 << 20
"""Bytes read at once of what is skipped."""

_TEXT = r'"(?:[^"\\]|\\.)*+"'  # below, one without an end reaches to the end, so that nothing is read twice
_ID = rf'"id"\s*:\s*(-?\d{{1,18}}|{_TEXT})\s*'
_AT_START = re.compile(rf"\s*\{{\s*(?:{_TEXT}\s*:\s*{_TEXT}\s*,\s*)*{_ID},", re.DOTALL)
_AT_END = re.compile(rf"{_ID}(?:,\s*{_TEXT}\s*:\s*{_TEXT}\s*)*\}}\s*$", re.DOTALL)
_PARSE_ERROR, _INVALID_REQUEST = -32700, -32600
_SHORTER = "Nothing of it was done. Send less at once: fewer items in a call, or a long text in parts."
_REMEDY = (
    'Send an object with "jsonrpc": "2.0", the text "method", the object "params" and an "id", a text or whole number.'
)
_HEX = rb"[0-9a-fA-F]"
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB]%b{2}\\u[dD][c-fC-F]%b{2}|(u[dD][89a-fA-F]%b{2})|.)" % (_HEX, _HEX, _HEX), re.DOTALL
)
"""Every escape, from left to right; its group is half of a pair without the other half."""


def read_message(file: BinaryIO, most: int) -> tuple[JSONRPCMessage | None, str] | None:
    """Return the next message of a client, or the reply that refuses its line; None at the end.

    Returns:
        The message, and an empty text; or None, and the reply, a JSON-RPC error on one line. Blank lines are no lines.
    """
    while line := file.readline(most + 1):
        if len(line) > most and not line.endswith(b"\n"):
            ends, length = _skip(file, line)
            what = f"This line has {length / 1e6:.1f} MB; lines above {most / 1e6:g} MB (server.max_line) are not read."
            return None, _refusal(ends, f"{what} {_SHORTER}")
        line = line.strip().removeprefix(b"\xef\xbb\xbf")  # a byte-order mark, which some shells put first
        if line:
            return _message(line)
    return None


def without_halves(data: bytes) -> bytes:
    """Return JSON in which U+FFFD stands for each escaped half of a surrogate pair; nothing gets longer or shorter."""
    if b"\\ud" not in data and b"\\uD" not in data:
        return data
    return _ESCAPE.sub(lambda found: rb"\ufffd" if found.group(1) else found.group(), data)


def checked_json(data: bytes, what: str) -> tuple[Any, str]:
    """Return the JSON of one message of a client and an empty text; or None, and the reply that refuses it."""
    if too_many_values(data.decode("utf-8", errors="replace")):
        return None, _refusal(data, f"This {what} has more than {MOST_VALUES} values, so it was not read. {_SHORTER}")
    try:
        value = pydantic_core.from_json(without_halves(data), allow_inf_nan=False)
    except ValueError as error:
        problem = f"This {what} is not JSON: {error}. Send one message in each {what}, as JSON in UTF-8."
        return None, _refusal(data, problem, _PARSE_ERROR)
    if isinstance(value, list) or ("method" in (fields := _fields(value)) and not _is_id(fields.get("id", ""))):
        return None, _no_request(value, what)
    return value, ""


def _message(line: bytes) -> tuple[JSONRPCMessage | None, str]:
    """Return the message that a line holds, or the reply to a line that holds none."""
    from mcp_types import jsonrpc_message_adapter  # slow to import, and commands for people need none of it

    value, refusal = checked_json(line, "line")
    if refusal:
        return None, refusal
    try:
        return jsonrpc_message_adapter.validate_python(value, by_name=False), ""
    except ValueError:
        return None, _no_request(value, "line")


def _no_request(value: Any, what: str) -> str:
    """Return the reply to JSON that is no message."""
    found = (fields := _fields(value)).get("id")
    answers = "method" not in fields and ("result" in fields or "error" in fields)  # to a request of ours, by its id
    remedy = f"A batch is not read: send each message in a {what} of its own." if isinstance(value, list) else _REMEDY
    return _error(found if _is_id(found) and not answers else None, _INVALID_REQUEST, f"No request. {remedy}")


def _fields(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _is_id(value: Any) -> bool:
    return isinstance(value, str) or type(value) is int


def _skip(file: BinaryIO, start: bytes) -> tuple[bytes, int]:
    """Read a line to its end without keeping it; return both ends of it and its length."""
    head, tail, length = start[:KEPT_BYTES], start[-KEPT_BYTES:], len(start)
    del start
    while not tail.endswith(b"\n") and (piece := file.readline(PIECE_BYTES)):
        length += len(piece)
        tail = (tail + piece)[-KEPT_BYTES:]
    return head + tail, length


def _refusal(data: bytes, words: str, code: int = _INVALID_REQUEST) -> str:
    """Return the reply to a message that is not read, of which both ends are known, under its id if that is found."""
    head, tail = (
        data[:KEPT_BYTES].decode("utf-8", errors="replace"),
        data[-KEPT_BYTES:].decode("utf-8", errors="replace"),
    )
    found = _AT_START.match(head) or _AT_END.search(tail, max(0, tail.rfind('"id"')))
    try:
        request_id = json.loads(found.group(1)) if found else None
    except ValueError:
        request_id = None
    return _error(request_id, _PARSE_ERROR if request_id is None else code, words)


def _error(request_id: str | int | None, code: int, words: str) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": words}})
