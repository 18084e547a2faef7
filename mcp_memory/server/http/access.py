"""Who may call a server over HTTP: whoever has one of its tokens, or one of an issuer that is trusted."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from mcp_memory.access.issuer import Issuer
from mcp_memory.access.tokens import PREFIX, TokenFile
from mcp_memory.domain.access import Grant
from mcp_memory.settings import Settings, configuration_folder


@dataclass(frozen=True, slots=True)
class Access:
    """What is asked of each caller.

    Attributes:
        tokens: the tokens of this server.
        issuer: the issuer whose tokens are good as well.
    """

    tokens: TokenFile
    issuer: Issuer | None = None

    async def grant_of(self, token: str) -> Grant | None:
        """Return what a token grants; None if it is not good, for whatever reason."""
        if self.issuer is None or token.startswith(PREFIX):
            return self.tokens.grant_of(token)
        return await self.issuer.grant_of(token)

    def valid(self, grant: Grant) -> bool:
        """Return whether what was granted still holds."""
        return (grant.expires or 0) > time.time() if grant.issuer else self.tokens.valid(grant)


def token_file(settings: Settings) -> TokenFile:
    """Return the file of the tokens."""
    return TokenFile(Path(settings.access.tokens or configuration_folder() / "tokens.json").expanduser())


def open_access(settings: Settings) -> Access | None:
    """Return what is asked of callers; None where there never were tokens nor an issuer: everybody is the owner.

    Raises:
        ConfigurationError: the file is broken, or a setting cannot be used as it is.
    """
    chosen, tokens = settings.access, token_file(settings)
    tokens.list()  # so that a broken file is reported now
    if chosen.issuer:
        return Access(tokens, Issuer(chosen.issuer, chosen.audience or settings.http.url, chosen.jwks))
    return Access(tokens) if tokens.exists() else None
