"""What a person said of the same thing at two places that do not fit: never done and done, a value and a later one.

Two ways, for texts of talk by one speaker that bear on a query (the words of it that are rarest count most):

- *denied*: a text that says "I've never …" (`language.changes.denials`) and the clause elsewhere that tells most of the
  same as done, from `ALIKE` of the denial's content on;
- *changed*: a value beside words of change, and an earlier one of the same kind (a share, a sum, a date, a number of
  the same things) with enough words around it in common (`SHARED`); or "moved from A to B" and an earlier text with A;
  or a value near the query's words and "make it 14 days", "it's the 20th now", "ok, 45 then" shortly after it in its
  session, by anybody.

It reads the texts that the recall shows, and of the others those that fit the query's words best (`READ`), so its cost
does not grow with the space beyond one search by words. It says "perhaps": the words are compared, not understood.

Source: REAL §3.2 (contradiction of facts). **Departures.** ``language/changes.py`` says why texts are compared.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from mcp_memory.domain.evidence import Contrast, Source
from mcp_memory.domain.query import Query
from mcp_memory.domain.turns import Turn, by_assistant
from mcp_memory.language.changes import (
    Denial,
    Substitution,
    Value,
    changed_values,
    deeds,
    denials,
    given_values,
    may_replace,
    replacements,
    restatements,
    values,
)
from mcp_memory.language.segments import without_code
from mcp_memory.language.stated import weekday_and_day
from mcp_memory.language.tokens import stems
from mcp_memory.search.windows import recallable
from mcp_memory.search.words import WordIndex
from mcp_memory.view.space import Space

READ = 40
"""Texts that are read beside those that are shown."""
ALIKE = 0.4
"""Share of a denial's content, by rarity, that a clause must contain to contradict it."""
BEARS = 0.5
"""Share of the query's content, or of its own, that a denial and the query must have in common."""
SHARED = 0.35
"""How much of the content around two values, by rarity, must be the same."""
SHARED_WIDELY = 0.35
"""The same of all that stands near them, where they are numbers of the same things."""
NEAR = 0.25
"""Share of the query's content that a changed value must have around it."""
FIRST = 3
"""Best of the shown texts after which a new value is looked for that does not name what it is of."""
FOLLOWING = 6
"""Messages after a statement in which "make it 14 days" may be told of it."""
MENTIONS = 6
"""Newest mentions of the matter after which it is looked for, too."""
SHOWN = 2
"""Most contrasts of either kind that a recall shows."""
CHARS = 150
"""Characters that are quoted."""


def find_contrasts(space: Space, query: Query, shown: Iterable[int]) -> tuple[Contrast, ...]:
    """Return the statements about what a query asks that perhaps contradict or replace each other.

    Args:
        space: its view keeps a `WordIndex`.
        query: understood.
        shown: rows of the segments that the recall shows, best first.
    """
    index = space.index(WordIndex)
    asked = index.rarities(query.stems)
    shown = [row for row in shown if space.talk[row]]
    if not asked or not shown:
        return ()
    names = frozenset(stem for name in (*query.names, *query.speakers) for stem in stems(name))
    reader = _Reader(space, index, asked, names, recallable(space, query.window, query.role))
    turns = _turns(space, [*shown, *reader.best(query.stems)])
    changed = reader.changed(turns)
    known = {one.one.turn.id for one in changed}
    restated = [one for one in reader.restated(shown[:FIRST]) if one.one.turn.id not in known]
    return (*reader.denied(turns), *changed, *restated[:SHOWN])


def contrast_in_words(contrast: Contrast) -> str:
    """Return both statements with who said them when."""
    one, other = (_said(source) for source in (contrast.one, contrast.other))
    if contrast.kind == "changed":
        return f"perhaps changed: {one}; later {other}"
    return f"perhaps contradictory: {one}; but {other}"


def _said(source: Source) -> str:
    turn = source.turn
    who = turn.speaker or turn.role
    return f"“{' '.join(source.quote.split())}” ({f'{who}, ' if who else ''}{weekday_and_day(turn.time)})"


def _turns(space: Space, rows: Iterable[int]) -> list[Turn]:
    """Return the messages of persons, each once, in the order of the rows."""
    found = {space.segment_turn[row].id: space.segment_turn[row] for row in rows}
    return [turn for turn in found.values() if turn.kind == "message" and not by_assistant(turn)]


class _Reader:
    """Compares texts for one query."""

    def __init__(
        self,
        space: Space,
        index: WordIndex,
        asked: dict[str, float],
        names: frozenset[str],
        open_: NDArray[np.bool_],
    ) -> None:
        """Begin with the rarity of the query's stems, those of its names, and which rows its window and role leave."""
        self._space, self._index, self._asked, self._names, self._open = space, index, asked, names, open_
        self._deeds: dict[str, list[tuple[int, int, int]]] = {}

    def best(self, asked: Iterable[str]) -> list[int]:
        """Return the rows of talk that fit some stems best."""
        scores = self._index.score(self._space, asked, talk=True, neighbours=False) * self._open
        many = min(READ, len(scores))
        best = np.argpartition(-scores, many - 1)[:many]
        return [int(row) for row in best[np.argsort(-scores[best], kind="stable")] if scores[row] > 0]

    def denied(self, turns: Sequence[Turn]) -> list[Contrast]:
        """Return denials that bear on the query, each with the clause that contradicts it most."""
        found: list[Contrast] = []
        told: set[frozenset[str]] = set()
        for turn in turns:
            for denial in denials(without_code(turn.text)):
                if len(found) == SHOWN or denial.about in told or not self._bears(denial):
                    continue
                best = self._contradiction(denial, turn, turns)
                if best is not None:
                    told.add(denial.about)
                    source = Source(turn, denial.start, min(denial.end, denial.start + CHARS))
                    found.append(Contrast("denied", source, best))
        return found

    def _bears(self, denial: Denial) -> bool:
        own = denial.about | {denial.verb}
        common = sum(self._asked.get(stem, 0.0) for stem in own)
        whole = sum(self._asked.values())
        return common >= BEARS * min(whole, sum(map(self._index.rarity, own)))

    def _contradiction(self, denial: Denial, turn: Turn, turns: Sequence[Turn]) -> Source | None:
        rarity = self._index.rarities(denial.about)
        whole = sum(rarity.values())
        best: tuple[float, Source] | None = None
        more = _turns(self._space, self.best([*denial.about, denial.verb]))
        for other in {one.id: one for one in (*turns, *more)}.values():
            if other.speaker != turn.speaker:
                continue
            for before, start, end in self._deeds_of(other):
                said = set(stems(other.text[before:end]))
                both = said & rarity.keys()
                share = sum(rarity[stem] for stem in both) / whole
                if share < ALIKE or len(both) < min(2, len(rarity)) or _overlap(other, start, end, turn, denial):
                    continue
                worth = share + (0.5 if denial.verb in said else 0.0)
                if best is None or worth > best[0]:
                    first = before if end - before <= CHARS else start
                    best = worth, Source(other, first, min(end, first + CHARS))
        return best[1] if best else None

    def _deeds_of(self, turn: Turn) -> list[tuple[int, int, int]]:
        """Return the clauses of a text that tell of deeds, read once for each query: nothing of a text outlives it."""
        if turn.id not in self._deeds:
            self._deeds[turn.id] = list(deeds(without_code(turn.text)))
        return self._deeds[turn.id]

    def changed(self, turns: Sequence[Turn]) -> list[Contrast]:
        """Return earlier statements with the later ones that perhaps replace them, the nearest to the query first."""
        found: list[tuple[float, Contrast]] = []
        for later in turns:
            text = without_code(later.text)
            values_now, replaced = list(changed_values(text)), list(replacements(text))
            if not values_now and not replaced:
                continue
            before = [one for one in turns if one.speaker == later.speaker and _earlier(one, later)]
            for value in values_now:
                near = (self._near(value.about | value.nouns) + self._near(value.wide | value.nouns)) / 2
                if near >= NEAR and (old := self._older_value(value, before)) is not None:
                    found.append((near, Contrast("changed", old, _around(later, value.start, value.end))))
            for one in replaced:
                near = self._near(one.about)
                if near and (old := _with_old(one, before)) is not None:
                    found.append((near, Contrast("changed", old, _around(later, one.start, one.end))))
        best = sorted(found, key=lambda one: -one[0])
        return list({(one.one.turn.id, one.one.start): one for _, one in reversed(best)}.values())[::-1][:SHOWN]

    def restated(self, rows: Sequence[int]) -> list[Contrast]:
        """Return statements about the query with what follows them and gives "it" another value, the best row first."""
        found: list[Contrast] = []
        for row in rows:
            turn, segment = self._space.segment_turn[row], self._space.segments[row]
            said = without_code(turn.text)[segment.start : segment.end]
            given = list(given_values(said))
            start, end = next(((a, b) for a, b, around in given if self._near(around) >= NEAR), (0, 0))
            if not end or by_assistant(turn):
                continue
            known = {said[a:b].casefold() for a, b, _ in given}
            start, end = segment.start + start, segment.start + end
            for later, replies in self._later_talk(row, frozenset(stems(turn.text[start:end]))):
                text = without_code(later.text)
                spans = (one for one in restatements(text, replies=replies) if _gives_other(text[slice(*one)], known))
                new = next((one for one in spans if may_replace(turn.text[start:], text[slice(*one)])), None)
                if new is not None:
                    found.append(Contrast("changed", _around(turn, start, end), Source(later, *new)))
                    break
        return found

    def _later_talk(self, row: int, value: frozenset[str]) -> Iterator[tuple[Turn, bool]]:
        """Yield the messages that follow one, then later mentions of the matter and what follows these, newest first.

        Each comes with whether it may reply to a question.

        The matter is the rarest word that the message shares with the query, a name only if need be, or all words of
        its value.
        """
        yield from self._following(row)
        turn = self._space.segment_turn[row]
        rows = np.flatnonzero(self._open)
        mentions = np.logical_and.reduce([self._index.contains(rows, stem) for stem in sorted(value)])
        shared = self._asked.keys() & set(stems(turn.text))
        shared = shared - self._names or shared
        if shared:
            mentions = mentions | self._index.contains(rows, max(shared, key=lambda stem: (self._asked[stem], stem)))
        for mention in rows[mentions].tolist()[: -MENTIONS - 1 : -1]:
            here = self._space.segment_turn[mention]
            if _earlier(turn, here) and here.kind == "message":
                if not by_assistant(here):
                    yield here, True
                yield from self._following(mention)

    def _following(self, row: int) -> Iterator[tuple[Turn, bool]]:
        """Yield the messages of persons that follow one in its session, at most `FOLLOWING`.

        Each comes with whether the message before it asks something.
        """
        turn, seen = self._space.segment_turn[row], {self._space.segment_turn[row].id}
        asks = turn.text.rstrip().endswith("?")
        for after in range(row + 1, min(row + 1 + 2 * FOLLOWING, len(self._space.segments))):
            later = self._space.segment_turn[after]
            if later.session != turn.session or len(seen) > FOLLOWING:
                return
            if later.id not in seen and self._open[after] and later.kind == "message":
                seen.add(later.id)
                if not by_assistant(later):
                    yield later, asks
                asks = later.text.rstrip().endswith("?")

    def _near(self, said: frozenset[str]) -> float:
        """Return the share of the query's content that is said."""
        return sum(rarity for stem, rarity in self._asked.items() if stem in said) / sum(self._asked.values())

    def _older_value(self, value: Value, turns: Sequence[Turn]) -> Source | None:
        """Return the earlier value that is most likely of the same thing; None if it was said before, too."""
        best: tuple[float, Source] | None = None
        for turn in turns:
            for old in values(without_code(turn.text), value.kind):
                if not self._same(old, value):
                    continue
                if old.amount == value.amount:
                    return None
                share = self._share(old.about | old.nouns, value.about | value.nouns)
                if best is None or share > best[0]:
                    best = share, _around(turn, old.start, old.end)
        return best[1] if best else None

    def _same(self, old: Value, new: Value) -> bool:
        """Return whether two values may be of the same thing."""
        if new.before and new.before not in (old.amount, new.amount) and old.amount != new.amount:
            return False
        alike = _same_things(old, new)
        if new.kind == "count" and not alike:
            return False
        if self._share(old.about | old.nouns, new.about | new.nouns) >= SHARED:
            return True
        return alike and self._share(old.wide, new.wide) >= SHARED_WIDELY

    def _share(self, one: frozenset[str], other: frozenset[str]) -> float:
        """Return how much of the content of two pieces of text is the same, by rarity, in [0, 1]."""
        whole = sum(map(self._index.rarity, one)) + sum(map(self._index.rarity, other))
        return 2 * sum(map(self._index.rarity, one & other)) / whole if len(one & other) > 1 else 0.0


def _gives_other(said: str, known: Collection[str]) -> bool:
    """Return whether words give a value that is not among the known ones, or none, as "a week later"."""
    given = [said[start:end].casefold() for start, end, _ in given_values(said)]
    return not given or any(value not in known for value in given)


def _same_things(old: Value, new: Value) -> bool:
    """Return whether two numbers count the same things."""
    if not new.nouns:
        return bool(old.nouns & new.about)
    return 2 * len(old.nouns & new.nouns) >= len(old.nouns | new.nouns)


def _earlier(one: Turn, other: Turn) -> bool:
    return (one.time, one.written_at, one.place) < (other.time, other.written_at, other.place)


def _overlap(other: Turn, start: int, end: int, turn: Turn, denial: Denial) -> bool:
    return other.id == turn.id and start < denial.end and denial.start < end


def _with_old(one: Substitution, turns: Sequence[Turn]) -> Source | None:
    for turn in turns:
        at = turn.text.find(one.old)
        if at >= 0:
            return _around(turn, at, at + len(one.old))
    return None


def _around(turn: Turn, start: int, end: int) -> Source:
    """Return the clause around a place, at most `CHARS` characters."""
    text, marks = turn.text, (". ", "? ", "! ", "\n", ", ")
    least, most = max(0, start - CHARS // 2), min(len(text), end + CHARS // 2)
    last = max(text.rfind(mark, least, start) for mark in marks)
    begin = last + 1 if last >= 0 else text.find(" ", least, start) + 1 if least else 0
    stop = min((at for mark in marks if (at := text.find(mark, end, most)) >= 0), default=-1)
    if stop < 0:
        stop = most if most == len(text) else max(text.rfind(" ", end, most), end)
    begin += len(text[begin:start]) - len(text[begin:start].lstrip())
    return Source(turn, begin, stop)
