"""Settings of what happens to secrets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mcp_memory.configurable import key

OnSecrets = Literal["mask", "refuse", "keep"]


@dataclass(frozen=True, slots=True)
class PrivacySettings:
    """What happens to keys, tokens, passwords, private keys and card numbers in what is written."""

    secrets: OnSecrets = key(
        "mask",
        "mask: kept in the log, and masked wherever a text is embedded, shown, exported or sent; refuse: not stored "
        "at all; keep: nothing is masked",
    )
