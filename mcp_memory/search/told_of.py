"""Of whom the sentences of messages tell: of the person whom a query asks about, or of another.

A question that gives one person's deed to another finds the deed all the same: its words fit, and the other channels
prefer a text only a little for its speaker. So each sentence of the best messages is *told of* someone, with a
certainty:

- it names the person asked about, other than to call them ("Ann, look!"): of that person, 1;
- its speaker names another speaker and says neither "I" nor "you": of that one, 1;
- "you" without "I": of whoever is spoken to, 1; "I" without "you": of its speaker, 1; else of its speaker, .5;
- a question tells less than a statement: times .8.

Only a statement is quoted as told of another: "Have you tried it?" tells of nobody.

Its *support* is the cosine with the query in the first person plus .3 of the share of the query's content that it
contains. The best support of the person asked about, less the best of anybody else, each times its certainty, is the
*lead*. On 497 questions to three long dialogues, the lead tells the answerable ones from those whose persons were
swapped with an AUROC of .88; the same by whole messages and their speakers reaches .79, by the scores of the ranking
.77.

**Small talk** greets, thanks, cheers or says goodbye and tells nothing ("Thanks, Ann! That means a lot."). Such a
message is near to many questions, since it names who is spoken to and little else. A message is small talk if one of
its words is a greeting, a thanks or praise, all others are such words, stop words or names of speakers, and it has no
number and tells of nobody else ("She was great."). A reply to a question is none.

Measured on long dialogues: 28 of 1,000 messages, none of which answers a question.

The lists are English; a message in another language is never small talk.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from mcp_memory.domain.query import Query
from mcp_memory.domain.turns import is_assistant, label
from mcp_memory.heap import text_cache
from mcp_memory.language.segments import ends_with_question_mark
from mcp_memory.language.tokens import STOP_WORDS, stems, words
from mcp_memory.language.vocabulary import GREETINGS, SMALL_TALK
from mcp_memory.search.candidates import Candidate
from mcp_memory.search.channels import MEANING
from mcp_memory.view.space import NONE, Space

LONGEST = 160
"""Characters up to which a message may be small talk."""
_OTHERS = frozenset(("he", "she", "they", "him", "her", "them", "his", "their", "hers", "theirs"))
_NUMBER = re.compile(r"\d")


def is_small_talk(text: str, names: Collection[str] = ()) -> bool:
    """Return whether a message only greets, thanks, cheers or says goodbye.

    Args:
        text: the text of the whole message.
        names: words that call those who speak, in lower case.
    """
    if len(text) > LONGEST or _NUMBER.search(text):
        return False
    said = words(text)
    if GREETINGS.isdisjoint(said) or not _OTHERS.isdisjoint(said):
        return False
    return all(word in SMALL_TALK or word in STOP_WORDS or word in names or not word[0].isalnum() for word in said)


@text_cache(16)
def words_of_names(names: tuple[str, ...]) -> frozenset[str]:
    """Return the words of several names; cached, since a space may have many speakers and each query needs them."""
    return frozenset(word for name in names for word in words(name))


class SmallTalk:
    """Which segments of a space are small talk."""

    def __init__(self, space: Space) -> None:
        """Begin with the names of those who speak there."""
        self._space = space
        self._names = words_of_names(tuple(space.speakers))

    def holds(self, row: int) -> bool:
        """Return whether a segment is small talk, and not the reply to a question."""
        turn = self._space.segment_turn[row]
        if turn.kind != "message" or not is_small_talk(turn.text, self._names):
            return False
        before = int(self._space.previous_rows[row])
        return before == NONE or not ends_with_question_mark(self._space.segment_turn[before].text)


def without_small_talk(space: Space, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """Return the candidates that are no small talk; all of them where there is nothing else."""
    small = SmallTalk(space)
    return [one for one in candidates if not small.holds(one.row)] or candidates


CONTAINED = 0.3
"""Weight of the share of the query's content in the support of a sentence, beside the cosine."""
UNSAID = 0.5
"""Certainty of a sentence that names nobody and says neither "I" nor "you", or both."""
ASKED = 0.8
"""Certainty of a question, of that of a statement."""
_FIRST = frozenset(("i", "my", "me", "mine", "myself", "we", "our", "us", "ours", "ourselves"))
_SECOND = frozenset(("you", "your", "yours", "yourself", "yourselves"))


class Another(NamedTuple):
    """Of whom the best evidence is told in place of whom the question asks about.

    Attributes:
        whom: it is told of.
        asked: about whom the question asks.
        row: the row of the sentence.
        certain: whether it may be said so: of a speaker always; else where nothing that was found mentions the one
            asked about, or, of the user, the sentence contains most of the question's content. Otherwise it is a reason
            for doubt alone.
    """

    whom: str
    asked: str
    row: int
    certain: bool = True


def told_of(
    space: Space, query: Query, candidates: Sequence[Candidate], weights: Mapping[str, float]
) -> tuple[float, float | None, Another | None] | None:
    """Return how much the messages among candidates tell of the person whom a query asks about, and of others.

    Between a user and an assistant nobody is mistaken for the other: "you" is the assistant, who speaks of the user.

    Args:
        space: the space of the candidates.
        query: understood and embedded.
        candidates: those that count.
        weights: of the stems of the query's content, the person's name aside; their sum is 1, or there are none.

    Returns:
        The support of the best sentence told of that person, times its certainty, 0 if there is none. How much more
        that is than the support of the best one told of anybody else; None if the query names nobody or several: then
        all is told of them. Who else the best statement is told of, if that is known and no less is told of the person;
        a question states nothing, and nor does small talk. None if no candidate is a message.
    """
    pieces = [
        (candidate, row)
        for candidate in candidates
        if space.talk[candidate.row]
        for row in space.sentences_within(space.segments[candidate.row])
    ]
    if not pieces:
        return None
    person = query.speakers[0] if len(query.speakers) == 1 else ""
    people = _People(person, space.speakers)
    theirs = others = stated = 0.0
    other, other_row = "", NONE
    for cosine, row in sorted(
        zip(_cosines(space, query, pieces), (row for _, row in pieces), strict=True), reverse=True
    ):
        if cosine + CONTAINED <= (min(theirs, others) if person else theirs):
            break  # no further sentence can have more support
        sentence = space.sentences[row]
        turn = space.turns[sentence.turn_id]
        text = turn.text[sentence.start : sentence.end]
        contained = set(stems(text))
        covered = sum(weight for stem, weight in weights.items() if stem in contained)
        whom, certainty = people.told_of(text, label(turn) or "") if person else ("", 1.0)
        support = certainty * (cosine + CONTAINED * covered)
        if whom == person:
            theirs = max(theirs, support)
        else:
            others = max(others, support)
            question = ends_with_question_mark(text)
            if support > stated and not question and not is_small_talk(text, people.names):
                other, other_row, stated = whom, row, support
    known = person and other and stated >= theirs and not (is_assistant(person) or is_assistant(other))
    another = Another(other, person, other_row) if known else None
    return theirs, theirs - others if person else None, another


class _People:
    """Whom sentences are told of, for a query about one person among the speakers of a space."""

    def __init__(self, person: str, speakers: Iterable[str]) -> None:
        self._person = person
        self._name = next(iter(words(person)), "")
        self._others = {words(who)[0]: who for who in speakers if who != person and words(who)}
        self.names = frozenset((self._name, *self._others))

    def told_of(self, text: str, speaker: str) -> tuple[str, float]:
        """Return whom a sentence is told of, empty if unknown, and how certain that is."""
        said = words(text)
        first, second = not _FIRST.isdisjoint(said), not _SECOND.isdisjoint(said)
        certainty = ASKED if ends_with_question_mark(text) else 1.0
        if speaker != self._person and self._name in said and not _calls(text, self._name):
            return self._person, certainty
        others = (word for word in said if word in self._others and not _calls(text, word))
        if not first and not second and (named := self._others.get(next(others, ""), "")):
            return named, certainty * (UNSAID if named == speaker else 1.0)
        if second and not first:
            return (self._person if speaker != self._person else next(iter(self._others.values()), "")), certainty
        return speaker, certainty * (1.0 if first and not second else UNSAID)


@text_cache(64)
def _call_pattern(name: str) -> re.Pattern[str]:
    said = re.escape(name)
    return re.compile(rf"^\W*(?:\w+\W+){{0,2}}?{said}\s*[,!.?]|,\s*{said}\s*[!.?]*$", re.IGNORECASE)


def _calls(text: str, name: str) -> bool:
    """Return whether a sentence uses a name to call somebody: "Ann, look!"."""
    return _call_pattern(name).search(text) is not None


def _cosines(space: Space, query: Query, pieces: Sequence[tuple[Candidate, int]]) -> list[float]:
    """Return the cosine of each sentence with the query; where the view holds no vectors, that of its message."""
    if space.sentence_vectors is None or query.vectors is None:
        return [candidate.scores.get(MEANING.name, 0.0) for candidate, _ in pieces]
    cosines: list[float] = (
        space.sentence_vectors.take(np.array([row for _, row in pieces])) @ query.vectors[-1]
    ).tolist()
    return cosines
