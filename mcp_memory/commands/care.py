"""``mcp-memory doctor`` and ``forget``: repair the memory, and let something of it go.

Both open the store as any other process does, so they are safe while servers run. ``forget`` says what would go, and
lets it go with its token, or with ``--yes``.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace

from mcp_memory import __version__
from mcp_memory.commands.terminal import ProgressBar, Terminal, confirmed
from mcp_memory.domain.access import MEANT_SPACE
from mcp_memory.domain.forgetting import ForgetResult
from mcp_memory.domain.status import StoreStatus
from mcp_memory.errors import EmbedderError
from mcp_memory.server.tools.arguments import read
from mcp_memory.server.tools.forget import ForgetInput, forget_reply, forget_request
from mcp_memory.services.ingest import deriver
from mcp_memory.services.maintain.status import status
from mcp_memory.settings import Settings
from mcp_memory.wiring import (
    new_memory,
    open_embedder,
    open_extractor,
    open_store,
    reading_of,
)


async def doctor(settings: Settings, options: argparse.Namespace, terminal: Terminal) -> int:
    """Check the store, after rebuilding or repairing it if asked, and print the problems.

    Returns:
        0 for none, otherwise 1.
    """
    rebuild = options.rebuild
    try:
        embedder = await open_embedder(settings)
    except EmbedderError as error:
        terminal.line(("ERROR:", "bad"), str(error))
        return 1
    terminal.line(f"model: {embedder.name} is what it should be and makes vectors of {embedder.dimension} numbers")
    async with aclosing(open_store(settings, embedder)) as store:
        if options.repair:
            done = await store.repair(lambda texts: _give_up(texts, terminal, yes=options.yes))
            for text in done:
                terminal.line(f"repair: {text}")
            rebuild = bool(done) or (await store.about()).remedy == "--rebuild"
        about = await store.about()
        terminal.line(f"store: {about.uri}, commit {about.tx}, generation {about.generation}, format {about.format}")
        if rebuild and about.embedder not in (None, embedder.name):
            problem = f"the store was made with {about.embedder!r}."
            terminal.line(("ERROR:", "bad"), problem, "Run: mcp-memory doctor --re-embed, or configure that embedder.")
            return 1
        if (rebuild or options.re_embed) and about.remedy != "--repair":  # else nothing can be made of it yet
            reading = reading_of(settings, embedder, open_extractor(settings))
            with ProgressBar("texts") as bar:
                turns = await store.rebuild(deriver(reading, progress=bar.show))
            terminal.line(f"rebuilt from the log: {turns} messages and documents")
        found = (await status(store, embedder, uptime_s=0.0, version=__version__)).store
    for problem in found.problems:
        terminal.line(("ERROR:", "bad"), problem)
    for note in found.notes:
        terminal.line(("NOTE:", "bold"), note)
    if not found.problems:
        terminal.line("nothing is damaged" if found.notes else "all is well")
    if remedy := _remedy(found, tried=options.repair):
        terminal.line(("to do:", "name"), remedy)
    return 1 if found.problems else 0


def _remedy(found: StoreStatus, *, tried: bool) -> str:
    """Return the command that mends what was found, as far as one does; "" where nothing is to be done.

    Args:
        found: what is wrong with the store as a whole.
        tried: whether a repair was just done as far as it could be.
    """
    if found.remedy == "--rebuild":
        return "mcp-memory doctor --rebuild (what was said is kept in the log, and the rest is made again from it)"
    if found.remedy != "--repair":
        return f"mcp-memory doctor {found.remedy}" if found.remedy else ""
    restore = "mcp-memory restore --replace FILE, a backup of yours, or put the damaged files back"
    if tried:
        return f"{restore}. Without one: mcp-memory doctor --repair --yes, which gives up what it named"
    return f"mcp-memory doctor --repair, which asks before it gives anything up. If it would: {restore}"


def _give_up(texts: Sequence[str], terminal: Terminal, *, yes: bool) -> bool:
    terminal.line("These cannot be brought back from this folder; a backup may have them (`mcp-memory restore`):")
    for text in texts:
        terminal.line(f"  {text}")
    return yes or confirmed("Give them up for good?")


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
    request = forget_request(read(ForgetInput, given, settings.limits), by="mcp-memory forget")
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
