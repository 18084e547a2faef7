"""Drop what the rules read where its own words speak against it.

Dropped are ages of a past time, values cut within a number ("3" of "3:42"), heads and tails that are clauses, and
things in use that are a single common word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.times import BEGINNING, FOREVER
from mcp_memory.domain.turns import Turn
from mcp_memory.language.vocabulary import word_set
from mcp_memory.rules.facts.software import is_tool
from mcp_memory.rules.facts.verbs import inflection

_CLAUSE_WORDS = frozenset(("is", "are", "was", "were", "gets", "get", "talks", "goes", "has", "have", "does", "do"))
_GIVEN_UP = frozenset(("drop", "remove", "ditch", "abandon"))
"""Verbs that a cut tail begins with: "the service uses … dropped Redis"."""
_NO_HEADS = re.compile(r"(?:everything|nothing|something|anything|everybody|nobody)\b", re.IGNORECASE)
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
        if past_age or _is_cut(turn.text, item) or _is_clause(item):
            continue
        if item.relation == "uses" and turn.kind == "message" and _is_scrap(turn.text, item):
            continue
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


def _is_clause(item: Assertion) -> bool:
    """Return whether the head or the tail of a relation is a clause, a question, or stands for anything at all."""
    head = item.head.split()
    if _NO_HEADS.match(item.head) or (len(head) > 1 and not _CLAUSE_WORDS.isdisjoint(head)):
        return True
    if item.tail.endswith("?"):
        return True
    form = inflection(item.tail.split()[0]) if item.relation == "uses" and " " in item.tail else None
    return form is not None and form.lemma in _GIVEN_UP and "past" in form.forms


_PROTOCOLS = word_set("api sdk cli ui url gui db ide json xml html css http https")
_OWNED = re.compile(r"\b(?:a|an|my|our|his|her|their)\s$", re.IGNORECASE)


def _is_scrap(text: str, item: Assertion) -> bool:
    """Return whether what is in use names nothing: "the API", "the complement method", "tree diagrams".

    Only one thing of somebody's own is kept without a name, "a wheelchair".
    """
    if item.tail.casefold() in _PROTOCOLS:
        return True
    if item.tail != item.tail.lower() or any(char.isdigit() for char in item.tail) or is_tool(item.tail):
        return False
    place = text.find(item.tail, item.start)
    quoted = place > 0 and text[place - 1] in "`\"'"
    return place >= 0 and not quoted and not _OWNED.search(text, max(0, place - 8), place)
