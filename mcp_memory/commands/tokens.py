"""For whoever runs a server over HTTP: ``mcp-memory token``, the tokens of callers."""

from __future__ import annotations

import argparse
import time
from datetime import UTC, datetime
from typing import cast

from mcp_memory.commands.terminal import Terminal
from mcp_memory.domain.access import RIGHTS, Grant, Permission, Right, is_pattern
from mcp_memory.errors import InvalidInput
from mcp_memory.settings import Settings
from mcp_memory.wiring import token_file

DAY_S = 86_400


def token(settings: Settings, options: argparse.Namespace, terminal: Terminal) -> None:
    """Make, list or revoke.

    Raises:
        InvalidInput: a name, space or right is wrong.
    """
    file = token_file(settings)
    if options.deed == "add":
        first = not file.exists()
        terminal.line(file.add(_grant(options)))  # alone on stdout, for programs
        if first:
            terminal.note(
                "This is the first token: servers over HTTP that run already ask for one once they are restarted."
            )
    elif options.deed == "revoke":
        file.revoke(options.name)
        terminal.line(f"Revoked {options.name!r}; no process takes it from now on.")
    else:
        for one in file.list():
            terminal.line(_grant_line(one.grant, one.made))


def _grant(options: argparse.Namespace) -> Grant:
    rights = frozenset(part.strip() for part in options.rights.split(","))
    if "read" not in rights or not rights <= RIGHTS:
        raise InvalidInput("--rights", f"{options.rights!r} will not do", "Give read, and perhaps write and forget.")
    for spaces in options.spaces:
        if not is_pattern(spaces):
            raise InvalidInput("--space", f"{spaces!r} is not the name of a space", "Give a name, or work-* or *.")
    expires = time.time() + options.days * DAY_S if options.days else None
    held = cast("frozenset[Right]", rights)
    return Grant(options.name, tuple(Permission(one, held) for one in options.spaces), expires=expires)


def _grant_line(grant: Grant, made: float) -> str:
    allowed = ", ".join(f"{one.spaces} ({' '.join(sorted(one.rights))})" for one in grant.permissions)
    parts = [grant.caller, allowed, f"made {_day(made)}"]
    if grant.expires is not None:
        parts.append(f"{'expired' if grant.expires <= time.time() else 'until'} {_day(grant.expires)}")
    return " | ".join(parts)


def _day(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).date().isoformat()
