"""Write: store texts verbatim, with the facts that their caller states, in one commit: all of a call or nothing.

What follows from the texts (sentences, vectors, the facts in them) is made afterwards, in the background or, where the
caller waits for it, at once (``indexing.py``).

A caller's fact with a source belongs to the sentence of that text which names its tail, preferably with its head; there
it replaces the facts that the embedded rules extract. A fact without a source becomes a statement of its own, so that
it is found, quoted and cited like every other text. What a write changed (`changes`) is the difference between the fold
of the assertions that were recorded before and of those that are recorded now (REAL §III-A).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo

from mcp_memory.domain.batch import Batch, Masking, check_secrets, masked_fact, masked_turn
from mcp_memory.domain.facts import WHOLE, Assertion, Validity, Version, at_no_time, kind_of, new_assertion, verbalise
from mcp_memory.domain.relations import relations
from mcp_memory.domain.requests import NewFact, Op, WriteRequest, WriteResult, WrittenFact, WrittenItem
from mcp_memory.domain.times import BEGINNING, FOREVER, Millis, offset_at
from mcp_memory.domain.turns import READ_CHARS, WISHES, Turn, by_user, derived_ref
from mcp_memory.errors import InvalidInput
from mcp_memory.language import iso
from mcp_memory.language.segments import split
from mcp_memory.language.stated import day_in_words, stated_times
from mcp_memory.language.wishes import WISH_CHARS as LONGEST_WISH
from mcp_memory.ports import Progress, Store
from mcp_memory.services.indexing import Reading, index_all, silent
from mcp_memory.view.facts import Facts
from mcp_memory.view.space import Space
from mcp_memory.visible import with_masks

SHOWN_FACTS = 100
"""Facts read from the texts of one call that the reply lists; a book has thousands."""
_OTHER_ID = "Give each its own id, or leave the id out. Nothing of this call was stored."


async def write(
    store: Store, reading: Reading, request: WriteRequest, *, now: Millis, progress: Progress
) -> WriteResult:
    """Store the items and facts that are new, in one commit.

    Raises:
        InvalidInput: an id is taken by another text, a fact's source is not known, or there are secrets where none may
            be. Nothing of the call is stored.
        StoreError: nothing of the call is stored, or it was stored and is indexed later: the text says which.
    """
    (plan,), batch = await _store(store, [request], reading, now)
    stored = {turn.place for turn in batch.turns}
    items = plan.requested[: len(request.items)]
    written = tuple(WrittenItem(turn.ref, turn.place in stored) for turn in items)
    segments = sentences = 0
    added = batch.assertions
    if request.wait:
        segments, sentences, read = await _wait(store, reading, request, plan.requested, batch, progress)
        added = (*added, *read)
    facts: tuple[WrittenFact, ...] = ()
    names: tuple[str, ...] = ()
    more = 0
    if plan.stated or added:
        async with store.reading(whole=False) as view:
            facts, names, more = _written_facts(view.space(request.space), plan, added)
    return WriteResult(
        written,
        segments,
        sentences,
        warnings=(*plan.warnings, *([f"{more} more facts changed than are shown."] if more else ())),
        engine="caller" if request.facts else "embedded",
        facts=facts,
        entities=names,
        pending=0 if request.wait else sum(bool(turn.text.strip()) for turn in batch.turns),
    )


async def write_many(store: Store, requests: Sequence[WriteRequest], *, reading: Reading, now: Millis) -> Batch:
    """Store what is new of some requests, one of each session at most, in one commit, index it, and return its rows.

    Raises:
        InvalidInput: as for `write`. Nothing of any request is stored.
        StoreError: nothing of any request is stored, or all of it was stored and is indexed later.
    """
    _, batch = await _store(store, requests, reading, now)
    await index_all(store, reading, {turn.id for turn in batch.turns}, silent)
    return batch


async def _store(
    store: Store, requests: Sequence[WriteRequest], reading: Reading, now: Millis
) -> tuple[list[Plan], Batch]:
    """Commit what is new of some requests; return what that is of each, and all of its rows."""
    wanted = [(request, *requested_turns(request, now, reading.masking, reading.zone)) for request in requests]
    async with store.writing() as transaction:
        plans = [
            make_plan(transaction.view.space(request.space), request, items, statements, reading.masking, now)
            for request, items, statements in wanted
        ]
        stated = (one for plan in plans for one in plan.stated if one.id not in plan.known)
        batch = Batch(tuple(turn for plan in plans for turn in plan.new), assertions=tuple(stated))
        await transaction.commit(batch)
    return plans, batch


async def _wait(
    store: Store, reading: Reading, request: WriteRequest, requested: Sequence[Turn], batch: Batch, progress: Progress
) -> tuple[int, int, list[Assertion]]:
    """Wait until what a call brought is indexed, by this call or another.

    Returns:
        The segments and sentences of its new texts, and the facts that were read in them.
    """
    async with store.reading() as view:
        space = view.space(request.space)
        texts = [space.current(turn.session, turn.ref) for turn in requested]
    await index_all(store, reading, {turn.id for turn in texts if turn is not None}, progress)
    new = [turn.id for turn in batch.turns]
    async with store.reading() as view:
        space = view.space(request.space)
        segments = sum(len(space.segments.of_turn(name)) for name in new)
        sentences = sum(len(space.sentences.of_turn(name)) for name in new)
        return segments, sentences, [one for name in new for one in space.facts.assertions_as_recorded(name)]


@dataclass(frozen=True, slots=True)
class Plan:
    """The rows of a request that a space does not have yet.

    Attributes:
        requested: the items and then the statements of the request, each with its id.
        stated: assertions of the caller's facts, new or not.
        known: ids of those that are stored already.
        warnings: about secrets, and items that are stored already.
    """

    requested: Sequence[Turn]
    new: Sequence[Turn]
    stated: Sequence[Assertion]
    known: frozenset[str]
    warnings: Sequence[str]


def make_plan(
    space: Space, request: WriteRequest, items: Sequence[Turn], statements: Mapping[int, Turn], masking: Masking,
    now: Millis,
) -> Plan:  # fmt: skip
    """Return what of a request a space does not have yet; `requested_turns` makes its items and statements.

    Raises:
        InvalidInput: see `write`.
    """
    session = request.session
    secrets = check_secrets(request, items, masking, lambda ref: space.current(session, space.ids.ref(ref)))
    requested = space.named((*items, *statements.values()))
    new, warnings = _new_turns(space, requested)
    in_call = {turn.ref: turn for turn in new}
    refs = {item.ref: turn.ref for item, turn in zip(items, requested, strict=False)}
    stated = dict(zip(statements, requested[len(items) :], strict=True))
    assertions = []
    for number, fact in enumerate(request.facts):
        own = stated.get(number)
        ref = own.ref if own else refs.get(fact.source or "") or space.ids.ref(fact.source or "")
        turn = in_call.get(ref) or space.current(session, ref)
        if turn is None:
            problem = f"no message or document {ref!r} is in session {request.session!r} or in this call"
            raise InvalidInput(
                f"facts[{number}].source", problem, "Name the id of one, or leave the source out. Nothing was stored."
            )
        shown = masked_fact(fact, masking, turn)
        assertion = caller_assertion(shown, turn, now if fact.recorded_at is None else fact.recorded_at)
        assertions.append(assertion if shown is fact else replace(assertion, original=(fact.head, fact.tail)))
    distinct = tuple({assertion.id: assertion for assertion in assertions}.values())
    known = frozenset(assertion.id for assertion in distinct if space.facts.assertion(assertion.id))
    return Plan(requested, new, distinct, known, [*secrets, *warnings])


def _written_facts(
    space: Space, plan: Plan, stored: Sequence[Assertion]
) -> tuple[tuple[WrittenFact, ...], tuple[str, ...], int]:
    """Return the changes by the facts of a call, the names in them, and the number of omitted changes."""
    assertions = list({assertion.id: assertion for assertion in (*plan.stated, *stored)}.values())
    changed = changes(space.facts, assertions, plan.known)
    most = SHOWN_FACTS + len(plan.stated)  # every fact of the caller is listed
    shown = tuple(
        WrittenFact(now.id, now.text, change.op, now.since, now.until, now.kind, now.precision)
        for change in changed[:most]
        for now in (change.version,)
    )
    ends = (name for assertion in assertions[:most] for name in (assertion.head, assertion.tail))
    names = dict.fromkeys(space.facts.name(space.facts.key(name)) for name in ends)
    return shown, tuple(names), max(0, len(changed) - most)


def requested_turns(
    request: WriteRequest, now: Millis, masking: Masking, zone: tzinfo | None
) -> tuple[list[Turn], dict[int, Turn]]:
    """Return the items as turns of revision 0, and a turn for each fact without a source, by the fact's number.

    Their secrets are masked. Refs are made of what was said, so that two keys are two messages; the space keys them and
    gives ids (`Space.named`). A fact without a source
    was said with the last message of its call, whose time it takes. A time without an offset has that of the zone.
    """
    turns: list[Turn] = []
    equal: Counter[tuple[str | None, ...]] = Counter()
    for place, item in enumerate(request.items):
        ref = item.ref
        if ref is None:
            when = None if item.said_at is None else str(item.said_at)
            key = (item.speaker, item.role, when, item.title, item.text)
            ref = derived_ref(*key, nth=equal[key])
            equal[key] += 1
        offset = offset_at(now if item.said_at is None else item.said_at, zone) if item.offset is None else item.offset
        written_at = now if item.written_at is None else item.written_at
        turn = Turn(
            "", request.space, request.session, ref, item.kind or request.kind, item.text, item.speaker, item.role,
            item.title, item.said_at, written_at=written_at, revision=0, place=place, offset=offset,
        )  # fmt: skip
        turns.append(masked_turn(turn, masking))
    told = [turn for turn in turns if turn.said_at is not None and turn.kind == "message"]
    last = max(told, key=lambda turn: turn.time, default=None)
    statements: dict[int, Turn] = {}
    for number, fact in enumerate(request.facts):
        if fact.source is None:
            text = statement(fact)
            ref = statement_ref(fact, text)
            turn = Turn(
                "", request.space, request.session, ref, "statement", text, speaker=None, role=None, title=None,
                said_at=last.said_at if last else None, written_at=now, revision=0, place=len(turns) + number,
                offset=last.offset if last else offset_at(now, zone),
            )  # fmt: skip
            statements[number] = masked_turn(turn, masking)
    return turns, statements


def statement_ref(fact: NewFact, text: str) -> str:
    """Return the ref, not keyed yet, of a fact without a source that was put into words."""
    return derived_ref("", "statement", None, f"{fact.confidence}{fact.intent}", text, 0)


def _new_turns(space: Space, requested: Sequence[Turn]) -> tuple[list[Turn], list[str]]:
    """Return the turns that are new to the space, documents with their revision, and warnings about the others.

    Raises:
        InvalidInput: a message's id is taken, or one call gives two texts for one id.
    """
    new: list[Turn] = []
    warnings: list[str] = []
    in_call: dict[str, Turn] = {}
    for turn in requested:
        argument = f"{turn.kind}s[{turn.place}]"
        known = in_call.get(turn.ref) or space.current(turn.session, turn.ref)
        if known is None:
            in_call[turn.ref] = turn
            new.append(turn)
            if turn.kind == "message" and len(turn.text) > READ_CHARS:
                warnings.append(f"{argument} is very long: facts are read in its first {READ_CHARS:,} characters only.")
            if turn.session == WISHES and by_user(turn) and len(turn.text) > LONGEST_WISH:
                warnings.append(f"{argument} is kept as a text: a standing wish has at most {LONGEST_WISH} characters.")
        elif turn.said in (known.said, known.text, with_masks(known.text)) and known.kind == turn.kind:
            names = ("speaker", "role", "said_at", "title")  # one that is left out contradicts nothing
            differing = [name for name in names if getattr(turn, name) not in (None, getattr(known, name))]
            if differing:
                words = ", ".join(differing).replace("said_at", "time")
                warnings.append(f"{argument} ({turn.ref!r}) is stored already; its other {words} was not taken over.")
        elif turn.ref in in_call:
            raise InvalidInput(f"{argument}.id", f"{turn.ref!r} stands twice in this call, with two texts", _OTHER_ID)
        elif turn.kind == "document" and known.kind == "document":
            revision = known.revision + 1
            name = space.ids.turn(turn.space, turn.session, turn.ref, turn.text, revision)
            in_call[turn.ref] = replace(turn, id=name, revision=revision)
            new.append(in_call[turn.ref])
        else:
            problem = f"{turn.ref!r} is taken in session {turn.session!r} by a {known.kind} with another text"
            raise InvalidInput(f"{argument}.id", problem, _OTHER_ID)
    return new, warnings


# The facts of a caller


def statement(fact: NewFact) -> str:
    """Return a caller's fact as a sentence, with its times; a denial says from when on it no longer holds."""
    wording = verbalise(fact.head, relations().name(fact.relation), fact.tail, negated=fact.negated)
    since = f" from {day_in_words(fact.valid_from)}" if fact.valid_from is not None else ""
    until = f" until {day_in_words(fact.valid_to)}" if fact.valid_to is not None else ""
    if fact.negated and since:
        return f"{wording.replace(':', f'{since} on:', 1)}{until}."
    return f"{wording}{since}{until}."


def caller_assertion(fact: NewFact, turn: Turn, now: Millis) -> Assertion:
    """Return the assertion of a caller's fact.

    An event, by its relation, is planned if its start is still to come. A fact without a start holds from the time of
    its source; if it had ended before that time, or nobody knows that time, its start is unknown.
    """
    sentence, start, end = _sentence_of(fact, turn)
    relation = relations().name(fact.relation)
    kind = kind_of(relation)
    if kind == "event" and not fact.negated and fact.valid_from is not None and fact.valid_from > now:
        kind = "planned"
    until = FOREVER if fact.valid_to is None else fact.valid_to
    since = fact.valid_from
    if since is None:
        since = turn.time if turn.time < until else BEGINNING
    stated = fact.valid_from is not None or fact.valid_to is not None
    made = new_assertion(
        turn, sentence, (start, end), (fact.head, relation, fact.tail),
        Validity(since, until, stated, fact.negated, change=fact.intent == "EVOLUTION", kind=kind),
        confidence=fact.confidence, intent=fact.intent, extractor="caller", recorded_at=now,
    )  # fmt: skip
    return at_no_time(made) if fact.undated and turn.said_at is None else made


def _sentence_of(fact: NewFact, turn: Turn) -> tuple[int, int, int]:
    """Return the index and span of the sentence that states a fact; `WHOLE` and the whole text if none does."""
    if turn.kind == "statement":
        return 0, 0, len(turn.text)
    best = (WHOLE, 0, len(turn.text))
    day = _day_of(fact)
    for index, (start, end) in enumerate(split(turn.text)):
        if day is not None and any(
            day == time.since for time in stated_times(turn.text[start:end], turn.local_said_at)
        ):
            return index, start, end
        written = turn.text[start:end].casefold()
        if fact.tail.casefold() in written:
            if fact.head.casefold() in written:
                return index, start, end
            if best[0] == WHOLE:
                best = index, start, end
    return best


def _day_of(fact: NewFact) -> Millis | None:
    """Return the first instant of the date that is the tail of a fact, "2026-05-03"; a text says it in other words."""
    try:
        return iso.parse(fact.tail)[0] if relations().get(relations().name(fact.relation)).tail == "time" else None
    except ValueError:
        return None


# What new assertions change


@dataclass(frozen=True, slots=True)
class Change:
    """A version as it is now, and the operation that made it so."""

    version: Version
    op: Op


def changes(facts: Facts, new: Sequence[Assertion], known: Collection[str]) -> list[Change]:
    """Return the changes of the facts that a write asserts, in their order, then of the others that it ended.

    The new assertions are among the facts already; ``known`` are the ids of those that were recorded before. The
    negation of a fact that nobody asserted changes nothing and is not among the changes.
    """
    fresh = {assertion.id for assertion in new} - set(known)
    by_version: dict[str, Change] = {}
    for assertion in new:
        if assertion.negated:
            if assertion.id not in fresh:
                for ended in facts.all_versions(facts.key(assertion.head), assertion.relation):
                    if any(ending.id == assertion.id for ending in ended.ended_by):
                        by_version.setdefault(ended.id, Change(ended, "unchanged"))
        elif version := facts.version_of(assertion):
            by_version.setdefault(version.id, Change(version, _operation(version, assertion, fresh)))
    for key, relation in dict.fromkeys((facts.key(a.head), a.relation) for a in new if a.id in fresh):
        for before in facts.versions_without(key, relation, fresh):
            now = facts.version(before.id)
            if now is None or now.id in by_version:
                continue
            if now.until < before.until or now.status == "contested" != before.status:
                by_version[now.id] = Change(now, "contested" if now.lost else "closed")
    return list(by_version.values())


def _operation(version: Version, assertion: Assertion, fresh: Collection[str]) -> Op:
    if assertion.id not in fresh:
        return "unchanged"
    if version.status == "contested":
        return "contested" if version.lost else "closed"
    return "merged" if any(support.id not in fresh for support in version.assertions) else "added"
