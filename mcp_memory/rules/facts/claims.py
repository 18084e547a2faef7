"""Claims, the facts that a clause states, and the assertions made of them: entities, interval, position in the text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from mcp_memory.domain.entities import PROJECT
from mcp_memory.domain.facts import Assertion, Intent, new_assertion
from mcp_memory.domain.relations import Effect, relations
from mcp_memory.domain.times import BEGINNING, FOREVER
from mcp_memory.domain.turns import Turn
from mcp_memory.language.vocabulary import RELATIVES, word_set
from mcp_memory.rules.facts.clauses import Clause
from mcp_memory.rules.facts.discourse import Discourse
from mcp_memory.rules.facts.modality import PLAIN
from mcp_memory.rules.facts.noun_phrases import NounPhrase
from mcp_memory.rules.facts.tables import nouns
from mcp_memory.rules.facts.validity import (
    Validity,
    birth_validity,
    from_utterance,
    validity_intervals,
)
from mcp_memory.rules.facts.words import Word

_LENGTHS = word_set("years year months weeks")
_OF_THE_PROJECT = word_set("uses chose decided decided_against")
"""What "we" do at work, said of the project."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One fact as a clause states it, before references and times are resolved.

    Attributes:
        head: what it is about: a phrase, or a name that is resolved already.
        relation: its name.
        tail: a phrase, or the text itself.
        effect: what the time of the clause means for it.
        times: the times of this claim alone; None for those of its clause; () for a claim of a phrase.
        end: first character after the words that state it; 0 for the end of its clause.
        affirmed: whether it holds although its verb is negated: "doesn't like ham" states a dislike.
    """

    head: NounPhrase | str
    relation: str
    tail: NounPhrase | str
    effect: Effect = "state"
    times: tuple[Word, ...] | None = None
    end: int = 0
    affirmed: bool = False

    @property
    def of_phrase(self) -> bool:
        """Whether a phrase states it, "my sister Anna": it holds from the utterance on, whatever its clause says."""
        return self.times == ()


def kinship_claims(
    owner: NounPhrase, relation: str, name: NounPhrase, end: int, times: tuple[Word, ...] | None = None
) -> Iterator[Claim]:
    """Yield the claim that one person is a relative of another.

    Args:
        owner: the person with the relative.
        relation: the relation from the owner; with ``<`` if it runs to the owner, in brackets if it is dropped.
        name: the relative.
        end: first character after the words that state it.
        times: as in `Claim`.
    """
    if relation.startswith("<"):
        yield Claim(name, relation[1:], owner, "state", times, end)
    elif relation[0] != "(":
        yield Claim(owner, relation, name, "state", times, end)


def assert_claim(
    turn: Turn,
    discourse: Discourse,
    index: int,
    clause: Clause,
    claim: Claim,
    intent: Intent,
) -> Iterator[Assertion]:
    """Yield a claim as assertions, one for each interval in which it holds.

    Args:
        turn: the turn that holds it.
        discourse: what the text has mentioned so far.
        index: the index of its sentence.
        clause: the clause that states it.
        claim: what it states.
        intent: the intent of the sentence.
    """
    head, tail = _resolve_head(discourse, claim), _resolve_tail(discourse, clause, claim)
    if not head or not tail or head.casefold() == tail.casefold():
        return
    relation = claim.relation
    tail = tail.rstrip(".,;") if isinstance(claim.tail, str) else tail
    intervals = _intervals_of(turn, clause, claim, relation, tail)
    if tail == discourse.speaker and relations().get(relation).symmetric:  # "Ben and I married" is about the speaker
        head, tail = tail, head
    start, end = clause.start, max(claim.end or clause.end, clause.verb.end)
    if claim.of_phrase and not isinstance(claim.tail, str):
        start, end = min(clause.start, claim.tail.start), max(claim.end, claim.tail.end)
    for validity in intervals:
        yield make_assertion(turn, index, (start, end), (head, relation, tail), validity, intent)


def _resolve_head(discourse: Discourse, claim: Claim) -> str | None:
    """Return the name of the entity that a claim is about; None if it is unknown."""
    if isinstance(claim.head, str):
        head: str | None = claim.head
    else:
        head = discourse.entity(claim.head)
        if head is None and relations().get(claim.relation).head == "thing":
            head = discourse.thing(claim.head)  # "the timeout was raised to …"
        of_we = claim.head.pronoun in ("we", "us")
        if of_we and claim.relation in _OF_THE_PROJECT and _is_of_work(claim.tail):
            return PROJECT
    return head


def _is_of_work(tail: NounPhrase | str) -> bool:
    """Return whether what "we" use or choose is a name or software: "we use Redis", not "we use cloth bags"."""
    return isinstance(tail, NounPhrase) and (tail.named or tail.text.lower() in nouns.SOFTWARE)


def _resolve_tail(discourse: Discourse, clause: Clause, claim: Claim) -> str | None:
    """Return the value of a claim as text; None if it is unknown."""
    if isinstance(claim.tail, str):
        return claim.tail
    tail = _tail_name(discourse, claim.relation, claim.tail)
    if tail is None and claim.tail in (*clause.subject, *(noun.owner for noun in clause.subject)):
        return discourse.entity(claim.tail)  # the subject of a passive, "it was bought by …"; "its members are …"
    return tail


def _intervals_of(turn: Turn, clause: Clause, claim: Claim, relation: str, tail: str) -> list[Validity]:
    """Return the intervals in which a claim holds; none if it tells of something that did not happen yet.

    Args:
        turn: the turn that holds the clause.
        clause: the clause that states the claim.
        claim: what it states.
        relation: the relation of the claim, once it is resolved.
        tail: the tail of the claim, once it is resolved.
    """
    stated = [word.time for word in (clause.times if claim.times is None else claim.times) if word.time is not None]
    if relation == "born_on":
        return birth_validity(tail, stated)
    event = relations().get(relation).event
    if claim.of_phrase:
        return [from_utterance(turn.local_time)]
    verb = replace(clause.verb, negated=False) if claim.affirmed else clause.verb
    lengths = (slot.nouns[0].head for slot in clause.slots if slot.preposition == "for")
    adverbs = clause.adverbs | {"for years" for length in lengths if length in _LENGTHS}  # "lived there for ten years"
    return validity_intervals(claim.effect, verb, adverbs, stated, turn.local_time, event=event)


def make_assertion(
    turn: Turn, index: int, span: tuple[int, int], triple: tuple[str, str, str], validity: Validity, intent: Intent
) -> Assertion:  # fmt: skip
    """Return an assertion of the rules with its ``validity``; see `new_assertion`."""
    if turn.kind == "document" and turn.local_said_at is None and not (validity.stated or validity.negated):
        until = FOREVER if validity.kind == "event" else validity.until  # the day of writing tells nothing of its time
        validity = replace(validity, since=BEGINNING, until=until)
    since, until = validity.since, validity.until
    if not validity.stated:  # the moment of the telling is an instant, all other times are days where it was said
        since, until = (turn.time if one == turn.local_time else one for one in (since, until))
    return new_assertion(
        turn, index, span, triple, since=since, until=until, stated=validity.stated,
        negated=validity.negated, change=validity.change, confidence=PLAIN, intent=intent, extractor="embedded",
        kind=validity.kind, precision=validity.precision,
    )  # fmt: skip


def _tail_name(discourse: Discourse, relation: str, noun: NounPhrase) -> str | None:
    known = relations().get(relation)
    is_person = (noun.name and noun.head in RELATIVES) or known.head == known.tail == "person"
    if is_person and (noun.owner or noun.name or noun.pronoun or noun.named):
        return discourse.entity(noun)
    return discourse.thing(noun)
