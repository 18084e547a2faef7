"""Pointers: names and things in the texts just found that few other texts have, and so lead on to those.

What two texts name leads from one to the other, and a chain of such texts is as reliable at its end as at its beginning
(Lemma C.9). Three things make a pointer less reliable:

* more texts name it: it leads to each of them, and so less surely to any;
* its text has other pointers that are as good: the strength is divided by the square root of their number;
* it may be a stock phrase. Capitalised names always count as references. A thing with an article, "the old
  mill", mostly does so too, but where its two texts share more of their wording, "the clerk stamped", it is part of
  that wording. This only separates pointers of one text: where there is no better one, it is followed all the same.

What leads back to segments that are as strong already, or to words of the query, is no pointer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from mcp_memory.language.iso import WEEKDAYS
from mcp_memory.language.names import names
from mcp_memory.language.tokens import STOP_WORDS, words
from mcp_memory.reconstruct.graph import CueGraph, query_cues
from mcp_memory.reconstruct.loop import LoopState
from mcp_memory.view.space import Space

HUB = 3
"""Fewer other texts than this may have a pointer: what more texts have says too little."""
SENTENCES = 30
"""Sentences that may have it; a text may have several."""
MOST = 10
"""Pointers of one turn of the loop."""
_WEEKDAYS = frozenset(map(str.lower, WEEKDAYS))
_THING = re.compile(r"\bthe (\w[\w'-]* \w[\w'-]*)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Pointer:
    """A name or thing in a sentence that other texts have too.

    Attributes:
        name: as it is written.
        others: the rows of the sentences that have it, by the turns of those texts.
        distinct: how little other wording its texts share, in (0, 1]; 1 for a name.
    """

    name: str
    others: Mapping[str, tuple[int, ...]]
    distinct: float

    @property
    def share(self) -> float:
        """The share of strength that it passes on to each of the texts, in (0, 1]."""
        return self.distinct / len(self.others)


def find_pointers(state: LoopState) -> list[tuple[str, float]]:
    """Return the pointers in the texts that the last turn brought, strongest first, each with its strength.

    A name within a longer one is found too, as the cue graph knows it.
    """
    space, graph = state.space, CueGraph.of(state.space)
    query_words = {word for cue in query_cues(state.query.text) for word in cue.key.split()}
    strengths: dict[int, float] = {}  # by sentence
    for item in state.found.values():
        for row in space.sentences_within(space.segments[item.row]):
            strengths[row] = max(item.strength, strengths.get(row, 0.0))
    best: dict[str, float] = {}
    for item in state.frontier:
        pointers: dict[str, Pointer] = {}
        for row in space.sentences_within(space.segments[item.row]):
            for one in _pointers(space, graph, row, query_words):
                fresh = any(max(strengths.get(at, 0.0) for at in rows) < item.strength for rows in one.others.values())
                if fresh and (one.name not in pointers or pointers[one.name].share < one.share):
                    pointers[one.name] = one
        most = max((one.distinct for one in pointers.values()), default=1.0)
        shares = {name: one.share / most for name, one in pointers.items()}
        forks = max(1.0, sum(shares.values())) ** 0.5
        for name, share in shares.items():
            best[name] = max(best.get(name, 0.0), item.strength * share / forks)
    return sorted(best.items(), key=lambda one: -one[1])[:MOST]


def _pointers(space: Space, graph: CueGraph, row: int, query_words: set[str]) -> Iterator[Pointer]:
    """Yield the pointers of a sentence without those whose words are all in the query, and without dates."""
    sentence, text = space.sentences[row], space.text(space.sentences[row])
    stated = (text[time.start - sentence.start : time.end - sentence.start] for time in sentence.times)
    dates = {*_WEEKDAYS, *(word for time in stated for word in words(time))}
    named = names(text)
    things = (thing for thing in _THING.findall(text) if STOP_WORDS.isdisjoint(words(thing)))
    for name in dict.fromkeys((*named, *things)):
        cues = [cue for cue, _ in graph.find(name)]
        if not cues or query_words.issuperset(graph.key(cues[0]).split()) or dates.issuperset(words(name)):
            continue
        rows = [at for cue in cues for at in graph.rows(cue)[: SENTENCES + 1]]
        others: dict[str, tuple[int, ...]] = {}
        for at in rows:
            if (turn := space.sentences[at].turn_id) != sentence.turn_id:
                others[turn] = (*others.get(turn, ()), at)
        if 0 < len(others) < HUB and len(rows) <= SENTENCES:
            distinct = 1.0 if name in named else _distinct(space, graph, row, others, cues[0])
            yield Pointer(name, others, distinct)


def _distinct(space: Space, graph: CueGraph, row: int, others: Mapping[str, tuple[int, ...]], cue: int) -> float:
    """Return how little wording a text shares with others, apart from a cue: in (0, 1], 1 for none."""
    own = _wording(space, graph, row, cue)
    common = (max(len(own & _wording(space, graph, at, cue)) for at in rows) for rows in others.values())
    return sum(1 / (1 + count) for count in common) / len(others)


def _wording(space: Space, graph: CueGraph, row: int, cue: int) -> set[int]:
    """Return the words of a sentence's segments that are neither in a name nor in a cue."""
    sentence, cue_words = space.sentences[row], set(graph.key(cue).split())
    near = space.segments_with(sentence.turn_id, sentence.index)
    rows = {one for segment in near for one in space.sentences_within(space.segments[segment])}
    plain = {one for at in rows for one in set(graph.cues(at)) - graph.names(at)}
    return {one for one in plain if " " not in graph.key(one) and graph.key(one) not in cue_words}
