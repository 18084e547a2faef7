"""The extractor of facts: it reads English with rules, sentence by sentence."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace

from mcp_memory.domain.facts import Assertion, restated
from mcp_memory.domain.spelling import is_readable, readable, readable_places
from mcp_memory.domain.times import StatedTime
from mcp_memory.domain.turns import USERS, Turn, by_assistant, is_assistant
from mcp_memory.language.own_words import own_sentences
from mcp_memory.language.stated import stated_times
from mcp_memory.rules.facts.appointments import appointment_assertions
from mcp_memory.rules.facts.certainty import with_certainty
from mcp_memory.rules.facts.claims import Claim, assert_claim, assert_phrase
from mcp_memory.rules.facts.clauses import Clause, read_clauses
from mcp_memory.rules.facts.copulas import copula_claims
from mcp_memory.rules.facts.discourse import Discourse, open_discourse
from mcp_memory.rules.facts.introductions import introductions
from mcp_memory.rules.facts.modality import asserts, intent_of
from mcp_memory.rules.facts.phrases import phrase_claims, presupposed_claims, verb_phrases
from mcp_memory.rules.facts.prose import skip_lead_in, spans_to_read
from mcp_memory.rules.facts.statements import verb_statements
from mcp_memory.rules.facts.words import is_english, split_words, time_belongs_to_noun

Span = tuple[int, int]


class RuleExtractor:
    """Extracts facts from English with rules. Other languages yield nothing."""

    name = "rules"
    version = 22
    """To be raised with a release whose rules read other facts than the release before."""

    def extract(
        self,
        turn: Turn,
        partner: str | None,
        sentences: Sequence[Span],
        times: Sequence[Sequence[StatedTime]],
    ) -> list[Assertion]:
        """Return the assertions of a turn, in the order of its words. Blocking, and without side effects.

        Of a message only its speaker's own words are read (`own_sentences`), and within the limits of `spans_to_read`.

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
            restated(replace(one, start=places[one.start], end=places[one.end]), (one.head, one.relation, one.tail))
            for one in _extract(plain, partner, spans, own, read)
        ]


def _extract(
    turn: Turn, partner: str | None, sentences: Sequence[Span], own: int, times: Sequence[Sequence[StatedTime]]
) -> list[Assertion]:  # fmt: skip
    """Return the assertions of a turn without invisible signs, of its first ``own`` sentences."""
    times = [[time for time in stated if not time_belongs_to_noun(turn.text, time)] for stated in times]
    discourse = open_discourse(turn, None if is_assistant(partner) else partner)
    assertions: dict[tuple[str, str, str, bool, int, int], Assertion] = {}
    for index, span in spans_to_read(turn, sentences[:own]):
        read = _of_sentence(turn, discourse, index, span, times[index])
        for one in (*introductions(turn, index, span), *read):
            key = one.head.casefold(), one.relation, one.tail.casefold(), one.negated, one.since, one.until
            assertions.setdefault(key, one)
    found = [one for one in assertions.values() if turn.kind == "message" or not _is_of_user(one)]
    return with_certainty(turn, sentences, times, found)


def _is_of_user(one: Assertion) -> bool:
    """Return whether a fact is about a user: that of a page is nobody whom the memory knows."""
    return not USERS.isdisjoint((one.head.casefold(), one.tail.casefold()))


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
    words = split_words(turn.text, start, end, times)
    asserting, intent = asserts(sentence), intent_of(sentence, dated=bool(times))
    pronoun = next((word.start for word in words if word.low in ("he", "she", "his", "her", "him")), end)
    presupposed = list(presupposed_claims(words)) if talk else []
    for noun, claim in presupposed:
        if noun.start < pronoun:
            discourse.mention(noun)
        yield from assert_phrase(turn, discourse, index, noun, claim, intent)
    for clause in read_clauses(words, talk=talk):
        if asserting and clause.stated:
            if talk:
                yield from appointment_assertions(turn, discourse, index, clause, intent)
            for claim in _claims(clause, talk):
                yield from assert_claim(turn, discourse, index, clause, claim, intent)
        for noun, claim in phrase_claims(clause, talk=talk) if asserting else ():
            yield from assert_phrase(turn, discourse, index, noun, claim, intent)
        for subject in clause.subject:
            discourse.mention(subject)
        discourse.mention_others(clause)
    for noun, _ in presupposed:
        if noun.start > pronoun:
            discourse.mention(noun)  # "he's 14, and there's my wife Lin": "her" of the next sentence is Lin's


def _claims(clause: Clause, talk: bool) -> Iterator[Claim]:
    if clause.verb.lemma in ("be", "become") and not clause.verb.passive:
        yield from copula_claims(clause, talk=talk)
    yield from verb_phrases(clause)
    yield from verb_statements(clause, talk=talk)
