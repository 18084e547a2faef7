"""How a question stands to what it asks: whether it looks back, and whether guesses will do.

Whoever walks along facts and whoever answers from them has to know both: what is over counts only where a question
looks back ("where did she live?"), and what nothing has confirmed only where it wants guesses ("where might she?").
English, by the words alone.
"""

from __future__ import annotations

import re

from mcp_memory.language.tokens import words

UNSURE = frozenset(
    """
    guess guesses guessing maybe perhaps might possibly probably likely presumably speculate speculates speculated
    speculating speculation suspect suspects suspected suspecting rumour rumours rumoured rumor rumors rumored
    """.split()  # noqa: SIM905 - a list of words is read as words
)
"""Words by which a question asks for guesses; they tell nothing of what it asks about."""
_MAY_HAVE = re.compile(r"\bmay\s+have\b", re.I)
_NO_VERB = (
    "need|indeed|hundred|speed|breed|seed|bed|red|naked|sacred|wicked|kindred"
    "|children|grandchildren|stepchildren|godchildren|women|men|kitchen|chicken|garden|citizen|teen|queen|screen|oxygen"
    "|seven|ten|eleven|dozen|open|golden|wooden|green|often|even|then|when|between|linen|specimen|omen|alien|heaven"
)
_BACK = re.compile(
    r"\b(?:did|was|were|had|used\s+to|been)\b"
    rf"|\b(?:has|have)\s(?:\S+\s){{1,3}}?(?!(?:{_NO_VERB})\b)\w+(?:ed|en)\b",
    re.I,
)
_OPENING = 2_000  # characters of a question that are read


def looks_back(question: str) -> bool:
    """Return whether a question asks of the past: "did she", "used to", "where has she worked"."""
    return _BACK.search(question[:_OPENING]) is not None


def wants_guesses(question: str) -> bool:
    """Return whether a question asks for what may be as well: "maybe", "might she", "may have"."""
    opening = question[:_OPENING]
    return not UNSURE.isdisjoint(words(opening)) or _MAY_HAVE.search(opening) is not None
