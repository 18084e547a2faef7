"""``mcp-memory doctor`` and ``forget``: repair the memory, and let something of it go.

Both open the store as any other process does, so they are safe while servers run. ``forget`` says what would go, and
lets it go with its token, or with ``--yes``.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from dataclasses import replace

import anyio
from anyio import to_thread

from mcp_memory.commands.terminal import ProgressBar, Terminal, confirmed
from mcp_memory.domain.access import MEANT_SPACE
from mcp_memory.domain.forgetting import ForgetResult
from mcp_memory.errors import EmbedderError, StoreDamaged, StoreError, StoreUnwritable
from mcp_memory.gain.kalman import Teacher
from mcp_memory.server.tools.arguments import read
from mcp_memory.server.tools.forget import ForgetInput, forget_reply, forget_request
from mcp_memory.server.tools.replies import quantity
from mcp_memory.services.ingest import deriver
from mcp_memory.services.learn.update import relearner
from mcp_memory.services.transfer.importing import import_file
from mcp_memory.settings import Settings
from mcp_memory.storage.schema import COMMITS, LOG_TABLES
from mcp_memory.wiring import (
    choose_embedder,
    open_embedder,
    open_extractor,
    open_kept,
    open_memory,
    open_store,
    open_unloaded,
    reading_of,
)


def doctor(settings: Settings, *, rebuild: bool, re_embed: bool, repair: bool = False, yes: bool = False) -> int:
    """Check the store, after rebuilding it if asked, and print the problems; return 0 for none, otherwise 1.

    Args:
        settings: names the store and the embedder.
        rebuild: rebuild every derived table from the log.
        re_embed: the same, even if the store was made with another embedder than the configured one.
        repair: first take back what a damaged store still has, then rebuild.
        yes: give up what no repair can bring back without asking.
    """
    return anyio.run(lambda: _doctor(settings, rebuild=rebuild or repair, re_embed=re_embed, repair=repair, yes=yes))


async def _doctor(settings: Settings, *, rebuild: bool, re_embed: bool, repair: bool, yes: bool) -> int:
    terminal = Terminal()
    try:
        embedder = await open_embedder(settings)
    except EmbedderError as error:
        terminal.line(("ERROR:", "bad"), str(error))
        return 1
    terminal.line(f"model: {embedder.name} is what it should be and makes vectors of {embedder.dimension} numbers")
    store = open_store(settings, embedder)
    try:
        if repair:
            for text in await store.repair(lambda texts: _give_up(texts, terminal, yes=yes)):
                terminal.line(f"repair: {text}")
        about = await store.about()
        terminal.line(f"store: {about.uri}, commit {about.tx}, generation {about.generation}, format {about.format}")
        if rebuild and about.embedder not in (None, embedder.name):
            problem = f"the store was made with {about.embedder!r}."
            terminal.line(("ERROR:", "bad"), problem, "Run: mcp-memory doctor --re-embed, or configure that embedder.")
            return 1
        if rebuild or re_embed:
            bar = ProgressBar("texts")
            reading = reading_of(settings, embedder, open_extractor(settings))
            try:
                turns = await store.rebuild(deriver(reading, progress=bar.show))
            finally:
                bar.end()
            terminal.line(f"rebuilt from the log: {turns} messages and documents")
        about = await store.about()
        problems = about.problems
        findings = await store.check()
        damage = await store.damage_now()
    except (StoreDamaged, StoreUnwritable):
        raise
    except StoreError as error:  # nothing is left by which it could be read
        backup = (await store.about()).backup
        terminal.line(("ERROR:", "bad"), str(error).replace(" `mcp-memory doctor` says what is wrong.", ""))
        file = "FILE, a backup of yours" if backup is None else shlex.quote(backup)
        terminal.line(("to do:", "name"), f"mcp-memory restore --replace {file}, or put the damaged files back")
        return 1
    finally:
        await store.aclose()
    problems += tuple(text for text in damage if text not in problems)
    for problem in problems:
        terminal.line(("ERROR:", "bad"), problem)
    for note in about.notes:
        terminal.line(("NOTE:", "bold"), note)
    for finding in findings:
        terminal.line((f"{finding.severity.upper()}:", "bad" if finding.severity == "error" else "bold"), finding.text)
    errors = [finding.text for finding in findings if finding.severity == "error"]
    if problems or errors:
        terminal.line(("to do:", "name"), remedy_of(problems, errors))
        return 1
    terminal.line("all is well" if not findings else "nothing is lost")
    return 0


def remedy_of(problems: Sequence[str], errors: Sequence[str]) -> str:
    """Return the command that mends what was found.

    Args:
        problems: the problems of the store as a whole; each may name its command.
        errors: about rows, each after the name of its table.
    """
    for option in ("--repair", "--re-embed"):
        if any(f"doctor {option}" in text for text in problems):
            return f"mcp-memory doctor {option}"
    if any(repr(name) in text for name in (COMMITS, *LOG_TABLES) for text in problems):
        return "mcp-memory doctor --repair"
    if any(text.startswith(("commits", *LOG_TABLES)) for text in errors):
        return "mcp-memory doctor --repair (the log itself is damaged; mcp-memory restore FILE puts a backup back)"
    return "mcp-memory doctor --rebuild (what was said is kept in the log, and the rest is made again from it)"


def _give_up(texts: Sequence[str], terminal: Terminal, *, yes: bool) -> bool:
    terminal.line("These cannot be brought back from this folder; a backup may have them (`mcp-memory restore`):")
    for text in texts:
        terminal.line(f"  {text}")
    return yes or confirmed("Give them up for good?")


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
