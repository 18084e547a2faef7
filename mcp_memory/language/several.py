"""Whether a question asks for several things, which a memory has seldom in one place: "Which cities has Ann seen?"."""

from __future__ import annotations

import re

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

    It does where the thing that it asks for stands in the plural ("Which of her friends", "What books"), where it asks
    what somebody has done, how many or how often, and where it says both, all, some of, various or different. A sign,
    not a parse: of questions to long dialogues that need several messages it sees 70 of 100, of the others 13.
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
