"""Bring a view up to date with the commits that are newer than it. Blocking: call it in a thread.

Usually there is nothing new, and the only cost is a look at the log: the state of three files, or one request.
Otherwise only newer commits are read. Those that have an object of their own in the log have every row there
(`Entry.tables`); of the others the log has their lines, and the tables the rest. A first load works in the same way, in
parts of some thousand sentences, so that it never holds all rows twice.
"""

from __future__ import annotations

import math
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from mcp_memory.domain.access import CALL_BEGAN
from mcp_memory.domain.batch import KEEP, Batch, Masking, masked
from mcp_memory.domain.ids import Ids
from mcp_memory.domain.turns import Turn
from mcp_memory.errors import StoreBusy, StoreError, StoreMismatch
from mcp_memory.heap import drop_texts, may_go
from mcp_memory.storage import saved_view
from mcp_memory.storage.damage import Damage, problem_of_log, short_tables
from mcp_memory.storage.log import Entry, logged_rows, table_rows
from mcp_memory.storage.rows import (
    FORMAT,
    KEY_BYTES,
    Commit,
    StoredRow,
    TableKind,
    TableRows,
    assertions_in_order,
    older_format,
    stored_rows,
    vectors_for,
    with_pieces,
)
from mcp_memory.storage.tables import Tables
from mcp_memory.view.space import View

PART_SENTENCES = 8192
"""Sentences read at once: 12 MB of vectors; or beliefs, which have two each."""
LOOK_LASTS_S = 1.0
"""How long one call may rely on its look at a log on object storage."""
ATTEMPTS = 20
POLL_S = 0.1
"""How often to begin again where the log is replaced meanwhile, and the pause before each."""


class Refresher:
    """Brings a view up to date, and remembers its state.

    With ``made_by``, the settings of which a view depends, it begins with the saved view of a local store.

    Attributes:
        masking: the masking of secrets in what the view takes in.
        tables: where the rows are.
        ids: makes the ids of the store.
        damage: what is damaged, as of the last refresh: one that is under way may take a table that is just replaced
            for a broken one.
        last: the last commit that was read; None for an empty store.
    """

    def __init__(
        self,
        tables: Tables,
        embedder: str,
        dimension: int,
        make_view: Callable[[], View],
        masking: Masking = KEEP,
        made_by: str = "",
    ) -> None:
        self.masking = masking
        self.tables = tables
        self.ids = Ids(secrets.token_bytes(KEY_BYTES))
        self._embedder = embedder
        self._dimension = dimension
        self._make_view = make_view
        saves = made_by and tables.folder is not None
        self._saved = saved_view.SavedViews(tables, made_by, self.is_current) if saves else None
        self._problem = ""
        self.damage = Damage()
        self._clear()

    def _clear(self) -> None:
        self.last: Commit | None = None
        self._read_to: tuple[int, int] | None = None  # the commit that the view is as of, and the log's edition
        self._looked = -math.inf

    def _note_last(self, last: Commit) -> None:
        self.last = last
        self.ids.use(bytes.fromhex(last.key))

    # What is missing

    @property
    def lacks_rows(self) -> bool:
        """Whether the log is damaged, or a table that lacks rows or cannot be read."""
        return bool(self._problem or self.tables.broken)

    def _note_damage(self) -> None:
        self.damage = Damage((self._problem,) if self._problem else (), tuple(sorted(self.tables.broken)))

    def note_made_anew(self) -> None:
        """Note that others have taken the place of the broken tables."""
        self.tables.broken.clear()
        self._note_damage()

    # Saved views

    def save(self, view: View, stop: Callable[[], bool]) -> None:
        """Save a view that is large, whole, and much larger than before; one that is to ``stop`` is saved another time.

        The view must not change meanwhile.
        """
        if self._saved is None or self.last is None or self.lacks_rows or view.sentences < saved_view.LEAST_SENTENCES:
            return
        if self._saved.is_due(view):
            view.extend_indexes()
            self._saved.save(view, self.last, stop)

    # Refreshing

    def is_current(self, *, at_a_glance: bool = False) -> bool:
        """Return whether nothing was committed since the view was last brought up to date.

        At a glance means without a request; False is then said where nobody knows.
        """
        log = self.tables.log
        if self._read_to is None or (log.shared and at_a_glance):
            return False
        return self._read_to == (log.newest(), log.edition)

    def refresh(self, view: View) -> View:
        """Return the view as of the last commit: the same one, as it was left here, with more in it, or a new one.

        Raises:
            StoreMismatch: the store has another embedder or another format.
            StoreBusy: the log is replaced again and again.
            StoreError: it cannot be read.
        """
        log, began = self.tables.log, time.monotonic()
        if log.shared and self._looked >= max(CALL_BEGAN.get(), began - LOOK_LASTS_S) and not log.forgetting:
            return view
        if log.shared or not self.is_current() or self._problem:  # there, what is read is the look
            view = self._with_saved(view)
            for attempt in range(ATTEMPTS):
                try:
                    view = self._read(view)
                    break
                except StoreBusy:  # the log was replaced meanwhile, or is just being
                    if attempt == ATTEMPTS - 1:
                        raise
                    view = self.reset()
                    time.sleep(POLL_S)
            problem = problem_of_log(self.tables)
            if self._problem not in ("", problem):  # what was gone is back
                view = self._read(self.reset())
            self._problem = problem
        self._looked = began
        self._note_damage()
        return view

    def add_own_commit(self, view: View, batch: Batch, commit: Commit) -> None:
        """Add a commit of this process to the view, which is as of that commit afterwards."""
        view.add(masked(batch, self.masking, partial(stored_turn, view)), commit.tx)
        self._note_last(commit)
        self._read_to = commit.tx, self.tables.log.edition

    def reset(self) -> View:
        """Forget everything and return an empty view: another store has taken the place of the known one."""
        self.tables.reopen()
        drop_texts()
        may_go()
        self._clear()
        view = self._make_view()
        view.ids = self.ids
        return view

    # Commits

    def _with_saved(self, view: View) -> View:
        saved = None if view.tx or self._saved is None else self._saved.load(view)
        if saved is None:
            return view
        view, last = saved
        self._note_last(last)
        self._read_to = last.tx, self.tables.log.edition
        return view

    def _read(self, view: View) -> View:
        log = self.tables.log
        last = log.last
        if log.forgetting:  # nobody reads what is just replaced; the store waits, and comes back
            return view
        to = last.tx if last else 0, log.edition  # not the newest seen, which another thread may just have found
        if log.seen < view.tx or (self._read_to is not None and self._read_to[1] != to[1]):
            view = self.reset()  # somebody put another store in this place, or something was forgotten
        if last is not None and last.tx > view.tx:
            ensure_usable(last, self.tables.uri, self._embedder, self._dimension)
            if view.tx and last.generation != view.generation:
                view = self.reset()
            first, of_tables = not view.tx, False
            view.generation = last.generation
            for part in _parts(log.entries(view.tx, last.tx), last):
                self._add(view, part, last, first=first)
                of_tables |= part[0].tables is None
            if first and not log.shared:
                self.tables.broken |= short_tables(self.tables, last)
            newest = log.last if of_tables or self.tables.broken else last
            if log.forgetting or newest is None or newest.generation != last.generation:
                raise StoreBusy("The memory was made anew while it was read. Try again.")
        self._read_to = to
        return view

    def _add(self, view: View, part: list[Entry], last: Commit, *, first: bool) -> None:
        """Add some of the new commits, all of them whole or none, to the view, which is as of the commit before them.

        Where it was empty at ``first``, tables may have rows that no commit counts but that of a rebuild, which made
        them.
        """
        after, until = view.tx, part[-1].commit.tx

        def read(kind: TableKind) -> TableRows | None:
            """Return the rows of a table in this part; None, without opening it, if there are none."""
            if part[0].tables is not None:
                return table_rows(part, kind)
            if not (first or any(entry.commit.count(kind) for entry in part)):
                return None
            try:
                return self.tables.rows(last.table(kind), f"tx > {after} AND tx <= {until}")
            except StoreError:  # it is broken from now on
                return None

        view.add(_batch_of(view, part, read, self._dimension, self.masking), until)
        self._note_last(part[-1].commit)


def _parts(entries: Iterable[Entry], last: Commit) -> Iterator[list[Entry]]:
    """Yield commits in parts of some thousand large rows, all of a part whole or none.

    Only the rows of the tables that are used now count.
    """
    part, size = list[Entry](), 0
    for entry in entries:
        commit = entry.commit
        used = entry if commit.tables == last.tables else replace(entry, tables=None)
        if part and (size >= PART_SENTENCES or (part[0].tables is None) != (used.tables is None)):
            yield part
            part, size = [], 0
        part.append(used)
        size += 1 + commit.sentences + commit.beliefs + commit.points + commit.questions + commit.jobs
    if part:
        yield part


def ensure_format(last: Commit, uri: str) -> None:
    """Make sure that this program knows the format of a store.

    Raises:
        StoreMismatch: it has another one.
    """
    if last.format > FORMAT:
        raise StoreMismatch(
            f"storage.uri {uri!r} was written by a newer mcp-memory (format {last.format}, this program knows "
            f"{FORMAT}). Nothing was changed. Update this program, or set storage.uri."
        )
    if last.format < FORMAT:
        raise StoreMismatch(older_format(uri))


def ensure_usable(last: Commit, uri: str, embedder: str, dimension: int) -> None:
    """Make sure that a store can be read and written to with an embedder.

    Raises:
        StoreMismatch: it has another embedder than this one, or another format.
    """
    ensure_format(last, uri)
    if (last.embedder, last.dimension) != (embedder, dimension):
        raise StoreMismatch(
            f"storage.uri {uri!r} holds vectors of {last.embedder!r} ({last.dimension} numbers each), "
            f"configured is {embedder!r} ({dimension}): the two cannot be compared. Nothing was "
            "changed. Run `mcp-memory doctor --rebuild` to make all vectors again, or set the former embedder."
        )


def _batch_of(
    view: View, part: Sequence[Entry], read: Callable[[TableKind], TableRows | None], dimension: int, masking: Masking
) -> Batch:
    """Return what a view takes in of some commits at once, masked; ``read`` returns their rows of a table."""
    there = partial(stored_turn, view)
    turns = tuple(row.value for row in logged_rows(part, "turns") if there(row.value.space, row.value.id) is None)
    arrived = {turn.id: turn for turn in turns}

    def find(space: str, turn_id: str) -> Turn | None:
        return arrived.get(turn_id) or there(space, turn_id)

    points, questions = logged_rows(part, "points"), logged_rows(part, "questions")
    batch = Batch(
        turns,
        assertions=_values(assertions_in_order(logged_rows(part, "facts"), read("assertions"), find)),
        lessons=_values(logged_rows(part, "episodes")),
        beliefs=_values(stored_rows("beliefs", read("beliefs"))),
        points=_values(points),
        point_vectors=vectors_for(points, read("point_vectors"), dimension),
        aliases=_values(logged_rows(part, "aliases")),
        questions=_values(questions),
        question_vectors=vectors_for(questions, read("questions"), dimension),
        outlays=tuple(entry.commit.outlay for entry in part if entry.commit.outlay),
        jobs=_values(logged_rows(part, "jobs")),
    )
    segments, sentences = read("segments"), read("sentences")
    if segments is not None and sentences is not None:  # else no turn had any words
        batch = with_pieces(batch, segments, sentences, there)
    return masked(batch, masking, find)  # from here on nothing of the log is seen as it was said


def _values(rows: Sequence[StoredRow]) -> tuple[Any, ...]:
    """Return what rows hold."""
    return tuple(row.value for row in rows)


def stored_turn(view: View, space: str, turn_id: str) -> Turn | None:
    """Return a turn that a view has."""
    stored = view.spaces.get(space)
    return stored.turns.get(turn_id) if stored else None
