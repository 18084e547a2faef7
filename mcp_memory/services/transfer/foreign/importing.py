"""Store the records of another program: check all of them first, then store them as writes do.

The files are read twice. The first pass finds what is wrong with a file as a whole (cut short, another encoding), so
that nothing is stored of one that cannot be read to its end; it counts the records and lists the bad ones. The second
pass stores the others in the order of the file, `AT_ONCE` items of a session in a commit. What is stored already is
left out before anything is derived, so an import that was stopped is repeated and goes on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from anyio import to_thread

from mcp_memory.domain.ids import turn_id
from mcp_memory.domain.requests import NewFact, NewItem, WriteRequest
from mcp_memory.domain.times import Millis
from mcp_memory.domain.turns import Turn
from mcp_memory.errors import InvalidInput
from mcp_memory.ports import Progress
from mcp_memory.services.ingest import Reading, silent
from mcp_memory.services.masking import masked_fact
from mcp_memory.services.transfer.foreign.kinds import Read
from mcp_memory.services.transfer.foreign.reading import BadRecord, ForeignRecord, Found, SkippedRecord
from mcp_memory.services.transfer.foreign.sources import SourceFile
from mcp_memory.services.transfer.importing import LoggedStore
from mcp_memory.services.write import requested_turns, write
from mcp_memory.temporal.assertions import caller_assertion
from mcp_memory.view.space import Space

AT_ONCE = 64
"""Items of a commit."""
LISTED = 20
"""Bad records that are listed; the others are only counted."""


@dataclass(frozen=True, slots=True)
class ItemLimits:
    """What a write takes at most: bytes of a text, characters of a name."""

    message_bytes: int
    document_bytes: int
    name_chars: int


@dataclass(slots=True)
class ForeignImport:
    """What an import found and what it did.

    Attributes:
        found: how many messages, documents and facts can be imported.
        sessions: in how many sessions.
        stored: how many of them were stored, or would be.
        left_out: of them, since they were forgotten here.
        skipped: the first bad records.
        bad: how many bad records there are.
        secrets: whether what was stored holds some.
    """

    found: Counter[str] = field(default_factory=Counter)
    sessions: int = 0
    stored: Counter[str] = field(default_factory=Counter)
    left_out: int = 0
    skipped: list[SkippedRecord] = field(default_factory=list)
    bad: int = 0
    secrets: bool = False

    def skip(self, record: SkippedRecord) -> None:
        """Note a bad record."""
        self.bad += 1
        if len(self.skipped) < LISTED:
            self.skipped.append(record)


async def import_foreign(
    store: LoggedStore,
    reading: Reading,
    read: Read,
    files: Sequence[SourceFile],
    *,
    space: str,
    limits: ItemLimits,
    now: Millis,
    again: bool = False,
    dry_run: bool = False,
    progress: Progress = silent,
) -> ForeignImport:
    """Store what a store does not have yet of some files.

    Args:
        store: where it is stored.
        reading: the tools that read the texts.
        read: of the kind of these files.
        files: are read twice.
        space: that all goes into.
        limits: of a write; what exceeds them is a bad record.
        now: kept beside the time of each text.
        again: whether to store what was forgotten here, too.
        dry_run: only count.
        progress: in items and facts.

    Raises:
        InvalidInput: a file cannot be read to its end, or nothing in it can be imported; nothing was stored.
        StoreError: the store cannot be read or written; what was committed before stays, and a repetition goes on.
    """
    async with store.reading(whole=False) as view:
        work = _ForeignWork(store, reading, view.space(space), limits, now, again)
        result = await to_thread.run_sync(work.count, read(files))
    if not result.found.total():
        problem = f"nothing in it can be imported; {result.bad:,} bad records" if result.bad else "it holds nothing"
        first = f" The first: {result.skipped[0].place} {result.skipped[0].problem}." if result.skipped else ""
        raise InvalidInput("FILE", problem, f"If it is of another kind, say --from KIND.{first}")
    if dry_run:
        return result
    result.stored, result.left_out, total, done = Counter(), 0, result.found.total(), 0
    records = read(files)
    while (requests := await to_thread.run_sync(work.some_requests, records)) is not None:
        for request in requests:
            await progress(done, total, "importing")
            await work.store_request(request, result)
            done += len(request.items) + len(request.facts)
    await progress(total, total, "importing")
    return result


class _ForeignWork:
    """One import: its store, and what it takes."""

    def __init__(
        self, store: LoggedStore, reading: Reading, space: Space, limits: ItemLimits, now: Millis, again: bool
    ) -> None:
        self._store = store
        self._reading = reading
        self._space = space
        self._limits = limits
        self._now = now
        self._again = again

    def count(self, records: Iterable[Found]) -> ForeignImport:
        """Return how much there is, how much of it is new, and what is bad."""
        result, sessions = ForeignImport(), set()
        for record in records:
            for found in self._checked(record):
                if isinstance(found, SkippedRecord):
                    result.skip(found)
                    continue
                if not (found.items or found.facts):
                    continue
                sessions.add(found.session)
                result.found.update({f"{found.kind}s": len(found.items), "facts": len(found.facts)})
                request, left_out = self._kept(self._request(found))
                result.left_out += left_out
                result.stored.update(self._new(request))
        result.sessions = len(sessions)
        return result

    def some_requests(self, records: Iterator[Found]) -> list[WriteRequest] | None:
        """Return the next requests, of a few records; None after the last one."""
        taken: list[ForeignRecord] = []
        size = 0
        for record in records:
            for found in self._checked(record):
                if isinstance(found, ForeignRecord):
                    taken.append(found)
                    size += len(found.items) + len(found.facts)
            if size >= AT_ONCE:
                break
        else:
            if not taken:
                return None
        return [self._request(record) for record in _in_batches(taken)]

    async def store_request(self, request: WriteRequest, result: ForeignImport) -> None:
        """Store what is new of a request; if it is refused, item by item, so that one bad record costs no other."""
        kept, left_out = self._kept(request)
        result.left_out += left_out
        if not (kept.items or kept.facts):
            return
        async with self._store.reading(whole=False) as view:
            self._space = view.space(self._space.name)
            new = self._new(kept)
        if not new.total():
            return
        try:
            written = await write(self._store, self._reading, kept, now=self._now, progress=silent)
        except InvalidInput as refusal:
            parts = _parts_of(kept)
            if len(parts) == 1:
                what = kept.items[0].ref if kept.items else f"{kept.facts[0].head} {kept.facts[0].relation}"
                result.skip(SkippedRecord(f"{request.session}, {what}", str(refusal)))
                return
            for part in parts:
                await self.store_request(part, result)
            return
        result.stored.update(new)
        result.secrets |= any(warning.startswith("Secrets in ") for warning in written.warnings)

    def _request(self, record: ForeignRecord) -> WriteRequest:
        return WriteRequest(self._space.name, record.session, record.kind, record.items, record.facts)

    def _checked(self, record: Found) -> Iterator[Found]:
        """Yield a record without what cannot be stored of it, and what is bad."""
        if isinstance(record, SkippedRecord):
            yield record
            return
        good = []
        for item in record.items:
            try:
                self._check(item, record.kind)
                good.append(item)
            except BadRecord as problem:
                place = record.place if len(record.items) == 1 else f"{record.place}, {item.ref}"
                yield SkippedRecord(place, str(problem))
        lost = {item.ref for item in record.items} - {item.ref for item in good}
        facts = []
        for fact in record.facts:
            if fact.source in lost and lost:
                continue
            try:
                for name in (fact.head, fact.tail):
                    _check_text(name, self._limits.name_chars * 4, "name")
                    if len(name) > self._limits.name_chars:
                        raise BadRecord(f"has a name of {len(name):,} characters, {name[:40]!r}")
                facts.append(fact)
            except BadRecord as problem:
                yield SkippedRecord(record.place, str(problem))
        yield replace(record, items=tuple(good), facts=tuple(facts))

    def _check(self, item: NewItem, kind: str) -> None:
        section = "document" if kind == "document" else "message"
        most = self._limits.document_bytes if kind == "document" else self._limits.message_bytes
        _check_text(item.text, most, f"text (limits.{section}_bytes)")
        if self._reading.masking.refuses and (kinds := self._reading.masking.kinds(item.text)):
            raise BadRecord(f"holds a secret ({', '.join(kinds)}), and privacy.secrets is 'refuse'")
        for name in (item.ref, item.speaker, item.role, item.title):
            if name is not None:
                _check_text(name, self._limits.name_chars * 4, "name")
                if len(name) > self._limits.name_chars:
                    raise BadRecord(f"has a name of {len(name):,} characters, {name[:40]!r}")

    def _kept(self, request: WriteRequest) -> tuple[WriteRequest, int]:
        """Return a request without what was forgotten here, and how much that is."""
        if self._again:
            return request, 0
        statements = self._statements(request)
        items = tuple(
            item
            for item in request.items
            if not self._store.was_forgotten(turn_id(request.space, request.session, item.ref or "", item.text, 0))
        )
        facts = tuple(
            fact
            for number, fact in enumerate(request.facts)
            if not self._store.was_forgotten(
                turn_id(request.space, request.session, fact.source, "", 0)
                if fact.source is not None
                else statements[number].id
            )
        )
        left_out = len(request.items) + len(request.facts) - len(items) - len(facts)
        return (replace(request, items=items, facts=facts), left_out) if left_out else (request, 0)

    def _new(self, request: WriteRequest) -> Counter[str]:
        """Return how much of a request is not stored yet; of facts those whose statement or source is new."""
        statements = self._statements(request)
        new = {item.ref for item in request.items if item.ref and not self._stored(request.session, item)}
        facts = sum(
            self._is_new(request.session, fact, statements[number].ref if number in statements else None, new)
            for number, fact in enumerate(request.facts)
        )
        return Counter({f"{request.kind}s": len(new)}) + Counter({"facts": facts})

    def _is_new(self, session: str, fact: NewFact, statement: str | None, new: set[str]) -> bool:
        ref = fact.source if statement is None else statement
        turn = None if ref is None or ref in new else self._space.current(session, ref)
        if turn is None:
            return True
        assertion = caller_assertion(masked_fact(fact, self._reading.masking), turn, self._now)
        return self._space.facts.assertion(assertion.id) is None

    def _stored(self, session: str, item: NewItem) -> bool:
        known = self._space.current(session, item.ref or "")
        return known is not None and item.text in (known.said, known.text)

    def _statements(self, request: WriteRequest) -> dict[int, Turn]:
        """Return the statements that the facts of a request become; readers give every item an id of its own."""
        if not request.facts:
            return {}
        return requested_turns(replace(request, items=()), self._now, self._reading.masking)[1]


def _in_batches(records: Iterable[ForeignRecord]) -> Iterator[ForeignRecord]:
    """Yield records joined with their neighbours of the same session and kind, in at most `AT_ONCE` items each."""
    held: ForeignRecord | None = None
    for record in records:
        for part in _cut(record):
            joined = held is not None and (held.session, held.kind) == (part.session, part.kind)
            if held is not None and joined and len(held.items) + len(held.facts) + _size(part) <= AT_ONCE:
                held = replace(held, items=(*held.items, *part.items), facts=(*held.facts, *part.facts))
            else:
                if held is not None:
                    yield held
                held = part
    if held is not None:
        yield held


def _cut(record: ForeignRecord) -> Iterator[ForeignRecord]:
    """Yield a record in parts of at most `AT_ONCE` items; its facts come with the last one."""
    for start in range(0, len(record.items), AT_ONCE):
        last = start + AT_ONCE >= len(record.items)
        items = record.items[start : start + AT_ONCE]
        yield replace(record, items=items, facts=record.facts if last else ())
    if record.facts and not record.items:
        yield record


def _size(record: ForeignRecord) -> int:
    return len(record.items) + len(record.facts)


def _parts_of(request: WriteRequest) -> list[WriteRequest]:
    """Return a request as one for each item with the facts of it, and one for each other fact."""
    own = {item.ref: tuple(fact for fact in request.facts if fact.source == item.ref) for item in request.items}
    parts = [replace(request, items=(item,), facts=own[item.ref]) for item in request.items]
    others = [fact for fact in request.facts if fact.source is None or fact.source not in own]
    return parts + [replace(request, kind="statement", items=(), facts=(fact,)) for fact in others]


def _check_text(text: str, most: int, what: str) -> None:
    if "\x00" in text:
        raise BadRecord("holds a null byte (U+0000)")
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise BadRecord("holds half of a surrogate pair") from None
    if size > most:
        raise BadRecord(f"has {size:,} bytes in its {what}, more than the {most:,} allowed")
