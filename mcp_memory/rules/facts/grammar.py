"""What a word may be where it stands: questions about one place in a row of words."""

from __future__ import annotations

from collections.abc import Sequence

from mcp_memory.rules.facts.tables import small_words as small
from mcp_memory.rules.facts.tables.adjectives import ADJECTIVES
from mcp_memory.rules.facts.tables.kin import KIN
from mcp_memory.rules.facts.tables.kinds import STATES
from mcp_memory.rules.facts.verbs import Form, reading
from mcp_memory.rules.facts.words import Word

ADJECTIVE_WORDS = STATES | frozenset(
    word for line in ADJECTIVES.strip().splitlines() for word in line.split("|")[0].split()
)
KIN_WORDS = frozenset(word for line in KIN.strip().splitlines() for word in line.split("|")[0].split())
_FINITE: frozenset[Form] = frozenset(("past", "third", "plain"))
_BREAKING = (
    small.PREPOSITIONS | small.CONJUNCTIONS | small.AUXILIARIES | small.NEGATIONS | small.NOMINATIVE | small.OBJECTIVE
    | small.SUBORDINATORS | small.CONDITIONS | small.ADVERBS | small.OWNERS.keys() | small.DETERMINERS
)  # fmt: skip


def skipped(words: Sequence[Word], place: int) -> int:
    """Return the next place that holds neither an adverb nor a time."""
    while place < len(words) and is_adverb(words, place):
        place += 1
    return place


def is_adverb(words: Sequence[Word], place: int) -> bool:
    """Return whether a word says how, when or how surely."""
    word = words[place]
    return word.kind in ("adverb", "time") or (
        word.kind == "word" and word.low in small.ADVERBS and (place == 0 or not word.capital)
    )


def is_auxiliary(words: Sequence[Word], place: int) -> bool:
    """Return whether the word is "is", "has", "will" or the like; a capital within a sentence makes it a name."""
    word = words[place]
    return word.low in small.AUXILIARIES and (place == 0 or not word.capital)


def is_finite(words: Sequence[Word], place: int, forms: frozenset[Form] = _FINITE) -> bool:
    """Return whether a word may be the verb that a subject stands before."""
    if place >= len(words) or words[place].kind != "word":
        return False
    if is_auxiliary(words, place):
        return True
    if words[place].capital and place:
        return False
    verb = reading(words[place].low)
    return verb is not None and not forms.isdisjoint(verb.forms)


def breaks(words: Sequence[Word], place: int) -> bool:
    """Return whether a word cannot be part of a noun phrase."""
    if place >= len(words):
        return True
    word = words[place]
    if word.kind not in ("word", "number"):
        return True
    if word.capital and place:
        return False
    return word.low in _BREAKING


def is_genitive(words: Sequence[Word], place: int, verb_seen: bool) -> bool:
    """Return whether the "'s" at ``place`` says whose something is, rather than "is" or "has".

    Args:
        words: of the sentence.
        place: of the "'s".
        verb_seen: whether the clause has its verb already; then it is no second one.
    """
    following = place + 1
    if following >= len(words) or words[following].kind == "time":
        return False
    if verb_seen:
        return True
    word = words[following]
    if word.mark or word.low in small.ARTICLES or is_adverb(words, following):
        return False
    if word.low in small.PREPOSITIONS | small.NEGATIONS | small.OWNERS.keys() or word.low in ADJECTIVE_WORDS:
        return False
    if word.low in KIN_WORDS:
        return True
    verb = reading(word.low)
    if verb and not {"ing", "participle"}.isdisjoint(verb.forms) and not word.capital and "plain" not in verb.forms:
        return False
    # "Ann's dog barks" against "my colour's green": is there another verb before the clause ends?
    for later in range(following + 1, min(len(words), following + 8)):
        if words[later].mark or words[later].low in small.CONJUNCTIONS:
            return False
        if is_finite(words, later, frozenset(("past", "third"))):
            return True
    return False


def opens_clause(words: Sequence[Word], place: int) -> bool:
    """Return whether a clause begins here, with its own subject or with the one before; after a comma or an "and"."""
    from mcp_memory.rules.facts.phrases import noun

    place = skipped(words, place)
    if place >= len(words):
        return False
    word = words[place]
    if word.low in small.NOMINATIVE and word.low not in ("it", "you"):
        return True
    if word.low == "that" and place + 1 < len(words) and words[place + 1].capital:
        return opens_clause(words, place + 1)
    if word.low in ("it", "you", "there", "that", "this", "these"):
        return is_finite(words, skipped(words, place + 1))
    if word.low in small.SUBORDINATORS or word.low in small.CONDITIONS:
        return True
    if not word.capital and is_finite(words, place):
        if is_auxiliary(words, place):
            return True
        verb = reading(word.low)
        assert verb is not None
        if "past" in verb.forms and verb.forms.isdisjoint(("plain",)):
            return True
        following = place + 1
        return following < len(words) and (
            words[following].kind in ("title", "number", "adverb", "time")
            or words[following].capital
            or words[following].low in small.DETERMINERS | small.OWNERS.keys() | small.PREPOSITIONS | small.OBJECTIVE
            or (reading(words[following].low) or ("", ()))[1] == frozenset(("ing",))
            or ("third" in verb.forms and not breaks(words, following))
        )
    found = noun(words, place, subject=True)
    if found is None:
        return False
    after = skipped(words, found[1])
    return is_finite(words, after, frozenset(("past", "third"))) or (
        found[0].plural and is_finite(words, after) and after < len(words)
    )
