"""The extractor that comes with the install: facts read out of English by rules."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.times import FOREVER, StatedTime
from mcp_memory.domain.turns import Turn
from mcp_memory.rules.facts.appositions import asides
from mcp_memory.rules.facts.claims import Told, asserted, fact
from mcp_memory.rules.facts.clause import Clause
from mcp_memory.rules.facts.clause_reader import clauses
from mcp_memory.rules.facts.copula import copular
from mcp_memory.rules.facts.discourse import Discourse, discourse
from mcp_memory.rules.facts.modality import PLAIN, asserted_until, intent_of
from mcp_memory.rules.facts.openings import with_openings
from mcp_memory.rules.facts.validity import When, durations, now
from mcp_memory.rules.facts.verbal import verbal
from mcp_memory.rules.facts.words import Word, is_english, words_of
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


def after_lead_in(text: str, start: int, end: int) -> int:
    """Return where what is to be kept begins: behind "remember that", or at the start of the sentence."""
    found = _LEAD_IN.match(text, start, end)
    return found.end() if found and found.end() < end else start


def note(text: str, start: int, end: int) -> Note | None:
    """Return what a line says that is one item and its value, or None."""
    found = _NOTE.match(text, start, min(end, start + 160))
    if found is None or found.end() != end or _NO_ITEM.match(found["what"]) or not _VALUE.search(found["value"]):
        return None
    what = found["what"].lower()
    who = found["owner"] or found["who"] or ""
    relation = _RELATIONS.get(what, what.replace(" ", "_").replace("-", "_"))
    return Note(who, relation, found["value"], found.start("what"), found.end("value"))


def noted(turn: Turn, who: Discourse, index: int, kept: Note, times: Sequence[StatedTime]) -> Iterator[Assertion]:
    """Yield what a line tells that is one item and its value.

    Args:
        turn: it stands in.
        who: has been spoken of; whose it is, what follows is about.
        index: of its sentence.
        kept: the line.
        times: that its sentence states.
    """
    head = kept.who or who.speaker
    if head is None:
        return
    if kept.who:
        who.turn_to(kept.who)
    held = now(turn.time)
    times = [time for time in times if time.start < kept.end and kept.start < time.end]
    if times and times[-1].since <= turn.time and times[-1].until < FOREVER:
        held = When(times[-1].since, FOREVER, True)
    yield fact(turn, index, (kept.start, kept.end), (head, kept.relation, kept.value), held, "FACT", PLAIN)


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
