"""Settings of the store."""

from __future__ import annotations

from dataclasses import dataclass, field

from mcp_memory.configurable import key


@dataclass(frozen=True, slots=True)
class StorageSettings:
    """Where the memory is kept."""

    uri: str = key("", 'a local folder or any URI that LanceDB opens; "" = the user\'s data folder')
    options: str = key(
        "",
        'of object storage: "name=value name=value" as LanceDB names them (region, endpoint, …)',
    )
    lock_timeout_s: float = 30.0
    """Seconds that a write waits for the write of another process."""
    compact_after: int = 64
    """Commits of one process between two compactions."""
    noted_in: str = field(default="", compare=False)
    """The folder beside the configuration in which places of stores are noted (``place.py``); it is no setting."""
