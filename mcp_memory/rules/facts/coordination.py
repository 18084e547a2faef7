"""Several phrases side by side: "French, Polish and some Dutch", and "my boss, Linda Farrow," which is only one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mcp_memory.language.vocabulary import RELATIVES
from mcp_memory.rules.facts import grammar
from mcp_memory.rules.facts.noun_phrases import Noun, read_phrase
from mcp_memory.rules.facts.tables import closed
from mcp_memory.rules.facts.verbs import reading
from mcp_memory.rules.facts.words import Word

_AND = frozenset(("and", "&", "plus"))
MOST = 12
"""Phrases in one list."""


def read_phrases(
    words: Sequence[Word], place: int, *, subject: bool = False, verb_seen: bool = False
) -> tuple[tuple[Noun, ...], int]:
    """Return the phrases that begin at ``place`` and the place after the last; none gives ``((), place)``."""
    found = read_phrase(words, place, subject=subject, verb_seen=verb_seen)
    if found is None:
        return (), place
    first, place = found
    first, place = _with_apposition(words, first, place, subject, verb_seen)
    listed, uncertain = [first], False
    while place < len(words) and len(listed) < MOST:
        word = words[place]
        if word.low == "or":
            uncertain = place + 1 < len(words) and words[place + 1].low not in (
                "something",
                "so",
                "similar",
                "whatever",
            )
            following = read_phrase(words, place + 1, subject=subject, verb_seen=verb_seen)
            place = following[1] if following else place
            break
        if word.low == "as" and [w.low for w in words[place : place + 3]] == ["as", "well", "as"]:
            step = 3
        elif word.text == "," and place + 1 < len(words):
            step = 2 if words[place + 1].low in _AND else 1
        elif word.low in _AND:
            step = 1
        else:
            break
        following_place = place + step
        if _stops(words, following_place, subject) or (
            word.text == "," and step == 1 and not _goes_on(words, following_place, verb_seen)
        ):
            break
        following = read_phrase(words, following_place, subject=subject, verb_seen=verb_seen)
        if following is None or (following[0].pronoun and not subject):
            break
        listed.append(_of_the_one_before(following[0], listed[-1]))
        place = following[1]
    if uncertain:
        listed = [replace(item, uncertain=True) for item in listed]
    return _owned(listed), place


def _of_the_one_before(item: Noun, before: Noun) -> Noun:
    """Return "his wife Ann" behind "Tom and" with Tom as the owner."""
    one = before if before.of is None else before.of  # "the son of Tom and his wife"
    if item.owner and item.owner.pronoun in ("he", "she") and one.named and not one.pronoun:
        return replace(item, owner=one)
    return item


def _stops(words: Sequence[Word], place: int, subject: bool) -> bool:
    if place >= len(words):
        return True
    if subject:  # "Sven and Carla got married": the verb after it belongs to all of them
        return grammar.is_finite(words, place) and not words[place].capital
    return opens_clause(words, place)


def _goes_on(words: Sequence[Word], place: int, verb_seen: bool) -> bool:
    """Return whether the phrase after a comma is a further item: an "and" or a comma follows it, or nothing at all."""
    following = read_phrase(words, place, verb_seen=verb_seen)
    if following is None:
        return False
    after = following[1]
    return after >= len(words) or words[after].text in (",", ".", "!") or words[after].low in _AND


def _with_apposition(
    words: Sequence[Word], first: Noun, place: int, subject: bool, verb_seen: bool
) -> tuple[Noun, int]:
    """Return the phrase with what a comma sets beside it: "Calvo, a member of …,", "two cats, Salt and Pepper"."""
    if _is_age(words, place) and (first.name or first.head in RELATIVES):
        age, after = read_phrase(words, place + 1) or (first, place)
        first = replace(first, also=(age,))
        place = after + 1 if after + 1 < len(words) and words[after].text == "," and subject else after
    while place + 1 < len(words) and words[place].text == "," and not first.pronoun:
        following = read_phrase(words, place + 1, verb_seen=True)
        if following is None or following[0].pronoun:
            break
        beside, after = following
        indefinite = (
            beside.determiner in ("a", "an", "the")
            or (beside.of is not None and beside.head in ("part", "member", "capital", "daughter", "son", "home"))
            or (beside.owner is not None and not beside.name)
        )
        ends = after >= len(words) or words[after].mark or not grammar.breaks(words, after) or (
            words[after].low in ("from", "in", "at", "who", "which", "where", "for", "with", "and", "near")
            or grammar.is_finite(words, after) or words[after].kind == "time"
            or grammar.is_adverb(words, after)
        )  # fmt: skip
        if (
            (
                first.name
                or (
                    not (first.determiner or first.owner or first.plural or subject)
                    and beside.determiner in ("a", "an")
                )
            )
            and indefinite
            and ends
            and not _is_list(words, after)
            and not opens_clause(words, place + 1)
        ):
            first = replace(first, also=(*first.also, beside))
        elif (
            not first.name
            and not first.named
            and (first.owner or (subject and first.determiner) or first.plural)
            and beside.name
            and not beside.owner
            and not beside.determiner
        ):
            names, after = [beside], after
            if after + 1 < len(words) and words[after].low in _AND:
                second = read_phrase(words, after + 1, subject=subject, verb_seen=verb_seen)
                if second and second[0].name and not second[0].determiner:
                    names, after = [beside, second[0]], second[1]
            elif (not subject and _is_list(words, after)) or (
                subject and after < len(words) and words[after].text != ","
            ):
                break
            if len(names) == 1 and first.plural:
                break
            first = (
                replace(first, name=beside.name, named=True) if len(names) == 1 else replace(first, also=tuple(names))
            )
        else:
            break
        place = after
        tail = place
        if indefinite and tail < len(words) and words[tail].low in ("from", "in", "at", "for", "with", "near"):
            inner = read_phrase(words, tail + 1, verb_seen=True)
            if inner and words[tail].low == "from" and inner[0].name:
                first = replace(first, also=(*first.also[:-1], replace(first.also[-1], owner=None, also=(inner[0],))))
            place = inner[1] if inner else place
        if place < len(words) and words[place].text == "," and not _is_list(words, place):
            place += 1 if subject or place + 1 >= len(words) else 0
            if not subject:
                break
    return first, place


def _is_age(words: Sequence[Word], place: int) -> bool:
    """Return whether ", 24" follows and then a comma or the end."""
    if place + 1 >= len(words) or words[place].text != "," or words[place + 1].kind != "number":
        return False
    return words[place + 1].text.isdecimal() and len(words[place + 1].text) < 4 and (
        place + 2 >= len(words) or words[place + 2].mark
    )  # fmt: skip


def _is_list(words: Sequence[Word], place: int) -> bool:
    """Return whether a further item follows: ", B and C"."""
    if place >= len(words):
        return False
    if words[place].low in _AND:
        return not opens_clause(words, place + 1)
    if words[place].text == "," and place + 1 < len(words):
        if words[place + 1].low in _AND:
            return not opens_clause(words, place + 2)
        following = read_phrase(words, place + 1, verb_seen=True)
        return bool(
            following
            and following[1] < len(words)
            and words[following[1]].low in _AND
            and not opens_clause(words, following[1] + 1)
        )
    return False


def _owned(listed: list[Noun]) -> tuple[Noun, ...]:
    """Return the phrases, the first one's owner given to bare common ones after it: "my brother and sister"."""
    owner, first = listed[0].owner, listed[0]
    if first.owner and first.name and first.common and first.head.endswith("s") and len(listed) > 1:
        # "my brothers Nico and Jan": both are what the first is called
        return tuple(
            item
            if item is first or item.common or not item.name
            else replace(item, owner=owner, common=first.common, head=first.head)
            for item in listed
        )
    return tuple(
        replace(item, owner=owner) if place and owner and not (item.owner or item.determiner or item.named) else item
        for place, item in enumerate(listed)
    )


def opens_clause(words: Sequence[Word], place: int) -> bool:
    """Return whether a clause begins here, with its own subject or with the one before; after a comma or an "and"."""
    place = grammar.skipped(words, place)
    if place >= len(words):
        return False
    word = words[place]
    if word.low in closed.NOMINATIVE and word.low not in ("it", "you"):
        return True
    if word.low == "that" and place + 1 < len(words) and words[place + 1].capital:
        return opens_clause(words, place + 1)
    if word.low in ("it", "you", "there", "that", "this", "these"):
        return grammar.is_finite(words, grammar.skipped(words, place + 1))
    if word.low in closed.SUBORDINATORS or word.low in closed.CONDITIONS:
        return True
    if not word.capital and grammar.is_finite(words, place):
        if grammar.is_auxiliary(words, place):
            return True
        verb = reading(word.low)
        assert verb is not None
        if "past" in verb.forms and verb.forms.isdisjoint(("plain",)):
            return True
        following = place + 1
        return following < len(words) and (
            words[following].kind in ("title", "number", "adverb", "time")
            or words[following].capital
            or words[following].low
            in closed.DETERMINERS | closed.OWNERS.keys() | closed.PREPOSITIONS | closed.OBJECTIVE
            or (reading(words[following].low) or ("", ()))[1] == frozenset(("ing",))
            or ("third" in verb.forms and not grammar.breaks(words, following))
        )
    found = read_phrase(words, place, subject=True)
    if found is None:
        return False
    after = grammar.skipped(words, found[1])
    return grammar.is_finite(words, after, frozenset(("past", "third"))) or (
        found[0].plural and grammar.is_finite(words, after) and after < len(words)
    )
