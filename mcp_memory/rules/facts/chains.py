"""Verbs that govern another verb: "started to work", "want to move", "went back to teaching", "is said to have"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from mcp_memory.rules.facts import grammar
from mcp_memory.rules.facts.tables import small_words as small
from mcp_memory.rules.facts.tables import word_set
from mcp_memory.rules.facts.verbs import reading
from mcp_memory.rules.facts.words import Word

Chain = Literal["begin", "end", "on", "unreal", "seeming"]
"""What the first verb makes of the second."""
_BEGINNING = frozenset(("start", "begin", "resume"))
_ENDING = frozenset(("stop", "quit", "cease", "finish", "give"))
_GOING_ON = frozenset(("continue", "keep", "carry", "be"))
_SEEMING = frozenset(("seem", "appear"))
_UNREAL = word_set(
    "want hope plan wish decide try need intend aim agree promise refuse forget consider expect dream prepare"
    " offer attempt fail tend prefer love like hate choose threaten struggle learn help ask get come happen"
    " imagine avoid miss mind suggest recommend mean deserve"
)
_REPORTED = frozenset(("say", "believe", "think", "report", "rumour", "suppose", "allege", "claim", "know", "estimate"))


def low_at(words: Sequence[Word], place: int) -> str:
    """Return the word at a place in lower case, "" behind the last."""
    return words[place].low if place < len(words) else ""


def following_word(words: Sequence[Word], place: int) -> int:
    """Return the next place that holds neither an adverb nor a negation."""
    while place < len(words) and (
        words[place].low in small.NEGATIONS or (grammar.is_adverb(words, place) and words[place].kind != "time")
    ):
        place += 1
    return place


def is_plain(words: Sequence[Word], place: int) -> bool:
    """Return whether a word may be a verb in its plain form, as it stands behind "did" and "to"."""
    if place >= len(words):
        return False
    verb = reading(words[place].low)
    return words[place].low == "have" or (verb is not None and "plain" in verb.forms and not words[place].capital)


def has_participle(words: Sequence[Word], place: int) -> bool:
    """Return whether a word may be a participle, as it stands behind "have"."""
    if place >= len(words) or words[place].capital:
        return False
    verb = reading(words[place].low)
    return words[place].low in ("been", "got") or (verb is not None and "participle" in verb.forms)


def reported(words: Sequence[Word], place: int) -> int:
    """Return the place of the last "to" or "have" of "is said to have", or 0."""
    verb = reading(words[place].low)
    if verb and verb.lemma in _REPORTED and low_at(words, place + 1) == "to":
        return place + 1 + (low_at(words, place + 2) in ("have",) and has_participle(words, place + 3))
    return 0


def chained(words: Sequence[Word], place: int, lemma: str) -> tuple[Chain, int] | None:
    """Return what a verb does to the one that follows it, and the place of the last word before that, or None."""
    following = place + 1
    if lemma == "give" and low_at(words, following) == "up":
        following += 1
    after = low_at(words, following)
    if after == "to" and (is_plain(words, following + 1) or low_at(words, following + 1) == "be" or lemma in _UNREAL):
        if lemma in _SEEMING:
            return "seeming", following
        if lemma in _BEGINNING:
            return "begin", following
        if lemma == "continue" or lemma == "manage":
            return "on", following
        if lemma in _UNREAL or lemma in ("use", "hope", "go", "pretend", "claim", "look", "work", "move", "lead"):
            return ("unreal", following) if lemma not in ("go", "work", "move", "use", "lead") else None
        return None
    verb = reading(after)
    gerund = after == "being" or (verb is not None and "ing" in verb.forms and "plain" not in verb.forms)
    if gerund:
        if lemma in _BEGINNING:
            return "begin", place
        if lemma in _ENDING and not (lemma == "finish" or (lemma == "give" and following == place + 1)):
            return "end", following - 1
        if lemma in _GOING_ON and lemma != "be":
            return "on", place
        if lemma in ("consider", "imagine", "miss", "avoid", "suggest", "recommend", "mind", "dream", "try"):
            return "unreal", place
        return None
    # "went back to working", "switched to being", "ended up working"
    if lemma in ("go", "come", "get", "switch", "return", "end", "take", "change"):
        steps = [low_at(words, place + n) for n in (1, 2, 3)]
        if lemma == "take" and steps[0] == "up" and grammar.breaks(words, place + 3):
            return None  # "took up fencing"
        for skip, lead in ((2, ("back", "to")), (1, ("to",)), (2, ("over", "to")), (1, ("up",)), (2, ("up", "with"))):
            if tuple(steps[: len(lead)]) == lead:
                inner = low_at(words, place + skip + 1)
                verb = reading(inner)
                if inner == "being" or (verb is not None and "ing" in verb.forms and "plain" not in verb.forms):
                    return "begin", place + skip
    return None
