"""The semantic and abstract layers, V^s and V^τ: the aspects of an entity, and the passages of a topic (MRAgent §3.2).

========================  =================  =======================================================
operator                  in the paper       from, and to
========================  =================  =======================================================
``personal_information``  φ_{c^s→g^s}        an entity: the aspects that something is known about
``personal_aspect``       φ_{(c^s,g^s)→v^s}  an entity and an aspect: what is known
``topic_events``          φ_{τ→e}            a topic: its passages, the most typical first
========================  =================  =======================================================

A semantic unit (c^s, g^s, s) is an entity, an aspect and a statement. That is a fact: head, relation, tail. So the
first two operators read the facts, with their times and confidence, and nothing is stored a second time. An aspect
covers both ends of a fact: "is a sister of" holds of the other sister too.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import islice

from mcp_memory.domain.evidence import Suggestion
from mcp_memory.domain.facts import Version
from mcp_memory.domain.relations import relations
from mcp_memory.ports import OperatorInput, OperatorResult
from mcp_memory.reconstruct.episodic_operators import rank_rows, segments_of, suggest_operators, visible_rows
from mcp_memory.reconstruct.graph import CueGraph, key_of, query_cues, relation_tag, similarity
from mcp_memory.reconstruct.topics import Topic, Topics
from mcp_memory.view.evidence import fact_evidence, segment_evidence

_COMPARED = 64  # entities with a word in common that are compared with a name
_READ = 500  # facts that have an entity as their tail: a town may have thousands
_ENTITIES = 3  # entities that are suggested


class PersonalInformation:
    """The aspects of an entity that something is known about, each with its newest fact.

    Every aspect is a step in ``next``; with a query, the aspect whose fact is most similar to it comes first.
    """

    name = "personal_information"
    needs = ("entity",)
    uses = ("entity", "query", "since", "until")

    def __call__(self, call: OperatorInput) -> OperatorResult:
        """See `ports.Operator`."""
        facts, key = call.space.facts, resolve_entity(call)
        if key is None:
            return OperatorResult((), tuple(_suggest_mentions(call)))
        aspects = _aspects(call, key)
        order = _rank_aspects(call, {relation: known[0] for relation, known in aspects.items()})[: call.limit]
        items = tuple(fact_evidence(call.space, aspects[name][0], score, (self.name,)) for name, score in order)
        following = [
            Suggestion(
                "personal_aspect",
                {"entity": facts.name(key), "relation": name},
                f"{relations().get(name).label}: {len(aspects[name])} known",
            )
            for name, _ in order
        ]
        return OperatorResult(items, (*following, *_suggest_mentions(call)))


class PersonalAspect:
    """What is known of an entity under one aspect, what holds now first."""

    name = "personal_aspect"
    needs = ("entity", "relation or tag")
    uses = ("entity", "relation", "tag", "since", "until")

    def __call__(self, call: OperatorInput) -> OperatorResult:
        """See `ports.Operator`; the aspect is a ``relation``, or a ``tag`` that matches the words of some relations."""
        key = resolve_entity(call)
        if key is None:
            return OperatorResult((), tuple(_suggest_mentions(call)))
        aspects = (known for relation, known in _aspects(call, key).items() if _matches(call, relation))
        versions = [version for known in aspects for version in known][: call.limit]
        items = tuple(fact_evidence(call.space, version, 1.0, (self.name,)) for version in versions)
        return OperatorResult(items, tuple(self._next(call, key, versions)))

    def _next(self, call: OperatorInput, key: str, versions: list[Version]) -> Iterator[Suggestion]:
        facts = call.space.facts
        ends = dict.fromkeys(facts.target_key(one, forward=facts.key(one.head) == key) for one in versions)
        others = [end for end in ends if end != key and facts.known_entity(end) == end and facts.degree(end) > 1]
        for end in others[:_ENTITIES]:
            yield Suggestion("personal_information", {"entity": facts.name(end)}, f"more is known of {facts.name(end)}")
        if versions:
            tag = relation_tag(versions[0].relation)
            yield Suggestion("tag_events", {"entity": facts.name(key), "tag": tag}, "where it was said")
        else:
            yield Suggestion("personal_information", {"entity": facts.name(key)}, "the aspects that are known")


class TopicEvents:
    """A topic's passages: those that fit the query best first, without one the most typical."""

    name = "topic_events"
    needs = ("topic",)
    uses = ("topic", "query", "since", "until")

    def __call__(self, call: OperatorInput) -> OperatorResult:
        """See `ports.Operator`; ``topic`` is an id, or words, which mean the topic that contains them most."""
        space, topics = call.space, Topics.of(call.space)
        topic = topics.get(space, call.topic or "") or self._topic_with_words(call, topics)
        if topic is None:
            return OperatorResult(())
        typicality = dict(topics.typical(space, topic))
        by_row = {row: space.sentences_within(space.segments[row]) for row in typicality}
        first = {rows[0]: row for row, rows in by_row.items() if rows}
        ranked = rank_rows(call, {row: max(0.01, typicality[first[row]]) for row in visible_rows(call, first)})
        items = tuple(segment_evidence(space, first[row], score, (self.name,)) for row, score in ranked)
        rows = [row for row, _ in ranked]
        return OperatorResult(items, tuple(suggest_operators(call, rows, "event_keywords", "event_time")))

    def _topic_with_words(self, call: OperatorInput, topics: Topics) -> Topic | None:
        """Return the topic whose segments have most of the cues in the words, weighted by their rarity."""
        space, graph = call.space, CueGraph.of(call.space)
        votes: defaultdict[str, float] = defaultdict(float)
        found: dict[str, Topic] = {}
        for cue, match in (hit for word in query_cues(call.topic or "") for hit in graph.find(word.key)):
            counts: Counter[str] = Counter()
            for segment in {segment for row in graph.rows(cue) for segment in segments_of(space, row)}:
                if topic := topics.topic_of(space, segment):
                    found[topic.id] = topic
                    counts[topic.id] += 1
            for name, count in counts.items():
                votes[name] += match * graph.rarity(cue) * count / len(found[name].members) ** 0.5
        best = min(votes, key=lambda name: (-votes[name], name), default=None)
        return None if best is None else found[best]


def resolve_entity(call: OperatorInput) -> str | None:
    """Return the key of the entity in the input: whose name it is, else whose name is most similar (`similarity`)."""
    facts, name = call.space.facts, call.entity or ""
    key = facts.resolve(name)
    if key is not None and facts.degree(key):
        return key
    wanted = key_of(name)
    others = facts.entities_with_words([word for word in name.casefold().split() if word], _COMPARED)
    matches = [(similarity(wanted, key_of(other)), facts.degree(other), other) for other in others]
    best = max((match for match in matches if match[0] and match[1]), default=None)
    return None if best is None else best[2]


def _aspects(call: OperatorInput, key: str) -> dict[str, list[Version]]:
    """Return what is known of an entity as head or tail, by relation: what holds now first, then the newest."""
    facts, window = call.space.facts, call.window
    found: dict[str, dict[str, Version]] = {}
    for version in (*facts.from_(key), *islice(facts.to(key), _READ)):
        if version.since < version.until and version.holds(window.since, window.until):
            found.setdefault(version.relation, {})[version.id] = version
    return {
        relation: sorted(known.values(), key=lambda version: (-version.until, -version.since, version.id))
        for relation, known in found.items()
    }


def _rank_aspects(call: OperatorInput, facts: dict[str, Version]) -> list[tuple[str, float]]:
    """Return aspects with their scores, best = 1: the similarity of their facts to the query; ties keep their order."""
    cosines = {name: max(call.cosine(version.assertions), default=0.0) for name, version in facts.items()}
    best = max(cosines.values(), default=0.0)
    scores = [(name, max(0.0, cosine) / best if best > 0 else 1.0) for name, cosine in cosines.items()]
    return sorted(scores, key=lambda one: -one[1])


def _matches(call: OperatorInput, relation: str) -> bool:
    """Return whether a relation is the aspect in the input."""
    if call.relation is not None:
        return relation == relations().name(call.relation)
    tag = (call.tag or "").replace("_", " ")
    known = relations().get(relation)
    forms = (known.label, relation_tag(relation), *known.asked)
    return any(similarity(key_of(tag), key_of(form)) for form in forms)


def _suggest_mentions(call: OperatorInput) -> Iterator[Suggestion]:
    """Yield the step to the sentences that name the entity, which may state what is no fact."""
    if call.entity is not None:
        yield Suggestion("tag_events", {"entity": call.entity}, "the sentences that name it")
