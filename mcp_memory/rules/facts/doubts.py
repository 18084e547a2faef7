"""Drop what the rules read where its own words speak against it.

Dropped are ages of a past time, values cut within a number ("3" of "3:42"), and heads that are clauses or stand for
anything at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.times import BEGINNING, FOREVER
from mcp_memory.domain.turns import USERS, Turn

_NO_HEADS = re.compile(
    r"(?:every|no|some|any)(?:thing|body|one)\b|\S+\s.*\b(?:is|are|was|were|has|have|does|do)\b", re.I
)
_JOINED_BEFORE = re.compile(r"(?:\d[.,:/–-]|(?<![\w)])[-−–])$")
_JOINED_BEHIND = re.compile(r"[.,:/–-]\d|[%€$£k]")


def doubt(turn: Turn, assertions: Iterable[Assertion]) -> Iterator[Assertion]:
    """Yield assertions, without those that their own words speak against.

    Args:
        turn: the turn that states them.
        assertions: the assertions of the rules.
    """
    for item in assertions:
        past_age = item.relation == "age" and (item.until < FOREVER or item.since <= BEGINNING)
        # "she's due on Friday", "Nina's runs out in August"; the user of a page is nobody that the memory knows
        nobody = item.head.endswith(("'s", "’s")) or _NO_HEADS.match(item.head) or (
            turn.kind == "document" and not USERS.isdisjoint((item.head.casefold(), item.tail.casefold()))
        )  # fmt: skip
        if not (past_age or nobody or _is_cut(turn.text, item)):
            yield item


def _is_cut(text: str, item: Assertion) -> bool:
    """Return whether a value is a part of a longer number wherever it stands: 3 of "3:42", 18 of "-18"."""
    if not item.tail[:1].isdigit() and not item.tail[-1:].isdigit():
        return False
    said = text[item.start : item.end + len(item.tail) + 4]
    places = [found.start() for found in re.finditer(re.escape(item.tail), said)]
    return bool(places) and all(
        _JOINED_BEFORE.search(text, max(0, item.start + place - 2), item.start + place)
        or (item.tail[-1].isdigit() and _JOINED_BEHIND.match(text, item.start + place + len(item.tail)))
        for place in places
    )
