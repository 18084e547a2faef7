"""What a sentence names: the entities of GAM-RAG's index, by spelling alone.

The paper has spaCy's names (§3.1.1). Here they are the capitalised and quoted names of the sentence itself, and what
the whole text is about or comes from, since that is what its pronouns mean: the head of a document, the speaker of a
message. A month or a day of the week is a time and no entity; where it may be somebody's name too ("April baked a
cake"), it is one unless the words around it make it a time.
"""

from __future__ import annotations

import re
from functools import lru_cache

from mcp_memory.domain.turns import Turn
from mcp_memory.language.expressions import MONTH_NAME, WEEKDAY
from mcp_memory.language.gregorian import MONTHS
from mcp_memory.language.names import head, names

_GIVEN_NAMES = ("March", "April", "May", "June", "August")
_TIME = re.compile(rf"(?:{'|'.join(month for month in MONTHS if month not in _GIVEN_NAMES)}|{WEEKDAY})s?", re.I)
_TIME_OR_NAME = re.compile("|".join(_GIVEN_NAMES), re.I)
_LEADING = re.compile(
    r"(?:\b(?:in|on|of|since|until|till|before|after|during|between|around|last|next|this|every|each"
    r"|early|late|mid|past|through)|\d(?:st|nd|rd|th)?|\bmid-"
    rf"|\b{MONTH_NAME}\s*(?:to|and|or|/|,|[-–]))\s*$",
    re.I,
)
_FOLLOWING = re.compile(rf",?\s+\d|-\d|\s*(?:to|and|or|/|,|[-–])\s*{MONTH_NAME}\b")


def mentions(turn: Turn, sentence: str) -> tuple[str, ...]:
    """Return the names of what a sentence of a turn is about, as written, each once."""
    named = (name for name in names(sentence) if not _is_time(name, sentence))
    return tuple(dict.fromkeys(name for name in (_about(turn), *named) if name))


def _is_time(name: str, sentence: str) -> bool:
    """Return whether a name is that of a month or a day, wherever the sentence has it."""
    if _TIME.fullmatch(name):
        return True
    if not _TIME_OR_NAME.fullmatch(name):
        return False
    places = re.finditer(rf"\b{re.escape(name)}\b", sentence)
    return all(
        _LEADING.search(sentence[: place.start()]) or _FOLLOWING.match(sentence[place.end() :]) for place in places
    )


def _about(turn: Turn) -> str:
    if turn.kind == "document":
        return _head(turn.title, turn.text)
    return turn.speaker or turn.role or ""


@lru_cache(maxsize=1)  # the sentences of a document come one after another
def _head(title: str | None, text: str) -> str:
    return " ".join(head(title, text))
