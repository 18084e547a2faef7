"""Recognise our prompts by the form they request, so that a test can script the steps separately."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from standin.messages_api import Asked, Script
from standin.replies import Reply, Silence, message

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


def meant(**said: Any) -> Reply:
    """Return a good message with what a question means; nothing but what is given."""
    nothing: dict[str, Any] = {"names": [], "relations": [], "intent": "FACT", "since": "", "until": ""}
    return message(json.dumps(nothing | {"uncertain": False, "parts": []} | said))
