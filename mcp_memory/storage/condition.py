"""What is known of a store without reading its rows: its last commit, what is wrong with it, how large it is."""

from __future__ import annotations

import os
from pathlib import Path

from mcp_memory.errors import StoreError
from mcp_memory.storage.refresh import last_commit
from mcp_memory.storage.schemas import FORMAT, READABLE, Commit
from mcp_memory.storage.tables import Tables


def condition(tables: Tables, embedder: str, dimension: int) -> tuple[Commit | None, tuple[str, ...]]:
    """Return the last commit, and in words what keeps the store from being used.

    Args:
        tables: of the store.
        embedder: that is configured.
        dimension: of its vectors.
    """
    try:
        last = last_commit(tables)
    except StoreError as error:
        return None, (str(error),)
    problems = []
    if last and not READABLE <= last.format <= FORMAT:
        remedy = (
            "It is made anew from its log when a server opens it, or now by `mcp-memory doctor --rebuild`."
            if last.format < FORMAT
            else "Update this program."
        )
        problems.append(f"The store has format {last.format}, this program knows {FORMAT}. {remedy}")
    if last and (last.embedder, last.dimension) != (embedder, dimension):
        problems.append(
            f"The store's vectors were made by {last.embedder!r}, configured is {embedder!r}: "
            "run `mcp-memory doctor --re-embed`."
        )
    if tables.folder and not _can_be_written_to(tables.folder):
        problems.append(f"storage.uri {tables.uri!r} cannot be written to.")
    return last, tuple(problems)


def _can_be_written_to(folder: Path) -> bool:
    """Return whether rows can be added to a folder, or the folder be made where it is not there yet."""
    try:
        there = next(path for path in (folder, *folder.parents) if path.exists())
    except OSError:  # it lies behind a folder that may not be looked into, or behind a file
        return False
    return there.is_dir() and os.access(there, os.W_OK | os.X_OK)


def size(folder: Path | None) -> int | None:
    """Return how many bytes lie in a folder; None for a store that lies in none."""
    if folder is None:
        return None
    total = 0
    for path, _, files in os.walk(folder):
        for name in files:
            try:
                total += Path(path, name).stat().st_size
            except OSError:  # compacted away while we counted
                continue
    return total
