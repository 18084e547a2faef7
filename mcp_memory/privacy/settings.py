"""Settings of what happens to secrets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mcp_memory.configurable import key

OnSecrets = Literal["mask", "refuse", "keep"]
OnTold = Literal["keep", "mask"]


@dataclass(frozen=True, slots=True)
class PrivacySettings:
    """What happens to keys, tokens, passwords, private keys and card numbers in what is written."""

    secrets: OnSecrets = key(
        "mask",
        "mask: kept in the log, and masked wherever a text is embedded, shown, exported or sent; refuse: not stored "
        "at all; keep: nothing is masked",
    )
    told: OnTold = key(
        "keep",
        'a secret that the user asks to remember ("Remember that the door code is …"); keep: it stays readable, and '
        "the reply to the write says so; mask: it is masked like others",
    )
