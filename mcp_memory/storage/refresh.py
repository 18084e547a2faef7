"""Bring a view up to date with the commits that are newer than it. Blocking: call it in a thread.

Usually there is nothing new, and the only cost is a look at the log: the state of a file, or one request. Otherwise
only newer commits are read: their rows of the log, and those of their tables. A first load works in the same way, in
parts of some thousand sentences, so that it never holds all rows twice.

Turns, assertions and beliefs are read at once. Segments and sentences are read when a reader needs them: a writer only
needs the turns, their assertions and their beliefs, and must not wait while tens of thousands of sentences of another
process are loaded. Until then they are *pending*. Of commits on object storage that are not in the tables yet, every
row is in the log (`Entry.whole`), and is taken in at once.
"""

from __future__ import annotations

import math
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import groupby
from typing import cast

from mcp_memory.codec import fields_of
from mcp_memory.domain.access import CALL_BEGAN
from mcp_memory.domain.batch import KEEP, Batch, Masking, masked
from mcp_memory.domain.ids import Ids
from mcp_memory.domain.turns import Segment, Turn
from mcp_memory.errors import StoreBusy, StoreDamaged, StoreError
from mcp_memory.heap import drop_texts, may_go
from mcp_memory.storage import saved_view
from mcp_memory.storage.commits import ensure_usable, log_batch, stored_turn
from mcp_memory.storage.damage import Damage, problem_of_log, short_tables
from mcp_memory.storage.log import Entry, rows_of
from mcp_memory.storage.mapped import VectorFiles, seal, tidy
from mcp_memory.storage.rows import LAYOUTS, batch_of
from mcp_memory.storage.schema import (
    KEY_BYTES,
    LOG_KINDS,
    Commit,
    RowKind,
    TableKind,
    TableRows,
    split_commits,
)
from mcp_memory.storage.tables import Tables
from mcp_memory.vectors import Matrix
from mcp_memory.view.view import View

COUNTED_BY_SWITCH = frozenset({"assertions", "beliefs"})
"""Tables of which the commit of a rebuild alone counts the rows, although they carry the numbers of earlier commits."""
PIECES: tuple[TableKind, TableKind] = ("segments", "sentences")
LOOK_LASTS_S = 1.0
"""How long one call may rely on its look at a log on object storage."""
MOST_RECENT = 128
"""Commits whose segments are kept beside the tables before a look at what the tables have."""
ATTEMPTS = 20
POLL_S = 0.1
"""How often to begin again where the log is replaced meanwhile, and the pause before each."""


class Refresher:
    """Brings a view up to date, and remembers its state.

    Attributes:
        masking: the masking of secrets in what the view takes in.
        tables: where the rows are.
        ids: makes the ids of the store.
        last: the last commit that was read; None for an empty store.
        broken: names of tables that lack rows; a rebuild makes them again.
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
        self._embedder = embedder
        self._dimension = dimension
        self._make_view = make_view
        folder = tables.folder
        self._files = VectorFiles(folder, embedder, dimension, self.is_current) if folder is not None else None
        self._saved: saved_view.SavedViews | None = None
        self._problem = ""
        self._clear()

    def _clear(self) -> None:
        self.last: Commit | None = None
        self.broken: set[str] = set()
        self.swept: dict[str, int] = {}
        self._unread: set[str] = set()  # tables of which a file was changed
        self._read_to: tuple[int, int] | None = (
            None  # the commit that the view's turns are as of, and the log's edition
        )
        self._complete_to = 0  # the commit up to which the view has segments and sentences
        self._pending: list[Commit] = []  # the commits after it
        self._pending_turns: list[tuple[int, Turn]] = []  # their turns, in order of arrival, with commit numbers
        self._recent: list[tuple[int, Sequence[Segment], Matrix]] = []  # perhaps not in the tables yet, with commits
        self._looked = -math.inf

    def _note_last(self, last: Commit) -> None:
        self.last = last
        self.ids.use(bytes.fromhex(last.key))

    # What is missing

    @property
    def damage(self) -> Damage:
        """What is damaged, as of the last refresh."""
        return Damage((self._problem,) if self._problem else (), tuple(sorted(self.to_rebuild)))

    @property
    def to_rebuild(self) -> set[str]:
        """Tables that lack rows, and those that a writer could not read."""
        return self.broken | self.tables.broken

    @property
    def lacks_rows(self) -> bool:
        """Whether anything is damaged."""
        return bool(self._problem or self.broken)

    def note_refused(self, error: StoreError) -> None:
        """Note that a writer has found the log damaged."""
        if isinstance(error, StoreDamaged):
            self._problem = problem_of_log(self.tables)

    def note_rebuilt(self) -> None:
        """Forget what was broken: others have taken its place."""
        self.broken.clear()
        self._unread.clear()
        self.tables.broken.clear()

    # Saved views

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

    def save(self, view: View, stop: Callable[[], bool]) -> None:
        """Save a view if it is whole, unless it is to ``stop`` before the end. The view must not change meanwhile."""
        if self._saved is not None and self.last is not None and self.is_to_be_saved(view):
            view.extend_indexes()
            self._saved.save(view, self.last, stop)

    # Refreshing

    def is_current(self, *, at_a_glance: bool = False) -> bool:
        """Return whether nothing was committed since the turns of the view were last brought up to date.

        Args:
            at_a_glance: without a request; False then means that nobody knows.
        """
        log = self.tables.log
        if self._read_to is None or (log.shared and at_a_glance):
            return False
        return self._read_to == (log.newest(), log.edition)

    def refresh(self, view: View, *, whole: bool) -> View:
        """Return the view as of the last commit: the same one with more in it, or a new one.

        Args:
            view: as this method or `apply` left it.
            whole: with every segment and sentence; otherwise the newest of them may be missing.

        Raises:
            StoreMismatch: the store has another embedder or another format.
            StoreBusy: the log is replaced again and again.
            StoreError: it cannot be read.
        """
        before = view.tx
        view = self._with_turns(view)
        if whole or (self.tables.log.shared and self._pending):
            if self._pending:
                view = self._with_pieces(view)
            if self._files is not None and not view.fits:
                seal(view, self._files)
            return view
        with suppress(StoreError):  # whoever needs these tables says so
            self._check_pieces([commit for commit in self._pending if commit.tx > before])
        return view

    def load(self) -> View:
        """Return a new view of everything."""
        view = self.refresh(self.reset(), whole=True)
        view.cut_unseen()
        return view

    def apply(self, view: View, batch: Batch, commit: Commit) -> None:
        """Add a commit of this process to the view, which is as of that commit afterwards."""
        batch = masked(batch, self.masking, partial(stored_turn, view))
        self._add(view, batch, [commit], [(commit.tx, turn) for turn in batch.turns])
        self._read_to = commit.tx, self.tables.log.edition
        self._note_recent(commit.tx, batch.segments, batch.segment_vectors)

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
        self._clear()
        view = self._make_view()
        view.maps, view.ids = self._files is not None, self.ids
        return view

    # Turns, and everything else but segments and sentences

    def _with_turns(self, view: View) -> View:
        """Return the view with all new commits, but for their segments and sentences; another one after a reset."""
        log, began = self.tables.log, time.monotonic()
        if log.shared and self._looked >= max(CALL_BEGAN.get(), began - LOOK_LASTS_S) and not log.forgetting:
            return view
        if log.shared or not self.is_current():  # there, what is read is the look
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
            self._problem = problem_of_log(self.tables)
        self._looked = began
        return view

    def _with_saved(self, view: View) -> View:
        saved = None if view.tx or self._saved is None else self._saved.load(view)
        if saved is None:
            return view
        view, last = saved
        self._complete_to = last.tx
        self._note_last(last)
        self._read_to = last.tx, self.tables.log.edition
        return view

    def _read(self, view: View) -> View:
        log = self.tables.log
        before, entries = view, list(log.entries(view.tx)) if log.shared else []
        to = log.seen, log.edition
        if to[0] < view.tx or (self._read_to is not None and self._read_to[1] != to[1]):
            view = self.reset()  # somebody put another store in this place, or something was forgotten
        last = entries[-1].commit if entries else self.last if log.shared and view is before else log.last
        if last is not None and last.tx > view.tx:
            ensure_usable(last, self.tables.uri, self._embedder, self._dimension)
            if view.tx and (last.generation, last.reader) != (view.generation, view.reader):
                view = self.reset()
            if first := not view.tx:
                view.generation, view.reader = last.generation, last.reader
            for part in _parts(entries if entries and view is before else log.entries(view.tx, last.tx)):
                if part[0].whole:
                    self._add_whole(view, part)
                else:
                    self._load(view, part, last, first=first)
            if first and not log.shared:
                self._note_damaged_tables(last)
            self._note_last(last)
        self._read_to = to
        return view

    def _note_damaged_tables(self, last: Commit) -> None:
        self._unread = self.tables.sums.wrong(last.tables)
        self.broken |= short_tables(self.tables, last) | self._unread

    def _load(self, view: View, part: list[Entry], last: Commit, *, first: bool) -> None:
        """Add some of the new commits to the view; their segments and sentences become pending."""
        commits = [entry.commit for entry in part]

        def read(kind: RowKind) -> TableRows | None:
            """Return the rows of a kind in this part; None, without opening a table, if there are none."""
            if kind in LOG_KINDS and kind != "questions":
                return rows_of(part, kind)
            if not (any(commit.count(kind) for commit in commits) or (first and kind in COUNTED_BY_SWITCH)):
                return None
            stored = cast(TableKind, kind)
            try:
                return self._rows(stored, view.tx, commits, last, None)
            except StoreError:
                self.broken.add(last.table(stored))
                return None

        new, batch = log_batch(view, commits, read, self._dimension, self.masking)
        view.add(batch, commits[-1].tx)
        self._pending += commits
        self._pending_turns += new
        self._note_last(commits[-1])

    def _add_whole(self, view: View, part: list[Entry]) -> None:
        """Add commits that have every row, also their segments and sentences."""
        commits = [entry.commit for entry in part]
        new, batch = log_batch(view, commits, partial(rows_of, part), self._dimension, self.masking)
        segments, sentences = rows_of(part, "segments"), rows_of(part, "sentences")
        if segments is not None and sentences is not None:
            pieces = batch_of([turn for _, turn in new], segments, sentences, partial(stored_turn, view))
            batch = replace(
                batch,
                segments=pieces.segments,
                sentences=pieces.sentences,
                segment_vectors=pieces.segment_vectors,
                sentence_vectors=pieces.sentence_vectors,
            )
            self._note_recent(commits[-1].tx, pieces.segments, pieces.segment_vectors)
        if self._pending:
            view = self._with_pieces(view)
        self._add(view, batch, commits, new)

    # Segments that are not in the tables yet

    def _note_recent(self, tx: int, segments: Sequence[Segment], vectors: Matrix) -> None:
        if not self.tables.log.shared:
            return
        if segments:
            self._recent.append((tx, segments, vectors))
        if len(self._recent) > MOST_RECENT:
            folded = self.tables.log.newest() - self.tables.log.unfolded()
            self._recent = [one for one in self._recent if one[0] > folded]

    def nearest(self, view: View, space: str, queries: Matrix, count: int) -> list[list[tuple[str, float]]]:
        """Return the segments of a space that are nearest to each query; see `ports.Store.nearest`."""
        where = f"space = '{space.replace(chr(39), chr(39) * 2)}' AND tx <= {view.tx}"
        name = self.last.table("segments") if self.last else ""
        found = []
        for query in queries:
            every = dict(self.tables.nearest(name, query, where, count)) if name else {}
            for _, segments, vectors in self._recent:
                cosines = vectors @ query
                every |= {one.id: float(cosines[row]) for row, one in enumerate(segments) if one.space == space}
            found.append(sorted(every.items(), key=lambda one: (-one[1], one[0]))[:count])
        return found

    # Segments and sentences

    def _check_pieces(self, commits: list[Commit]) -> None:
        """Check that the tables of pieces hold just the newest commits' rows, so that a sweep can skip them."""
        if self.last is not None and any(commit.turns or commit.sentences for commit in commits):
            for kind in PIECES:
                self._rows(kind, commits[0].tx - 1, commits, self.last, ["tx"])

    def _with_pieces(self, view: View) -> View:
        """Return the view with the pending segments and sentences."""
        first = not self._complete_to
        for part in list(split_commits(self._pending, lambda commit: commit)):
            self._load_pieces(view, part)
            if not view.fits:
                if self._files is not None:
                    seal(view, self._files)
                for space in view.spaces.values():
                    space.extend_indexes()  # while the new pieces are objects
        if first and self._files is not None and not view.fits:
            tidy(view, self._files)
        return view

    def _load_pieces(self, view: View, part: list[Commit]) -> None:
        """Add the segments and sentences of the first of the pending commits."""
        assert self.last is not None
        until = part[-1].tx
        turns = [turn for tx, turn in self._pending_turns if tx <= until]
        names = {self.last.table(kind) for kind in PIECES}
        # Pieces carry the number of their turn's commit, or of a later one that indexed the turn.
        if any(commit.turns or commit.sentences for commit in part):
            try:
                segments, sentences = (self._read_pieces(kind, part, vectors=view.holds_vectors) for kind in PIECES)
            except StoreError:
                self.broken |= names
                segments = sentences = None
            if segments is not None and sentences is not None:  # else no turn had any words
                batch = batch_of(turns, segments, sentences, partial(stored_turn, view))
                view.add(replace(batch, turns=()), view.tx)
        self._complete_to = until
        self._pending, self._pending_turns = self._pending[len(part) :], self._pending_turns[len(turns) :]

    def _read_pieces(self, kind: TableKind, part: list[Commit], *, vectors: bool) -> TableRows | None:
        assert self.last is not None
        columns = None
        if not vectors:
            columns = ["tx", *(field.name for field in fields_of(LAYOUTS[kind]))]
        return self._rows(kind, self._complete_to, part, self.last, columns)

    # Rows

    def _rows(
        self, kind: TableKind, after: int, part: list[Commit], last: Commit, columns: list[str] | None
    ) -> TableRows | None:
        """Return the rows of consecutive commits after a number, in the table of a kind; columns: None for all.

        The commits say how many rows there are, and those of the last ones were appended last, so they are read from
        the end. If it holds other rows too, since uncommitted ones follow or a rebuild is among the commits, all rows
        are searched.
        """
        import pyarrow.compute as pc

        name, until = last.table(kind), part[-1].tx
        if name in self._unread:
            raise self.tables.unreadable(name, "a file of it was changed after it was written")
        if until != last.tx:
            return self.tables.rows(name, f"tx > {after} AND tx <= {until}", columns)
        version, expected = self.tables.version(name), sum(commit.count(kind) for commit in part)
        rows = self.tables.tail(name, expected + 1, columns) if expected else None
        numbers = rows["tx"].to_numpy() if rows is not None else []
        if rows is not None and len(numbers) > expected and numbers[0] <= after:  # the row before them is an older one
            rows, numbers = rows.slice(1), numbers[1:]
        if not (len(numbers) == expected > 0 and after < min(numbers) and max(numbers) <= until):
            rows = self.tables.rows(name, f"tx > {after}", columns)
        if rows is None:
            return None
        visible = rows.filter(pc.less_equal(rows["tx"], until))
        if len(visible) == len(rows) and version is not None and name not in self.tables.broken:
            self.swept[name] = version
        return visible


def _parts(entries: Iterable[Entry]) -> Iterator[list[Entry]]:
    """Yield commits in parts, all of a part whole or none."""
    for _, alike in groupby(entries, key=lambda entry: entry.whole):
        yield from split_commits(alike, lambda entry: entry.commit)
