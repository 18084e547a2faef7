"""Settings of who may call over HTTP."""

from __future__ import annotations

from dataclasses import dataclass

from mcp_memory.configurable import key


@dataclass(frozen=True, slots=True)
class AccessSettings:
    """Who may call `mcp-memory serve --http`."""

    tokens: str = key("", 'file of the tokens, hashed; "" = tokens.json in the user\'s configuration folder')
    issuer: str = key("", "URL of an OAuth 2.1 server whose tokens are trusted as well")
    audience: str = key("", 'what its tokens have to be meant for; "" = http.url')
    jwks: str = key("", 'URL of its public keys; "" = as its metadata say')
