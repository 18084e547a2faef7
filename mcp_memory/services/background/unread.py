"""What nobody has read for facts with a language model yet, what of it is read next, and how it is cut (DESIGN L1).

The newest comes first, then what stands before it in its session, as much as one call takes. A long text is read in
parts. How it is cut is arithmetic on its sentences that no setting changes, so that any process goes on where another
ended. Facts that a caller told by themselves and old revisions of documents are not read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice, takewhile

from mcp_memory.domain.jobs import Job
from mcp_memory.domain.status import TextsRead
from mcp_memory.domain.talkers import Talkers
from mcp_memory.domain.times import Millis
from mcp_memory.domain.turns import Turn
from mcp_memory.language.sentences import split
from mcp_memory.ports import Excerpt
from mcp_memory.view.space import Space
from mcp_memory.view.view import View

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
