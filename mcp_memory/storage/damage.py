"""What is damaged in a store: the log, which nothing makes again, and tables, which a rebuild makes again from it.

Status, `mcp-memory doctor`, the warnings in replies and the errors of refused writes all have their words from here.
Files can be lost or changed below the program: by a disk, a sync tool, a person. The log says itself what it lacks
(``log.py``); of a table each commit says how many rows it has, and fewer are a loss. While the log lacks something,
nothing is written or compacted, so that a file put back makes everything whole again.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from mcp_memory.domain.status import StoreStatus
from mcp_memory.errors import StoreBusy, StoreDamaged, StoreError, StoreMismatch, StoreUnwritable
from mcp_memory.files import size_in_bytes
from mcp_memory.storage.place import is_of_table
from mcp_memory.storage.rows import FORMAT, Commit, TableKind
from mcp_memory.storage.tables import Tables

REMEDY = (
    "Recall goes on with what is left, and nothing is written, so that nothing more is lost. Put the files back (the "
    "sync tool's trash). If they are lost, set storage.uri to a new folder, and there restore a backup "
    "(`mcp-memory restore`) or import what is left here (`mcp-memory export` first)."
)
MADE_ANEW = (
    "Recall goes on without what they lack. A running server makes them again from the log in the background; at once: "
    "`mcp-memory doctor --rebuild`."
)


@dataclass(frozen=True, slots=True)
class Damage:
    """What is damaged in a store.

    Attributes:
        log: in words, what no rebuild makes again.
        tables: names of tables that a rebuild makes again.
    """

    log: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()

    @property
    def problems(self) -> tuple[str, ...]:
        """What is damaged and what to do about it, in words."""
        gone = (*self.log[:-1], f"{self.log[-1]} {REMEDY}") if self.log else ()
        if not self.tables:
            return gone
        return (*gone, f"{', '.join(map(repr, self.tables))} cannot be read whole. {MADE_ANEW}")


def problem_of_log(tables: Tables) -> str:
    """Return in words what is damaged of the log; empty for nothing.

    Where nothing at all is left of it, tables tell that there was one.
    """
    if gone := tables.log.missing():
        return f"{len(gone)} of {tables.log.seen} commits are gone: the log was cut off or changed."
    if tables.folder is None or tables.log.seen:
        return ""
    there = any(is_of_table(f"{path.name}/_versions/1.manifest") for path in tables.folder.glob("*.lance"))
    return "The log is gone, of which the tables are made." if there else ""


def examine(tables: Tables) -> Damage:
    """Return what is damaged, as a process finds that has not read anything yet: every file is opened.

    Some milliseconds, and .14 s for each GB that was not looked at before. Whatever a forget that is under way has
    rewritten so far is no damage.
    """
    tables.reopen()
    try:
        before, last = tables.log.newest(), tables.log.last
        log = tuple(filter(None, [problem_of_log(tables)]))
        if last is None or last.format != FORMAT or tables.log.forgetting:
            return Damage(log)
        short = short_tables(tables, last, closely=True)
        return Damage(log, tuple(sorted(short)) if before == tables.log.newest() else ())
    except (StoreBusy, StoreMismatch, StoreUnwritable):  # no damage, and said elsewhere
        return Damage()
    except StoreError as error:
        return Damage((str(error),))


def short_tables(tables: Tables, last: Commit, *, closely: bool = False) -> set[str]:
    """Return the names of tables that have fewer rows than the commits say.

    Rows that stand in the log still are in no table yet. Numbers of rows stand in the newest version of a table, so no
    row is read; ``closely``: every file is opened.
    """
    log, done = tables.log, last.tx - tables.log.unfolded()
    in_part = (entry.commit for entry in log.entries(done, last.tx) if entry.tables is None)
    expected: Counter[TableKind] = Counter()
    for commit in chain(log.commits(until=done), in_part):
        expected["point_vectors"] += commit.points
        expected["questions"] += commit.questions
        if commit.generation == last.generation:
            expected["segments"] += commit.segments
            expected["sentences"] += commit.sentences
            expected["assertions"] += commit.assertions * (commit.reader == last.reader)
            expected["beliefs"] = expected["beliefs"] or min(commit.beliefs, 1)  # an older program removed some
    every = "tx > 0" if closely else None
    wanted = {last.table(kind): rows for kind, rows in expected.items() if rows}
    return {name for name, rows in wanted.items() if _count(tables, name, every) < rows}


def _count(tables: Tables, name: str, where: str | None) -> int:
    try:
        return tables.count(name, where)
    except StoreError:
        return 0


def refuse(tables: Tables) -> None:
    """Refuse to change a store whose log is damaged.

    Raises:
        StoreDamaged: it is.
    """
    if problem := problem_of_log(tables):
        raise damaged(tables, Damage((problem,)).problems)


def damaged(tables: Tables, problems: tuple[str, ...]) -> StoreDamaged:
    """Return the error that refuses to change a store, with what is damaged in words."""
    return StoreDamaged(f"storage.uri {tables.uri!r} is damaged: {' '.join(problems)}", problems)


def in_words(tables: Tables, error: StoreError) -> StoreError:
    """Return the error to raise where a table could not be read or written: that of a refused write, if it is."""
    if isinstance(error, StoreBusy | StoreMismatch | StoreUnwritable) or not (problems := examine(tables).problems):
        return error
    return damaged(tables, problems)


# Status


def store_status(tables: Tables, embedder: str, dimension: int, examine: Callable[[], Damage]) -> StoreStatus:
    """Return the state of a store without reading its rows; who holds it and what it does just now are left open."""
    last, damage = None, examine()
    problems, notes = [*damage.problems], tuple[str, ...]()
    needs_rebuild = bool(damage.tables and not damage.log)
    try:
        last = tables.log.last
        notes = tables.place.notes
    except StoreError as error:
        problems = problems or [str(error)]
    if last and last.format > FORMAT:
        problems.append(f"The store has format {last.format}, this program knows {FORMAT}. Update this program.")
    if last and (last.embedder, last.dimension) != (embedder, dimension):
        problems.append(
            f"The store's vectors were made by {last.embedder!r}, configured is {embedder!r}: "
            "run `mcp-memory doctor --rebuild`."
        )
        needs_rebuild = True
    if tables.folder and not _can_be_written_to(tables.folder):
        problems.append(f"storage.uri {tables.uri!r} cannot be written to.")
    return StoreStatus(
        uri=tables.uri if tables.folder is None else str(tables.folder),  # where it was moved to
        bytes=None if tables.folder is None else size_in_bytes(tables.folder),
        tx=last.tx if last else 0,
        generation=last.generation if last else 0,
        format=last.format if last else FORMAT,
        embedder=last.embedder if last else None,
        holders=(),
        queue=0,
        problems=tuple(problems),
        needs_rebuild=needs_rebuild,
        notes=notes,
    )


def _can_be_written_to(folder: Path) -> bool:
    """Return whether files can be added to a folder, or the folder can be created if it does not exist yet."""
    try:
        existing = next(path for path in (folder, *folder.parents) if path.exists())
    except OSError:  # it lies behind a folder without access, or behind a file
        return False
    return existing.is_dir() and os.access(existing, os.W_OK | os.X_OK)
