"""What a clause tells, before it is given its times and its place in the memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from mcp_memory.domain.facts import Assertion, Intent
from mcp_memory.domain.ids import assertion_id
from mcp_memory.domain.relations import relations
from mcp_memory.domain.times import BEGINNING
from mcp_memory.domain.turns import Turn
from mcp_memory.language.vocabulary import RELATIVES
from mcp_memory.rules.facts.clause import Clause
from mcp_memory.rules.facts.discourse import Discourse
from mcp_memory.rules.facts.noun_phrases import NounPhrase
from mcp_memory.rules.facts.validity import Validity, from_utterance, validity_intervals
from mcp_memory.rules.facts.verbs import Effect
from mcp_memory.rules.facts.words import Word


@dataclass(frozen=True, slots=True)
class Claim:
    """One fact as a clause tells it.

    Attributes:
        head: whom it is about: a phrase, or a name that was made out already.
        relation: its name.
        tail: a phrase, or the words themselves.
        effect: what the moment does to it.
        times: that belong to this fact alone; None for those of its clause, () for what a phrase tells by itself ("my
            sister Anna"), which holds from when it was said whatever its clause is about.
        end: first character after the words that tell it; 0 for the end of its clause.
        affirmed: whether it holds although its verb is denied: "doesn't like ham" tells of a dislike.
    """

    head: NounPhrase | str
    relation: str
    tail: NounPhrase | str
    effect: Effect = "state"
    times: tuple[Word, ...] | None = None
    end: int = 0
    affirmed: bool = False


def kinship_claims(
    owner: NounPhrase, relation: str, name: NounPhrase, end: int, times: tuple[Word, ...] | None = None
) -> Iterator[Claim]:
    """Yield what somebody is to somebody, by the relation in the table of kin.

    Args:
        owner: whose relative it is.
        relation: from the owner, ``<`` before one that runs to the owner, in brackets where none is kept.
        name: the relative.
        end: first character after the words that tell it.
        times: as in ``Told``.
    """
    if relation.startswith("<"):
        yield Claim(name, relation[1:], owner, "state", times, end)
    elif relation[0] != "(":
        yield Claim(owner, relation, name, "state", times, end)


def assert_claim(
    turn: Turn, discourse: Discourse, index: int, clause: Clause, claim: Claim, intent: Intent, confidence: float
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
    head = claim.head if isinstance(claim.head, str) else discourse.entity(claim.head)
    tail = claim.tail if isinstance(claim.tail, str) else _tail_name(discourse, claim.relation, claim.tail)
    if tail is None and isinstance(claim.tail, NounPhrase) and claim.tail in clause.subject:
        tail = discourse.entity(claim.tail)  # the subject of a passive: "it was bought by …"
    if tail is None and isinstance(claim.tail, NounPhrase) and any(claim.tail == noun.owner for noun in clause.subject):
        tail = discourse.entity(claim.tail)  # "its members are …"
    if not head or not tail or head.casefold() == tail.casefold():
        return
    relation = _resolve_relation(discourse, claim)
    stated = [word.time for word in (clause.times if claim.times is None else claim.times) if word.time is not None]
    if clause.verb.tense != "perfect":
        stated = [time for time in stated if not turn.text[time.start : time.end].lower().startswith("for ")]
    aside = claim.times == ()
    start, end = clause.start, max(claim.end or clause.end, clause.verb.end)
    if aside and not isinstance(claim.tail, str):
        start, end = min(clause.start, claim.tail.start), max(claim.end, claim.tail.end)
    verb = replace(clause.verb, negated=False) if claim.affirmed else clause.verb
    if (
        tail == discourse.speaker and relations().get(relation).symmetric
    ):  # "Ben and I married" is about whoever says so
        head, tail = tail, head
    timeless = turn.kind == "document" and turn.said_at is None
    for validity in (
        validity_intervals(claim.effect, verb, clause.adverbs, stated, turn.time)
        if not aside
        else [from_utterance(turn.time)]
    ):
        # What a document of no known time says without a date, it says of no known time.
        undated = timeless and not validity.stated and not validity.negated
        moment = replace(validity, since=BEGINNING) if undated else validity
        yield make_assertion(turn, index, (start, end), (head, relation, tail), moment, intent, confidence)


def make_assertion(
    turn: Turn, index: int, span: tuple[int, int], triple: tuple[str, str, str], validity: Validity, intent: Intent,
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
    head, relation, tail = triple
    signs = "no" if validity.negated else "yes", str(validity.since), str(validity.until), "embedded"
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
        negated=validity.negated,
        since=validity.since,
        until=validity.until,
        stated=validity.stated,
        confidence=confidence,
        intent=intent,
        change=validity.change,
        extractor="embedded",
        said_at=turn.time,
        recorded_at=turn.written_at,
    )


def _tail_name(discourse: Discourse, relation: str, noun: NounPhrase) -> str | None:
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
        return (
            discourse.entity(noun) if noun.owner or noun.name or noun.pronoun or noun.named else discourse.thing(noun)
        )
    return discourse.thing(noun)


def _resolve_relation(discourse: Discourse, claim: Claim) -> str:
    if claim.relation == "based_in":
        person = (
            isinstance(claim.head, NounPhrase) and discourse.is_person(claim.head) and claim.head.determiner != "the"
        )
        return "lives_in" if person else "located_in"
    return claim.relation
