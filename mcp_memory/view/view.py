"""All spaces as of one commit."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.confidence import STABLE
from mcp_memory.domain.episodes import Lesson
from mcp_memory.domain.spending import Spending
from mcp_memory.view.space import Index, Space


class View:
    """What a snapshot of the store shows, held in memory.

    Attributes:
        tx: the last commit that it shows; 0 for an empty store.
        generation: of the derived rows; a rebuild raises it.
        spaces: by name; a space exists from its first row on.
        vector_limit: above this number of sentences over all spaces no vectors are held, and the store searches.
        stable: the confidence below which a fact is only suspected (REAL's θ_stable).
    """

    def __init__(
        self, indexes: Sequence[Callable[[], Index]] = (), vector_limit: int = 100_000, stable: float = STABLE
    ) -> None:
        self.tx = 0
        self.generation = 0
        self.spaces: dict[str, Space] = {}
        self.vector_limit = vector_limit
        self.stable = stable
        self._indexes = tuple(indexes)
        self._sentences = 0
        self._grown: set[str] = set()  # spaces whose indexes lack something
        self._spent: dict[int, Spending] = {}

    @property
    def holds_vectors(self) -> bool:
        """Whether vectors are held in memory."""
        return self._sentences <= self.vector_limit

    def space(self, name: str) -> Space:
        """Return a space; an empty one, not kept, where nothing was written yet."""
        return self.spaces.get(name) or Space(name, self._indexes, self.stable)

    def spent(self, day: int) -> Spending:
        """Return what asking a language model has cost on a day, by all processes; see `Outlay`."""
        return self._spent.get(day, Spending())

    def has_lesson(self, lesson: Lesson) -> bool:
        """Return whether what this judge says of this episode was recorded before."""
        return self.space(lesson.space).beliefs.lesson(*lesson.key) is not None

    def add(self, batch: Batch, tx: int) -> None:
        """Take in what the log says about the commits up to ``tx``.

        Turns may come first, and the segments and sentences of several commits later, in the order of the turns.
        """
        held = self.holds_vectors
        self._sentences += len(batch.sentences)
        if held and not self.holds_vectors:
            for space in self.spaces.values():
                space.drop_vectors()
        for name, part in _by_space(batch).items():
            space = self.spaces.setdefault(name, Space(name, self._indexes, self.stable))
            self._grown.add(name)
            space.add(
                part.turns,
                part.segments,
                part.sentences,
                part.segment_vectors if self.holds_vectors else None,
                part.sentence_vectors if self.holds_vectors else None,
                part.assertions,
                part.lessons,
                part.beliefs,
                part.points,
                part.point_vectors if part.points else None,
                part.aliases,
                tuple(question for _, question in part.questions),
                part.question_vectors if self.holds_vectors else None,
                part.jobs,
            )
        for outlay in batch.outlays:
            self._spent[outlay.day] = self.spent(outlay.day) + outlay.what
        self.tx = tx

    def extend_indexes(self) -> None:
        """Bring the indexes of every space up to date; see `Space.index`."""
        while self._grown:
            self.spaces[self._grown.pop()].extend_indexes()


def _by_space(batch: Batch) -> dict[str, Batch]:
    names = dict.fromkeys(
        [
            *(turn.space for turn in batch.turns),
            *(segment.space for segment in batch.segments),
            *(sentence.space for sentence in batch.sentences),
            *(assertion.space for assertion in batch.assertions),
            *(lesson.space for lesson in batch.lessons),
            *(belief.space for belief in batch.beliefs),
            *(point.space for point in batch.points),
            *(alias.space for alias in batch.aliases),
            *(space for space, _ in batch.questions),
            *(job.space for job in batch.jobs),
        ]
    )
    if len(names) == 1:
        return {next(iter(names)): batch}
    segments, sentences, points = defaultdict(list), defaultdict(list), defaultdict(list)
    questions = defaultdict(list)
    for row, segment in enumerate(batch.segments):
        segments[segment.space].append(row)
    for row, sentence in enumerate(batch.sentences):
        sentences[sentence.space].append(row)
    for row, point in enumerate(batch.points):
        points[point.space].append(row)
    for row, (asked_in, _) in enumerate(batch.questions):
        questions[asked_in].append(row)
    return {
        name: Batch(
            turns=tuple(turn for turn in batch.turns if turn.space == name),
            segments=tuple(batch.segments[row] for row in segments[name]),
            sentences=tuple(batch.sentences[row] for row in sentences[name]),
            segment_vectors=batch.segment_vectors[segments[name]],
            sentence_vectors=batch.sentence_vectors[sentences[name]],
            assertions=tuple(assertion for assertion in batch.assertions if assertion.space == name),
            lessons=tuple(lesson for lesson in batch.lessons if lesson.space == name),
            beliefs=tuple(belief for belief in batch.beliefs if belief.space == name),
            points=tuple(batch.points[row] for row in points[name]),
            point_vectors=batch.point_vectors[points[name]],
            aliases=tuple(alias for alias in batch.aliases if alias.space == name),
            questions=tuple(batch.questions[row] for row in questions[name]),
            question_vectors=batch.question_vectors[questions[name]],
            jobs=tuple(job for job in batch.jobs if job.space == name),
        )
        for name in names
    }
