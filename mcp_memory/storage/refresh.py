"""From the commits and rows that are newer than a view to a view that has them. Blocking: call it in a thread.

Nothing new is the usual case and costs one look at the version of ``commits``, which every commit raises. Otherwise
only rows of commits after the view's are read. A first load is the same thing, in pieces of some thousand sentences,
so that it never holds everything twice.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.turns import Turn
from mcp_memory.errors import StoreMismatch
from mcp_memory.storage.schemas import FORMAT, Commit, Rows, batch_of, commits_of, turns_of
from mcp_memory.storage.tables import COMMITS, TURNS, Tables, segments_table, sentences_table
from mcp_memory.view.view import View

PIECE = 8192
"""Sentences read at once: 12 MB of vectors."""

_log = logging.getLogger(__name__)


class Outdated(Exception):
    """The store has an older format and must be rebuilt from its log before it can be used."""


def last_commit(tables: Tables) -> Commit | None:
    """Return the commit with the highest number, or None for an empty store."""
    for after in (tables.count(COMMITS) - 1, 0):  # if rows were doubled, none has the number that the count says
        rows = _commits(tables, after)
        if rows is not None:
            return commits_of(rows)[-1]
    return None


def _commits(tables: Tables, after: int) -> Rows | None:
    """Return the commits with higher numbers, by number; None if there are none."""
    count = tables.count(COMMITS)
    if not count:
        return None
    after = max(after, 0)
    rows = tables.tail(COMMITS, count - after) if count > after else None
    if rows is None or rows["tx"].to_pylist() != list(range(after + 1, count + 1)):
        rows = tables.rows(COMMITS, f"tx > {after}")  # numbers have no gaps and come in order, but who knows
    return rows.sort_by("tx") if rows is not None and len(rows) else None


class Refresher:
    """Brings a view up to date, and remembers how far that went.

    Attributes:
        tables: where the rows are.
        last: the last commit that was seen; None for an empty store.
        swept: of each table, the version at which it was known to be readable and to hold no row without a commit.
    """

    def __init__(self, tables: Tables, embedder: str, dimension: int, make_view: Callable[[], View]) -> None:
        self.tables = tables
        self.last: Commit | None = None
        self.swept: dict[str, int] = {}
        self._embedder = embedder
        self._dimension = dimension
        self._make_view = make_view
        self._seen: int | None = None

    def refresh(self, view: View) -> View:
        """Return the view as of the last commit: the same one with more in it, or a new one.

        Raises:
            StoreMismatch: the store has another embedder or a newer format.
            Outdated: it has an older format.
            StoreError: a table cannot be read.
        """
        version = self.tables.version(COMMITS)
        if version is None:
            return self._begin() if view.tx else view
        if version == self._seen:
            return view
        if self.tables.count(COMMITS) < view.tx:  # somebody put another store into this place
            view = self._begin()
        while (commits := _commits(self.tables, view.tx)) is not None:
            last = self._last(commits)
            if last.generation == view.generation:
                view = self._load(view, commits, last)
                self.last = last
                break
            view = self._begin()
            view.generation = last.generation
        self._seen = version
        if COMMITS not in self.tables.broken:
            self.swept[COMMITS] = version
        return view

    def added(self, commit: Commit, version: int | None) -> None:
        """Note a commit of this process, and the version of ``commits`` that has it; None if the view has not."""
        self.last, self._seen = commit, version

    def _begin(self) -> View:
        self.tables.forget()
        self.last, self._seen = None, None
        self.swept.clear()
        return self._make_view()

    def _last(self, commits: Rows) -> Commit:
        last = commits_of(commits.slice(len(commits) - 1))[0]
        if last.format > FORMAT:
            raise StoreMismatch(
                f"storage.uri {self.tables.uri!r} was written by a newer mcp-memory (format {last.format}, this "
                f"program knows {FORMAT}). Nothing was changed. Update this program, or set storage.uri."
            )
        if (last.embedder, last.dimension) != (self._embedder, self._dimension):
            raise StoreMismatch(
                f"storage.uri {self.tables.uri!r} holds vectors of {last.embedder!r} ({last.dimension} numbers each), "
                f"configured is {self._embedder!r} ({self._dimension}): the two cannot be compared. Nothing was "
                "changed. Run `mcp-memory doctor --re-embed` to make all vectors anew, or set the former embedder."
            )
        if last.format < FORMAT:
            raise Outdated
        return last

    def _load(self, view: View, commits: Rows, last: Commit) -> View:
        """Add the rows of the commits to the view, some thousand sentences at a time."""
        held = sum(len(space.sentences) for space in view.spaces.values())
        coming = self.tables.count(sentences_table(last.generation)) if not view.tx else 0
        vectors = held + coming <= view.vector_limit
        after = view.tx
        numbers = commits["tx"].to_pylist()
        for until in cuts(numbers, commits["sentences"].to_pylist()):
            piece = commits.slice(numbers.index(after) + 1 if after in numbers else 0)
            self._load_piece(view, after, until, last, piece, vectors=vectors)
            after = until
        if view.holds_vectors and not vectors:  # bad rows were left out, and what is left can be held after all
            view = self._make_view()
            view.generation = last.generation
            self._load_piece(view, 0, last.tx, last, commits, vectors=True)
        return view

    def _load_piece(self, view: View, after: int, until: int, last: Commit, commits: Rows, *, vectors: bool) -> None:
        """Add the rows of the commits after one number up to another."""

        def known(space: str, turn_id: str) -> Turn | None:
            there = view.spaces.get(space)
            return there.turns.get(turn_id) if there else None

        def read(name: str, kind: str) -> Rows | None:
            columns = None if vectors else [column for column in self.tables.columns(name) if column != "vector"]
            if until != last.tx:
                return self.tables.rows(name, f"tx > {after} AND tx <= {until}", columns)
            return self._newest(name, after, until, sum(commits[kind].to_pylist()), columns)

        turns = read(TURNS, "turns")
        new = [] if turns is None else [turn for _, turn in turns_of(turns) if known(turn.space, turn.id) is None]
        segments = read(segments_table(last.generation), "segments")
        sentences = read(sentences_table(last.generation), "sentences")
        if segments is None or sentences is None:  # nothing but blanks was ever written
            view.add(Batch(tuple(new)), until)
        else:
            view.add(batch_of(new, segments, sentences, known), until)

    def _newest(self, name: str, after: int, until: int, expected: int, columns: list[str] | None) -> Rows | None:
        """Return the rows of the commits after one number up to the last.

        The commits say how many rows that is, and they were appended last: so they are read from the end. If these
        are not the ones (torn rows after them, or a rebuild among the commits), all rows are searched.
        """
        import pyarrow.compute as pc

        version = self.tables.version(name)
        rows = self.tables.tail(name, expected, columns) if expected else None
        numbers = rows["tx"].to_pylist() if rows is not None else []
        if not (len(numbers) == expected > 0 and after < min(numbers) and max(numbers) <= until):
            rows = self.tables.rows(name, f"tx > {after}", columns)
        if rows is None:
            return None
        visible = rows.filter(pc.less_equal(rows["tx"], until))
        if len(visible) == len(rows) and version is not None and name not in self.tables.broken:
            self.swept[name] = version
        return visible


def cuts(numbers: list[int], sentences: list[int]) -> list[int]:
    """Return the numbers of the commits at which to cut a load into pieces; the last commit's is the last."""
    cuts: list[int] = []
    size = 0
    for number, count in zip(numbers, sentences, strict=True):
        size += count
        if size >= PIECE:
            cuts.append(number)
            size = 0
    return cuts if cuts and cuts[-1] == numbers[-1] else [*cuts, numbers[-1]]
