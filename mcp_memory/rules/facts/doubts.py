"""Drop what the rules read where its own words speak against it.

Dropped are ages of a past time, values cut within a number ("3" of "3:42"), heads that are clauses or stand for
anything at all, names of what is no being, and things in use that no name says.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.times import BEGINNING, FOREVER
from mcp_memory.domain.turns import USERS, Turn, speaker
from mcp_memory.language.vocabulary import RELATIVES
from mcp_memory.rules.facts.tables import nouns

_NO_HEADS = re.compile(
    r"(?:every|no|some|any)(?:thing|body|one)\b|\S+\s.*\b(?:is|are|was|were|has|have|does|do)\b", re.I
)
_JOINED_BEFORE = re.compile(r"(?:\d[.,:/–-]|(?<![\w)])[-−–])$")
_JOINED_BEHIND = re.compile(r"[.,:/–-]\d|[%€$£k]")
_MY_OWN = re.compile(r"\bmy (?:(?:full|first|real|given|own) )?name\b|^(?:i['’]?m|i am)\b|\bhere$", re.IGNORECASE)


def doubt(turn: Turn, assertions: Iterable[Assertion]) -> Iterator[Assertion]:
    """Yield assertions, without those that their own words speak against.

    Args:
        turn: the turn that states them.
        assertions: the assertions of the rules.
    """
    for item in assertions:
        past_age = item.relation == "age" and (item.until < FOREVER or item.since <= BEGINNING)
        unnamed = item.relation == "named" and not _names_somebody(turn, item)
        scrap = item.relation == "uses" and turn.kind == "message" and not _is_used(turn.text, item)
        # "she's due on Friday", "Nina's runs out in August"; the user of a page is nobody that the memory knows
        nobody = item.head.endswith(("'s", "’s")) or _NO_HEADS.match(item.head) or (
            turn.kind == "document" and not USERS.isdisjoint((item.head.casefold(), item.tail.casefold()))
        )  # fmt: skip
        if not (past_age or unnamed or scrap or nobody or _is_cut(turn.text, item)):
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


def _names_somebody(turn: Turn, said: Assertion) -> bool:
    """Return whether a name is one of the speaker who says so, or of a relative or an animal: not of our wifi."""
    name = said.tail.split()
    if not all(word.replace("-", "").replace("'", "").isalpha() for word in name) or not name[0][0].isupper():
        return False
    if said.head == speaker(turn):
        return bool(_MY_OWN.search(turn.text[said.start : said.end]))
    return said.head.split()[-1].casefold() in nouns.PETS | nouns.ROLES | nouns.PERSONISH | RELATIVES.keys()


def _is_used(text: str, item: Assertion) -> bool:
    """Return whether what is in use has a name: "Node 20" or a word in backticks, not "the API" or "tree diagrams"."""
    named = item.tail != item.tail.lower() or any(char.isdigit() for char in item.tail)
    place = text.find(item.tail, item.start)
    return named or item.tail in nouns.SOFTWARE or text[place - 1 : place] == "`"
