"""What memory_status says: how much is held, where, who judges it, and whether it is well."""

from __future__ import annotations

from dataclasses import asdict, replace

from mcp_memory.domain import status
from mcp_memory.domain.spending import Spending
from mcp_memory.server.budget import Reply, counted, warned
from mcp_memory.server.results import (
    ClaudeResult,
    Counts,
    SpaceCounts,
    SpentResult,
    StatusResult,
    StorageResult,
    TextsReadResult,
    TodayResult,
    Versions,
)

SPACES_SHOWN = 50


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
    lines = [
        f"{'Healthy' if state.healthy else 'NOT HEALTHY'}. mcp-memory {state.version}, embedder {state.embedder}, "
        f"{f'facts read by {state.extractor}' if state.extractor else 'no facts read out of texts'}.",
        f"Holds {counted(total.messages, 'message')} and {counted(total.documents, 'document')} "
        f"in {counted(total.sessions, 'session')} and {counted(len(state.spaces), 'space')}; "
        f"{counted(total.assertions, 'statement')} of facts about {counted(total.entities, 'entity')}; "
        f"{counted(total.lessons, 'lesson')} of what helped; {counted(total.points, 'memory point')}.",
        _told_of(state.judging),
        f"Store {store.uri}{size}, {counted(store.tx, 'commit')}, open in {counted(len(store.holders), 'process')}.",
        *warned(warnings),
    ]
    return Reply(result, "\n".join(lines))


def _judging(judging: status.Judging | None) -> ClaudeResult | None:
    if judging is None:
        return None
    return ClaudeResult(
        judge=judging.when,
        model=judging.model,
        url=judging.url,
        key=judging.key,
        today=_today(judging),
        texts=_texts(judging.texts),
        **dict(spent_result(judging.spent)),
    )


def _texts(read: status.TextsRead | None) -> TextsReadResult | None:
    return None if read is None else TextsReadResult(**asdict(read) | {"resting": read.resting or None})


def _today(judging: status.Judging) -> TodayResult:
    spent = judging.today
    return TodayResult(
        calls=max(0, spent.calls),
        input_tokens=max(0, spent.input_tokens),
        cached_tokens=max(0, spent.cached_tokens),
        output_tokens=max(0, spent.output_tokens),
        allowed_tokens=judging.day_tokens or None,
    )


def spent_result(spent: Spending) -> SpentResult:
    """Return what was spent on Claude."""
    return SpentResult(**asdict(replace(spent, seconds=round(spent.seconds, 3))))


def judged_by(judging: status.Judging | None) -> str:
    """Return who judges and what leaves the machine for it, as a sentence."""
    if judging is None:
        return "Judged by the embedded engine: nothing leaves the machine."
    asked = "All questions and goals" if judging.goals else "All questions"
    when = asked if judging.when == "anthropic" else "Questions that the embedded engine is unsure of"
    key = "" if judging.key else ", once ANTHROPIC_API_KEY is set: it is not"
    found = "the evidence found for them"
    what = f"{when} and {found}" if judging.texts is None else f"{when}, {found}, and all that was written"
    return f"{what} go to {judging.model} at {judging.url}{key}."


def spent_today(judging: status.Judging) -> str:
    """Return what this day has cost, of how much, as a sentence."""
    sent, most = judging.today.input_tokens, judging.day_tokens
    tokens = f"{sent:,} of {counted(most, 'token')}" if most else counted(sent, "token")
    return f"Today (UTC), by all processes: {counted(judging.today.calls, 'call')}, {tokens} sent."


def texts_read(judging: status.Judging) -> str:
    """Return how far all that was written is read, as a sentence; nothing where it is not sent."""
    if (read := judging.texts) is None:
        return ""
    failed = f", {read.failed:,} failed" if read.failed else ""
    resting = f" It reads none for now: {read.resting}." if read.waiting and read.resting else ""
    return f"Texts read by Claude for facts: {read.done:,} done, {read.waiting:,} waiting{failed}.{resting}"


def _told_of(judging: status.Judging | None) -> str:
    """Return who judges, and what this process has sent for it."""
    if judging is None:
        return judged_by(judging)
    spent = judging.spent
    told = (
        judged_by(judging),
        f"So far {counted(spent.calls, 'call')}, {counted(spent.input_tokens, 'token')} sent, "
        f"{spent.cached_tokens:,} read from the cache, {spent.output_tokens:,} received.",
        spent_today(judging),
        texts_read(judging),
    )
    return " ".join(part for part in told if part)


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
