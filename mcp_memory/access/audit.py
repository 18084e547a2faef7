"""The audit log: who did what in which space, when, and how much of it there was; no texts, and no names in them."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from mcp_memory.domain.access import Grant
from mcp_memory.errors import ConfigurationError


class Audit:
    """Appends lines of JSON to a file that only its owner reads; programs that rotate logs may move it away.

    Args:
        path: the path of the file.
        clock: seconds since 1970.

    Raises:
        ConfigurationError: it cannot be written.
    """

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        self._path = path
        self._clock = clock
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._write("")
        except OSError as error:
            raise ConfigurationError(f"access.audit: {path} cannot be written ({error}). Name another file.") from error

    def note(self, who: Grant, client: str, what: str, space: str, outcome: str, count: int) -> None:
        """Append one line.

        Args:
            who: called.
            client: their program, as it names itself.
            what: the tool, or the family of the resource.
            space: in which.
            outcome: ``ok``, ``refused`` or ``failed``.
            count: how much it brought, wrote or removed.
        """
        line = {
            "time": datetime.fromtimestamp(self._clock(), UTC).isoformat(timespec="milliseconds"),
            "who": who.caller,
            "issuer": who.issuer,
            "client": client,
            "what": what,
            "space": space,
            "outcome": outcome,
            "count": count,
        }
        self._write(json.dumps({name: value for name, value in line.items() if value != ""}) + "\n")

    def _write(self, text: str) -> None:
        binary = getattr(os, "O_BINARY", 0)  # else Windows writes two characters for a line's end
        file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | binary, 0o600)
        try:
            os.write(file, text.encode())
        finally:
            os.close(file)
