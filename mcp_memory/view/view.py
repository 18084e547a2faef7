"""All spaces of the store as of one commit, held in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.episodes import Lesson
from mcp_memory.domain.facts import STABLE
from mcp_memory.domain.ids import Ids
from mcp_memory.domain.language_model import Spending
from mcp_memory.view.pieces import Cut
from mcp_memory.view.space import Index, Space

NO_LIMIT = 2**62
"""A number of sentences that no store reaches."""


class View:
    """A snapshot of the store in memory.

    Attributes:
        tx: the last commit that it contains; 0 for an empty store.
        generation: the generation of the derived rows; a rebuild raises it.
        reader: the version of the extractor that read the embedded assertions; reading again raises it.
        spaces: by name; only spaces that have rows.
        vector_limit: above this number of sentences in all spaces no vectors are held in memory.
        maps: whether the store maps them from files then; otherwise it searches instead.
        stable: the confidence below which a fact is only suspected (REAL's θ_stable).
        ids: makes the ids of the store.

    With ``cut`` turns that are stored without segments are cut when everything is to be read (`extend_indexes`).
    """

    def __init__(
        self,
        indexes: Sequence[Callable[[], Index]] = (),
        vector_limit: int = NO_LIMIT,
        stable: float = STABLE,
        cut: Cut | None = None,
    ) -> None:
        self.tx = 0
        self.generation = 0
        self.reader = 0
        self.spaces: dict[str, Space] = {}
        self.vector_limit = vector_limit
        self.maps = False
        self.stable = stable
        self.ids = Ids()
        self._indexes = tuple(indexes)
        self._cut = cut
        self._sentences = 0
        self._grown: set[str] = set()  # spaces whose indexes are not up to date
        self._spent: dict[int, Spending] = {}

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in vars(self).items() if name not in ("_indexes", "_cut", "ids")}

    def bind(self, like: View) -> None:
        """Make a saved view whole again: it is saved without the functions that another one was made with."""
        self._indexes, self._cut = like._indexes, like._cut
        self.ids = like.ids
        for space in self.spaces.values():
            space.bind(self._indexes, self._cut, self.ids)

    @property
    def holds_vectors(self) -> bool:
        """Whether vectors are held, in memory or mapped."""
        return self.maps or self.fits

    @property
    def sentences(self) -> int:
        """How many sentences all spaces have."""
        return sum(len(space.sentences) for space in self.spaces.values())

    @property
    def size(self) -> int:
        """How much it holds: sentences, and entries of the indexes that can count theirs, as the graph of cues."""
        return self.sentences + sum(space.index_entries for space in self.spaces.values())

    @property
    def fits(self) -> bool:
        """Whether the vectors of all sentences are few enough to be held in memory."""
        return self._sentences <= self.vector_limit

    def space(self, name: str) -> Space:
        """Return a space; if nothing was written to it yet, an empty one that is not stored."""
        return self.spaces.get(name) or Space(name, self._indexes, self.stable, self._cut, self.ids)

    def spent(self, day: int) -> Spending:
        """Return what requests to a language model have cost on a day, in all processes; see `Reservation`."""
        return self._spent.get(day, Spending())

    def has_lesson(self, lesson: Lesson) -> bool:
        """Return whether a lesson of this judge about this episode was recorded before."""
        return self.space(lesson.space).beliefs.lesson(*lesson.key) is not None

    def add(self, batch: Batch, tx: int) -> None:
        """Add rows of the commits up to ``tx``.

        Turns may come first, and the segments and sentences of several commits later, in the order of the turns.
        """
        self._count(len(batch.sentences))
        for name, part in _by_space(batch).items():
            space = self.spaces[name] = self.space(name)
            self._grown.add(name)
            before = len(space.sentences)
            space.add(part, vectors=self.holds_vectors)
            self._count(len(space.sentences) - before - len(part.sentences))
        for outlay in batch.outlays:
            self._spent[outlay.day] = self.spent(outlay.day) + outlay.what
        self.tx = tx

    def cut_unseen(self) -> None:
        """Cut the turns that are stored without segments; see `Space.cut_unseen`."""
        for name in self._grown:
            space = self.spaces[name]
            before = len(space.sentences)
            space.cut_unseen(vectors=self.holds_vectors)
            self._count(len(space.sentences) - before)

    def extend_indexes(self) -> None:
        """Cut what is not indexed yet, and bring the indexes of every space up to date; see `Space.index`."""
        self.cut_unseen()
        while self._grown:
            self.spaces[self._grown.pop()].extend_indexes()

    def _count(self, sentences: int) -> None:
        """Count sentences that come or came, and drop all vectors where these are too many."""
        held_vectors = self.holds_vectors
        self._sentences += sentences
        if held_vectors and not self.holds_vectors:
            for space in self.spaces.values():
                space.drop_vectors()


def _by_space(batch: Batch) -> dict[str, Batch]:
    rows = (
        *(batch.turns, batch.segments, batch.sentences, batch.assertions, batch.lessons),
        *(batch.beliefs, batch.points, batch.aliases, batch.jobs),
    )
    names = dict.fromkeys([*(row.space for part in rows for row in part), *(space for space, _ in batch.questions)])
    if len(names) == 1:
        return {next(iter(names)): batch}
    return {name: _of_space(batch, name) for name in names}


def _of_space(batch: Batch, name: str) -> Batch:
    segments = [row for row, segment in enumerate(batch.segments) if segment.space == name]
    sentences = [row for row, sentence in enumerate(batch.sentences) if sentence.space == name]
    points = [row for row, point in enumerate(batch.points) if point.space == name]
    questions = [row for row, (space, _) in enumerate(batch.questions) if space == name]
    return Batch(
        turns=tuple(turn for turn in batch.turns if turn.space == name),
        segments=tuple(batch.segments[row] for row in segments),
        sentences=tuple(batch.sentences[row] for row in sentences),
        segment_vectors=batch.segment_vectors[segments],
        sentence_vectors=batch.sentence_vectors[sentences],
        assertions=tuple(assertion for assertion in batch.assertions if assertion.space == name),
        lessons=tuple(lesson for lesson in batch.lessons if lesson.space == name),
        beliefs=tuple(belief for belief in batch.beliefs if belief.space == name),
        points=tuple(batch.points[row] for row in points),
        point_vectors=batch.point_vectors[points],
        aliases=tuple(alias for alias in batch.aliases if alias.space == name),
        questions=tuple(batch.questions[row] for row in questions),
        question_vectors=batch.question_vectors[questions],
        jobs=tuple(job for job in batch.jobs if job.space == name),
    )
