"""Read the form of an English question: does it ask for several things, about the past, or for guesses?

Fact search and answering both need this. What no longer holds counts only for a question about the past ("where did she
live?"), and unconfirmed facts count only for one that asks for guesses ("where might she?"). All three are judged by
the words alone.
"""

from __future__ import annotations

import re

from mcp_memory.language.tokens import words

_AUXILIARY = r"(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|might|may)"
_THING = re.compile(
    rf"^\W*(?:(?:in|on|at|from|to|with|for|about)\s+)?(?:what|which)\s+((?:[\w'’/-]+\s+){{1,7}}?){_AUXILIARY}\b",
    re.IGNORECASE,
)
_SIGNS = re.compile(
    r"\b(?:has|have)\b|\bhow (?:many|often)\b|\b(?:both|all|various|different)\b|\bsome of\b"
    r"|^\W*(?:what|who|where) (?:are|were)\b",
    re.IGNORECASE,
)
_NO_PLURAL = ("ss", "us", "is", "'s", "’s", "news")


def asks_for_several(question: str) -> bool:
    """Return whether a question, in English, wants more than one thing, or what happened more than once.

    It does if it asks for a plural ("Which of her friends", "What books"), for what a person has done, how many or how
    often, or if it says both, all, some of, various or different. This is a heuristic, not a parse: it recognises 70 of
    100 questions to long dialogues that need several messages, and 13 of 100 others.
    """
    if _SIGNS.search(question):
        return True
    thing = _THING.match(question)
    if thing is None:
        return False
    said = thing[1].lower().split()
    return _plural(said[-1]) or ("of" in said[1:] and _plural(said[said.index("of", 1) - 1]))


def _plural(word: str) -> bool:
    return len(word) > 3 and word.endswith("s") and not word.endswith(_NO_PLURAL)


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
    """Return whether a question asks for guesses too: "maybe", "might she", "may have"."""
    opening = question[:_OPENING]
    return not UNSURE.isdisjoint(words(opening)) or _MAY_HAVE.search(opening) is not None
