"""A space in memory: its turns, sessions, segments and sentences, in the order of arrival; and all spaces, the view.

Everything that recall ranks has a row number: segments and sentences are appended and never moved, so an array with one
number per segment lines up with ``segments`` for good. A document that was written again takes its old revision out of
recall (``live``), not out of the history. Rooms that need a structure of their own (an inverted index, a graph) give
the view an `Index`; it is extended when it is read, so a call that only writes need not extend it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, MutableMapping, Sequence, Sized
from dataclasses import replace
from functools import partial
from itertools import takewhile
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from mcp_memory.domain.batch import ROWS, Batch
from mcp_memory.domain.facts import STABLE, WHOLE
from mcp_memory.domain.ids import Ids
from mcp_memory.domain.language_model import Job, Spending
from mcp_memory.domain.query import ANY_TIME, Window
from mcp_memory.domain.times import Millis
from mcp_memory.domain.turns import Segment, Sentence, Speakers, Talkers, Turn, shared_segment
from mcp_memory.vectors import Column, GrowingMatrix, Matrix, Rows, SentenceVectors
from mcp_memory.view.beliefs import Beliefs
from mcp_memory.view.facts import Facts
from mcp_memory.view.frames import Frames
from mcp_memory.view.hypergraph import Hypergraph
from mcp_memory.view.pieces import NONE, Pieces, QuestionPool, cut_turn, extended
from mcp_memory.view.saved_rows import SavedSegmentTurns, SavedTurns

__all__ = ["NONE", "Index", "Space", "View"]


class Index(Protocol):
    """A structure that a room derives from a space; the space stores it."""

    def add_segments(self, space: Space, since: int) -> None:
        """Add the segments of ``space`` from row ``since`` on."""


IndexT = TypeVar("IndexT", bound=Index)


class Space:
    """One space, as of the last refresh.

    Attributes:
        turns: every turn by its id, old revisions included.
        span: the first and the last moment at which a turn with a time was said; None without any.
        sessions: the ids of the current turns of each session, in order of arrival.
        segments: by row.
        sentences: by row.
        segment_turn: the turn of each segment, by row.
        frames: which of its messages are meant as they stand, and which facts are certain still.
        facts: its assertions, and the versions that they add up to.
        beliefs: what feedback has taught about its sentences.
        hypergraph: its memory points.
        questions: the question pool.
        jobs: how far a language model has read its turns, by their ids; absent for turns that none has read.
        speakers: how many turns each speaker has.
        segment_vectors: one row per segment; None without any.
        sentence_vectors: one per sentence, by row; None without any.
        unindexed: turns whose vectors and facts are still to come, in order of arrival, each with the indexes of these
            segments. Their rows are zeros meanwhile, and these turns are found by their words.
    """

    def __init__(
        self, name: str, indexes: Sequence[Callable[[], Index]] = (), stable: float = STABLE,
        dimension: int = 0, ids: Ids | None = None,
    ) -> None:  # fmt: skip
        self.name = name
        self.ids = ids or Ids()
        self.unindexed: dict[str, set[int]] = {}
        self._dimension = dimension
        self._uncut: dict[str, None] = {}  # turns of which no piece was seen yet, in order of arrival
        self.frames = Frames(self)
        self.facts = Facts(stable, self._text_of, self.frames.is_meant, self.frames.as_of)
        self.beliefs = Beliefs()
        self.hypergraph = Hypergraph()
        self.questions = QuestionPool()
        self.jobs: dict[str, Job] = {}
        self.turns: MutableMapping[str, Turn] = {}
        self.span: tuple[Millis, Millis] | None = None
        self.sessions: dict[str, list[str]] = {}
        self.segments = Pieces(Segment)
        self.sentences = Pieces(Sentence)
        self.segment_turn: list[Turn] | SavedSegmentTurns = []
        self.speakers = Speakers(self._speaker_called)
        self.segment_vectors: GrowingMatrix | None = None
        self.sentence_vectors: SentenceVectors | None = None
        self._indexes: list[Index] = [make() for make in indexes]
        self._indexed = 0  # rows that the indexes contain
        self._revisions: dict[tuple[str, str], list[str]] = defaultdict(list)
        self._live: Column[np.bool_] = Column(np.bool_)
        self._talk: Column[np.bool_] = Column(np.bool_)
        self._times: Column[np.int64] = Column(np.int64)
        self.local_times: Column[np.int64] = Column(np.int64)  # as `times`, of `Turn.local_time`
        self._sentence_live: Column[np.bool_] = Column(np.bool_)
        self._previous: Column[np.intp] = Column(np.intp)
        self._next: Column[np.intp] = Column(np.intp)
        self._last_in_session: dict[str, int] = {}
        self._talkers: dict[str, Talkers] = defaultdict(Talkers)

    def __getstate__(self) -> dict[str, object]:
        turns = SavedTurns.of(self.turns)
        numbers: dict[str, int] = {}
        of_each = [numbers.setdefault(one.turn_id, len(numbers)) for one in self.segments]
        of_segments = SavedSegmentTurns(turns, list(numbers), np.array(of_each, dtype=np.int32))
        kept = {**vars(self), "ids": None, "frames": None}
        return {**kept, "turns": turns, "segment_turn": of_segments}

    def set_functions(self, indexes: Sequence[Callable[[], Index]], ids: Ids) -> None:
        """Give a saved space the functions that it was made with."""
        self.ids = ids
        self.frames = Frames(self)
        self.facts.set_functions(self._text_of, self.frames.is_meant, self.frames.as_of)
        self.speakers.find = self._speaker_called
        for index, make in zip(self._indexes, indexes, strict=True):
            vars(index).update({name: value for name, value in vars(make()).items() if name not in vars(index)})

    # Reading

    def current(self, session: str, ref: str) -> Turn | None:
        """Return the newest revision of a message or document, or None."""
        revisions = self._revisions.get((session, ref))
        return self.turns[revisions[-1]] if revisions else None

    def revisions(self, session: str, ref: str) -> list[Turn]:
        """Return every revision under one ref, oldest first."""
        return [self.turns[turn] for turn in self._revisions.get((session, ref), ())]

    def named(self, turns: Iterable[Turn]) -> list[Turn]:
        """Return first revisions of one call with their refs keyed, and with their ids."""
        refs = ((turn, self.ids.ref(turn.ref)) for turn in turns)
        return [
            replace(turn, id=self.ids.turn(turn.space, turn.session, ref, turn.text, 0), ref=ref) for turn, ref in refs
        ]

    def talkers(self, session: str) -> Talkers:
        """Return who spoke last in a session."""
        return self._talkers.get(session, Talkers())

    def segments_with(self, turn_id: str, sentence: int) -> Sequence[int]:
        """Return the rows of the segments with a sentence of a turn, by its index, for `WHOLE` of all."""
        rows = self.segments.of_turn(turn_id)
        if sentence == WHOLE:
            return rows
        if isinstance(rows, range):  # both ends of its segments ascend
            rows = rows[bisect_left(rows, sentence, key=lambda row: self.segments[row].last) :]
            return list(takewhile(lambda row: self.segments[row].first <= sentence, rows))
        return [row for row in rows if self.segments[row].first <= sentence <= self.segments[row].last]

    def segments_of(self, row: int) -> Sequence[int]:
        """Return the rows of the segments of a sentence by its row."""
        sentence = self.sentences[row]
        return self.segments_with(sentence.turn_id, sentence.index)

    def sentence_row(self, turn_id: str, index: int) -> int:
        """Return the row of a sentence by its index within its turn, or `NONE`."""
        rows = self.sentences.of_turn(turn_id)
        guess = rows[index] if 0 <= index < len(rows) else NONE
        if guess != NONE and self.sentences[guess].index == index:
            return guess
        return next((row for row in rows if self.sentences[row].index == index), NONE)  # a bad row was left out

    def sentences_within(self, segment: Segment) -> list[int]:
        """Return the row numbers, in `sentences`, of the sentences of a segment, in order."""
        return self.sentences.between(segment.turn_id, segment.first, segment.last)

    def sentence(self, sentence_id: str) -> Sentence | None:
        """Return a sentence by its id, or None."""
        return self.sentences[row] if (row := self.sentences.row(sentence_id)) != NONE else None

    def knows(self, name: str) -> bool:
        """Return whether there is a turn, a sentence, a segment or a fact with an id."""
        found = self.sentence(name) or self.facts.version(name) or self.facts.assertion(name)
        return found is not None or name in self.turns or self.segments.row(name) != NONE

    def text(self, piece: Segment | Sentence) -> str:
        """Return the words of a segment or sentence, verbatim."""
        return self.turns[piece.turn_id].text[piece.start : piece.end]

    @property
    def live(self) -> NDArray[np.bool_]:
        """Shape ``(len(segments),)``: whether a segment takes part in recall."""
        return self._live.values

    @property
    def talk(self) -> NDArray[np.bool_]:
        """Shape ``(len(segments),)``: whether a segment is of talk; the others are of documents."""
        return self._talk.values

    @property
    def times(self) -> NDArray[np.int64]:
        """Shape ``(len(segments),)``: when the turn of a segment was said (`Turn.time`), in milliseconds."""
        return self._times.values

    def visible(self, rows: Rows, window: Window = ANY_TIME) -> NDArray[np.bool_]:
        """Return which of these sentences are of the newest revision and of a turn within a window."""
        live = self._sentence_live.values[rows]
        if window == ANY_TIME:
            return live
        within = [window.holds(self.turns[self.sentences[row].turn_id]) for row in rows.tolist()]
        return live & np.array(within, dtype=np.bool_)

    @property
    def rows_before(self) -> Rows:
        """Shape ``(len(segments),)``: the row before it in the same session's talk, or `NONE`. Documents have none."""
        return self._previous.values

    @property
    def rows_after(self) -> Rows:
        """Shape ``(len(segments),)``: the row after it in the same session's talk, or `NONE`."""
        return self._next.values

    def index(self, kind: type[IndexT]) -> IndexT:
        """Return this space's index of a class that `View` was made with, up to date.

        Raises:
            LookupError: the view was made without such an index.
        """
        self.extend_indexes()
        for index in self._indexes:
            if isinstance(index, kind):
                return index
        raise LookupError(f"the view keeps no {kind.__name__}")

    @property
    def index_entries(self) -> int:
        """How many entries those indexes have that can count them."""
        return sum(len(index) for index in self._indexes if isinstance(index, Sized))

    # Changes by a refresh

    def add(self, batch: Batch) -> None:
        """Add rows of this space that it lacks; segments and sentences may belong to turns that were added earlier."""
        first = len(self.segments)
        for turn in batch.turns:
            self._add_turn(turn)
        if batch.assertions:
            self.facts.add(batch.assertions)
        self.beliefs.add(batch.beliefs, batch.lessons)
        if batch.points:
            self.hypergraph.add(batch.points, batch.point_vectors)
        if batch.aliases:
            self.facts.add_aliases(batch.aliases)
        if batch.questions:
            self.questions.add(batch.questions, batch.question_vectors)
        self.jobs |= {job.turn_id: job for job in batch.jobs}
        if self._dimension and (batch.segments or batch.sentences):
            self._place_pieces(batch)
        else:
            self._append_pieces(batch)
        self._weigh_again({turn.id for turn in batch.turns} | {one.turn_id for one in batch.assertions}, first)

    def _weigh_again(self, changed: set[str], first: int) -> None:
        """Fold the facts of messages again that others which changed frame or take back.

        Those with segments from row ``first`` on have changed, too: by these a message has its place in its talk.
        """
        self.frames.clear()
        changed |= {turn.id for turn in self.segment_turn[first:]}
        messages = (self.turns[name] for name in changed if name in self.turns and self.turns[name].kind == "message")
        self.facts.weigh_again(self.frames.talks(messages))

    def _append_pieces(self, batch: Batch) -> None:
        first_sentence = len(self.sentences)
        for segment in batch.segments:
            self._add_segment(segment)
        for sentence in batch.sentences:
            self._add_sentence(sentence)
        self.segment_vectors = extended(self.segment_vectors, batch.segment_vectors)
        self._add_sentence_vectors(batch.sentence_vectors, first_sentence)

    @property
    def indexed_to(self) -> int:
        """The first row of a segment without a vector; as many as there are segments if each has one."""
        for name, missing in self.unindexed.items():
            return next((row for row in self.segments.of_turn(name) if self.segments[row].index in missing), 0)
        return len(self.segments)

    def cut_unseen(self) -> None:
        """Cut the turns of which no piece is stored yet, so that they are found by their words until then."""
        first = len(self.segments)
        for name in tuple(self._uncut):
            self._cut_turn(name)
        if len(self.segments) > first:
            self._weigh_again(set(), first)

    def _cut_turn(self, name: str) -> None:
        self._uncut.pop(name, None)
        segments, sentences = cut_turn(self.turns[name]) if self._dimension else ([], [])
        if not segments:
            return
        self.unindexed[name] = {segment.index for segment in segments}
        of_segments, of_sentences = (
            np.zeros((len(pieces), self._dimension), dtype=np.float32) for pieces in (segments, sentences)
        )
        self._append_pieces(Batch((), tuple(segments), tuple(sentences), of_segments, of_sentences))

    def _place_pieces(self, batch: Batch) -> None:
        """Append the pieces of new turns in their order, and fill in those that have a row already.

        So all processes have the same rows. Without its first piece, which is stored last, a text is cut as a whole.
        """
        segment_rows, sentence_rows = _by_turn(batch.segments), _by_turn(batch.sentences)
        begun = {turn for turn, rows in sentence_rows.items() if batch.sentences[rows[0]].index == 0}
        coming: dict[str, None] = {}
        done: set[str] = set()
        last = max((place for place, name in enumerate(self._uncut) if name in sentence_rows), default=NONE)
        for name in tuple(self._uncut)[: last + 1]:
            if name in begun:
                coming[name] = None
                del self._uncut[name]
            else:
                self._append_pieces(_pieces_of(coming, batch, segment_rows, sentence_rows))
                done |= coming.keys()
                coming = {}
                self._cut_turn(name)
        done |= self._fill_in(batch)
        coming |= dict.fromkeys(name for name in (*segment_rows, *sentence_rows) if name not in done)
        self._append_pieces(_pieces_of(coming, batch, segment_rows, sentence_rows))

    def _fill_in(self, batch: Batch) -> set[str]:
        """Fill in the vectors of pieces that have a row, and return the turns that these belong to."""
        filled: set[str] = set()
        for piece, vector in zip(batch.sentences, batch.sentence_vectors, strict=True):
            if piece.turn_id in self.unindexed and (row := self.sentences.row(piece.id)) != NONE:
                filled.add(piece.turn_id)
                if self.sentence_vectors is not None:
                    self.sentence_vectors[row] = vector
        for segment, vector in zip(batch.segments, batch.segment_vectors, strict=True):
            if segment.turn_id in self.unindexed and (row := self.segments.row(segment.id)) != NONE:
                filled.add(segment.turn_id)
                self.unindexed[segment.turn_id].discard(segment.index)
                if self.segment_vectors is not None:
                    self.segment_vectors[row] = vector
        for name in filled:
            if not self.unindexed[name]:
                del self.unindexed[name]
        return filled

    def extend_indexes(self) -> None:
        """Add the segments that arrived since the last extension to the indexes; `index` does it too."""
        if self._indexed < len(self.segments):
            for index in self._indexes:
                index.add_segments(self, self._indexed)
            self._indexed = len(self.segments)

    def _speaker_called(self, name: str) -> str | None:
        """Return the speaker whom a name means that is not their own, or None."""
        entity = self.facts.resolve(name)
        return next((who for who in self.speakers if self.facts.key(who) == entity), None) if entity else None

    def _text_of(self, turn_id: str) -> str:
        return self.turns[turn_id].text if turn_id in self.turns else ""

    def _add_turn(self, turn: Turn) -> None:
        self.turns[turn.id] = turn
        if turn.said_at is not None:
            first, last = self.span or (turn.said_at, turn.said_at)
            self.span = min(first, turn.said_at), max(last, turn.said_at)
        new = len(self.speakers)
        if (who := self.speakers.add(turn)) and len(self.speakers) > new:
            self.facts.add_speaker(who)
        self._talkers[turn.session] = self._talkers[turn.session].after(turn)
        order = self.sessions.setdefault(turn.session, [])
        revisions = self._revisions[turn.session, turn.ref]
        if revisions:  # a document written again: it replaces the old revision
            for row in self.segments.of_turn(revisions[-1]):
                self._live[row] = False
            for row in self.sentences.of_turn(revisions[-1]):
                self._sentence_live[row] = False
            self.facts.retire(revisions[-1])
            order[order.index(revisions[-1])] = turn.id
        else:
            order.append(turn.id)
        revisions.append(turn.id)
        if self._dimension:
            self._uncut[turn.id] = None

    def _add_sentence(self, sentence: Sentence) -> None:
        turn = self.turns.get(sentence.turn_id)  # a rebuild looks up sentences before it adds their turns
        self.sentences.append(sentence)
        self._sentence_live.append(turn is not None and self.is_newest(turn))

    def _add_sentence_vectors(self, rows: Matrix, first: int) -> None:
        """Add the vectors of the sentences from row ``first`` on."""
        if len(rows):
            self.sentence_vectors = self.sentence_vectors or SentenceVectors(rows.shape[1])
            placed = ((one, self.segments.of_turn(one.turn_id)) for one in self.sentences[first:])
            shared = [shared_segment(self.turns.get(one.turn_id), one, of, self.segments) for one, of in placed]
            self.sentence_vectors.append(rows, np.array(shared, dtype=np.intp), self.segment_vectors)

    def is_newest(self, turn: Turn) -> bool:
        """Return whether a turn is the newest revision under its ref."""
        return self._revisions[turn.session, turn.ref][-1] == turn.id

    def _add_segment(self, segment: Segment) -> None:
        turn = self.turns[segment.turn_id]
        row = self.segments.append(segment)
        self.segment_turn.append(turn)
        self._live.append(self.is_newest(turn))
        talk = turn.kind != "document"
        self._talk.append(talk)
        self._times.append(_clip(turn.time))
        self.local_times.append(_clip(turn.local_time))
        self._next.append(NONE)
        before = self._last_in_session.get(turn.session, NONE) if talk else NONE
        self._previous.append(before)
        if before != NONE:
            self._next[before] = row
        if talk:
            self._last_in_session[turn.session] = row


def _by_turn(pieces: Sequence[Segment | Sentence]) -> dict[str, list[int]]:
    """Return the places of the pieces of each turn."""
    rows: dict[str, list[int]] = defaultdict(list)
    for row, piece in enumerate(pieces):
        rows[piece.turn_id].append(row)
    return dict(rows)


def _pieces_of(
    turns: Iterable[str], batch: Batch, segment_rows: dict[str, list[int]], sentence_rows: dict[str, list[int]]
) -> Batch:
    """Return the pieces of some turns, turn by turn."""
    segments = [row for name in turns for row in segment_rows.get(name, ())]
    sentences = [row for name in turns for row in sentence_rows.get(name, ())]
    if segments == list(range(len(batch.segments))) and sentences == list(range(len(batch.sentences))):
        return batch
    return Batch(
        (),
        tuple(batch.segments[row] for row in segments),
        tuple(batch.sentences[row] for row in sentences),
        batch.segment_vectors[segments],
        batch.sentence_vectors[sentences],
    )


def _clip(time: Millis) -> Millis:
    """Return a time clipped to 64 bits."""
    return min(max(time, -(2**63)), 2**63 - 1)


class View:
    """A snapshot of the store in memory.

    Attributes:
        tx: the last commit that it contains; 0 for an empty store.
        generation: the generation of the derived rows; a rebuild raises it.
        spaces: by name; only spaces that have rows.
        stable: the confidence below which a fact is only suspected (REAL's θ_stable).

    With the ``dimension`` of vectors to come, turns that are stored without segments are cut when everything is to be
    read (`extend_indexes`).
    """

    def __init__(self, indexes: Sequence[Callable[[], Index]] = (), stable: float = STABLE, dimension: int = 0) -> None:
        self.tx = 0
        self.generation = 0
        self.spaces: dict[str, Space] = {}
        self.stable = stable
        self.ids = Ids()
        self._indexes = tuple(indexes)
        self._dimension = dimension
        self._grown: set[str] = set()  # spaces whose indexes are not up to date
        self._spent: dict[int, Spending] = {}

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in vars(self).items() if name not in ("_indexes", "ids")}

    def set_functions(self, like: View) -> None:
        """Make a saved view whole again: it is saved without the functions that another one was made with."""
        self._indexes = like._indexes
        self.ids = like.ids
        for space in self.spaces.values():
            space.set_functions(self._indexes, self.ids)

    @property
    def sentences(self) -> int:
        """How many sentences all spaces have."""
        return sum(len(space.sentences) for space in self.spaces.values())

    @property
    def size(self) -> int:
        """How much it holds: sentences, and entries of the indexes that can count theirs, as the graph of cues."""
        return self.sentences + sum(space.index_entries for space in self.spaces.values())

    def space(self, name: str) -> Space:
        """Return a space; if nothing was written to it yet, an empty one that is not stored."""
        return self.spaces.get(name) or Space(name, self._indexes, self.stable, self._dimension, self.ids)

    def spent(self, day: int) -> Spending:
        """Return what requests to a language model have cost on a day, in all processes; see `Reservation`."""
        return self._spent.get(day, Spending())

    def add(self, batch: Batch, tx: int) -> None:
        """Add rows of the commits up to ``tx``."""
        names = dict.fromkeys(row.space for kind in ROWS for row in getattr(batch, kind))
        for name in names:
            space = self.spaces[name] = self.space(name)
            self._grown.add(name)
            space.add(batch if len(names) == 1 else batch.only(partial(_is_in, name)))
        for outlay in batch.outlays:
            self._spent[outlay.day] = self.spent(outlay.day) + outlay.what
        self.tx = tx

    def extend_indexes(self) -> None:
        """Cut what is not indexed yet, and bring the indexes of every space up to date; see `Space.index`."""
        for name in self._grown:
            self.spaces[name].cut_unseen()
        while self._grown:
            self.spaces[self._grown.pop()].extend_indexes()


def _is_in(space: str, _kind: str, row: Any) -> bool:
    return bool(row.space == space)
