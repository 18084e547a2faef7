"""What of a text can be seen, and what a line is: the same everywhere that stored text is shown; and its letters.

A stored text may hold characters that act and are not seen: those that control a terminal or the direction of text,
that have no width, or that carry other text unseen (tags, runs of variation selectors). The log and exports keep them.
A person sees them as escapes (`escaped`), since a terminal would obey them; a model gets the text without them
(`without_hidden`), since it would read what nobody sees. Joiners stay where words and emoji need them.

A secret is masked within the program by as many signs as it has characters, so that spans of sentences and facts are
right with and without masks, whichever rules found it and whenever; whatever leaves the program has
`SECRET_MASK` instead.

Whatever ends a line for Unicode does (`str.splitlines`): where lines are counted, `one_line` makes one of a text. A
name beside our own words, of a speaker, a session or a document, is shown by `as_name`, so that it ends where it ends.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

_SUSPECT = re.compile("[^\n\t -~]")
"""Everything but tabs, line feeds and printable ASCII; a text without any is as it should be."""
_ENDS = frozenset("\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029")
"""Ends of lines beside the line feed."""
_UNSEEN = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0")
"""Characters of other categories that show nothing."""
_JOINER = re.compile("[\u200c\u200d]")
_SELECTORS = re.compile("(?<=[\ufe00-\ufe0f\U000e0100-\U000e01ef])[\ufe00-\ufe0f\U000e0100-\U000e01ef]+")
_MARKS = frozenset(("Lo", "Ll", "Lu", "Lm", "Mn", "Mc", "So", "Sk"))


FILL = "\ufdd0"
"""Stands within the program for each character of a secret; Unicode keeps it free for such uses."""
SECRET_MASK = "[secret]"
"""What is shown in the place of a secret, however long that is."""
_FILLED = re.compile(f"{FILL}+")
ValueT = TypeVar("ValueT")


def with_masks(text: str) -> str:
    """Return a text as it is shown and exported, with a mask in the place of each secret."""
    return _FILLED.sub(SECRET_MASK, text) if FILL in text else text


def each_text(value: ValueT, change: Callable[[str], str]) -> ValueT:
    """Return a value of JSON with every text in it changed, names of fields too."""
    changed: Any = value
    if isinstance(value, str):
        changed = change(value)
    elif isinstance(value, Mapping):
        changed = {change(name): each_text(one, change) for name, one in value.items()}
    elif isinstance(value, list | tuple):
        changed = [each_text(one, change) for one in value]
    return changed  # type: ignore[no-any-return]


def one_line(text: str, between: str = " ") -> str:
    """Return a text on one line, with ``between`` where its lines ended."""
    return between.join(text.splitlines())


_FRAME = re.compile(r"[][()“”,]|:(?!\S)")
"""What ends a name, or what it is shown in."""


def as_name(name: str) -> str:
    """Return a name as it stands among our own words: on one line, and in quotes where it has signs that end a name."""
    name = one_line(without_hidden(name)).strip()
    if not _FRAME.search(name):
        return name
    inner = re.sub('[“”"]', "'", name)
    return f"“{inner}”"


def in_quotes(text: str) -> str:
    """Return a text in the quotation marks of a reply, which end where it ends: its own become single ones."""
    return f"“{text.replace('“', '‘').replace('”', '’')}”"


def is_invisible(character: str) -> bool:
    """Return whether a character acts on what shows it, or shows nothing; line feeds and tabs are none of these."""
    if character in "\n\t\u200c\u200d":
        return False
    return unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp") or character in _UNSEEN


class _Table(dict[int, str]):
    """What each character is shown as, worked out once."""

    def __init__(self, hidden: Callable[[str], str]) -> None:
        self._hidden = hidden

    def __missing__(self, code: int) -> str:
        character = chr(code)
        self[code] = self._hidden(character) if is_invisible(character) else character
        return self[code]


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode()


_ESCAPED = _Table(_escape)
_REMOVED = _Table(lambda character: "\n" if character in _ENDS else "")


def _joins(found: re.Match[str]) -> bool:
    """Return whether a joiner stands between two letters or signs that it may join."""
    text, place = found.string, found.start()
    around = text[max(0, place - 1) : place], text[place + 1 : place + 2]
    return all(one and not one.isascii() and unicodedata.category(one) in _MARKS for one in around)


def escaped(text: str) -> str:
    r"""Return a text as a person sees it: what is hidden as an escape, U+001B as ``\x1b``, a tab as four spaces."""
    if not _SUSPECT.search(text):
        return text.replace("\t", "    ")
    text = _JOINER.sub(lambda found: found[0] if _joins(found) else _escape(found[0]), with_masks(text))
    text = _SELECTORS.sub(lambda found: "".join(map(_escape, found[0])), text)
    return text.translate(_ESCAPED).replace("\t", "    ")


def without_hidden(text: str) -> str:
    """Return a text as a model reads it: without what is hidden, and with line feeds as ends of lines."""
    if not _SUSPECT.search(text):
        return text
    text = _JOINER.sub(lambda found: found[0] if _joins(found) else "", with_masks(text).replace("\r\n", "\n"))
    return _SELECTORS.sub("", text).translate(_REMOVED)


def plain(value: ValueT) -> ValueT:
    """Return a value of JSON with every text in it as a model reads it."""
    return each_text(value, without_hidden)


# How texts are spelt, for whoever reads or compares them; what is stored and shown stays to the letter. Soft hyphens
# and zero-width characters are no letters, and typographic hyphens are hyphens (`readable`). Accents on Latin letters
# distinguish nothing that is looked up: "Zoe" finds Zoë. In other scripts marks are letters or vowels, and stay.

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
