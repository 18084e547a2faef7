"""The one look at a store that says what is damaged, and in which words.

Status, `mcp-memory doctor`, the warnings in replies and the errors of refused writes all have their words from it, so
none of them can say anything else than the others. The files that only a repair needs are none of its business: what
they lack is written again by the next compaction.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from anyio import to_thread

from mcp_memory.errors import StoreBusy, StoreError, StoreMismatch, StoreUnwritable
from mcp_memory.storage.commits import last_commit, newest
from mcp_memory.storage.copies import read_anchor, write_anchor
from mcp_memory.storage.damage import SUPERSEDED, Damage, Losses, damage_of, damaged, is_behind, short_tables
from mcp_memory.storage.forgotten import copy_book, read_book
from mcp_memory.storage.schema import COMMITS, DERIVED_TABLES, FORGOTTEN, FORMAT, READABLE, Commit, commits_of
from mcp_memory.storage.tables import Tables

LOOKS = 3
"""How often to look again where something was committed meanwhile."""
Out = TypeVar("Out")
_log = logging.getLogger(__name__)


class Examiner:
    """Looks at a store when a process has noticed that something is wrong.

    Args:
        tables: the tables of the store, used by nobody else.
        losses: returns what the view of the process lacks.

    Attributes:
        found: what is damaged, as of the last refresh or refused write.
    """

    def __init__(self, tables: Tables, losses: Callable[[], Losses]) -> None:
        self._tables = tables
        self._losses = losses
        self._lock = threading.Lock()
        self._noted: tuple[object, ...] = (False, set(), set())
        self.found = Damage()

    def look(self) -> Damage:
        """Return what is damaged now; nothing that this process has noticed is left out, and it notices what is."""
        losses = self._losses()
        if self._tables.folder is None and not (losses.gone or losses.broken):
            return Damage()  # every table would have to be fetched
        with self._lock:
            found = examine(self._tables)
        if losses.gone and not found.log:
            found = replace(found, log=("Committed rows are gone or cannot be read.",))
        losses.note_broken(*found.derived)
        return found

    def note(self, *, book: bool) -> None:
        """Look, if a refresh has found something else than the last one; ``book``: so is the table of forgets."""
        losses = self._losses()
        noted = book, {*losses.gone}, {*losses.broken}
        if noted != self._noted:
            self.found, self._noted = self._told() if any(noted) else Damage(), noted

    async def refuse(self) -> None:
        """Refuse to change the store, if something is damaged that no rebuild makes again.

        Raises:
            StoreDamaged: it is.
        """
        if any(self._noted):  # else there is no need for a thread
            self.found = await to_thread.run_sync(self._told)
            if self.found.log:
                raise damaged(self._tables, self.found.problems)

    def run(self, read: Callable[[bool], Out], whole: bool) -> Out:
        """Return what a function reads; an error of it is raised in the words of this look.

        Raises:
            StoreError: it could not be read.
        """
        try:
            return read(whole)
        except StoreError as error:
            raise self.in_words(error) from error

    def in_words(self, error: StoreError) -> StoreError:
        """Return the error to raise where a table could not be read or written: that of a refused write, if it is."""
        if isinstance(error, StoreBusy | StoreMismatch | StoreUnwritable) or not (found := self._told()).problems:
            return error
        self.found = found
        return damaged(self._tables, found.problems)

    def _told(self) -> Damage:
        found = self.look()
        if found.problems and found != self.found:
            _log.error("storage.uri %r: %s", self._tables.uri, " ".join(found.problems))
        return found


def examine(tables: Tables) -> Damage:
    """Return what is damaged, as a process finds that has not read anything yet: every file of every table is opened.

    Numbers of rows are held against those that the commits say, and files against their sums. Some milliseconds, and
    .14 s for each GB that was not looked at before. Whatever a forget that is under way has rewritten so far is no
    damage.

    Args:
        tables: of the store; opened anew.
    """
    for _ in range(LOOKS):
        tables.forget()
        try:
            before = tables.version(COMMITS), tables.version(FORGOTTEN)
            found = _examined(tables)
            if not found.problems or before == (tables.version(COMMITS), tables.version(FORGOTTEN)):
                break
        except (StoreBusy, StoreMismatch, StoreUnwritable):  # no damage, and said elsewhere
            return Damage()
        except StoreError as error:
            found = Damage((str(error),))
    return found


def _examined(tables: Tables) -> Damage:
    _look_at_commits(tables)
    last = last_commit(tables)
    if read_book(tables).work is not None:
        return Damage()
    log = damage_of(tables, last)
    if last is None or not READABLE <= last.format <= FORMAT:
        return Damage(tuple(log))
    commits = commits_of(tables.rows(COMMITS, f"tx <= {last.tx}"))
    derived = {last.table(kind) for kind in DERIVED_TABLES if kind != "questions"}
    short = set(short_tables(tables, commits, closely=True).values()) | tables.sums.wrong(derived).keys()
    short |= tables.broken & {last.table(kind) for kind in SUPERSEDED}  # an earlier version was read: what lacks it?
    log += [_gone(name) for name in sorted(short - derived)]
    return Damage(tuple(log), tuple(sorted(short & derived)))


def _gone(name: str) -> str:
    return f"Rows of the table {name!r} are gone or cannot be read."


def _look_at_commits(tables: Tables) -> None:
    """Find out whether the table of commits can be read whole and is what was written; else copies take its place."""
    tables.rows(COMMITS)
    anchor = read_anchor(tables.folder)
    if tables.sums.wrong((COMMITS,)) or (is_behind(newest(tables), anchor) and tables.commit_copies.table()):
        tables.broken.add(COMMITS)


def write_copies(tables: Tables, last: Commit) -> None:
    """Write what the files that only a repair needs lack; a failure is only logged."""
    tables.sums.tidy((COMMITS, FORGOTTEN, *last.tables))
    tables.log_copy.fill(tables.rows, last)
    copy_book(tables)


def write_missing(tables: Tables) -> None:
    """Write whatever a repair needs and is not there; the write lock must be held."""
    if (last := last_commit(tables)) is not None:
        write_copies(tables, last)
    if (last := newest(tables)) is not None:
        write_anchor(tables.folder, last)
