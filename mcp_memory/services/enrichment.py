"""Enrichment: extract facts from stored texts with a language model, between calls (DESIGN L1).

One step reads the newest text that is not read yet, with the unread texts right before it in its session, as many as
one request takes; a long text is read in parts. What the model finds is recorded in one transaction with how far each
text is read, and stays in the log. One process on a store reads at a time, by a lease, so no two pay for the same text.
Facts that a caller stated and old revisions of documents are not read.

A text whose reply cannot be used is tried again alone, and given up after `MOST_TRIES`. After any failure this process
rests: until the next day if the day's budget is spent, for good if the key is refused, else for a while.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from anyio import to_thread

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.language_model import Job, day_number
from mcp_memory.domain.status import TextsRead
from mcp_memory.domain.times import DAY, FOREVER, Millis
from mcp_memory.domain.turns import Excerpt, Turn
from mcp_memory.errors import EngineError, EngineRefused, EngineSpent
from mcp_memory.language.segments import split
from mcp_memory.ports import Store, TextReader
from mcp_memory.services.indexing import talkers_before
from mcp_memory.view.space import Space, View

STEP_BYTES = 3_000
"""Bytes of text that one step reads, about 1,000 tokens; also the size of a part of a long text, unless one sentence is
longer. The number of parts read is stored with each text, so this number must not change."""
CONTEXT_SENTENCES = 3
"""Sentences before those to be read that are sent along as context, of the same text or the message before it."""
STEP_TURNS = 12
"""Texts that one step reads at most."""
MOST_TRIES = 5
"""Failures in a row after which a text is given up."""
PAUSE_MS: Millis = 60_000
"""Rest after a failure, and after a look at which another process was reading."""
BUDGET_SHARE = 0.5
"""Share of a day's budget from which on no text is read: the rest is for questions, which somebody waits for."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TextsToRead:
    """The texts that one step reads.

    Attributes:
        turns: texts of one session, in its order.
        before: the message before them, if there is one.
        partners: the addressee of each of them, by its id.
        jobs: how far each text is read, in their order.
    """

    turns: Sequence[Turn]
    before: Turn | None
    partners: dict[str, str | None]
    jobs: Sequence[Job]

    def excerpts(self) -> tuple[list[Excerpt], list[Excerpt], list[int]]:
        """Return the sentences to be read, those before them, and how many parts each text has. Blocking."""
        read: list[Excerpt] = []
        totals: list[int] = []
        for turn, job in zip(self.turns, self.jobs, strict=True):
            sentences = split(turn.text)
            parts = _parts(turn.text, sentences)
            totals.append(len(parts))
            read += [
                Excerpt(turn, self.partners[turn.id], sentences, *part) for part in parts[job.parts : job.parts + 1]
            ]
        before: list[Excerpt] = []
        if read and read[0].first > 0:
            before = [replace(read[0], first=max(0, read[0].first - CONTEXT_SENTENCES), stop=read[0].first)]
        elif self.before is not None:
            sentences = split(self.before.text)
            stop = len(sentences)
            before = [
                Excerpt(self.before, self.partners[self.before.id], sentences, max(0, stop - CONTEXT_SENTENCES), stop)
            ]
        return read, before, totals


@dataclass
class Enrichment:
    """Reads, step by step, the texts that no process has read.

    A day may cost so many tokens, over all processes; 0 for no bound.
    """

    store: Store
    reader: TextReader
    clock: Callable[[], Millis]
    day_tokens: int = 0
    _rests_until: Millis = field(default=0, init=False)
    _why: str = field(default="", init=False)

    @property
    def resting(self) -> str:
        """Why nothing is read for now, in words; empty if reading starts as soon as no call is running."""
        return self._why if self.clock() < self._rests_until else ""

    async def step(self) -> bool:
        """Read some texts, if there are any and the model can be asked; return whether more can be read now.

        Raises:
            StoreError: the result could not be recorded.
        """
        if not self.reader.ready or self.clock() < self._rests_until:
            return False
        async with self.store.lease("enrich") as ours:
            if not ours:
                return self._rest(self.clock() + PAUSE_MS, "")
            async with self.store.reading(whole=False) as view:
                unread, now = next_unread(view, self.clock()), self.clock()
                spent = view.spent(day_number(now)).input_tokens
            if unread is None:
                return False
            if self.day_tokens and spent >= self.day_tokens * BUDGET_SHARE:
                return self._rest(_tomorrow(now), "the rest of the day's budget is left to questions")
            return await self._read(unread)

    async def _read(self, unread: TextsToRead) -> bool:
        excerpts, before, totals = await to_thread.run_sync(unread.excerpts)
        try:
            assertions = await self.reader.read(excerpts, before) if excerpts else []
        except EngineSpent as error:
            return self._rest(_tomorrow(self.clock()), str(error))
        except EngineRefused as error:
            return self._rest(FOREVER, f"{error}; it tries again after the next start")
        except EngineError as error:
            if type(error) is EngineError:  # else the service cannot be reached, which is no fault of a text
                await self._record(Batch(jobs=tuple(map(_failed, unread.jobs))))
            return self._rest(self.clock() + PAUSE_MS, str(error))
        jobs = map(_part_read, unread.jobs, totals)
        await self._record(Batch(assertions=tuple(assertions), jobs=tuple(jobs)))
        return True

    def _rest(self, until: Millis, why: str) -> bool:
        self._rests_until, self._why = until, why
        if why:
            _log.warning("Claude reads no texts for now: %s.", why)
        return False

    async def _record(self, batch: Batch) -> None:
        """Commit what was read, and how far each text is read now."""
        async with self.store.writing() as transaction:
            now = self.clock()
            assertions = tuple(replace(one, recorded_at=now) for one in batch.assertions)
            jobs = tuple(replace(job, at=now) for job in batch.jobs)
            await transaction.commit(replace(batch, assertions=assertions, jobs=jobs))


def next_unread(view: View, now: Millis) -> TextsToRead | None:
    """Return the texts to read next: the newest unread text, and unread texts right before it; None for none.

    A text that has failed before, or is longer than `STEP_BYTES`, is read alone.
    """
    newest = [(turn.written_at, space.name, turn) for space in view.spaces.values() if (turn := _newest(space))]
    if not newest:
        return None
    _, name, last = max(newest, key=lambda found: found[0])
    space = view.space(name)
    turns, before = [last], None
    room = STEP_BYTES - _size(last) if _read_with_others(space, last) else 0
    order = space.sessions[last.session]
    for place in range(order.index(last.id) - 1, -1, -1):
        turn = space.turns[order[place]]
        if turn.kind == "statement":
            continue
        room -= _size(turn)
        fits = room >= 0 and len(turns) < STEP_TURNS and _read_with_others(space, turn)
        if not fits or not _is_unread(space, turn):
            before = turn if turn.kind == turns[0].kind == "message" else None
            break
        turns.insert(0, turn)
    shown = [*([before] if before else ()), *turns]
    talkers = talkers_before(space, shown)
    partners = {turn.id: talkers[turn.id].partner(turn) for turn in shown}
    jobs = [space.jobs.get(turn.id) or Job(space.name, turn.id, "waiting", 0, 0, 0, "", now) for turn in turns]
    return TextsToRead(turns, before, partners, jobs)


def texts_read(view: View) -> TextsRead:
    """Return how many texts of all spaces wait, are read, and were given up; old revisions do not count."""
    states = [
        job.state if (job := space.jobs.get(turn.id)) else "waiting"
        for space in view.spaces.values()
        for turn in space.turns.values()
        if _may_be_read(space, turn)
    ]
    done, failed = states.count("done"), states.count("failed")
    return TextsRead(len(states) - done - failed, done, failed)


def _newest(space: Space) -> Turn | None:
    names = reversed(list(space.turns))
    return next((turn for name in names if _is_unread(space, turn := space.turns[name])), None)


def _is_unread(space: Space, turn: Turn) -> bool:
    job = space.jobs.get(turn.id)
    return not (job and job.state in ("done", "failed")) and _may_be_read(space, turn)


def _may_be_read(space: Space, turn: Turn) -> bool:
    return turn.kind == "message" or (turn.kind == "document" and space.current(turn.session, turn.ref) is turn)


def _read_with_others(space: Space, turn: Turn) -> bool:
    job = space.jobs.get(turn.id)
    return _size(turn) <= STEP_BYTES and not (job and job.tries)


def _size(turn: Turn) -> int:
    return len(turn.text.encode("utf-8", "surrogatepass"))


def _parts(text: str, sentences: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the parts in which a text is read, each as its first sentence and the first sentence after it."""
    bounds: list[tuple[int, int]] = []
    first = size = 0
    for index, (start, end) in enumerate(sentences):
        length = len(text[start:end].encode("utf-8", "surrogatepass"))
        if index > first and size + length > STEP_BYTES:
            bounds.append((first, index))
            first = index
            size = 0
        size += length
    return [*bounds, (first, len(sentences))] if sentences else []


def _tomorrow(now: Millis) -> Millis:
    return (day_number(now) + 1) * DAY


def _failed(job: Job) -> Job:
    tries = job.tries + 1
    return replace(job, state="failed" if tries >= MOST_TRIES else "waiting", tries=tries, until=0, holder="")


def _part_read(job: Job, total: int) -> Job:
    """Return a text's job after one more of its ``total`` parts was read."""
    parts = min(job.parts + 1, total)
    return replace(job, state="waiting" if parts < total else "done", parts=parts, tries=0, until=0, holder="")
