"""What people earn, pay, owe and have saved, and what is measured of them: "I earn 1,640 after tax".

A bare noun for such an amount, "rent's 740 a month", is the speaker's own: in chats people leave out "my".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from mcp_memory.domain.facts import Assertion, Intent, new_assertion
from mcp_memory.domain.turns import Turn, speaker
from mcp_memory.language.vocabulary import word_set
from mcp_memory.rules.facts.claims import make_assertion
from mcp_memory.rules.facts.clause import Clause
from mcp_memory.rules.facts.discourse import Discourse
from mcp_memory.rules.facts.noun_phrases import NounPhrase
from mcp_memory.rules.facts.rows import FEW_COUNTED, Effect
from mcp_memory.rules.facts.tables.nouns import COMPANIES
from mcp_memory.rules.facts.validity import validity_intervals

_ABOUT = r"(?:only\s|about\s|around\s|roughly\s|nearly\s|just\s(?:under\s|over\s)?)?"
_SUM = r"[€$£]?\d[\d,.]*(?<![.,])k?\b(?:\s(?:quid|pounds|euros?|dollars|bucks|kroner|crowns|grand)\b)?"
_RATE = r"\s(?:an?|per|each|every)\s(?:month|year|week|hour|day|night)\b"
_TAX = r"\s(?:after|before)\stax(?:es)?\b|\s(?:net|gross)\b"
_FOR = r"\s(?:in|for|on)\s(?:rent\b|(?:the|my|our)\s[a-z]+)"
_AMOUNT = rf"(?P<amount>{_ABOUT}{_SUM})(?P<rate>{_RATE})?(?P<tax>{_TAX})?"
_EARNED = re.compile(rf"\s(?:home\s)?{_AMOUNT}", re.IGNORECASE)
_PAID = re.compile(rf"\s(?:(?P<whom>me|us|him|her|them)\s)?{_AMOUNT}(?P<for>{_FOR})?", re.IGNORECASE)
_OWED = re.compile(
    rf"\s(?P<amount>{_ABOUT}{_SUM})(?:\sstill\b)?(?P<for>\s(?:on|for|to)\s(?:(?:the|my|our)\s[a-z]+|[A-Z]\w+))", re.I
)
_MEASURED = re.compile(
    rf"\s(?:(?:is|are|was|were|now|still|at|down\sto|up\sto|back\s(?:at|to)|went\sup\sto)\s)*"
    rf"(?P<value>\d{{2,3}}\s?(?:/|over)\s?\d{{2,3}}\b|{_ABOUT}{_SUM})"
    r"(?=\s*(?:$|[.,;!?)]|\s(?:now|and|but|so|at|in|this|last|yesterday|today|on|which|because|already)\b))",
    re.IGNORECASE,
)
_PRESSURE = re.compile(r"\d{2,3}\s?(?:/|over)\s?\d{2,3}")
_SAVED = word_set("savings")
_PRESSURES = word_set("pressure bp")


def amounts(
    turn: Turn, discourse: Discourse, index: int, clause: Clause, intent: Intent
) -> Iterator[Assertion]:  # fmt: skip
    """Yield what a clause tells of an amount of somebody.

    Args:
        turn: the turn that holds the clause.
        discourse: what the text has mentioned so far.
        index: the index of the sentence.
        clause: asserted, of a message, with one subject.
        intent: the intent of the sentence.
    """
    verb, who = clause.verb, clause.subject[0]
    if verb.negated or verb.unreal or verb.passive or verb.used_to:
        return
    found = _paid(turn.text, clause, discourse) or _measured(turn.text, clause, discourse)
    if found is None or who.uncertain:
        return
    triple, times = found, [word.time for word in clause.times if word.time is not None]
    effect: Effect = "begin" if verb.tense == "past" else "state"
    for holds in validity_intervals(effect, verb, clause.adverbs, times, turn.local_time):
        span = clause.start, max(clause.end, turn.text.find(triple[2], verb.end) + len(triple[2]))
        yield make_assertion(turn, index, span, triple, holds, intent, min(clause.confidence, FEW_COUNTED))


def _paid(text: str, clause: Clause, discourse: Discourse) -> tuple[str, str, str] | None:
    """Return who earns, pays or owes what, "620 a month in rent"."""
    verb, who = clause.verb, clause.subject[0]
    if verb.tense != "present" or not (who.pronoun in ("i", "we", "he", "she", "they") or who.named or who.owner):
        return None
    if verb.lemma == "owe" and (owed := _OWED.match(text, verb.end)):
        return _triple(discourse.entity(who), "owes", owed["amount"] + owed["for"])
    match = (_PAID if verb.lemma == "pay" else _EARNED).match(text, verb.end)
    if match is None or not (match["rate"] or (match["tax"] and verb.lemma != "pay")):
        return None
    amount = match["amount"] + (match["rate"] or "") + (match["tax"] or "")
    large = sum(letter.isdigit() for letter in match["amount"]) > 2 or bool(re.search(r"[€$£k]|\s[a-z]", amount[:12]))
    if verb.lemma == "pay":
        whom, employer = match["whom"], who.pronoun == "they" or who.head in COMPANIES | {"boss"}
        if whom and employer:
            paid = discourse.speaker if whom in ("me", "us") else discourse.means("she" if whom == "her" else "he")
            return _triple(paid, "earns", amount)
        return None if employer else _triple(discourse.entity(who), "pays", amount + (match["for"] or ""))
    earning = verb.lemma in ("earn", "make", "get") or (
        verb.lemma in ("take", "bring") and "home" in text[verb.end :][:6]
    )
    if not earning or not large or (verb.lemma == "get" and match["rate"] and not _of_money(match)):
        return None
    return _triple(discourse.entity(who), "earns", amount)


def _of_money(match: re.Match[str]) -> bool:
    """Return whether an amount is one of money, by its size or its currency: not "I get 9 a month"."""
    return sum(letter.isdigit() for letter in match["amount"]) > 3 or not match["amount"][-1].isdigit()


def _measured(text: str, clause: Clause, discourse: Discourse) -> tuple[str, str, str] | None:
    """Return a blood pressure or savings, with whose they are: "bp was 128 over 80"."""
    verb, thing = clause.verb, clause.subject[0]
    match = _MEASURED.match(text, verb.end)
    if match is None:
        return None
    value = match["value"]
    pressure = thing.head in _PRESSURES and (thing.head == "bp" or "blood" in thing.text.lower())
    if verb.lemma != "be" or not (thing.head in _SAVED or (pressure and _PRESSURE.match(value))):
        return None
    whose = _owner(thing, discourse)
    return _triple(whose and f"{whose}'s {thing.text.lower()}", "set_to", value)


def _owner(thing: NounPhrase, discourse: Discourse) -> str | None:
    if thing.owner is not None:
        return discourse.entity(thing.owner)
    return discourse.speaker if thing.determiner in ("", "the") else None


def _triple(head: str | None, relation: str, tail: str) -> tuple[str, str, str] | None:
    return (head, relation, " ".join(tail.split())) if head else None


_OWN = re.compile(
    r"(?:(?P<who>.+)['’]s\s)?(?:new\s|monthly\s)?(?P<what>pay|salary|wages?|income|take-home|rent|mortgage)", re.I
)
_PAY = word_set("pay salary wage wages income take-home")
_TAXED = re.compile(_TAX, re.IGNORECASE)


def owned_amounts(turn: Turn, read: Iterable[Assertion]) -> Iterator[Assertion]:
    """Yield assertions, with what somebody's pay or rent is told of them: "pay's 2,150 a month" is what they earn.

    Args:
        turn: the message.
        read: what it states.
    """
    for item in read:
        own = _OWN.fullmatch(item.head) if item.relation == "set_to" and item.tail[:1] in "€$£0123456789" else None
        who = (own["who"] or speaker(turn)) if own else None
        if own is None or who is None:
            yield item
        elif own["what"].lower() in _PAY:
            place = turn.text.find(item.tail, item.start)
            taxed = _TAXED.match(turn.text, place + len(item.tail)) if place >= 0 else None
            yield _told_of(turn, item, (who, "earns", item.tail + (taxed[0] if taxed else "")))
        else:
            yield _told_of(turn, item, (f"{who}'s {own['what'].lower()}", "set_to", item.tail))


def _told_of(turn: Turn, item: Assertion, triple: tuple[str, str, str]) -> Assertion:
    return new_assertion(
        turn, item.sentence, (item.start, item.end), triple, since=item.since, until=item.until, stated=item.stated,
        negated=item.negated, change=item.change, intent=item.intent, extractor="embedded", confidence=item.confidence,
        kind=item.kind, precision=item.precision,
    )  # fmt: skip
