"""Who may call a server over HTTP, as the settings say: tokens of its own, those of an issuer, and the audit log."""

from __future__ import annotations

import time
from pathlib import Path

from mcp_memory.access.audit import Audit
from mcp_memory.access.tokens import PREFIX, Issuer, TokenFile
from mcp_memory.domain.access import CALLER, Grant
from mcp_memory.server.calls import CLIENT
from mcp_memory.server.http.app import Access
from mcp_memory.settings import Settings, configuration_folder


def token_file(settings: Settings) -> TokenFile:
    """Return the file of the tokens."""
    return TokenFile(Path(settings.access.tokens or configuration_folder() / "tokens.json").expanduser())


def open_access(settings: Settings) -> Access:
    """Return who may call; everybody, as the owner, where there are neither tokens nor an issuer.

    Raises:
        ConfigurationError: a setting cannot be used as it is.
    """
    chosen, tokens = settings.access, token_file(settings)
    tokens.list()  # so that a broken file is reported now
    issuer = None
    if chosen.issuer:
        issuer = Issuer(chosen.issuer, chosen.audience or settings.http.url, chosen.jwks)
    if issuer is None and not tokens.exists():
        return Access()

    async def verify(token: str) -> Grant | None:
        if token.startswith(PREFIX):
            return tokens.verify(token)
        return await issuer.verify(token) if issuer else None

    def valid(grant: Grant) -> bool:
        return (grant.expires or float("inf")) > time.time() if grant.issuer else tokens.valid(grant)

    audit = Audit(Path(chosen.audit).expanduser() if chosen.audit else tokens.path.with_name("audit.jsonl"))

    def note(what: str, space: str, outcome: str, count: int) -> None:
        audit.note(CALLER.get(), CLIENT.get(), what, space, outcome, count)

    return Access(verify, chosen.issuer, ("memory:read:*", "memory:write:*", "memory:forget:*"), note, valid)
