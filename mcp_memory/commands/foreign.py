"""``mcp-memory import`` of what other programs have exported: what it finds, what it stores, and what is said of it."""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

from anyio import to_thread

from mcp_memory.commands.progress import ProgressBar
from mcp_memory.commands.terminal import Terminal
from mcp_memory.domain.access import MEANT_SPACE
from mcp_memory.errors import InvalidInput
from mcp_memory.memory import now
from mcp_memory.server.tools.replies import quantity
from mcp_memory.services.bulk import Derive
from mcp_memory.services.transfer.foreign.importing import ForeignImport, ItemLimits, import_foreign
from mcp_memory.services.transfer.foreign.kinds import OWN, READERS, recognise
from mcp_memory.services.transfer.foreign.sources import source_files
from mcp_memory.settings import Settings
from mcp_memory.wiring import choose_embedder, open_extractor, open_store, reading_of


def is_foreign(file: Path, kind: str | None) -> bool:
    """Return whether a path holds something else than an export of this program.

    Raises:
        InvalidInput: it cannot be read, or is nothing that is known.
    """
    with source_files(file) as files:
        return (kind or recognise(files)) != OWN


async def import_other(
    settings: Settings, options: argparse.Namespace, terminal: Terminal, derive: Derive | None = None
) -> None:
    """Store what a file, folder or archive of another program holds and the store does not.

    Args:
        settings: every setting.
        options: of the command.
        terminal: where to say what was done.
        derive: see `import_foreign`.

    Raises:
        InvalidInput: it cannot be imported.
        StoreError: the store cannot be read or written.
    """
    if options.map:
        remedy = "Say where it goes with --space NAME."
        raise InvalidInput("--map", "only an export of mcp-memory has names of spaces", remedy)
    limits = ItemLimits(settings.limits.message_bytes, settings.limits.document_bytes, settings.limits.name_chars)
    embedder, extractor = choose_embedder(settings), open_extractor(settings)
    store = open_store(settings, embedder, extractor)
    progress, space = ProgressBar("items"), options.space or MEANT_SPACE.get()
    try:
        with source_files(options.file) as files:
            kind = options.kind or await to_thread.run_sync(recognise, files)
            result = await import_foreign(
                store,
                reading_of(settings, embedder, extractor),
                READERS[kind],
                files,
                space=space,
                limits=limits,
                now=now(),
                again=options.again,
                dry_run=options.dry_run,
                progress=progress.show,
                derive=derive,
            )
    finally:
        progress.end()
        await store.aclose()
    sessions = quantity(result.sessions, "session")
    terminal.line(f"{options.file} ({kind}) holds {counted(result.found)} in {sessions}.")
    for record in result.skipped:
        terminal.note(f"skipped: {record.place} {record.problem}")
    if result.bad:
        rest = f"; the first {len(result.skipped)} are listed" if result.bad > len(result.skipped) else ""
        terminal.line(f"{quantity(result.bad, 'bad record')} skipped{rest}.")
    terminal.line(_outcome(result, space, dry_run=options.dry_run))
    if result.secrets:
        terminal.line("Secrets in it are masked wherever they are shown, searched, exported or sent.")
    if result.left_out:
        terminal.line(f"{quantity(result.left_out, 'item')} left out, forgotten here before; --again stores that too.")


def _outcome(result: ForeignImport, space: str, *, dry_run: bool) -> str:
    new, total = result.stored.total(), result.found.total()
    if not new:
        return "Nothing of it is new: nothing was stored."
    there = total - new - result.left_out
    known = f" {there:,} of {quantity(total, 'item')} are there already." if there > 0 else ""
    if dry_run:
        return f"Would store {counted(result.stored)} in space {space!r}; without --dry-run it does.{known}"
    return f"Stored {counted(result.stored)} in space {space!r}.{known}"


def counted(counts: Counter[str]) -> str:
    """Return counts as "2 messages, 1 fact"; the names are plural."""
    return ", ".join(quantity(count, name.removesuffix("s")) for name, count in counts.items() if count) or "nothing"
