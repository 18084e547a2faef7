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
from mcp_memory.rules.facts.validity import Validity, birth_validity, from_utterance, validity_intervals
from mcp_memory.rules.facts.words import Word

_LENGTHS = word_set("years year months weeks")
_OF_THE_PROJECT = frozenset(("uses", "chose", "decided_against"))
"""What "we" do at work, said of the project."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One fact as a text states it, before references and times are resolved.

    Attributes:
        head: what it is about: a phrase, or a name that is resolved already.
        relation: its name.
        tail: a phrase, or the text itself.
        effect: what the time of the clause means for it.
        times: the times of this claim alone; None for those of its clause.
        end: first character after the words that state it; 0 for the end of its clause.
    """

    head: NounPhrase | str
    relation: str
    tail: NounPhrase | str
    effect: Effect = "state"
    times: tuple[Word, ...] | None = None
    end: int = 0


def kinship_claims(owner: NounPhrase, relative: str, name: NounPhrase, end: int) -> Iterator[Claim]:
    """Yield the claim that one person is a relative of another, if the word for that ("sister") states a relation."""
    relation = RELATIVES[relative][0]
    if relation.startswith("<"):
        yield Claim(name, relation[1:], owner, end=end)
    elif not relation.startswith("("):
        yield Claim(owner, relation, name, end=end)


def assert_claim(
    turn: Turn, discourse: Discourse, index: int, clause: Clause, claim: Claim, intent: Intent
) -> Iterator[Assertion]:  # fmt: skip
    """Yield the claim of a clause as assertions, one for each interval in which it holds.

    Args:
        turn: the turn that holds it.
        discourse: what the text has mentioned so far.
        index: the index of its sentence.
        clause: the clause that states it.
        claim: what it states.
        intent: the intent of the sentence.
    """
    triple = _resolved(discourse, claim, (*clause.subject, *(noun.owner for noun in clause.subject)))
    if triple is not None:
        span = clause.start, max(claim.end or clause.end, clause.verb.end)
        for validity in _intervals_of(turn, clause, claim, triple[2]):
            yield make_assertion(turn, index, span, triple, validity, intent)


def assert_phrase(
    turn: Turn, discourse: Discourse, index: int, noun: NounPhrase, claim: Claim, intent: Intent
) -> Iterator[Assertion]:  # fmt: skip
    """Yield the claim of a phrase, "my sister Anna": it holds from the utterance on, whatever its clause says."""
    triple = _resolved(discourse, claim, ())
    if triple is not None:
        span, validity = (noun.start, max(noun.end, claim.end)), from_utterance(turn.local_time)
        yield make_assertion(turn, index, span, triple, validity, intent)


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


def _intervals_of(turn: Turn, clause: Clause, claim: Claim, tail: str) -> list[Validity]:
    """Return the intervals in which a claim holds; none if it tells of something that did not happen yet."""
    stated = [word.time for word in (clause.times if claim.times is None else claim.times) if word.time is not None]
    if claim.relation == "born_on":
        return birth_validity(tail, stated)
    lengths = (slot.nouns[0].head for slot in clause.slots if slot.preposition == "for")
    adverbs = clause.adverbs | {"for years" for length in lengths if length in _LENGTHS}  # "lived there for ten years"
    event = relations().get(claim.relation).event
    return validity_intervals(claim.effect, clause.verb, adverbs, stated, turn.local_time, event=event)


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
