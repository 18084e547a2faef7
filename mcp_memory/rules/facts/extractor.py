"""The extractor that comes with the install: facts read out of English by rules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.times import StatedTime
from mcp_memory.domain.turns import Turn
from mcp_memory.rules.facts.asides import asides
from mcp_memory.rules.facts.asserting import asserted, noted
from mcp_memory.rules.facts.clause import Clause
from mcp_memory.rules.facts.clauses import clauses
from mcp_memory.rules.facts.copula import copular
from mcp_memory.rules.facts.durations import durations
from mcp_memory.rules.facts.english import is_english
from mcp_memory.rules.facts.intents import intent_of
from mcp_memory.rules.facts.modality import PLAIN, asserted_until
from mcp_memory.rules.facts.notes import after_lead_in, note
from mcp_memory.rules.facts.openings import with_openings
from mcp_memory.rules.facts.subjects import Discourse, discourse
from mcp_memory.rules.facts.told import Told
from mcp_memory.rules.facts.verbal import verbal
from mcp_memory.rules.facts.words import Word, words_of
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
        found: dict[tuple[str, str, str, bool, int, int], Assertion] = {}
        for index, (start, end) in enumerate(sentences):
            for assertion in self._assertions(turn, who, index, (start, min(end, start + LONGEST)), times[index]):
                key = assertion.head.casefold(), assertion.relation, assertion.tail.casefold(), assertion.negated
                found.setdefault((*key, assertion.since, assertion.until), assertion)
        told = with_openings(turn, sentences, times, list(found.values()))
        return guarded(turn, who.partner, sentences, told)

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
        if talk:
            start = after_lead_in(turn.text, start, end)
            if (kept := note(turn.text, start, end)) is not None:
                yield from noted(turn, who, index, kept, times)
                return
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
                for assertion in asserted(turn, who, index, clause, told, intent, confidence):
                    key = assertion.head.casefold(), assertion.relation, assertion.negated
                    if not (clause.parsed and key in known):
                        yield assertion
                    if not clause.parsed:
                        known.add(key)
            for subject in clause.subject:
                who.said(subject)
            who.met(clause)
