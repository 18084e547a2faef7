"""Find secrets in a text, and mask them.

They are known by their form (``issued.py``), or by the words beside them (``stated.py``).

**What the user tells to have it remembered** ("Remember that the door code is 4711#") stays readable
(``privacy.told``): who asks for it wants to read it again. It has to be the user's own and nothing else: one short line
that begins with the request, with no quotation in it, written here and not imported. So neither a stranger's words nor
a pasted text keep a secret readable.
"""

from __future__ import annotations

import re

from mcp_memory.domain.batch import KEEP, Masking
from mcp_memory.domain.spelling import readable, readable_places
from mcp_memory.domain.turns import IMPORTED, Turn, by_user
from mcp_memory.privacy.issued import Found, issued_secrets
from mcp_memory.privacy.settings import PrivacySettings
from mcp_memory.privacy.stated import stated_secrets
from mcp_memory.visible import FILL

RULES = 5
"""Raised whenever other texts are masked than before: a view that was saved with other masks is not read again."""
_LONGEST = 300
_ASKED = re.compile(
    r"\W*(?:(?:ok|okay|hi|hey|so|and|also|please|pls|kindly|can|could|will|would|you|i|want|need|would like|to|always"
    r"|bitte|kannst|du|por favor|s'il te plaît)[\s,]+){0,5}"
    r"(?:remember|memori[sz]e|don['’]?t forget|do not forget|keep in mind|save|note|merk(?:e)? dir|vergiss nicht"
    r"|erinnere? dich|recuerda|no olvides|retiens|n['’]oublie pas|souviens-toi|ricorda|lembre|onthoud)\b",
    re.IGNORECASE,
)
_NOT_OWN = re.compile('[\n\r\u2028\u2029\x85"“”„«»`<>]')


def masking_of(chosen: PrivacySettings) -> Masking:
    """Return the masking that the settings ask for."""
    if chosen.secrets == "keep":
        return KEEP
    return SecretMasking(refuses=chosen.secrets == "refuse", told=chosen.secrets == "mask" and chosen.told == "keep")


def find_secrets(text: str, *, statement: bool = False) -> list[Found]:
    """Return the secrets of a text, in order; where several rules find one, the widest span and the first kind.

    It is read without invisible signs, as it will be shown: they come along with what is copied from pages.

    Args:
        text: the text to search.
        statement: whether it is a caller's fact in words, "router password …", without any sign between the two.
    """
    said, text = text, readable(text)
    found = [*issued_secrets(text), *stated_secrets(text, statement=statement)]
    merged: list[Found] = []
    for start, end, kind in sorted(found, key=lambda one: (one[0], -one[1])):
        if merged and start < merged[-1][1]:
            first, last, known = merged[-1]
            merged[-1] = first, max(last, end), known
        else:
            merged.append((start, end, kind))
    if not merged or len(said) == len(text):
        return merged
    places = readable_places(said)
    return [(places[start], places[end - 1] + 1, kind) for start, end, kind in merged]


def is_told(turn: Turn) -> bool:
    """Return whether a message is the user's own and asks to remember what it says."""
    text = turn.text.strip()
    if turn.kind != "message" or len(text) > _LONGEST or not _ASKED.match(text) or _NOT_OWN.search(text):
        return False
    return by_user(turn) and turn.ref.partition(":")[0] not in IMPORTED


class SecretMasking:
    """Masks secrets by rules, see `Masking`.

    Attributes:
        refuses: whether what holds a secret is not to be stored.
        told: whether what the user tells to have it remembered stays readable.
    """

    def __init__(self, *, refuses: bool = False, told: bool = False) -> None:
        self._refuses, self._told = refuses, told

    @property
    def refuses(self) -> bool:  # noqa: D102
        return self._refuses

    def keeps(self, turn: Turn) -> bool:
        """See `Masking`."""
        return self._told and is_told(turn)

    def mask(self, text: str, *, statement: bool = False) -> str:
        """Return a text of the same length with `FILL` for each character of a secret."""
        parts, done = [], 0
        for start, end, _ in find_secrets(text, statement=statement):
            parts += [text[done:start], FILL * (end - start)]
            done = end
        return "".join([*parts, text[done:]]) if done else text

    def kinds(self, text: str, *, statement: bool = False) -> tuple[str, ...]:
        """Return what kinds of secrets a text holds, each once."""
        return tuple(dict.fromkeys(kind for *_, kind in find_secrets(text, statement=statement)))
