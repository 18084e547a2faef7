"""Who may call a server over HTTP: whoever has one of its tokens."""

from __future__ import annotations

from pathlib import Path

from mcp_memory.access.tokens import TokenFile
from mcp_memory.settings import Settings, configuration_folder


def token_file(settings: Settings) -> TokenFile:
    """Return the file of the tokens."""
    return TokenFile(Path(settings.access.tokens or configuration_folder() / "tokens.json").expanduser())


def tokens_in_force(settings: Settings) -> TokenFile | None:
    """Return the tokens of which each caller needs one; None if there never were any, so that everybody is the owner.

    Raises:
        ConfigurationError: the file is broken.
    """
    tokens = token_file(settings)
    tokens.list()  # so that a broken file is reported now
    return tokens if tokens.exists() else None
