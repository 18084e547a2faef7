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


def readable(text: str) -> str:
    """Return a text without invisible signs, with plain hyphens."""
    return text if text.isascii() else text.translate(_SIGNS)


def readable_places(text: str) -> Sequence[int]:
    """Return for each character of `readable` its place in the text, and at the end the length of the text."""
    return [place for place, char in enumerate(text) if _SIGNS.get(ord(char), "") is not None] + [len(text)]


def has_signs(text: str) -> bool:
    """Return whether `readable` changes a text."""
    return not text.isascii() and _SIGN.search(text) is not None


def without_accents(text: str) -> str:
    """Return a text without the accents of Latin letters."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", _LATIN_MARKS.sub("", unicodedata.normalize("NFD", text)))
