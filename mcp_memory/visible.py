"""What of a text can be seen, and what a line is: the same everywhere that stored text is shown.

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
from collections.abc import Callable, Mapping
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
