"""Store the records of an export: derive and embed texts again, and commit in the order in which they were recorded.

The order matters. What "you" means follows from who spoke before, and what a lesson teaches from what was known then.
Texts of one call and the facts that came with it are one commit, facts first, as when they were written; texts of
several calls without facts may share one. Of lessons, points and the others each run is a commit of its own.

Each commit is prepared without the lock and is made only if nobody else wrote meanwhile. An import that was stopped is
repeated: what is stored already is left out, so importing twice stores nothing twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from typing import Protocol, TypeVar

from anyio import to_thread

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.entities import Alias
from mcp_memory.domain.episodes import Belief, Lesson, encode_trace
from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.language_model import Job
from mcp_memory.domain.points import Point
from mcp_memory.domain.turns import Talkers, Turn
from mcp_memory.errors import InvalidInput, StoreBusy
from mcp_memory.ports import Progress, Store
from mcp_memory.services.ingest import Cutter, DerivedRows, Reading, batch_of, derive, silent
from mcp_memory.services.transfer.checking import Checked, OpenFile, check, clash_of, read_records
from mcp_memory.services.transfer.format import BadLine
from mcp_memory.services.transfer.left_out import Forgotten, new_revision
from mcp_memory.services.transfer.records import PlacedQuestion, Reader, Value
from mcp_memory.services.transfer.renaming import Renaming, replaced
from mcp_memory.view.space import Space
from mcp_memory.view.view import View

AT_ONCE = 64
"""Records of a commit; the texts of one call stay together, however many."""
ATTEMPTS = 100
"""How often a commit is tried again because somebody else wrote meanwhile."""

Relearn = Callable[[Space, Sequence[Lesson]], Awaitable[Sequence[Belief]]]
"""Returns the beliefs that lessons teach, see `mcp_memory.services.learn.update.relearner`."""
RowT = TypeVar("RowT")


class LoggedStore(Store, Protocol):
    """A store whose log can be read."""

    async def log(self) -> Sequence[Batch]:
        """Return what each commit recorded and nothing else yields, without vectors."""

    def was_forgotten(self, id_: str) -> bool:
        """Return whether something with this id was forgotten, as of the last reading."""


@dataclass(slots=True)
class Imported:
    """How many records of each sort an import has stored; the others were there already.

    Attributes:
        records: the records of the file.
        stored: of them, by sort, in the plural.
        left_out: of them, since they were forgotten here, or others stand in their place.
        missing: of the others, how many are not there, since they rest on what was forgotten here.
    """

    records: int
    stored: Counter[str] = field(default_factory=Counter)
    left_out: int = 0
    missing: int = 0


async def import_file(
    store: LoggedStore,
    reading: Reading,
    relearn: Relearn,
    open_file: OpenFile,
    *,
    into: str | None = None,
    renamed: dict[str, str] | None = None,
    again: bool = False,
    part: bool = False,
    dry_run: bool = False,
    progress: Progress = silent,
) -> Imported:
    """Store the records of an export that a store does not have yet.

    Args:
        store: the store where they are stored.
        reading: the tools that read the texts.
        relearn: makes beliefs of lessons.
        open_file: opens the file, from its beginning; it is read twice.
        into: the space that everything goes into; None for those of the file.
        renamed: other names for spaces of the file.
        again: whether to store what was forgotten here, too; otherwise it is left out.
        part: whether to leave out texts in whose place others stand, and what rests on them; otherwise all is refused.
        dry_run: only check and count.
        progress: in records.

    Raises:
        InvalidInput: the file cannot be imported; nothing was stored, unless it or the store changed meanwhile.
        StoreError: the store cannot be read or written; what was committed before stays, and a repetition goes on.
    """
    while True:
        async with store.reading(whole=False) as view:
            work = partial(check, open_file, view, into, renamed or {}, reading.masking, part=part)
            checked = await to_thread.run_sync(work)
        if dry_run:
            return Imported(checked.records)
        try:
            return await _import_checked(store, reading, relearn, open_file, checked, again=again, progress=progress)
        except _OtherKeyError:  # another process began the store meanwhile; nothing is stored yet
            continue


class _OtherKeyError(Exception):
    """The ids were made with a key that is not the store's."""


async def _import_checked(
    store: LoggedStore,
    reading: Reading,
    relearn: Relearn,
    open_file: OpenFile,
    checked: Checked,
    *,
    again: bool,
    progress: Progress,
) -> Imported:
    aliases = {alias for batch in await store.log() for alias in batch.aliases}
    work = _Import(store, reading, relearn, checked.renaming, aliases, again=again)
    done = left_out = 0
    records = read_records(open_file, Reader(checked.renaming, reading.masking))
    stays_out = checked.taken.__contains__ if again else store.was_forgotten
    forgotten = Forgotten(stays_out, checked.renaming, Cutter(reading.segment_tokens, 0))

    def kept(value: Value) -> bool:
        nonlocal left_out
        gone = forgotten.holds(value)
        left_out += gone
        return not gone

    for unit in units(filter(kept, _values(records))):
        await progress(done, checked.records, "importing")
        await work.store_unit(unit)
        done += len(unit)
    await progress(done, checked.records, "importing")
    return Imported(checked.records, work.stored, left_out, work.missing)


def _values(records: Iterable[tuple[int, Value | BadLine]]) -> Iterator[Value]:
    for line, value in records:
        if isinstance(value, BadLine):  # the file changed since it was checked
            raise value.at(line)
        yield value


def units(values: Iterable[Value]) -> Iterator[Sequence[Value]]:
    """Yield values in runs that may be one commit: texts with the facts of their call, or one sort and one space."""
    texts: list[Turn] = []
    for kind, run in groupby(values, key=type):
        if kind is Turn:
            for turn in run:
                assert isinstance(turn, Turn)
                if len(texts) >= AT_ONCE and texts[-1].written_at != turn.written_at:
                    yield list(texts)
                    texts.clear()
                texts.append(turn)
            continue
        rows = list(run)
        if texts and isinstance(rows[0], Assertion):
            call = texts[-1].written_at
            together = [fact for fact in rows if isinstance(fact, Assertion) and fact.recorded_at == call]
            if together == rows[: len(together)] and together:
                own = len(texts)
                while own and texts[own - 1].written_at == call:
                    own -= 1
                if own:
                    yield list(texts[:own])
                yield [*texts[own:], *together]
                texts, rows = [], rows[len(together) :]
        if texts:
            yield list(texts)
            texts = []
        for start in range(0, len(rows), AT_ONCE):
            yield rows[start : start + AT_ONCE]
    if texts:
        yield texts


class _Import:
    """The progress of an import.

    Attributes:
        stored: how many records were stored, by sort.
        missing: how many were not, since they rest on what was forgotten.
    """

    def __init__(
        self, store: LoggedStore, reading: Reading, relearn: Relearn, renaming: Renaming, aliases: set[Alias],
        *, again: bool,
    ) -> None:  # fmt: skip
        self.stored: Counter[str] = Counter()
        self.missing = 0
        self._again = again
        self._store = store
        self._reading = reading
        self._relearn = relearn
        self._renaming = renaming
        self._aliases = aliases

    async def store_unit(self, unit: Sequence[Value]) -> None:
        """Store the values of a run that are new, in one commit for each space."""
        turns = [value for value in unit if isinstance(value, Turn)]
        if turns or isinstance(unit[0], Assertion):
            await self._store_texts(turns, [value for value in unit if isinstance(value, Assertion)])
        elif isinstance(unit[0], Lesson):
            lessons = [value for value in unit if isinstance(value, Lesson)]
            for name, part in groupby(lessons, key=lambda lesson: lesson.space):
                await self._store_lessons(name, list(part))
        elif isinstance(unit[0], Point):
            await self._store_points([value for value in unit if isinstance(value, Point)])
        elif isinstance(unit[0], Alias):
            await self._store_aliases([value for value in unit if isinstance(value, Alias)])
        elif isinstance(unit[0], Job):
            await self._store_jobs([value for value in unit if isinstance(value, Job)])
        else:
            await self._store_questions([value for value in unit if isinstance(value, tuple)])

    async def _store_texts(self, turns: Sequence[Turn], facts: Sequence[Assertion]) -> None:
        turns = [replace(turn, place=place) for place, turn in enumerate(turns)]
        ready: dict[tuple[str, Talkers], DerivedRows] = {}
        for _ in range(ATTEMPTS):
            async with self._store.reading(whole=False) as view:
                tx, new = view.tx, _new_turns(view, turns)
                fresh = [fact for fact in facts if view.space(fact.space).facts.assertion(fact.id) is None]
            if not (new or fresh):
                return
            missing = [(turn, talkers) for turn, talkers in new if (turn.id, talkers) not in ready]
            derived = await derive(
                self._reading, [turn for turn, _ in missing], [who for _, who in missing], progress=silent
            )
            ready |= {(turn.id, who): rows for (turn, who), rows in zip(missing, derived, strict=True)}
            batch = batch_of([turn for turn, _ in new], [ready[turn.id, who] for turn, who in new])
            batch = replace(batch, assertions=(*fresh, *batch.assertions))
            if await self._commit(batch, tx):
                self.stored.update(f"{turn.kind}s" for turn, _ in new)
                self.stored["facts"] += len(fresh)
                return
        raise _busy()

    async def _store_lessons(self, name: str, lessons: Sequence[Lesson]) -> None:
        for _ in range(ATTEMPTS):
            async with self._store.reading() as view:
                space = view.space(name)
                self._renaming.learn_from(space)
                fresh = [self._renamed(lesson) for lesson in _unlearnt(lessons, view)]
                tx, beliefs = view.tx, tuple(await self._relearn(space, fresh))
            if not fresh or await self._commit(Batch(lessons=tuple(fresh), beliefs=beliefs), tx):
                await self._count("lessons", len(fresh), partial(_unlearnt, fresh))
                return
        raise _busy()

    async def _store_points(self, points: Sequence[Point]) -> None:
        await self._learn_ids(point.space for point in points)
        renamed = [
            replace(point, sentences=self._renaming.all(point.sentences), facts=self._renaming.all(point.facts))
            for point in points
        ]

        def new(view: View) -> list[Point]:
            made = (new_revision(view, point, again=self._again) for point in renamed)
            return [point for point in made if point is not None]

        async def batch(rows: Sequence[Point]) -> Batch:
            shown = [self._reading.masking.mask(point.description) for point in rows]
            vectors = await self._reading.embedder.embed(shown)
            return Batch(points=tuple(rows), point_vectors=vectors)

        await self._store_new("points", new, batch)

    async def _store_questions(self, questions: Sequence[PlacedQuestion]) -> None:
        await self._learn_ids(space for space, _ in questions)
        renamed = [
            (space, replace(question, segment_id=self._renaming.id(question.segment_id)))
            for space, question in questions
        ]

        def new(view: View) -> list[PlacedQuestion]:
            return [
                (space, question)
                for space, question in renamed
                if question not in view.space(space).questions.of_segment(question.segment_id)
            ]

        async def batch(rows: Sequence[PlacedQuestion]) -> Batch:
            vectors = await self._reading.embedder.embed([question.text for _, question in rows])
            return Batch(questions=tuple(rows), question_vectors=vectors)

        await self._store_new("questions", new, batch)

    async def _store_aliases(self, aliases: Sequence[Alias]) -> None:
        fresh = [alias for alias in aliases if alias not in self._aliases]

        async def batch(rows: Sequence[Alias]) -> Batch:
            return Batch(aliases=tuple(rows))

        await self._store_new("aliases", lambda _view: fresh, batch)

    async def _store_jobs(self, jobs: Sequence[Job]) -> None:
        def new(view: View) -> list[Job]:
            return [job for job in jobs if job.turn_id not in view.space(job.space).jobs]

        async def batch(rows: Sequence[Job]) -> Batch:
            return Batch(jobs=tuple(rows))

        await self._store_new("readings", new, batch)

    async def _store_new(
        self, sort: str, new: Callable[[View], Sequence[RowT]], batch: Callable[[Sequence[RowT]], Awaitable[Batch]]
    ) -> None:
        """Store the values that are new in one commit.

        Args:
            sort: the sort of the values, in the plural.
            new: returns those of them that a view does not have.
            batch: makes the batch of some of them.
        """
        for _ in range(ATTEMPTS):
            async with self._store.reading(whole=False) as view:
                tx, rows = view.tx, new(view)
            if not rows or await self._commit(await batch(rows), tx):
                await self._count(sort, len(rows), new)
                return
        raise _busy()

    async def _count(self, sort: str, committed: int, new: Callable[[View], Sequence[object]]) -> None:
        """Count what a commit has stored; what rests on something forgotten was left out of it."""
        async with self._store.reading(whole=False) as view:
            missing = len(new(view)) if committed and sort != "aliases" else 0  # of those none is left out
        self.stored[sort] += committed - missing
        self.missing += missing

    async def _commit(self, batch: Batch, tx: int) -> bool:
        """Commit a batch unless somebody else has written since a commit; return whether it was committed."""
        async with self._store.writing(batch) as transaction:
            if transaction.view.ids.key != self._renaming.key:
                raise _OtherKeyError
            if transaction.view.tx != tx:
                return False
            await transaction.commit(batch)
            return True

    async def _learn_ids(self, spaces: Iterable[str]) -> None:
        async with self._store.reading() as view:
            for name in dict.fromkeys(spaces):
                self._renaming.learn_from(view.space(name))

    def _renamed(self, lesson: Lesson) -> Lesson:
        """Return a lesson with the ids that its labels and its trace have in the target space."""
        trace = lesson.read_trace()
        return replace(
            lesson,
            labels={self._renaming.id(name): label for name, label in lesson.labels.items()},
            trace=lesson.trace if isinstance(trace, str) else encode_trace(replaced(trace, self._renaming.id)),
        )


def _new_turns(view: View, turns: Sequence[Turn]) -> list[tuple[Turn, Talkers]]:
    """Return the turns that a view does not have, each with who spoke before it.

    Raises:
        InvalidInput: another text has taken the place of one since the file was checked.
    """
    talkers: dict[tuple[str, str], Talkers] = {}
    new = []
    for turn in turns:
        space, place = view.space(turn.space), (turn.space, turn.session)
        if turn.id in space.turns:
            continue
        if (clash := clash_of(turn, view)) is not None:
            raise InvalidInput("FILE", f"a text of it {clash.problem}", f"{clash.remedy} What was stored before stays.")
        talking = talkers.get(place) or space.talkers(turn.session)
        new.append((turn, talking))
        talkers[place] = talking.after(turn)
    return new


def _unlearnt(lessons: Sequence[Lesson], view: View) -> list[Lesson]:
    return [lesson for lesson in lessons if not view.has_lesson(lesson)]


def _busy() -> StoreBusy:
    return StoreBusy(
        "Other processes keep writing to this memory. What was imported so far stays; import again to go on."
    )
