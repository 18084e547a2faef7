"""Secrets that the user tells to have them remembered: "Remember that the door code is 4711#".

Such a message stays readable (``privacy.told``): who asks for it wants to read it again. It has to be the user's own
and nothing else: one short line that begins with the request, with no quotation in it, written here and not imported.
So neither a stranger's words nor a pasted text keep a secret readable.
"""

from __future__ import annotations

import re

from mcp_memory.domain.turns import IMPORTED, Turn, by_user

_LONGEST = 300
_ASKED = re.compile(
    r"\W*(?:(?:ok|okay|hi|hey|so|and|also|please|pls|kindly|can|could|will|would|you|i|want|need|would like|to|always"
    r"|bitte|kannst|du|por favor|s'il te plaît)[\s,]+){0,5}"
    r"(?:remember|memori[sz]e|don['’]?t forget|do not forget|keep in mind|save|note|merk(?:e)? dir|vergiss nicht"
    r"|erinnere? dich|recuerda|no olvides|retiens|n['’]oublie pas|souviens-toi|ricorda|lembre|onthoud)\b",
    re.IGNORECASE,
)
_NOT_OWN = re.compile('[\n\r\u2028\u2029\x85"“”„«»`<>]')


def is_told(turn: Turn) -> bool:
    """Return whether a message is the user's own and asks to remember what it says."""
    text = turn.text.strip()
    if turn.kind != "message" or len(text) > _LONGEST or not _ASKED.match(text) or _NOT_OWN.search(text):
        return False
    return by_user(turn) and turn.ref.partition(":")[0] not in IMPORTED
