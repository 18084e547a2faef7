"""Decide how certain a statement is (DESIGN 1), and which intent it has.

A statement is plain, doubtful (`HEDGED`), or not asserted at all: a question, a condition, a wish and a command assert
nothing. Both the matrix clause ("I think that …", "Tom said …") and what is added behind ("…, apparently") count; the
least certain of them decides.
"""

from __future__ import annotations

import re

from mcp_memory.domain.facts import Intent
from mcp_memory.language.segments import QUESTION_MARKS
from mcp_memory.language.vocabulary import word_set
from mcp_memory.rules.facts.verb_groups import HEDGED, VerbGroup

PLAIN = 0.95
NOT_ASSERTED = 0.0

REPORTING = word_set(
    "say tell mention claim report hear read write announce explain whisper argue state insist swear admit"
)
"""Verbs of which the subject is quoted."""
_MATRIX_VERBS = {
    **dict.fromkeys(("think", "believe", "suppose", "assume", "suspect", "figure", "feel", "expect", "bet",
                     "reckon", "seem", "appear", "guess", "understand", "rumour"), HEDGED),
    **dict.fromkeys(REPORTING, HEDGED),
    **dict.fromkeys(("know", "realise", "realize", "remember", "notice", "learn", "forget", "find", "see", "confirm",
                     "promise", "reveal", "mean", "show", "love", "recall", "note"), 1.0),
    **dict.fromkeys(("wish", "hope", "wonder", "doubt", "pretend", "dream", "imagine", "want", "ask", "suggest",
                     "worry", "scare", "terrify", "fear", "joke", "kid", "lie", "deny", "decide", "ensure", "verify",
                     "check", "guarantee"), NOT_ASSERTED),
}  # fmt: skip
"""The confidence that a verb gives to its content clause."""
_BELIEVING = word_set("think believe suppose assume suspect reckon figure expect guess bet")
_MATRIX_ADJECTIVES = {
    **dict.fromkeys(("sure", "certain", "convinced", "confident", "possible", "likely", "afraid"), HEDGED),
    **dict.fromkeys(("glad", "happy", "proud", "sorry", "excited", "aware", "thrilled", "lucky", "true"), 1.0),
    **dict.fromkeys(("anxious", "nervous"), NOT_ASSERTED),
    **dict.fromkeys(("false", "untrue", "wrong", "unlikely", "impossible", "doubtful", "unthinkable", "inconceivable",
                     "lie", "myth", "joke", "dream", "rumour", "rumor", "legend", "hoax", "misunderstanding",
                     "possibility", "chance"), NOT_ASSERTED),
}  # fmt: skip
"""The confidence that a word behind "be" gives to the clause behind it: "I'm sure that …", "it's a myth that …"."""
_MARKUP = re.compile(r"^\s*(?:```|\||\{|<|>)")


def asserts(sentence: str) -> bool:
    """Return whether a sentence may assert anything: not a question, whatever its tag, nor a line of markup."""
    return _MARKUP.search(sentence) is None and not any(mark in sentence for mark in QUESTION_MARKS)


def content_confidence(verb: VerbGroup, adjective: str = "") -> float | None:
    """Return the confidence of the content clause of a verb ("I think …"), or None if the verb takes none.

    Args:
        verb: the verb with its negation: "I don't think so" asserts nothing.
        adjective: the word behind a form of "be", or "".
    """
    confidence = _MATRIX_ADJECTIVES.get(adjective) if verb.lemma == "be" else _MATRIX_VERBS.get(verb.lemma)
    if confidence is None:
        return None
    if verb.negated or (verb.unreal and verb.lemma != "say"):
        return NOT_ASSERTED
    if verb.lemma in _BELIEVING and verb.tense == "past":
        return NOT_ASSERTED  # "I thought he was a doctor" says that he is not
    return confidence


_LASTING = word_set(
    "be live work have own know like love hate prefer need mean belong study stay speak use teach reside play come"
)
"""Verbs of states: "he may live in Oslo" doubts what is so, "we may buy a boat" considers what is not."""
_DOUBTING = word_set("maybe perhaps possibly probably likely presumably") | {"as far as i know"}


def clause_confidence(verb: VerbGroup, adverbs: frozenset[str]) -> float:
    """Return the confidence that the verb and the adverbs of a clause allow; 0 if it asserts nothing.

    What is possible, wished, planned or considered is not asserted. "May" and "might" doubt a state ("he might live in
    Oslo"); about anything else they state nothing.
    """
    if verb.unreal and not (verb.confidence < 1 or verb.future):
        return NOT_ASSERTED
    if verb.lemma in ("go", "head", "leave") and verb.progressive and verb.tense == "past":
        return NOT_ASSERTED  # "I was going to Rome but the train broke down"
    if verb.confidence == HEDGED and (verb.unreal or verb.lemma not in _LASTING):
        return NOT_ASSERTED
    return min(verb.confidence, 1.0 if adverbs.isdisjoint(_DOUBTING) else HEDGED)


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
