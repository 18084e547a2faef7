"""Between cues and sentences, forward and in reverse: two of MRAgent's seven operators (§3.2, Table 4).

==================  =============  ================================================================
operator            in the paper   from, and to
==================  =============  ================================================================
``tag_events``      φ_{(c,g)→e}    a cue, or what a query names, and a tag: the sentences
``event_keywords``  φ_{e→(c,g)}    sentences: their cues, each a step that leads to other sentences
==================  =============  ================================================================

From the sentences ``event_operators.py`` goes on. Each reply says in ``next`` how to go on, so that a client's own
model, which does the routing here (eq. 12), can walk from any step to any other. The view must keep a `CueGraph`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from mcp_memory.domain.evidence import Suggestion
from mcp_memory.ports import OperatorInput, OperatorResult
from mcp_memory.reconstruct.cues import key_of, likeness, query_cues
from mcp_memory.reconstruct.events import RARE, counted, item, onward, query_of, ranked, rows_of, shown, speaker
from mcp_memory.reconstruct.graph import CueGraph

PARTIAL = 2
"""Cues of a query that a sentence must have where it has not all of them (DESIGN 6)."""
LINKS = 8
"""Cues that are told in reverse: as many steps as a reader will look at."""
_NEXT = 3  # tags that are suggested


class TagEvents:
    """From cues to sentences: those of one cue, of one cue under one tag, or those that have the cues of a query.

    A sentence that has all cues of the query comes first (full match); with two of them it is found as well (partial).
    """

    name = "tag_events"
    needs = ("entity or query",)
    uses = ("entity", "query", "tag", "since", "until")

    def __call__(self, asked: OperatorInput) -> OperatorResult:
        """See `ports.Operator`; begins at ``entity``, else at what ``query`` names; ``tag`` narrows it."""
        graph = CueGraph.of(asked.space)
        groups = _groups(graph, asked)
        if not groups:
            return OperatorResult(())
        total = sum(_telling(graph, group) for group in groups)
        share: defaultdict[int, float] = defaultdict(float)
        held: Counter[int] = Counter()
        for group in groups:
            part = _telling(graph, group) / total
            best: dict[int, float] = {}
            for cue, like in group:
                for row in self._rows(asked, graph, cue):
                    best[row] = max(best.get(row, 0.0), like * part)
            for row, worth in best.items():
                share[row] += worth
                held[row] += 1
        least = min(PARTIAL, len(groups))
        rows = shown(asked, (row for row in share if held[row] >= least))
        found = ranked(asked, {row: min(1.0, share[row]) for row in rows})
        items = tuple(item(asked.space, row, score, self.name) for row, score in found)
        return OperatorResult(items, tuple(self._next(asked, graph, groups, [row for row, _ in found])))

    def _rows(self, asked: OperatorInput, graph: CueGraph, cue: int) -> list[int]:
        if asked.tag is None:
            return graph.rows(cue)
        tags = _matching(graph, graph.tags(asked.space, cue), asked.tag)
        return sorted({row for tag in tags for row in graph.contents(asked.space, cue, tag)})

    def _next(
        self, asked: OperatorInput, graph: CueGraph, groups: Sequence[Sequence[tuple[int, float]]], rows: Sequence[int]
    ) -> Iterator[Suggestion]:
        """Yield the tags under which more is told of the cue, then what the sentences lead to."""
        cue = max((group[0][0] for group in groups), key=graph.rarity)
        tags = graph.tags(asked.space, cue)
        here = dict.fromkeys(tag for row in rows for one, tag in graph.reverse(asked.space, row) if one == cue)
        if asked.tag is None and len(tags) > 1:
            order = sorted(tags, key=lambda tag: (tags[tag] < 2, tag not in here, -tags[tag], tag))
        else:
            order = [] if rows else list(tags)
        for tag in order[:_NEXT]:
            args = {"entity": graph.written(cue), "tag": graph.label(tag)} | query_of(asked)
            yield Suggestion(self.name, args, f"{counted(tags[tag])} under this tag")
        yield from onward(asked, rows, "event_keywords", "event_context")


class EventKeywords:
    """In reverse: what the sentences may be connected with. Each cue is a step, rare ones and names first.

    What the query says already comes last, for it leads back to where the walk began. A cue of no other sentence
    leads nowhere and is left out.
    """

    name = "event_keywords"
    needs = ("ids",)
    uses = ("ids", "query", "since", "until")

    def __call__(self, asked: OperatorInput) -> OperatorResult:
        """See `ports.Operator`; the sentences themselves are the items, their cues and tags stand in ``next``."""
        space, graph = asked.space, CueGraph.of(asked.space)
        rows = shown(asked, rows_of(space, asked.ids))[: asked.limit]
        items = tuple(item(space, row, 1.0, self.name) for row in rows)
        known = {cue.key for cue in query_cues(asked.query.text)} if asked.query else set()
        told: dict[int, str] = {}
        tags: dict[int, dict[str, None]] = {}
        named: set[int] = set()
        speakers: set[int] = set()
        for row in rows:
            speakers.update(speaker(graph, row))
            told |= {cue: written for cue, written in graph.spelling(space, row).items() if cue not in told}
            named |= graph.names(row)
            for cue, tag in graph.reverse(space, row):
                tags.setdefault(cue, {})[tag] = None
        others = {cue: len(shown(asked, set(graph.rows(cue)).difference(rows))) for cue in tags}
        order = sorted(
            (cue for cue, count in others.items() if count),
            key=lambda cue: (
                graph.key(cue) in known,
                others[cue] > RARE,
                cue in speakers,
                cue not in named,
                others[cue],
                -len(graph.key(cue).split()),
                cue,
            ),
        )
        following = [
            Suggestion(
                "tag_events",
                {"entity": told[cue]},
                f"{counted(others[cue])} more; here it stands for {', '.join(map(graph.label, tags[cue]))}",
            )
            for cue in _apart(graph, order, others)[:LINKS]
        ]
        return OperatorResult(items, tuple(following))


def _groups(graph: CueGraph, asked: OperatorInput) -> list[list[tuple[int, float]]]:
    """Return the cues that are known of what was asked: those that each of its names or words matches, best first."""
    names = [asked.entity] if asked.entity is not None else []
    if not names and asked.query is not None:
        names = [cue.written for cue in query_cues(asked.query.text)]
    found = (graph.find(name) for name in dict.fromkeys(names))
    return list({group[0][0]: group for group in found if group}.values())


def _telling(graph: CueGraph, group: Sequence[tuple[int, float]]) -> float:
    return graph.rarity(group[0][0])


def _matching(graph: CueGraph, tags: Iterable[str], asked: str) -> list[str]:
    """Return the tags that one asked for means: as it is written, else by its key (`likeness`), in any form."""
    plain = asked.replace("_", " ")
    exact = [tag for tag in tags if graph.label(tag).casefold() == plain.casefold()]
    return exact or [tag for tag in tags if likeness(key_of(plain), key_of(graph.label(tag)))]


def _apart(graph: CueGraph, order: Sequence[int], others: Mapping[int, int]) -> list[int]:
    """Return cues in their order, without the words of a phrase that lead to as many sentences as it does."""
    kept: list[int] = []
    for cue in order:
        parts = set(graph.key(cue).split())
        if not any(parts < set(graph.key(one).split()) and others[cue] == others[one] for one in kept):
            kept.append(cue)
    return kept
