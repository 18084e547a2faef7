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

from mcp_memory.domain.aliases import Alias
from mcp_memory.domain.batch import Batch
from mcp_memory.domain.beliefs import Belief
from mcp_memory.domain.episodes import Lesson
from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.points import Point
from mcp_memory.domain.turns import Turn
from mcp_memory.errors import StoreMismatch
from mcp_memory.storage.aliases import aliases_of
from mcp_memory.storage.assertions import recorded
from mcp_memory.storage.beliefs import latest
from mcp_memory.storage.lessons import lessons_of
from mcp_memory.storage.names import (
    ALIASES,
    COMMITS,
    EPISODES,
    FACTS,
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
from mcp_memory.storage.questions import Placed, questions_of
from mcp_memory.storage.rows import commits_of, turns_of
from mcp_memory.storage.schemas import FORMAT, READABLE, Commit, Rows
from mcp_memory.storage.tables import Tables
from mcp_memory.vectors import Matrix
from mcp_memory.view.view import View

PIECE = 8192
"""Sentences read at once: 12 MB of vectors; or beliefs, which have two each."""


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
            where = view.tx, part[-1].tx, commits[-1].tx
            count = sum(commit.turns for commit in part)
            rows = self._rows(TURNS, *where, count, None) if count else None
            stored = [] if rows is None else turns_of(rows)
            new = [(tx, turn) for tx, turn in stored if _known(view, turn.space, turn.id) is None]
            assertions = self._assertions(view, commits, part, {turn.id: turn for _, turn in new})
            lessons, beliefs = self._learnt(view, commits, part)
            points, vectors = self._points(view, commits, part)
            questions, question_vectors = self._questions(view, commits, part)
            turns = tuple(turn for _, turn in new)
            batch = Batch(
                turns,
                assertions=assertions,
                lessons=lessons,
                beliefs=beliefs,
                points=points,
                point_vectors=vectors,
                aliases=self._aliases(view, commits, part),
                questions=questions,
                question_vectors=question_vectors,
                outlays=tuple(commit.outlay for commit in part if commit.outlay),
            )
            view.add(batch, part[-1].tx)
            self._owed += part
            self._bare += new

    def _assertions(
        self, view: View, commits: list[Commit], part: list[Commit], new: dict[str, Turn]
    ) -> tuple[Assertion, ...]:
        """Return what is asserted in a part of the commits, of their new turns or of those that the view has.

        Most commits assert nothing, and then no table is asked. A rebuild's commit alone counts what it derived, with
        the numbers of the commits before it: so it is the sum over all commits that says whether there is anything.
        """

        def find(space: str, turn_id: str) -> Turn | None:
            return new.get(turn_id) or _known(view, space, turn_id)

        where = view.tx, part[-1].tx, commits[-1].tx
        facts = derived = None
        if any(commit.facts for commit in commits):
            facts = self._rows(FACTS, *where, sum(commit.facts for commit in part), None)
        if any(commit.assertions for commit in commits):
            name = assertions_table(view.generation)
            derived = self._rows(name, *where, sum(commit.assertions for commit in part), None)
        return recorded(facts, derived, find)

    def _learnt(
        self, view: View, commits: list[Commit], part: list[Commit]
    ) -> tuple[tuple[Lesson, ...], tuple[Belief, ...]]:
        """Return what was learnt in a part of the commits; most memories are never taught anything."""
        where = view.tx, part[-1].tx, commits[-1].tx
        lessons = beliefs = None
        if any(commit.episodes for commit in commits):
            lessons = self._rows(EPISODES, *where, sum(commit.episodes for commit in part), None)
        if any(commit.beliefs for commit in commits):
            name = beliefs_table(view.generation)
            beliefs = self._rows(name, *where, sum(commit.beliefs for commit in part), None)
        return tuple(lesson for _, lesson in lessons_of(lessons)), latest(beliefs, self._dimension)

    def _points(self, view: View, commits: list[Commit], part: list[Commit]) -> tuple[tuple[Point, ...], Matrix]:
        """Return the revisions of points in a part of the commits, with the vectors of what they say."""
        where = view.tx, part[-1].tx, commits[-1].tx
        rows = vectors = None
        if any(commit.points for commit in commits):
            expected = sum(commit.points for commit in part)
            rows = self._rows(POINTS, *where, expected, None)
            vectors = self._rows(point_vectors_table(view.generation), *where, expected, None)
        points = points_of(rows)
        return tuple(point for _, _, point in points), point_vectors_of(points, vectors, self._dimension)

    def _aliases(self, view: View, commits: list[Commit], part: list[Commit]) -> tuple[Alias, ...]:
        """Return the aliases in a part of the commits."""
        expected = sum(commit.aliases for commit in part)
        rows = self._rows(ALIASES, view.tx, part[-1].tx, commits[-1].tx, expected, None) if expected else None
        return aliases_of(rows)

    def _questions(self, view: View, commits: list[Commit], part: list[Commit]) -> tuple[tuple[Placed, ...], Matrix]:
        """Return the questions in a part of the commits, with their vectors."""
        rows, expected = None, sum(commit.questions for commit in part)
        if expected:
            name = questions_table(view.generation)
            rows = self._rows(name, view.tx, part[-1].tx, commits[-1].tx, expected, None)
        return questions_of(rows, self._dimension)

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
    """Yield the commits in runs of some thousand sentences, beliefs, points or questions, which can be read at once."""
    part: list[Commit] = []
    size = 0
    for commit in commits:
        part.append(commit)
        size += commit.sentences + commit.beliefs + commit.points + commit.questions
        if size >= PIECE:
            yield part
            part, size = [], 0
    if part:
        yield part
