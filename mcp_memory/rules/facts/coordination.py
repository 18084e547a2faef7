"""Read coordinated noun phrases, "French, Polish and some Dutch", and tell them from appositions.

"my boss, Linda Farrow," is one phrase with an apposition.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mcp_memory.language.vocabulary import RELATIVES
from mcp_memory.rules.facts import grammar
from mcp_memory.rules.facts.noun_phrases import NounPhrase, read_phrase, text_of
from mcp_memory.rules.facts.tables import closed
from mcp_memory.rules.facts.tables.nouns import EVENTS, ING_NOUNS
from mcp_memory.rules.facts.verbs import inflection
from mcp_memory.rules.facts.words import Word

_AND = frozenset(("and", "&", "plus"))
_VAGUE_ALTERNATIVES = frozenset(("something", "so", "similar", "whatever"))
_RELATIONAL_NOUNS = frozenset(("part", "member", "capital", "daughter", "son", "home"))
MOST = 12
"""Phrases in one list."""
_LASTING = frozenset(("live", "work", "study", "teach"))


def read_phrases(
    words: Sequence[Word], index: int, *, subject: bool = False, verb_seen: bool = False
) -> tuple[tuple[NounPhrase, ...], int]:
    """Return the phrases that begin at ``index`` and the index after the last; ``((), index)`` if there are none."""
    first_phrase = read_phrase(words, index, subject=subject, verb_seen=verb_seen)
    if first_phrase is None:
        return (), index
    first, index = first_phrase
    first, index = _attach_appositions(words, first, index, subject, verb_seen)
    phrases, uncertain = [first], False
    while index < len(words) and len(phrases) < MOST:
        word = words[index]
        if word.low == "or":
            uncertain = index + 1 < len(words) and words[index + 1].low not in _VAGUE_ALTERNATIVES
            following = read_phrase(words, index + 1, subject=subject, verb_seen=verb_seen)
            index = following[1] if following else index
            break
        if word.text == "," and index + 1 < len(words):
            step = 2 if words[index + 1].low in _AND else 1
        elif word.low in _AND:
            step = 1
        else:
            break
        following_index = index + step
        if _list_ends(words, following_index, subject) or (
            word.text == "," and step == 1 and not _is_list_item(words, following_index, verb_seen)
        ):
            break
        following = read_phrase(words, following_index, subject=subject, verb_seen=verb_seen)
        if following is None or (following[0].pronoun and not subject):
            break
        phrases.append(_with_antecedent_owner(following[0], phrases[-1]))
        index = following[1]
    if uncertain:
        phrases = [replace(item, uncertain=True) for item in phrases]
    elif len(phrases) > 1:
        phrases = _joined(words, phrases)
    return _share_owner(phrases), index


def _joined(words: Sequence[Word], phrases: list[NounPhrase]) -> list[NounPhrase]:
    """Return the phrases with those joined that only look like a list.

    Adjectives before one noun belong to it ("simple, light meals", "plain and useful tools"), and the objects of a
    gerund stay with their verb ("improving schools and roads").
    """
    first, second = phrases[:2]
    bare = not (second.determiner or second.owner or second.pronoun or second.name or second.quoted)
    lone = first.words[1] - first.words[0] == 1 and not (first.pronoun or first.name or first.plural or first.quoted)
    lone = lone and (grammar.is_adjective(words[first.words[0]].low) or len(phrases) == 2)
    lone = lone and words[first.words[1]].text == "," and words[second.words[0] - 1].text == ","
    gerund = inflection(words[first.words[0]].low) if first.words[1] - first.words[0] > 1 else None
    if first.plural and second.owner and second.owner.pronoun == "they" and not first.pronoun and len(phrases) == 2:
        return [replace(_between(words, first, second), head=first.head)]  # "elders and their rights"
    paired = grammar.is_quality(words[first.words[0]].low) and first.words[1] - first.words[0] == 1
    if bare and (lone or paired) and second.words[1] - second.words[0] > 1:
        return [_between(words, first, second), *phrases[2:]]
    if gerund is not None and gerund.forms == {"ing"} and words[first.words[0]].low not in ING_NOUNS | EVENTS:
        others = [inflection(words[item.words[0]].low) for item in phrases[1:]]
        if not any(item.pronoun for item in phrases) and all(
            verb is None or "ing" not in verb.forms for verb in others
        ):
            return [_between(words, first, phrases[-1])]
    return phrases


def _between(words: Sequence[Word], first: NounPhrase, last: NounPhrase) -> NounPhrase:
    """Return the words from the one phrase to the other as one phrase with the head of the last."""
    text = text_of(words[first.words[0] : last.words[1]])
    return replace(
        last, start=first.start, text=text, common=text, name="", named=False, determiner=first.determiner,
        owner=first.owner, words=(first.words[0], last.words[1]),
    )  # fmt: skip


def _with_antecedent_owner(item: NounPhrase, before: NounPhrase) -> NounPhrase:
    """Return "his wife Ann" behind "Tom and" with Tom as the owner."""
    antecedent = before if before.of is None else before.of  # "the son of Tom and his wife"
    if item.owner and item.owner.pronoun in ("he", "she") and antecedent.named and not antecedent.pronoun:
        return replace(item, owner=antecedent)
    return item


def _list_ends(words: Sequence[Word], index: int, subject: bool) -> bool:
    """Return whether no further item of the list begins at ``index``."""
    if index >= len(words) or grammar.mends(words, index):
        return True
    if subject:  # "Sven and Carla got married": the verb behind it belongs to both
        return grammar.is_finite(words, index) and not words[index].capital
    return opens_clause(words, index)


def _is_list_item(words: Sequence[Word], index: int, verb_seen: bool) -> bool:
    """Return whether the phrase behind a comma is a further item: "and", a comma or the end follows it."""
    following = read_phrase(words, index, verb_seen=verb_seen)
    if following is None:
        return False
    after = following[1]
    return after >= len(words) or words[after].text in (",", ".", "!") or words[after].low in _AND


def _attach_appositions(
    words: Sequence[Word], first: NounPhrase, index: int, subject: bool, verb_seen: bool
) -> tuple[NounPhrase, int]:
    """Return the phrase with its appositions: "Calvo, a member of …,", "two cats, Salt and Pepper"."""
    if _age_follows(words, index) and (first.name or first.head in RELATIVES):
        age, after = read_phrase(words, index + 1) or (first, index)
        first = replace(first, appositions=(age,))
        index = after + 1 if after + 1 < len(words) and words[after].text == "," and subject else after
    while index + 1 < len(words) and words[index].text == "," and not first.pronoun:
        following = read_phrase(words, index + 1, verb_seen=True)
        if following is None or following[0].pronoun:
            break
        apposition, after = following
        description = _is_description(apposition)
        if description and _takes_description(words, first, index + 1, apposition, subject):
            first = replace(first, appositions=(*first.appositions, apposition))
        elif named := _with_names(words, first, following, subject, verb_seen):
            first, after = named
        else:
            break
        first, index = _with_origin(words, first, after) if description else (first, after)
        if index < len(words) and words[index].text == ",":
            index += 1 if subject or index + 1 >= len(words) else 0
            if not subject:
                break
    return first, index


def _is_description(apposition: NounPhrase) -> bool:
    """Return whether a phrase can say who or what another is: "a member of …", "capital of …", "his neighbour"."""
    return (
        apposition.determiner in ("a", "an", "the")
        or (apposition.of is not None and apposition.head in _RELATIONAL_NOUNS)
        or (apposition.owner is not None and not apposition.name)
    )


def _takes_description(
    words: Sequence[Word], first: NounPhrase, start: int, apposition: NounPhrase, subject: bool
) -> bool:
    """Return whether the description behind a phrase belongs to it, and is no item of a list and no clause.

    Args:
        words: the words of the sentence.
        first: the phrase before the comma.
        start: index of the first word of the description.
        apposition: the description.
        subject: whether the verb is expected after it.
    """
    bare = not (first.determiner or first.owner or first.plural or subject)
    if not first.name and not (bare and apposition.determiner in ("a", "an")):
        return False
    return not opens_clause(words, start)


def _with_names(
    words: Sequence[Word], first: NounPhrase, following: tuple[NounPhrase, int], subject: bool, verb_seen: bool
) -> tuple[NounPhrase, int] | None:
    """Return a phrase with the names behind it, "my boss, Linda Farrow," and the index after them; None without names.

    Args:
        words: the words of the sentence.
        first: the phrase before the comma, without a name.
        following: the phrase behind the comma, and the index after it.
        subject: whether the verb is expected after it.
        verb_seen: whether the clause has its verb already.
    """
    apposition, after = following
    can_be_named = not first.name and not first.named
    can_be_named = can_be_named and bool(first.owner or first.plural or (subject and first.determiner))
    if not can_be_named or not apposition.name or apposition.owner or apposition.determiner:
        return None
    if after + 1 < len(words) and words[after].low in _AND:
        second = read_phrase(words, after + 1, subject=subject, verb_seen=verb_seen)
        if second and second[0].name and not second[0].determiner:
            return replace(first, appositions=(apposition, second[0])), second[1]
    elif subject and after < len(words) and words[after].text != ",":
        return None
    return None if first.plural else (replace(first, name=apposition.name, named=True), after)


def _with_origin(words: Sequence[Word], first: NounPhrase, index: int) -> tuple[NounPhrase, int]:
    """Return a phrase whose last description has the origin that follows, "a poet from Porto", and the index after it.

    A place or a purpose behind the description, "in Oslo", is only skipped.
    """
    if index >= len(words) or words[index].low not in ("from", "in", "at", "for", "with", "near"):
        return first, index
    inner = read_phrase(words, index + 1, verb_seen=True)
    if inner is None:
        return first, index
    if words[index].low == "from" and inner[0].name and first.appositions:
        *others, last = first.appositions
        first = replace(first, appositions=(*others, replace(last, owner=None, appositions=(inner[0],))))
    return first, inner[1]


def _age_follows(words: Sequence[Word], index: int) -> bool:
    """Return whether ", 24" follows and then a comma or the end."""
    if index + 1 >= len(words) or words[index].text != "," or words[index + 1].kind != "number":
        return False
    return words[index + 1].text.isdecimal() and len(words[index + 1].text) < 4 and (
        index + 2 >= len(words) or words[index + 2].mark
    )  # fmt: skip


def _share_owner(phrases: list[NounPhrase]) -> tuple[NounPhrase, ...]:
    """Return the phrases; common nouns without an owner get the owner of the first: "my brother and sister"."""
    owner, first = phrases[0].owner, phrases[0]
    if first.owner and first.name and first.common and first.head.endswith("s") and len(phrases) > 1:
        # "my brothers Nico and Jan": both get the common noun of the first
        return tuple(
            item
            if item is first or item.common or not item.name
            else replace(item, owner=owner, common=first.common, head=first.head)
            for item in phrases
        )
    return tuple(
        replace(item, owner=owner) if index and owner and not (item.owner or item.determiner or item.named) else item
        for index, item in enumerate(phrases)
    )


def opens_clause(words: Sequence[Word], index: int) -> bool:
    """Return whether a clause with its own or a shared subject begins here, behind a comma or "and"."""
    index = grammar.skip_adverbials(words, index)
    if index >= len(words):
        return False
    word = words[index]
    if word.low in closed.NOMINATIVE and word.low not in ("it", "you"):
        return True
    if word.low in ("it", "you", "there", "that", "this", "these"):
        return grammar.is_finite(words, grammar.skip_adverbials(words, index + 1))
    if word.low in closed.SUBORDINATORS or word.low in closed.CONDITIONS:
        return True
    if not word.capital and grammar.is_finite(words, index):
        if grammar.is_auxiliary(words, index):
            return True
        verb = inflection(word.low)
        assert verb is not None
        if "past" in verb.forms and verb.forms.isdisjoint(("plain",)):
            return True
        following = index + 1
        return following < len(words) and (
            words[following].kind in ("title", "number", "adverb", "time")
            or (verb.lemma in _LASTING and grammar.is_adverb(words, following))
            or words[following].capital
            or words[following].low in ("there", "here")
            or words[following].low
            in closed.DETERMINERS | closed.OWNERS.keys() | closed.PREPOSITIONS | closed.OBJECTIVE
            or (inflection(words[following].low) or ("", ()))[1] == frozenset(("ing",))
            or ("third" in verb.forms and not grammar.ends_phrase(words, following))
        )
    subject = read_phrase(words, index, subject=True)
    if subject is None:
        return False
    after = grammar.skip_adverbials(words, subject[1])
    if after < len(words) and words[after].text == "," and (inserted := read_phrase(words, after + 1)):
        closing = inserted[1]  # "and the new one, Lowick Town, trains at night"
        if closing < len(words) and words[closing].text == ",":
            return grammar.is_finite(words, closing + 1, frozenset(("past", "third")))
    return grammar.is_finite(words, after, frozenset(("past", "third"))) or (
        subject[0].plural and grammar.is_finite(words, after) and after < len(words)
    )
