"""A fact as Claude gives it, as an assertion of the sentence that it names (REAL §3.1).

Names are kept as they are written, but for "I" and "you", which are whom the message has for them; other pronouns mean
nothing here. Times are read by our own calendar and treated as the embedded engine treats them: a stated time, else
when it was said. A fact whose words or times make no sense is none.
"""

from __future__ import annotations

import re
from datetime import datetime

from pydantic import BaseModel, ConfigDict

from mcp_memory.domain.facts import Assertion, Intent
from mcp_memory.domain.ids import assertion_id
from mcp_memory.domain.relations import relations
from mcp_memory.domain.talkers import speaker
from mcp_memory.domain.times import BEGINNING, FOREVER, Millis
from mcp_memory.domain.turns import Turn
from mcp_memory.language import iso
from mcp_memory.language.tokens import words
from mcp_memory.ports import Excerpt
from mcp_memory.temporal.guards import LONGEST

EARLIER = "earlier"
"""As the start of a fact: an unknown time before it was said."""
OVER = "over"
"""As its end: an unknown time before it was said."""

_RELATION = re.compile(r"[^\W\d_]\w{0,49}")
_YEAR_OR_MONTH = re.compile(r"(\d{4})(?:-(\d\d))?", re.ASCII)
_SPEAKER = frozenset(("i", "me", "myself", "my", "mine"))
_PARTNER = frozenset(("you", "yourself", "your", "yours"))
_UNRESOLVED = frozenset(
    words(
        "he him himself his she her herself hers it itself its they them themselves their theirs we us ourselves our"
        " ours this that these those here there who someone somebody something everyone everybody one"
    )
)


class Fact(BaseModel):
    """One."""  # what the fields mean is said in the prompt, once; their ranges are looked at for each fact alone

    model_config = ConfigDict(extra="forbid", strict=True)

    line: int
    head: str
    relation: str
    tail: str
    since: str = ""
    until: str = ""
    confidence: float = 0.95
    negated: bool = False
    change: bool = False
    intent: Intent = "FACT"


def asserted_by(fact: Fact, excerpt: Excerpt, index: int) -> Assertion | None:
    """Return a fact as an assertion of its sentence, or None where its words or its times make no sense."""
    turn = excerpt.turn
    relation = relations().name(fact.relation[:LONGEST])
    head, tail = (_meant(name, turn, excerpt.partner) for name in (fact.head, fact.tail))
    held = _held(fact, relation, turn)
    if not (head and tail and held and _RELATION.fullmatch(relation)) or head.casefold() == tail.casefold():
        return None
    if tail == speaker(turn) and relations().get(relation).symmetric:  # it is about whoever says so
        head, tail = tail, head
    since, until, stated = held
    start, end = excerpt.sentences[index]
    signs = "no" if fact.negated else "yes", str(since), str(until), "anthropic"
    return Assertion(
        id=assertion_id(turn.id, start, end, head, relation, tail, *signs),
        space=turn.space,
        turn_id=turn.id,
        sentence=index,
        start=start,
        end=end,
        head=head,
        relation=relation,
        tail=tail,
        negated=fact.negated,
        since=since,
        until=until,
        stated=stated,
        confidence=fact.confidence,
        intent=fact.intent,
        change=fact.change,
        extractor="anthropic",
        said_at=turn.time,
        recorded_at=turn.written_at,
    )


def _meant(name: str, turn: Turn, partner: str | None) -> str | None:
    """Return a name as it is kept; None where it is a pronoun whose meaning is not known, or no name at all."""
    if len(name) > LONGEST or not name.isprintable():
        return None
    plainly = " ".join(name.split()).replace("’s ", "'s ")
    word = plainly.casefold()
    if word in _UNRESOLVED:
        return None
    if word in _SPEAKER:
        return speaker(turn)
    return partner if word in _PARTNER else plainly


def _held(fact: Fact, relation: str, turn: Turn) -> tuple[Millis, Millis, bool] | None:
    """Return when a fact holds, first instant and first after it, and whether that is stated; None for no time."""
    begins, ends = _time(fact.since, EARLIER), _time(fact.until, OVER)
    if begins is None or ends is None:
        return None
    dated = begins is not _UNSAID
    if fact.negated:
        return (begins[0] if dated else turn.time), FOREVER, dated
    until = turn.time if fact.until.strip() == OVER else ends[1]
    if dated:
        once = relations().get(relation).event and not fact.until.strip()
        return begins[0], (begins[1] if once else until), True
    timeless = turn.kind == "document" and turn.said_at is None
    earlier = timeless or fact.since.strip() == EARLIER or until <= turn.time
    return (BEGINNING if earlier else turn.time), until, ends is not _UNSAID


_UNSAID = (BEGINNING, FOREVER)


def _time(written: str, word: str) -> tuple[Millis, Millis] | None:
    """Return the first instant of a time and the first after it; `_UNSAID` for none or ``word``, None for nonsense."""
    plainly = written.strip()
    if plainly in ("", word):
        return _UNSAID
    try:
        if found := _YEAR_OR_MONTH.fullmatch(plainly):
            year, month = int(found[1]), int(found[2] or 1)
            after = (year + month // 12, month % 12 + 1) if found[2] else (year + 1, 1)
            return _first(year, month), _first(*after)
        return iso.parse(plainly)
    except ValueError:
        return None


def _first(year: int, month: int) -> Millis:
    return iso.parse(datetime(year, month, 1).date().isoformat())[0]
