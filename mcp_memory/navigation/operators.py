"""Navigation one step at a time, for whoever navigates: REAL's expansion, history and repair as operators.

Each finds facts as evidence and names the steps that may be worth taking next, so that a client's own model can do what
the beam search does. An entity that no fact is about gives nothing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from mcp_memory.domain.evidence import Evidence, Suggestion
from mcp_memory.domain.facts import Version
from mcp_memory.domain.paths import Path, PathScores, Root
from mcp_memory.domain.paths import Step as Walked
from mcp_memory.domain.relations import relations
from mcp_memory.domain.times import BEGINNING, FOREVER
from mcp_memory.language.questions import understand
from mcp_memory.navigation.anchor import meant
from mcp_memory.navigation.counterfactual import recover
from mcp_memory.navigation.fact_query import fact_query
from mcp_memory.navigation.neighbours import Neighbourhood
from mcp_memory.navigation.scores import EmbeddedJudge, Likeness
from mcp_memory.navigation.settings import NavigationSettings
from mcp_memory.ports import OperatorInput, OperatorResult
from mcp_memory.view.evidence import fact_evidence
from mcp_memory.view.facts import Facts

_NEXT = 3
"""Suggestions of one kind."""
_RAW = (0.0, 0.25)
"""A background that leaves cosines as they are: one step knows nothing of the space's own."""


class _LookingAround(ABC):
    """A step that looks around one entity with the eyes of a question: its limits, its time, its words.

    Args:
        settings: of this room.
    """

    needs = ("entity",)
    uses = ("entity", "relation", "query", "since", "until")

    def __init__(self, settings: NavigationSettings | None = None) -> None:
        self._settings = settings or NavigationSettings()

    def __call__(self, call: OperatorInput) -> OperatorResult:
        """See `ports.Operator`; ``relation``, ``query`` and the window say what is looked for, and of which time."""
        key = _entity(call, self._settings)
        return OperatorResult(()) if key is None else self._found(call, key, self._around(call, key))

    @abstractmethod
    def _found(self, call: OperatorInput, key: str, near: Neighbourhood) -> OperatorResult:
        """Return what this step finds around the entity of that key."""

    def _around(self, call: OperatorInput, key: str) -> Neighbourhood:
        label = relations().get(relations().name(call.relation)).label if call.relation else ""
        asking = fact_query(call.query or understand(label, ()))
        window = call.window
        bounded = window.since > BEGINNING or window.until < FOREVER
        return Neighbourhood(
            call.space.facts,
            asking,
            Likeness(call.cosine, _RAW, self._settings.spread),
            (key,),
            at=(window.since, window.until) if bounded else None,
            uncertain=asking.accepts_guesses or not self._settings.confidence,
            settings=self._settings,
        )


class ExpandFacts(_LookingAround):
    """One step of the beam: what is known around an entity, both ways, nearest to the query first."""

    name = "expand_facts"

    def _found(self, call: OperatorInput, key: str, near: Neighbourhood) -> OperatorResult:
        edges = [
            edge
            for edge in near.edges(key, near.asking.intent)
            if call.relation is None or edge.step.version.relation == relations().name(call.relation)
        ][: call.limit]
        best = max((edge.rank for edge in edges), default=0.0)
        items = [
            fact_evidence(call.space, edge.step.version, max(0.0, edge.rank / best) if best > 0 else 1.0, (self.name,))
            for edge in edges
        ]
        following = self._next(call, near.facts, key, [(edge.step, edge.end) for edge in edges])
        return OperatorResult(tuple(items), tuple(following))

    def _next(
        self, call: OperatorInput, facts: Facts, key: str, taken: Sequence[tuple[Walked, str]]
    ) -> Iterator[Suggestion]:
        here = facts.name(key)
        if not taken:
            args = {"entity": here}
            args |= {"relation": call.relation} if call.relation else {}
            args |= {"query": call.query.text} if call.query else {}
            yield Suggestion("counterfactual", args, "nothing is known directly: try what may be inferred")
            return
        groups = dict.fromkeys((facts.key(step.version.head), step.version.relation) for step, _ in taken)
        changed = [group for group in groups if len(facts.versions(*group)) > 1 and _single(facts, group[1])]
        for head, relation in changed[:_NEXT]:
            args = {"entity": facts.name(head), "relation": relation}
            yield Suggestion("versions", args, "this value changed over time")
        ends = [end for end in dict.fromkeys(end for _, end in taken) if _is_more_known(facts, end)]
        for end in ends[:_NEXT]:
            yield Suggestion("expand_facts", {"entity": facts.name(end)}, f"more is known about {facts.name(end)}")


class Versions:
    """The history of what is known of an entity: every version, by start; suspected and contested ones too."""

    name = "versions"
    needs = ("entity",)
    uses = ("entity", "relation", "since", "until")

    def __call__(self, call: OperatorInput) -> OperatorResult:
        """See `ports.Operator`; ``relation`` narrows it to one kind of fact, the window to a time."""
        key = _entity(call, NavigationSettings())
        if key is None:
            return OperatorResult(())
        facts = call.space.facts
        names = facts.relations_of(key) if call.relation is None else [relations().name(call.relation)]
        history = [v for name in names for v in (*facts.versions(key, name), *facts.suspected(key, name))]
        shown = _by_start(v for v in history if _within(v, call))[: call.limit]
        tails = dict.fromkeys(facts.key(version.tail) for version in reversed(shown) if version.until >= FOREVER)
        following = [
            Suggestion("expand_facts", {"entity": facts.name(tail)}, f"more is known about {facts.name(tail)}")
            for tail in tails
            if tail != key and _is_more_known(facts, tail)
        ]
        return OperatorResult(_evidence(call, shown, self.name), tuple(following[:_NEXT]))


class Timeline:
    """What began or held in a stretch of time, by start: of an entity on either side of facts, or of all that is known.

    Without an entity only what begins within the window is shown, for everything that holds there may be everything.
    """

    name = "timeline"
    needs = ()
    uses = ("entity", "since", "until")

    def __call__(self, call: OperatorInput) -> OperatorResult:
        """See `ports.Operator`; needs neither an entity nor a window, but either makes it short."""
        facts = call.space.facts
        if call.entity is None:
            shown = list(_beginning(call))
        else:
            key = _entity(call, NavigationSettings())
            both = () if key is None else (*facts.from_(key), *facts.to(key))
            shown = _by_start(v for v in both if v.since < v.until and _within(v, call))[: call.limit]
        heads = list(dict.fromkeys(version.head for version in shown))
        following = [
            Suggestion("versions", {"entity": head}, f"all that is known of {head}, by time") for head in heads
        ]
        return OperatorResult(_evidence(call, shown, self.name), tuple(following[:_NEXT]))


class Counterfactual(_LookingAround):
    """What may be inferred about an entity though nobody said it: hypotheses, each with its rule.

    A relation is what is inferred, and nothing else; a query beside it says which of the guesses is likeliest.
    """

    name = "counterfactual"

    def _around(self, call: OperatorInput, key: str) -> Neighbourhood:
        return super()._around(call if call.relation is None else replace(call, query=None), key)

    def _found(self, call: OperatorInput, key: str, near: Neighbourhood) -> OperatorResult:
        facts = near.facts
        question = call.query or near.asking.query
        wanted = None if call.relation is None else relations().name(call.relation)
        root = Root(key, facts.name(key), near.asking.intent)
        judge = EmbeddedJudge(facts, near.asking, near.likeness, {}, self._settings, intents=self._settings.intent)
        recovered = recover(near, Path(root, (), key, PathScores(0.0, 0.0, 0.0)), ())
        guesses = [path for path in recovered if wanted in (None, path.steps[-1].version.relation)]
        scored = zip(guesses, judge.score(question, guesses) if guesses else [], strict=True)
        ranked = sorted(scored, key=lambda found: (-found[1].mean, found[0].steps[-1].version.id))[: call.limit]
        best = max((scores.mean for _, scores in ranked), default=0.0) or 1.0
        items = []
        for path, scores in ranked:
            step = path.steps[-1]
            score = scores.mean / best
            items.append(fact_evidence(call.space, step.version, score, (self.name,), step.inferred, step.confidence))
        ends = list(dict.fromkeys(path.end for path, _ in ranked))[:_NEXT]
        following = [
            Suggestion("expand_facts", {"entity": facts.name(end)}, f"check the guess from {facts.name(end)}")
            for end in ends
        ]
        return OperatorResult(tuple(items), tuple(following))


def _entity(call: OperatorInput, settings: NavigationSettings) -> str | None:
    """Return the key of the entity that is asked about, the likeliest where the name fits several; None for none."""
    found = meant(call.space.facts, call.entity or "", settings.joint)
    return found[0] if found else None


def _is_more_known(facts: Facts, key: str) -> bool:
    """Return whether an entity takes part in other facts; another name of one that was looked at is none (`end`)."""
    return facts.known_entity(key) == key and facts.degree(key) > 1


def _single(facts: Facts, relation: str) -> bool:
    return facts.cardinality(relation) == "single"


def _within(version: Version, call: OperatorInput) -> bool:
    return version.since < call.window.until and max(version.until, version.since + 1) > call.window.since


def _by_start(versions: Iterable[Version]) -> list[Version]:
    unique = {version.id: version for version in versions}
    return sorted(unique.values(), key=lambda version: (version.since, version.until, version.id))


def _beginning(call: OperatorInput) -> Iterator[Version]:
    """Yield the versions that begin within the window, by start; only those that are shown are folded."""
    facts = call.space.facts
    rows = [row for row in facts.rows if call.window.since <= row.since < call.window.until and not row.negated]
    seen: set[str] = set()
    for row in sorted(rows, key=lambda row: (row.since, row.id)):
        if len(seen) == call.limit:
            return
        version = facts.version_of(row)
        if version is None or version.id in seen or version.since != row.since or version.confidence < facts.stable:
            continue
        seen.add(version.id)
        yield version


def _evidence(call: OperatorInput, versions: Iterable[Version], operator: str) -> tuple[Evidence, ...]:
    return tuple(fact_evidence(call.space, version, 1.0, (operator,)) for version in versions)
