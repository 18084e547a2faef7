"""The extractor that comes with the install: facts read out of English by rules."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.times import FOREVER, StatedTime
from mcp_memory.domain.turns import Turn
from mcp_memory.rules.facts.claims import Claim, assert_claim, make_assertion
from mcp_memory.rules.facts.clause import Clause
from mcp_memory.rules.facts.clause_reader import read_clauses
from mcp_memory.rules.facts.copula_claims import copula_claims
from mcp_memory.rules.facts.discourse import Discourse, open_discourse
from mcp_memory.rules.facts.modality import PLAIN, assertion_end, intent_of
from mcp_memory.rules.facts.openings import merge_openings
from mcp_memory.rules.facts.phrase_claims import phrase_claims
from mcp_memory.rules.facts.validity import Validity, durations, from_utterance
from mcp_memory.rules.facts.verb_claims import verb_claims
from mcp_memory.rules.facts.words import Word, is_english, split_words
from mcp_memory.temporal.guards import guarded

_LEAD_IN = re.compile(
    r"\s*(?:(?:please|pls|so|and|also|ok|okay|hey)[, ]{1,2})?(?:(?:(?:do not|don['’]t|never) forget|remember"
    r"|keep in mind|bear in mind|(?:make|take) a note|note to self|just so you know|fyi|for the record|nota bene"
    r"|note|reminder|save this|to remember|guess what)(?:\s*[:,–—]\s*|\s+that\s+(?=\S)))",
    re.IGNORECASE,
)
_NOTE = re.compile(
    r"\s*(?:my\s|our\s|the\s|new\s|(?P<owner>[A-Z][\w.-]{1,30}(?:\s[A-Z][\w.-]{1,30})?)['’]s\s){0,3}"
    r"(?P<what>[a-z][a-z-]{1,20}(?:\s[a-z][a-z-]{1,20}){0,2}?)"
    r"(?:\s(?:for|of)\s(?P<who>[A-Z][\w.-]{1,30}(?:\s[A-Z][\w.-]{1,30})?))?\s?:\s(?P<value>[^\s:;,][^:;,]{0,50}?)[.!]?\s*$"
)
_NO_ITEM = re.compile(
    r"^(?:update|news|question|ps|note|reminder|remember|edit|fact|tip|warning|verdict|result|conclusion|plan|todo|thing"
    r"|funny|true|spoiler|thought|problem|answer|one|here|this|that|it|so|and|but|only|last thing|next|first)\b"
)
_VALUE = re.compile(r"[\d@]|^[A-Z]")
_RELATIONS = {"phone number": "phone", "phone": "phone", "number": "phone", "mobile": "phone", "mail": "email",
              "email": "email", "e-mail": "email", "email address": "email", "birthday": "born_on"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Note:
    """A line that says what something is.

    Attributes:
        who: whose it is by name; "" for who writes.
        relation: what it is, as the name of a relation.
        value: as written.
        start: first character within the text.
        end: first character after it.
    """

    who: str
    relation: str
    value: str
    start: int
    end: int


def skip_lead_in(text: str, start: int, end: int) -> int:
    """Return where what is to be kept begins: behind "remember that", or at the start of the sentence."""
    match = _LEAD_IN.match(text, start, end)
    return match.end() if match and match.end() < end else start


def read_note(text: str, start: int, end: int) -> Note | None:
    """Return what a line says that is one item and its value, or None."""
    match = _NOTE.match(text, start, min(end, start + 160))
    if match is None or match.end() != end or _NO_ITEM.match(match["what"]) or not _VALUE.search(match["value"]):
        return None
    what = match["what"].lower()
    owner = match["owner"] or match["who"] or ""
    relation = _RELATIONS.get(what, what.replace(" ", "_").replace("-", "_"))
    return Note(owner, relation, match["value"], match.start("what"), match.end("value"))


def _note_assertions(
    turn: Turn, discourse: Discourse, index: int, note: Note, times: Sequence[StatedTime]
) -> Iterator[Assertion]:
    """Yield what a line tells that is one item and its value.

    Args:
        turn: it stands in.
        who: has been spoken of; whose it is, what follows is about.
        index: of its sentence.
        kept: the line.
        times: that its sentence states.
    """
    head = note.who or discourse.speaker
    if head is None:
        return
    if note.who:
        discourse.focus_on(note.who)
    validity = from_utterance(turn.time)
    times = [time for time in times if time.start < note.end and note.start < time.end]
    if times and times[-1].since <= turn.time and times[-1].until < FOREVER:
        validity = Validity(times[-1].since, FOREVER, True)
    yield make_assertion(
        turn, index, (note.start, note.end), (head, note.relation, note.value), validity, "FACT", PLAIN
    )


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
        discourse = open_discourse(turn, partner)
        assertions: dict[tuple[str, str, str, bool, int, int], Assertion] = {}
        for index, (start, end) in enumerate(sentences):
            for assertion in self._assertions(turn, discourse, index, (start, min(end, start + LONGEST)), times[index]):
                key = assertion.head.casefold(), assertion.relation, assertion.tail.casefold(), assertion.negated
                assertions.setdefault((*key, assertion.since, assertion.until), assertion)
        merged = merge_openings(turn, sentences, times, list(assertions.values()))
        return guarded(turn, discourse.partner, sentences, merged)

    def read_clauses(self, text: str, start: int, words: Sequence[Word], *, talk: bool) -> list[Clause]:  # noqa: ARG002
        """Return the clauses of a sentence.

        Args:
            text: of the turn, for those who parse it; the rules need the words alone.
            start: first character of the sentence.
            words: of the sentence.
            talk: whether somebody speaks.
        """
        return read_clauses(words, talk=talk)

    def claims(self, clause: Clause, *, talk: bool) -> Iterator[Claim]:
        """Yield what a clause tells.

        Args:
            clause: that is asserted.
            talk: whether somebody speaks.
        """
        if clause.verb.lemma in ("be", "become") and not clause.verb.passive:
            yield from copula_claims(clause, talk=talk)
        yield from verb_claims(clause)

    def _assertions(
        self, turn: Turn, discourse: Discourse, index: int, span: tuple[int, int], times: Sequence[StatedTime]
    ) -> Iterator[Assertion]:
        start, end = span
        talk = turn.kind != "document"
        if talk:
            start = skip_lead_in(turn.text, start, end)
            if (note := read_note(turn.text, start, end)) is not None:
                yield from _note_assertions(turn, discourse, index, note, times)
                return
        if not is_english(turn.text[start:end]):
            return
        stop = assertion_end(turn.text, start, end)
        words = split_words(
            turn.text, start, end if stop <= start else stop, [*times, *durations(turn.text, start, end, turn.time)]
        )
        read = self.read_clauses(turn.text, start, words, talk=talk)
        if stop <= start:
            for clause in read:  # nothing is asserted, yet "she" may mean whom the question named
                for subject in clause.subject:
                    discourse.mention(subject)
            return
        intent = intent_of(turn.text[start:end], dated=bool(times))
        aside: dict[int, list[Claim]] = {}
        for clause, claim in phrase_claims(read, talk=talk):
            aside.setdefault(id(clause), []).append(claim)
        rule_facts: set[tuple[str, str, bool]] = set()  # what the rules read; a parse only adds to it
        for clause in read:
            for subject in clause.source:
                discourse.mention(subject)
            facts = [] if clause.confidence <= 0 else [*self.claims(clause, talk=talk)]
            stated = [(claim, min(clause.confidence, PLAIN)) for claim in facts]
            stated += [(claim, PLAIN) for claim in aside.get(id(clause), ())]
            for claim, confidence in stated:
                for assertion in assert_claim(turn, discourse, index, clause, claim, intent, confidence):
                    key = assertion.head.casefold(), assertion.relation, assertion.negated
                    if not (clause.parsed and key in rule_facts):
                        yield assertion
                    if not clause.parsed:
                        rule_facts.add(key)
            for subject in clause.subject:
                discourse.mention(subject)
            discourse.mention_others(clause)
