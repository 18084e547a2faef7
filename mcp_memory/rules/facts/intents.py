"""What a statement is about, by its words (DESIGN 1): REAL's five intents, the first that fits."""

from __future__ import annotations

import re

from mcp_memory.domain.facts import Intent

_LEXICON: tuple[tuple[Intent, re.Pattern[str]], ...] = (
    ("CAUSAL", re.compile(r"\b(?:because|so that|due to|leads? to|led to|cause[sd]|that['’]s why|thanks to)\b", re.I)),
    ("EVOLUTION", re.compile(r"\b(?:used to|no longer|now|switched|any ?more|became|formerly)\b", re.I)),
    ("TEMPORAL", re.compile(r"\b(?:before|after|until|till|since|ago|when|while)\b", re.I)),
    ("CONTRAST", re.compile(r"\b(?:but|instead|rather|than|whereas|although|though|however)\b", re.I)),
)  # fmt: skip


def intent_of(sentence: str, *, dated: bool) -> Intent:
    """Return the intent of a sentence.

    Args:
        sentence: its words.
        dated: whether it states a time.
    """
    for intent, words in _LEXICON:
        if words.search(sentence) or (intent == "TEMPORAL" and dated):
            return intent
    return "FACT"
