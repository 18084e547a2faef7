"""The loop of recall at work: the calls that it makes, and how their results and callers' feedback change the ranking.

The room (``reconstruct/``) decides when to go on and with which calls. This module makes them: it embeds the queries of
a turn in one batch, calls the operators (``mcp_memory/operators.py``), and adds what they find to the candidates of the
search as further scores. Each gives a segment the best score of all, times the strength that the loop has for the
segment, times the weight of its operator (``resources/policy.toml``). A segment that several operators found has its
score from the one for which it is strongest.

**Caller-confirmed evidence.** Recall judges itself mostly by the words of the query that its evidence says
(``search/sufficiency.py``). Evidence that had to be explored for shares few of them: it would stay behind and be called
insufficient for ever. So where recall doubts itself, the feedback of callers decides, as a language model's judgement
does (``services/answer.py``): what a caller named comes first, with scores from .5 to 1, and the others have scores
from 0 to .5. In GAM-RAG (§4.2) a confident memory ends the search; here it ends the doubt as well, if there is room for
everything that is known as surely to help. (Measured over taught questions: +4 points of R@1 in dialogues, +1.5 of R@2
in documents; nothing changes for others. Wrong feedback ends the doubt too.)

**Departures.** In GAM-RAG similarity alone says what a memory is good for, and two questions that differ in a name or a
year are very similar. So feedback counts here only for queries with the same names and times.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from anyio import to_thread

from mcp_memory.domain.entities import entity_key
from mcp_memory.domain.evidence import Stop, Sufficiency
from mcp_memory.domain.points import Point
from mcp_memory.domain.query import Query, Window
from mcp_memory.domain.times import BEGINNING, FOREVER, Millis
from mcp_memory.gain.gates import confident_sentences, sentence_weights
from mcp_memory.gain.propagation import in_window
from mcp_memory.language import iso
from mcp_memory.language.questions import NEEDED, understand
from mcp_memory.navigation.beam import no_similarity, statement_similarity
from mcp_memory.ports import Embedder, OperatorInput, OperatorResult
from mcp_memory.reconstruct.loop import Action, Argument, LoopState, run_loop, uncovered_share
from mcp_memory.reconstruct.policy import Policy
from mcp_memory.search.candidates import SIMILAR_TURNS, Candidate, CandidateSet, rank_candidates, similar_turn_scores
from mcp_memory.search.channels import SpeakerIndex
from mcp_memory.search.sufficiency import has_kind_of_answer, judge_coverage
from mcp_memory.services.learn.episodes import time_words
from mcp_memory.services.recall.settings import RecallSettings
from mcp_memory.vectors import Matrix, Scores
from mcp_memory.view.space import Space

WIDTH = 5
"""Candidates of the search that the loop starts from."""
FOUND = 8
"""Items that one call may find."""
TYPED = 5
"""Candidates of which one must have the type that is asked for."""
STEEPNESS = 6
"""How fast the strength of a candidate falls with its score: the best is followed first, then what is near to it."""
KEPT = 5
"""Turns of the search that keep their places, so that what the loop finds does not displace what was certain."""


@dataclass(slots=True)
class RecallLoop:
    """One run of the loop.

    Attributes:
        space: of a view that does not change meanwhile.
        query: understood and embedded; its window, limit and turns hold for every call.
        candidates: of the search.
        roots: names that facts are followed from.
        gates: of the query, by row of the sentence.
        settings: of recall.
        policy: chooses the calls.
        embedder: of the queries of calls.
        similarity: returns the cosine of vectors with each segment.
        queries: what calls ask, by text, each with its cosines.
        texts: how many were embedded.
    """

    space: Space
    query: Query
    candidates: CandidateSet
    roots: Sequence[str]
    gates: Mapping[int, float]
    settings: RecallSettings
    policy: Policy
    embedder: Embedder
    similarity: Callable[[Matrix], Awaitable[Matrix]]
    queries: dict[str, tuple[Query, Matrix]] = field(default_factory=dict)
    texts: int = 0

    async def run(self, points: Sequence[Point]) -> tuple[LoopState | None, Stop]:
        """Run the loop from the candidates of the search, and return its state with the reason why it stopped.

        Args:
            points: memory points related to the query, the most similar first.

        Returns:
            No state if the candidates suffice as they are.
        """
        ranked, coverage = rank(self.space, self.query, self.candidates)
        first = assess(self.space, self.query, [candidate.row for candidate in ranked], coverage, self.roots)
        if first.sufficient:
            return None, "sufficient"
        state = LoopState.begin(
            self.space,
            self.query,
            [(candidate.row, candidate.score**STEEPNESS) for candidate in ranked],
            WIDTH,
            roots=self.roots,
            points=points,
            uncovered=uncovered_share(self.query, first.missing),
        )
        settings, turns = self.settings.loop, self.query.max_turns
        stop = await run_loop(
            state,
            first,
            select=self.policy.actions,
            execute=self._execute,
            assess=self._assess,
            settings=settings if turns is None else replace(settings, max_turns=turns),
            clock=self.settings.clock,
        )
        return state, stop

    def _assess(self, state: LoopState) -> Sufficiency:
        boosted = boost_candidates(self.space, self.query, self.candidates, self.settings, state)
        ranked, sufficiency = rank(self.space, self.query, boosted)
        return assess(self.space, self.query, [candidate.row for candidate in ranked], sufficiency, self.roots)

    async def _execute(self, actions: Sequence[Action]) -> list[OperatorResult]:
        """Make the calls of a turn; their queries are embedded in one batch."""
        texts = dict.fromkeys(str(action.args["query"]) for action in actions if "query" in action.args)
        new = [understand(text, self.space.speakers, self.query.now) for text in texts if text not in self.queries]
        if new:
            forms = [form for query in new for form in query.forms]
            vectors = await self.embedder.embed(forms)
            self.texts += len(forms)
            cosines = await self.similarity(vectors)
            start = 0
            for query in new:
                end = start + len(query.forms)
                self.queries[query.text] = replace(query, vectors=vectors[start:end]), cosines[start:end]
                start = end
        return await to_thread.run_sync(lambda: [self._call(action) for action in actions])

    def _call(self, action: Action) -> OperatorResult:
        """Make one call; a time that it names replaces the window of the query, which bounds the ranking anyway."""
        args = dict(action.args)
        text = args.pop("query", None)
        window = _window(args.pop("since", None), args.pop("until", None)) or self.query.window
        call = OperatorInput(self.space, no_similarity, window=window, limit=FOUND, **args)  # type: ignore[arg-type]
        if isinstance(text, str):
            query, cosines = self.queries[text]
            gates = self.gates if query is self.query else {}
            call = replace(
                call,
                cosine=statement_similarity(self.space, query.vectors, cosines),
                query=query,
                weigh=sentence_weights(self.space, query.vectors, cosines, gates, window),
            )
        return self.settings.operators[action.operator](call)


def rank(space: Space, query: Query, candidates: CandidateSet | None) -> tuple[Sequence[Candidate], Sufficiency]:
    """Return the best candidates, and how far they cover the query, by which the loop decides."""
    ranked = () if candidates is None else rank_candidates(space, candidates, query.limit)
    return ranked, judge_coverage(space, query, ranked)


def assess(space: Space, query: Query, rows: Sequence[int], covered: Sufficiency, roots: Sequence[str]) -> Sufficiency:
    """Return the sufficiency of the evidence, with the answer's type taken into account and the reason if too little.

    Args:
        space: the space that the segments are in.
        query: the query that is asked.
        rows: the rows of the segments that were found, best first.
        covered: how far they cover the query.
        roots: names that the query is about.
    """
    typed = any(has_kind_of_answer(space, query, row) for row in rows[:TYPED])
    if covered.sufficient and typed:
        return covered
    parts = [f"missing: {', '.join(covered.missing)}"] if covered.missing else []
    if not typed:
        whom = f" for {', '.join(roots)}" if roots else ""
        parts.append(f"need {NEEDED.get(query.answer_type, 'an answer')}{whom}")
    return replace(covered, sufficient=False, reason="; ".join(parts) or "too little covers the question")


def boost_candidates(
    space: Space,
    query: Query,
    candidates: CandidateSet,
    settings: RecallSettings,
    state: LoopState | None,
    keep: int = 0,
) -> CandidateSet:
    """Return the candidates with what the loop found; the best ``keep`` turns of the search keep their places.

    If any are kept, similar turns are boosted as well (``search/candidates.py``).

    Args:
        space: of the candidates.
        query: understood and embedded.
        candidates: of the search.
        settings: of recall, with a policy.
        state: of the loop; None where the search sufficed.
        keep: see above.
    """
    best = float(candidates.total.max())
    boosts: dict[str, Scores] = {}
    worths = settings.policy.worths if settings.policy else {}
    for item in state.found.values() if state else ():
        if item.via and (weight := worths.get(item.via)) is not None:
            share = weight.talk if space.talk[item.row] else weight.document
            scores = boosts.setdefault(item.via, np.zeros(len(space.segments), dtype=np.float32))
            scores[item.row] = best * share * item.strength**weight.steepness
    if keep and settings.search.alike:
        similar = similar_turn_scores(space, candidates, query.text, query.vectors[-1])
        boosts |= {} if similar is None else {SIMILAR_TURNS: similar}
    return candidates.boost(space, boosts, keep)


def rank_confirmed(
    space: Space,
    query: Query,
    candidates: Sequence[Candidate],
    sufficiency: Sufficiency,
    gates: Mapping[int, float],
    enough: float,
) -> tuple[Sequence[Candidate], Sufficiency]:
    """Return the candidates, best first, and their sufficiency, both as the feedback on such a query has them.

    Without a doubt, or where no caller has said what helps, both are returned as they are.

    Args:
        space: the space of a view that does not change meanwhile.
        query: understood with the speakers of the space.
        candidates: best first.
        sufficiency: their sufficiency, by themselves.
        gates: the gates of the query, by row of the sentence, from `gain.gates.sentence_gates`.
        enough: the least sufficiency of what suffices.
    """
    if sufficiency.sufficient:
        return candidates, sufficiency
    rows = np.array(confident_sentences(gates), dtype=np.intp)
    rows = rows[in_window(space, rows, query.window)]
    confirmed = _confirmed_sentences(space, query, [row for row in rows.tolist() if _in_role(space, query, row)])
    if not confirmed:
        return candidates, sufficiency

    def sentences(row: int) -> list[int]:
        return space.sentences_within(space.segments[row])

    first = [candidate for candidate in candidates if confirmed.intersection(sentences(candidate.row))]
    missing = confirmed.difference(row for candidate in first for row in sentences(candidate.row))
    further: dict[int, None] = {}
    for row in sorted(missing, key=lambda row: (-gates[row], row)):
        further[space.segments_with(space.sentences[row].turn_id, space.sentences[row].index)[0]] = None
    least = min((candidate.score for candidate in candidates), default=1.0) or 1.0
    first += [Candidate(row, least, ("experience",), {}) for row in further]
    best = max(candidate.score for candidate in first) or 1.0
    rest = [candidate for candidate in candidates if candidate not in first]
    ranked = [replace(candidate, score=(1 + candidate.score / best) / 2) for candidate in first]
    ranked = [*ranked, *(replace(candidate, score=candidate.score / 2) for candidate in rest)][: query.limit]
    if len(first) <= query.limit:
        score = max(sufficiency.score, enough, *(gates[row] / 2 for row in confirmed))
        sufficiency = Sufficiency(score, True)
    return ranked, sufficiency


def _confirmed_sentences(space: Space, query: Query, rows: Sequence[int]) -> set[int]:
    """Return those of the sentences of which a caller said that they help with a query of the same names and time."""
    wanted = _names_and_time(query, query.now)

    def helped(name: str) -> bool:
        return any(
            _names_and_time(understand(lesson.query, space.speakers, lesson.asked_at), lesson.asked_at) == wanted
            for lesson in space.beliefs.lessons_about(name)
            if lesson.source == "caller" and lesson.labels[name] == 1
        )

    return {row for row in rows if helped(space.sentences[row].id)}


def _in_role(space: Space, query: Query, row: int) -> bool:
    """Return whether a sentence is of the role that a query asks for."""
    if query.role is None:
        return True
    said = space.index(SpeakerIndex).in_role(space, query.role)
    sentence = space.sentences[row]
    return any(bool(said[segment]) for segment in space.segments_with(sentence.turn_id, sentence.index))


def _names_and_time(query: Query, now: Millis) -> tuple[frozenset[str], str | None]:
    return frozenset(map(entity_key, (*query.names, *query.speakers))), time_words(query, now)


def _window(since: Argument | None, until: Argument | None) -> Window | None:
    """Return the window between two times as they are written; None if neither is given."""
    if not isinstance(since, str) and not isinstance(until, str):
        return None
    start = iso.parse(since)[0] if isinstance(since, str) else BEGINNING
    return Window(start, iso.parse(until)[1] if isinstance(until, str) else FOREVER)
