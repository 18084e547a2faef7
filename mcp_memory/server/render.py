"""From the words of ``domain`` to what a client reads: a structured result, and a short text for the model.

Replies of the reading tools keep within ``max_tokens`` (``budget.py``); records are told as ``records.py`` says.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypedDict

from mcp_memory.domain import evidence as found
from mcp_memory.domain import requests, status
from mcp_memory.domain.spending import Spending
from mcp_memory.errors import InvalidInput
from mcp_memory.navigation.paths import serialise
from mcp_memory.server import records
from mcp_memory.server.budget import SHARES, Reply, counted, left_out, most_fitting, within
from mcp_memory.server.results import (
    AnswerResult,
    BudgetResult,
    CallResult,
    ChangeResult,
    CitationResult,
    ClaudeResult,
    Counts,
    EvolveResult,
    ExploreResult,
    FactResult,
    ItemResult,
    NextResult,
    PointResult,
    ReconstructResult,
    RootResult,
    SkippedResult,
    SpaceCounts,
    SpentResult,
    StatusResult,
    StorageResult,
    TodayResult,
    Versions,
    WriteCounts,
    WriteResult,
)

if TYPE_CHECKING:
    from mcp_memory.ports import Found

SPACES_SHOWN = 50
CHANGES_TOLD = 10
"""Changes that the readable part of a reply names; the structured part has all."""


def written(request: requests.WriteRequest, result: requests.WriteResult) -> Reply:
    """Return what memory_write says."""
    stored = sum(item.stored for item in result.items)
    items = [ItemResult(id=item.ref, session=item.session, stored=item.stored) for item in result.items]
    counts = WriteCounts(
        stored=stored, unchanged=len(items) - stored, segments=result.segments, sentences=result.sentences
    )
    lines = []
    if items:
        number = counted(len(items), request.kind)
        lines = [f"Stored {stored} of {number} in session {request.session!r}, space {request.space!r}."]
        if stored < len(items):
            lines[0] += " The others were there already."
    if result.facts:
        ops = Counter(fact.op for fact in result.facts)
        lines.append(f"Facts: {', '.join(f'{ops[op]} {op}' for op in ops)}.")
    elif request.facts:
        lines.append("No fact changed: nothing that was known ends by what was negated.")
    touched = [fact for fact in result.facts if fact.op in ("closed", "contested")]
    lines += [f"- {fact.op}: {records.indented(fact.text)}{_times(fact)}" for fact in touched[:CHANGES_TOLD]]
    structured = WriteResult(
        items=items,
        facts=[
            FactResult(
                id=fact.id,
                text=fact.text,
                op=fact.op,
                valid_from=records.shown(fact.valid_from),
                valid_to=records.shown(fact.valid_to),
            )
            for fact in result.facts
        ],
        entities=list(result.entities),
        counts=counts,
        engine=result.engine,
        warnings=list(result.warnings),
    )
    return Reply(structured, _lines(*lines, *_warned(result.warnings)))


def recalled(recall: found.Recall, max_tokens: int, detail: requests.Detail = "brief") -> Reply:
    """Return what memory_reconstruct says, within ``max_tokens``."""
    missing = within(recall.missing, "missing", max_tokens)
    said = within(recall.warnings, "warnings", max_tokens)
    points = [PointResult(id=one.id, text=one.description, entities=list(one.entities)) for one in recall.points]
    points = within(points, "points", max_tokens)
    beside, told = _beside(recall, max_tokens, detail)

    def reply(kept: int) -> Reply:
        warnings = [*said, *left_out(len(recall.evidence) - kept)]
        result = ReconstructResult(
            episode=recall.episode,
            evidence=[records.row(item) for item in recall.evidence[:kept]],
            points=points,
            sufficient=recall.sufficient,
            sufficiency=records.rounded(recall.sufficiency),
            missing=missing,
            engine=recall.engine,
            warnings=warnings,
            **beside,
        )
        enough = "Enough to answer from" if recall.sufficient else "Perhaps not enough to answer from"
        uncovered = f"; nothing on: {', '.join(missing)}" if missing else ""
        judgement = f"{enough} (sufficiency {recall.sufficiency:.2f}{uncovered})."
        shown = {item.id for item in recall.evidence[:kept]}
        listed = [f"Memory point {one.id}: {_line(one.text)}" for one in points if one.id not in shown]
        lines = [*records.numbered(recall.evidence[:kept]), *listed, *told, judgement, *_warned(warnings)]
        return Reply(result, _lines(*lines, *_episode(recall)))

    fitting = most_fitting(reply, 0, len(recall.evidence), max_tokens)
    return fitting or reply(0)  # without a record it always fits: what stays is bounded above


def answered(answer: found.Answer, max_tokens: int, detail: requests.Detail = "brief") -> Reply:
    """Return what memory_answer says, within ``max_tokens``.

    Raises:
        InvalidInput: the answer with the one citation that it needs is longer than that.
    """
    items, citations = answer.recall.evidence, answer.citations
    numbers = {item.id: number for number, item in enumerate(items, 1)}
    said = within(answer.recall.warnings, "warnings", max_tokens)
    missing = within([_line(one) for one in answer.recall.missing], "missing", max_tokens)
    beside, told = _beside(answer.recall, max_tokens, detail)

    def reply(kept: int) -> Reply:
        """Keep so many citations, and then so many records."""
        cited, shown = citations[:kept], items[: max(kept - len(citations), 0)]
        warnings = [*said, *left_out(len(citations) + len(items) - kept)]
        result = AnswerResult(
            episode=answer.recall.episode,
            answer=answer.text,
            abstained=answer.text is None,
            confidence=records.rounded(answer.confidence),
            hedged=answer.hedged,
            citations=[
                CitationResult(
                    id=citation.evidence_id, quote=citation.source.quote, source=records.origin(citation.source.turn)
                )
                for citation in cited
            ],
            evidence=[records.row(item) for item in shown],
            engine=answer.engine,
            warnings=warnings,
            **beside,
        )
        hedge = ", uncertain" if answer.hedged else ""
        if answer.text is None:
            head = [f"No answer: memory does not say it surely enough (confidence {answer.confidence:.2f})."]
            if answer.engine != "embedded" and missing:
                head += [f"Missing, in the judge's words: {'; '.join(missing)}."]
        else:
            words = records.indented(answer.text)
            head = [f"Answer: {words} (confidence {answer.confidence:.2f}{hedge})", "Because of:"]
            head += [f"- {_cited(c, numbers)} “{records.indented(c.source.quote)}”" for c in cited]
        lines = [*head, *(records.numbered(shown) if shown else ()), *told, *_warned(warnings)]
        return Reply(result, _lines(*lines, *_episode(answer.recall)))

    least = min(len(citations), 1)
    fitting = most_fitting(reply, least, len(citations) + len(items), max_tokens)
    if fitting is None:
        grows = sum(SHARES.values()) - SHARES["points"]  # what stands beside it; points do not
        needed = int(reply(least).tokens / (1 - grows)) + 1
        raise InvalidInput("max_tokens", f"{max_tokens} do not hold the answer", f"Give at least {needed}.")
    return fitting


def explored(step: Found, max_tokens: int) -> Reply:
    """Return what memory_explore says, within ``max_tokens``."""
    further = within([_next(one) for one in step.next], "next", max_tokens)
    said = within(step.warnings, "warnings", max_tokens)

    def reply(kept: int) -> Reply:
        warnings = [*said, *left_out(len(step.items) - kept)]
        result = ExploreResult(
            items=[records.row(item) for item in step.items[:kept]],
            next=further,
            engine="embedded",
            warnings=warnings,
        )
        return Reply(
            result,
            _lines(*records.numbered(step.items[:kept], ids=True), *map(_suggested, further), *_warned(warnings)),
        )

    return most_fitting(reply, 0, len(step.items), max_tokens) or reply(0)


def evolved(result: requests.EvolveResult) -> Reply:
    """Return what memory_evolve says."""
    changes = [
        ChangeResult(
            step=one.step,
            kind=one.kind,
            id=one.id,
            text=one.text,
            before=one.before,
            after=one.after,
            valid_from=records.shown(one.valid_from),
            valid_to=records.shown(one.valid_to),
        )
        for one in result.changes
    ]
    lines = [f"{counted(len(changes), 'change')}." if changes else "Nothing changed."]
    for change in result.changes[:CHANGES_TOLD]:
        was = f"{change.before} -> " if change.before else ""
        named = f" ({change.id})" if change.kind == "point" else ""  # by which it is updated, merged, looked around
        text = f"{records.indented(change.text)}{_times(change)}{named}"
        lines.append(f"- {change.step}: {was}{change.after}: {text}")
    if (more := len(changes) - CHANGES_TOLD) > 0:
        lines.append(f"And {more:,} more.")
    lines += [f"Skipped {one.step}: {one.reason}" for one in result.skipped]
    structured = EvolveResult(
        changes=changes,
        skipped=[SkippedResult(step=one.step, reason=one.reason) for one in result.skipped],
        engine=result.engine,
        warnings=list(result.warnings),
    )
    return Reply(structured, _lines(*lines, *_warned(result.warnings)))


def reported(state: status.Status) -> Reply:
    """Return what memory_status says; of many spaces only the first are listed."""
    total = Counts(
        messages=sum(space.messages for space in state.spaces),
        documents=sum(space.documents for space in state.spaces),
        sessions=sum(space.sessions for space in state.spaces),
        segments=sum(space.segments for space in state.spaces),
        sentences=sum(space.sentences for space in state.spaces),
        assertions=sum(space.assertions for space in state.spaces),
        entities=sum(space.entities for space in state.spaces),
        lessons=sum(space.lessons for space in state.spaces),
        points=sum(space.points for space in state.spaces),
    )
    warnings = list(state.store.problems)
    if (more := len(state.spaces) - SPACES_SHOWN) > 0:
        warnings.append(f"{counted(more, 'space')} not listed here; read memory://spaces.")
    store = state.store
    result = StatusResult(
        counts=total,
        spaces=[space_counts(space) for space in state.spaces[:SPACES_SHOWN]],
        embedder=state.embedder,
        extractor=state.extractor,
        claude=_judging(state.judging),
        storage=StorageResult(uri=store.uri, bytes=store.bytes),
        queue=store.queue,
        versions=Versions(server=state.version, format=store.format, generation=store.generation, commit=store.tx),
        uptime_s=round(state.uptime_s, 3),
        processes=len(store.holders),
        healthy=state.healthy,
        engine=state.engine,
        warnings=warnings,
    )
    size = "" if store.bytes is None else f", {store.bytes / 1e6:.1f} MB"
    text = _lines(
        f"{'Healthy' if state.healthy else 'NOT HEALTHY'}. mcp-memory {state.version}, embedder {state.embedder}, "
        f"{f'facts read by {state.extractor}' if state.extractor else 'no facts read out of texts'}.",
        f"Holds {counted(total.messages, 'message')} and {counted(total.documents, 'document')} "
        f"in {counted(total.sessions, 'session')} and {counted(len(state.spaces), 'space')}; "
        f"{counted(total.assertions, 'statement')} of facts about {counted(total.entities, 'entity')}; "
        f"{counted(total.lessons, 'lesson')} of what helped; {counted(total.points, 'memory point')}.",
        _told_of(state.judging),
        f"Store {store.uri}{size}, {counted(store.tx, 'commit')}, open in {counted(len(store.holders), 'process')}.",
        *_warned(warnings),
    )
    return Reply(result, text)


def _judging(judging: status.Judging | None) -> ClaudeResult | None:
    if judging is None:
        return None
    return ClaudeResult(
        judge=judging.when,
        model=judging.model,
        url=judging.url,
        key=judging.key,
        today=_today(judging),
        **_spent(judging.spent),
    )


def _today(judging: status.Judging) -> TodayResult:
    spent = judging.today
    return TodayResult(
        calls=max(0, spent.calls),
        input_tokens=max(0, spent.input_tokens),
        cached_tokens=max(0, spent.cached_tokens),
        output_tokens=max(0, spent.output_tokens),
        allowed_tokens=judging.day_tokens or None,
    )


def _spent(spent: Spending) -> dict[str, Any]:
    return asdict(spent) | {"seconds": round(spent.seconds, 3)}


def judged_by(judging: status.Judging | None) -> str:
    """Return who judges and what leaves the machine for it, as a sentence."""
    if judging is None:
        return "Judged by the embedded engine: nothing leaves the machine."
    when = "Every question" if judging.when == "anthropic" else "Questions that the embedded engine is unsure of"
    key = "" if judging.key else ", once ANTHROPIC_API_KEY is set: it is not"
    return f"{when} and the evidence found for them go to {judging.model} at {judging.url}{key}."


def spent_today(judging: status.Judging) -> str:
    """Return what this day has cost, of how much, as a sentence."""
    of = f" of {judging.day_tokens:,}" if judging.day_tokens else ""
    return (
        f"Today (UTC), by all processes: {counted(judging.today.calls, 'call')}, "
        f"{judging.today.input_tokens:,}{of} tokens sent."
    )


def _told_of(judging: status.Judging | None) -> str:
    """Return who judges, and what this process has sent for it."""
    if judging is None:
        return judged_by(judging)
    spent = judging.spent
    return (
        f"{judged_by(judging)} So far {counted(spent.calls, 'call')}, {spent.input_tokens:,} tokens sent, "
        f"{spent.cached_tokens:,} read from the cache, {spent.output_tokens:,} received. {spent_today(judging)}"
    )


def space_counts(space: status.SpaceStatus) -> SpaceCounts:
    """Return how much a space holds."""
    return SpaceCounts(
        space=space.name,
        messages=space.messages,
        documents=space.documents,
        sessions=space.sessions,
        segments=space.segments,
        sentences=space.sentences,
        assertions=space.assertions,
        entities=space.entities,
        lessons=space.lessons,
        points=space.points,
    )


def _times(fact: requests.WrittenFact | requests.Improved) -> str:
    held = records.holding(fact.valid_from, fact.valid_to)
    return f" ({held})" if held else ""


def _warned(warnings: Sequence[str]) -> list[str]:
    return [f"Warning: {warning}" for warning in warnings]


class _Beside(TypedDict):
    """What stands beside the evidence; the last six only with all detail."""

    conflicts: list[str]
    roots: list[RootResult] | None
    paths: list[str] | None
    next: list[NextResult] | None
    stop_reason: found.Stop | None
    trace: list[CallResult] | None
    budget: BudgetResult | None


def _beside(recall: found.Recall, max_tokens: int, detail: requests.Detail) -> tuple[_Beside, list[str]]:
    """Return what stands beside the evidence, and the same as lines to read."""
    conflicts = within(recall.conflicts, "conflicts", max_tokens)
    lines = [f"Conflict: {_line(conflict)}" for conflict in conflicts]
    if detail == "brief":
        return _Beside(
            conflicts=conflicts, roots=None, paths=None, next=None, stop_reason=None, trace=None, budget=None
        ), lines
    roots = [RootResult(name=root.name, intent=root.intent) for root in recall.roots]
    roots = within(roots, "roots", max_tokens)
    paths = within([serialise(path) for path in recall.paths], "paths", max_tokens)
    further = within([_next(one) for one in recall.next], "next", max_tokens)
    lines += [f"Path: {_line(path)}" for path in paths]
    lines += [_suggested(one) for one in further]
    if recall.stop is not None:
        lines.append(
            f"Looked on for {counted(recall.turns, 'turn')}, {counted(len(recall.trace), 'step')}: {recall.stop}."
        )
    return _Beside(
        conflicts=conflicts,
        roots=roots,
        paths=paths,
        next=further,
        stop_reason=recall.stop,
        trace=None if recall.stop is None else within([_call(one) for one in recall.trace], "trace", max_tokens),
        budget=BudgetResult(
            turns=recall.turns,
            calls=len(recall.trace),
            texts=recall.texts,
            rounds=recall.rounds,
            claude=None if recall.spent is None else SpentResult(**_spent(recall.spent)),
        ),
    ), lines


def _episode(recall: found.Recall) -> list[str]:
    return [f"Episode {recall.episode} (for memory_evolve)."] if recall.episode else []


def _cited(citation: found.Citation, numbers: Mapping[str, int]) -> str:
    """Return where words stand: the number of the record, by which memory_evolve knows it, and what that is from."""
    number = numbers.get(citation.evidence_id)
    record = f"record {number} " if number is not None else ""
    return record + records.heading(citation.source.turn)


def _next(suggestion: found.Suggestion) -> NextResult:
    return NextResult(operator=suggestion.operator, args=_args(suggestion.args), why=suggestion.why)


def _call(call: found.Call) -> CallResult:
    return CallResult(turn=call.turn, operator=call.operator, args=_args(call.args), found=call.found, kept=call.kept)


def _args(given: Mapping[str, str | tuple[str, ...]]) -> dict[str, str | list[str]]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in given.items()}


def _suggested(step: NextResult) -> str:
    args = json.dumps(step.args, ensure_ascii=False)
    return f"Next: memory_explore {step.operator} {_line(args)}: {_line(step.why)}"


def _line(text: str) -> str:
    return " ".join(text.splitlines())


def _lines(*lines: str) -> str:
    return "\n".join(lines)
