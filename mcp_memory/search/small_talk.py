"""Small talk: messages that greet, thank, cheer or say goodbye and tell nothing ("Thanks, Ann! That means a lot.").

Such a message is near to many questions, since it names who is spoken to and little else. A message is small talk if
one of its words is a greeting, a thanks or praise, all others are such words, stop words or names of speakers, and it
has no number and tells of nobody else ("She was great."). A reply to a question is none.

**Measured** on long dialogues: 28 of 1,000 messages, none of which answers a question.

The lists are English; a message in another language is never small talk.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from mcp_memory.language.sentences import QUESTION_MARKS
from mcp_memory.language.tokens import STOP_WORDS, words
from mcp_memory.search.candidates import Candidate
from mcp_memory.view.space import NONE, Space

LONGEST = 160
"""Characters up to which a message may be small talk."""
_MARKS = frozenset(
    """
    hi hello hey hiya howdy yo greetings bye goodbye farewell cheers thanks thank thx congrats congratulations welcome
    wow whoa woah ooh aw aww awww haha hahaha lol omg gosh yay hooray yup yep yeah yes nope cool great awesome amazing
    nice lovely fantastic wonderful excellent brilliant incredible fabulous terrific neat sweet absolutely definitely
    totally exactly indeed certainly agreed alright understood appreciate luck worries anytime pleasure glad
    """.split()  # noqa: SIM905 - a list of words is read as words
)
_WORDS = _MARKS.union(
    """
    please sorry ah oh eh uh um hm hmm mm mhm nah sure super perfect good fine impressive inspiring exciting interesting
    fun happy proud pleased excited thrilled course right true agree enough sounds sound looks look seems seem care soon
    later take catch talk see ya chat speak stay touch hear hearing heard wait keep going go way think thought know
    appreciated support supporting help mean means lot like much problem hope enjoy best wish wishes forward looking let
    i'm you're it's that's what's we'll i'll guys buddy friend mate man dude pal bro kind always too truly pretty god
    job well done day
    """.split()  # noqa: SIM905
)
_OTHERS = frozenset(("he", "she", "they", "him", "her", "them", "his", "their", "hers", "theirs"))
_NUMBER = re.compile(r"\d")


def is_small_talk(text: str, names: Collection[str] = ()) -> bool:
    """Return whether a message only greets, thanks, cheers or says goodbye.

    Args:
        text: of the whole message.
        names: words that call those who speak, in lower case.
    """
    if len(text) > LONGEST or _NUMBER.search(text):
        return False
    said = words(text)
    if _MARKS.isdisjoint(said) or not _OTHERS.isdisjoint(said):
        return False
    return all(word in _WORDS or word in STOP_WORDS or word in names for word in said)


class SmallTalk:
    """Which segments of a space are small talk."""

    def __init__(self, space: Space) -> None:
        """Begin with the names of those who speak there."""
        self._space = space
        self._names = frozenset(word for speaker in space.speakers for word in words(speaker))

    def holds(self, row: int) -> bool:
        """Return whether a segment is small talk, and not the reply to a question."""
        turn = self._space.segment_turn[row]
        if turn.kind != "message" or not is_small_talk(turn.text, self._names):
            return False
        before = int(self._space.previous[row])
        return before == NONE or not self._space.segment_turn[before].text.rstrip().endswith(QUESTION_MARKS)


def without_small_talk(space: Space, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """Return the candidates that are no small talk; all of them where there is nothing else."""
    small = SmallTalk(space)
    return [one for one in candidates if not small.holds(one.row)] or candidates
