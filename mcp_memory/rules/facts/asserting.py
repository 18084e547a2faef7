"""From what a clause tells to assertions: who is meant, when it holds, and where it is written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from mcp_memory.domain.facts import Assertion, Intent
from mcp_memory.domain.ids import assertion_id
from mcp_memory.domain.relations import relations
from mcp_memory.domain.times import BEGINNING, FOREVER, StatedTime
from mcp_memory.domain.turns import Turn
from mcp_memory.rules.facts.clause import Clause
from mcp_memory.rules.facts.modality import PLAIN
from mcp_memory.rules.facts.notes import Note
from mcp_memory.rules.facts.noun import Noun
from mcp_memory.rules.facts.subjects import RELATIVES, Discourse
from mcp_memory.rules.facts.told import Told
from mcp_memory.rules.facts.when import When, now, when


def asserted(
    turn: Turn, who: Discourse, index: int, clause: Clause, told: Told, intent: Intent, confidence: float
) -> Iterator[Assertion]:
    """Yield what a clause tells as assertions, one for each interval in which it holds.

    Args:
        turn: it stands in.
        who: has been spoken of.
        index: of its sentence.
        clause: it is told by.
        told: what it tells.
        intent: of the sentence.
        confidence: in (0, 1].
    """
    head = told.head if isinstance(told.head, str) else who.entity(told.head)
    tail = told.tail if isinstance(told.tail, str) else _tail(who, told.relation, told.tail)
    if tail is None and isinstance(told.tail, Noun) and told.tail in clause.subject:
        tail = who.entity(told.tail)  # the subject of a passive: "it was bought by …"
    if tail is None and isinstance(told.tail, Noun) and any(told.tail == noun.owner for noun in clause.subject):
        tail = who.entity(told.tail)  # "its members are …"
    if not head or not tail or head.casefold() == tail.casefold():
        return
    relation = _relation(who, told)
    stated = [word.time for word in (clause.times if told.times is None else told.times) if word.time is not None]
    if clause.verb.tense != "perfect":
        stated = [time for time in stated if not turn.text[time.start : time.end].lower().startswith("for ")]
    aside = told.times == ()
    start, end = clause.start, max(told.end or clause.end, clause.verb.end)
    if aside and not isinstance(told.tail, str):
        start, end = min(clause.start, told.tail.start), max(told.end, told.tail.end)
    verb = replace(clause.verb, negated=False) if told.affirmed else clause.verb
    if tail == who.speaker and relations().get(relation).symmetric:  # "Ben and I married" is about whoever says so
        head, tail = tail, head
    timeless = turn.kind == "document" and turn.said_at is None
    for held in when(told.effect, verb, clause.adverbs, stated, turn.time) if not aside else [now(turn.time)]:
        # What a document of no known time says without a date, it says of no known time.
        undated = timeless and not held.stated and not held.negated
        moment = replace(held, since=BEGINNING) if undated else held
        yield fact(turn, index, (start, end), (head, relation, tail), moment, intent, confidence)


def noted(turn: Turn, who: Discourse, index: int, kept: Note, times: Sequence[StatedTime]) -> Iterator[Assertion]:
    """Yield what a line tells that is one item and its value.

    Args:
        turn: it stands in.
        who: has been spoken of; whose it is, what follows is about.
        index: of its sentence.
        kept: the line.
        times: that its sentence states.
    """
    head = kept.who or who.speaker
    if head is None:
        return
    if kept.who:
        who.turn_to(kept.who)
    held = now(turn.time)
    times = [time for time in times if time.start < kept.end and kept.start < time.end]
    if times and times[-1].since <= turn.time and times[-1].until < FOREVER:
        held = When(times[-1].since, FOREVER, True)
    yield fact(turn, index, (kept.start, kept.end), (head, kept.relation, kept.value), held, "FACT", PLAIN)


def fact(
    turn: Turn, index: int, span: tuple[int, int], told: tuple[str, str, str], held: When, intent: Intent,
    confidence: float,
) -> Assertion:  # fmt: skip
    """Return what a turn tells, as an assertion.

    Args:
        turn: that tells it.
        index: of its sentence.
        span: of the words that tell it, in characters of the turn's text.
        told: head, relation and tail.
        held: when it holds.
        intent: of the sentence.
        confidence: in (0, 1].
    """
    start, end = span
    head, relation, tail = told
    signs = "no" if held.negated else "yes", str(held.since), str(held.until), "embedded"
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
        negated=held.negated,
        since=held.since,
        until=held.until,
        stated=held.stated,
        confidence=confidence,
        intent=intent,
        change=held.change,
        extractor="embedded",
        said_at=turn.time,
        recorded_at=turn.written_at,
    )


def _tail(who: Discourse, relation: str, noun: Noun) -> str | None:
    if (noun.name and noun.head in RELATIVES) or relation in (
        "married_to",
        "dating",
        "sibling_of",
        "parent_of",
        "child_of",
        "friend_of",
        "lives_with",
        "take_care_of",
    ):
        return who.entity(noun) if noun.owner or noun.name or noun.pronoun or noun.named else who.thing(noun)
    return who.thing(noun)


def _relation(who: Discourse, told: Told) -> str:
    if told.relation == "based_in":
        person = isinstance(told.head, Noun) and who.is_person(told.head) and told.head.determiner != "the"
        return "lives_in" if person else "located_in"
    return told.relation
