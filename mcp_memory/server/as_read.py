"""Every result and error as a model reads it, without signs that nobody sees: stored text may be anywhere in it."""

from __future__ import annotations

from typing import Any

from mcp.server import ServerRequestContext
from mcp.server.context import CallNext, HandlerResult
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel

from mcp_memory.server.opening import Opening
from mcp_memory.visible import plain, without_hidden


async def answer_as_read(context: ServerRequestContext[Opening], answer: CallNext) -> HandlerResult:
    """Return the answer to a request with all its texts as a model reads them.

    Raises:
        MCPError: the request cannot be answered; its texts are like those of an answer.
    """
    try:
        return _plain(await answer(context))  # type: ignore[no-any-return]
    except MCPError as error:
        raise MCPError(error.error.code, without_hidden(error.error.message), plain(error.error.data)) from error


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        for name in type(value).model_fields:
            old = getattr(value, name)
            if (new := _plain(old)) is not old:
                setattr(value, name, new)
        return value
    return [_plain(one) for one in value] if isinstance(value, list) else plain(value)
