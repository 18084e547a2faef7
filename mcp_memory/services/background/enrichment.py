"""Enrichment: what was written is read for facts once more, by a language model, when nobody waits for it (DESIGN L1).

One step reads some texts of one session: under the store's lock those are chosen that nobody has read, the newest first
and then what stands before them, and leased; the lock is given back; the model is asked; then what it found and how far
the texts are read is recorded in one transaction, of those texts that are still ours. So no two processes pay for the
same text, and a process that dies loses nothing but what it was waiting for: its lease runs out, and whoever steps next
reads the texts. What is done is done for good, as a part of the log.

What fails is tried again after a pause that grows, by itself, and given up after `TRIES`. Where nobody can be asked,
because the day's budget is spent, the key is refused or the service is out of reach, no text has failed: the lease is
given back, and this process rests until the next day, for good, or for a while. Half of a day's budget is left to
questions.

What nobody has read for facts with a language model yet, what of it is read next, and how it is cut (DESIGN L1).

The newest comes first, then what stands before it in its session, as much as one call takes. A long text is read in
parts. How it is cut is arithmetic on its sentences that no setting changes, so that any process goes on where another
ended. Facts that a caller told by themselves and old revisions of documents are not read.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice, takewhile

from anyio import to_thread

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.jobs import Job
from mcp_memory.domain.spending import DAY_MS, day_of
from mcp_memory.domain.status import TextsRead
from mcp_memory.domain.talkers import Talkers
from mcp_memory.domain.times import FOREVER, Millis
from mcp_memory.domain.turns import Turn
from mcp_memory.errors import EngineCutOff, EngineError, EngineRefused, EngineSpent, EngineUnavailable
from mcp_memory.language.sentences import split
from mcp_memory.ports import Excerpt, Store, TextReader
from mcp_memory.view.space import Space
from mcp_memory.view.view import View

TRIES = 5
"""That fail, one after the other, until a text is given up."""
PAUSE_MS: Millis = 60_000
"""After the first failure of a text, and of the service."""
GROWTH = 4
"""Each further pause of a text is so many times as long."""
LONGEST_REST_MS: Millis = 3_600_000
"""Between two times that a service which is out of reach is asked."""
PATIENCE = 3
"""Failures in a row, of whatever texts, from which on it is taken to lie with the service."""
MARGIN_MS: Millis = 60_000
"""A lease lasts so much longer than the model may take."""
SHARE = 0.5
"""Of a day's budget, from which on nothing is begun: the rest is for questions, which somebody waits for."""
HALVINGS = 2
"""Times that what has too many facts for one reply is halved."""

_log = logging.getLogger(__name__)


class Unread:
    """Knows which texts are to be read; of each space it remembers how many of the oldest are settled for good."""

    def __init__(self) -> None:
        self._settled: dict[str, int] = {}

    def choose(self, view: View, now: Millis) -> Chosen | None:
        """Return what is to be read next, or None: the newest text that is free, and free ones of its session before.

        What has failed before, and what is longer than `ROOM`, is read by itself.
        """
        newest = max(
            ((turn, space) for space in view.spaces.values() if (turn := self._newest(space, now))),
            key=lambda found: found[0].written_at,
            default=None,
        )
        if newest is None:
            return None
        latest, space = newest
        order = space.sessions[latest.session]
        place = order.index(latest.id)
        taken = [latest]
        room = ROOM - _bytes(latest) if _mixes(space, latest) else 0
        while room > 0 and place > 0 and len(taken) < TURNS:
            turn = space.turns[order[place - 1]]
            if turn.kind != "statement":
                room -= _bytes(turn)
                if room < 0 or not _free(space, turn, now) or not _mixes(space, turn):
                    break
                taken.insert(0, turn)
            place -= 1
        return _with_partners(space, taken, now)

    def _newest(self, space: Space, now: Millis) -> Turn | None:
        turns = space.turns
        settled = min(self._settled.get(space.name, 0), len(turns))
        settled += sum(1 for _ in takewhile(partial(_is_settled, space), islice(turns.values(), settled, None)))
        self._settled[space.name] = settled
        newer = islice(reversed(turns.values()), len(turns) - settled)
        return next((turn for turn in newer if _free(space, turn, now)), None)


@dataclass
class Enriching:
    """Reads, step by step, what nobody has read.

    Attributes:
        store: whose texts, and where to.
        reader: what reads.
        clock: milliseconds since 1970, UTC.
        timeout_s: of the reader, for one reading.
        day_tokens: that a day may cost, over all processes; 0 for no bound.
        holder: a word that no other process has.
    """

    store: Store
    reader: TextReader
    clock: Callable[[], Millis]
    timeout_s: float
    day_tokens: int = 0
    holder: str = field(default_factory=lambda: secrets.token_hex(8))
    _unread: Unread = field(default_factory=Unread, init=False)
    _rests_until: Millis = field(default=0, init=False)
    _failures: int = field(default=0, init=False)
    _why: str = field(default="", init=False)

    @property
    def resting(self) -> str:
        """Why nothing is read for now, in words; empty where something is as soon as nobody calls."""
        return self._why if self.clock() < self._rests_until else ""

    async def step(self) -> bool:
        """Read some texts, if there are any and somebody can be asked; return whether there may be more to read now.

        Raises:
            StoreError: nothing could be leased, or what was read could not be recorded.
        """
        if not self.reader.ready or self.clock() < self._rests_until:
            return False
        async with self.store.reading(whole=False) as view:
            if self._unread.choose(view, self.clock()) is None:
                return False
        async with self.store.writing() as transaction:
            now = self.clock()
            chosen = self._unread.choose(transaction.view, now)
            if chosen is None:
                return False
            if self.day_tokens and transaction.view.spent(day_of(now)).input_tokens >= self.day_tokens * SHARE:
                self._rests_until, self._why = _tomorrow(now), "the rest of the day's budget is left to questions"
                return False
            leases = [self._lease(job, now) for job in chosen.jobs.values()]
            await transaction.commit(Batch(jobs=tuple(leases)))
        self._failures += 1
        self._why = ""
        self._rests_until = now + self._rest()  # whatever happens from here on; taken back where it went well
        await self._read(chosen, leases)
        return self.clock() >= self._rests_until

    async def _read(self, chosen: Chosen, leases: list[Job]) -> None:
        excerpts, before, totals = await to_thread.run_sync(cut, chosen)
        try:
            found = await self._asked(chosen.space, excerpts, before, leases)
        except EngineSpent as error:
            self._rests_until = _tomorrow(self.clock())
            self._failures = 0
            await self._give_back(leases, error)
        except EngineRefused as error:
            self._rests_until = FOREVER
            await self._give_back(leases, error)
        except EngineUnavailable as error:
            await self._give_back(leases, error)
        except EngineError as error:
            self._why = str(error)
            if self._failures < PATIENCE:
                self._rests_until = 0
            _log.warning("Claude did not read some texts (%d): %s.", len(leases), error)
            await self._record(leases, _failed)
        else:
            self._failures = self._rests_until = 0
            await self._record(leases, lambda job, now: _read_on(job, totals[job.turn_id], now), found)

    async def _asked(
        self, space: str, excerpts: list[Excerpt], before: Sequence[Excerpt], leases: list[Job], halvings: int = 0
    ) -> list[Assertion]:
        """Return what the texts assert; leases are renewed in place where they are asked about again, in halves."""
        if not excerpts:
            return []
        try:
            return await self.reader.read(excerpts, before)
        except EngineCutOff as error:
            sentences = sum(excerpt.last - excerpt.first for excerpt in excerpts)
            if halvings == HALVINGS or sentences < 2:
                _log.warning("%d sentences are left unread by Claude: %s.", sentences, error)
                return []
        first, second = halves(excerpts, sentences // 2)
        found: list[Assertion] = []
        for part, context in ((first, before), (second, last(first))):
            await self._renew(leases)
            found += await self._asked(space, part, context, leases, halvings + 1)
        return found

    def _lease(self, job: Job, now: Millis) -> Job:
        until = now + int(self.timeout_s * 1000) + MARGIN_MS
        return replace(job, state="leased", until=until, holder=self.holder, at=now)

    def _rest(self) -> Millis:
        return int(min(PAUSE_MS * 2 ** min(self._failures - 1, 10), LONGEST_REST_MS))

    async def _renew(self, leases: list[Job]) -> None:
        async with self.store.writing() as transaction:
            now = self.clock()
            renewed = {job: self._lease(job, now) for job in _held(transaction.view, leases)}
            await transaction.commit(Batch(jobs=tuple(renewed.values())))
        leases[:] = [renewed.get(job, job) for job in leases]

    async def _give_back(self, leases: Sequence[Job], error: EngineError) -> None:
        self._why = str(error) if self._rests_until < FOREVER else f"{error}; it tries again after the next start"
        _log.warning("Claude reads no texts for now: %s.", self._why)
        await self._record(leases, _free_again)

    async def _record(
        self, leases: Sequence[Job], then: Callable[[Job, Millis], Job], found: Sequence[Assertion] = ()
    ) -> None:
        """Commit what became of the texts that are still ours, and what they assert."""
        async with self.store.writing() as transaction:
            now = self.clock()
            ours = {job.turn_id: then(job, now) for job in _held(transaction.view, leases)}
            said = tuple(replace(one, recorded_at=now) for one in found if one.turn_id in ours)
            await transaction.commit(Batch(assertions=said, jobs=tuple(ours.values())))


def _tomorrow(now: Millis) -> Millis:
    return (day_of(now) + 1) * DAY_MS


def _held(view: View, leases: Iterable[Job]) -> Iterator[Job]:
    """Yield the leases that nobody has taken over."""
    return (job for job in leases if view.space(job.space).jobs.get(job.turn_id) == job)


def _free_again(job: Job, now: Millis) -> Job:
    return replace(job, state="waiting", until=0, holder="", at=now)


def _failed(job: Job, now: Millis) -> Job:
    tries = job.tries + 1
    if tries >= TRIES:
        return replace(job, state="failed", tries=tries, until=0, holder="", at=now)
    until = now + PAUSE_MS * GROWTH ** (tries - 1)
    return replace(job, state="waiting", tries=tries, until=until, holder="", at=now)


def _read_on(job: Job, total: int, now: Millis) -> Job:
    """Return a text's job after one more part of so many was read."""
    read = min(job.parts + 1, total)
    state = replace(job, state="waiting", parts=read, tries=0, until=0, holder="", at=now)
    return state if read < total else replace(state, state="done")


TURNS = 12
"""Texts that are read at once, at most."""


ROOM = 3_000
"""Bytes of text that are read at once, about 1,000 tokens; also of a part of a long text, unless one sentence is more.
Stored with each text is how many parts of it are read, so this number stays."""


BEFORE = 3
"""Sentences before those that are read, which help to understand them."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """What is read in one step.

    Attributes:
        space: of the texts.
        turns: texts of one session, in its order.
        partners: whom each of them is said to.
        before: the texts before them, in order, likewise with partners; of a document none.
        jobs: how far each text is read, by its id.
    """

    space: str
    turns: tuple[Turn, ...]
    partners: tuple[str | None, ...]
    before: tuple[tuple[Turn, str | None], ...]
    jobs: dict[str, Job]


def texts_read(view: View) -> TextsRead:
    """Return how many texts of all spaces wait, are read, and were given up; old revisions of documents are none."""
    states = [
        job.state if (job := space.jobs.get(turn.id)) else "waiting"
        for space in view.spaces.values()
        for turn in space.turns.values()
        if _to_be_read(space, turn)
    ]
    done, failed = states.count("done"), states.count("failed")
    return TextsRead(len(states) - done - failed, done, failed)


def parts(text: str, sentences: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the parts in which a text is read, as the first of their sentences and the first after them."""
    found: list[tuple[int, int]] = []
    first = size = 0
    for index, (start, end) in enumerate(sentences):
        more = len(text[start:end].encode("utf-8", "surrogatepass"))
        if index > first and size + more > ROOM:
            found.append((first, index))
            first = index
            size = 0
        size += more
    return [*found, (first, len(sentences))] if sentences else []


def cut(chosen: Chosen) -> tuple[list[Excerpt], list[Excerpt], dict[str, int]]:
    """Return the sentences that are to be read, those before them, and how many parts each text has. Blocking."""
    excerpts: list[Excerpt] = []
    totals: dict[str, int] = {}
    for turn, partner in zip(chosen.turns, chosen.partners, strict=True):
        sentences = split(turn.text)
        pieces, read = parts(turn.text, sentences), chosen.jobs[turn.id].parts
        totals[turn.id] = len(pieces)
        if read < len(pieces):
            excerpts.append(Excerpt(turn, partner, sentences, *pieces[read]))
    if excerpts and excerpts[0].first > 0:
        first = excerpts[0]
        return excerpts, [replace(first, first=max(0, first.first - BEFORE), last=first.first)], totals
    spans = ((turn, partner, split(turn.text)) for turn, partner in chosen.before)
    return excerpts, last([Excerpt(turn, partner, found, 0, len(found)) for turn, partner, found in spans]), totals


def last(excerpts: Iterable[Excerpt]) -> list[Excerpt]:
    """Return the last `BEFORE` sentences."""
    kept: list[Excerpt] = []
    left = BEFORE
    for excerpt in reversed(list(excerpts)):
        first = max(excerpt.first, excerpt.last - left)
        left -= excerpt.last - first
        if first < excerpt.last:
            kept.insert(0, replace(excerpt, first=first))
    return kept


def halves(excerpts: Iterable[Excerpt], count: int) -> tuple[list[Excerpt], list[Excerpt]]:
    """Return the first ``count`` sentences, and the others."""
    first: list[Excerpt] = []
    second: list[Excerpt] = []
    for excerpt in excerpts:
        middle = min(excerpt.last, excerpt.first + max(0, count))
        count -= excerpt.last - excerpt.first
        first += [replace(excerpt, last=middle)] if excerpt.first < middle else []
        second += [replace(excerpt, first=middle)] if middle < excerpt.last else []
    return first, second


def _is_settled(space: Space, turn: Turn) -> bool:
    """Return whether a text will never be read again, or never at all."""
    job = space.jobs.get(turn.id)
    return bool(job and job.state in ("done", "failed")) or not _to_be_read(space, turn)


def _free(space: Space, turn: Turn, now: Millis) -> bool:
    job = space.jobs.get(turn.id)
    return (job is None or job.free(now)) and _to_be_read(space, turn)


def _to_be_read(space: Space, turn: Turn) -> bool:
    if turn.kind == "message":
        return True
    return turn.kind == "document" and space.current(turn.session, turn.ref) is turn


def _mixes(space: Space, turn: Turn) -> bool:
    """Return whether a text is read together with others."""
    job = space.jobs.get(turn.id)
    return _bytes(turn) <= ROOM and not (job and job.tries)


def _bytes(turn: Turn) -> int:
    return len(turn.text.encode("utf-8", "surrogatepass"))


def _with_partners(space: Space, turns: Sequence[Turn], now: Millis) -> Chosen:
    """Return texts with whom each is said to, and those before them."""
    talkers, wanted = Talkers(), {turn.id for turn in turns}
    seen: list[tuple[Turn, str | None]] = []
    partners: list[str | None] = []
    for turn in (space.turns[name] for name in space.sessions[turns[0].session]):
        if turn.id in wanted:
            partners.append(talkers.partner(turn))
        elif not partners and turn.kind == "message":
            seen.append((turn, talkers.partner(turn)))
        talkers = talkers.after(turn)
        if len(partners) == len(turns):
            break
    before = seen[-BEFORE:] if turns[0].kind == "message" else ()
    unread = {turn.id: Job(space.name, turn.id, "waiting", 0, 0, 0, "", now) for turn in turns}
    jobs = {name: space.jobs.get(name, job) for name, job in unread.items()}
    return Chosen(space.name, tuple(turns), tuple(partners), tuple(before), jobs)
