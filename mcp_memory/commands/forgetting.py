"""``mcp-memory forget``: say what would go, and with its token, or with ``--yes``, let it go."""

from __future__ import annotations

import argparse
from dataclasses import replace

import anyio
from anyio import to_thread

from mcp_memory.commands.terminal import Terminal
from mcp_memory.domain.access import MEANT_SPACE
from mcp_memory.domain.forgetting import ForgetResult
from mcp_memory.gain.kalman import Teacher
from mcp_memory.server.tools.arguments import read
from mcp_memory.server.tools.forget import ForgetInput, forget_reply, forget_request
from mcp_memory.server.tools.replies import quantity
from mcp_memory.services.learn.update import relearner
from mcp_memory.services.transfer.importing import import_file
from mcp_memory.settings import Settings
from mcp_memory.wiring import (
    choose_embedder,
    open_extractor,
    open_kept,
    open_memory,
    open_store,
    open_unloaded,
    reading_of,
)


def forget(settings: Settings, options: argparse.Namespace) -> int:
    """Preview, or forget, as the options say; return 0.

    Raises:
        InvalidInput: something is unknown, not exactly one thing is chosen, or the token is not that of the preview.
        StoreError: the store cannot be read or written to.
    """
    work = _forget if options.undo is None else _undo
    return anyio.run(work, settings, options, Terminal())


async def _undo(settings: Settings, options: argparse.Namespace, terminal: Terminal) -> int:
    """Take back what was forgotten in the last days, as an import of it, and remove what was kept of it."""
    embedder, extractor = choose_embedder(settings), open_extractor(settings)
    store = open_store(settings, embedder, extractor)
    try:
        await store.forgotten()
        file = await to_thread.run_sync(open_kept(settings, store).find, options.undo)
        reading = reading_of(settings, embedder, extractor)
        relearn = relearner(embedder, Teacher(settings.gain))
        result = await import_file(store, reading, relearn, lambda: file.open("rb"), again=True)
        await to_thread.run_sync(file.unlink)
    finally:
        await store.aclose()
    count = sum(result.stored.values())
    if options.json:
        terminal.json({"stored": dict(result.stored)})
    else:
        terminal.line(f"Taken back: {quantity(count, 'record')} of {quantity(result.records, 'record')} that went.")
    return 0


async def _forget(settings: Settings, options: argparse.Namespace, terminal: Terminal) -> int:
    names = ("session", "entity", "query", "since", "until", "token")
    given = {name: getattr(options, name) for name in names}
    given |= {"ids": options.ids, "everything": options.everything, "space": options.space or MEANT_SPACE.get()}
    given["dry_run"] = not (options.yes or options.token)
    request = forget_request(read(ForgetInput, given), settings.limits, by="mcp-memory forget")
    memory = await (open_unloaded(settings) if options.query is None else open_memory(settings))
    try:
        if options.yes and request.token is None:  # the one who types it has decided: the preview is its own
            preview = await memory.forget(replace(request, dry_run=True))
            if preview.token is None:
                result: ForgetResult = preview
            else:
                result = await memory.forget(replace(request, token=preview.token))
        else:
            result = await memory.forget(request)
    finally:
        await memory.aclose()
    reply = forget_reply(request, result)
    if options.json:
        terminal.json(reply.structured)
        return 0
    first, *lines = reply.text.split("\n")
    terminal.line((first, "bold"))
    for line in lines:
        if result.token is None or result.token not in line:
            terminal.line(line)
    if result.token is not None:
        terminal.line(f"To do it, give the same command again with this at its end:\n  --token {result.token}")
    return 0
