"""Where the arguments of a call come from: the question, what is missing, what is held, and what that names.

Each source, by the name that the policy file calls it, gives the values that it has in a state of the walk, strongest
first, each with its strength; a call is made for every value. A source that has none gives no call.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from mcp_memory.domain.times import BEGINNING, FOREVER, Millis
from mcp_memory.language import iso
from mcp_memory.language.names import names
from mcp_memory.language.tokens import STOP_WORDS, words
from mcp_memory.reconstruct.assess import Assessment
from mcp_memory.reconstruct.cues import asked_cues
from mcp_memory.reconstruct.graph import CueGraph
from mcp_memory.reconstruct.state import Argument, State
from mcp_memory.reconstruct.topics import Topics
from mcp_memory.view.entities import EntityIndex

BEST = 3
"""Segments whose ids stand for the best, and for what is new."""
HUB = 3
"""Texts that may say what leads on from one of them: what more of them say tells too little."""
SENTENCES = 30
"""Sentences likewise, of which a text may have several."""
MOST = 10
"""Values of one source."""

_THING = re.compile(r"\bthe (\w[\w'-]* \w[\w'-]*)", re.IGNORECASE)
Values = Sequence[tuple[Argument, float]]
Source = Callable[[State, Assessment], Values]


def _question(state: State, _: Assessment) -> Values:
    return [(state.asked.question.text, 1.0)]


def _reason(_: State, assessment: Assessment) -> Values:
    return [(assessment.reason, 1.0)] if assessment.reason else []


def _missing(_: State, assessment: Assessment) -> Values:
    """What nothing covers, word by word."""
    return [(word, 1.0) for word in assessment.missing]


def _roots(state: State, _: Assessment) -> Values:
    return [(name, 1.0) for name in state.asked.roots]


def _best(state: State, _: Assessment) -> Values:
    """The ids of the best that is held, together."""
    best = state.best(BEST)
    return [(tuple(state.asked.space.segments[one.row].id for one in best), best[0].strength)] if best else []


def _new(state: State, _: Assessment) -> Values:
    """The ids of what the last turn brought, together."""
    active = state.active[:BEST]
    return [(tuple(state.asked.space.segments[one.row].id for one in active), active[0].strength)] if active else []


def _names(state: State, _: Assessment) -> Values:
    """What the newly found names and few other texts do: each leads to those others.

    What two texts name leads from the one to the other as surely as a pointer; the more name it, and the more other
    things the text names that lead on as well, the less sure it is. What the question says leads back.
    """
    space, index = state.asked.space, state.asked.space.index(EntityIndex)
    known = set(words(state.asked.question.text))

    def leading(sentence: int) -> Iterator[tuple[str, Sequence[int]]]:
        rare = [one for one in index.entities(sentence) if 1 < index.degree(one) <= SENTENCES]
        spelling = index.spelling(space, sentence) if rare else {}
        for one in rare:
            if not known.issuperset(index.key(one).split()):
                yield spelling.get(one, index.key(one)), index.sentences(one).tolist()

    return _pointers(state, leading)


def _cues(state: State, _: Assessment) -> Values:
    """The same for names and for things with an article, "the old mill", as the cue graph knows them.

    It also finds a name within a longer one. Without the article two words that stand together in two texts are mostly
    a way to put things, and lead astray.
    """
    space, graph = state.asked.space, CueGraph.of(state.asked.space)
    known = {word for cue in asked_cues(state.asked.question.text) for word in cue.key.split()}

    def leading(sentence: int) -> Iterator[tuple[str, Sequence[int]]]:
        piece, text = space.sentences[sentence], space.text(space.sentences[sentence])
        stated = (text[time.start - piece.start : time.end - piece.start] for time in piece.times)
        dates = {word for time in stated for word in words(time)}
        things = (thing for thing in _THING.findall(text) if STOP_WORDS.isdisjoint(words(thing)))
        for name in dict.fromkeys((*names(text), *things)):
            cues = [cue for cue, _ in graph.find(name)]
            if cues and not known.issuperset(graph.key(cues[0]).split()) and not dates.issuperset(words(name)):
                yield name, [row for cue in cues for row in graph.rows(cue)[: SENTENCES + 1]]

    return _pointers(state, leading)


def _pointers(state: State, leading: Callable[[int], Iterable[tuple[str, Sequence[int]]]]) -> Values:
    """Return what leads on from the texts that the last turn brought.

    Args:
        state: of the walk.
        leading: given a sentence's row, what it names and the rows of the sentences that name it too.
    """
    space = state.asked.space
    best: dict[str, float] = {}
    for held in state.active:
        found: dict[str, float] = {}
        for sentence in space.sentences_within(space.segments[held.row]):
            own = space.sentences[sentence].turn_id
            for name, rows in leading(sentence):
                others = {space.sentences[row].turn_id for row in rows} - {own}
                came = state.named.get(name.casefold(), 0.0) >= held.strength  # this way, or from something as strong
                if 0 < len(others) < HUB and len(rows) <= SENTENCES and not came:
                    found[name] = 1 / len(others)
        for name, share in found.items():
            best[name] = max(best.get(name, 0.0), held.strength * share / len(found) ** 0.5)
    return sorted(best.items(), key=lambda one: -one[1])[:MOST]


def _each(state: State, _: Assessment) -> Values:
    """The ids of the best that is held, one by one."""
    return [((state.asked.space.segments[one.row].id,), one.strength) for one in state.best(BEST)]


def _topics(state: State, _: Assessment) -> Values:
    """The topics of what the last turn brought, by their ids."""
    space = state.asked.space
    topics = Topics.of(space)
    found: dict[Argument, float] = {}
    for held in state.active[:BEST]:
        if topic := topics.topic_of(space, held.row):
            found.setdefault(topic.id, held.strength)
    return list(found.items())


def _points(state: State, _: Assessment) -> Values:
    """The ids of the memory points that bear on the question, one by one."""
    return [((point.id,), 1.0) for point in state.asked.points[:BEST]]


def _since(state: State, _: Assessment) -> Values:
    return _moments(state, since=True)


def _until(state: State, _: Assessment) -> Values:
    return _moments(state, since=False)


def _moments(state: State, *, since: bool) -> Values:
    """One end of the time that the question gives, where it gives both."""
    time = state.asked.question.time
    if time is None or time.since <= BEGINNING or time.until >= FOREVER:
        return []
    return [(shown, 1.0) for shown in _day(time.since if since else time.until - 1)]


def _day(moment: Millis) -> Iterator[str]:
    shown = iso.show(moment - moment % iso.DAY)
    if shown is not None:
        yield shown


SOURCES: Mapping[str, Source] = {
    "question": _question,
    "reason": _reason,
    "missing": _missing,
    "roots": _roots,
    "best": _best,
    "new": _new,
    "each": _each,
    "names": _names,
    "cues": _cues,
    "topics": _topics,
    "points": _points,
    "since": _since,
    "until": _until,
}
"""By the name that the policy file calls them."""
