"""Read an export, check all of it, then store its records in the order in which they were recorded.

The whole file is read and checked before anything is stored, so that one that is wrong anywhere changes nothing. Texts
are derived and embedded again.

The order matters. What "you" means follows from who spoke before, and what a lesson teaches from what was known then.
Texts of one call and the facts that came with it are one commit, facts first, as when they were written; texts of
several calls without facts may share one. Of lessons, points and the others each run is a commit of its own.

Each commit is prepared without the lock and is made only if nobody else wrote meanwhile. An import that was stopped is
repeated: what is stored already is left out, so importing twice stores nothing twice. What was forgotten here is left
out as well, with all that rests on it, unless the caller wants it back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, takewhile
from typing import BinaryIO, Literal, Protocol

from anyio import to_thread

from mcp_memory.domain.access import SPACE_NAME
from mcp_memory.domain.batch import Batch, Masking, joined
from mcp_memory.domain.entities import Alias
from mcp_memory.domain.episodes import Belief, Lesson, encode_trace
from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.language_model import Job
from mcp_memory.domain.points import Point
from mcp_memory.domain.turns import Talkers, Turn
from mcp_memory.errors import InvalidInput, StoreBusy
from mcp_memory.ports import Progress, Store
from mcp_memory.services.ingest import Cutter, Reading, derive, silent
from mcp_memory.services.transfer.records import (
    FORMAT,
    LINE_BYTES,
    VERSION,
    BadLine,
    Fields,
    PlacedQuestion,
    Reader,
    Value,
    space_of,
)
from mcp_memory.services.transfer.renaming import Renaming, replaced
from mcp_memory.view.erasure import sentences_in
from mcp_memory.view.space import Space
from mcp_memory.view.view import View
from mcp_memory.visible import with_masks

SHOWN = 5
"""Bad lines that one error names."""
HEADER_BYTES = 1 << 20
"""Most bytes of a first line; a file of another program may be one line of gigabytes."""

OpenFile = Callable[[], BinaryIO]


@dataclass(frozen=True, slots=True)
class Checked:
    """What a file holds.

    Attributes:
        values: its records, with the ids of texts and facts in the store.
        renaming: where they go.
    """

    values: Sequence[Value]
    renaming: Renaming


def check(open_file: OpenFile, view: View, into: str | None, masking: Masking) -> Checked:
    """Check every line of a file against the format, the lines before it, and the store. Blocking.

    Args:
        open_file: opens the file.
        view: the view of the store.
        into: the space that everything goes into; None for those of the file.
        masking: the masking of secrets in it.

    Raises:
        InvalidInput: the file is none of ours, or cut short, or some lines cannot be imported; it names them.
    """
    bad, values = list[InvalidInput](), list[Value]()
    with open_file() as file:
        spaces = _header(file)
        if into is not None and len(spaces) > 1:
            remedy = "Export one of them with --space, and import that."
            raise InvalidInput("--space", f"the file holds several: {', '.join(spaces)}", remedy)
        renaming = Renaming(into, view)
        try:
            for line, value in _read_records(file, Reader(renaming, masking)):
                if isinstance(value, BadLine):
                    bad.append(value.at(line))
                else:
                    values.append(value)
                    if (clash := _clash(value, view)) is not None:
                        bad.append(clash.at(line))
                if len(bad) == SHOWN:
                    break
        except InvalidInput as cut_short:
            bad.append(cut_short)
    if bad:
        more = " There may be more." if len(bad) == SHOWN else ""
        raise InvalidInput("FILE", "it cannot be imported", "", [*map(str, bad), f"Nothing was stored.{more}"])
    return Checked(values, renaming)


def _read_records(file: BinaryIO, reader: Reader) -> Iterator[tuple[int, Value | BadLine]]:
    """Yield each record behind the header with the number of its line, or what is wrong with it.

    Raises:
        InvalidInput: the file was cut short.
    """
    number, records = 1, 0
    while text := file.readline(LINE_BYTES + 1):
        number += 1
        if not text.endswith(b"\n") or len(text) > LINE_BYTES:
            problem = "has no end" if len(text) <= LINE_BYTES else f"is longer than {LINE_BYTES:,} bytes"
            raise _cut_short(number, problem)
        if not text.strip():
            continue
        try:
            fields = Fields(text)
            if "records" in fields and fields.take("record", Literal["end"]):
                if fields.take("records", int) != records:
                    raise _cut_short(number, f"does not count the {records:,} records before it")
                if file.readline(1):
                    raise _cut_short(number + 1, "stands behind the end")
                return
            value: Value | BadLine = reader.read(fields, number)
        except BadLine as problem:
            value = problem
        records += 1
        yield number, value
    raise _cut_short(number + 1, "is missing: the last line of an export says how many records there are")


def _cut_short(line: int, problem: str) -> InvalidInput:
    remedy = "Copy or export it again; if you took lines out, correct the number of records in the last line."
    return InvalidInput(f"line {line}", f"{problem}. The file was cut short or changed", remedy)


def _header(file: BinaryIO) -> list[str]:
    """Return the spaces that the first line of a file names; the file is at the second line afterwards."""
    try:
        fields = Fields(file.readline(HEADER_BYTES))
        known = fields.take("format", str) == FORMAT
    except BadLine:
        known = False
    if not known:
        remedy = "Import a file that `mcp-memory export` has written."
        raise InvalidInput("FILE", "this is no export of mcp-memory: its first line does not say so", remedy)
    try:
        version = fields.take("version", int)
        if version != VERSION:
            problem = f"its format has the version {version}, and this program knows {VERSION}"
            raise InvalidInput("FILE", problem, "Import it with the newer mcp-memory that wrote it.")
        fields.take("program", str)
        fields.take("exported", int)
        spaces: tuple[str, ...] = fields.take("spaces", tuple[str, ...], ())
        fields.finish()
        if wrong := next((name for name in spaces if not SPACE_NAME.fullmatch(name)), None):
            raise BadLine(f"names a space {wrong[:80]!r}", "Give the name of a space.")
    except BadLine as problem:
        raise problem.at(1) from None
    return list(spaces)


def _clash(value: Value, view: View) -> BadLine | None:
    """Return what is wrong with a value beside those that the store holds already."""
    if isinstance(value, Turn):
        return clash_of(value, view)
    if isinstance(value, Assertion):
        known = view.space(value.space).facts.assertion(value.id)
        if known is not None and known.turn_id != value.turn_id:
            return BadLine(f"has the id of another fact, {value.id!r}", "Import it into another space (--space).")
    return None


def clash_of(turn: Turn, view: View) -> BadLine | None:
    """Return what is wrong with a text if the store holds another one in its place."""
    space = view.space(turn.space)
    held = next((one for one in space.revisions(turn.session, turn.ref) if one.revision == turn.revision), None)
    if held is None:
        return None
    if (held.id, held.kind, with_masks(held.text)) == (turn.id, turn.kind, with_masks(turn.text)):
        return None
    problem = f"is stored with other words: {held.kind} {turn.ref[:80]!r} of session {turn.session[:80]!r}"
    return BadLine(problem, "Import into another space (--space NAME).")


AT_ONCE = 64
"""Records of a commit; the texts of one call stay together, however many."""
ATTEMPTS = 100
"""How often a commit is tried again because somebody else wrote meanwhile."""

Relearn = Callable[[Space, Sequence[Lesson]], Awaitable[Sequence[Belief]]]
"""Returns the beliefs that lessons teach, see `mcp_memory.services.learn.update.relearner`."""


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
        left_out: of them, since they were forgotten here.
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
    again: bool = False,
    dry_run: bool = False,
    progress: Progress = silent,
) -> Imported:
    """Store the records of an export that a store does not have yet.

    Args:
        store: the store where they are stored.
        reading: the tools that read the texts.
        relearn: makes beliefs of lessons.
        open_file: opens the file, from its beginning.
        into: the space that everything goes into; None for those of the file.
        again: whether to store what was forgotten here, too; otherwise it is left out.
        dry_run: only check and count.
        progress: in records.

    Raises:
        InvalidInput: the file cannot be imported; nothing was stored, unless the store changed meanwhile.
        StoreError: the store cannot be read or written; what was committed before stays, and a repetition goes on.
    """
    while True:
        async with store.reading(whole=False) as view:
            checked = await to_thread.run_sync(check, open_file, view, into, reading.masking)
        values = checked.values
        result = Imported(len(values))
        if dry_run:
            return result
        aliases = {alias for batch in await store.log() for alias in batch.aliases}
        run = _Import(store, reading, relearn, checked.renaming, aliases, result, again)
        done = 0
        try:
            for unit in units(filter(run.takes, values)):
                await progress(done, len(values), "importing")
                await run.store_unit(unit)
                done += len(unit)
        except _OtherKeyError:  # another process began the store meanwhile; nothing is stored yet
            continue
        await progress(done, len(values), "importing")
        return result


class _OtherKeyError(Exception):
    """The ids were made with a key that is not the store's."""


def units(values: Iterable[Value]) -> Iterator[list[Value]]:
    """Yield values in runs that may be one commit: texts with the facts of their call, or one sort and one space."""

    def sort(value: Value) -> tuple[type, str]:
        return type(value), "" if isinstance(value, Turn | Assertion) else space_of(value)

    texts: list[Turn] = []
    for _, run in groupby(values, key=sort):
        rows: list[Value] = []
        for value in run:
            if not isinstance(value, Turn):
                rows.append(value)
                continue
            if len(texts) >= AT_ONCE and texts[-1].written_at != value.written_at:
                yield [*texts]
                texts = []
            texts.append(value)
        if texts and rows:
            call = texts[-1].written_at
            own = [turn for turn in texts if turn.written_at == call]
            together = list(takewhile(lambda one: isinstance(one, Assertion) and one.recorded_at == call, rows))  # noqa: B023
            yield from filter(None, ([*texts[: -len(own)]], [*own, *together]))
            texts, rows = [], rows[len(together) :]
        for start in range(0, len(rows), AT_ONCE):
            yield rows[start : start + AT_ONCE]
    if texts:
        yield [*texts]


@dataclass(slots=True)
class _Import:
    """One import: its store, the ids in it, and what became of the records so far."""

    store: LoggedStore
    reading: Reading
    relearn: Relearn
    renaming: Renaming
    aliases: set[Alias]
    result: Imported
    again: bool
    gone: set[str] = field(default_factory=set)
    ready: dict[tuple[str, Talkers], Batch] = field(default_factory=dict)

    def takes(self, value: Value) -> bool:
        """Return whether a value is stored; a text that was forgotten here is left out, with what rests on it."""
        match value:
            case Turn():
                names: Iterable[str] = self.renaming.names(value)
            case Assertion() | Job():
                names = (value.turn_id,)
            case Point():
                names = value.id, *value.sentences
            case Lesson():
                names = value.episode_id, *sentences_in(value)
            case Alias():
                names = ()
            case _, question:
                names = (question.segment_id,)
        gone = not self.again and any(name in self.gone or self.store.was_forgotten(name) for name in names)
        if gone and isinstance(value, Turn):  # what rests on it names its pieces
            pieces = Cutter(self.reading.segment_tokens, 0)(replace(value, id=self.renaming.former[value.id]))
            self.gone |= {value.id, *(piece.id for part in pieces for piece in part)}
        self.result.left_out += gone
        return not gone

    async def store_unit(self, unit: Sequence[Value]) -> None:
        """Store the values of a run that are new, in one commit."""
        unit = [replace(one, place=place) if isinstance(one, Turn) else one for place, one in enumerate(unit)]
        self.ready = {}
        for _ in range(ATTEMPTS):
            async with self.store.reading() as view:
                rows, tx = self._new(view, unit), view.tx
                batch = await self._batch(view, rows) if rows else Batch()
            if not rows:
                return
            if await self._commit(batch, tx):
                break
        else:
            raise StoreBusy(
                "Other processes keep writing to this memory. What was imported so far stays; import again to go on."
            )
        self.aliases.update(batch.aliases)
        async with self.store.reading(whole=False) as view:
            missing = Counter(map(_sort, self._new(view, unit)))  # what rests on something forgotten was left out
        self.result.stored.update(Counter(map(_sort, rows)) - missing)
        self.result.missing += missing.total()

    def _new(self, view: View, unit: Sequence[Value]) -> list[Value]:
        """Return the values of a run that a view does not have, with the ids of the store.

        Raises:
            InvalidInput: another text has taken the place of one since the file was checked.
        """
        if not isinstance(unit[0], Turn | Assertion):
            self.renaming.learn_from(view.space(space_of(unit[0])))
        return [value for one in unit if (value := self._if_new(view, one)) is not None]

    def _if_new(self, view: View, value: Value) -> Value | None:
        ids = self.renaming
        match value:
            case Turn():
                if value.id in view.space(value.space).turns:
                    return None
                if (clash := clash_of(value, view)) is not None:
                    remedy = f"{clash.remedy} What was stored before stays."
                    raise InvalidInput("FILE", f"a text of it {clash.problem}", remedy)
                return value
            case Assertion():
                return value if view.space(value.space).facts.assertion(value.id) is None else None
            case Lesson():
                labels = {ids.id(name): label for name, label in value.labels.items()}
                encoded = encode_trace(replaced(value.read_trace(), ids.id))
                return None if view.has_lesson(value) else replace(value, labels=labels, trace=encoded)
            case Point():
                into = None if value.merged_into is None else ids.id(value.merged_into)
                sentences, facts = ids.all(value.sentences), ids.all(value.facts)
                point = replace(value, merged_into=into, sentences=sentences, facts=facts)
                return _new_revision(view, point, again=self.again)
            case Alias():
                return None if value in self.aliases else value
            case Job():
                return None if value.turn_id in view.space(value.space).jobs else value
            case space, asked:
                question = replace(asked, segment_id=ids.id(asked.segment_id))
                known = view.space(space).questions.of_segment(question.segment_id)
                return None if question in known else (space, question)

    async def _batch(self, view: View, rows: Sequence[Value]) -> Batch:
        """Return the rows of new values and of what follows from them."""
        embed = self.reading.embedder.embed
        lessons = [one for one in rows if isinstance(one, Lesson)]
        points = [one for one in rows if isinstance(one, Point)]
        questions: list[PlacedQuestion] = [one for one in rows if isinstance(one, tuple)]
        if lessons:
            beliefs = await self.relearn(view.space(lessons[0].space), lessons)
            return Batch(lessons=tuple(lessons), beliefs=tuple(beliefs))
        if points:
            vectors = await embed([self.reading.masking.mask(point.description) for point in points])
            return Batch(points=tuple(points), point_vectors=vectors)
        if questions:
            vectors = await embed([question.text for _, question in questions])
            return Batch(questions=tuple(questions), question_vectors=vectors)
        turns, talkers = [one for one in rows if isinstance(one, Turn)], dict[tuple[str, str], Talkers]()
        keys = []
        for turn in turns:
            place = turn.space, turn.session
            talking = talkers.get(place) or view.space(turn.space).talkers(turn.session)
            keys.append((turn.id, talking))
            talkers[place] = talking.after(turn)
        missing = [(turn, key) for turn, key in zip(turns, keys, strict=True) if key not in self.ready]
        derived = await derive(
            self.reading, [one for one, _ in missing], [who for _, (_, who) in missing], progress=silent
        )
        self.ready |= {key: rows for (_, key), rows in zip(missing, derived, strict=True)}
        batch = joined([self.ready[key] for key in keys])
        facts = [one for one in rows if isinstance(one, Assertion)]
        jobs, aliases = [one for one in rows if isinstance(one, Job)], [one for one in rows if isinstance(one, Alias)]
        return replace(batch, assertions=(*facts, *batch.assertions), jobs=tuple(jobs), aliases=tuple(aliases))

    async def _commit(self, batch: Batch, tx: int) -> bool:
        """Commit a batch unless somebody else has written since a commit; return whether it was committed."""
        async with self.store.writing(batch) as transaction:
            if transaction.view.ids.key != self.renaming.key:
                raise _OtherKeyError
            if transaction.view.tx != tx:
                return False
            await transaction.commit(batch)
            return True


def _sort(value: Value) -> str:
    """Return the sort of a value in words, in the plural."""
    if isinstance(value, Turn):
        return f"{value.kind}s"
    return _SORTS[type(value)]


_SORTS: dict[type, str] = {
    Assertion: "facts", Lesson: "lessons", Point: "points", Alias: "aliases", tuple: "questions", Job: "readings",
}  # fmt: skip


def _new_revision(view: View, point: Point, *, again: bool) -> Point | None:
    """Return a revision of a point that a view does not have, or None.

    Args:
        view: the view of the store.
        point: the revision, with the ids of the store.
        again: whether the last one, if a forget has changed it, comes back as another revision, as it was before.
    """
    revisions = view.space(point.space).hypergraph.revisions(point.id)
    there = next((one for one in revisions if one.revision == point.revision), None)
    if there is None:
        return point
    last = there is revisions[-1] and there.status == point.status
    changed = (bool(point.scope) and not there.scope) or there.merged_into != point.merged_into
    return replace(point, revision=point.revision + 1) if again and last and changed else None
