"""What a call sends to its client beside its result: questions to the person, its progress, and why it failed.

A person is asked where the client offers that; where it does not, calls go on without. An older client is asked while
its call runs (``elicitation/create``). One of revision 2026-07-28 gets a reply that says what is asked, and repeats its
call with the answer: so a call that asks has to be safe to repeat, and what is asked is named by what it is about, with
no state that a client could change or another replica would lack. Nothing that a client sends in this way allows more
than a call of its own would.

**Progress** is what the tool reports, and a sign of life while it reports nothing. A client that asks for progress
hears something about once a second, whatever the call: the memory may have to be opened first, and a recall has no
steps to count. Each report is further than the one before, as the protocol requires.

**Failures** of the store have texts that name files, settings and commands for whoever runs the server. A caller who
may read some spaces only does not learn them; they stand in the server's log then.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from contextvars import ContextVar
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import anyio

from mcp_memory.domain.access import CALLER
from mcp_memory.errors import InvalidInput, McpMemoryError, StoreBusy
from mcp_memory.visible import one_line, without_hidden

if TYPE_CHECKING:
    from mcp.server import ServerRequestContext
    from mcp_types import CallToolRequestParams, InputRequiredResult

    from mcp_memory.domain.forgetting import ForgetRequest
    from mcp_memory.memory import Memory

WAIT_S = 120.0
"""Seconds that a person of an older client has to answer; then the call goes on as if it could not ask."""

_log = logging.getLogger(__name__)


class InputRequired(Exception):
    """A call ends here, and is repeated with what is asked for."""

    def __init__(self, result: InputRequiredResult) -> None:
        super().__init__()
        self.result = result


class Person:
    """The person behind the client of one call.

    Args:
        context: the context of the call.
        params: the params of the call.
    """

    def __init__(self, context: ServerRequestContext[Any], params: CallToolRequestParams) -> None:
        self._context = context
        self._answers = params.input_responses or {}

    async def refuses(self, name: str, question: str) -> bool:
        """Return whether the person was asked and does not want it; not where they did not answer.

        Args:
            name: of the question, the same when the call is repeated.
            question: as it is shown.

        Raises:
            InputRequired: the client has to ask, and to repeat its call.
        """
        from mcp_types import ElicitRequest, ElicitRequestFormParams, ElicitResult, InputRequiredResult
        from mcp_types.version import MODERN_PROTOCOL_VERSIONS

        choice = {"type": "string", "title": "Your choice", "enum": [FORGET, KEEP]}
        schema = {"type": "object", "properties": {"choice": choice}, "required": ["choice"]}
        answer = self._answers.get(name)
        if name not in self._answers:
            asked = ElicitRequestFormParams(message=without_hidden(question), requested_schema=schema)
            if self._context.protocol_version in MODERN_PROTOCOL_VERSIONS:
                raise InputRequired(InputRequiredResult(input_requests={name: ElicitRequest(params=asked)}))
            try:
                with anyio.fail_after(WAIT_S):
                    answer = await self._context.session.elicit_form(asked.message, schema, self._context.request_id)
            except Exception as error:  # a client that says it can and cannot
                _log.info("The client could not ask its person: %s", error)
        if not isinstance(answer, ElicitResult) or answer.action == "cancel":
            return False
        return answer.action != "accept" or (answer.content or {}).get("choice") != FORGET


CLIENT: ContextVar[str] = ContextVar("CLIENT", default="")
"""The name and version of the client whose call is running; empty if it has not said them."""
APPS: ContextVar[bool] = ContextVar("APPS", default=False)
"""Whether the client whose call is running shows MCP Apps."""
PERSON: ContextVar[Person | None] = ContextVar("PERSON", default=None)
"""The person behind the call that is running; None where the client cannot ask."""


def person_behind(context: ServerRequestContext[Any], params: CallToolRequestParams) -> Person | None:
    """Return the person behind a call; None if the client does not offer to ask, or has no way back to it."""
    from mcp_types.version import MODERN_PROTOCOL_VERSIONS

    able = context.session.client_capabilities
    if able is None or able.elicitation is None:
        return None
    if able.elicitation.url is not None and able.elicitation.form is None:
        return None
    if context.protocol_version not in MODERN_PROTOCOL_VERSIONS and not context.session.can_send_request:
        return None
    return Person(context, params)


BEAT_S = 1.0
ResultT = TypeVar("ResultT")


class CallProgress:
    """The progress of one call."""

    def __init__(self, context: ServerRequestContext[Any]) -> None:
        self._session = context.session
        self._furthest = -1.0
        self._beats = 0

    async def report(self, done: float, total: float, what: str) -> None:
        """Report what the tool has done; after signs of life, as one step more."""
        before = 1 if self._beats else 0
        if done > self._furthest:
            self._furthest = done
            await self._session.report_progress(done + before, total + before, what)

    async def during(self, work: Callable[[], Awaitable[ResultT]]) -> ResultT:
        """Do a call's work, with signs of life until it reports something itself."""
        failure: Exception | None = None
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._beat)
            try:
                result = await work()
            except Exception as error:
                failure = error
            tasks.cancel_scope.cancel()
        if failure is not None:
            raise failure
        return result

    async def _beat(self) -> None:
        while self._furthest < 0:
            await anyio.sleep(BEAT_S)
            if self._furthest < 0:
                self._beats += 1
                await self._session.report_progress(1 - 0.5**self._beats, None, "at work")


BUSY = "The memory is busy with something else just now. Try again."
UNABLE = "The memory cannot do this now. Whoever runs the server finds the reason in its log."
DAMAGED = "Something in the memory is damaged or missing. Whoever runs the server finds out by `mcp-memory doctor`."


def error_text(error: McpMemoryError) -> str:
    """Return an error in words for the caller."""
    if CALLER.get().sees_all or isinstance(error, InvalidInput):
        return str(error)
    _log.warning("%s", error)
    return BUSY if isinstance(error, StoreBusy) else UNABLE


def problem_texts(problems: Sequence[str]) -> Sequence[str]:
    """Return problems of the store in words for the caller."""
    return problems if CALLER.get().sees_all or not problems else (DAMAGED,)


FORGET, KEEP = "Forget it for good", "Keep it"


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
    question = "\n".join([f"Forget in space {request.space!r}: {counts}?", *map(one_line, preview.affected[:5])])
    if await person.refuses(f"forget {preview.token}", question):
        raise InvalidInput("dry_run", "the user was asked and does not want it", "Nothing was forgotten.")
