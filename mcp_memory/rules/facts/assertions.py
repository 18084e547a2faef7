"""Make assertions of claims: whom they are about, when they hold (REAL §III-A), where the text says so.

"Moved in 2016" begins, "lived from 2016 to 2018" has both ends, "used to live" is over, "bought last month" happened
within that month, "fly on 20 December" is planned. A state without a stated time holds from the moment of the utterance
on; an event without one happened on the day of the utterance or before (DESIGN 1.2). Past tense alone ends nothing: "I
lived in Oslo" held at some time before, and so did "I have lived in Oslo".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import replace

from mcp_memory.domain.entities import PROJECT
from mcp_memory.domain.facts import Assertion, FactKind, Intent, Precision, Validity, new_assertion
from mcp_memory.domain.relations import Effect, relations
from mcp_memory.domain.times import BEGINNING, DAY, FOREVER, Grain, Millis, StatedTime, day_at
from mcp_memory.domain.turns import Turn
from mcp_memory.language.vocabulary import RELATIVES, word_set
from mcp_memory.rules.facts.clauses import Clause
from mcp_memory.rules.facts.discourse import Discourse
from mcp_memory.rules.facts.grammar import VerbGroup
from mcp_memory.rules.facts.noun_phrases import NounPhrase
from mcp_memory.rules.facts.statements import Claim

PLAIN = 0.95
"""The confidence of what is stated."""
_LENGTHS = word_set("years year months weeks")
_OF_THE_PROJECT = frozenset(("uses", "chose", "decided_against"))
"""What "we" do at work, said of the project."""
NO_LONGER = frozenset(("anymore", "any more", "no longer"))
_CHANGE_ADVERBS = NO_LONGER | {"now", "recently", "newly", "lately", "instead", "just"}
_ON_ADVERBS = frozenset(("always", "still", "ever since", "for years", "for ages", "all my life"))
_POINTS = ("begin", "end", "event")
"""Effects of what is done at one time, so that its present tense announces it."""
PRECISION: dict[Grain, Precision] = {
    **dict.fromkeys(("time", "day"), "day"),
    **dict.fromkeys(("week", "month"), "month"),
    **dict.fromkeys(("season", "year", "decade"), "year"),
}
"""The precision of a fact whose time was stated with a grain, none finer: the start of a week is no day."""


Stated = tuple[tuple[int, int], tuple[str, str, str], Validity]
"""The words that state a fact, as a span in characters; its head, relation and tail; and when it holds."""


def claim_stated(discourse: Discourse, clause: Clause, claim: Claim, said_at: Millis) -> Iterator[Stated]:
    """Yield what the claim of a clause states, once for each interval in which it holds.

    Args:
        discourse: what the text has mentioned so far.
        clause: the clause that states it.
        claim: the claim.
        said_at: the moment of the utterance.
    """
    triple = _resolved(discourse, claim, (*clause.subject, *(noun.owner for noun in clause.subject)))
    if triple is not None:
        span = clause.start, max(claim.end or clause.end, clause.verb.end)
        for validity in _intervals_of(clause, claim, triple[2], said_at):
            yield span, triple, validity


def phrase_stated(discourse: Discourse, noun: NounPhrase, claim: Claim, said_at: Millis) -> Iterator[Stated]:
    """Yield what the claim of a phrase states, "my sister Anna": it holds from then on, whatever its clause says."""
    triple = _resolved(discourse, claim, ())
    if triple is not None:
        yield (noun.start, max(noun.end, claim.end)), triple, Validity(said_at, FOREVER, False)


def make_assertion(
    turn: Turn, index: int, span: tuple[int, int], triple: tuple[str, str, str], validity: Validity, intent: Intent
) -> Assertion:  # fmt: skip
    """Return an assertion of the rules with its ``validity``; see `new_assertion`."""
    if turn.kind == "document" and turn.local_said_at is None and not (validity.stated or validity.negated):
        until = FOREVER if validity.kind == "event" else validity.until  # the day of writing tells nothing of its time
        validity = replace(validity, since=BEGINNING, until=until)
    if not validity.stated:  # the moment of the telling is an instant, all other times are days where it was said
        since, until = (turn.time if one == turn.local_time else one for one in (validity.since, validity.until))
        validity = replace(validity, since=since, until=until)
    return new_assertion(turn, index, span, triple, validity, confidence=PLAIN, intent=intent, extractor="embedded")


def _resolved(discourse: Discourse, claim: Claim, beside: tuple[NounPhrase | None, ...]) -> tuple[str, str, str] | None:
    """Return a claim with the names of its entities; None if one is unknown, or both are one.

    Args:
        discourse: what the text has mentioned so far.
        claim: what is stated.
        beside: the subjects of its clause and their owners.
    """
    head, tail = _head_name(discourse, claim), _tail_name(discourse, claim)
    if tail is None and isinstance(claim.tail, NounPhrase) and claim.tail in beside:
        tail = discourse.entity(claim.tail)  # the subject of a passive, "it was bought by …"
    if not head or not tail or head.casefold() == tail.casefold():
        return None
    return head, claim.relation, tail.rstrip(".,;") if isinstance(claim.tail, str) else tail


def _head_name(discourse: Discourse, claim: Claim) -> str | None:
    if isinstance(claim.head, str):
        return claim.head
    if claim.head.pronoun in ("we", "us") and claim.relation in _OF_THE_PROJECT:
        return PROJECT
    head = discourse.entity(claim.head)
    if head is None and relations().get(claim.relation).head == "thing":
        return discourse.thing(claim.head)  # "the timeout was raised to …"
    return head


def _tail_name(discourse: Discourse, claim: Claim) -> str | None:
    noun, known = claim.tail, relations().get(claim.relation)
    if isinstance(noun, str):
        return noun
    is_person = (noun.name and noun.head in RELATIVES) or known.head == known.tail == "person"
    if is_person and (noun.owner or noun.name or noun.pronoun or noun.named):
        return discourse.entity(noun)
    return discourse.thing(noun)


def _intervals_of(clause: Clause, claim: Claim, tail: str, said_at: Millis) -> list[Validity]:
    """Return the intervals in which a claim holds: one, or several for an event ("in 2008 and 2011").

    There is none for a negated event, and for a future without a time.
    """
    said = clause.times if claim.times is None else claim.times
    stated = [word.time for word in said if word.time is not None]
    if len(stated) < len(said) and clause.verb.tense == "present" and claim.effect in _POINTS:
        return []  # "we visit Oslo next Friday", of which nobody knows whether it is over
    if claim.relation == "born_on":
        return _of_birth(tail, stated)
    lengths = (slot.nouns[0].head for slot in clause.slots if slot.preposition == "for")
    adverbs = clause.adverbs | {"for years" for length in lengths if length in _LENGTHS}  # "lived there for ten years"
    intervals = _intervals(claim.effect, clause.verb, adverbs, stated, said_at)
    if relations().get(claim.relation).event:  # "is the author of", "has written" are read as states
        told = _before_telling(said_at)
        intervals = [told if one.kind == "state" and not one.negated else one for one in intervals]
    return [replace(one, precision=one.precision or _precision(one, stated)) for one in intervals]


def _precision(validity: Validity, times: Iterable[StatedTime]) -> Precision | None:
    """Return how exactly the time is known that gives an interval its start, otherwise its end."""
    grains = [time.grain for time in times if validity.since in (time.since, time.until)]
    grains += [time.grain for time in times if validity.until == time.until]
    return PRECISION[grains[0]] if validity.stated and grains else None


def _intervals(
    effect: Effect, verb: VerbGroup, adverbs: Set[str], times: Sequence[StatedTime], said_at: Millis
) -> list[Validity]:
    begins = [time for time in times if time.until >= FOREVER and time.since > BEGINNING]
    ends = [time for time in times if time.since <= BEGINNING]
    inside = [time for time in times if time.until < FOREVER and time.since > BEGINNING]
    ahead = [time for time in (*inside, *begins) if time.until > said_at]
    coming = verb.tense == "present" and not verb.negated
    announced = (verb.unreal and verb.future) or (coming and verb.progressive and effect in _POINTS)
    if announced or (coming and ahead and (effect in _POINTS or ahead[0].since > said_at)):
        return _planned_intervals(effect, ahead) if not verb.negated else []
    if verb.negated:
        return _negated_intervals(effect, verb, adverbs, begins, inside, said_at)
    changing = not adverbs.isdisjoint(_CHANGE_ADVERBS)
    first = next((time.since for time in (*inside, *begins)), said_at)
    match effect:
        case "end":
            return [Validity(first, FOREVER, bool(inside or begins), negated=True, change=True)]
        case "begin":
            until = inside[0].until if inside and _is_range(inside[0]) else FOREVER
            return [Validity(begins[0].since if begins else first, until, bool(times), change=True)]
        case "event":
            over = [time for time in inside if time.since <= said_at]
            return _at_times(over, "event") or [_before_telling(said_at)]
        case "lasting":
            return [Validity(first, FOREVER, bool(inside or begins), change=changing)]
        case _:
            return _state_intervals(verb, adverbs, begins, ends, inside, said_at, changing)


def _is_range(time: StatedTime) -> bool:
    """Return whether a time states both its ends, "from 2004 to 2009"."""
    longest = {"year": 367, "month": 32, "day": 2}.get(time.grain)
    return longest is not None and not time.relative and time.until - time.since > longest * DAY


def _planned_intervals(effect: Effect, ahead: Sequence[StatedTime]) -> list[Validity]:
    """Return the intervals of what is announced for a time to come."""
    if not ahead or effect == "event":
        return _at_times(ahead, "planned")
    return [Validity(ahead[0].since, FOREVER, True, negated=effect == "end", change=True, kind="planned")]


def _at_times(times: Sequence[StatedTime], kind: FactKind) -> list[Validity]:
    """Return the intervals of what happens at each of some times."""
    ends = (time.until if time.until < FOREVER else day_at(time.since).until for time in times[:4])
    return [Validity(time.since, end, True, kind=kind) for time, end in zip(times, ends, strict=False)]


def _before_telling(said_at: Millis) -> Validity:
    """Return the interval of an event that nobody said the time of: the day of the telling, as the latest one."""
    return Validity(*day_at(said_at), False, kind="event", precision="before")


def _negated_intervals(
    effect: Effect, verb: VerbGroup, adverbs: Set[str], begins: list[StatedTime], inside: list[StatedTime],
    said_at: Millis,
) -> list[Validity]:  # fmt: skip
    """Return since when a state does not hold; nothing for what did not happen."""
    over = not adverbs.isdisjoint(NO_LONGER)
    if effect != "state" or verb.tense == "past" or (verb.tense == "perfect" and not over):
        return []
    since = next((time.since for time in (*begins, *inside)), said_at)
    return [Validity(since, FOREVER, bool(begins or inside), negated=True, change=over or bool(begins))]


def _state_intervals(
    verb: VerbGroup, adverbs: Set[str], begins: list[StatedTime], ends: list[StatedTime],
    inside: list[StatedTime], said_at: Millis, changing: bool,
) -> list[Validity]:  # fmt: skip
    perfect = verb.tense == "perfect" and not verb.progressive and not adverbs & _ON_ADVERBS  # "I have lived in Rome"
    past = verb.tense == "past" or perfect
    since = begins[0].since if begins else BEGINNING
    until = ends[0].until if ends else FOREVER
    if inside and not begins:
        since = inside[0].since
        until = inside[0].until if (past or _is_range(inside[0])) and not ends else until
    if begins or ends or inside:
        return [Validity(since, until, True, change=changing)] if since < until else []
    if past:
        return [Validity(BEGINNING, said_at, False, precision="before")]
    return [Validity(said_at, FOREVER, False, change=changing)]


def _of_birth(tail: str, times: Sequence[StatedTime]) -> list[Validity]:
    """Return since when a date of birth holds: since that date, or always if it has no year; nothing for "Friday"."""
    absolute = [time for time in times if not time.relative and time.since > BEGINNING]
    if absolute:
        return [Validity(absolute[0].since, FOREVER, True, precision=PRECISION[absolute[0].grain])]
    dated = any(letter.isdigit() for letter in tail)
    return [Validity(BEGINNING, FOREVER, False, precision="yearless")] if dated else []
