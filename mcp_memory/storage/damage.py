"""Notice that committed rows are gone: the anchor, and the rows that commits count held against those that are there.

What is damaged is said by one look (``examine.py``). A process that only reads or writes looks less closely, for the
sake of time: it notices in `Losses` that something is wrong, and then takes that look.

Files can be lost or changed below the program: by a disk, a sync tool, a person. LanceDB then reads an earlier version
of a table, if it can, and the rows above it look as if nobody had committed them; a writer would sweep them away.

- **The anchor** (``copies.py``) is the newest commit in a file beside the tables. None is newer unless it was lost.
- **Counts**: each commit says how many rows of the log it has. Fewer than that in a table are a loss.
- **Sums** of the data files (``data_files.py``) tell what was changed in place.


While something is missing, nothing is swept, compacted or written, so that a file put back makes everything whole again
and `repair` (``repair.py``) finds whatever is left.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from mcp_memory.errors import StoreDamaged, StoreError, StoreUnwritable
from mcp_memory.storage.commits import newest
from mcp_memory.storage.copies import read_anchor
from mcp_memory.storage.data_files import is_complete
from mcp_memory.storage.forgotten import read_book
from mcp_memory.storage.journal import JOURNAL, newer
from mcp_memory.storage.schema import COMMITS, DERIVED_TABLES, LOG_TABLES, Commit, TableKind, commits_of, generation_of
from mcp_memory.storage.tables import Tables

COUNTED: tuple[TableKind, ...] = ("turns", "facts", "episodes", "points", "aliases", "questions")
"""Tables that no rebuild makes again, and of which every committed row is still there: compaction removes superseded
rows from ``jobs``."""
SUPERSEDED: tuple[TableKind, ...] = ("beliefs", "jobs")
"""Tables from which compaction removes rows that later ones have superseded; those of their last commit stay."""
REMEDY = (
    "Recall goes on with what is left, and nothing is written, so that nothing more is lost. Put the files back "
    "(a backup, the sync tool's trash), or run `mcp-memory doctor --repair`."
)
JOURNAL_CHANGED = "Commits in the journal cannot be read any more: the file was changed."
LOOK_AGAIN_S = 2.0
"""How often a damaged store is looked at again."""
MADE_ANEW = (
    "Recall goes on without what they lack. A running server makes them again from the log in the background; at once: "
    "`mcp-memory doctor --rebuild`."
)
ANY = ""
"""Stands for the name of a table where nobody knows which one it is."""
_CALLED = {"turns": "messages and documents", "facts": "stated facts", "episodes": "lessons"}
_DERIVED: tuple[TableKind, ...] = ("segments", "sentences", "assertions", "point_vectors")


# What is missing


def commits_missing(tables: Tables, last: Commit | None, anchor: Commit | None, read_to: int = 0) -> str | None:
    """Return in words that commits were lost, or None; see `commits_lost`."""
    known, lines = last.tx if last else 0, tables.journal.damaged_lines(read_to)
    if not lines and (anchor is None or anchor.tx <= known):
        return None
    behind = [entry.commit.tx for entry in newer(tables.journal.whole_lines(), known)]
    expected = max(known + len(behind) + lines, anchor.tx if anchor else 0, *behind)
    text = f"{expected - known - len(behind)} of {expected} commits are gone"
    text += f", the first of them after number {known}."
    return f"{text} Of the journal ({JOURNAL}) {lines} lines cannot be read." if lines else text


def commits_lost(tables: Tables, last: Commit | None, anchor: Commit | None, read_to: int = 0) -> str | None:
    """Return in words that commits were lost, or can no longer be read from their own table, or None.

    Args:
        tables: the tables of the store.
        last: the last commit up to which all can be read.
        anchor: the newest one that was noted.
        read_to: to where the journal was read, which is whole until there.
    """
    missing = commits_missing(tables, last, anchor, read_to)
    if COMMITS not in tables.broken or (problem := tables.commit_copies.problem) is None:
        return missing
    files = damaged_files(tables.folder, COMMITS)
    named = f"{problem} Damaged: {', '.join(files)}." if files else problem
    return f"{named} {missing}" if missing else named


def is_behind(last: Commit | None, anchor: Commit | None) -> bool:
    """Whether the last commit is not the noted one: LanceDB reads an older or changed manifest in silence."""
    return anchor is not None and (last is None or last.tx < anchor.tx or (last.tx == anchor.tx and last != anchor))


def short_tables(tables: Tables, commits: Sequence[Commit], *, closely: bool = False) -> dict[TableKind, str]:
    """Return the kinds and names of tables outside of `COUNTED` that have fewer rows than all commits say.

    Numbers of rows stand in the newest version of a table, so no row is read but of the last ones of `SUPERSEDED`;
    ``closely``: every file is opened.
    """
    last = commits[-1]
    used = [commit for commit in commits if commit.generation == last.generation]
    found: dict[TableKind, str] = {}
    for kind in (*_DERIVED, *SUPERSEDED):
        name, where = last.table(kind), "tx > 0" if closely else None
        if kind in SUPERSEDED:
            among = [commit for commit in (commits if kind == "jobs" else used) if commit.count(kind)]
            newest = max(among, key=lambda one: one.tx, default=None)
            if newest is None:
                continue
            expected, where = newest.count(kind), f"tx = {newest.tx}"
            if (
                kind == "beliefs" and newest.tx == used[0].tx > 1
            ):  # a rebuild or a forget made them, with the numbers of their lessons
                expected, where = 1, "tx > 0" if closely else None
        elif kind == "assertions":
            expected = sum(commit.assertions for commit in used if commit.reader == last.reader)
        else:
            expected = sum(commit.count(kind) for commit in (commits if kind == "point_vectors" else used))
        if expected and _count(tables, name, where) < expected:
            found[kind] = name
    return found


def _count(tables: Tables, name: str, where: str | None) -> int:
    try:
        return tables.count(name, where)
    except StoreError:
        return 0


def rows_missing(tables: Tables, kind: TableKind, name: str, found: int, expected: int) -> str:
    """Return in words that rows of a table are gone, with the files that are damaged."""
    called = _CALLED.get(kind, name)
    files = damaged_files(tables.folder, name)
    named = f" Damaged: {', '.join(files)}." if files else ""
    return f"{expected - found} of {expected} {called} (table {name!r}) are gone or cannot be read.{named}"


def rows_changed(name: str, files: Sequence[Path]) -> str:
    """Return in words that files of a table are not what was written."""
    named = ", ".join(f"{name}.lance/{file.parent.name}/{file.name}" for file in files[:3])
    return f"The table {name!r} has {len(files)} files that were changed after they were written: {named}."


def damaged_files(folder: Path | None, name: str) -> list[str]:
    """Return some data files of a table that do not end as they should, relative to the store's folder."""
    place = folder / f"{name}.lance" / "data" if folder is not None else None
    try:
        files = sorted(place.glob("*.lance")) if place is not None else []
    except OSError:
        return []
    return [f"{name}.lance/data/{file.name}" for file in files if not is_complete(file)][:3]


class Losses:
    """What a view was found to lack when it was brought up to date; `examine` says what it is.

    Args:
        tables: the tables of the store.

    Attributes:
        gone: names of tables that lack committed rows which no rebuild makes again.
        broken: names of derived tables that lack rows; a rebuild makes them again.
        unread: those of them whose columns are perhaps no longer what they were.
    """

    def __init__(self, tables: Tables) -> None:
        self.gone: set[str] = set()
        self.broken: set[str] = set()
        self.unread: set[str] = set()
        self._tables = tables
        self._looked = 0.0
        self._files: tuple[object, ...] = ()

    def note_gone(self, name: str, gone: bool = True) -> None:
        """Note whether a table lacks rows."""
        if not gone:
            self.gone.discard(name)
        elif name not in self.gone:
            self.gone.add(name)
            self._note_files()

    def note_refused(self, error: StoreError) -> None:
        """Note that a writer has found something damaged, unless some damage is known already."""
        broken = any(not _is_derived(name) for name in self._tables.broken)
        if not self.gone and (isinstance(error, StoreDamaged) or broken):
            self.note_gone(ANY)

    def note_short(self, short: Mapping[TableKind, str]) -> None:
        """Note kinds and names of tables that have too few rows."""
        for kind, name in short.items():
            if kind in LOG_TABLES:
                self.note_gone(name)
            else:
                self.note_broken(name)

    def note_broken(self, *names: str) -> None:
        """Note names of derived tables that have too few rows."""
        if not self.broken.issuperset(names):
            self.broken.update(names)
            self._note_files()

    @property
    def to_rebuild(self) -> set[str]:
        """Derived tables that lack rows, and those that a writer could not read."""
        return self.broken | {name for name in self._tables.broken if _is_derived(name)}

    def note_rebuilt(self) -> None:
        """Forget what was broken: others have taken its place."""
        self.broken.clear()
        self.unread.clear()
        self._tables.broken.clear()

    def have_changed(self) -> bool:
        """Return whether files have changed since something was found missing: perhaps they were put back."""
        if time.monotonic() - self._looked < LOOK_AGAIN_S:
            return False
        self._looked = time.monotonic()
        return self._state() != self._files

    def note_changed(self, last: Commit) -> None:
        """Note the tables with files that are not what was written."""
        names = {last.table(kind): kind for kind in (*LOG_TABLES, *DERIVED_TABLES)}
        for name, files in self._tables.sums.wrong((COMMITS, *names)).items():
            if names.get(name) in (None, *COUNTED, *LOG_TABLES):
                self.note_gone(name)
            else:
                self.note_broken(name)
                self.unread |= {name for file in files if file.suffix == ".manifest"}

    def _note_files(self) -> None:
        self._looked, self._files = time.monotonic(), self._state()

    def _state(self) -> tuple[object, ...]:
        """Return what changes whenever a file of these tables comes, goes or changes."""
        found: list[object] = [self._tables.journal.size()]
        if (folder := self._tables.folder) is not None:
            with suppress(OSError):
                found.append((folder / JOURNAL).stat().st_mtime_ns)
            names = [path.stem for path in folder.glob("*.lance")] if ANY in self.gone else [*self.gone, *self.broken]
            for place in (folder / f"{name}.lance" / part for name in names for part in ("data", "_versions")):
                with suppress(OSError), os.scandir(place) as files:
                    found += sorted((file.name, file.stat().st_mtime_ns, file.stat().st_size) for file in files)
        return tuple(found)


def _is_derived(name: str) -> bool:
    return generation_of(name) is not None and not name.startswith("questions")


# In words


@dataclass(frozen=True, slots=True)
class Damage:
    """What is damaged in a store.

    Attributes:
        log: in words, what no rebuild makes again.
        derived: names of tables that a rebuild makes again.
    """

    log: tuple[str, ...] = ()
    derived: tuple[str, ...] = ()

    @property
    def problems(self) -> tuple[str, ...]:
        """What is damaged and what to do about it, in words."""
        gone = (*self.log[:-1], f"{self.log[-1]} {REMEDY}") if self.log else ()
        if not self.derived:
            return gone
        return (*gone, f"{', '.join(map(repr, self.derived))} cannot be read whole. {MADE_ANEW}")


def damage_of(tables: Tables, last: Commit | None) -> list[str]:
    """Return in words what committed rows are gone, by counts alone: no row of the log is read. Some milliseconds.

    Args:
        tables: the tables of the store.
        last: the last commit that the tables have.
    """
    rows = tables.rows(COMMITS, f"tx <= {last.tx}") if last else None  # others may write meanwhile
    anchor = read_anchor(tables.folder)  # before the newest commit, which must not be older
    texts = (commits_lost(tables, newest(tables), anchor), read_book(tables).damage)
    found = [text for text in texts if text]
    if last is None:
        return found
    commits = commits_of(rows) if rows is not None else []
    for kind, expected in totals_of(commits).items():
        name = last.table(kind)
        there = _count(tables, name, f"tx <= {last.tx}") if expected else 0
        if there < expected:
            found.append(rows_missing(tables, kind, name, there, expected))
    log = (COMMITS, "jobs", *(last.table(kind) for kind in COUNTED))
    return found + [rows_changed(name, files) for name, files in tables.sums.wrong(log).items()]


def totals_of(commits: Sequence[Commit]) -> dict[TableKind, int]:
    """Return how many rows commits say that the tables of `COUNTED` have."""
    return {kind: sum(commit.count(kind) for commit in commits) for kind in COUNTED}


def refuse(tables: Tables, damage: Sequence[str]) -> None:
    """Refuse to change a store that is damaged.

    Raises:
        StoreDamaged: something is.
    """
    if damage:
        raise damaged(tables, Damage(tuple(damage)).problems)


def refuse_others(tables: Tables) -> None:
    """Refuse to begin a memory among tables of another program that are called like those of a memory.

    Raises:
        StoreUnwritable: there is one.
    """
    for name in LOG_TABLES:
        try:
            tables.version(name)
        except StoreError as error:
            tables.broken.discard(name)
            raise StoreUnwritable(
                f"storage.uri {tables.uri!r} holds no memory, and its table {name!r} was not written by this program "
                "or is damaged. Nothing was changed. Move it elsewhere, or name another folder, and try again."
            ) from error


def damaged(tables: Tables, damage: Sequence[str]) -> StoreDamaged:
    """Return the error that refuses to change a store, with what is damaged in words."""
    return StoreDamaged(f"storage.uri {tables.uri!r} is damaged: {' '.join(damage)}", damage)
