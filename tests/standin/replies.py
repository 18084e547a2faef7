"""Replies of the stand-in: good, bad and malformed."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Reply:
    """An HTTP response."""

    status: int  # of HTTP
    body: bytes  # as sent
    headers: dict[str, str] = field(default_factory=dict)  # beside the length and the type
    cut: int | None = None  # bytes of the body after which the connection breaks, though more were promised
    mutter: str = "application/json"  # a content type other than JSON


class Silence:
    """No response: the connection stays open until the client hangs up."""


def message(text: str, *, stop_reason: str = "end_turn", usage: dict[str, Any] | None = None) -> Reply:
    """Return a message of the API that says a text; without ``usage`` the stand-in reports its own estimate."""
    content = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-test"}
    told = {"content": [{"type": "text", "text": text}], "stop_reason": stop_reason, "usage": usage}
    return Reply(200, json.dumps(content | told).encode())


def judgement(
    answer: str = "", supports: Sequence[str] = (), look_for: Sequence[str] = (), names: Sequence[str] = (), **more: Any
) -> dict[str, Any]:
    """Return what the prompt for answers asks for; without an answer it is not answerable.

    Searches for ``look_for`` and the facts of ``names`` are steps, too.
    """
    found = {"reasoning": "", "answerable": bool(answer), "incomplete": False, "answer": answer, "confidence": 0.9}
    found |= {"hedged": False, "missing": [], "wrong_premise": "", "steps": []} | more
    steps = [{"operator": "search", "on": text, "tag": ""} for text in look_for]
    steps += [{"operator": "expand_facts", "on": name, "tag": ""} for name in names]
    lists = {"supports": supports, "missing": found["missing"], "steps": [*found["steps"], *steps]}
    return found | {name: list(values) for name, values in lists.items()}


def said(*args: Any, **named: Any) -> Reply:
    """Return a good message with a judgement of answers."""
    return message(json.dumps(judgement(*args, **named)))


def error(status: int, kind: str = "api_error", words: str = "no", **headers: str) -> Reply:
    """Return an error of the API."""
    body = json.dumps({"type": "error", "error": {"type": kind, "message": words}}).encode()
    return Reply(status, body, {name.replace("_", "-"): value for name, value in headers.items()})


def overloaded() -> Reply:
    """Return 529, with a pause of nothing."""
    return error(529, "overloaded_error", retry_after="0")


def limited(seconds: str = "0") -> Reply:
    """Return 429, with the pause that the client should make."""
    return error(429, "rate_limit_error", retry_after=seconds)


def meant(**said: Any) -> Reply:
    """Return a good message with what a question means; nothing but what is given."""
    nothing: dict[str, Any] = {"names": [], "relations": [], "intent": "FACT", "since": "", "until": ""}
    return message(json.dumps(nothing | {"uncertain": False, "parts": []} | said))
