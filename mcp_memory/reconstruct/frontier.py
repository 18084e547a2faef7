"""What a judge is shown to go on from: the active set Z of MRAgent's state, with counts (§3.2, eqs 7 to 9).

Before each judgement the evidence is traversed in reverse, Π_{v→(c,g)}: its cues that more sentences have, names first,
then phrases whose further sentences have to do with what is asked, each with the tags under which it stands. The
semantic layer adds those kinds of facts of whom the question names that it asks for, the topic layer the topics of the
evidence, in words that set them apart. The judge chooses what to follow (f_select, eq. 10) by
naming operators with these names, tags and topics; its choice is carried out by ``services/follow_ups.py``.

**Departures.** The paper's model calls the reverse operators itself, which takes a turn that brings no text. Here the
reverse step is taken for it each time, so that each of its turns can bring evidence. `LoopSettings.graph` leaves out
the tags (CE) or the layers beyond episodes (CTE), for the paper's ablation.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence, Set

from mcp_memory.domain.answers import Frontier
from mcp_memory.domain.query import Query
from mcp_memory.domain.relations import DID
from mcp_memory.language.iso import MONTHS, WEEKDAYS
from mcp_memory.language.tokens import stems
from mcp_memory.language.vocabulary import SMALL_TALK
from mcp_memory.reconstruct.episodic_operators import speaker_cue
from mcp_memory.reconstruct.graph import CueGraph, key_of, query_cues, relation_tag
from mcp_memory.reconstruct.settings import LoopSettings
from mcp_memory.reconstruct.topics import Topics
from mcp_memory.view.space import Space

CUES = 6
"""Cues that are shown; the paper shows up to 15 tags (TAG_MAX)."""
TAGS = 3
"""Tags of one cue."""
ASPECTS = 8
"""Kinds of facts."""
TOPICS = 2
"""Topics of the evidence that are shown."""
TERMS = 2
"""Fewest words of a topic that say something: "hey, awesome, wow" says nothing."""
ENOUGH = 5
"""Further sentences from which on a cue is no better for having more."""
FAR = 30
"""A name or phrase in more sentences than this leads nowhere in particular, and no phrase with such a word does: "good
time", "hey Ann". (A trial showed mostly such phrases before.)"""


_IDLE = frozenset(
    key_of(word)
    for word in (
        *WEEKDAYS,
        *MONTHS,
        *["today", "yesterday", "tonight", "last", "next", "ago", "day", "week", "weekend", "month", "year"],
        *["share", "picture", "photo", "image", "thing", "time", "way", "people", "something", "someone"],
        *["actually", "especially", "really", "probably", "maybe", "obvious"],
        *SMALL_TALK,
    )
)
"""Words of times and of small talk, and what every picture "shares"; they lead nowhere in particular."""


def frontier_of(
    space: Space, query: Query, rows: Sequence[int], demand: Callable[[str], float], settings: LoopSettings
) -> Frontier:
    """Return what sentences lead on to.

    Args:
        space: the space of a view that does not change meanwhile.
        query: understood.
        rows: of the sentences of the evidence, best first.
        demand: how strongly the query asks for a relation, in [0, 1].
        settings: which layers are shown.
    """
    if not settings.tags or not rows:
        return Frontier()
    graph = CueGraph.of(space)
    cues = tuple(_cues(space, graph, query, rows, tagged=settings.graph != "ce"))
    if settings.graph != "ctc":
        return Frontier(cues)
    return Frontier(cues, tuple(_aspects(space, query, demand))[:ASPECTS], tuple(_topics(space, graph, rows))[:TOPICS])


def _cues(
    space: Space, graph: CueGraph, query: Query, rows: Sequence[int], *, tagged: bool
) -> Iterator[tuple[str, int, tuple[str, ...]]]:
    """Yield the cues of sentences that lead to others, names first, then phrases; none within another."""
    asked = {part for cue in query_cues(query.text) for part in cue.key.split()}
    speakers = {cue for row in rows for cue in speaker_cue(graph, row)}
    names = {cue for row in rows for cue in graph.names(row)}
    written: dict[int, str] = {}
    for row in rows:
        spelt = graph.spelling(space, row)
        written |= {cue: spelt[cue] for cue in spelt if cue not in written and cue not in speaker_cue(graph, row)}
    shown = frozenset(rows)
    more = {
        cue: sum(row not in shown for row in graph.rows(cue))
        for cue in written
        if not asked.issuperset(graph.key(cue).split())
    }

    others = names - speakers
    wanted = {stem for stem in query.stems if stem not in speaker_words(space)}

    def telling(cue: int) -> bool:
        parts = graph.key(cue).split()
        within = [number for part in parts if (number := graph.number(part)) is not None and number != cue]
        if len(parts) == 1 and cue not in names:
            return False  # "guess", "rapid": a word alone leads nowhere in particular
        rare = more[cue] <= FAR and _IDLE.isdisjoint(parts) and all(graph.degree(one) <= FAR for one in within)
        return rare and (cue in others or _bears(space, graph, cue, shown, wanted.difference(parts)))

    leads = [cue for cue, count in more.items() if count and telling(cue)]
    leads.sort(key=lambda cue: (cue not in others, -len(graph.key(cue).split()), -min(more[cue], ENOUGH), cue))
    used: set[str] = set()
    count = 0
    for cue in leads:
        parts = graph.key(cue).split()
        if count < CUES and not used.issuperset(parts):
            used.update(parts)
            count += 1
            tags = list(graph.tags(space, cue)) if tagged else []
            told = [graph.label(tag) for tag in tags if len(tag) > 2 and _IDLE.isdisjoint(tag.split())]
            yield written[cue], more[cue], tuple([tag for tag in told if tag != written[cue]][:TAGS])


def _bears(space: Space, graph: CueGraph, cue: int, shown: Collection[int], wanted: Set[str]) -> bool:
    """Return whether a further sentence of a cue has a content word of what is asked."""
    rows = [row for row in graph.rows(cue) if row not in shown]
    return any(not wanted.isdisjoint(stems(space.text(space.sentences[row]))) for row in rows if wanted)


def speaker_words(space: Space) -> frozenset[str]:
    """Return the stems of the names of those who speak in a space."""
    return frozenset(stem for speaker in space.speakers for stem in stems(speaker))


def _aspects(space: Space, query: Query, demand: Callable[[str], float]) -> Iterator[tuple[str, str, int]]:
    """Yield what kinds of facts that a query asks for are known of those whom it names."""
    facts = space.facts
    for key in dict.fromkeys(filter(None, map(facts.resolve, (*query.speakers, *query.names, *query.extra_names)))):
        for relation in facts.relations_of(key):
            fits = relation != DID and demand(relation) > 0
            if fits and (count := len(facts.versions(key, relation))):
                yield facts.name(key), relation_tag(relation), count


def _topics(space: Space, graph: CueGraph, rows: Sequence[int]) -> Iterator[tuple[str, int]]:
    """Yield the topics of sentences, in their order."""
    topics, own = Topics.of(space), speaker_words(space)
    seen: set[str] = set()
    for row in rows:
        sentence = space.sentences[row]
        for segment in space.segments_with(sentence.turn_id, sentence.index):
            topic = topics.topic_of(space, segment)
            if topic is not None and topic.id not in seen:
                seen.add(topic.id)
                terms = topics.summary(space, graph, topic).terms
                told = [term for term in terms if _IDLE.union(own).isdisjoint(key_of(term).split())]
                if len(told) >= TERMS:
                    yield ", ".join(told), len(topic.members)
