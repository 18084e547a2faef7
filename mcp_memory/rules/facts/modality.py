"""Decide whether a clause is stated at all (DESIGN 1), and which intent its sentence has.

A question, a condition, a wish, a command, a guess and what somebody else said state nothing. Both the matrix clause
("I think that …", "Tom said …") and what is added behind ("…, apparently") count.
"""

from __future__ import annotations

import re

from mcp_memory.domain.facts import Intent
from mcp_memory.language.segments import QUESTION_MARKS
from mcp_memory.rules.facts.tables import closed
from mcp_memory.rules.facts.verb_groups import VerbGroup

PLAIN = 0.95
"""The confidence of what is stated."""

_NOT_ASSERTED = re.compile(
    r"^\s*(?:```|\||\{|<|>)|\b(?:neither|nor|not even|according|rumou?r(?:s|ed)?|apparently|reportedly|allegedly"
    r"|supposedly|presumably|maybe|perhaps|possibly|probably|likely|almost|nearly|as far as i know"
    r"|(?:every|any|no)\s?(?:one|body) but|all but)\b",
    re.IGNORECASE,
)
"""Markup, and words of doubt, hearsay and denial, whatever part of a sentence they belong to."""


def asserts(sentence: str) -> bool:
    """Return whether a sentence may assert anything: not a question or a doubt, nor a line of markup."""
    return _NOT_ASSERTED.search(sentence) is None and not any(mark in sentence for mark in QUESTION_MARKS)


def states_content(verb: VerbGroup, adjective: str = "") -> bool | None:
    """Return whether the content clause of a verb is stated ("I know that …"); None if the verb takes none.

    Args:
        verb: the verb with its negation: "I don't know that" states nothing.
        adjective: the word behind a form of "be", or "".
    """
    is_open = adjective in closed.OPEN_ADJECTIVES if verb.lemma == "be" else verb.lemma in closed.OPEN_VERBS
    if not is_open and (adjective not in closed.GLAD if verb.lemma == "be" else verb.lemma not in closed.KNOWING_VERBS):
        return None
    return not (is_open or verb.negated or verb.unreal)


_INTENT_SIGNS: tuple[tuple[Intent, re.Pattern[str]], ...] = (
    ("CAUSAL", re.compile(r"\b(?:because|so that|due to|leads? to|led to|cause[sd]|that['’]s why|thanks to)\b", re.I)),
    ("EVOLUTION", re.compile(r"\b(?:used to|no longer|now|switched|any ?more|became|formerly)\b", re.I)),
    ("TEMPORAL", re.compile(r"\b(?:before|after|until|till|since|ago|when|while)\b", re.I)),
    ("CONTRAST", re.compile(r"\b(?:but|instead|rather|than|whereas|although|though|however)\b", re.I)),
)  # fmt: skip


def intent_of(sentence: str, *, dated: bool) -> Intent:
    """Return the intent of a sentence: the first of REAL's five intents whose words it has (DESIGN 1).

    Args:
        sentence: its words.
        dated: whether it states a time.
    """
    for intent, words in _INTENT_SIGNS:
        if words.search(sentence) or (intent == "TEMPORAL" and dated):
            return intent
    return "FACT"
