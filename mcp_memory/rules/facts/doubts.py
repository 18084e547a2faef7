"""Doubt what the rules read where its own words speak against it, at the end of reading a text.

A blind reading of 138 facts of talk that the rules had not been built on found these classes wrong or incomplete more
often than others: ages of a past time or taken from a price, heads and tails that are clauses, reasons without the
decision that they are given for, and things in use that are a single common word. The first two are dropped. What
stays has the share right of its class as confidence (`certainty`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.times import BEGINNING, FOREVER
from mcp_memory.domain.turns import Turn
from mcp_memory.language.vocabulary import word_set
from mcp_memory.rules.facts.certainty import certainty
from mcp_memory.rules.facts.verbs import inflection
from mcp_memory.rules.facts.work_values import is_tool

_CLAUSE_WORDS = frozenset(("is", "are", "was", "were", "gets", "get", "talks", "goes", "has", "have", "does", "do"))
_GIVEN_UP = frozenset(("drop", "remove", "ditch", "abandon"))
"""Verbs that a cut tail begins with: "the service uses … dropped Redis"."""
_NO_HEADS = re.compile(r"(?:everything|nothing|something|anything|everybody|nobody)\b", re.IGNORECASE)
_CUT = re.compile(
    r"[a-z]{2,}ing\s(?!(?:and|or|but|so|because|since|when|while|if|as|too|also|in|on|at|with|for|to|by|from|of|about|like"
    r"|than|after|before|during|around|up|out|off|down|now|again|more|most|lately|recently|a\slot|very|these|this|every|all"
    r"|together|alone|there|here|is|was|it|I|we|which|that|who|just|really|though|especially|\w+ly)\b)[a-z]"
)
"""An activity without the object that stands behind it: "deferring" of "deferring unused components"."""
_NOT = re.compile(r"\b(?:not|never|isn['’]t|wasn['’]t|until|till|when)\b[^.;!?]{0,24}$", re.IGNORECASE)


def doubt(turn: Turn, assertions: Iterable[Assertion]) -> Iterator[Assertion]:
    """Yield assertions, without those that their own words speak against, with the confidence of their class.

    Args:
        turn: that states them.
        assertions: of the rules.
    """
    for item in assertions:
        if (item.relation == "age" and _is_no_age(turn.text, item)) or _is_clause(item):
            continue
        if item.relation in ("likes", "interested_in") and " " not in item.tail and _is_cut(turn.text, item):
            continue
        if item.relation == "uses" and turn.kind == "message" and _is_scrap(turn.text, item):
            continue
        plain = certainty(item) if turn.kind == "message" else 1.0
        yield replace(item, confidence=min(item.confidence, plain)) if plain < item.confidence else item


def _is_cut(text: str, item: Assertion) -> bool:
    place = text.find(item.tail, item.start)
    return place >= 0 and _CUT.match(text, place) is not None


def _is_no_age(text: str, item: Assertion) -> bool:
    """Return whether an age is one of a past time ("until he was 12"), a denied one, or a part of a larger number."""
    if item.until < FOREVER or item.since <= BEGINNING:
        return True
    place = text.find(item.tail, item.start, max(item.end, item.start) + len(item.tail))
    if place < 0:
        return False
    behind = text[place + len(item.tail) : place + len(item.tail) + 2]
    return bool(re.match(r"[.,]\d|[%€$£k]", behind) or _NOT.search(text, max(0, place - 40), place))


def _is_clause(item: Assertion) -> bool:
    """Return whether the head or the tail of a relation is a clause, a question, or stands for anything at all."""
    if item.relation == "did":
        return False
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
