"""memory_write: store messages, documents and facts."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, get_args

from pydantic import Field, StrictBool

from mcp_memory.domain.facts import Intent
from mcp_memory.domain.requests import NewFact, NewItem, WriteRequest, WriteResult
from mcp_memory.domain.times import FOREVER
from mcp_memory.domain.turns import Kind
from mcp_memory.errors import InvalidInput
from mcp_memory.server.tools.arguments import (
    ITEMS,
    Input,
    Name,
    RelationName,
    SpaceName,
    Time,
    allowed_space,
    offset_of,
    shown,
    start_of,
    text_within,
)
from mcp_memory.server.tools.replies import (
    CHANGES_LISTED,
    Reply,
    in_parentheses,
    indent,
    quantity,
    reply_of,
    row,
    validity,
    warning_lines,
)

if TYPE_CHECKING:
    from mcp_memory.memory import Memory
    from mcp_memory.ports import Progress

Message = Annotated[str, text_within("message_bytes")]
Confidence = Annotated[float, Field(strict=True, gt=0, le=1), "a number above 0 and at most 1"]


class MessageInput(Input):
    """A message of a conversation."""

    id: Annotated[Name | None, Field(description="Yours, to cite.")] = None
    speaker: Annotated[Name | None, Field(description="Who said it: user, assistant, or the name.")] = None
    role: Annotated[Name | None, Field(description="user or assistant, beside a name.")] = None
    text: Annotated[str, Field(description="Verbatim."), text_within("message_bytes")]
    time: Annotated[Time | None, Field(description="When said, ISO-8601.")] = None


class DocumentInput(Input):
    """A text that is not talk; one with a known id and another text is a new revision."""

    id: Name | None = None
    title: Name | None = None
    text: Annotated[str, text_within("document_bytes")]
    time: Time | None = None


class FactInput(Input):
    """A fact that the caller read out of a text, or knows."""

    head: Annotated[Name, Field(description="Who or what it is about: a name, or user.")]
    relation: Annotated[RelationName, Field(description="lives_in, works_at, likes, ...")]
    tail: Annotated[Name, Field(description="Name or value.")]
    valid_from: Annotated[Time | None, Field(description="ISO date.")] = None
    valid_to: Time | None = None
    confidence: Confidence = 0.95
    intent: Annotated[Intent, f"one of {', '.join(get_args(Intent))}"] = "FACT"
    source: Annotated[Name | None, Field(description="Id of what says it.")] = None
    negated: Annotated[StrictBool, Field(description="Ended at valid_from; from its start on: was never so.")] = False


class WriteInput(Input):
    """Arguments of memory_write."""

    messages: Annotated[list[MessageInput] | None, Field(description="Of talk, in order."), ITEMS] = None
    documents: Annotated[list[DocumentInput] | None, ITEMS] = None
    text: Annotated[Message | None, Field(description="A single message.")] = None
    facts: Annotated[list[FactInput] | None, Field(description="What you read in it, or know."), ITEMS] = None
    session: Annotated[
        Name,
        Field(description="Of this conversation. wishes: what the user always or never wants; forget what is over."),
    ] = "default"
    space: Annotated[SpaceName, Field(description="A memory walled off from the others.")] = None
    wait: Annotated[StrictBool, Field(description="Until all of it is indexed.")] = False


def write_request(args: WriteInput) -> WriteRequest:
    """Return what a call asks to store.

    Raises:
        InvalidInput: an argument is wrong.
    """
    given = [name for name in ("messages", "documents", "text") if getattr(args, name) is not None]
    if len(given) > 1:
        raise InvalidInput("messages, documents, text", f"{' and '.join(given)} came together", "Give exactly one.")
    if not given and args.facts is None:
        remedy = "Give exactly one of the three, or facts, or one of the three and facts."
        raise InvalidInput("messages, documents, text", "none of them was given, or an empty one", remedy)
    facts = tuple(_new_fact(f"facts[{place}]", fact) for place, fact in enumerate(args.facts or ()))
    kind: Kind = "document" if args.documents else "message" if given else "statement"
    if args.text is not None:
        items: tuple[NewItem, ...] = (NewItem(args.text),)
    else:
        items = tuple(map(_new_item, args.messages or args.documents or ()))
    return WriteRequest(allowed_space(args.space), args.session, kind, items, facts, args.wait)


def _new_item(item: MessageInput | DocumentInput) -> NewItem:
    said = NewItem(item.text, item.id, said_at=start_of(item.time), offset=offset_of(item.time))
    if isinstance(item, DocumentInput):
        return replace(said, title=item.title)
    return replace(said, speaker=item.speaker, role=item.role)


def _new_fact(argument: str, fact: FactInput) -> NewFact:
    since, until = start_of(fact.valid_from), start_of(fact.valid_to)
    if until is not None and fact.negated:
        remedy = "Leave it out, and give in valid_from when the fact ceased to hold."
        raise InvalidInput(f"{argument}.valid_to", "a negated fact has no end", remedy)
    if since is not None and until is not None and until <= since:
        problem = f"{shown(fact.valid_to)} is not after valid_from, {shown(fact.valid_from)}"
        remedy = "Give the first date or time at which the fact no longer holds."
        raise InvalidInput(f"{argument}.valid_to", problem, remedy)
    return NewFact(**fact.model_dump() | {"valid_from": since, "valid_to": until})


def write_reply(request: WriteRequest, result: WriteResult) -> Reply:
    """Return the reply to a call."""
    stored, number = sum(item.stored for item in result.items), len(result.items)
    lines = []
    if number:
        lines = [
            f"Stored {stored} of {quantity(number, request.kind)} in session {request.session!r}, "
            f"space {request.space!r}."
        ]
        if stored < number:
            lines[0] += " The others were there already."
    if result.pending:
        what = "It is" if result.pending == 1 else f"{result.pending:,} texts are"
        lines.append(f"{what} found by the words now; meaning and facts follow in the background.")
    if result.facts:
        ops = Counter(fact.op for fact in result.facts)
        lines.append(f"Facts: {', '.join(f'{ops[op]} {op}' for op in ops)}.")
    elif request.facts:
        lines.append("No fact changed: nothing that was known ends by what was negated.")
    ended = [fact.text.casefold() for fact in result.facts if fact.op in ("closed", "contested", "merged")]
    idle = [one for one in request.facts if one.negated and not any(one.tail.casefold() in text for text in ended)]
    if result.facts and idle:
        said = "; ".join(indent(f"{one.head} {one.relation} {one.tail}") for one in idle[:CHANGES_LISTED])
        lines.append(f"Nothing that was known at its time ends by what was negated of: {said}.")
    changed = [
        fact
        for fact in result.facts
        if fact.op in ("closed", "contested") or (fact.op == "merged" and (fact.valid_to or FOREVER) < FOREVER)
    ]  # a merged one with an end may reach further than meant: two stays of which one was to replace the other
    lines += [
        f"- {fact.op}: {indent(fact.text)}{in_parentheses(times)}"
        for fact in changed[:CHANGES_LISTED]
        for times in (validity(fact.valid_from, fact.valid_to, fact.kind, fact.precision),)
    ]
    return reply_of(
        [*lines, *warning_lines(result.warnings)],
        items=[{"id": item.ref, "session": request.session, "stored": item.stored} for item in result.items],
        facts=[row(one, "id", "text", "op", "valid_from", "valid_to", "kind", "precision") for one in result.facts],
        entities=result.entities,
        counts={"stored": stored, "unchanged": number - stored}
        | {"segments": result.segments, "sentences": result.sentences},
        pending={"texts": result.pending} if result.pending else None,
        engine=result.engine,
        warnings=result.warnings,
    )


async def run(memory: Memory, request: WriteRequest, _args: WriteInput, progress: Progress) -> Reply:
    """Store what a call brings."""
    return write_reply(request, await memory.write(request, progress))
