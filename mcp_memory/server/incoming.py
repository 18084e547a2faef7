"""The lines that a client sends: each is one message, or gets one error as its reply; none is passed over in silence.

Parsing takes many times the memory of the text: a list of five million empty lists is a line of 15 MB and a gigabyte of
objects. So a line may have so many bytes (``server.max_line``) and so many values. What is longer is skipped piece by
piece, never held; the client is told so under the id of its request, if that stands near either end of the line.

JSON may escape half of a surrogate pair (RFC 8259, section 8.2), as clients do that cut a text inside an emoji. No text
in UTF-8 can hold it, so it is read as U+FFFD wherever it stands.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, BinaryIO

import pydantic_core

from mcp_memory.bounds import VALUES, too_many_values

if TYPE_CHECKING:
    from mcp_types import JSONRPCMessage

KEPT = 1 << 16
"""Bytes at either end of a line in which its id is looked for. Clients write it first, or last."""
PIECE = 1 << 20
"""Bytes read at once of what is skipped."""

_TEXT = r'"(?:[^"\\]|\\.)*+"'  # below, one without an end reaches to the end, so that nothing is read twice
_ID = rf'"id"\s*:\s*(-?\d{{1,18}}|{_TEXT})\s*'
_AT_START = re.compile(rf"\s*\{{\s*(?:{_TEXT}\s*:\s*{_TEXT}\s*,\s*)*{_ID},", re.DOTALL)
_AT_END = re.compile(rf"{_ID}(?:,\s*{_TEXT}\s*:\s*{_TEXT}\s*)*\}}\s*$", re.DOTALL)
_PARSE_ERROR, _INVALID_REQUEST = -32700, -32600
_REMEDY = (
    'Send an object with "jsonrpc": "2.0", the text "method", the object "params" and an "id", a text or whole number.'
)
_HEX = rb"[0-9a-fA-F]"
_RAW_HALF = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]")
_ANY_HALF = re.compile(rb"\\u[dD][89a-fA-F]")
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
            return None, _refusal(*_skip(file, line), most)
        line = line.strip().removeprefix(b"\xef\xbb\xbf")  # a byte-order mark, which some shells put first
        if not line:
            continue
        text = line.decode("utf-8", errors="replace")
        if not too_many_values(text):
            return _message(line)
        found = request_id(text[:KEPT], text[-KEPT:])
        return None, _too_large(found, f"This line has more than {VALUES} values, so it was not read.")
    return None


def without_halves(data: bytes) -> bytes:
    """Return JSON in which U+FFFD stands for each half of a surrogate pair; nothing gets longer or shorter."""
    data = _RAW_HALF.sub(b"\xef\xbf\xbd", data)
    if not _ANY_HALF.search(data):
        return data
    return _ESCAPE.sub(lambda found: rb"\ufffd" if found.group(1) else found.group(), data)


def request_id(head: str, tail: str) -> str | int | None:
    """Return the id of a request of which only both ends are known; None if it stands in neither."""
    found = _AT_START.match(head) or _AT_END.search(tail, max(0, tail.rfind('"id"')))
    return _id_of(found.group(1)) if found else None


def _id_of(token: str) -> str | int | None:
    try:
        value = json.loads(token)
    except ValueError:
        return None
    return value if _is_id(value) else None


def json_of(data: bytes, what: str) -> tuple[Any, str]:
    """Return the JSON of one message of a client and an empty text; or None, and the reply that refuses it.

    Args:
        data: the text of the message, in UTF-8.
        what: the name of the text in the reply, such as "line".
    """
    try:
        value = _parsed(data)
    except ValueError as error:
        remedy = f"Send one message in each {what}, as JSON in UTF-8."
        return None, _error(_id_despite(data), _PARSE_ERROR, f"This {what} is not JSON: {error}. {remedy}")
    if isinstance(value, list) or ("method" in (fields := _fields(value)) and not _is_id(fields.get("id", ""))):
        return None, _no_request(value, what)
    return value, ""


def _message(line: bytes) -> tuple[JSONRPCMessage | None, str]:
    """Return the message that a line holds, or the reply to a line that holds none."""
    from mcp_types import jsonrpc_message_adapter  # slow to import, and commands for people need none of it

    value, refusal = json_of(line, "line")
    if refusal:
        return None, refusal
    try:
        return jsonrpc_message_adapter.validate_python(value, by_name=False), ""
    except ValueError:
        return None, _no_request(value, "line")


def _no_request(value: Any, what: str) -> str:
    found = (fields := _fields(value)).get("id")
    answers = "method" not in fields and ("result" in fields or "error" in fields)  # to a request of ours, by its id
    remedy = f"A batch is not read: send each message in a {what} of its own." if isinstance(value, list) else _REMEDY
    return _error(found if _is_id(found) and not answers else None, _INVALID_REQUEST, f"No request. {remedy}")


def _fields(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _parsed(line: bytes) -> Any:
    try:
        return pydantic_core.from_json(line, allow_inf_nan=False)
    except ValueError:
        if (whole := without_halves(line)) == line:
            raise
        return pydantic_core.from_json(whole, allow_inf_nan=False)


def _id_despite(line: bytes) -> str | int | None:
    """Return the id of a line that is JSON but for numbers that are none (NaN), or bytes that are no UTF-8."""
    try:
        value = pydantic_core.from_json(without_halves(line).decode("utf-8", errors="replace"))
    except ValueError:
        return None
    found = fields.get("id") if "method" in (fields := _fields(value)) else None
    return found if _is_id(found) else None


def _is_id(value: Any) -> bool:
    return isinstance(value, str) or type(value) is int


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
    return _too_large(found, what)


def _too_large(found: str | int | None, what: str) -> str:
    code = _PARSE_ERROR if found is None else _INVALID_REQUEST
    remedy = "Send less at once: fewer items in a call, or a long text in parts."
    return _error(found, code, f"{what} Nothing of it was done. {remedy}")


def _error(found: str | int | None, code: int, message: str) -> str:
    """Return the reply to a line that is not read."""
    return json.dumps({"jsonrpc": "2.0", "id": found, "error": {"code": code, "message": message}})
