"""The extractor that comes with the install: facts read out of English by rules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from mcp_memory.domain.facts import Assertion, Intent
from mcp_memory.domain.ids import assertion_id
from mcp_memory.domain.relations import relations
from mcp_memory.domain.times import BEGINNING, StatedTime
from mcp_memory.domain.turns import Turn
from mcp_memory.reasoning.embedded.extraction.asides import asides
from mcp_memory.reasoning.embedded.extraction.clause import Clause
from mcp_memory.reasoning.embedded.extraction.clauses import clauses
from mcp_memory.reasoning.embedded.extraction.copula import copular
from mcp_memory.reasoning.embedded.extraction.durations import durations
from mcp_memory.reasoning.embedded.extraction.english import is_english
from mcp_memory.reasoning.embedded.extraction.intents import intent_of
from mcp_memory.reasoning.embedded.extraction.modality import PLAIN, asserted_until
from mcp_memory.reasoning.embedded.extraction.noun import Noun
from mcp_memory.reasoning.embedded.extraction.subjects import RELATIVES, Discourse, discourse
from mcp_memory.reasoning.embedded.extraction.told import Told
from mcp_memory.reasoning.embedded.extraction.verbal import verbal
from mcp_memory.reasoning.embedded.extraction.when import now, when
from mcp_memory.reasoning.embedded.extraction.words import Word, words_of
from mcp_memory.temporal.guards import guarded

LONGEST = 1_200
"""Characters of a sentence that are read; what is longer was not written to be read as one."""


class RuleExtractor:
    """Reads facts out of English by rules. Other languages give nothing."""

    name = "rules"

    def extract(
        self,
        turn: Turn,
        partner: str | None,
        sentences: Sequence[tuple[int, int]],
        times: Sequence[Sequence[StatedTime]],
    ) -> list[Assertion]:
        """Return what a turn asserts, in the order of its words. Blocking, and without side effects.

        Args:
            turn: the text, who says it and when.
            partner: whom a message is said to, if known: "you".
            sentences: spans of its sentences, in characters.
            times: what each of them states.
        """
        who = discourse(turn, partner)
        found: dict[str, Assertion] = {}
        for index, (start, end) in enumerate(sentences):
            for assertion in self._assertions(turn, who, index, (start, min(end, start + LONGEST)), times[index]):
                found.setdefault(assertion.id, assertion)
        return guarded(turn, who.partner, sentences, list(found.values()))

    def clauses(self, text: str, start: int, words: Sequence[Word], *, talk: bool) -> list[Clause]:  # noqa: ARG002
        """Return the clauses of a sentence.

        Args:
            text: of the turn, for those who parse it; the rules need the words alone.
            start: first character of the sentence.
            words: of the sentence.
            talk: whether somebody speaks.
        """
        return clauses(words, talk=talk)

    def told(self, clause: Clause, *, talk: bool) -> Iterator[Told]:
        """Yield what a clause tells.

        Args:
            clause: that is asserted.
            talk: whether somebody speaks.
        """
        if clause.verb.lemma in ("be", "become") and not clause.verb.passive:
            yield from copular(clause, talk=talk)
        yield from verbal(clause)

    def _assertions(
        self, turn: Turn, who: Discourse, index: int, span: tuple[int, int], times: Sequence[StatedTime]
    ) -> Iterator[Assertion]:
        start, end = span
        talk = turn.kind != "document"
        if not is_english(turn.text[start:end]):
            return
        stop = asserted_until(turn.text, start, end)
        words = words_of(
            turn.text, start, end if stop <= start else stop, [*times, *durations(turn.text, start, end, turn.time)]
        )
        read = self.clauses(turn.text, start, words, talk=talk)
        if stop <= start:
            for clause in read:  # nothing is asserted, yet "she" may mean whom the question named
                for subject in clause.subject:
                    who.said(subject)
            return
        intent = intent_of(turn.text[start:end], dated=bool(times))
        aside: dict[int, list[Told]] = {}
        for clause, told in asides(read, talk=talk):
            aside.setdefault(id(clause), []).append(told)
        known: set[tuple[str, str, bool]] = set()  # what the rules read; a parse only adds to it
        for clause in read:
            for subject in clause.said_by:
                who.said(subject)
            facts = [] if clause.confidence <= 0 else [*self.told(clause, talk=talk)]
            said = [(told, min(clause.confidence, PLAIN)) for told in facts]
            said += [(told, PLAIN) for told in aside.get(id(clause), ())]
            for told, confidence in said:
                for assertion in _assertion(turn, who, index, clause, told, intent, confidence):
                    key = assertion.head.casefold(), assertion.relation, assertion.negated
                    if not (clause.parsed and key in known):
                        yield assertion
                    if not clause.parsed:
                        known.add(key)
            for subject in clause.subject:
                who.said(subject)
            who.met(clause)


def _assertion(
    turn: Turn, who: Discourse, index: int, clause: Clause, told: Told, intent: Intent, confidence: float
) -> Iterator[Assertion]:
    head = told.head if isinstance(told.head, str) else who.entity(told.head)
    tail = told.tail if isinstance(told.tail, str) else _tail(who, told.relation, told.tail)
    if tail is None and isinstance(told.tail, Noun) and told.tail in clause.subject:
        tail = who.entity(told.tail)  # the subject of a passive: "it was bought by …"
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
        since = BEGINNING if undated else held.since
        signs = "no" if held.negated else "yes", str(since), str(held.until), "embedded"
        yield Assertion(
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
            since=since,
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
