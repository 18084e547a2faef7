"""Store the records of another program: check all of them first, then store them as writes do.

The files are read twice. The first pass finds what is wrong with a file as a whole (cut short, another encoding), so
that nothing is stored of one that cannot be read to its end; it counts the records and lists the bad ones. The second
pass stores the others in the order of the file, `AT_ONCE` items of a session in a commit, and indexes them together
after so many items, whatever sessions they are of: exports often change from one session to another with each record.
What is stored already is left out before anything is derived, so an import that was stopped is repeated and goes on.

A corpus is stored by `write_many`, `MANY_AT_ONCE` items of many sessions in a commit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from anyio import to_thread

from mcp_memory.domain.batch import masked_fact
from mcp_memory.domain.ids import former_ref
from mcp_memory.domain.requests import NewFact, NewItem, WriteRequest
from mcp_memory.domain.times import Millis
from mcp_memory.domain.turns import Turn, turn_id
from mcp_memory.errors import InvalidInput
from mcp_memory.ports import Progress
from mcp_memory.services.background.indexing import Indexing
from mcp_memory.services.ingest import Reading, silent
from mcp_memory.services.transfer.foreign.claims import as_text, is_claim
from mcp_memory.services.transfer.foreign.kinds import Read
from mcp_memory.services.transfer.foreign.reading import (
    BadRecord,
    ForeignRecord,
    Found,
    LeftOut,
    SkippedRecord,
    in_batches,
    of_different_sessions,
    parts_of,
    size,
)
from mcp_memory.services.transfer.foreign.sources import SourceFile
from mcp_memory.services.transfer.importing import LoggedStore
from mcp_memory.services.write import Derive, requested_turns, write, write_many
from mcp_memory.temporal.assertions import caller_assertion
from mcp_memory.view.named import ref_of
from mcp_memory.view.space import Space
from mcp_memory.visible import with_masks

AT_ONCE = 64
"""Items of a commit."""
MANY_AT_ONCE = 2_048
MANY_CHARACTERS = 400_000
"""Items of a commit of a corpus, and characters from which on it takes no further record."""
LISTED = 20
"""Bad records, and sorts of what is left out, that are listed; the others are only counted."""
PLACES = 3
"""Places that are named of what is left out."""


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
        unread: what is left out since it is no record: by what it is and why, how much there is and where.
        secrets: whether what was stored holds some.
    """

    found: Counter[str] = field(default_factory=Counter)
    sessions: int = 0
    stored: Counter[str] = field(default_factory=Counter)
    left_out: int = 0
    skipped: list[SkippedRecord] = field(default_factory=list)
    bad: int = 0
    unread: dict[tuple[str, str], tuple[int, list[str]]] = field(default_factory=dict)
    secrets: bool = False

    def skip(self, record: SkippedRecord) -> None:
        """Note a bad record."""
        self.bad += 1
        if len(self.skipped) < LISTED:
            self.skipped.append(record)

    def leave(self, part: LeftOut) -> None:
        """Note what is left out."""
        key = part.what, part.why
        if key not in self.unread and len(self.unread) >= LISTED:
            key = part.what, "of further sorts"
        count, places = self.unread.get(key, (0, []))
        if len(places) < PLACES and part.place not in places:
            places = [*places, part.place]
        self.unread[key] = count + part.count, places


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
    derive: Derive | None = None,
) -> ForeignImport:
    """Store what a store does not have yet of some files.

    Args:
        store: the store where it is stored.
        reading: the tools that read the texts.
        read: of the kind of these files.
        files: are read twice.
        space: the space that all goes into.
        limits: the limits of a write; what exceeds them is a bad record.
        now: kept beside the time of each text.
        again: whether to store what was forgotten here, too.
        dry_run: only count.
        progress: in items and facts.
        derive: makes what follows from many texts at once, of a corpus; None stores texts first and indexes them then.

    Raises:
        InvalidInput: a file cannot be read to its end, or nothing in it can be imported; nothing was stored.
        StoreError: the store cannot be read or written; what was committed before stays, and a repetition goes on.
    """
    async with store.reading(whole=False) as view:
        work = _ForeignWork(store, reading, view.space(space), limits, now, again, derive)
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
        for group in [requests] if derive else [[request] for request in requests]:
            await progress(done, total, "importing")
            await work.store(group, result)
            done += sum(map(size, group))
        await work.index(requests)
    await progress(total, total, "importing")
    return result


class _ForeignWork:
    """One import: its store, and what it takes."""

    def __init__(
        self,
        store: LoggedStore,
        reading: Reading,
        space: Space,
        limits: ItemLimits,
        now: Millis,
        again: bool,
        derive: Derive | None,
    ) -> None:
        self._store = store
        self._reading = reading
        self._space = space
        self._limits = limits
        self._now = now
        self._again = again
        self._derive = derive
        self._items = MANY_AT_ONCE if derive else AT_ONCE
        self._characters: float = MANY_CHARACTERS if derive else float("inf")

    def count(self, records: Iterable[Found]) -> ForeignImport:
        """Return how much there is, how much of it is new, and what is bad."""
        result, sessions = ForeignImport(), set()
        for record in records:
            for found in self._checked(record):
                if isinstance(found, SkippedRecord):
                    result.skip(found)
                    continue
                if isinstance(found, LeftOut):
                    result.leave(found)
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
        items = characters = 0
        for record in records:
            for found in self._checked(record):
                if isinstance(found, ForeignRecord):
                    taken.append(found)
                    items += size(found)
                    characters += sum(len(item.text) for item in found.items)
            if items >= self._items or characters >= self._characters:
                break
        else:
            if not taken:
                return None
        return [self._request(record) for record in in_batches(taken, self._items)]

    async def store(self, requests: Sequence[WriteRequest], result: ForeignImport) -> None:
        """Store what is new of some requests: in a commit for each, or in few where this is a corpus."""
        if self._derive is None:
            for request in requests:
                await self.store_request(request, result)
            return
        async with self._store.reading(whole=False) as view:
            self._space = view.space(self._space.name)
        for together in of_different_sessions(requests):
            new, kept = Counter[str](), []
            for request, left_out in map(self._kept, together):
                result.left_out += left_out
                if count := self._new(request):
                    new += count
                    kept.append(request)
            if not kept:
                continue
            try:
                secrets = await write_many(self._store, kept, reading=self._reading, derive=self._derive, now=self._now)
            except InvalidInput:  # of one of them
                for request in kept:
                    await self.store_request(request, result)
            else:
                result.stored.update(new)
                result.secrets |= secrets

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
            parts = parts_of(kept)
            if len(parts) == 1:
                what = self._ref(kept.items[0]) if kept.items else f"{kept.facts[0].head} {kept.facts[0].relation}"
                result.skip(SkippedRecord(f"{request.session}, {what}", str(refusal)))
                return
            for part in parts:
                await self.store_request(part, result)
            return
        result.stored.update(new)
        result.secrets |= any(warning.startswith("Secrets in ") for warning in written.warnings)

    async def index(self, requests: Sequence[WriteRequest]) -> None:
        """Index the texts of some requests that are stored, also those that an earlier import stored."""
        async with self._store.reading() as view:
            space = view.space(self._space.name)
            names = [(request.session, item.ref) for request in requests for item in request.items]
            for request in requests:
                names += [(request.session, turn.ref) for turn in self._statements(request).values()]
            turns = [space.current(session, ref_of(space, session, ref or "")) for session, ref in names]
            left = {turn.id for turn in turns if turn is not None and turn.id in space.unindexed}
        await Indexing(self._store, self._reading).finish(self._space.name, left, silent)

    def _request(self, record: ForeignRecord) -> WriteRequest:
        facts = tuple(replace(fact, undated=True) for fact in record.facts)
        return WriteRequest(self._space.name, record.session, record.kind, record.items, facts, wait=False)

    def _checked(self, record: Found) -> Iterator[Found]:
        """Yield a record without what cannot be stored of it, and what is bad."""
        if not isinstance(record, ForeignRecord):
            yield record
            return
        claims = [fact for fact in record.facts if is_claim(fact)]
        if claims:
            record = as_text(record, claims)
            why = "about names or wishes of the user, which only the user states; kept as text"
            yield LeftOut(record.place, "fact", why, len(claims))
        good = []
        for item in record.items:
            try:
                self._check(item, record.kind)
                good.append(item)
            except BadRecord as problem:
                place = record.place if len(record.items) == 1 else f"{record.place}, {self._ref(item)}"
                yield SkippedRecord(place, str(problem))
        lost = {item.ref for item in record.items} - {item.ref for item in good}
        facts = []
        for fact in record.facts:
            if fact.source in lost and lost:
                yield LeftOut(record.place, "fact", "of what was skipped")
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
        for name in (item.ref and former_ref(item.ref), item.speaker, item.role, item.title):
            if name is not None:
                _check_text(name, self._limits.name_chars * 4, "name")
                if len(name) > self._limits.name_chars:
                    raise BadRecord(f"has a name of {len(name):,} characters, {name[:40]!r}")

    def _kept(self, request: WriteRequest) -> tuple[WriteRequest, int]:
        """Return a request without what was forgotten here, and how much that is."""
        if self._again:
            return request, 0
        statements = self._statements(request)
        items = tuple(item for item in request.items if not self._was_forgotten(request, item.ref or ""))
        facts = tuple(
            fact
            for number, fact in enumerate(request.facts)
            if not self._was_forgotten(request, statements[number].ref if fact.source is None else fact.source)
        )
        left_out = len(request.items) + len(request.facts) - len(items) - len(facts)
        return (replace(request, items=items, facts=facts), left_out) if left_out else (request, 0)

    def _ref(self, item: NewItem) -> str:
        return self._space.ids.ref(item.ref or "")

    def _was_forgotten(self, request: WriteRequest, ref: str) -> bool:
        """Return whether the text of a ref was forgotten here, which an older program may have stored."""
        ids, place = self._space.ids, (request.space, request.session)
        names = ids.turn(*place, ids.ref(ref), "", 0), turn_id(*place, former_ref(ref), "", 0)
        return any(map(self._store.was_forgotten, names))

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
        turn = None if ref is None or ref in new else self._space.current(session, ref_of(self._space, session, ref))
        if turn is None:
            return True
        assertion = caller_assertion(masked_fact(fact, self._reading.masking, turn), turn, self._now)
        return self._space.facts.assertion(assertion.id) is None

    def _stored(self, session: str, item: NewItem) -> bool:
        known = self._space.current(session, ref_of(self._space, session, item.ref or ""))
        return known is not None and item.text in (known.said, with_masks(known.text))

    def _statements(self, request: WriteRequest) -> dict[int, Turn]:
        """Return the statements that the facts of a request become; readers give every item an id of its own."""
        if not request.facts:
            return {}
        return requested_turns(replace(request, items=()), self._now, self._reading.masking, self._reading.zone)[1]


def _check_text(text: str, most: int, what: str) -> None:
    if "\x00" in text:
        raise BadRecord("holds a null byte (U+0000)")
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise BadRecord("holds half of a surrogate pair") from None
    if size > most:
        raise BadRecord(f"has {size:,} bytes in its {what}, more than the {most:,} allowed")
