"""Bring a view up to date with the commits that are newer than it. Blocking: call it in a thread.

Usually there is nothing new, and the only cost is reading the version of ``commits``, which every commit raises.
Otherwise only rows of commits after the view's are read. A first load works in the same way, in parts of some thousand
sentences, so that it never holds all rows twice.

The newest commits are in the journal (``journal.py``), which is read before the tables.

Turns, assertions and beliefs are read at once. Segments and sentences are read when a reader needs them: a writer only
needs the turns, their assertions and their beliefs, and must not wait while tens of thousands of sentences of another
process are loaded. Until then they are *pending*.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

from mcp_memory.domain.batch import KEEP, Batch, Masking, masked
from mcp_memory.domain.ids import Ids
from mcp_memory.domain.turns import Turn
from mcp_memory.errors import StoreError
from mcp_memory.heap import drop_texts, may_go
from mcp_memory.storage import saved_view
from mcp_memory.storage.commits import commits_after, log_batch, newest_rows, stored_turn, usable_last
from mcp_memory.storage.copies import read_anchor
from mcp_memory.storage.damage import COUNTED, Losses, commits_lost, is_behind, short_tables
from mcp_memory.storage.journal import Appended, Entry, newer, rows_of
from mcp_memory.storage.mapped import PIECES, PieceKind, Read, VectorFiles, attach, seal
from mcp_memory.storage.rows import batch_of
from mcp_memory.storage.schema import (
    COMMITS,
    KEY_BYTES,
    Commit,
    TableKind,
    TableRows,
    commits_of,
    split_commits,
    table_name,
)
from mcp_memory.storage.tables import Tables
from mcp_memory.vectors import Matrix
from mcp_memory.view.view import View

COUNTED_BY_REBUILD = frozenset({"assertions", "beliefs"})
"""Tables of which a rebuild's commit alone counts the rows, although they carry the numbers of earlier commits."""


class Refresher:
    """Brings a view up to date, and remembers its state.

    Attributes:
        masking: the masking of secrets in what the view takes in.
        tables: where the rows are.
        ids: makes the ids of the store.
        last: the last commit that was read; None for an empty store.
        folded: the last one that is in the tables; those after it are in the journal.
        losses: what is missing.
        swept: for each table, the version at which it was known to be readable and to hold no row without a commit.
    """

    def __init__(
        self,
        tables: Tables,
        embedder: str,
        dimension: int,
        make_view: Callable[[], View],
        masking: Masking = KEEP,
    ) -> None:
        self.masking = masking
        self.tables = tables
        self.ids = Ids(secrets.token_bytes(KEY_BYTES))
        self.last: Commit | None = None
        self.folded: Commit | None = None
        self.losses = Losses(tables)
        self._missing: Counter[TableKind] = Counter()
        self.swept: dict[str, int] = {}
        self._embedder = embedder
        self._dimension = dimension
        self._make_view = make_view
        folder = tables.folder
        self._files = VectorFiles(folder, embedder, dimension, self.is_current) if folder is not None else None
        self._version: int | None = None  # of ``commits``, which the view's turns are as of
        self.journal_end = 0  # to where the journal is read; 0 if it has to be read from its beginning
        self._complete_to = 0  # the commit up to which the view has segments and sentences
        self._pending: list[Commit] = []  # the commits after it
        self._pending_turns: list[tuple[int, Turn]] = []  # their turns, in order of arrival, with commit numbers
        self._saved: saved_view.SavedViews | None = None

    def _note_last(self, last: Commit) -> None:
        self.last = last
        if last.key:
            self.ids.use(bytes.fromhex(last.key))

    def use_saved(self, made_by: str) -> None:
        """Begin with the saved view of a local store, if it was made with these settings, and let `save` write it.

        Args:
            made_by: the settings; "" saves none.
        """
        if self._files is not None and made_by:
            self._saved = saved_view.SavedViews(self.tables, made_by, self._files, self.is_current)

    def is_to_be_saved(self, view: View) -> bool:
        """Return whether a view has grown so much that it should be saved."""
        if self._saved is None or view.sentences < saved_view.LEAST or self._pending or self.lacks_rows:
            return False
        return self.last is not None and self._saved.is_due(view)

    @property
    def lacks_rows(self) -> bool:
        """Whether rows are missing, or a derived table is broken; see `losses`."""
        return bool(self.losses.gone or self.losses.broken)

    def save(self, view: View, stop: Callable[[], bool]) -> None:
        """Save a view if it is whole, unless it is to ``stop`` before the end. The view must not change meanwhile."""
        if self._saved is not None and self.last is not None and self.is_to_be_saved(view):
            view.extend_indexes()
            self._saved.save(view, self.last, stop)

    def is_current(self, *, at_a_glance: bool = False) -> bool:
        """Return whether nothing was committed since the turns of the view were last brought up to date.

        Args:
            at_a_glance: look at the times of files alone, in ten microseconds; False then means that nobody knows.
        """
        version, tables = self._version, self.tables
        if version is None or self.journal_end != tables.journal.size():
            return False
        return version == (tables.settled_version(COMMITS) if at_a_glance else tables.version(COMMITS))

    def refresh(self, view: View, *, whole: bool) -> View:
        """Return the view as of the last commit: the same one with more in it, or a new one.

        Args:
            view: as this method or `apply` left it.
            whole: with every segment and sentence; otherwise the newest of them may be missing.

        Raises:
            StoreMismatch: the store has another embedder or a newer format.
            OutdatedFormat: it has an older format.
            StoreError: a table cannot be read.
        """
        before = view.tx
        view = self._with_turns(view)
        if whole:
            view = self._with_pieces(view) if self._pending else view
            if self._files is not None and view.maps and not view.fits:
                seal(view, self._files)
            return view
        with suppress(StoreError):  # whoever needs these tables says so
            self._check_pieces([commit for commit in self._pending if commit.tx > before])
        return view

    def nearest(self, space: str, query: Matrix) -> list[tuple[str, float]]:  # noqa: ARG002 - overridden
        """Return the segments of a space that are not in the tables yet with their cosines to a query: none."""
        return []

    def load(self) -> View:
        """Return a new view of everything."""
        view = self.refresh(self.reset(), whole=True)
        view.cut_unseen()
        return view

    def apply(self, view: View, batch: Batch, appended: Appended) -> None:
        """Add a commit of this process to the view, which is as of that commit afterwards."""
        batch, commit = masked(batch, self.masking, partial(stored_turn, view)), appended.commit
        self._add(view, batch, [commit], [(commit.tx, turn) for turn in batch.turns])
        if appended.version is not None:
            self._version, self.folded = appended.version, commit
        self.journal_end = appended.journal_end

    def _add(self, view: View, batch: Batch, commits: Sequence[Commit], turns: Sequence[tuple[int, Turn]]) -> None:
        """Add commits with their turns to the view; their pieces become pending if others are."""
        last = commits[-1]
        if self._pending:  # pieces are added in the order of their commits, so these have to wait as well
            view.add(batch.without_pieces, last.tx)
            self._pending += commits
            self._pending_turns += turns
        else:
            view.add(batch, last.tx)
            self._complete_to = last.tx
        self._note_last(last)

    def reset(self) -> View:
        """Forget everything and return an empty view: another store has taken the place of the known one."""
        self.tables.forget()
        drop_texts()
        may_go()
        self.last, self.folded, self._version = None, None, None
        self.journal_end = 0
        self.swept.clear()
        self.losses = Losses(self.tables)
        self._missing.clear()
        self._complete_to = 0
        self._pending, self._pending_turns = [], []
        view = self._make_view()
        view.maps, view.ids = self._files is not None, self.ids
        return view

    # Turns, and everything else but segments and sentences

    def _with_turns(self, view: View) -> View:
        """Return the view with all new commits, but for their segments and sentences; another one after a reset."""
        if self.is_current():
            return view
        anchor = None if self.tables.folder is None else read_anchor(self.tables.folder)  # older than what is read next
        version = None
        view = self._with_saved(view)
        while version is None or version != self.tables.version(COMMITS):  # else the journal was emptied meanwhile
            version = self.tables.version(COMMITS)
            if version is None:
                view = self.reset() if view.tx else view
                self.losses.note_gone(COMMITS, commits_lost(self.tables, None, anchor) is not None)
                return view
            if version == self._version and self.tables.journal.size() < self.journal_end:
                view = self.reset()  # somebody put another store in this place, or removed the journal
            entries, end = self.tables.journal.read(self.journal_end if version == self._version else 0)
            if version != self._version:
                view = self._with_tables(view, version)
            self._add_entries(view, entries)
            # Where it still holds what is in the tables it is about to be emptied, and may be as long again.
            in_tables = self.folded.tx if self.folded else 0
            self.journal_end = 0 if entries and entries[0].commit.tx <= in_tables else end
            if is_behind(self.last, anchor) and COMMITS not in self.tables.broken and self.tables.commit_copies.table():
                view, version = self.reset(), None
                self.tables.broken.add(COMMITS)
        self.losses.note_gone(COMMITS, commits_lost(self.tables, self.last, anchor, self.journal_end) is not None)
        return view

    def _with_saved(self, view: View) -> View:
        saved = None if view.tx or self._saved is None else self._saved.load(view)
        if saved is None:
            return view
        self.folded, self._complete_to = saved.folded, saved.last.tx
        self._note_last(saved.last)
        return saved.view

    def _with_tables(self, view: View, version: int) -> View:
        """Return the view with what the tables have of new commits; the version is that of ``commits``, or older."""
        if self.folded is not None and self.tables.count(COMMITS) < self.folded.tx:
            view = self.reset()  # somebody put another store in this place
        if self._version is None and self.tables.sums.wrong((COMMITS,)):
            self.tables.broken.add(COMMITS)  # LanceDB would read other numbers than were written
        while (rows := commits_after(self.tables, view.tx)) is not None:
            last = usable_last(rows, self.tables.uri, self._embedder, self._dimension)
            if not view.tx:
                self.losses.note_changed(last)
                view.generation, view.reader = last.generation, last.reader
            if (last.generation, last.reader) == (view.generation, view.reader):
                self._note_last(last)
                commits = commits_of(rows)
                if not view.tx:
                    self.losses.note_short(short_tables(self.tables, commits))
                for part in split_commits(commits):
                    self._load_turns(view, commits, part)
                break
            view = self.reset()
        self._version = version
        if self.tables.count(COMMITS) >= view.tx:
            self.folded = self.last
        for kind, count in self._missing.items():
            if count > 0:
                self.losses.note_gone(table_name(kind, view.generation, view.reader))
        if COMMITS not in self.tables.broken:
            self.swept[COMMITS] = version
        return view

    def _load_turns(self, view: View, commits: list[Commit], part: list[Commit]) -> None:
        """Add a part of the new commits to the view; their segments and sentences become pending."""

        def read(kind: TableKind) -> TableRows | None:
            """Return the rows of a table in this part; None, without opening it, if there are none."""
            counting = commits if kind in COUNTED_BY_REBUILD else part
            if not any(commit.count(kind) for commit in counting):
                return None
            name = table_name(kind, view.generation, view.reader)
            try:
                rows = self._rows(kind, view, view.tx, part, commits[-1].tx, None)
            except StoreError:
                rows = None
            if name in self.tables.broken and kind not in COUNTED:  # no version was read, or an older one
                self.losses.note_short({kind: name})
            if kind in COUNTED:
                self._missing[kind] += sum(commit.count(kind) for commit in part) - (0 if rows is None else len(rows))
            return rows

        new, batch = log_batch(view, part, read, self._dimension, self.masking)
        view.add(batch, part[-1].tx)
        self._pending += part
        self._pending_turns += new

    def _add_entries(self, view: View, entries: Sequence[Entry]) -> None:
        """Add the new commits of the journal to the view, up to a gap."""
        numbered = enumerate(newer(entries, view.tx), view.tx + 1)
        if entries := [entry for number, entry in numbered if entry.commit.tx == number]:
            commits = [entry.commit for entry in entries]
            self._note_last(commits[-1])
            new, batch = log_batch(view, commits, partial(rows_of, entries), self._dimension, self.masking)
            self._add(view, batch, commits, new)

    # Segments and sentences

    def _check_pieces(self, commits: list[Commit]) -> None:
        """Check that the tables of pieces hold just the newest commits' rows, so that a sweep can skip them."""
        if any(commit.turns or commit.sentences for commit in commits):
            for kind in PIECES:
                name = commits[-1].table(kind)
                expected = sum(commit.count(kind) for commit in commits)
                newest_rows(self.tables, self.swept, name, commits[0].tx - 1, commits[-1].tx, expected, ["tx"])

    def _with_pieces(self, view: View) -> View:
        """Return the view with the pending segments and sentences."""
        in_memory = sum(len(space.sentences) for space in view.spaces.values())
        first = not self._complete_to
        coming = self._count("sentences", view) if first else 0
        vectors = in_memory + coming <= view.vector_limit or (view.maps and not first)
        parts = list(split_commits(self._pending))
        view.maps = view.maps and vectors
        for part in parts:
            self._load_pieces(view, part, vectors=vectors)
            for space in view.spaces.values() if not vectors else ():
                space.extend_indexes()  # while the new pieces are objects
        if (files := self._files) is not None and not (view.fits or vectors):
            attach(view, files, self._dimension, self._readers(view, parts))
            view.maps = True
        if view.fits and not vectors:  # bad rows were left out, and the rest fits into memory after all
            view = self._with_turns(self.reset())
            if self._pending:
                self._load_pieces(view, self._pending, vectors=True)
        return view

    def _readers(self, view: View, parts: Sequence[list[Commit]]) -> dict[PieceKind, list[Read]]:
        """Return functions that read the vectors of the pieces of some commits, the newest first."""
        columns = ["tx", "space", "id", "vector"]
        return {
            kind: [
                partial(self._rows, kind, view, part[0].tx - 1, part, view.tx, columns)
                for part in reversed(parts)
                if any(commit.count(kind) for commit in part)
            ]
            for kind in PIECES
        }

    def _count(self, kind: TableKind, view: View) -> int:
        name = table_name(kind, view.generation, view.reader)
        try:
            return self.tables.count(name)
        except StoreError:
            self.losses.note_broken(name)
            return 0

    def _load_pieces(self, view: View, part: list[Commit], *, vectors: bool) -> None:
        """Add the segments and sentences of the first of the pending commits."""
        until = part[-1].tx
        turns = [turn for tx, turn in self._pending_turns if tx <= until]
        names = {table_name(kind, view.generation, view.reader) for kind in PIECES}
        # Pieces carry the number of their turn's commit, or of a later one that indexed the turn.
        if any(commit.turns or commit.sentences for commit in part):
            try:
                segments, sentences = (self._read_pieces(view, kind, part, vectors=vectors) for kind in PIECES)
            except StoreError:
                self.losses.note_broken(*names)
                segments = sentences = None
            self.losses.note_broken(*names & self.tables.broken)  # an older version was read, which has fewer rows
            if segments is not None and sentences is not None:  # else no turn had any words
                batch = batch_of(turns, segments, sentences, partial(stored_turn, view))
                view.add(replace(batch, turns=()), view.tx)
        self._complete_to = until
        self._pending, self._pending_turns = self._pending[len(part) :], self._pending_turns[len(turns) :]

    def _read_pieces(self, view: View, kind: TableKind, part: list[Commit], *, vectors: bool) -> TableRows | None:
        columns = None
        if not vectors:
            names = self.tables.column_names(table_name(kind, view.generation, view.reader))
            columns = [name for name in names if name != "vector"]
        return self._rows(kind, view, self._complete_to, part, view.tx, columns)

    # Rows

    def _rows(
        self, kind: TableKind, view: View, after: int, part: list[Commit], last: int, columns: list[str] | None
    ) -> TableRows | None:
        """Return the rows of consecutive commits after a number, in the table of a kind; columns: None for all."""
        name, until = table_name(kind, view.generation, view.reader), part[-1].tx
        if name in self.losses.unread:
            raise self.tables.unreadable(name, "its newest version was changed after it was written")
        if until == last:
            return newest_rows(
                self.tables, self.swept, name, after, until, sum(commit.count(kind) for commit in part), columns
            )
        return self.tables.rows(name, f"tx > {after} AND tx <= {until}", columns)
