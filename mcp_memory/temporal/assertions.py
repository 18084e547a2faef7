"""Check the assertions of an extractor, make those of the facts that a caller states, and find what new ones changed.

A language model may invent a name, and a rule may cut one badly. `guard_assertions` therefore keeps only assertions
whose head and tail are written in the text, or are the speaker, the addressee or the topic of the document (DESIGN 1).
The description of a relative ("Maria's sister") needs both of its parts.

A caller's fact with a source belongs to the sentence of that text which names its tail, preferably with its head; there
it replaces the facts that the embedded rules extract. A fact without a source becomes a statement of its own, so that
it is found, quoted and cited like every other text.

**Changes** (`changes`) in the versions of the facts (REAL §3.2): nothing is changed in place, so they are the
difference between the fold of the assertions that were recorded before and the fold of those that are recorded now.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from mcp_memory.domain.entities import PROJECT
from mcp_memory.domain.facts import WHOLE, Assertion, Precision, Version, kind_of, new_assertion, restated, verbalise
from mcp_memory.domain.relations import DATED, DID, is_told_of_things, relations
from mcp_memory.domain.requests import NewFact, Op
from mcp_memory.domain.times import BEGINNING, FOREVER, Millis
from mcp_memory.domain.turns import Turn
from mcp_memory.language import iso
from mcp_memory.language.segments import split
from mcp_memory.language.stated import day_in_words, stated_times
from mcp_memory.language.tokens import words
from mcp_memory.view.facts import Facts

LEAST = 0.01
"""The lowest confidence of an assertion; 0 would mean that the text denies it."""
LONGEST = 200
"""Characters in a head or a tail; a longer one is a clause, not a name."""


def guard_assertions(
    turn: Turn,
    partner: str | None,
    sentences: Sequence[tuple[int, int]],
    assertions: Iterable[Assertion],
) -> list[Assertion]:
    """Return the assertions that the text supports, with confidences in (0, 1].

    Args:
        turn: the turn that asserts them.
        partner: the addressee of a message, if known.
        sentences: spans of its sentences, in characters.
        assertions: the assertions of an extractor.

    Dropped are assertions of another turn; those whose head or tail is neither written nor a known name; those with an
    empty span or one that leaves its sentence; those that hold at no instant, and those whose confidence is no number.
    """
    text = turn.text.casefold()
    known_names = [name.casefold() for name in (turn.speaker, partner, turn.title) if name]
    known_names += ["user", PROJECT]
    return [
        replace(item, confidence=min(max(item.confidence, LEAST), 1.0))
        for item in assertions
        if item.turn_id == turn.id
        and math.isfinite(item.confidence)
        and item.since < item.until
        and _lies_in_sentence(item, len(turn.text), sentences)
        and item.relation
        and (_is_supported(item.head, text, known_names) or _is_composed(item, text))
        and _has_supported_tail(item, text, known_names)
    ]


def _has_supported_tail(item: Assertion, text: str, known_names: Sequence[str]) -> bool:
    """Return whether a tail is written; "their" may stand for "my" and "our", and a date for "next week"."""
    if item.relation == DID:
        return _is_phrase_of(item.tail, " ".join((text, *known_names[:1])))
    if item.relation in DATED and item.since > BEGINNING and day_in_words(item.since).split(" ", 1)[1] in item.tail:
        return True
    numbered = any(letter.isdigit() for letter in item.tail)
    if numbered and frozenset(words(text)) | {"of"} >= {*words(item.tail)}:
        return True  # "raised my lithium to 900 mg", "from Node 18 to 20"
    owned = [item.tail.replace(" their ", owner) for owner in (" my ", " our ")] if " their " in item.tail else []
    return any(_is_supported(tail, text, known_names) for tail in (item.tail, *owned))


def _is_composed(item: Assertion, text: str) -> bool:
    """Return whether the head is a setting or thing of work whose words are all written, "rate limit for partners"."""
    written = frozenset(words(text)) | {"for"}
    return is_told_of_things(item.relation) and written >= {*words(item.head.casefold())}


def _lies_in_sentence(item: Assertion, length: int, sentences: Sequence[tuple[int, int]]) -> bool:
    if item.sentence == WHOLE:
        return 0 <= item.start < item.end <= length
    if not 0 <= item.sentence < len(sentences):
        return False
    start, end = sentences[item.sentence]
    return start <= item.start < item.end <= end


def _is_supported(name: str, text: str, known_names: Sequence[str]) -> bool:
    plain = " ".join(name.casefold().split())
    if not plain or len(plain) > LONGEST:
        return False
    if plain in text or any(plain in known for known in known_names):
        return True
    owner, possessive, rest = plain.rpartition("'s ")
    if possessive and rest in text:
        return _is_supported(owner, text, known_names)
    return name.casefold() in " ".join(text.split())


_PUT_FOR_FIRST_PERSON = frozenset(("their", "themselves"))


def _is_phrase_of(phrase: str, text: str) -> bool:
    """Return whether all words of an event but its verb, which is put into the past tense, are those of the text."""
    written = frozenset(words(text))
    _, *rest = words(phrase.casefold()) or [""]
    return 0 < len(phrase) <= LONGEST and written >= {*rest} - _PUT_FOR_FIRST_PERSON


def statement(fact: NewFact) -> str:
    """Return a caller's fact as a sentence, with its times; a denial says from when on it no longer holds."""
    wording = verbalise(fact.head, relations().name(fact.relation), fact.tail, negated=fact.negated)
    since = f" from {day_in_words(fact.valid_from)}" if fact.valid_from is not None else ""
    until = f" until {day_in_words(fact.valid_to)}" if fact.valid_to is not None else ""
    if fact.negated and since:
        return f"{wording.replace(':', f'{since} on:', 1)}{until}."
    return f"{wording}{since}{until}."


def caller_assertion(fact: NewFact, turn: Turn, now: Millis) -> Assertion:
    """Return the assertion of a caller's fact.

    An event, by its relation, is planned if its start is still to come. A fact without a start holds from the time of
    its source; if it had ended before that time, or nobody knows that time, its start is unknown.
    """
    sentence, start, end = _sentence_of(fact, turn)
    relation = relations().name(fact.relation)
    kind = kind_of(relation)
    if kind == "event" and not fact.negated and fact.valid_from is not None and fact.valid_from > now:
        kind = "planned"
    until = FOREVER if fact.valid_to is None else fact.valid_to
    since = fact.valid_from
    if since is None:
        since = turn.time if turn.time < until else BEGINNING
    made = new_assertion(
        turn, sentence, (start, end), (fact.head, relation, fact.tail), since=since, until=until,
        stated=fact.valid_from is not None or fact.valid_to is not None, negated=fact.negated,
        change=fact.intent == "EVOLUTION", confidence=fact.confidence, intent=fact.intent, extractor="caller",
        recorded_at=now, kind=kind,
    )  # fmt: skip
    return at_no_time(made) if fact.undated and turn.said_at is None else made


def at_no_time(item: Assertion) -> Assertion:
    """Return an assertion of a text of unknown time: what states no time of its own has an unknown start.

    So it ends nothing whose start is known, and what has a known start ends it.
    """
    if item.stated:
        return item
    precision: Precision | None = "before" if item.kind == "event" else item.precision
    return restated(replace(item, since=BEGINNING, precision=precision), (item.head, item.relation, item.tail))


def _sentence_of(fact: NewFact, turn: Turn) -> tuple[int, int, int]:
    """Return the index and span of the sentence that states a fact; `WHOLE` and the whole text if none does."""
    if turn.kind == "statement":
        return 0, 0, len(turn.text)
    best = (WHOLE, 0, len(turn.text))
    day = _day_of(fact)
    for index, (start, end) in enumerate(split(turn.text)):
        if day is not None and any(
            day == time.since for time in stated_times(turn.text[start:end], turn.local_said_at)
        ):
            return index, start, end
        written = turn.text[start:end].casefold()
        if fact.tail.casefold() in written:
            if fact.head.casefold() in written:
                return index, start, end
            if best[0] == WHOLE:
                best = index, start, end
    return best


def _day_of(fact: NewFact) -> Millis | None:
    """Return the first instant of the date that is the tail of a fact, "2026-05-03"; a text says it in other words."""
    try:
        return iso.parse(fact.tail)[0] if relations().get(relations().name(fact.relation)).tail == "time" else None
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class Change:
    """A version as it is now, and the operation that made it so."""

    version: Version
    op: Op


def changes(facts: Facts, new: Sequence[Assertion], known: Collection[str]) -> list[Change]:
    """Return the changes of the facts that a write asserts, in their order, then of the others that it ended.

    Args:
        facts: the facts with the new assertions in them.
        new: the assertions of the write.
        known: ids of the assertions among them that were recorded before.

    The negation of a fact that nobody asserted changes nothing and is not among them.
    """
    fresh = {assertion.id for assertion in new} - set(known)
    by_version: dict[str, Change] = {}
    for assertion in new:
        if assertion.negated:
            for ended in _versions_ended_by(facts, assertion) if assertion.id not in fresh else ():
                by_version.setdefault(ended.id, Change(ended, "unchanged"))
        elif version := facts.version_of(assertion):
            by_version.setdefault(version.id, Change(version, _operation(version, assertion, fresh)))
    for key, relation in dict.fromkeys((facts.key(a.head), a.relation) for a in new if a.id in fresh):
        for before in facts.versions_without(key, relation, fresh):
            now = facts.version(before.id)
            if now is None or now.id in by_version:
                continue
            if now.until < before.until or now.status == "contested" != before.status:
                by_version[now.id] = Change(now, "contested" if now.lost else "closed")
    return list(by_version.values())


def _operation(version: Version, assertion: Assertion, fresh: Collection[str]) -> Op:
    if assertion.id not in fresh:
        return "unchanged"
    if version.status == "contested":
        return "contested" if version.lost else "closed"
    return "merged" if any(support.id not in fresh for support in version.assertions) else "added"


def _versions_ended_by(facts: Facts, negation: Assertion) -> list[Version]:
    versions = facts.all_versions(facts.key(negation.head), negation.relation)
    return [version for version in versions if any(ending.id == negation.id for ending in version.ended_by)]
