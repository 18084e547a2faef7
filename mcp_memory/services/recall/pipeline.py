"""Recall: from a query to what a space holds for it, best first.

Read it as one query's way: understand and embed it (`embed_query`); then (`find`) follow the facts about what it names,
look up what feedback taught and where that leads, search the raw text through every channel, go on by the loop where
that is not enough, and show what was found as evidence. ``search/ranking.py`` says in which order scores are added.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from mcp_memory.domain.access import CALLER, MEANT_SPACE
from mcp_memory.domain.answers import KnownFacts
from mcp_memory.domain.evidence import Evidence, RecallResult, Suggestion
from mcp_memory.domain.facts import Intent
from mcp_memory.domain.query import Query
from mcp_memory.gain.gates import (
    confirmed_sentences,
    corrected_statements,
    correction_in_words,
    find_correction,
    gates_and_propagation,
)
from mcp_memory.hypergraph.retrieval import relevant_points
from mcp_memory.language.expressions import MONTH_WORDS
from mcp_memory.language.questions import understand
from mcp_memory.language.segments import language_of
from mcp_memory.language.shapes import topic_of, wanted_breadth
from mcp_memory.language.stated import stated_times, time_words
from mcp_memory.language.tokens import words
from mcp_memory.navigation.beam import SUFFICIENT, FoundPaths, find_paths, score_segments
from mcp_memory.navigation.known_facts import find_conflicts, known_facts
from mcp_memory.ports import Embedder, QuestionJudge, Store
from mcp_memory.reflection.questions import pool_similarity
from mcp_memory.search.channels import (
    FACTS,
    QUESTIONS,
    SpeakerIndex,
    estimate_cosines,
    said_in_role,
    similarity,
    whose_words,
)
from mcp_memory.search.evidence import evidence_of
from mcp_memory.search.ranking import Candidate, find_candidates, place_wishes, rank_confirmed, read_first
from mcp_memory.search.times import with_event_times
from mcp_memory.search.wishes import wishes_for
from mcp_memory.search.words import WordIndex
from mcp_memory.services.recall.broad import with_list
from mcp_memory.services.recall.loop import RecallSettings, go_on, rank
from mcp_memory.view.space import Space, View

NUMBERS_CHARS = 1_000
"""Characters of a question in which numbers are looked for."""
BY_FACTS = 3
"""Steps along facts, or to hypotheses, that are suggested together; the first precedes all others."""
_FROM = 3
"""Items of evidence from which a suggested step starts."""
_OF_TIME: frozenset[Intent] = frozenset(("TEMPORAL", "EVOLUTION"))
NAMED_SPEAKERS = 5
"""Speakers or spaces that a warning names, those with most in them."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a recall found. Rows mean something as long as the view is held.

    Attributes:
        result: the evidence, and how it was found.
        facts: what the facts know about the query.
        candidates: those that the evidence shows, best first.
        gates: by row, the gates of the sentences that are not neutral for the query.
    """

    result: RecallResult
    facts: KnownFacts
    candidates: Sequence[Candidate]
    gates: Mapping[int, float]


async def embed_query(store: Store, embedder: Embedder, query: Query, judge: QuestionJudge | None = None) -> Query:
    """Return a query understood and embedded, with its parts.

    Its time, topic and parts are embedded in one batch. The judge says what it means beside its words, while no view is
    held; without one, and in a space without texts, it is left at its words.
    """
    async with store.reading(whole=False) as view:
        space = view.space(query.space)
        query = understand(query, space.speakers, query.now)
        speakers, empty, taught = tuple(space.speakers), not space.turns, len(space.beliefs) > 0
        span, talk = space.span, space.talk
        held = [name for name, holds in (("conversations", talk.any()), ("documents", not talk.all())) if holds]
    if judge is not None and not empty:
        query = await judge.understand(query, speakers, held, span)
    time = time_words(query, query.local_now) if taught else None  # without lessons no vector is compared with it
    parts = [understand(part, speakers, query.local_now) for part in query.parts if part.text != query.text]
    texts = [query.text, *(part.text for part in parts)]
    topic = [topic_of(query.text)] if wanted_breadth(query) != "best" else []
    vectors = await embedder.embed([*texts, *topic, *([time] if time else [])])
    user, speaker = whose_words(query.text, vectors[0], embedder.name)
    query = replace(query, user_words=user, speaker_words=speaker)
    embedded = tuple(
        replace(part, vector=vectors[row], window=query.window, role=query.role, user_words=user, speaker_words=speaker)
        for row, part in enumerate(parts, 1)
    )
    return replace(
        query,
        parts=embedded,
        vector=vectors[0],
        time_vector=vectors[-1] if time else None,
        topic_vector=vectors[len(texts)] if topic else None,
    )


async def find(embedder: Embedder, view: View, query: Query, settings: RecallSettings) -> Found:
    """Return what a space holds for a query, as callers have taught it; the view does not change meanwhile."""
    space, switches = view.space(query.space), settings.switches
    query, without_role = without_unknown_role(space, query)
    cosines = estimate_cosines(space, query.stems, similarity(space, query.vector))
    rarity = space.index(WordIndex).rarities(query.stems)
    ways = find_paths(space, query, cosines, rarity, switches)
    external, activated, rounds, gates = gates_and_propagation(space, query, cosines, settings.gain.gate, switches)
    points = relevant_points(space, query, [root.key for root in ways.roots]) if switches.points else []
    if ways.paths:  # lessons, facts and questions are channels that are not searched in the raw text
        external[FACTS.name] = score_segments(space, query, ways.paths)
    if switches.questions and len(space.questions):
        external[QUESTIONS.name] = pool_similarity(space, query.vector)
    searched = find_candidates(space, query, cosines, switches, external)
    read, unread = await read_first(settings.reader, space, query, searched, always=settings.read_always)
    texts = 1 + len(query.parts) + (query.time_vector is not None)
    begun = RecallResult(
        roots=ways.roots, paths=ways.paths, points=tuple(points), rounds=rounds, activated=activated, texts=texts
    )
    candidates, dated, result = await go_on(space, query, read, begun, settings)
    ranked, coverage = rank(space, query, candidates)
    # First stands what a caller corrected or confirmed, then the best of the rest.
    confirmed = confirmed_sentences(space, query, gates, said_in_role(space, query.role))
    correction, first = find_correction(space, query, confirmed)
    first = first or (set() if coverage.whole else confirmed)
    ranked, sufficiency = rank_confirmed(space, query, ranked, first, gates)
    result = replace(result, correction=correction, missing=unknown_names(space, query))
    if sufficiency is not None:
        result = replace(result, sufficiency=sufficiency, sufficient=True, sufficiency_by="caller")
    if switches.wishes:
        wishes, scopes = await wishes_for(space, query, embedder)
        ranked = place_wishes(space, ranked, wishes, query)
        result = replace(result, wishes=tuple(wishes), texts=result.texts + scopes)
    facts = known_facts(space, query, ways.roots, ways.paths, [space.segment_turn[one.row].id for one in ranked])
    answering = [path for path in ways.paths if path.scores.sufficiency >= SUFFICIENT]
    evidence = evidence_of(space, ranked, answering, query, dated)
    corrected = corrected_statements(space, evidence) if switches.learning else ()
    corrections = corrected if correction is None else (correction,)
    unclear = _unclear(query, [space.facts.name(key) for key in facts.meanings])
    result = replace(
        result,
        evidence=with_event_times(evidence, query.window),
        corrected=corrected,
        conflicts=(*map(correction_in_words, corrections), *find_conflicts(query, facts)),
        next=_suggest_steps(space, query, ways, evidence, coverage.missing),
        warnings=(*unknown_space(view, query.space), *without_role, *unclear, *unread),
    )
    if candidates is not None and wanted_breadth(query) != "best":
        result = await with_list(space, query, candidates, result)
    return Found(result, facts, ranked, gates)


def _suggest_steps(
    space: Space, query: Query, ways: FoundPaths, evidence: Sequence[Evidence], missing: Sequence[str]
) -> tuple[Suggestion, ...]:
    """Return calls of the explore tool that may find what a recall misses, the most promising first (DESIGN 3.5).

    From the entities that paths reached, the facts about them are suggested, if there are more. Where facts end, and in
    a memory without any, suggested are sentences with the words of the evidence (MRAgent's reverse step), what was said
    around it, and reflection on what is missing (QRMeM's R), the words of the query that nothing covers. A recall that
    found nothing suggests nothing; one that suffices suggests steps, too: the client's model decides whether it does.
    """
    by_facts: dict[object, Suggestion] = {}  # beside other arguments the query only ranks the results
    for step in _steps_along_facts(space, query, ways):
        by_facts.setdefault((step.operator, *((name, one) for name, one in step.args.items() if name != "query")), step)
    first, others = list(by_facts.values())[:BY_FACTS], list(_steps_from_evidence(query, evidence, missing))
    return in_space(space, (*first[:1], *others[:1], *first[1:], *others[1:]))


def in_space(space: Space, steps: Sequence[Suggestion]) -> tuple[Suggestion, ...]:
    """Return steps with the space to which they apply as an argument, unless it is the one that is meant without."""
    if space.name == MEANT_SPACE.get():
        return tuple(steps)
    return tuple(replace(step, args={**step.args, "space": space.name}) for step in steps)


def _steps_along_facts(space: Space, query: Query, ways: FoundPaths) -> Iterator[Suggestion]:
    """Suggest steps from the roots and the ends of the paths, by facts."""
    dated = query.time is not None and query.time.dated
    for root in ways.roots:
        if dated or root.intent in _OF_TIME:
            yield Suggestion("versions", {"entity": root.name}, f"how what is known of {root.name} changed")
    for path in ways.paths:
        last = path.steps[-1].version
        name = last.tail if path.steps[-1].forward else last.head
        more = space.facts.degree(path.end) > 1
        if not path.inferred and more and path.end not in {root.key for root in ways.roots}:
            yield Suggestion("expand_facts", {"entity": name, "query": query.text}, f"where a path led: {last.text}")
    for root in ways.roots:
        args = {"entity": root.name, "query": query.text}
        if any(path.root.key == root.key and path.inferred is None for path in ways.paths):
            yield Suggestion("expand_facts", args, f"what else is known of {root.name}")
        else:
            yield Suggestion("counterfactual", args, f"no fact of {root.name} answers this")


def _steps_from_evidence(query: Query, evidence: Sequence[Evidence], missing: Sequence[str]) -> Iterator[Suggestion]:
    ids = tuple(item.id for item in evidence if item.inferred is None and item.kind != "point")[:_FROM]
    if not ids:
        return
    reason = "what the best are about, and where that leads"
    yield Suggestion("event_keywords", {"ids": ids, "query": query.text}, reason)
    yield Suggestion("event_context", {"ids": ids[:1]}, "what was said around the best")
    text = "; ".join((query.text, *([f"missing: {', '.join(missing)}"] if missing else [])))
    yield Suggestion("reflect", {"query": text, "ids": ids}, "what lies beyond the names in it, by what is missing")


def unknown_names(space: Space, query: Query) -> tuple[str, ...]:
    """Return the words of names, and the numbers, of a question that stand in no record of the space, as written.

    A common word may be said in other words; a name or a number is said as it is, but for accents and the case of
    letters ("Zoe" is held where "Zoë" is). Times that a question states are neither, nor are months. German writes each
    noun like a name.
    """
    text, index = query.text[:NUMBERS_CHARS], space.index(WordIndex)
    begun = words(text)[:1]  # a capital letter begins every question
    for stated in reversed(stated_times(text, query.local_now, asked=True)):
        text = f"{text[: stated.start]} {text[stated.end :]}"
    left = set(words(text)).difference(begun, MONTH_WORDS)
    names = () if language_of(text) == "de" else query.names
    named = (word.strip("\"'“”‘’(),;:?!.") for name in names for word in name.split() if word[:1].isupper())
    told = [word for word in named if len(word) > 1 and left.issuperset(words(word))]
    numbers = (word for word in words(text) if any(letter.isdigit() for letter in word))
    every = dict.fromkeys((*told, *query.entities, *numbers))
    return tuple(name for name in every if not all(map(index.holds, words(name))))


def _some(names: Sequence[str]) -> str:
    """Return the first `NAMED_SPEAKERS` of some names in words, and how many more there are."""
    more = f" and {len(names) - NAMED_SPEAKERS} more" if len(names) > NAMED_SPEAKERS else ""
    return f"{', '.join(names[:NAMED_SPEAKERS])}{more}"


def _unclear(query: Query, meant: Sequence[str]) -> tuple[str, ...]:
    """Return in words whom "I" or a name in a query may mean, if that is not known."""
    if meant:
        return (f"It is not known which person is meant: {', '.join(meant[:-1])} or {meant[-1]}.",)
    if not query.askers:
        return ()
    who = _some(query.askers)
    return (f"It is not known who is meant by the first person: several people speak here ({who}).",)


def without_unknown_role(space: Space, query: Query) -> tuple[Query, tuple[str, ...]]:
    """Return a query without its role if nobody in its space has it, and then a warning with the speakers there."""
    if query.role is None or not space.speakers or space.index(SpeakerIndex).in_role(space, query.role).any():
        return query, ()
    speakers = _some(sorted(space.speakers, key=lambda name: (-space.speakers[name], name)))
    warning = (
        f"Nobody here has the role {query.role}; speakers are {speakers}. It was left out: name a speaker in the query."
    )
    return replace(query, role=None, parts=tuple(replace(part, role=None) for part in query.parts)), (warning,)


def unknown_space(view: View, name: str) -> tuple[str, ...]:
    """Return a warning if there is no space of that name, with the spaces that there are.

    An unknown space is an empty one, and a misspelt name looks just like one.
    """
    if name in view.spaces:
        return ()
    readable = CALLER.get().visible(view.spaces)
    if not readable:
        return ("Nothing is stored yet, in any space.",)
    known = _some(sorted(readable, key=lambda one: (-len(view.spaces[one].turns), one)))
    return (f"There is no space {name!r} yet; known: {known}. Name the one you mean.",)
