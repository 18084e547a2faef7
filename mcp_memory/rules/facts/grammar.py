"""Classify the word at one index of a sentence: adverb, auxiliary, finite verb, genitive, phrase boundary."""

from __future__ import annotations

from collections.abc import Sequence

from mcp_memory.language.vocabulary import RELATIVES, word_set
from mcp_memory.rules.facts.rows import adjectives
from mcp_memory.rules.facts.tables import closed, nouns
from mcp_memory.rules.facts.verbs import Form, inflection
from mcp_memory.rules.facts.words import Word

_FINITE: frozenset[Form] = frozenset(("past", "third", "plain"))
BREAKING = (
    closed.PREPOSITIONS | closed.CONJUNCTIONS | closed.AUXILIARIES | closed.NEGATIONS | closed.NOMINATIVE
    | closed.OBJECTIVE | closed.SUBORDINATORS | closed.CONDITIONS | closed.ADVERBS | closed.OWNERS.keys()
    | closed.DETERMINERS
)  # fmt: skip
"""Words that no noun phrase holds."""


def skip_adverbials(words: Sequence[Word], index: int) -> int:
    """Return the next index that holds neither an adverb nor a time."""
    while index < len(words) and is_adverb(words, index):
        index += 1
    return index


def is_adjective(word: str) -> bool:
    """Return whether a word in lower case is an adjective of the rows, or of a lasting state ("vegan")."""
    return word in nouns.STATES or word in adjectives()


QUALITIES = word_set(
    "simple simpler easy easier short shorter clean cleaner plain small smaller big bigger light lighter dark quiet"
    " cheap cheaper warm cold hot fresh early late explicit implicit minimal lightweight readable fast faster"
)
"""Adjectives that stand where a thing would: "I prefer simple"."""


def is_quality(word: str) -> bool:
    """Return whether a word in lower case is an adjective by the list or by its ending."""
    return word in QUALITIES or (len(word) > 5 and word.endswith(("ful", "ous", "able", "ible", "ive", "less")))


def is_adverb(words: Sequence[Word], index: int) -> bool:
    """Return whether a word says how, when or how certainly."""
    word = words[index]
    if word.kind != "word":
        return word.kind in ("adverb", "time")
    if word.low == "no" and index + 1 < len(words) and not words[index + 1].mark:
        return False  # of a phrase: "has no car"
    known = word.low in closed.ADVERBS or _is_manner(words, index)
    return known and (index == 0 or not word.capital)


def _is_manner(words: Sequence[Word], index: int) -> bool:
    """Return whether a word says how by its ending ("slowly"), and what follows is no noun that it could describe."""
    low = words[index].low
    if not low.endswith("ly") or len(low) < 6 or low in closed.NO_ADVERBS_IN_LY:
        return False
    following = words[index + 1] if index + 1 < len(words) else None
    if following is None or following.mark or following.low in closed.PREPOSITIONS | closed.CONJUNCTIONS:
        return True
    return not following.capital and inflection(following.low) is not None


def is_auxiliary(words: Sequence[Word], index: int) -> bool:
    """Return whether the word is "is", "has", "will" or the like; a capital inside a sentence makes it a name."""
    word = words[index]
    return word.low in closed.AUXILIARIES and (index == 0 or not word.capital)


def is_finite(words: Sequence[Word], index: int, forms: frozenset[Form] = _FINITE) -> bool:
    """Return whether a word may be the finite verb behind a subject."""
    if index >= len(words) or words[index].kind != "word":
        return False
    if is_auxiliary(words, index):
        return True
    if words[index].capital and index:
        return False
    verb = inflection(words[index].low)
    return verb is not None and not forms.isdisjoint(verb.forms)


def mends(words: Sequence[Word], index: int) -> bool:
    """Return whether "no, …", "wait, …" or "no wait" stands at an index: what follows mends what came before."""
    if index + 1 >= len(words) or words[index].low not in ("no", "wait", "sorry", "oops"):
        return False
    return words[index + 1].text == "," or (words[index].low, words[index + 1].low) == ("no", "wait")


def ends_phrase(words: Sequence[Word], index: int) -> bool:
    """Return whether a word cannot be part of a noun phrase."""
    if index >= len(words):
        return True
    word = words[index]
    if word.kind not in ("word", "number"):
        return True
    if word.capital and index:
        return False
    return word.low in BREAKING or word.low == "either" or _is_manner(words, index)


def is_genitive(words: Sequence[Word], index: int, verb_seen: bool) -> bool:
    """Return whether the "'s" at ``index`` marks a possessor, rather than "is" or "has".

    Args:
        words: the words of the sentence.
        index: the index of the "'s".
        verb_seen: whether the clause has its verb already, so that "'s" cannot be a second one.
    """
    following = index + 1
    if following >= len(words) or words[following].kind == "time":
        return False
    if verb_seen:
        return True
    word = words[following]
    if word.mark or word.low in closed.ARTICLES or is_adverb(words, following):
        return False
    if word.kind == "number" and ends_phrase(words, following + 1):
        return False  # "my fee's 14.5 which …"
    if word.low in closed.PREPOSITIONS | closed.NEGATIONS | closed.OWNERS.keys() or is_adjective(word.low):
        return False
    if word.low in RELATIVES:
        return True
    verb = inflection(word.low)
    if word.low.endswith("ing") and following + 1 < len(words) and words[following + 1].low in ("is", "was", "will"):
        return True  # "my sister's wedding is on 3 May"
    if verb and not {"ing", "participle"}.isdisjoint(verb.forms) and not word.capital and "plain" not in verb.forms:
        return False
    # "Ann's dog barks" against "my colour's green": is there another verb before the clause ends?
    for later in range(following + 1, min(len(words), following + 8)):
        if words[later].mark or words[later].low in closed.CONJUNCTIONS:
            return False
        if is_finite(words, later, frozenset(("past", "third"))):
            return True
    return False
