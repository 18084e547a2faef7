"""memory_status: how much the memory holds, where, who judges it, and whether it is healthy."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from mcp_memory.domain.access import CALLER, MEANT_SPACE
from mcp_memory.domain.status import COUNTED, Judging, Status
from mcp_memory.server.tools.arguments import Input
from mcp_memory.server.tools.replies import SPENT, Reply, problem_texts, quantity, reply_of, row, warning_lines

if TYPE_CHECKING:
    from mcp_memory.memory import Memory
    from mcp_memory.ports import Progress

SPACES_LISTED = 50


class StatusInput(Input):
    """Arguments of memory_status: none."""


def status_reply(status: Status) -> Reply:
    """Return the reply to a call; of many spaces only the first are listed, and only those that the caller may read."""
    caller, store = CALLER.get(), status.store
    versions = {"server": status.version, "format": store.format, "generation": store.generation, "commit": store.tx}
    spaces: list[dict[str, Any]] = [
        {"space": name, **counts} for name, counts in status.spaces.items() if caller.may(("read",), name)
    ]
    if not caller.sees_all:  # where the store lies, and how much all spaces take, is not theirs to know
        store = replace(store, uri="(not shown)", bytes=None)
        del versions["commit"]
    total = {kind: sum(space[kind] for space in spaces) for kind in COUNTED}
    warnings = [*problem_texts(store.problems), *store.notes, *status.notes]
    if (more := len(spaces) - SPACES_LISTED) > 0:
        warnings.append(f"{quantity(more, 'space')} not listed here; read memory://spaces.")
    waiting = quantity(total["pending"], "text")
    size = "" if store.bytes is None else f", {store.bytes / 1e6:.1f} MB"
    size += f", {quantity(store.tx, 'commit')}" if caller.sees_all else ""
    lines = [
        f"{'Healthy' if status.healthy else 'NOT HEALTHY'}. mcp-memory {status.version}, embedder {status.embedder}, "
        f"{f'{status.reader}, ' if status.reader else ''}"
        f"{f'facts read by {status.extractor}' if status.extractor else 'no facts read out of texts'}.",
        f"Holds {quantity(total['messages'], 'message')} and {quantity(total['documents'], 'document')} "
        f"in {quantity(total['sessions'], 'session')} and {quantity(len(spaces), 'space')}; "
        f"{quantity(total['assertions'], 'statement')} of facts about {quantity(total['entities'], 'entity')}; "
        f"{quantity(total['lessons'], 'lesson')} of what helped; {quantity(total['points'], 'memory point')}.",
        f"Calls that name no space go to {MEANT_SPACE.get()!r}.",
        _who_judges_text(status.judging),
        *([f"{waiting} not indexed yet, so found by the words only."] if total["pending"] else ()),
        f"Store {store.uri}{size}, open in {quantity(len(store.holders), 'process')}.",
    ]
    return reply_of(
        [*lines, *warning_lines(warnings)],
        counts=total,
        space=MEANT_SPACE.get(),
        spaces=spaces[:SPACES_LISTED],
        embedder=status.embedder,
        reader=status.reader,
        extractor=status.extractor,
        claude=None if status.judging is None else _claude(status.judging),
        storage=row(store, "uri", "bytes"),
        queue=store.queue,
        versions=versions,
        uptime_s=round(status.uptime_s, 3),
        processes=len(store.holders),
        healthy=status.healthy,
        engine=status.engine,
        warnings=warnings,
    )


def _claude(judging: Judging) -> dict[str, Any]:
    """Return how Claude takes part, what this process spent on it, and all processes ``today``."""
    today, texts = judging.today, judging.texts
    return row(judging.spent, *SPENT) | {
        "judge": judging.when,
        "model": judging.model,
        "url": judging.url,
        "key": judging.key,
        "today": {name: max(0, getattr(today, name)) for name in SPENT if name != "seconds"}
        | {"allowed_tokens": judging.day_tokens or None},
        "texts": None if texts is None else asdict(texts) | {"resting": texts.resting or None},
    }


def _who_judges_text(judging: Judging | None) -> str:
    """Return who judges, what leaves the machine for it, and what was sent, as sentences."""
    if judging is None:
        return "Judged by the embedded engine: nothing leaves the machine."
    always = "All questions and goals" if judging.goals else "All questions"
    when = always if judging.when == "anthropic" else "Questions that the embedded engine is unsure of"
    key = "" if judging.key else ", once ANTHROPIC_API_KEY is set: it is not"
    evidence = "the evidence found for them"
    what = f"{when} and {evidence}" if judging.texts is None else f"{when}, {evidence}, and all that was written"
    spent, today, most = judging.spent, judging.today, judging.day_tokens
    tokens = f"{today.input_tokens:,} of {quantity(most, 'token')}" if most else quantity(today.input_tokens, "token")
    sentences = [
        f"{what} go to {judging.model} at {judging.url}{key}.",
        f"So far {quantity(spent.calls, 'call')}, {quantity(spent.input_tokens, 'token')} sent, "
        f"{spent.cached_tokens:,} read from the cache, {spent.output_tokens:,} received.",
        f"Today (UTC), by all processes: {quantity(today.calls, 'call')}, {tokens} sent.",
    ]
    if (texts := judging.texts) is not None:
        failed = f", {texts.failed:,} failed" if texts.failed else ""
        sentences.append(f"Texts read by Claude for facts: {texts.done:,} done, {texts.waiting:,} waiting{failed}.")
        if texts.waiting and texts.resting:
            sentences.append(f"It reads none for now: {texts.resting}.")
    return " ".join(sentences)


async def run(memory: Memory, _request: StatusInput, _args: StatusInput, _progress: Progress) -> Reply:
    """Say how the memory is."""
    return status_reply(await memory.status())
