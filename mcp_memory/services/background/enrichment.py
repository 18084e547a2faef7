"""Enrichment: extract facts from stored texts with a language model, between calls (DESIGN L1).

One step reads some texts of one session. Under the store's lock it chooses texts that no process has read, leases them
and releases the lock. Then it asks the model. Then it records, in one transaction, the facts and the progress of each
text that this process still leases. So no two processes pay for the same text. A process that dies loses only the reply
that it waited for: its lease expires, and the next step of any process reads the texts. The results stay in the log
permanently.

The newest text comes first, then the texts before it in its session, as many as one request takes. A long text is read
in parts. The parts of a text depend on its sentences alone, not on settings, so that any process can continue where
another ended. Facts that a caller stated directly and old revisions of documents are not read.

With ``engine.enrich = "asked"`` only texts are read that a query of this process has found, the last found first: a
graph grows where questions lead, and nothing is paid for what nobody asks about.

A text that fails, or of which a reply was cut off, is tried again alone, after a pause that grows, and given up after
`TRIES`. If the day's budget is
spent, the key is refused or the service cannot be reached, no text has failed: the lease is given back, and this
process rests until the next day, for good, or for a while. Half of a day's budget is left to questions.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice, takewhile

from anyio import to_thread

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.language_model import Job, day_number
from mcp_memory.domain.status import TextsRead
from mcp_memory.domain.times import DAY, FOREVER, Millis
from mcp_memory.domain.turns import Excerpt, Talkers, Turn
from mcp_memory.errors import EngineError, EngineRefused, EngineSpent, EngineUnavailable
from mcp_memory.language.segments import split
from mcp_memory.ports import Store, TextReader
from mcp_memory.view.space import Space
from mcp_memory.view.view import View

ROOM = 3_000
"""Bytes of text that one step reads, about 1,000 tokens; also the size of a part of a long text, unless one sentence is
longer. The number of parts read is stored with each text, so this number must not change."""
BEFORE = 3
"""Sentences before those to be read that are sent along as context."""
TURNS = 12
"""Texts that one step reads at most."""
TRIES = 5
"""Failures in a row after which a text is given up."""
PAUSE_MS: Millis = 60_000
"""Pause after the first failure of a text, and after any of the service."""
GROWTH = 4
"""Factor by which each further pause of a text is longer."""
MARGIN_MS: Millis = 60_000
"""A lease lasts this much longer than the model may take."""
SHARE = 0.5
"""Share of a day's budget from which on no text is read: the rest is for questions, which somebody waits for."""
NOTED = 2_000
"""Texts of a space that queries have found and that are remembered, the last ones."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ReadingTask:
    """The texts that one step reads.

    Attributes:
        space: the space of the texts.
        turns: texts of one session, in its order.
        partners: the addressee of each text.
        before: the texts before them, in order, with their partners; none before a document.
        jobs: how far each text is read, by its id.
    """

    space: str
    turns: tuple[Turn, ...]
    partners: tuple[str | None, ...]
    before: tuple[tuple[Turn, str | None], ...]
    jobs: dict[str, Job]


class UnreadTexts:
    """Chooses the texts to read next; for each space it remembers how many of the oldest texts are done.

    Args:
        asked_only: whether only texts are read that a query of this process has found (`note`).
    """

    def __init__(self, *, asked_only: bool = False) -> None:
        self._settled: dict[str, int] = {}
        self._asked: dict[str, dict[str, None]] | None = {} if asked_only else None

    def note(self, space: str, turns: Iterable[str]) -> None:
        """Take note of texts that a query has found, by their ids; the last ones are read first."""
        if self._asked is not None:
            noted = self._asked.setdefault(space, {})
            for turn in turns:
                noted.pop(turn, None)
                noted[turn] = None
                if len(noted) > NOTED:
                    del noted[next(iter(noted))]

    def _may_be_read(self, space: Space, turn: Turn, now: Millis) -> bool:
        return _free(space, turn, now) and (self._asked is None or turn.id in self._asked.get(space.name, {}))

    def choose(self, view: View, now: Millis) -> ReadingTask | None:
        """Return the texts to read next: the newest free text, and free texts before it in its session; None for none.

        A text that has failed before, or is longer than `ROOM`, is read alone.
        """
        newest = max(
            ((turn, space) for space in view.spaces.values() if (turn := self._newest(space, now))),
            key=lambda candidate: candidate[0].written_at,
            default=None,
        )
        if newest is None:
            return None
        latest, space = newest
        order = space.sessions[latest.session]
        place = order.index(latest.id)
        taken = [latest]
        room = ROOM - _bytes(latest) if _read_with_others(space, latest) else 0
        while room > 0 and place > 0 and len(taken) < TURNS:
            turn = space.turns[order[place - 1]]
            if turn.kind != "statement":
                room -= _bytes(turn)
                if room < 0 or not self._may_be_read(space, turn, now) or not _read_with_others(space, turn):
                    break
                taken.insert(0, turn)
            place -= 1
        return _task(space, taken, now)

    def _newest(self, space: Space, now: Millis) -> Turn | None:
        turns = space.turns
        if self._asked is not None:
            asked = (turns[name] for name in reversed(self._asked.get(space.name, {})) if name in turns)
            return next((turn for turn in asked if _free(space, turn, now)), None)
        settled = min(self._settled.get(space.name, 0), len(turns))
        settled += sum(1 for _ in takewhile(partial(_is_settled, space), islice(turns.values(), settled, None)))
        self._settled[space.name] = settled
        newer = (turns[name] for name in reversed(list(islice(turns, settled, None))))
        return next((turn for turn in newer if _free(space, turn, now)), None)


@dataclass
class Enrichment:
    """Reads, step by step, the texts that no process has read.

    Attributes:
        store: the store of the texts.
        reader: reads them.
        clock: milliseconds since 1970, UTC.
        timeout_s: the timeout of the reader, in seconds, for one request.
        day_tokens: the tokens that a day may cost, over all processes; 0 for no bound.
        asked_only: whether it reads only what a query of this process has found.
        holder: a name that is unique to this process.
    """

    store: Store
    reader: TextReader
    clock: Callable[[], Millis]
    timeout_s: float
    day_tokens: int = 0
    asked_only: bool = False
    holder: str = field(default_factory=lambda: secrets.token_hex(8))
    _unread: UnreadTexts = field(init=False)
    _rests_until: Millis = field(default=0, init=False)
    _why: str = field(default="", init=False)

    def __post_init__(self) -> None:
        self._unread = UnreadTexts(asked_only=self.asked_only)

    def note(self, space: str, turns: Iterable[str]) -> None:
        """Take note of texts that a query has found, by their ids."""
        self._unread.note(space, turns)

    @property
    def resting(self) -> str:
        """Why nothing is read for now, in words; empty if reading starts as soon as no call is running."""
        return self._why if self.clock() < self._rests_until else ""

    async def step(self) -> bool:
        """Read some texts, if there are any and the model can be asked; return whether more can be read now.

        Raises:
            StoreError: the texts could not be leased, or the result could not be recorded.
        """
        if not self.reader.ready or self.clock() < self._rests_until:
            return False
        async with self.store.reading(whole=False) as view:
            if self._unread.choose(view, self.clock()) is None:
                return False
        async with self.store.writing() as transaction:
            now = self.clock()
            task = self._unread.choose(transaction.view, now)
            if task is None:
                return False
            if self.day_tokens and transaction.view.spent(day_number(now)).input_tokens >= self.day_tokens * SHARE:
                self._rests_until, self._why = _tomorrow(now), "the rest of the day's budget is left to questions"
                return False
            until = now + int(self.timeout_s * 1000) + MARGIN_MS
            leases = [
                replace(job, state="leased", until=until, holder=self.holder, at=now) for job in task.jobs.values()
            ]
            await transaction.commit(Batch(jobs=tuple(leases)))
        self._rests_until, self._why = now + PAUSE_MS, ""  # counts as a failure until it has succeeded
        await self._read(task, leases)
        return self.clock() >= self._rests_until

    async def _read(self, task: ReadingTask, leases: list[Job]) -> None:
        excerpts, before, totals = await to_thread.run_sync(_cut, task)
        try:
            assertions = await self.reader.read(excerpts, before) if excerpts else []
        except EngineSpent as error:
            self._rests_until = _tomorrow(self.clock())
            await self._give_back(leases, error)
        except EngineRefused as error:
            self._rests_until = FOREVER
            await self._give_back(leases, error)
        except EngineUnavailable as error:
            await self._give_back(leases, error)
        except EngineError as error:
            self._why = str(error)
            _log.warning("Claude did not read some texts (%d): %s.", len(leases), error)
            await self._record(leases, _after_failure)
        else:
            self._rests_until = 0
            await self._record(leases, lambda job, now: _part_read(job, totals[job.turn_id], now), assertions)

    async def _give_back(self, leases: Sequence[Job], error: EngineError) -> None:
        self._why = str(error) if self._rests_until < FOREVER else f"{error}; it tries again after the next start"
        _log.warning("Claude reads no texts for now: %s.", self._why)
        await self._record(leases, lambda job, now: replace(job, state="waiting", until=0, holder="", at=now))

    async def _record(
        self, leases: Sequence[Job], update: Callable[[Job, Millis], Job], assertions: Sequence[Assertion] = ()
    ) -> None:
        """Commit the progress and the assertions of the texts that this process still leases."""
        async with self.store.writing() as transaction:
            now = self.clock()
            space = transaction.view.space
            held = [job for job in leases if space(job.space).jobs.get(job.turn_id) == job]  # no other took them over
            ours = {job.turn_id: update(job, now) for job in held}
            recorded = tuple(
                replace(assertion, recorded_at=now) for assertion in assertions if assertion.turn_id in ours
            )
            await transaction.commit(Batch(assertions=recorded, jobs=tuple(ours.values())))


def _parts(text: str, sentences: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the parts in which a text is read, each as its first sentence and the first sentence after it."""
    bounds: list[tuple[int, int]] = []
    first = size = 0
    for index, (start, end) in enumerate(sentences):
        length = len(text[start:end].encode("utf-8", "surrogatepass"))
        if index > first and size + length > ROOM:
            bounds.append((first, index))
            first = index
            size = 0
        size += length
    return [*bounds, (first, len(sentences))] if sentences else []


def _cut(task: ReadingTask) -> tuple[list[Excerpt], list[Excerpt], dict[str, int]]:
    """Return the sentences to be read, those before them, and how many parts each text has. Blocking."""
    excerpts: list[Excerpt] = []
    totals: dict[str, int] = {}
    for turn, partner in zip(task.turns, task.partners, strict=True):
        sentences = split(turn.text)
        pieces, read = _parts(turn.text, sentences), task.jobs[turn.id].parts
        totals[turn.id] = len(pieces)
        if read < len(pieces):
            excerpts.append(Excerpt(turn, partner, sentences, *pieces[read]))
    if excerpts and excerpts[0].first > 0:
        first = excerpts[0]
        return excerpts, [replace(first, first=max(0, first.first - BEFORE), stop=first.first)], totals
    spans = ((turn, partner, split(turn.text)) for turn, partner in task.before)
    return excerpts, _last([Excerpt(turn, partner, found, 0, len(found)) for turn, partner, found in spans]), totals


def _last(excerpts: Iterable[Excerpt]) -> list[Excerpt]:
    """Return the last `BEFORE` sentences."""
    kept: list[Excerpt] = []
    left = BEFORE
    for excerpt in reversed(list(excerpts)):
        first = max(excerpt.first, excerpt.stop - left)
        left -= excerpt.stop - first
        if first < excerpt.stop:
            kept.insert(0, replace(excerpt, first=first))
    return kept


def _tomorrow(now: Millis) -> Millis:
    return (day_number(now) + 1) * DAY


def _after_failure(job: Job, now: Millis) -> Job:
    tries = job.tries + 1
    if tries >= TRIES:
        return replace(job, state="failed", tries=tries, until=0, holder="", at=now)
    until = now + PAUSE_MS * GROWTH ** (tries - 1)
    return replace(job, state="waiting", tries=tries, until=until, holder="", at=now)


def _part_read(job: Job, total: int, now: Millis) -> Job:
    """Return a text's job after one more of its ``total`` parts was read."""
    parts = min(job.parts + 1, total)
    state = replace(job, state="waiting", parts=parts, tries=0, until=0, holder="", at=now)
    return state if parts < total else replace(state, state="done")


def texts_read(view: View) -> TextsRead:
    """Return how many texts of all spaces wait, are read, and were given up; old revisions do not count."""
    states = [
        job.state if (job := space.jobs.get(turn.id)) else "waiting"
        for space in view.spaces.values()
        for turn in space.turns.values()
        if _to_be_read(space, turn)
    ]
    done, failed = states.count("done"), states.count("failed")
    return TextsRead(len(states) - done - failed, done, failed)


def _is_settled(space: Space, turn: Turn) -> bool:
    """Return whether a text needs no further reading: it is read, given up, or excluded."""
    job = space.jobs.get(turn.id)
    return bool(job and job.state in ("done", "failed")) or not _to_be_read(space, turn)


def _free(space: Space, turn: Turn, now: Millis) -> bool:
    job = space.jobs.get(turn.id)
    return (job is None or job.free(now)) and _to_be_read(space, turn)


def _to_be_read(space: Space, turn: Turn) -> bool:
    if turn.kind == "message":
        return True
    return turn.kind == "document" and space.current(turn.session, turn.ref) is turn


def _read_with_others(space: Space, turn: Turn) -> bool:
    """Return whether a text is read together with others."""
    job = space.jobs.get(turn.id)
    return _bytes(turn) <= ROOM and not (job and job.tries)


def _bytes(turn: Turn) -> int:
    return len(turn.text.encode("utf-8", "surrogatepass"))


def _task(space: Space, turns: Sequence[Turn], now: Millis) -> ReadingTask:
    """Return texts with their addressees, and the texts before them."""
    talkers, wanted = Talkers(), {turn.id for turn in turns}
    before: list[tuple[Turn, str | None]] = []
    partners: list[str | None] = []
    for turn in (space.turns[name] for name in space.sessions[turns[0].session]):
        if turn.id in wanted:
            partners.append(talkers.partner(turn))
        elif not partners and turn.kind == "message":
            before.append((turn, talkers.partner(turn)))
        talkers = talkers.after(turn)
        if len(partners) == len(turns):
            break
    context = before[-BEFORE:] if turns[0].kind == "message" else ()
    unread = {turn.id: Job(space.name, turn.id, "waiting", 0, 0, 0, "", now) for turn in turns}
    jobs = {name: space.jobs.get(name, job) for name, job in unread.items()}
    return ReadingTask(space.name, tuple(turns), tuple(partners), tuple(context), jobs)
