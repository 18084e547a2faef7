"""The active loop of recall, its operators, and the settings of recall.

The loop: assess, choose the next calls, make them, assess again (MRAgent §3.2, DESIGN 3.4).

It starts from the candidates of the search, unless they cover the query (`go_on`). The state is S(t) = (Z(t), H(t))
(eq. 7). H holds the segments found so far, each with its *strength*, in (0, 1]: how likely it leads to the answer. For
what a call finds that is the strength that the call started from times how well the item fits. Z, the frontier, holds
what the last turn brought; the next turn goes on from there. Each turn selects the strongest calls that were proposed
and not made yet (f_select, eq. 10), makes them (eq. 11), routes what they find (f_route, eq. 12), and asks whether the
evidence covers the query. The loop ends when it does, when nothing new comes any more, or when the budget is spent: 8
turns, 10 calls a turn (the paper), 50 in all (the authors' program), of which a turn takes at most its share, so that
later turns have theirs (DESIGN D30). What was found joins the candidates as further scores: the best score of all,
times the strength, times the worth of the operator (`LoopState.gains`).

**The policy** (`select_calls`). A question for a time, or with a date, has the best segments placed on the timeline
(the paper's ``query_conversation_time``). Where nothing covers most of a question's content words, only names lead
anywhere: *pointers* are followed, names and things ("the old mill") in the texts just found that few other texts have.
A chain of such texts is as reliable at its end as at its beginning (Lemma C.9). A pointer is weaker the more texts name
it, and where its text has other pointers that are as good, by the square root of their number. What leads back to
segments that are as strong already, or to words of the query, is none.

**Coverage** (`judge_coverage`) is how far what was found covers a query: the best candidates contain enough of its
content, words weighted by rarity: the mean of what one contains alone and what the best five contain together. Where
the query names one speaker, only what that speaker said counts. Coverage is no judgement whether the evidence answers:
a near miss shares the words of the question, and a paraphrase does not (measured on ten worlds of unseen records: AUROC
.28 for what was made of such features). So no reply speaks of it.

**Departures.** MRAgent begins with the cues of a question that match those of the graph; here the loop begins with the
best candidates, each as strong as the sixth power (`STRENGTH_EXPONENT`) of its score relative to the best. The paper's
model selects any operator and routes; here rules do, so that the same calls over the same memory end in the same state
(DESIGN I35). Measured on dialogues and on questions of several hops to documents, operator by operator, the others add
nothing to the ranking of the search, so they are not called here; ``memory_explore`` offers them all. The paper's model
also judges whether what is held is enough (C_LLM). Here nobody does: the loop goes on while parts and names of the
query stand in nothing that was found, or nothing of the form that is asked for does, a number, a date, a name. What it
ends with is called covered, never sufficient.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import ceil

import numpy as np
from anyio import to_thread

from mcp_memory.configurable import GainSettings, RecallLoopSettings, Switches
from mcp_memory.domain.evidence import Coverage, Evidence, OperatorCall, RecallResult, StepKey, Stop, Suggestion
from mcp_memory.domain.query import Query
from mcp_memory.domain.times import Millis
from mcp_memory.gain.propagation import propagate_once
from mcp_memory.hypergraph.retrieval import global_points, local_points
from mcp_memory.language.iso import WEEKDAYS
from mcp_memory.language.questions import has_kind
from mcp_memory.language.shapes import is_prompt
from mcp_memory.language.tokens import STOP_WORDS, names, stems, words
from mcp_memory.navigation.beam import no_similarity
from mcp_memory.navigation.operators import counterfactual, expand_facts, timeline, versions
from mcp_memory.ports import OperatorInput, OperatorResult, PairReader, Step
from mcp_memory.reconstruct.graph import CueGraph, query_cues
from mcp_memory.reconstruct.operators import (
    event_context,
    event_keywords,
    event_time,
    personal_aspect,
    personal_information,
    tag_events,
    topic_events,
)
from mcp_memory.reflection.navigators import reflect_step
from mcp_memory.search.channels import SpeakerIndex
from mcp_memory.search.ranking import Candidate, CandidateSet, rank_candidates, similar_turn_scores
from mcp_memory.search.words import WordIndex
from mcp_memory.vectors import Scores
from mcp_memory.view.space import Space

LOOP_WIDTH = 5
"""Candidates of the search that the loop starts from."""
CALL_ITEMS = 8
"""Items that one call may find."""
STRENGTH_EXPONENT = 6
"""How fast the strength of a candidate falls with its score: the best is followed first, then what is near to it."""
COUNTED_CANDIDATES = 5
"""Candidates that count, and of which one must have a value of the kind asked for."""
COVERED_ENOUGH = 0.55
"""The share from which on the loop need not go on (measured; the point that decides most questions rightly)."""
KEPT_TURNS = 5
"""Turns of the search that keep their places, so that what the loop finds does not displace what was certain."""
MOST_CALLS = 50
"""Calls of operators in all turns together."""
DEADLINE_S = 30.0
"""Seconds after which no further turn begins."""
LEAST_STRENGTH = 0.05
"""Strength below which an item is dropped (f_route, eq. 12); a segment is news again if it gains as much."""
MOST_IDLE_TURNS = 2
"""Turns without anything new after which the loop ends."""
PLACED_IN_TIME = 3
"""Segments that are placed on the timeline."""
LOST_SHARE = 0.5
"""Share of a question's content words, names aside, that no candidate covers: from here on pointers are followed."""
WORTH: Mapping[str, float] = {"tag_events": 2.0}
"""What a segment gains that an operator found, as a share of the best score, for each unit of strength."""
HUB_TEXTS = 3
"""Fewer other texts than this may have a pointer: what more texts have says too little."""
MOST_SENTENCES = 30
"""Sentences that may have it; a text may have several."""
MOST_POINTERS = 10
"""Pointers of one turn of the loop."""
Dated = Mapping[str, tuple[Millis, Millis]]
"""Times that the calls of the loop found: since and until, by the id of the evidence."""
_WEEKDAYS = frozenset(map(str.lower, WEEKDAYS))
_THING = re.compile(r"\bthe (\w[\w'-]* \w[\w'-]*)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RecallSettings:
    """The settings of every room that a query passes through, and what was built from them; one object per memory.

    Attributes:
        switches: which mechanisms take part.
        gain: how lessons count.
        loop: how far the loop goes.
        operators: what the loop can call, by name; none for a recall that searches once.
        reader: reads what was found once more; None leaves it as the search ranked it.
        read_always: whether it reads even where one record is far ahead.
    """

    switches: Switches = field(default_factory=Switches)
    gain: GainSettings = field(default_factory=GainSettings)
    loop: RecallLoopSettings = field(default_factory=RecallLoopSettings)
    operators: Mapping[str, Step] = field(default_factory=dict)
    reader: PairReader | None = None
    read_always: bool = False


def operators(switches: Switches) -> dict[str, Step]:
    """Return the function of every operator by its name."""
    return {
        "expand_facts": expand_facts,
        "versions": versions,
        "timeline": timeline,
        "counterfactual": partial(counterfactual, enabled=switches.counterfactual),
        "propagate": propagate_once,
        "tag_events": tag_events,
        "event_keywords": event_keywords,
        "event_time": event_time,
        "event_context": event_context,
        "topic_events": topic_events,
        "personal_information": personal_information,
        "personal_aspect": personal_aspect,
        "local_points": local_points,
        "global_points": global_points,
        "reflect": partial(reflect_step, enabled=switches.reflection),
    }


async def go_on(
    space: Space, query: Query, found: CandidateSet | None, result: RecallResult, settings: RecallSettings
) -> tuple[CandidateSet | None, Dated, RecallResult]:
    """Run the loop from the candidates of the search, unless they cover the query as they are, or it is switched off.

    A prompt of several sentences is searched for only: most of it tells what is new, so no record covers it, the calls
    find nothing more, and its best record is a bad measure of the others. (R@10 with the loop and similar turns and
    without: 92 prompts in projects 48.0 and 52.1, 73 prompts in invented worlds 86.3 and 84.8.)

    Returns:
        The candidates with what the loop found, the times it found, and the result with its calls and the reason why it
        stopped.
    """
    if found is None or not settings.switches.loop or not settings.operators or is_prompt(query.text):
        return found, {}, result
    ranked, coverage = rank(space, query, found)
    alike = similar_turn_scores(space, found, query) if settings.switches.alike else {}
    if is_covered(space, query, ranked, coverage):
        return found.boost(space, alike, KEPT_TURNS), {}, replace(result, stop="covered")
    strengths = [(candidate.row, candidate.score**STRENGTH_EXPONENT) for candidate in ranked]
    state = LoopState.begin(space, query, strengths, LOOP_WIDTH, uncovered_share(query, coverage.missing))
    best = float(found.total.max())

    def take(step: Suggestion) -> OperatorResult:
        given = OperatorInput(space, no_similarity, window=query.window, limit=CALL_ITEMS, **step.args)  # type: ignore[arg-type]
        return settings.operators[step.operator](given)

    def covered(state: LoopState) -> bool:
        return is_covered(space, query, *rank(space, query, found.boost(space, state.gains(best))))

    limits = settings.loop if query.max_turns is None else replace(settings.loop, max_turns=query.max_turns)
    # In a thread: the first call that walks cues reads every sentence.
    stop = await to_thread.run_sync(lambda: run_loop(state, take, covered, limits, tags=settings.switches.tags))
    result = replace(result, stop=stop, trace=tuple(state.trace), turns=state.turns)
    return found.boost(space, {**state.gains(best), **alike}, KEPT_TURNS), state.dated, result


def rank(space: Space, query: Query, candidates: CandidateSet | None) -> tuple[Sequence[Candidate], Coverage]:
    """Return the best candidates, and how far they cover the query, by which the loop decides."""
    ranked = () if candidates is None else rank_candidates(space, candidates, query.limit)
    return ranked, judge_coverage(space, query, ranked)


def judge_coverage(space: Space, query: Query, candidates: Sequence[Candidate]) -> Coverage:
    """Return how far the candidates that are returned for a query, best first, cover it."""
    rows = np.array([candidate.row for candidate in candidates], dtype=np.intp)
    index = space.index(WordIndex)
    contained = {stem: index.contains(rows, stem) for stem in query.stems}
    missing = tuple(
        word for word, parts in query.content_words if 2 * sum(contained[p].any() for p in parts) < len(parts)
    )
    if not candidates:
        return Coverage(False, missing)
    counted = np.ones(len(rows[:COUNTED_CANDIDATES]), dtype=np.bool_)
    names: set[str] = set()
    if len(query.speakers) == 1:
        counted = space.index(SpeakerIndex).said_by(query.speakers)[rows[:COUNTED_CANDIDATES]]
        names.update(stems(query.speakers[0]))
    rarity = np.array([index.rarity(stem) for stem in contained if stem not in names])
    covers = np.array([contained[stem][:COUNTED_CANDIDATES] & counted for stem in contained if stem not in names])
    whole = float(rarity.sum())
    share = float((rarity @ covers).max() + rarity @ covers.any(axis=1)) / (2 * whole) if whole else 0.0
    return Coverage(share >= COVERED_ENOUGH, missing)


def is_covered(space: Space, query: Query, ranked: Sequence[Candidate], coverage: Coverage) -> bool:
    """Return whether candidates cover a query, and one of the best has something of the form that is asked for."""

    def has_form(row: int) -> bool:
        segment, turn = space.segments[row], space.segment_turn[row]
        dated = turn.kind != "document" or any(space.sentences[one].times for one in space.sentences_within(segment))
        return has_kind(query.answer_type, query.text, space.text(segment), turn.speaker, dated=dated)

    return coverage.whole and any(has_form(candidate.row) for candidate in ranked[:COUNTED_CANDIDATES])


def run_loop(
    state: LoopState,
    take: Callable[[Suggestion], OperatorResult],
    covered: Callable[[LoopState], bool],
    settings: RecallLoopSettings,
    *,
    tags: bool,
    clock: Callable[[], float] = time.monotonic,
) -> Stop:
    """Run the loop, changing the state, and return why it stopped.

    Args:
        state: after a search that did not cover the query.
        take: makes a call; none is made twice (DESIGN I35).
        covered: whether what is found covers the query.
        settings: how far.
        tags: whether cues may be followed.
        clock: seconds, from any beginning.
    """
    began = clock()
    while True:
        turns, calls = settings.max_turns - state.turns, MOST_CALLS - len(state.trace)
        if turns <= 0:
            return "max_turns"
        if calls <= 0:
            return "budget"
        if clock() - began >= DEADLINE_S:
            return "deadline"
        again = state.propose(select_calls(state, tags=tags))
        waiting = sorted(state.agenda.values(), key=lambda step: -step.strength)
        chosen = waiting[: min(settings.k_ops, ceil(calls / turns))]
        if not chosen and not again:
            return "exhausted"
        state.add_turn([(step, take(step)) for step in chosen], again)
        if state.idle >= MOST_IDLE_TURNS:
            return "exhausted"
        if covered(state):
            return "covered"


def select_calls(state: LoopState, *, tags: bool) -> list[Suggestion]:
    """Return the calls for a state of the loop, strongest first; none where none leads anywhere."""
    query = state.query
    if query.answer_type in ("when", "how_long") or (query.time is not None and query.time.dated):
        best = state.strongest(PLACED_IN_TIME)
        ids = tuple(state.space.segments[row].id for row in best)
        return [Suggestion("event_time", {"ids": ids}, strength=state.found[best[0]])] if best else []
    if tags and state.uncovered >= LOST_SHARE:
        return [Suggestion("tag_events", {"entity": name}, strength=worth) for name, worth in find_pointers(state)]
    return []


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
    return sorted(best.items(), key=lambda one: -one[1])[:MOST_POINTERS]


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
        rows = [at for cue in cues for at in graph.rows(cue)[: MOST_SENTENCES + 1]]
        others: dict[str, list[int]] = {}
        for at in rows:
            if (turn := space.sentences[at].turn_id) != sentence.turn_id:
                others.setdefault(turn, []).append(at)
        if 0 < len(others) < HUB_TEXTS and len(rows) <= MOST_SENTENCES:
            yield name, list(others.values())


def uncovered_share(query: Query, missing: Collection[str]) -> float:
    """Return the share of a query's content words, names aside, that is missing, in [0, 1]; 0 where all are names.

    Where most of it is missing, the query's words lead nowhere, and only its names do.
    """
    in_names = {word for name in (*query.names, *query.speakers) for word in words(name)}
    content = [word for word, _ in query.content_words if not in_names.issuperset(words(word))]
    return sum(word in missing for word in content) / len(content) if content else 0.0


@dataclass(slots=True)
class LoopState:
    """The state of the loop after some turns.

    Attributes:
        space: the space of a view that does not change meanwhile.
        query: understood with the speakers of the space; x of eq. 10.
        found: H, the strength of each segment by its row.
        frontier: Z, rows, the strongest first.
        uncovered: share of the query's content words, names aside, that no candidate covers, in [0, 1].
        expanded: segments that are or were in the frontier.
        brought: the strengths of segments that calls found, by operator and row.
        dated: times that calls found: since and until, by the id of the evidence.
        agenda: calls that were proposed and not made yet, by `Suggestion.key`.
        made: calls with their results, likewise; with the greatest strength that they were proposed with.
        trace: the calls as they are reported, in order.
        turns: the turns that were taken.
        idle: turns since one brought something new.
    """

    space: Space
    query: Query
    found: dict[int, float]
    frontier: tuple[int, ...]
    uncovered: float = 0.0
    expanded: set[int] = field(default_factory=set)
    brought: dict[str, dict[int, float]] = field(default_factory=dict)
    dated: dict[str, tuple[Millis, Millis]] = field(default_factory=dict)
    agenda: dict[StepKey, Suggestion] = field(default_factory=dict)
    made: dict[StepKey, tuple[Suggestion, OperatorResult]] = field(default_factory=dict)
    trace: list[OperatorCall] = field(default_factory=list)
    turns: int = 0
    idle: int = 0

    @classmethod
    def begin(
        cls, space: Space, query: Query, candidates: Sequence[tuple[int, float]], width: int, uncovered: float = 0.0
    ) -> LoopState:
        """Return S(0): the candidates of the search as rows with strengths, best first, the first ``width`` in Z."""
        first = tuple(row for row, _ in candidates[:width])
        return cls(space, query, dict(candidates), first, uncovered, set(first))

    def strongest(self, count: int) -> list[int]:
        """Return the rows of the strongest segments that were found, earlier ones first in a tie."""
        return sorted(self.found, key=lambda row: -self.found[row])[:count]

    def gains(self, best: float) -> dict[str, Scores]:
        """Return what segments gain by what calls found, by operator, where ``best`` is the best score of all."""
        gained: dict[str, Scores] = {}
        for operator, strengths in self.brought.items():
            if operator in WORTH:
                gained[operator] = np.zeros(len(self.space.segments), dtype=np.float32)
                gained[operator][list(strengths)] = best * WORTH[operator] * np.array(list(strengths.values()))
        return gained

    def propose(self, steps: Iterable[Suggestion]) -> list[Suggestion]:
        """Put calls on the agenda; return those that were made already, but from something weaker."""
        again: list[Suggestion] = []
        for step in steps:
            if step.key in self.made:
                if step.strength >= self.made[step.key][0].strength + LEAST_STRENGTH:
                    again.append(step)
            elif step.strength >= self.agenda.get(step.key, step).strength:
                self.agenda[step.key] = step
        return again

    def add_turn(self, done: Iterable[tuple[Suggestion, OperatorResult]], again: Iterable[Suggestion] = ()) -> None:
        """Add the results of a turn: Z(t+1) by routing (eq. 12), H(t+1) = H(t) ∪ Z(t+1).

        An item is routed to the segments of its sources, whatever its kind. Items that are too weak are dropped, and so
        are segments that are as strong already; the trace has how many items a call found and how many were kept. What
        calls found that are proposed ``again``, from something stronger, is routed again.
        """
        self.turns += 1
        fresh: set[int] = set()
        for step in again:
            _, result = self.made[step.key]
            self.made[step.key] = step, result
            for item in result.items:
                self._route(step, item, fresh)
        for step, result in done:
            self.agenda.pop(step.key, None)
            self.made[step.key] = step, result
            kept = sum(self._route(step, item, fresh) for item in result.items)
            self.trace.append(OperatorCall(self.turns, step.operator, dict(step.args), len(result.items), kept))
        self.frontier = tuple(sorted(fresh, key=lambda row: (-self.found[row], row)))
        self.idle = 0 if fresh else self.idle + 1

    def _route(self, step: Suggestion, item: Evidence, fresh: set[int]) -> bool:
        """Add the segments of an item to H and to ``fresh``, as far as they are news; return whether any are."""
        if item.kind == "sentence" and item.valid_from is not None and item.valid_to is not None:
            self.dated[item.id] = (item.valid_from, item.valid_to)
        strength = step.strength * item.score
        reached: set[int] = set()
        for source in item.sources if strength >= LEAST_STRENGTH else ():
            for sentence in self.space.sentences.overlapping(source.turn.id, source.start, source.end):
                reached.update(self.space.segments_of(sentence))
        news = [
            row for row in reached if row not in self.expanded or strength >= self.found.get(row, 0.0) + LEAST_STRENGTH
        ]
        for row in news:
            self.found[row] = max(strength, self.found.get(row, 0.0))
            self.brought.setdefault(step.operator, {})[row] = self.found[row]
        self.expanded.update(news)
        fresh.update(news)
        return bool(news)
