"""What leads on from the texts that a walk has come to: names and things that few other texts have.

What two texts name leads from the one to the other as surely as a pointer, and a chain of such texts is as sure at its
end as at its beginning (Lemma C.9). Three things make a pointer less sure:

* more texts name it: it leads to each of them, and so less surely to any;
* the text has other pointers that are as good: the way forks, and strength spreads like a wave, by the square root;
* it is a way to put things. What is written like a name refers to something. A thing with an article, "the old mill",
  does so mostly, but where its two texts have more of their wording in common, "the clerk stamped", it is part of that
  wording. This only tells pointers of one text apart: where there is no better one, it is followed all the same.

What leads back to where the walk is as sure already, or to what the question says, is no pointer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from mcp_memory.language.gregorian import WEEKDAYS
from mcp_memory.language.names import names
from mcp_memory.language.tokens import STOP_WORDS, words
from mcp_memory.reconstruct.cues import asked_cues
from mcp_memory.reconstruct.graph import CueGraph
from mcp_memory.reconstruct.state import State
from mcp_memory.view.space import Space

HUB = 3
"""Texts that may say what leads on from one of them: what more of them say tells too little."""
SENTENCES = 30
"""Sentences likewise, of which a text may have several."""
MOST = 10
"""Pointers of one turn of the walk."""
_WEEKDAYS = frozenset(map(str.lower, WEEKDAYS))
_THING = re.compile(r"\bthe (\w[\w'-]* \w[\w'-]*)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Pointer:
    """A name or thing of a sentence that other texts have too.

    Attributes:
        name: as it is written.
        others: the rows of the sentences that have it, by the turns of these texts.
        distinct: how little else its texts have in common, in (0, 1]; 1 for a name.
    """

    name: str
    others: Mapping[str, tuple[int, ...]]
    distinct: float

    @property
    def share(self) -> float:
        """What it passes on to each of the texts, in (0, 1]."""
        return self.distinct / len(self.others)


def pointers(state: State) -> list[tuple[str, float]]:
    """Return what leads on from the texts that the last turn brought, strongest first, each with its strength.

    A name within a longer one is found as well, as the cue graph knows it.
    """
    space, graph = state.asked.space, CueGraph.of(state.asked.space)
    known = {word for cue in asked_cues(state.asked.question.text) for word in cue.key.split()}
    sure: dict[int, float] = {}
    for held in state.held.values():
        for row in space.sentences_within(space.segments[held.row]):
            sure[row] = max(held.strength, sure.get(row, 0.0))
    best: dict[str, float] = {}
    for held in state.active:
        found: dict[str, Pointer] = {}
        for row in space.sentences_within(space.segments[held.row]):
            for one in _pointers(space, graph, row, known):
                fresh = any(max(sure.get(at, 0.0) for at in rows) < held.strength for rows in one.others.values())
                if fresh and (one.name not in found or found[one.name].share < one.share):
                    found[one.name] = one
        most = max((one.distinct for one in found.values()), default=1.0)
        shares = {name: one.share / most for name, one in found.items()}
        forks = max(1.0, sum(shares.values())) ** 0.5
        for name, share in shares.items():
            best[name] = max(best.get(name, 0.0), held.strength * share / forks)
    return sorted(best.items(), key=lambda one: -one[1])[:MOST]


def _pointers(space: Space, graph: CueGraph, row: int, known: set[str]) -> Iterator[Pointer]:
    """Yield the pointers of a sentence, but those of which the question says all words; a date or weekday is none."""
    piece, text = space.sentences[row], space.text(space.sentences[row])
    stated = (text[time.start - piece.start : time.end - piece.start] for time in piece.times)
    dates = {*_WEEKDAYS, *(word for time in stated for word in words(time))}
    named = names(text)
    things = (thing for thing in _THING.findall(text) if STOP_WORDS.isdisjoint(words(thing)))
    for name in dict.fromkeys((*named, *things)):
        cues = [cue for cue, _ in graph.find(name)]
        if not cues or known.issuperset(graph.key(cues[0]).split()) or dates.issuperset(words(name)):
            continue
        rows = [at for cue in cues for at in graph.rows(cue)[: SENTENCES + 1]]
        others: dict[str, tuple[int, ...]] = {}
        for at in rows:
            if (turn := space.sentences[at].turn_id) != piece.turn_id:
                others[turn] = (*others.get(turn, ()), at)
        if 0 < len(others) < HUB and len(rows) <= SENTENCES:
            distinct = 1.0 if name in named else _distinct(space, graph, row, others, cues[0])
            yield Pointer(name, others, distinct)


def _distinct(space: Space, graph: CueGraph, row: int, others: Mapping[str, tuple[int, ...]], cue: int) -> float:
    """Return how little a text has in common with others, but for a cue: in (0, 1], 1 for nothing."""
    own = _wording(space, graph, row, cue)
    common = (max(len(own & _wording(space, graph, at, cue)) for at in rows) for rows in others.values())
    return sum(1 / (1 + count) for count in common) / len(others)


def _wording(space: Space, graph: CueGraph, row: int, cue: int) -> set[int]:
    """Return the words of a sentence, and of those around it in its segments, that are in no name, and not of a cue."""
    sentence, apart = space.sentences[row], set(graph.key(cue).split())
    near = space.segments_with(sentence.turn_id, sentence.index)
    rows = {one for segment in near for one in space.sentences_within(space.segments[segment])}
    plain = {one for at in rows for one in set(graph.cues(at)) - graph.names(at)}
    return {one for one in plain if " " not in graph.key(one) and graph.key(one) not in apart}
