"""``mcp-memory status``, ``doctor``, ``forget`` and ``token``: for whoever takes care of a memory.

They open the store as any other process does, so they are safe while servers run. ``status`` prints what
``memory_status`` says, and how much each space holds. ``forget`` says what would go, and lets it go with its token, or
with ``--yes``. ``token`` makes, lists and revokes the tokens of callers over HTTP.
"""

from __future__ import annotations

import argparse
import time
from contextlib import aclosing
from dataclasses import replace
from datetime import UTC, datetime
from typing import cast

from mcp_memory.commands.terminal import ProgressBar, Terminal
from mcp_memory.domain.access import MEANT_SPACE, RIGHTS, Grant, Permission, Right, is_pattern
from mcp_memory.domain.requests import ForgetResult
from mcp_memory.errors import EmbedderError, InvalidInput
from mcp_memory.memory import Memory
from mcp_memory.server.tools.arguments import read_arguments
from mcp_memory.server.tools.forget import ForgetInput, forget_reply, forget_request
from mcp_memory.server.tools.replies import quantity
from mcp_memory.server.tools.status import status_reply
from mcp_memory.services.indexing import deriver
from mcp_memory.settings import Settings
from mcp_memory.wiring import choose_embedder, new_memory, open_extractor, open_store, reading_of, token_file


async def status(settings: Settings, _options: argparse.Namespace, terminal: Terminal) -> int:
    """Print the contents and the state of the memory; return 0 if it is healthy, otherwise 1."""
    async with aclosing(new_memory(settings)) as memory:
        found = await memory.status()
    first, *lines = status_reply(found).text.split("\n")
    terminal.line((first, "good" if found.healthy else "bad"))
    for line in lines:
        terminal.line(line)
    if not found.healthy or found.store.needs_rebuild:
        terminal.line(("To do:", "bold"), "mcp-memory doctor")
    for name, held in found.spaces.items():
        texts = f"{quantity(held['messages'], 'message')}, {quantity(held['documents'], 'document')}"
        known = f"{quantity(held['assertions'], 'statement')} of facts about {quantity(held['entities'], 'entity')}"
        terminal.line((f"Space {name}:", "bold"), f"{texts} in {quantity(held['sessions'], 'session')}; {known}")
    return 0 if found.healthy else 1


async def doctor(settings: Settings, options: argparse.Namespace, terminal: Terminal) -> int:
    """Check the store, after rebuilding it if asked, and print the problems.

    Returns:
        0 for none, otherwise 1.
    """
    try:
        embedder = choose_embedder(settings)
        await embedder.embed(["ready"])  # loads its model
    except EmbedderError as error:
        terminal.line(("ERROR:", "bad"), str(error))
        return 1
    terminal.line(f"model: {embedder.name} is what it should be and makes vectors of {embedder.dimension} numbers")
    extractor = open_extractor(settings)
    async with aclosing(open_store(settings, embedder, extractor)) as store:
        about = await store.about()
        terminal.line(f"store: {about.uri}, commit {about.tx}, generation {about.generation}, format {about.format}")
        if options.rebuild:
            with ProgressBar("texts") as bar:
                turns = await store.rebuild(deriver(reading_of(settings, embedder, extractor), progress=bar.show))
            terminal.line(f"rebuilt from the log: {turns} messages and documents")
        found = (await Memory(settings, store, embedder).status()).store
    for problem in found.problems:
        terminal.line(("ERROR:", "bad"), problem)
    for note in found.notes:
        terminal.line(("NOTE:", "bold"), note)
    if not found.problems:
        terminal.line("nothing is damaged" if found.notes else "all is well")
    if found.needs_rebuild:
        why = "(what was said is kept in the log, and the rest is made again from it)"
        terminal.line(("to do:", "name"), f"mcp-memory doctor --rebuild {why}")
    return 1 if found.problems else 0


async def forget(settings: Settings, options: argparse.Namespace, terminal: Terminal) -> None:
    """Preview, or forget, as the options say.

    Raises:
        InvalidInput: something is unknown, not exactly one thing is chosen, or the token is not that of the preview.
        StoreError: the store cannot be read or written to.
    """
    names = ("session", "entity", "query", "since", "until", "token")
    given = {name: getattr(options, name) for name in names}
    given |= {"ids": options.ids, "everything": options.everything, "space": options.space or MEANT_SPACE.get()}
    given["dry_run"] = not (options.yes or options.token)
    request = forget_request(read_arguments(ForgetInput, given, settings.limits))
    async with aclosing(new_memory(settings)) as memory:
        if options.yes and request.token is None:  # the one who types it has decided: the preview is its own
            preview = await memory.forget(replace(request, dry_run=True))
            if preview.token is None:
                result: ForgetResult = preview
            else:
                result = await memory.forget(replace(request, token=preview.token))
        else:
            result = await memory.forget(request)
    reply = forget_reply(request, result)
    if options.json:
        terminal.json(reply.structured)
        return
    first, *lines = reply.text.split("\n")
    terminal.line((first, "bold"))
    for line in lines:
        if result.token is None or result.token not in line:
            terminal.line(line)
    if result.token is not None:
        terminal.line(f"To do it, give the same command again with this at its end:\n  --token {result.token}")


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
    expires = time.time() + options.days * 86_400 if options.days else None
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
