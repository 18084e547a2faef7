"""The extractor of the default install: it reads facts from English with rules."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace

from mcp_memory.domain.facts import Assertion, Intent, restated
from mcp_memory.domain.relations import DATED, relations
from mcp_memory.domain.spelling import has_signs, readable, readable_places
from mcp_memory.domain.times import Millis, StatedTime
from mcp_memory.domain.turns import Turn, by_assistant, is_assistant, label
from mcp_memory.language.own_words import leads_on, own_sentences
from mcp_memory.language.stated import stated_times
from mcp_memory.rules.facts.appointments import appointment_assertions, noted_assertions
from mcp_memory.rules.facts.certainty import with_certainty
from mcp_memory.rules.facts.claims import Claim, assert_claim, make_assertion
from mcp_memory.rules.facts.clause import Clause
from mcp_memory.rules.facts.clause_reader import read_clauses
from mcp_memory.rules.facts.clause_times import by_tense, event_times, yearly_times
from mcp_memory.rules.facts.copulas import copula_claims
from mcp_memory.rules.facts.corrections import with_corrections
from mcp_memory.rules.facts.discourse import Discourse, open_discourse
from mcp_memory.rules.facts.doubts import doubt
from mcp_memory.rules.facts.introductions import names_somebody, read_introductions
from mcp_memory.rules.facts.modality import PLAIN, as_planned, assertion_end, intent_of, is_tentative
from mcp_memory.rules.facts.noun_phrases import NounPhrase
from mcp_memory.rules.facts.openings import merge_openings
from mcp_memory.rules.facts.phrase_claims import given_names, named_before, phrase_claims, presupposed_claims
from mcp_memory.rules.facts.prose import skip_lead_in, spans_to_read
from mcp_memory.rules.facts.set_phrases import set_phrases
from mcp_memory.rules.facts.statements import verb_statements
from mcp_memory.rules.facts.tails import split_ages
from mcp_memory.rules.facts.validity import duration_intervals, from_utterance
from mcp_memory.rules.facts.words import Word, is_english, is_possessed, split_words, with_capitals
from mcp_memory.temporal.assertions import guard_assertions


def _as_planned(clause: Clause, said_at: Millis) -> Clause:
    verb = as_planned(clause.verb, [word.time for word in clause.times if word.time is not None], said_at)
    return clause if verb is clause.verb else replace(clause, verb=verb)


def introductions(turn: Turn, index: int, span: tuple[int, int]) -> Iterator[Assertion]:
    """Yield the assertions of the names that a sentence gives.

    Args:
        turn: the turn that holds it.
        index: the index of the sentence.
        span: the span of the sentence, in characters.
    """
    for one in read_introductions(turn, *span):
        holds = from_utterance(turn.local_time)
        validity = replace(holds, negated=one.negated, change=one.change)
        triple = one.head, one.relation, one.name
        yield make_assertion(turn, index, (one.start, one.end), triple, validity, "FACT", PLAIN)


_THIRD = frozenset(("he", "she", "his", "her", "him"))


def _first_pronoun(words: Sequence[Word]) -> float:
    """Return the first character of the first "he" or "she" of a sentence; infinity if there is none."""
    return next((word.start for word in words if word.low in _THIRD), math.inf)


def _presupposed_assertions(
    turn: Turn, discourse: Discourse, index: int, words: Sequence[Word], intent: Intent
) -> Iterator[Assertion]:
    """Yield who the named relatives and pets of a sentence are; a "she" behind them may refer to them."""
    for noun, claim in presupposed_claims(words):
        if noun.start < _first_pronoun(words):
            discourse.mention(noun)
        head = discourse.entity(claim.head) if isinstance(claim.head, NounPhrase) else claim.head
        tail = claim.tail if isinstance(claim.tail, str) else _tail_of(discourse, claim.tail)
        if relations().get(claim.relation).symmetric and tail == discourse.speaker:
            head, tail = tail, head
        if head and tail and head.casefold() != tail.casefold():
            triple, holds = (head, claim.relation, tail), from_utterance(turn.local_time, over=claim.effect == "ended")
            yield make_assertion(turn, index, (noun.start, noun.end), triple, holds, intent, PLAIN)


def _tail_of(discourse: Discourse, noun: NounPhrase) -> str | None:
    return discourse.entity(noun) if noun.name or noun.pronoun else discourse.thing(noun)


def _stated_fact(item: Assertion) -> tuple[str, str, str, bool, int, int]:
    """Return what two assertions of one text have in common if they state the same."""
    return item.head.casefold(), item.relation, item.tail.casefold(), item.negated, item.since, item.until


class RuleExtractor:
    """Extracts facts from English with rules. Other languages yield nothing."""

    name = "rules"
    version = 11
    """To be raised with a release whose rules read other facts than the release before."""

    def extract(
        self,
        turn: Turn,
        partner: str | None,
        sentences: Sequence[tuple[int, int]],
        times: Sequence[Sequence[StatedTime]],
        before: Sequence[Turn] = (),
    ) -> list[Assertion]:
        """Return the assertions of a turn, in the order of its words. Blocking, and without side effects.

        Of a message only its speaker's own words are read (`own_sentences`), and within the limits of `spans_to_read`.

        Args:
            turn: the text, its speaker and its time.
            partner: the addressee of a message, if known: "you".
            sentences: spans of its sentences, in characters.
            times: the stated times of each sentence.
            before: the last messages before it, which may say what it is.
        """
        if by_assistant(turn):
            return []
        own = own_sentences(turn.text, sentences) if turn.kind == "message" else len(sentences)
        if not has_signs(turn.text):
            return self._extract(turn, partner, sentences, own, times, before)
        places = readable_places(turn.text)
        spans = [(bisect_left(places, start), bisect_left(places, end)) for start, end in sentences]
        plain = replace(turn, text=readable(turn.text))
        read = [stated_times(plain.text, turn.local_said_at, *span) for span in spans]
        return [
            restated(replace(one, start=places[one.start], end=places[one.end]), (one.head, one.relation, one.tail))
            for one in self._extract(plain, partner, spans, own, read, before)
        ]

    def _extract(
        self, turn: Turn, partner: str | None, sentences: Sequence[tuple[int, int]], own: int,
        times: Sequence[Sequence[StatedTime]], before: Sequence[Turn],
    ) -> list[Assertion]:  # fmt: skip
        """Return the assertions of a turn without invisible signs, of its own sentences; see `extract`."""
        everything, sentences = sentences, sentences[:own]
        times = [[time for time in stated if not is_possessed(turn.text, time)] for stated in times]
        discourse = open_discourse(turn, None if is_assistant(partner) else partner)
        assertions: dict[tuple[str, str, str, bool, int, int], Assertion] = {}
        for index, span in spans_to_read(turn, sentences):
            read = list(introductions(turn, index, span))
            read += self._assertions(turn, discourse, index, span, times)
            for assertion in read:
                assertions.setdefault(_stated_fact(assertion), assertion)
        merged = split_ages(merge_openings(turn, sentences, times, list(assertions.values())))
        stated = [item for item in doubt(turn, merged) if names_somebody(turn, item)]
        read = guard_assertions(turn, discourse.partner, sentences, stated)
        led_on = any(leads_on(one.text) for one in before if label(one) == label(turn))  # "Proofread my next message."
        return with_certainty(turn, everything, times, read, led_on=led_on)

    def read_clauses(self, text: str, start: int, words: Sequence[Word], *, talk: bool) -> list[Clause]:  # noqa: ARG002
        """Return the clauses of a sentence.

        Args:
            text: the text of the turn; a parser needs it, the rules do not.
            start: first character of the sentence.
            words: the words of the sentence.
            talk: whether the text is a message.
        """
        return read_clauses(words, talk=talk)

    def claims(self, clause: Clause, *, talk: bool) -> Iterator[Claim]:
        """Yield the claims of an asserted clause.

        Args:
            clause: the clause.
            talk: whether the text is a message.
        """
        copula = clause.verb.lemma in ("be", "become") and not clause.verb.passive
        if copula:
            yield from copula_claims(clause, talk=talk)
        yield from set_phrases(clause, talk=talk)
        yield from verb_statements(clause, talk=talk)

    def _assertions(
        self, turn: Turn, discourse: Discourse, index: int, span: tuple[int, int],
        times: Sequence[Sequence[StatedTime]],
    ) -> Iterator[Assertion]:  # fmt: skip
        """Yield the assertions of a sentence.

        Args:
            turn: the turn that holds it.
            discourse: what the text has mentioned so far.
            index: the index of the sentence.
            span: the span of it, in characters.
            times: the times that each sentence of the turn states.
        """
        start, end = span
        talk = turn.kind != "document"
        if talk:
            start = skip_lead_in(turn.text, start, end)
        if not is_english(turn.text[start:end]):
            return
        stop = assertion_end(turn.text, start, end)
        read = start, end if stop <= start else stop
        durations = duration_intervals(turn.text, start, end, turn.local_time)
        words = split_words(turn.text, *read, [*(times[index] or yearly_times(turn, span)), *durations])
        if talk:
            words = with_capitals(words, turn.text)
        clauses = self._clauses(turn, span, words)
        if talk and all(clause.verb.lemma in ("call", "name") for clause in clauses[:1]):
            discourse.hear_of(turn.text[start:end])
        if stop <= start:
            yield from _presupposed_assertions(turn, discourse, index, words, "FACT") if talk else ()
            _mention_only(discourse, clauses, talk=talk)
            return
        intent = intent_of(turn.text[start:end], dated=bool(times[index]))
        if talk:
            yield from _presupposed_assertions(turn, discourse, index, words, intent)
            yield from noted_assertions(turn, discourse, index, words, clauses)
        of_phrases: dict[int, list[Claim]] = {}
        for clause, claim in phrase_claims(clauses, talk=talk):
            of_phrases.setdefault(id(clause), []).append(claim)
        if talk and clauses and (name := named_before(words, clauses[0])):
            discourse.mention(name)
        rule_facts: set[tuple[str, str, bool]] = set()  # a parse only adds to what the rules read
        for clause in clauses:
            around = event_times(turn, clause, index, times)
            stated = self._stated(turn, discourse, index, clause, of_phrases.get(id(clause), ()), intent, around)
            for assertion in stated:
                key = assertion.head.casefold(), assertion.relation, assertion.negated
                if not (clause.parsed and assertion.relation not in DATED and key in rule_facts):
                    yield assertion
                if not clause.parsed:
                    rule_facts.add(key)
            for subject in (*clause.subject, *given_names(clause)):
                discourse.mention(subject)
            discourse.mention_others(clause)
        for noun, _ in presupposed_claims(words) if talk else ():
            if noun.start > _first_pronoun(words):
                discourse.mention(noun)  # "he's 14, and there's my wife Lin": "her" of the next sentence is Lin's

    def _clauses(self, turn: Turn, span: tuple[int, int], words: Sequence[Word]) -> list[Clause]:
        """Return the clauses of a sentence, corrected by its own words.

        Args:
            turn: the turn that holds it.
            span: the span of it, in characters.
            words: the words of it.
        """
        talk = turn.kind != "document"
        clauses = self.read_clauses(turn.text, words[0].start if words else span[0], words, talk=talk)
        clauses = with_corrections(words, clauses)
        return [_as_planned(by_tense(turn, span, clause), turn.local_time) for clause in clauses] if talk else clauses

    def _stated(
        self, turn: Turn, discourse: Discourse, index: int, clause: Clause, of_phrases: Sequence[Claim],
        intent: Intent, around: Sequence[StatedTime],
    ) -> Iterator[Assertion]:  # fmt: skip
        """Yield what a clause states, by its verb, its phrases and its date.

        Args:
            turn: the turn that holds it.
            discourse: what the text has mentioned so far.
            index: the index of its sentence.
            clause: the clause.
            of_phrases: the claims of its phrases.
            intent: the intent of the sentence.
            around: the times that date an event without a time of its own.
        """
        talk = turn.kind != "document"
        for subject in clause.source:
            discourse.mention(subject)
        silent = clause.confidence <= 0 or (talk and is_tentative(clause.verb, clause.subject))
        claims = [] if silent else list(self.claims(clause, talk=talk))
        weighted = [(claim, min(clause.confidence, claim.confidence)) for claim in claims]
        weighted += [(claim, PLAIN) for claim in of_phrases]
        if talk and clause.confidence > 0:
            yield from appointment_assertions(turn, discourse, index, clause, intent)
        for claim, confidence in weighted:
            yield from assert_claim(turn, discourse, index, clause, claim, intent, confidence, around)


def _mention_only(discourse: Discourse, clauses: Sequence[Clause], *, talk: bool) -> None:
    """Remember whom a sentence names that asserts nothing: "she" may refer to its subject."""
    for clause in clauses:
        for subject in clause.subject:
            discourse.mention(subject)
        if talk:
            discourse.mention_others(clause)
