"""Where the texts that were found lead on to: what the loop follows.

**Pointers** are names and things ("the old mill") in the texts just found that few other texts have, and so lead on to
those. What two texts name leads from one to the other, and a chain of such texts is as reliable at its end as at its
beginning (Lemma C.9). Two things make a pointer less reliable:

* more texts name it: it leads to each of them, and so less surely to any;
* its text has other pointers that are as good: the strength is divided by the square root of their number.

What leads back to segments that are as strong already, or to words of the query, is no pointer.

**The policy** (`select_calls`): which operators the loop calls next, without a model that chooses (f_select; eq. 10,
DESIGN 3.4). A question for a time, or with a date, has the best segments placed on the timeline (the paper's
``query_conversation_time``); the times are shown with the evidence. Where nothing covers most of a question's content
words, only names lead anywhere, from text to text: the pointers of what the last turn brought are followed.
**Departures.** The paper's model may choose any operator in each turn. Measured on dialogues and on questions of
several hops to documents, operator by operator, the others add nothing to the ranking of the search, so they are not
called here; ``memory_explore`` offers them all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from mcp_memory.language.iso import WEEKDAYS
from mcp_memory.language.tokens import STOP_WORDS, names, words
from mcp_memory.reconstruct.graph import CueGraph, query_cues
from mcp_memory.reconstruct.loop import Action, LoopState
from mcp_memory.view.space import Space

HUB = 3
"""Fewer other texts than this may have a pointer: what more texts have says too little."""
SENTENCES = 30
"""Sentences that may have it; a text may have several."""
MOST = 10
"""Pointers of one turn of the loop."""
_WEEKDAYS = frozenset(map(str.lower, WEEKDAYS))
_THING = re.compile(r"\bthe (\w[\w'-]* \w[\w'-]*)", re.IGNORECASE)


def find_pointers(state: LoopState) -> list[tuple[str, float]]:
    """Return the pointers in the texts that the last turn brought, strongest first, each with its strength.

    A name within a longer one is found too, as the cue graph knows it.
    """
    space, graph = state.space, CueGraph.of(state.space)
    query_words = {word for cue in query_cues(state.query.text) for word in cue.key.split()}
    strengths: dict[int, float] = {}  # by sentence
    for segment, strength in state.found.items():
        for row in space.sentences_within(space.segments[segment]):
            strengths[row] = max(strength, strengths.get(row, 0.0))
    best: dict[str, float] = {}
    for segment in state.frontier:
        strength = state.found[segment]
        shares: dict[str, float] = {}
        for row in space.sentences_within(space.segments[segment]):
            for name, others in _pointers(space, graph, row, query_words):
                if any(max(strengths.get(at, 0.0) for at in rows) < strength for rows in others):
                    shares[name] = max(1 / len(others), shares.get(name, 0.0))
        forks = max(1.0, sum(shares.values())) ** 0.5
        for name, share in shares.items():
            best[name] = max(best.get(name, 0.0), strength * share / forks)
    return sorted(best.items(), key=lambda one: -one[1])[:MOST]


def _pointers(space: Space, graph: CueGraph, row: int, query_words: set[str]) -> Iterator[tuple[str, list[list[int]]]]:
    """Yield the names and things of a sentence that other texts have, with the rows of their sentences, text by text.

    Left out are those whose words are all in the query, and dates.
    """
    sentence, text = space.sentences[row], space.text(space.sentences[row])
    stated = (text[time.start - sentence.start : time.end - sentence.start] for time in sentence.times)
    dates = {*_WEEKDAYS, *(word for time in stated for word in words(time))}
    things = (thing for thing in _THING.findall(text) if STOP_WORDS.isdisjoint(words(thing)))
    for name in dict.fromkeys((*names(text), *things)):
        cues = [cue for cue, _ in graph.find(name)]
        if not cues or query_words.issuperset(graph.key(cues[0]).split()) or dates.issuperset(words(name)):
            continue
        rows = [at for cue in cues for at in graph.rows(cue)[: SENTENCES + 1]]
        others: dict[str, list[int]] = {}
        for at in rows:
            if (turn := space.sentences[at].turn_id) != sentence.turn_id:
                others.setdefault(turn, []).append(at)
        if 0 < len(others) < HUB and len(rows) <= SENTENCES:
            yield name, list(others.values())


BEST = 3
"""Segments that are placed on the timeline."""
LOST = 0.5
"""Share of a question's content words, names aside, that no candidate covers: from here on pointers are followed."""
WORTH: Mapping[str, float] = {"tag_events": 2.0}
"""What a segment gains that an operator found, as a share of the best score, for each unit of strength."""


def select_calls(state: LoopState, *, tags: bool) -> list[Action]:
    """Return the calls for a state of the loop, strongest first; none where none leads anywhere.

    Args:
        state: the state of the loop.
        tags: whether cues may be followed.
    """
    query = state.query
    if query.answer_type in ("when", "how_long") or (query.time is not None and query.time.dated):
        best = state.strongest(BEST)
        ids = tuple(state.space.segments[row].id for row in best)
        return [Action("event_time", {"ids": ids}, state.found[best[0]])] if best else []
    if tags and state.uncovered >= LOST:
        return [Action("tag_events", {"entity": name}, strength) for name, strength in find_pointers(state)]
    return []
