"""Store the records of a file: check all of them first, then store them in few commits, as a write does.

The files are read twice. The first pass finds what is wrong with a file as a whole (cut short, another encoding), so
that nothing is stored of one that cannot be read to its end; it counts the records and lists the bad ones. The second
stores the others, many items in a commit; if one is refused, they are stored one by one. What is stored already, or was
forgotten in its space, is left out, so an import that was stopped is repeated and goes on.

**What only the user states** (who they are, and what they wish of an assistant) another program may have stored of
anybody. So such a fact is kept as text, and any other about the user is uncertain.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from anyio import to_thread

from mcp_memory.configurable import LimitSettings
from mcp_memory.domain.facts import STABLE
from mcp_memory.domain.ids import UNKEYED, digest
from mcp_memory.domain.relations import relations
from mcp_memory.domain.requests import NewFact, NewItem, WriteRequest
from mcp_memory.domain.times import Millis
from mcp_memory.domain.turns import USERS
from mcp_memory.errors import InvalidInput
from mcp_memory.ports import Progress, Store
from mcp_memory.services.indexing import Reading, silent
from mcp_memory.services.transfer.foreign.reading import BadRecord, FileRecord, Found, LeftOut, SkippedRecord
from mcp_memory.services.transfer.foreign.sources import SourceFile
from mcp_memory.services.transfer.kinds import Read
from mcp_memory.services.transfer.own import IdsMadeHere, as_new_here
from mcp_memory.services.write import requested_turns, statement, write_many
from mcp_memory.view.facts import NAMING
from mcp_memory.view.space import View
from mcp_memory.visible import with_masks

AT_ONCE = 2_048
"""Items of a commit."""
COMMIT_CHARS = 64_000
"""Characters from which on a commit takes no further item: some ten seconds of embedding."""
LISTED_RECORDS = 20
"""Bad records that are listed; the others are only counted."""


@dataclass(slots=True)
class Imported:
    """What an import found and what it did.

    Attributes:
        found: how many messages, documents and facts can be imported.
        spaces: the spaces that they go into.
        sessions: in how many sessions.
        stored: how many of them were stored.
        left_out: of them, since they were forgotten here.
        skipped: the first bad records.
        bad: how many bad records there are.
        replaced: ids of documents that get another text.
        unread: how much is left out since it is no record, by what it is and why.
        first: the first place of each, where one is known.
        masked: ids of what was stored and holds a secret.
    """

    found: Counter[str] = field(default_factory=Counter)
    spaces: set[str] = field(default_factory=set)
    sessions: int = 0
    stored: Counter[str] = field(default_factory=Counter)
    left_out: int = 0
    skipped: list[SkippedRecord] = field(default_factory=list)
    bad: int = 0
    replaced: list[str] = field(default_factory=list)
    unread: Counter[tuple[str, str]] = field(default_factory=Counter)
    first: dict[tuple[str, str], str] = field(default_factory=dict)
    masked: list[str] = field(default_factory=list)

    def skip(self, record: SkippedRecord) -> None:
        """Note a bad record."""
        self.bad += 1
        if len(self.skipped) < LISTED_RECORDS:
            self.skipped.append(record)


async def import_files(
    store: Store,
    reading: Reading,
    read: Read,
    files: Sequence[SourceFile],
    *,
    space: str | None,
    default: str,
    limits: LimitSettings,
    now: Millis,
    dry_run: bool = False,
    progress: Progress = silent,
) -> Imported:
    """Store what a store does not have yet of some files, or only check and count it.

    All goes into ``space``; where that is None, into the spaces that an export of this program names, and what names
    none into ``default``. What exceeds the limits of a write is a bad record. Progress is in items and facts.

    Raises:
        InvalidInput: a file cannot be read to its end, or nothing in it can be imported; nothing was stored.
        StoreError: the store cannot be read or written; what was committed before stays, and a repetition goes on.
    """
    async with store.reading(whole=False) as view:
        work = _Work(store, reading, view, space, default, limits, now)
        result = await to_thread.run_sync(work.survey, read(files))
    if not result.found.total():
        problem = (
            f"nothing in it can be imported; {result.bad:,} bad records" if result.bad else "nothing is there to import"
        )
        first = f" The first: {result.skipped[0].place} {result.skipped[0].problem}." if result.skipped else ""
        raise InvalidInput("", problem, f"If it is of another kind, say --from KIND.{first}")
    total, done = result.found.total(), 0
    parts = work.parts(read(files), result)
    if dry_run:
        await to_thread.run_sync(deque, parts, 0)  # for what it notes in the result
        return result
    while requests := await to_thread.run_sync(work.next_requests, parts):
        await progress(done, total, "importing")
        await work.store_together(requests, result)
        done += sum(map(_size, requests))
    await progress(total, total, "importing")
    return result


@dataclass(frozen=True, slots=True)
class _Work:
    """One import: its store as it was before, and what it takes."""

    store: Store
    reading: Reading
    view: View
    space: str | None
    default: str
    limits: LimitSettings
    now: Millis

    def survey(self, records: Iterable[Found]) -> Imported:
        """Return how much there is, and what is bad.

        Raises:
            InvalidInput: the file has several spaces, and all is to go into one.
        """
        result, sessions, named = Imported(), set(), set()
        for record in records:
            for found in self._checked(record):
                if isinstance(found, SkippedRecord):
                    result.skip(found)
                elif isinstance(found, LeftOut):
                    result.unread[found.what, found.why] += found.count
                    result.first.setdefault((found.what, found.why), found.place)
                elif found.items or found.facts:
                    named.add(found.space)
                    sessions.add((found.space, found.session))
                    texts = 0 if found.kind == "statement" else len(found.items)
                    result.found.update({f"{found.kind}s": texts, "facts": len(found.facts)})
        if self.space is not None and len(named) > 1:
            problem = f"the file holds several: {', '.join(sorted(filter(None, named)))}"
            raise InvalidInput("--space", problem, "Export one of them with --space, and import that.")
        result.spaces = {self.space or name or self.default for name in named}
        result.sessions, result.unread = len(sessions), +result.unread
        return result

    def parts(self, records: Iterable[Found], result: Imported) -> Iterator[WriteRequest]:
        """Yield each item with its facts, and each other fact, but for those that were forgotten here.

        What is left out or gets another text is noted in the result.
        """
        ids = IdsMadeHere(self.view.ids)
        for record in records:
            for found in self._checked(record):
                if not isinstance(found, FileRecord):
                    continue
                own, space = found.space is not None, self.space or found.space or self.default
                facts = found.facts if own else tuple(replace(fact, undated=True) for fact in found.facts)
                for whole in _parts_of(WriteRequest(space, found.session, found.kind, found.items, facts)):
                    part = as_new_here(ids.named(whole), self.view.space(space)) if own else whole
                    if part is not None and not self._was_forgotten(part):
                        result.replaced += self._replaced(part)
                        yield part
                    elif part is not None:
                        result.left_out += _size(part)

    def next_requests(self, parts: Iterator[WriteRequest]) -> list[WriteRequest]:
        """Return the next parts as requests that are stored together, of each session one; none after the last part."""
        requests: dict[tuple[str, str], WriteRequest] = {}
        items = characters = 0
        for part in parts:
            place = part.space, part.session
            own = tuple(replace(item, kind=part.kind) for item in part.items)
            held = requests.get(place, WriteRequest(*place, part.kind, ()))
            requests[place] = replace(held, items=held.items + own, facts=held.facts + part.facts)
            items += _size(part)
            characters += sum(len(item.text) for item in part.items)
            if items >= AT_ONCE or characters >= COMMIT_CHARS:
                break
        return list(requests.values())

    async def store_together(self, requests: Sequence[WriteRequest], result: Imported) -> None:
        """Store what is new of some requests in one commit; if that is refused, one by one, and then part by part."""
        try:
            batch = await write_many(self.store, requests, reading=self.reading, now=self.now)
        except InvalidInput as refusal:
            parts = requests if len(requests) > 1 else _parts_of(requests[0])
            if len(parts) > 1:
                for part in parts:
                    await self.store_together([part], result)
                return
            items, facts = parts[0].items, parts[0].facts
            what = self.view.ids.ref(items[0].ref or "") if items else f"{facts[0].head} {facts[0].relation}"
            result.skip(SkippedRecord(f"{parts[0].session}, {what}", str(refusal)))
            return
        result.stored.update(f"{turn.kind}s" for turn in batch.turns if turn.kind != "statement")
        result.stored.update("facts" for one in batch.assertions if one.extractor == "caller")
        result.masked += [turn.ref for turn in batch.turns if turn.original is not None]

    def _checked(self, record: Found) -> Iterator[Found]:
        """Yield a record without what cannot be stored of it, and what is bad."""
        if not isinstance(record, FileRecord):
            yield record
            return
        own = record.space is not None
        naming = (fact for fact in record.facts if not own and relations().name(fact.relation) in NAMING)
        if claims := [fact for fact in naming if _is_of_user(fact)]:
            record = _as_text(record, claims)
            why = "about names or wishes of the user, which only the user states; kept as text"
            yield LeftOut("fact", why, len(claims))
        items, facts, lost = [], [], set()
        for item in record.items:
            try:
                self._check(item, record.kind)
                items.append(item)
            except BadRecord as problem:
                lost.add(item.ref)
                named = "" if len(record.items) == 1 else f", {self.view.ids.ref(item.ref or '')}"
                yield SkippedRecord(f"{record.place}{named}", str(problem))
        for fact in record.facts:
            if fact.source in lost:
                yield LeftOut("fact", "of what was skipped")
                continue
            try:
                self._check_names(fact.head, fact.tail)
                sure = STABLE if not own and _is_of_user(fact) else 1.0
                facts.append(replace(fact, confidence=min(fact.confidence, sure)))
            except BadRecord as problem:
                yield SkippedRecord(record.place, str(problem))
        yield replace(record, items=tuple(items), facts=tuple(facts))

    def _check(self, item: NewItem, kind: str) -> None:
        section = "document" if kind == "document" else "message"
        most = self.limits.document_bytes if kind == "document" else self.limits.message_bytes
        _check_text(item.text, most, f"text (limits.{section}_bytes)")
        if self.reading.masking.refuses and (kinds := self.reading.masking.kinds(item.text)):
            raise BadRecord(f"holds a secret ({', '.join(kinds)}), and privacy.secrets is 'refuse'")
        self._check_names((item.ref or "").replace(UNKEYED, ""), item.speaker, item.role, item.title)

    def _check_names(self, *names: str | None) -> None:
        for name in filter(None, names):
            _check_text(name, self.limits.name_chars * 4, "name")
            if len(name) > self.limits.name_chars:
                raise BadRecord(f"has a name of {len(name):,} characters, {name[:40]!r}")

    def _replaced(self, part: WriteRequest) -> Iterator[str]:
        """Yield the id of a document that is here with another text."""
        for item in part.items if part.kind == "document" else ():
            known = self.view.space(part.space).current(part.session, self.view.ids.ref(item.ref or ""))
            if known is not None and item.text not in (known.said, with_masks(known.text)):
                yield known.ref

    def _was_forgotten(self, part: WriteRequest) -> bool:
        """Return whether the text of an item or a fact was forgotten here."""
        ref = part.items[0].ref if part.items else part.facts[0].source
        if ref is None:
            _, statements = requested_turns(part, self.now, self.reading.masking, self.reading.zone)
            ref = statements[0].ref
        ids = self.view.ids
        return self.store.was_forgotten(ids.turn(part.space, part.session, ids.ref(ref), "", 0))


def _size(request: WriteRequest) -> int:
    """Return how many items and facts a request has; a statement and its fact are one."""
    return sum(item.kind != "statement" for item in request.items) + len(request.facts)


def _parts_of(whole: WriteRequest) -> list[WriteRequest]:
    """Return a request as one for each item with the facts of it, and one for each other fact."""
    own = {item.ref: tuple(fact for fact in whole.facts if fact.source == item.ref) for item in whole.items}
    parts = [replace(whole, items=(item,), facts=own[item.ref]) for item in whole.items]
    others = [fact for fact in whole.facts if fact.source is None or fact.source not in own]
    return parts + [replace(whole, kind="statement", items=(), facts=(fact,)) for fact in others]


def _is_of_user(fact: NewFact) -> bool:
    """Return whether a fact is about the user, or what is the user's."""
    return any(end.strip().casefold().split("'s")[0] in USERS for end in (fact.head, fact.tail))


def _as_text(record: FileRecord, claims: Sequence[NewFact]) -> FileRecord:
    """Return a record in which some facts are no facts, but stand in a text; what has a source stands in that."""
    facts = tuple(fact for fact in record.facts if fact not in claims)
    if record.kind != "statement":
        return replace(record, facts=facts)
    program, texts = record.session.partition(":")[0], [statement(fact) for fact in claims]
    items = tuple(NewItem(text, ref=f"{program}:{UNKEYED}{digest(text)}") for text in texts)
    return replace(record, kind="document", items=items, facts=facts)


def _check_text(text: str, most: int, what: str) -> None:
    if "\x00" in text:
        raise BadRecord("holds a null byte (U+0000)")
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise BadRecord("holds half of a surrogate pair") from None
    if size > most:
        raise BadRecord(f"has {size:,} bytes in its {what}, more than the {most:,} allowed")
