"""How texts are spelt, for whoever reads or compares them; what is stored and shown stays to the letter.

Soft hyphens and zero-width characters are no letters, and typographic hyphens are hyphens (`readable`). Accents on
Latin letters distinguish nothing that is looked up: "Zoe" finds Zoë (`without_accents`). In other scripts marks are
letters or vowels, and stay.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

_INVISIBLE = "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\u2061\u2062\u2063\u2064\ufeff"
_SIGNS = {**dict.fromkeys(map(ord, _INVISIBLE)), 0x2010: "-", 0x2011: "-"}
_SIGN = re.compile(rf"[{_INVISIBLE}\u2010\u2011]")
_LATIN_MARKS = re.compile(r"(?<=[A-Za-z])[\u0300-\u036f]+")


MARKS = (
    r"\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    r"\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u0711\u0730-\u074a\u0900-\u0903\u093a-\u094f\u0951-\u0957\u0962\u0963"
    r"\u0981-\u0983\u09bc-\u09e3\u0a01-\u0a03\u0a3c-\u0a51\u0a70-\u0a75\u0a81-\u0a83\u0abc-\u0acd\u0b01-\u0b03"
    r"\u0b3c-\u0b57\u0b82\u0bbe-\u0bd7\u0c00-\u0c04\u0c3c-\u0c56\u0c81-\u0c83\u0cbc-\u0cd6\u0d00-\u0d03\u0d3b-\u0d57"
    r"\u0d81-\u0d83\u0dca-\u0df3\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u0f35-\u0f39"
    r"\u0f71-\u0f84\u0f86\u0f87\u0f8d-\u0fbc\u102b-\u103e\u1056-\u1059\u105e-\u109d\u135d-\u135f\u17b4-\u17d3"
    r"\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20f0\u3099\u309a\ufe20-\ufe2f"
)
"""Ranges of combining marks, for a character class of a pattern: `\\w` does not match them."""
UNSPACED = (  # Thai, Lao, Burmese, Khmer; kana; Han; Hangul
    r"\u0e01-\u0e4e\u0e80-\u0ecf\u1000-\u103f\u1780-\u17d3\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf"
    r"\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Ranges of the scripts that write words without spaces between them, for a character class."""


def readable(text: str) -> str:
    """Return a text without invisible signs, with plain hyphens."""
    return text if text.isascii() else text.translate(_SIGNS)


def readable_places(text: str) -> Sequence[int]:
    """Return for each character of `readable` its place in the text, and at the end the length of the text."""
    return [place for place, char in enumerate(text) if _SIGNS.get(ord(char), "") is not None] + [len(text)]


def is_readable(text: str) -> bool:
    """Return whether `readable` leaves a text as it is."""
    return text.isascii() or _SIGN.search(text) is None


def without_accents(text: str) -> str:
    """Return a text without the accents of Latin letters."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", _LATIN_MARKS.sub("", unicodedata.normalize("NFD", text)))
