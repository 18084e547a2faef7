"""What a person decides in the course of a call, if their client can ask them: a forget, and a contradiction."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mcp_memory.domain.facts import Version
from mcp_memory.domain.forgetting import ForgetRequest
from mcp_memory.domain.requests import NewFact, WriteRequest, WriteResult
from mcp_memory.errors import InvalidInput
from mcp_memory.server.asking import PERSON

if TYPE_CHECKING:
    from mcp_memory.memory import Memory

FORGET, KEEP = "Forget it for good", "Keep it"
LEAVE = "Leave it open"
CONFLICT = "conflict "
"""How the name of a question about a contradiction begins; the id of the fact that lost follows."""


async def confirm_forget(memory: Memory, request: ForgetRequest) -> None:
    """Ask whether to forget what a call is about to forget.

    Raises:
        InvalidInput: the person does not want it.
    """
    person = PERSON.get()
    if person is None or request.dry_run or not memory.settings.server.ask:
        return
    preview = await memory.forget(replace(request, dry_run=True, token=None))
    if not preview.forgotten or (request.token is not None and request.token != preview.token):
        return  # there is nothing to decide, or the call itself says what is wrong
    counts = ", ".join(f"{count} {kind}" for kind, count in preview.forgotten.items())
    question = "\n".join([f"Forget in space {request.space!r}: {counts}?", *preview.affected[:5]])
    if await person.choose(f"forget {preview.token}", question, (FORGET, KEEP)) not in (FORGET, None):
        raise InvalidInput("dry_run", "the user was asked and does not want it", "Nothing was forgotten.")


async def settle_conflict(memory: Memory, request: WriteRequest, result: WriteResult) -> WriteResult:
    """Ask which of two facts holds that contradict each other since this write, and state the one that was chosen."""
    person = PERSON.get()
    if person is None or not memory.settings.server.ask:
        return result
    known = [name.removeprefix(CONFLICT) for name in person.answered(CONFLICT)]
    lost = next(iter([*known, *(fact.id for fact in result.facts if fact.op == "contested")]), None)
    pair = None if lost is None else await _conflict(memory, request.space, lost)
    if lost is None or pair is None:
        return result
    texts = tuple(version.text for version in pair)
    question = f"Memory has two facts that contradict each other: {texts[0]!r}, and {texts[1]!r}. Which one holds?"
    chosen = await person.choose(CONFLICT + lost, question, (*texts, LEAVE))
    if chosen not in texts:
        return result
    version = pair[texts.index(chosen)]
    fact = NewFact(version.head, version.relation, version.tail, version.since, confidence=1.0, intent=version.intent)
    decided = await memory.write(WriteRequest(request.space, request.session, "statement", (), (fact,)))
    told = f"What was written was stored first; then the user was asked which of two facts holds, and said: {chosen}."
    return replace(result, facts=(*result.facts, *decided.facts), warnings=(*result.warnings, told))


async def _conflict(memory: Memory, space: str, lost: str) -> tuple[Version, Version] | None:
    """Return the value that holds and the one that lost to it; None if there is no such contradiction any more."""
    async with memory.store.reading(whole=False) as view:
        facts = view.space(space).facts
        version = facts.version(lost)
        if version is None or version.status != "contested":
            return None
        others = facts.versions(facts.key(version.head), version.relation)
    kept = next((one for one in others if one.status != "contested" and one.since <= version.since < one.until), None)
    return None if kept is None or kept.text == version.text else (kept, version)
