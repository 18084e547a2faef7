"""Decide which certain facts are left open by what was said later.

A fact that was read is certain until something ends it. But an end is told in more ways than are read: "the doctor took
me off ibuprofen", "Dana left us". So a fact is no longer certain once a later sentence

- has a word of its value and says that something ends, or is not so: "not allergic to penicillin after all";
- is spoken by its head, of itself (I, we, or a verb first), and has words by which its relation, if it has one value at
  a time, begins or ends: "I have moved to the coast", "I start at the clinic on Monday";
- names its head, who does not speak it, and has such words, or says that something ends: "Ben was fired".

By what something ends is a table: the verbs of rows of relations that end something (``relations.toml``), and further
words (``words.toml``). A message that is understood to its last word (``frames.py``) leaves nothing open: what it says
is folded as facts. Nor do questions, documents, and what an assistant says. A fact of a caller or of Claude stays
certain: who states facts states their ends, too.

The fact stays as it is, but for its confidence, which is just below `CERTAIN`: it is walked, found and shown as an
uncertain one, and no answer states it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

from mcp_memory.domain.facts import CERTAIN, Version
from mcp_memory.domain.relations import Row, relations
from mcp_memory.domain.times import FOREVER
from mcp_memory.domain.turns import Turn, by_assistant, label
from mcp_memory.language.tokens import indexed_forms, stem, stems, words
from mcp_memory.language.vocabulary import DENYING, ENDINGS
from mcp_memory.language.wishes import is_small_talk

if TYPE_CHECKING:
    from mcp_memory.view.space import Space

MOST = 400
"""Later messages with such words that are read for one fact, the last stored first."""
_SELF = re.compile(r"\b(?:I|we)\b", re.IGNORECASE)
_NEW = frozenset(("new",))
_ENDS = frozenset(("end",))
_CHANGES = frozenset(("begin", "end"))
_LITTLE = frozenset(("a", "an", "the", "my", "her", "his"))
_OBJECTS = frozenset(("obj", "time", "each"))
Phrase = tuple[frozenset[str], ...]
"""The stems of a verb and of its particles, each with its alternatives; a sentence has it if it has one of each."""


class Later:
    """What was said in a space after a fact was told."""

    def __init__(self, space: Space) -> None:
        self._space = space

    def leaves_open(self, version: Version) -> bool:
        """Return whether a later sentence leaves a certain fact open; False where it is not certain, or has ended."""
        told = [one for one in version.assertions if one.confidence >= CERTAIN]
        if version.kind != "state" or version.until < FOREVER or not told:
            return False
        if any(one.extractor != "embedded" for one in told):
            return False
        said_at = max(one.said_at for one in told)
        facts, key = self._space.facts, self._space.facts.key(version.head)
        changes = changes_of(version.relation)
        value = _content(version.tail)
        name = frozenset[str]().union(*map(_content, facts.names(key)))

        def speaks_against(turn: Turn, sentence: str) -> bool:
            said = said_stems(sentence)
            ends = has_one(said, endings())
            if (ends or denies(said)) and not value.isdisjoint(said):
                return True
            if (who := label(turn)) is not None and facts.key(who) == key:
                own = _SELF.search(sentence) is not None or has_first(changes, words(sentence)[:1])
                return own and has_one(said, changes)
            return not name.isdisjoint(said) and (ends or has_one(said, changes))

        begun = (one for phrase in changes for one in phrase[0])
        return self._has_later({*value, *name, *begun}, said_at, speaks_against)

    def takes_back(self, content: frozenset[str], said_at: int, by: Callable[[Turn], bool]) -> bool:
        """Return whether somebody's later sentence has one of some stems, and ends or denies something."""

        def speaks_against(turn: Turn, sentence: str) -> bool:
            said = said_stems(sentence)
            ends = has_one(said, endings()) or denies(said)
            return ends and not content.isdisjoint(said) and by(turn)

        return self._has_later(content, said_at, speaks_against)

    def _has_later(self, content: Iterable[str], said_at: int, test: Callable[[Turn, str], bool]) -> bool:
        """Return whether a sentence of a later message with some of these stems passes a test."""
        return any(test(turn, sentence) for turn in self._later(content, said_at) for sentence in self._told_by(turn))

    def _later(self, content: Iterable[str], said_at: int) -> Iterator[Turn]:
        space = self._space
        forms = frozenset(form for one in content for form in indexed_forms(one))
        rows = sorted({row for form in forms for row in space.rows_with(form)}, reverse=True)
        seen: set[str] = set()
        for row in rows:
            turn = space.segment_turn[row]
            if len(seen) == MOST:
                return
            if turn.kind != "message" or turn.told_order <= said_at or turn.id in seen or by_assistant(turn):
                continue
            seen.add(turn.id)
            if not (space.facts.states_certain(turn.id) or is_small_talk(turn.text)):
                yield turn

    def _told_by(self, turn: Turn) -> Iterator[str]:
        """Yield the sentences of a message that are no questions."""
        for row in self._space.sentences_of(turn.id):
            sentence = self._space.text(self._space.sentences[row]).strip()
            if not sentence.endswith("?"):
                yield sentence


def said_stems(sentence: str) -> frozenset[str]:
    """Return the stems of a sentence's words, of irregular verbs those of their plain forms."""
    return frozenset(map(stem, words(sentence)))


def has_one(said: frozenset[str], phrases: Iterable[Phrase]) -> bool:
    """Return whether a sentence has one of some phrases."""
    return any(all(not said.isdisjoint(part) for part in phrase) for phrase in phrases)


def has_first(phrases: Iterable[Phrase], first: Sequence[str]) -> bool:
    """Return whether the first word of a sentence, if it has any, begins one of some phrases: "Moved to Sopot"."""
    return any(stem(word) in phrase[0] for word in first for phrase in phrases)


@cache
def changes_of(relation: str) -> tuple[Phrase, ...]:
    """Return the phrases by which a relation with one value begins or ends, with the prepositions that they need.

    One is "new" beside a word that asks for the relation: "a new job", "our new home".
    """
    known = relations().get(relation)
    if known.cardinality != "single":
        return ()
    return (*_phrases(known.said, _CHANGES, slots=True), (frozenset(map(stem, known.asked)), _NEW))


@cache
def endings() -> tuple[Phrase, ...]:
    """Return the phrases by which some relation ends, and further words of ends."""
    ends = [phrase for known in relations() for phrase in _phrases(known.said, _ENDS)]
    return tuple(dict.fromkeys((*ends, *map(_phrase, ENDINGS))))


def denies(said: frozenset[str]) -> bool:
    """Return whether a sentence has a word that denies."""
    return not said.isdisjoint(DENYING) or any(one.endswith("n't") for one in said)


def _content(name: str) -> frozenset[str]:
    return frozenset(stem(word) for word in words(name) if stems(word))


def _phrase(said: str) -> Phrase:
    """Return a phrase of words and alternatives, "break/split up", without what a text may say otherwise ("my")."""
    tokens = [token.split("/") for token in said.split() if token not in _LITTLE]
    return tuple(frozenset(map(stem, alternatives)) for alternatives in tokens)


def _phrases(rows: Iterable[Row], effects: frozenset[str], *, slots: bool = False) -> Iterator[Phrase]:
    """Yield the phrases of the rows of a relation with one of some effects."""
    for row in rows:
        if row.effect in effects and "document" not in row.options:
            needed = (row.slots,) if slots and row.slots and row.slots.isdisjoint(_OBJECTS) else ()
            yield (*_phrase(" ".join((row.word, *row.particles))), *needed)
