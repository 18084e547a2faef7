"""What of a space is still to come: dates ahead, open plans without a date, and days that stand on every week.

A message is left out if it says itself that what it tells of will not take place, or if a later one says so, or that it
has happened since: "I'm going to buy a bike soon" and "I bought the bike". The later one must share most of what the
plan is of, by rarity, and say it as done; of a date that still lies ahead only a cancellation counts. A fact that was
planned and has been replaced or taken back (REAL §3.2) counts as well.

Source: MRAgent's operator for the time of an event (§3.1, Table 4). **Departures.** It looks for the time of one event;
here the events of a time are listed, and those whose time nobody said.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from mcp_memory.domain.query import Query, Window
from mcp_memory.domain.relations import verbs
from mcp_memory.domain.times import DAY, FOREVER
from mcp_memory.domain.turns import Sentence, Turn, by_assistant, by_user
from mcp_memory.language.expressions import MONTH_WORDS
from mcp_memory.language.forms import bases
from mcp_memory.language.iso import WEEKDAYS
from mcp_memory.language.plans import asks_ahead, called_off, open_plan, standing_day
from mcp_memory.language.tokens import STOP_WORDS, stems, words
from mcp_memory.search.exchanges import ExchangeIndex
from mcp_memory.search.windows import segments_telling_within, tells_of
from mcp_memory.search.words import WordIndex
from mcp_memory.vectors import Scores
from mcp_memory.view.space import Space

READ = 2_000
"""Newest messages of persons that are read for plans."""
MOST_PLANS, MOST_STANDING = 12, 6
"""Most of either that are listed, the newest."""
LATER = 12
"""Later messages that are read for what became of a plan, those that share its rarest word first."""
CANCELLED, DONE = 0.3, 0.6
"""Share of the words of a plan, by rarity, that a later sentence has which calls it off, or tells of it as done."""
STANDING, PLANNED, DATED = 0.1, 0.3, 0.5
"""The least scores of what is still to come: what stands on every week, plans without a date, and what has one."""
NEARLY_ALL = 0.8
"""The least share of the best score with which a unit bears on what is still to come without telling of that time."""
_LIGHT = STOP_WORDS | frozenset(
    """
    going go want wants need needs plan plans hope like love get getting have still soon one day some time next later
    eventually point really finally must should will spring summer autumn winter year new week month good lot bit way
    thing things think thinking start make take come comes today now every each weekly monthly fortnightly ought old
    """.split()  # noqa: SIM905 - a list of words is read as words
)
"""Words that say nothing of what a plan is of."""
_OPEN = frozenset(("not", "never", "yet", "should", "would", "want", "plan", "hope", "will", "if", "need", "going"))
"""Words of a sentence that tells of nothing as done."""


def time_ahead(query: Query) -> Window | None:
    """Return the time still to come that a question asks about: "next week", "What is coming up?"; None for others."""
    if asks_ahead(query.text):
        return Window(query.local_now // DAY * DAY, FOREVER)
    asked = query.time
    if asked is None or not asked.dated or asked.order == "before" or asked.since < query.local_now - DAY:
        return None
    return Window(asked.since, FOREVER if asked.order == "after" else asked.until)


def place_ahead(
    space: Space, query: Query, ahead: Window, scores: Scores, bears: float
) -> tuple[Scores, NDArray[np.bool_]]:
    """Return the scores of units and which bear on what is still to come: dates, then plans, then standing days.

    Where the question has a matter of its own ("for the boat"), plans and standing days must be near to it, and what is
    nearest to it bears on it whatever it tells of.
    """
    of = space.index(ExchangeIndex).of
    found = still_ahead(space, ahead, query.speakers)
    alone = asks_ahead(query.text)
    least = 0.0 if alone else bears / 2
    placed: Scores = scores * np.float32(0.1)
    bearing = np.zeros(len(scores), dtype=np.bool_) if alone else scores >= NEARLY_ALL
    bearing[of[found.off]] = False
    for rows, lowest in ((found.standing, STANDING), (found.plans, PLANNED), (found.dated, DATED)):
        units = of[rows]
        near = units[(scores[units] >= least) | (lowest == DATED)]
        placed[near] = np.float32(lowest) + scores[near] * np.float32(0.5 if lowest == DATED else 0.2)
        bearing[near] = True
    return placed, bearing


@dataclass
class Ahead:
    """Rows of the segments that tell of what is still to come.

    Attributes:
        dated: with a date within the time asked about.
        plans: without a date.
        standing: on every day, week or month.
        off: with a date, but called off.
    """

    dated: list[int] = field(default_factory=list)
    plans: list[int] = field(default_factory=list)
    standing: list[int] = field(default_factory=list)
    off: list[int] = field(default_factory=list)


def still_ahead(space: Space, window: Window, speakers: Collection[str] = ()) -> Ahead:
    """Return what is still to come of a space, each list newest first.

    Args:
        space: its view keeps a `TimeIndex` and a `WordIndex`.
        window: the time still to come; a date must lie within it.
        speakers: of whom plans are asked for, those who speak or are named; empty for anybody.
    """
    dated = segments_telling_within(space, window) & space.live
    persons = islice((row for row in range(len(space.segments) - 1, -1, -1) if _may_plan(space, row)), READ)
    fates, found = _Fates(space), Ahead()
    for row in np.flatnonzero(dated).tolist()[::-1]:
        (found.off if _is_off(space, row, window, fates) else found.dated).append(row)
    for row in persons:
        if dated[row] or not _is_of(space.segment_turn[row], speakers):
            continue
        for sentence in _sentences(space, row):
            text = space.text(sentence)
            plan, standing = open_plan(text), standing_day(text)
            if not (plan or standing) or called_off(text) or fates.settled(row, text, standing=not plan):
                continue
            listed, most = (found.plans, MOST_PLANS) if plan else (found.standing, MOST_STANDING)
            if len(listed) < most:
                listed.append(row)
            break
    return found


def _may_plan(space: Space, row: int) -> bool:
    turn = space.segment_turn[row]
    return bool(space.live[row]) and turn.kind == "message" and not by_assistant(turn)


def _is_of(turn: Turn, speakers: Collection[str]) -> bool:
    if not speakers or turn.speaker in speakers or by_user(turn):
        return True
    return any(name in turn.text for name in speakers)


def _sentences(space: Space, row: int) -> list[Sentence]:
    return [space.sentences[place] for place in space.sentences_within(space.segments[row])]


def _is_off(space: Space, row: int, window: Window, fates: _Fates) -> bool:
    """Return whether everything that a segment dates within a window was called off, or replaced by another date."""
    dates = [
        one for one in _sentences(space, row) if any(tells_of(window, time.since, time.until) for time in one.times)
    ]
    return bool(dates) and all(
        called_off(space.text(one)) or fates.settled(row, space.text(one), dated=True) or _replaced(space, one)
        for one in dates
    )


def _replaced(space: Space, sentence: Sentence) -> bool:
    """Return whether the facts know that what a sentence announces was taken back or given another date."""
    stated = [
        version
        for one in space.facts.assertions_in(sentence.turn_id)
        if sentence.start <= one.start < sentence.end and (version := space.facts.version_of(one)) is not None
    ]
    planned = [version for version in stated if version.kind == "planned"]
    return bool(planned) and all(one.since == one.until or one.superseded_by is not None for one in planned)


class _Fates:
    """What became of plans, by what was said later."""

    def __init__(self, space: Space) -> None:
        self._space, self._index = space, space.index(WordIndex)

    def settled(self, row: int, plan: str, *, dated: bool = False, standing: bool = False) -> bool:
        """Return whether a later message calls a plan off, or, if its time is not ahead, tells of it as done."""
        told = {word: bases(word) for word in dict.fromkeys(words(plan)) if word not in _LIGHT and not word.isdecimal()}
        names = {word for word in told if word in MONTH_WORDS or word in WEEKDAYS or word.rstrip("s") in WEEKDAYS}
        if not told.keys() - names:
            return False
        weight = {word: min(map(self._index.rarity, {*forms, *stems(word)})) for word, forms in told.items()}
        whole = sum(weight[word] for word in told if word not in names) or 1.0
        for text in self._later(row, told.keys() - names):
            said = words(text)
            matched: dict[str, str] = {}
            for other in said:
                forms = bases(other)
                matched |= {word: other for word in told.keys() - names if not told[word].isdisjoint(forms)}
            share = sum(weight[word] for word in matched) / whole
            if called_off(text, for_good=standing) and share >= CANCELLED:
                return True
            if not dated and not standing and share >= DONE and _done(said, matched, many=len(told) - len(names) > 1):
                return True
        return False

    def _later(self, row: int, told: Collection[str]) -> Iterator[str]:
        """Yield the sentences of later messages that share a word with a plan, the newest of the rarest word first."""
        space, turn = self._space, self._space.segment_turn[row]
        rows = np.flatnonzero(space.live & (space.times >= turn.time))
        seen = {row}
        for word in sorted(told, key=lambda word: -self._index.rarity(word)):
            for later in rows[self._with(rows, word)].tolist()[::-1]:
                other = space.segment_turn[later]
                if later in seen or by_assistant(other) or (other.time, later) <= (turn.time, row) or len(seen) > LATER:
                    continue
                seen.add(later)
                yield from (space.text(one) for one in _sentences(space, later) if not space.text(one).endswith("?"))

    def _with(self, rows: NDArray[np.intp], word: str) -> NDArray[np.bool_]:
        found: NDArray[np.bool_] = np.logical_or.reduce(
            [self._index.contains(rows, form) for form in sorted({*bases(word), *stems(word)})]
        )
        return found


def _done(said: Sequence[str], matched: dict[str, str], *, many: bool) -> bool:
    """Return whether a sentence tells of a plan as done: it has one of its verbs in a past form, and another word."""
    if not _OPEN.isdisjoint(said) or (many and len(matched) < 2):
        return False
    return any((_is_past(other) and other != word) or other.endswith("ed") for word, other in matched.items())


def _is_past(word: str) -> bool:
    return word.endswith("ed") or any(word in pasts for _, *pasts in verbs().irregular)
