"""The extractor of facts: it reads English with rules, sentence by sentence.

**Parse.** A sentence is split into words (``words.py``). Noun phrases and lists of them (``noun_phrases.py``), verb
groups (``grammar.py``) and what depends on a verb make up its clauses (``clauses.py``).

**Match.** The rows of the relation table (``tables.py``) tell which relation a verb with its preposition, or a noun
behind "is", states; ``statements.py`` matches clauses against them, and reads what no row can say. ``kinds.py`` tells
what a phrase names. What no row knows is nothing.

**Produce.** For each claim its subject (``discourse.py``) and its interval (``assertions.py``) are decided separately.
``appointments.py`` (dates of things) and ``introductions.py`` (names of speakers) make assertions of their own.

**Doubt.** A question, a condition, a wish, a command, a guess and what somebody else said state nothing
(`_NOT_ASSERTED`, ``clauses.py``); of the rest only what accounts for every word is certain (``certainty.py``).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from mcp_memory.domain.facts import Assertion, Intent, with_id
from mcp_memory.domain.times import StatedTime
from mcp_memory.domain.turns import READ_CHARS, USERS, Turn, by_assistant, is_assistant
from mcp_memory.language.own_words import own_sentences
from mcp_memory.language.segments import QUESTION_MARKS, is_repetitive
from mcp_memory.language.stated import stated_times
from mcp_memory.rules.facts.appointments import appointment_stated
from mcp_memory.rules.facts.assertions import Stated, claim_stated, make_assertion, phrase_stated
from mcp_memory.rules.facts.certainty import with_certainty
from mcp_memory.rules.facts.clauses import read_clauses
from mcp_memory.rules.facts.discourse import Discourse, open_discourse
from mcp_memory.rules.facts.introductions import introductions
from mcp_memory.rules.facts.statements import clause_claims, phrase_claims, presupposed_claims
from mcp_memory.rules.facts.words import is_english, skip_lead_in, split_words, time_belongs_to_noun
from mcp_memory.visible import is_readable, readable, readable_places

Span = tuple[int, int]

LONGEST = 1_200
"""Characters of a sentence that are read; longer ones were not written as one sentence."""
_NOT_ASSERTED = re.compile(
    r"^\s*(?:```|\||\{|<|>)|\b(?:neither|nor|not even|according|rumou?r(?:s|ed)?|apparently|reportedly|allegedly"
    r"|supposedly|presumably|maybe|perhaps|possibly|probably|likely|almost|nearly|as far as i know"
    r"|(?:every|any|no)\s?(?:one|body) but|all but)\b",
    re.IGNORECASE,
)
"""Markup, and words of doubt, hearsay and denial, whatever part of a sentence they belong to."""
_INTENT_SIGNS: tuple[tuple[Intent, re.Pattern[str]], ...] = (
    ("CAUSAL", re.compile(r"\b(?:because|so that|due to|leads? to|led to|cause[sd]|that['’]s why|thanks to)\b", re.I)),
    ("EVOLUTION", re.compile(r"\b(?:used to|no longer|now|switched|any ?more|became|formerly)\b", re.I)),
    ("TEMPORAL", re.compile(r"\b(?:before|after|until|till|since|ago|when|while)\b", re.I)),
    ("CONTRAST", re.compile(r"\b(?:but|instead|rather|than|whereas|although|though|however)\b", re.I)),
)  # fmt: skip


class RuleExtractor:
    """Extracts facts from English with rules. Other languages yield nothing."""

    name = "rules"
    version = 28
    """To be raised with a release whose rules read other facts than the release before."""

    def extract(
        self, turn: Turn, partner: str | None, sentences: Sequence[Span], times: Sequence[Sequence[StatedTime]]
    ) -> list[Assertion]:
        """Return the assertions of a turn, in the order of its words. Blocking, and without side effects.

        Of a message only its speaker's own words are read (`own_sentences`), and within the limits of `_spans_to_read`.

        Args:
            turn: the text, its speaker and its time.
            partner: the addressee of a message, if known: "you".
            sentences: spans of its sentences, in characters.
            times: the stated times of each sentence.
        """
        if by_assistant(turn):
            return []
        own = own_sentences(turn.text, sentences) if turn.kind == "message" else len(sentences)
        if is_readable(turn.text):
            return _extract(turn, partner, sentences, own, times)
        places = readable_places(turn.text)
        spans = [(bisect_left(places, start), bisect_left(places, end)) for start, end in sentences]
        plain = replace(turn, text=readable(turn.text))
        read = [stated_times(plain.text, turn.local_said_at, *span) for span in spans]
        return [
            with_id(replace(one, start=places[one.start], end=places[one.end]))
            for one in _extract(plain, partner, spans, own, read)
        ]


def _extract(
    turn: Turn, partner: str | None, sentences: Sequence[Span], own: int, times: Sequence[Sequence[StatedTime]]
) -> list[Assertion]:  # fmt: skip
    """Return the assertions of a turn without invisible signs, of its first ``own`` sentences."""
    times = [_without_nouns(turn.text, stated) for stated in times]
    discourse = open_discourse(turn, None if is_assistant(partner) else partner)
    assertions: dict[tuple[str, str, str, bool, int, int], Assertion] = {}
    for index, span in _spans_to_read(turn, sentences[:own]):
        read = _of_sentence(turn, discourse, index, span, times[index])
        for one in (*introductions(turn, index, span), *read):
            key = one.head.casefold(), one.relation, one.tail.casefold(), one.negated, one.since, one.until
            assertions.setdefault(key, one)
    found = list(assertions.values())
    if turn.kind != "message":  # the user of a page is nobody whom the memory knows
        found = [one for one in found if USERS.isdisjoint((one.head.casefold(), one.tail.casefold()))]
    return with_certainty(turn, sentences, times, found)


def _without_nouns(text: str, times: Iterable[StatedTime]) -> list[StatedTime]:
    return [time for time in times if not time_belongs_to_noun(text, time)]


def _spans_to_read(turn: Turn, sentences: Sequence[Span]) -> Iterator[tuple[int, Span]]:
    """Yield the index and the characters of each sentence that is read for facts.

    Left out are sentences that repeat themselves, and what follows after `READ_CHARS` of a message. So the time for a
    text is proportional to its length, and that for a message is limited.
    """
    read_chars = 0
    for index, (start, end) in enumerate(sentences):
        span = start, min(end, start + LONGEST)
        if is_repetitive(turn.text, *span):
            continue
        read_chars += span[1] - span[0]
        if turn.kind == "message" and read_chars > READ_CHARS:
            return
        yield index, span


def _of_sentence(
    turn: Turn, discourse: Discourse, index: int, span: Span, times: Sequence[StatedTime]
) -> Iterator[Assertion]:
    """Yield what a sentence states; what it asks or orders only says who "she" is from then on.

    Args:
        turn: the turn that holds it.
        discourse: what the text has mentioned so far.
        index: the index of the sentence.
        span: the span of it, in characters.
        times: the times that it states.
    """
    (start, end), talk = span, turn.kind != "document"
    start = skip_lead_in(turn.text, start, end) if talk else start
    sentence = turn.text[start:end]
    if not is_english(sentence):
        return
    # As in a question: what leaves open which time it means, or was said nobody knows when, is no name either.
    named = _without_nouns(turn.text, stated_times(turn.text, turn.local_time, start, end, asked=True))
    words = split_words(turn.text, start, end, times, named)
    asserting = _NOT_ASSERTED.search(sentence) is None and not any(mark in sentence for mark in QUESTION_MARKS)
    intent = _intent_of(sentence, dated=bool(times))
    pronoun = next((word.start for word in words if word.low in ("he", "she", "his", "her", "him")), end)
    said_at = turn.local_time

    def made(stated: Iterable[Stated]) -> Iterator[Assertion]:
        return (make_assertion(turn, index, *one, intent) for one in stated)

    presupposed = list(presupposed_claims(words)) if talk else []
    for noun, claim in presupposed:
        if noun.start < pronoun:
            discourse.mention(noun)
        yield from made(phrase_stated(discourse, noun, claim, said_at))
    for clause in read_clauses(words, talk=talk):
        if asserting and clause.stated:
            if talk:
                yield from made(appointment_stated(discourse, clause, turn.text, said_at))
            for claim in clause_claims(clause):
                yield from made(claim_stated(discourse, clause, claim, said_at))
        for noun, claim in phrase_claims(clause) if asserting else ():
            yield from made(phrase_stated(discourse, noun, claim, said_at))
        for subject in clause.subject:
            discourse.mention(subject)
        discourse.mention_others(clause)
    for noun, _ in presupposed:
        if noun.start > pronoun:
            discourse.mention(noun)  # "he's 14, and there's my wife Lin": "her" of the next sentence is Lin's


def _intent_of(sentence: str, *, dated: bool) -> Intent:
    """Return the intent of a sentence: the first of REAL's five intents whose words it has (DESIGN 1), or a time."""
    for intent, words in _INTENT_SIGNS:
        if words.search(sentence) or (intent == "TEMPORAL" and dated):
            return intent
    return "FACT"
