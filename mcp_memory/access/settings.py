"""Settings of who may call over HTTP."""

from __future__ import annotations

from dataclasses import dataclass

from mcp_memory.configurable import key


@dataclass(frozen=True, slots=True)
class AccessSettings:
    """Who may call `mcp-memory serve --http`."""

    tokens: str = key("", 'file of the tokens, hashed; "" = tokens.json in the user\'s configuration folder')
