"""memory_forget: let go of what the user wants forgotten, for good."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

from pydantic import Field, StrictBool

from mcp_memory.domain.requests import ForgetRequest, ForgetResult
from mcp_memory.errors import InvalidInput
from mcp_memory.server.tools.arguments import IDS, Input, Name, SpaceName, Time, parse_window, request_of, short_text
from mcp_memory.server.tools.replies import Reply, indent, reply_of, warning_lines

if TYPE_CHECKING:
    from mcp_memory.memory import Memory
    from mcp_memory.ports import Progress

_CHOICES = "ids, session, entity, query, since/until, everything"


class ForgetInput(Input):
    """Arguments of memory_forget."""

    ids: Annotated[list[Name] | None, IDS] = None
    session: Annotated[Name | None, Field(description="Whole, or that of ids.")] = None
    entity: Annotated[Name | None, Field(description="Who said it or is alone in it.")] = None
    query: Annotated[str, short_text("Say what is to be forgotten.")] | None = None
    since: Time | None = None
    until: Time | None = None
    everything: StrictBool = False
    dry_run: StrictBool = True
    token: Name | None = None
    space: SpaceName = None


def forget_request(args: ForgetInput) -> ForgetRequest:
    """Return what a call asks to forget.

    Raises:
        InvalidInput: an argument is wrong, or not exactly one choice is made.
    """
    ranged = args.since is not None or args.until is not None
    given = {
        "ids": args.ids is not None,
        "session": args.session is not None and args.ids is None,
        "entity": args.entity is not None,
        "query": args.query is not None,
        "since/until": ranged,
        "everything": args.everything,
    }
    chosen = [name for name, there in given.items() if there]
    if len(chosen) != 1:
        problem = f"{' and '.join(chosen)} came together" if chosen else "none of them was given"
        raise InvalidInput(_CHOICES, problem, "Give exactly one; session may go with ids. Nothing was forgotten.")
    request = request_of(ForgetRequest, args)
    return replace(request, window=parse_window(args.since, args.until) if ranged else None)


def forget_reply(request: ForgetRequest, result: ForgetResult) -> Reply:
    """Return the reply to a call."""
    counts = ", ".join(_count_words(kind, count) for kind, count in result.forgotten.items()) or "nothing"
    if result.dry_run:
        lines = [f"Would be forgotten in space {request.space!r}: {counts}. Nothing was changed yet."]
        if result.token is not None:
            lines.append(f"To do it, call again with dry_run false and token {result.token!r}.")
            if sum(line.startswith(("message", "document", "statement")) for line in result.affected) > 1:
                lines.append("To forget only some of it, give their ids and session instead.")
    else:
        lines = [f"Forgotten in space {request.space!r}: {counts}. No file of the memory holds that any more."]
        if any(line.startswith(("keeps", "stays", "more stay")) for line in result.affected):
            told = "what stays, below, has its words or its name. Look at it, and tell the user."
            lines.append(f"Perhaps not all of it is gone: {told}")
    return reply_of(
        [*lines, *(f"- {indent(line)}" for line in result.affected), *warning_lines(result.warnings)],
        forgotten=result.forgotten,
        affected=result.affected,
        dry_run=result.dry_run,
        token=result.token,
        engine="caller",
        warnings=result.warnings,
    )


def _count_words(kind: str, count: int) -> str:
    first, *rest = kind.split()
    return " ".join((str(count), first.removesuffix("s") if count == 1 else first, *rest))


async def run(memory: Memory, request: ForgetRequest, _args: ForgetInput, _progress: Progress) -> Reply:
    """Preview, or forget."""
    return forget_reply(request, await memory.forget(request))
