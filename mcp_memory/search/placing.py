"""Place what the ranking by channels alone would not, and leave out what tells nothing.

**Confirmed evidence** (`rank_confirmed`). What a caller named as helpful comes first (``gain/caller_feedback.py``).

**Wishes** (`place_wishes`). Those that apply stand beside the evidence, and their messages are among it.

**Small talk** (`SmallTalk`) is shown by no recall where there is anything else. It greets, thanks, cheers or says
goodbye and tells nothing ("Thanks, Ann! That means a lot."). Such a message is near to many questions, since it names
who is spoken to and little else. A message is small talk if one of its words is a greeting, a thanks or praise, all
others are such words, stop words or names of speakers, and it has no number and tells of nobody else ("She was
great."). A reply to a question is none. The lists are English; a message in another language is never small talk.
Measured on long dialogues: 28 of 1,000 messages, none of which answers a question.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import replace

from mcp_memory.domain.evidence import Wish
from mcp_memory.domain.query import Query
from mcp_memory.heap import text_cache
from mcp_memory.language.questions import looks_back
from mcp_memory.language.segments import ends_with_question_mark
from mcp_memory.language.tokens import STOP_WORDS, words
from mcp_memory.language.vocabulary import GREETINGS, SMALL_TALK
from mcp_memory.search.candidates import Candidate
from mcp_memory.search.times import recallable
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


KEPT = 5
"""Records that stand before the messages of wishes."""
CONFIRMED = 0.7
"""The least sufficiency of evidence that a caller said helps."""
PLACED = 3
"""Most messages of wishes that become evidence."""


def place_wishes(
    space: Space, candidates: Sequence[Candidate], wishes: Sequence[Wish], query: Query
) -> Sequence[Candidate]:
    """Return the candidates with the messages of the nearest wishes behind the best `KEPT` of them.

    A message that the best records show stays where it is. Fewer candidates than `KEPT` get no more: what was found is
    little, and a wish does not answer a question. Nor does a question of the past ("have I ever baked bread?"): a wish
    says how something is to be done.

    Args:
        space: the space of the candidates.
        candidates: best first.
        wishes: the wishes that apply, the nearest first.
        query: the query whose window, role and limit hold for wishes as well.
    """
    if len(candidates) <= KEPT or looks_back(query.text):
        return candidates
    open_ = recallable(space, query.window, query.role)
    first, rest = list(candidates[:KEPT]), list(candidates[KEPT:])
    shown = {space.segment_turn[one.row].id for one in first}
    placed: list[Candidate] = []
    for wish in wishes:
        if not wish.scope or not open_[wish.row] or len(placed) == PLACED:
            continue
        turn = space.segment_turn[wish.row].id
        if turn not in shown:
            shown.add(turn)
            placed.append(Candidate(wish.row, rest[0].score, ("wishes",), {}))
    rest = [one for one in rest if not (space.talk[one.row] and space.segment_turn[one.row].id in shown)]
    return [*first, *placed, *rest][: query.limit]


def rank_confirmed(
    space: Space,
    query: Query,
    candidates: Sequence[Candidate],
    confirmed: Set[int],
    gates: Mapping[int, float],
) -> tuple[Sequence[Candidate], float | None]:
    """Return the candidates, best first, and their sufficiency by the word of callers, both as feedback has them.

    Where nothing is confirmed, or there is no room for all of it, the sufficiency is None: nobody judged it.

    Args:
        space: the space of a view that does not change meanwhile.
        query: understood with the speakers of the space.
        candidates: best first.
        confirmed: rows of the sentences that come first, from `confirmed_sentences` or `find_correction`.
        gates: the gates of the query, by row of the sentence, from `gain.gates.sentence_gates`.
    """
    if not confirmed:
        return candidates, None

    def sentences(row: int) -> list[int]:
        return space.sentences_within(space.segments[row])

    first = [candidate for candidate in candidates if not confirmed.isdisjoint(sentences(candidate.row))]
    missing = confirmed - {row for candidate in first for row in sentences(candidate.row)}
    further: dict[int, None] = {}
    for row in sorted(missing, key=lambda row: (-gates[row], row)):
        further[space.segments_with(space.sentences[row].turn_id, space.sentences[row].index)[0]] = None
    least = min((candidate.score for candidate in candidates), default=1.0) or 1.0
    first += [Candidate(row, least, ("experience",), {}) for row in further]
    best = max(candidate.score for candidate in first) or 1.0
    rest = [candidate for candidate in candidates if candidate not in first]
    ranked = [replace(candidate, score=(1 + candidate.score / best) / 2) for candidate in first]
    ranked = [*ranked, *(replace(candidate, score=candidate.score / 2) for candidate in rest)][: query.limit]
    if len(first) > query.limit:
        return ranked, None
    return ranked, max(CONFIRMED, *(gates[row] / 2 for row in confirmed))
