"""``mcp-memory forget``: say what would go, and with its token, or with ``--yes``, let it go."""

from __future__ import annotations

import argparse
from dataclasses import replace

import anyio

from mcp_memory.commands.terminal import Terminal
from mcp_memory.domain.forgetting import ForgetResult
from mcp_memory.domain.query import MEANT_SPACE
from mcp_memory.server.tools.arguments import read
from mcp_memory.server.tools.forget import ForgetInput, forget_reply, forget_request
from mcp_memory.settings import Settings
from mcp_memory.wiring import open_memory, open_unloaded


def forget(settings: Settings, options: argparse.Namespace) -> int:
    """Preview, or forget, as the options say; return 0.

    Raises:
        InvalidInput: something is unknown, not exactly one thing is chosen, or the token is not that of the preview.
        StoreError: the store cannot be read or written to.
    """
    return anyio.run(_forget, settings, options, Terminal())


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
        terminal.line(f"To do it, give the same command again with --token {result.token}.")
    return 0
