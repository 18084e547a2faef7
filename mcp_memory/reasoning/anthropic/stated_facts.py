"""Facts among the evidence as Claude sees it: those on what is asked that say more than the sentence they stand behind.

A trial showed that facts beside a sentence which says the same were never needed by themselves. So a fact stands behind
its sentence where it says whom a pronoun means, a time, an end, or a doubt. Of an event its interval says within what
it was, not how long it took: "on a day between Mon 26 Jun 2023 and Sun 2 Jul 2023".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from mcp_memory.domain.answers import KnownFacts
from mcp_memory.domain.evidence import Citation, Evidence, Source
from mcp_memory.domain.facts import STABLE, FactKind, Precision, Version
from mcp_memory.domain.paths import Path, Rule
from mcp_memory.domain.times import BEGINNING, FOREVER, Millis
from mcp_memory.language import iso
from mcp_memory.language.stated import weekday_and_day, with_dates
from mcp_memory.language.tokens import stems
from mcp_memory.navigation.paths import leads_back
from mcp_memory.ports import JudgeInput
from mcp_memory.reasoning.anthropic.messages import CitableItem, prompt_line

BESIDE = 5
"""Most conflicts, paths, guesses and memory points that are shown, of each."""
PLACES = 2
"""Sentences that are cited for one fact."""
RELEVANT, TELLING = 0.5, 0.5
"""Least S_QR of a path that is shown, and least S_AS, as a share of its confidence, of one with a hypothesis. (A trial
showed what a person owns, and what is mentioned together, with questions about something else.)"""
_SPEAKERS = frozenset((*stems("user"), *stems("assistant")))  # who "I" is, as facts name them


def facts_by_place(judge_input: JudgeInput) -> dict[tuple[str, int], list[tuple[str, CitableItem]]]:
    """Return the facts on what is asked that hold then, by the place of the sentence that states them."""
    knowledge = judge_input.known_facts
    found: dict[tuple[str, int], list[tuple[str, CitableItem]]] = {}
    used: set[str] = set()
    for version, rule in _relevant(judge_input):
        if version.id in used or rule is not None:
            continue
        item = _citable_version(version, rule, knowledge)
        if item is None:
            continue
        used.add(version.id)
        for sentence in judge_input.shown:
            if any(_within(citation.source, sentence.source) for citation in item.citations):
                if _adds(version, sentence.source):
                    found.setdefault((sentence.source.turn.id, sentence.source.start), []).append(
                        (_version_line(version, rule), item)
                    )
                break
    return found


def _adds(version: Version, source: Source) -> bool:
    """Return whether a fact says more than its sentence: whom a pronoun means, a time, an end, a doubt."""
    line = with_dates(source.quote, source.turn.local_said_at)
    known = {*stems(line), *stems(source.turn.speaker or ""), *_SPEAKERS}
    year = weekday_and_day(version.since)[-4:] if version.stated and version.precision != "before" else ""
    ended = version.kind == "state" and version.until < FOREVER
    told = known.issuperset((*stems(version.head), *stems(version.tail)))
    return not told or ended or year not in line or version.status == "contested" or version.confidence < STABLE


def _relevant(judge_input: JudgeInput) -> Iterator[tuple[Version, Rule | None]]:
    """Yield the facts of the evidence and the paths, and of the entities asked about those of the relations asked for.

    A fact that does not hold at the moment that is asked about is left out, unless recall found it as evidence.
    """
    knowledge = judge_input.known_facts
    for item in judge_input.recall.evidence:
        if item.kind == "fact" and (known := knowledge.fact(item.id)):
            yield known
    asked = judge_input.query.relations
    for path in judge_input.recall.paths[:BESIDE]:
        for step in path.steps:
            if _holds(step.version, knowledge.moment) and (not step.inferred or bears(path)):
                yield step.version, step.inferred
    for group in knowledge.groups:
        if group.relation in asked or (not asked and group.inferred is None):
            yield from ((one, group.inferred) for one in group.versions if _holds(one, knowledge.moment))


def guesses(judge_input: JudgeInput) -> Iterator[tuple[str, CitableItem]]:
    """Yield the hypotheses among what recall found, and facts of the evidence that are not known any more."""
    knowledge = judge_input.known_facts
    used: set[str] = set()
    for item in judge_input.recall.evidence:
        if item.kind != "fact" or item.inferred == "cooccurrence" or knowledge.fact(item.id) is not None:
            continue
        if citable := _citable_item(item, knowledge):
            used.add(item.id)
            yield (
                _fact_line(item.text, item.valid_from, item.valid_to, item.inferred, item.fact_kind, item.precision),
                citable,
            )
    for version, rule in _relevant(judge_input):
        if rule is not None and version.id not in used and (citable := _citable_version(version, rule, knowledge)):
            used.add(version.id)
            yield _version_line(version, rule), citable


def bears(path: Path) -> bool:
    """Return whether a path has enough to do with what is asked; a hypothesis has to tell some of it, too."""
    if any(leads_back(replace(path, steps=path.steps[: place + 1])) for place in range(len(path.steps))):
        return False
    enough = path.scores.sufficiency >= TELLING * path.confidence if path.inferred else True
    return path.scores.relevance >= RELEVANT and enough


def _holds(version: Version, moment: Millis) -> bool:
    return version.since <= moment < version.until


def _within(inner: Source, outer: Source) -> bool:
    return inner.turn.id == outer.turn.id and inner.start < outer.end and outer.start < inner.end


def _citable_version(version: Version, rule: Rule | None, knowledge: KnownFacts) -> CitableItem | None:
    places = [place for assertion in version.assertions if (place := knowledge.source(assertion))]
    citations = tuple(Citation(version.id, place) for place in places[:PLACES])
    if not citations:
        return None
    gate = knowledge.gate(citations)
    certain = rule is None and version.confidence >= STABLE and version.status != "contested" and gate >= 1
    return CitableItem(version.id, citations, certain, gate)


def _citable_item(item: Evidence, knowledge: KnownFacts) -> CitableItem | None:
    citations = tuple(Citation(item.id, place) for place in item.sources[:PLACES])
    if not citations:
        return None
    gate = knowledge.gate(citations)
    certain = item.inferred is None and (item.confidence or 1) >= STABLE and gate >= 1
    return CitableItem(item.id, citations, certain, gate)


def _version_line(version: Version, rule: Rule | None) -> str:
    if version.stated and version.precision != "before":
        return _fact_line(version.text, version.since, version.until, rule, version.kind, version.precision)
    ended = version.until if version.kind == "state" else None  # an event without a time has the day of its message
    return _fact_line(version.text, None, ended, rule)


def _fact_line(
    text: str,
    since: Millis | None,
    until: Millis | None,
    rule: Rule | None,
    kind: FactKind | None = None,
    precision: Precision | None = None,
) -> str:
    parts = []
    begins, ends = since is not None and since > BEGINNING, until is not None and until < FOREVER
    if kind == "event" and since is not None and until is not None and begins and ends:
        parts.append(_happened(since, until, precision))
    else:
        if since is not None and begins and (start := iso.show(since // iso.DAY * iso.DAY)):
            parts.append(f"from {start}")
        if until is not None and ends and (end := iso.show(until // iso.DAY * iso.DAY)):
            parts.append(f"until {end}")
    if rule is not None:
        parts.append(f"guessed by {rule}, nobody said it")
    return f"{prompt_line(text)} ({', '.join(parts)})" if parts else prompt_line(text)


def _happened(since: Millis, until: Millis, precision: Precision | None) -> str:
    """Return when an event was: its interval says within what, not how long it took."""
    first, last = weekday_and_day(since), weekday_and_day(until - 1)
    if until - since <= iso.DAY:
        return f"on {first}"
    if precision in ("month", "year") and len(words := first.split()) == 4:
        return f"in {' '.join(words[2:] if precision == 'month' else words[3:])}"
    return f"on a day between {first} and {last}"
