"""What a caller tells: a fact that it read itself, as an assertion with a place in a text.

A fact with a source belongs to the sentence of that text which names its tail, best with its head; there it takes the
place of what the embedded rules read. A fact without one is put into words as a statement of its own, so that it is
found, quoted and cited like everything else.
"""

from __future__ import annotations

from mcp_memory.domain.facts import WHOLE, Assertion, verbalise
from mcp_memory.domain.ids import assertion_id
from mcp_memory.domain.relations import relations
from mcp_memory.domain.requests import NewFact
from mcp_memory.domain.times import BEGINNING, FOREVER, Millis
from mcp_memory.domain.turns import Turn
from mcp_memory.language.dates import day_in_words
from mcp_memory.language.sentences import split


def statement(fact: NewFact) -> str:
    """Return a fact as a sentence, with its times."""
    words = verbalise(fact.head, relations().name(fact.relation), fact.tail, negated=fact.negated)
    since = f" from {day_in_words(fact.valid_from)}" if fact.valid_from is not None else ""
    until = f" until {day_in_words(fact.valid_to)}" if fact.valid_to is not None else ""
    return f"{words}{since}{until}."


def told(fact: NewFact, turn: Turn, now: Millis) -> Assertion:
    """Return what a caller's fact asserts.

    Args:
        fact: as told.
        turn: its source, or its statement.
        now: the moment of recording.

    A fact without a start holds from when its source was said, and one that had ended by then from no known time on.
    """
    sentence, start, end = _place(fact, turn)
    until = FOREVER if fact.valid_to is None else fact.valid_to
    since = fact.valid_from
    if since is None:
        since = turn.time if turn.time < until else BEGINNING
    relation = relations().name(fact.relation)
    signs = "no" if fact.negated else "yes", str(since), str(until), str(fact.confidence), "caller"
    return Assertion(
        id=assertion_id(turn.id, start, end, fact.head, relation, fact.tail, *signs),
        space=turn.space,
        turn_id=turn.id,
        sentence=sentence,
        start=start,
        end=end,
        head=fact.head,
        relation=relation,
        tail=fact.tail,
        negated=fact.negated,
        since=since,
        until=until,
        stated=fact.valid_from is not None or fact.valid_to is not None,
        confidence=fact.confidence,
        intent=fact.intent,
        change=fact.intent == "EVOLUTION",
        extractor="caller",
        said_at=turn.time,
        recorded_at=now,
    )


def _place(fact: NewFact, turn: Turn) -> tuple[int, int, int]:
    """Return the sentence that says a fact, by its index and span; `WHOLE` and all of the text where none does."""
    found = (WHOLE, 0, len(turn.text))
    if turn.kind == "statement":
        return 0, 0, len(turn.text)
    for index, (start, end) in enumerate(split(turn.text)):
        words = turn.text[start:end].casefold()
        if fact.tail.casefold() in words:
            if fact.head.casefold() in words:
                return index, start, end
            if found[0] == WHOLE:
                found = index, start, end
    return found
