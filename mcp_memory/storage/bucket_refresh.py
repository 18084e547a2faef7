"""Bring a view up to date with a store on object storage: from the journal, and from the tables only where it is short.

Every commit is an object of the journal before it is in the tables (``bucket_journal.py``), so a look at the names of
the newest objects, one request, says whether there is anything new, and these objects are all that has to be read. The
tables are read when a process opens the store, when it lagged so far behind that objects which it needs are gone, and
when a commit switches over to other derived tables.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from mcp_memory.domain.access import CALL_BEGAN
from mcp_memory.domain.batch import KEEP, Batch, Masking
from mcp_memory.domain.turns import Segment
from mcp_memory.errors import StoreBusy
from mcp_memory.storage.commits import last_commit, log_batch, stored_turn, usable_last
from mcp_memory.storage.journal import Appended, Entry, newer, rows_of
from mcp_memory.storage.refresh import Refresher
from mcp_memory.storage.rows import batch_of
from mcp_memory.storage.schema import COMMITS, commit_rows, table_name
from mcp_memory.storage.tables import Tables
from mcp_memory.vectors import Matrix
from mcp_memory.view.view import View

WAIT_S = 10.0
"""How long to wait for tables that are just being switched over."""
POLL_S = 0.1
LOOK_LASTS_S = 1.0
"""How long one call may rely on its look at the journal."""
MOST_RECENT = 128
"""Commits whose segments are kept beside the tables before a look at what the tables have."""


class BucketRefresher(Refresher):
    """A `Refresher` of a store on object storage.

    Attributes:
        recent: segments with their vectors that may not be in the tables yet, with the numbers of their commits.
    """

    def __init__(
        self, tables: Tables, embedder: str, dimension: int, make_view: Callable[[], View], masking: Masking = KEEP
    ) -> None:
        super().__init__(tables, embedder, dimension, make_view, masking)
        self.recent: list[tuple[int, Sequence[Segment], Matrix]] = []
        self._removals = tables.journal.removals
        self._looked = -math.inf

    def apply(self, view: View, batch: Batch, appended: Appended) -> None:
        """See `Refresher.apply`."""
        super().apply(view, batch, appended)
        self._note(appended.commit.tx, batch.segments, batch.segment_vectors)

    def reset(self) -> View:
        """See `Refresher.reset`."""
        self.recent, self._removals, self._looked = [], self.tables.journal.removals, -math.inf
        return super().reset()

    def _note(self, tx: int, segments: Sequence[Segment], vectors: Matrix) -> None:
        if segments:
            self.recent.append((tx, segments, vectors))
        if len(self.recent) > MOST_RECENT:
            last = last_commit(self.tables)
            self.recent = [one for one in self.recent if last is None or one[0] > last.tx]

    def nearest(self, space: str, query: Matrix) -> list[tuple[str, float]]:
        """Return the recent segments of a space with their cosines to a query."""
        found: list[tuple[str, float]] = []
        for _, segments, vectors in self.recent:
            cosines = vectors @ query
            found += [(one.id, float(cosines[row])) for row, one in enumerate(segments) if one.space == space]
        return found

    def is_current(self, *, at_a_glance: bool = False) -> bool:
        """See `Refresher.is_current`; here nothing can be seen without a request."""
        return not at_a_glance and self._version is not None and self.journal_end == self.tables.journal.size()

    def _with_turns(self, view: View) -> View:
        """See `Refresher._with_turns`: commits come from the journal alone, unless the tables were switched over."""
        began = time.monotonic()
        if self._looked >= max(CALL_BEGAN.get(), began - LOOK_LASTS_S) and not self.tables.journal.forgetting:
            return view
        until = began + WAIT_S
        while True:
            entries, end = self.tables.journal.read(self.journal_end)
            if self.tables.journal.removals != self._removals:  # perhaps another store was begun in its place
                view = self.reset()
                entries, end = self.tables.journal.read()
            if not entries and self._version is not None:
                self._looked = began
                return view
            if self._version is None or not _follow(newer(entries, view.tx), view):
                version = self.tables.version(COMMITS)
                if version is None:
                    self._version = 0
                else:
                    view = self._with_tables(view, version)
            entries = newer(entries, view.tx)
            if _follow(entries, view):
                break
            if time.monotonic() > until:
                raise StoreBusy("The memory is being switched over to new tables by another server. Try again.")
            time.sleep(POLL_S)
        if self._pending:
            view = self._with_pieces(view)
        if entries:
            self._add_whole(view, entries)
        self.journal_end = max(end, view.tx)
        self._looked = began
        return view

    def _add_whole(self, view: View, entries: Sequence[Entry]) -> None:
        """Add commits of the journal to the view, with their segments and sentences."""
        commits = [entry.commit for entry in entries]
        last = usable_last(commit_rows(commits[-1]), self.tables.uri, self._embedder, self._dimension)
        if not view.tx:
            view.generation, view.reader = last.generation, last.reader
        self._note_last(last)
        new, batch = log_batch(view, commits, partial(rows_of, entries), self._dimension, self.masking)
        view.add(batch, last.tx)
        segments, sentences = rows_of(entries, "segments"), rows_of(entries, "sentences")
        if segments is not None and sentences is not None:
            pieces = batch_of([turn for _, turn in new], segments, sentences, partial(stored_turn, view))
            view.add(replace(pieces, turns=()), last.tx)
            self._note(last.tx, pieces.segments, pieces.segment_vectors)
        self._complete_to = last.tx


def _follow(entries: Sequence[Entry], view: View) -> bool:
    """Return whether commits come right after those of a view, in the same derived tables."""
    if not entries:
        return True
    tables = {(entry.commit.generation, entry.commit.reader) for entry in entries}
    known = {(view.generation, view.reader)} if view.tx else tables
    return entries[0].commit.tx == view.tx + 1 and len(tables) == 1 and tables == known


def nearest_in(
    refresher: Refresher, view: View, space: str, queries: Matrix, count: int
) -> list[list[tuple[str, float]]]:
    """Return the segments of a space that are nearest to each query; see `ports.Store.nearest`."""
    where = f"space = '{space.replace(chr(39), chr(39) * 2)}' AND tx <= {view.tx}"
    name = table_name("segments", view.generation, view.reader)
    found = []
    for query in queries:
        every = dict(refresher.tables.nearest(name, query, where, count)) | dict(refresher.nearest(space, query))
        found.append(sorted(every.items(), key=lambda one: (-one[1], one[0]))[:count])
    return found


def open_refresher(
    tables: Tables, embedder: str, dimension: int, make_view: Callable[[], View], masking: Masking
) -> Refresher:
    """Return the refresher of a store, local or not."""
    kind = BucketRefresher if tables.folder is None else Refresher
    return kind(tables, embedder, dimension, make_view, masking)
