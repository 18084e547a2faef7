"""From the commits and rows that are newer than a view to a view that has them. Blocking: call it in a thread.

Nothing new is the usual case and costs one look at the version of ``commits``, which every commit raises. Otherwise
only rows of commits after the view's are read. A first load is the same thing, in parts of some thousand sentences,
so that it never holds everything twice.

Turns, what is asserted and what was learnt are read at once, segments and sentences when somebody wants to read them: a
writer only asks which turns there are, what they say and what is believed of them, and must not wait while the ten
thousands of sentences that another process wrote are loaded. Until then the view is owed them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.turns import Turn
from mcp_memory.errors import StoreMismatch
from mcp_memory.storage.aliases import aliases_of
from mcp_memory.storage.assertions import recorded
from mcp_memory.storage.beliefs import latest
from mcp_memory.storage.jobs import jobs_of
from mcp_memory.storage.lessons import lessons_of
from mcp_memory.storage.names import (
    ALIASES,
    COMMITS,
    EPISODES,
    FACTS,
    JOBS,
    POINTS,
    TURNS,
    assertions_table,
    beliefs_table,
    point_vectors_table,
    questions_table,
    segments_table,
    sentences_table,
)
from mcp_memory.storage.pieces import batch_of
from mcp_memory.storage.points import point_vectors_of, points_of
from mcp_memory.storage.questions import questions_of
from mcp_memory.storage.rows import commits_of, turns_of
from mcp_memory.storage.schemas import FORMAT, READABLE, Commit, Rows
from mcp_memory.storage.tables import Tables
from mcp_memory.view.view import View

PIECE = 8192
"""Sentences read at once: 12 MB of vectors; or beliefs, which have two each."""
MADE_ANEW = frozenset({"assertions", "beliefs"})
"""What a rebuild's commit alone counts, with rows that have the numbers of the commits before it."""

_Read = Callable[[str, str], Rows | None]


class Outdated(Exception):
    """The store has a format that is not read as it is, and must be rebuilt from its log before it can be used."""


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
        self._seen: int | None = None  # the version of ``commits`` that the view's turns are as of
        self._whole_to = 0  # the commit up to which the view has segments and sentences
        self._owed: list[Commit] = []  # those after it
        self._bare: list[tuple[int, Turn]] = []  # their turns, in order of arrival, with the numbers of their commits

    def has_every_turn(self) -> bool:
        """Return whether nothing was committed since the turns of the view were last brought up to date."""
        return self._seen is not None and self._seen == self.tables.version(COMMITS)

    def refresh(self, view: View, *, whole: bool) -> View:
        """Return the view as of the last commit: the same one with more in it, or a new one.

        Args:
            view: as this or `take_in` left it.
            whole: with every segment and sentence; else the newest of them may be missing.

        Raises:
            StoreMismatch: the store has another embedder or a newer format.
            Outdated: it has an older format.
            StoreError: a table cannot be read.
        """
        before = view.tx
        view = self._with_turns(view)
        if whole:
            return self._with_pieces(view) if self._owed else view
        self._look_at([commit for commit in self._owed if commit.tx > before])
        return view

    def take_in(self, view: View, batch: Batch, commit: Commit, version: int) -> None:
        """Add what this process committed, after which the view is as of that commit.

        Args:
            view: as of the commit before.
            batch: what was committed.
            commit: its commit.
            version: of ``commits``, that has it.
        """
        if self._owed:  # rows come in the order of their commits
            pieces = Batch()
            read_at_once = replace(
                batch,
                segments=(),
                sentences=(),
                segment_vectors=pieces.segment_vectors,
                sentence_vectors=pieces.sentence_vectors,
            )
            view.add(read_at_once, commit.tx)
            self._owed.append(commit)
            self._bare += [(commit.tx, turn) for turn in batch.turns]
        else:
            view.add(batch, commit.tx)
            self._whole_to = commit.tx
        self.last, self._seen = commit, version

    def begin(self) -> View:
        """Forget everything and return an empty view: the store is not the one that was known."""
        self.tables.forget()
        self.last, self._seen = None, None
        self.swept.clear()
        self._whole_to = 0
        self._owed, self._bare = [], []
        return self._make_view()

    def _with_turns(self, view: View) -> View:
        version = self.tables.version(COMMITS)
        if version is None:
            return self.begin() if view.tx else view
        if version == self._seen:
            return view
        if self.tables.count(COMMITS) < view.tx:  # somebody put another store into this place
            view = self.begin()
        while (commits := _commits(self.tables, view.tx)) is not None:
            last = self._last(commits)
            if last.generation == view.generation:
                self._load_turns(view, commits_of(commits))
                self.last = last
                break
            view = self.begin()
            view.generation = last.generation
        self._seen = version
        if COMMITS not in self.tables.broken:
            self.swept[COMMITS] = version
        return view

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
        if last.format < READABLE:
            raise Outdated
        return last

    def _load_turns(self, view: View, commits: list[Commit]) -> None:
        for part in parts(commits):
            read = partial(self._counted, view, commits, part)
            stored = turns_of(read(TURNS, "turns"))
            new = [(tx, turn) for tx, turn in stored if _known(view, turn.space, turn.id) is None]
            view.add(self._batch(read, view, [turn for _, turn in new], part), part[-1].tx)
            self._owed += part
            self._bare += new

    def _batch(self, read: _Read, view: View, turns: list[Turn], part: list[Commit]) -> Batch:
        """Return everything of a part of the commits but segments and sentences.

        Args:
            read: returns the rows of a table, by its name and by what the commits call their number.
            view: as of the commit before.
            turns: that are new.
            part: of the commits.
        """
        arrived = {turn.id: turn for turn in turns}

        def find(space: str, turn_id: str) -> Turn | None:
            return arrived.get(turn_id) or _known(view, space, turn_id)

        facts, derived = read(FACTS, "facts"), read(assertions_table(view.generation), "assertions")
        points, vectors = points_of(read(POINTS, "points")), read(point_vectors_table(view.generation), "points")
        questions, asked = questions_of(read(questions_table(view.generation), "questions"), self._dimension)
        return Batch(
            tuple(turns),
            assertions=recorded(facts, derived, find),
            lessons=tuple(lesson for _, lesson in lessons_of(read(EPISODES, "episodes"))),
            beliefs=latest(read(beliefs_table(view.generation), "beliefs"), self._dimension),
            points=tuple(point for _, _, point in points),
            point_vectors=point_vectors_of(points, vectors, self._dimension),
            aliases=aliases_of(read(ALIASES, "aliases")),
            questions=questions,
            question_vectors=asked,
            outlays=tuple(commit.outlay for commit in part if commit.outlay),
            jobs=jobs_of(read(JOBS, "jobs")),
        )

    def _counted(self, view: View, commits: list[Commit], part: list[Commit], name: str, count: str) -> Rows | None:
        """Return the rows of a table in a part of the commits; None, and no look at it, where they have none there.

        Args:
            view: as of the commit before.
            commits: all that are new to it.
            part: of them.
            name: of the table.
            count: what a `Commit` calls the number of its rows there.
        """
        if not any(getattr(commit, count) for commit in (commits if count in MADE_ANEW else part)):
            return None
        expected = sum(getattr(commit, count) for commit in part)
        return self._rows(name, view.tx, part[-1].tx, commits[-1].tx, expected, None)

    def _look_at(self, commits: list[Commit]) -> None:
        """Look whether the derived rows of the newest commits are there and no others, so that no sweep has to."""
        if any(commit.turns for commit in commits):
            where = commits[0].tx - 1, commits[-1].tx
            generation = commits[-1].generation
            self._newest(segments_table(generation), *where, sum(commit.segments for commit in commits), ["tx"])
            self._newest(sentences_table(generation), *where, sum(commit.sentences for commit in commits), ["tx"])

    def _with_pieces(self, view: View) -> View:
        """Return the view with the segments and sentences that it is owed."""
        held = sum(len(space.sentences) for space in view.spaces.values())
        coming = 0 if self._whole_to else self.tables.count(sentences_table(view.generation))
        vectors = held + coming <= view.vector_limit
        for part in parts(self._owed):
            self._load_pieces(view, part, vectors=vectors)
        if view.holds_vectors and not vectors:  # bad rows were left out, and what is left can be held after all
            view = self._with_turns(self.begin())
            if self._owed:
                self._load_pieces(view, self._owed, vectors=True)
        return view

    def _load_pieces(self, view: View, part: list[Commit], *, vectors: bool) -> None:
        """Add the segments and sentences of the first of the commits that are owed."""

        def read(name: str, expected: int) -> Rows | None:
            columns = None if vectors else [column for column in self.tables.columns(name) if column != "vector"]
            return self._rows(name, self._whole_to, until, view.tx, expected, columns)

        until = part[-1].tx
        turns = [turn for tx, turn in self._bare if tx <= until]
        if any(commit.turns for commit in part):  # else there are no pieces: they have their turn's number
            segments = read(segments_table(view.generation), sum(commit.segments for commit in part))
            sentences = read(sentences_table(view.generation), sum(commit.sentences for commit in part))
            if segments is not None and sentences is not None:  # else nothing but blanks was ever written
                batch = batch_of(turns, segments, sentences, partial(_known, view))
                view.add(replace(batch, turns=()), view.tx)
        self._whole_to = until
        self._owed, self._bare = self._owed[len(part) :], self._bare[len(turns) :]

    def _rows(
        self, name: str, after: int, until: int, last: int, expected: int, columns: list[str] | None
    ) -> Rows | None:
        """Return the rows of the commits after one number up to another, ``expected`` many if all is as it should."""
        if until == last:
            return self._newest(name, after, until, expected, columns)
        return self.tables.rows(name, f"tx > {after} AND tx <= {until}", columns)

    def _newest(self, name: str, after: int, until: int, expected: int, columns: list[str] | None) -> Rows | None:
        """Return the rows of the commits after one number up to the last.

        The commits say how many rows that is, and they were appended last: so they are read from the end. If these
        are not the ones (torn rows after them, or a rebuild among the commits), all rows are searched.
        """
        import pyarrow.compute as pc

        version = self.tables.version(name)
        rows = self.tables.tail(name, expected, columns) if expected else None
        numbers = rows["tx"].to_numpy() if rows is not None else np.empty(0, dtype=np.int64)
        if not (len(numbers) == expected > 0 and after < numbers.min() and numbers.max() <= until):
            rows = self.tables.rows(name, f"tx > {after}", columns)
        if rows is None:
            return None
        visible = rows.filter(pc.less_equal(rows["tx"], until))
        if len(visible) == len(rows):
            if version is not None and name not in self.tables.broken:
                self.swept[name] = version
            return rows
        return visible


def _known(view: View, space: str, turn_id: str) -> Turn | None:
    there = view.spaces.get(space)
    return there.turns.get(turn_id) if there else None


def parts(commits: list[Commit]) -> Iterator[list[Commit]]:
    """Yield the commits in runs of some thousand sentences, beliefs, points, questions or jobs, to be read at once."""
    part: list[Commit] = []
    size = 0
    for commit in commits:
        part.append(commit)
        size += commit.sentences + commit.beliefs + commit.points + commit.questions + commit.jobs
        if size >= PIECE:
            yield part
            part, size = [], 0
    if part:
        yield part
