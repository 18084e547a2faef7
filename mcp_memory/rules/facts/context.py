"""Whom "she" means in a message and what "it" is, by the messages and sentences before.

**Whom "she" means** at the start of a message: the one person of that sex whom the messages before it tell of, only
where that is certain: no person stands before the pronoun in its own message, and the last two messages tell of nobody
else to whom it could refer. Then "How is your sister?" and "She moved to Lyon" tell where the sister lives.

**What "it" is**, of which something is told: a thing whose date or value was told just before, "It was moved to the
24th". The thing is the only one of which the sentences before in the message, or else the message before, tell a date
or a value. The sentence is read with the thing in place of "it".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.times import DAY
from mcp_memory.domain.turns import Turn, is_assistant, speaker
from mcp_memory.language.iso import MONTHS, WEEKDAYS, civil, weekday
from mcp_memory.language.segments import split
from mcp_memory.language.stated import stated_times
from mcp_memory.language.vocabulary import RELATIVES
from mcp_memory.rules.facts.answered import Answered
from mcp_memory.rules.facts.clause_reader import read_clauses
from mcp_memory.rules.facts.discourse import Discourse, open_discourse
from mcp_memory.rules.facts.noun_phrases import NounPhrase, read_phrase
from mcp_memory.rules.facts.tables import closed, nouns
from mcp_memory.rules.facts.words import Word, split_words

READ_BEFORE = 500
"""Characters at the end of each message before that are read for the people in it."""
_PRONOUN = re.compile(r"\b(?:he|she|his|her|him)\b", re.IGNORECASE)
_FIRST = 200
"""Characters within which a message has its first "she", if it means somebody of the messages before."""
_PEOPLE = RELATIVES.keys() | nouns.PERSONISH
_NAME = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]+")


def recall_people(discourse: Discourse, turn: Turn, before: Sequence[Turn]) -> None:
    """Let "he" and "she" of a message mean the people of the messages before it, where that is certain.

    Args:
        discourse: the discourse of the message, at its start; people are added to it.
        turn: the message.
        before: the last messages before it, in order.
    """
    first = _PRONOUN.search(turn.text[:_FIRST]) if before else None
    if first is None or _names_people(turn.text[: first.start()]):
        return
    known = {name.casefold() for name in (discourse.speaker, discourse.partner) if name}
    found: dict[str, set[str]] = {"he": set(), "she": set()}
    for message in before:
        for pronoun, name in _people(message, turn, discourse):
            if name.casefold() not in known and not any(name.casefold() in one.split() for one in known):
                found[pronoun].add(name)
    for pronoun, names in found.items():
        if len(names) == 1:
            discourse.recall(pronoun, *names)


_QUESTION = re.compile(r"\?\W*\Z|^\W*(?:and\s|so\s)?(?:what|where|when|why|how|who)\b", re.I)
_OF_ANOTHER = re.compile(r"\b(?:he|she|it|they|him|her|them)\b", re.I)


def asked_of_another(turn: Turn, before: Sequence[Turn]) -> bool:
    """Return whether the message before asks about somebody else, "what's she in for": "flew into a pane" is of her."""
    if not before or (before[-1].speaker or before[-1].role) == (turn.speaker or turn.role):
        return False
    text = before[-1].text[-READ_BEFORE:]
    start, end = split(text)[-1] if text.strip() else (0, 0)
    asked = text[start:end]
    return bool(_QUESTION.search(asked) and _OF_ANOTHER.search(asked)) and "you" not in asked.lower()


def _names_people(text: str) -> bool:
    return bool(_NAME.search(text)) or not _PEOPLE.isdisjoint(re.findall(r"[a-z]+", text.lower()))


def _people(message: Turn, turn: Turn, discourse: Discourse) -> Iterator[tuple[str, str]]:
    """Yield the people of a message before, each with the pronoun that may mean them."""
    same = (message.speaker or message.role) == (turn.speaker or turn.role)
    told = open_discourse(message, discourse.partner if same else discourse.speaker)
    if told.speaker is None:
        told.speaker = "assistant" if is_assistant(message.role) else speaker(message)
    text = message.text[-READ_BEFORE:]
    for start, end in split(text):
        words = split_words(text, start, end, stated_times(text, message.local_said_at, start, end))
        for noun in (*_relatives(words), *(one for clause in read_clauses(words, talk=True) for one in clause.subject)):
            told.mention(noun)
            if (name := told.entity(noun)) and noun.pronoun not in closed.FIRST | closed.SECOND:
                yield from ((pronoun, name) for pronoun in ("he", "she") if told.means(pronoun) == name)


def _relatives(words: Sequence[Word]) -> Iterator[NounPhrase]:
    """Yield the relatives whom a sentence names by their owner: "your sister", "my brother Tom"."""
    for index, word in enumerate(words[:-1]):
        kin = next((at for at in (index + 1, index + 2) if at < len(words) and words[at].low in RELATIVES), 0)
        if word.low in closed.OWNERS and kin:
            stop = kin + 1
            while stop < len(words) and words[stop].capital and words[stop].kind == "word":
                stop += 1
            found = read_phrase(words[:stop], index, verb_seen=True)
            if found and found[0].head in RELATIVES and not found[0].plural:
                yield found[0]


_CHANGED = (
    r"(?:raised|lowered|set|changed|moved|bumped|increased|reduced|cut|extended|shortened|postponed|pushed|brought"
    r"|rescheduled|delayed)"
)
_IT = re.compile(
    r"(?:(?:ah|oh|no|yes|yeah|ok(?:ay)?|actually|but|and|well|btw|by\sthe\sway|sorry)\b,?\s+)*(?P<it>it|that)"
    rf"(?=(?:\s(?:was|is|has\sbeen|got|had\sto\sbe)|['’]s)(?:\s(?:now|just|since|been|already))*\s(?:{_CHANGED}\b|on\s|due\s|\d)"
    r"|\smove[sd]\sto\b)",
    re.IGNORECASE,
)
"""A sentence that begins with the thing: "It was moved to …", "It's now 50"."""
_DAYS = "|".join(WEEKDAYS)
_OTHER_DAY = re.compile(
    r"(?:(?:ah|oh|no|yes|ok(?:ay)?|actually|but|and|well|wait|sorry|correction)\b[,:]?\s+)*(?P<it>it)"
    rf"(?:\sis|['’]s)(?:\s(?:actually|now))?\s(?:on\s)?(?P<day>{_DAYS})\b(?=[^.!?]*\bnot\s(?:on\s)?(?:{_DAYS})\b)",
    re.IGNORECASE,
)
"""A sentence that names another weekday for it: "Actually it's Thursday, not Wednesday"."""
_OF_IT = re.compile(
    rf"\b(?:we|they|i|[a-z]+)(?:['’]ve|\shave|\shas)?(?:\s(?:just|now|since|already))?\s{_CHANGED}\s(?P<it>it|that)"
    r"(?=\s(?:up\s|down\s|back\s|forward\s)?(?:to|from|until)\b)",
    re.IGNORECASE,
)
"""A sentence that tells what was done with it: "we raised it to 45 seconds"."""
_TOLD = frozenset(("set_to", "scheduled_for", "due_on", "starts_on", "ends_on"))
_REACH = 2_000
"""Characters at the end of what was told before in which the thing is looked for."""
_FEW_DAYS = 4
"""Days between two weekdays of one week beyond which the other side of the weekend is nearer."""
_RESUMED_WITHIN = 3
"""Sentences of a message in which "it" may be the thing of the message before."""


def resumed(
    turn: Turn, before: Sequence[Turn], sentences: Sequence[tuple[int, int]], read: Callable[[Turn], list[Assertion]]
) -> Answered | None:
    """Return the first sentence about "it" with the thing in its place; None if there is none, or several may be it.

    Args:
        turn: the turn whose sentences they are.
        before: the last messages before it.
        sentences: the sentences of the turn, as spans in characters.
        read: returns the facts of a message by itself.
    """
    for index, (start, end) in enumerate(sentences[:_RESUMED_WITHIN]):
        other_day = _OTHER_DAY.match(turn.text, start, end)
        found = other_day or _IT.match(turn.text, start, end) or _OF_IT.search(turn.text, start, end)
        if found is None or turn.text[start:end].rstrip().endswith("?"):
            continue
        earlier = [replace(turn, text=turn.text[:start])] if index else []
        for told in (*earlier, *before[-1:]):
            things = {fact.head: fact for fact in read(_plain(told)) if fact.relation in _TOLD and not fact.negated}
            if len(things) == 1:
                ((thing, fact),) = things.items()
                if other_day is not None:
                    return Answered(f"{_named(thing)} is on {_nearest(other_day['day'], fact)}.", index)
                text = _with_thing(turn.text, found, start, end, thing)
                return Answered(text if fact.relation == "set_to" else _in_its_month(text, fact), index)
            if things:
                return None
    return None


def _plain(told: Turn) -> Turn:
    """Return a message as if it asked nothing: "the port is 80, right?" names the thing, too."""
    return replace(told, text=told.text[-_REACH:].replace("?", "."))


_BARE_DAY = re.compile(r"\b(?:to|on|until)\sthe\s(?P<day>\d{1,2})(?:st|nd|rd|th)\b(?!\s(?:of|[A-Z]))")


def _in_its_month(text: str, dated: Assertion) -> str:
    """Return a text whose first day without a month has that of the date before: "moved to the 24th"."""
    month = MONTHS[civil(dated.since)[1] - 1]
    return _BARE_DAY.sub(lambda day: f"{day[0].split()[0]} {day['day']} {month}", text, count=1)


def _nearest(day: str, dated: Assertion) -> str:
    """Return a weekday in the week of the date before, "Friday, not Monday", or across a weekend if that is nearer."""
    days = WEEKDAYS.index(day.capitalize()) - weekday(dated.since)
    days -= 7 * ((days > _FEW_DAYS) - (days < -_FEW_DAYS))
    year, month, number = civil(dated.since + days * DAY)
    return f"{number} {MONTHS[month - 1]} {year}"


def _named(thing: str) -> str:
    return thing if thing[:1].isupper() else f"The {thing}"


def _with_thing(text: str, found: re.Match[str], start: int, end: int, thing: str) -> str:
    named = thing if thing[:1].isupper() else f"the {thing}"
    begin = found.start("it") if found.re is _IT else start
    rest = text[found.end("it") : end]
    is_now = re.match(r"['’]s\b", rest)
    rest = f" is{rest[is_now.end() :]}" if is_now else rest
    named = named[:1].upper() + named[1:] if begin == found.start("it") else named
    return text[begin : found.start("it")] + named + rest
