"""Complete the tail of a fact with the phrase that belongs to it: "an interview for a pottery apprenticeship".

An event that is no name says little without what it was for or about, and an activity little without what it serves
("finding new colours for my shop"). Whatever stands at a distance, or can only be understood from the talk around it,
is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from mcp_memory.domain.facts import Assertion, restated
from mcp_memory.domain.relations import relations
from mcp_memory.language.vocabulary import RELATIVES, word_set
from mcp_memory.rules.facts import kinds
from mcp_memory.rules.facts.complements import Slot
from mcp_memory.rules.facts.noun_phrases import NounPhrase
from mcp_memory.rules.facts.rows import Row
from mcp_memory.rules.facts.tables import closed, nouns
from mcp_memory.rules.facts.tables.nouns import HOMES

_OF_EVENTS = word_set("for about on against")
"""Prepositions of what an event is for or about, in any text."""
_OF_MAKING = word_set("made created")
"""Relations of things that are made with something: "a quilt with stars"."""
_LIKED = "with in on at by from for about near along as"
_GAINED = "with from by of for about on against"
_IN_TALK = {
    "likes": _LIKED, "dislikes": _LIKED, "prefers": _LIKED, "interested_in": _LIKED,
    "bought": _GAINED, "adopted": _GAINED, "won": _GAINED, "sold": "with", "owns": "with from",
    "collects": "from of about with", "member_of": "for", "volunteers_at": "in near for",
    "lives_in": "in near by above outside", "comes_from": "in near", "chose": "with", "decided_against": "with",
}  # fmt: skip
"""Prepositions that belong to the tail in a message, by relation: "a house with a garden", "hiking in the hills"."""
_DAYTIMES = word_set("morning mornings afternoon afternoons evening evenings night")
_IN_COMPANY = word_set("likes dislikes prefers interested_in")
_COMPANY = word_set("team crew band club family friends folks mates colleagues neighbours kids children people")
_GAINING = word_set("bought sold owns founded")
_POINTING = word_set("this that these those any another every each such all some")
_EMPTY = word_set("general particular fact addition moment mind case years ages least last first once stock sale")
"""Nouns of set phrases that add nothing: "in general"."""
MOST = 2
"""Complements of one tail: "walks with the dog along the river"."""


def completed(noun: NounPhrase, row: Row, slots: Sequence[Slot], index: int, *, talk: bool, own: bool) -> NounPhrase:
    """Return the phrase of a tail with its complements, or as it is.

    Args:
        noun: the tail, in the slot at ``index``.
        row: the row that states it.
        slots: the slots of its clause.
        index: the index of the slot.
        talk: whether the text is a message.
        own: whether the speaker is the subject.
    """
    beside = slots[index].nouns
    if (noun.named and (noun.name or not noun.common)) or noun.quoted or noun.pronoun:
        return noun
    is_event = relations().get(row.relation).event and row.effect == "event"
    activity = row.relation in ("likes", "interested_in") and " " in noun.text and noun.text.split()[0].endswith("ing")
    allowed = set(_OF_EVENTS if is_event else {"for"} if activity else ())
    if row.relation in _OF_MAKING:
        allowed |= {"with"}
    if talk:
        allowed |= set(_IN_TALK.get(row.relation, "").split())
        allowed |= {"to"} if row.relation in _IN_COMPANY and noun.text.split()[0].endswith("ing") else set()
        if row.relation in _GAINING and noun.head in nouns.PLACES | HOMES:
            allowed |= {"in", "near"}  # "a house in Namur"
    if len(beside) > 1 and not talk:
        return noun
    end = slots[index].end
    for place, behind in enumerate(slots[index + 1 : index + 1 + (MOST if talk else 1)], index + 2):
        again = place < len(slots) and slots[place].preposition == behind.preposition
        text = _complement(behind, end, own, shared=talk and again)
        if not text or behind.joined or behind.preposition not in allowed:
            break
        if noun.start < beside[-1].start:
            break  # of a list the last has the complement: "trams and a house with a garden"
        if behind.preposition == "with" and row.relation not in _IN_COMPANY and any(map(_is_company, behind.nouns)):
            break  # companions take part in the event
        noun, end = replace(noun, text=f"{noun.text} {behind.preposition} {text}", end=behind.end), behind.end
    return noun


def _is_company(noun: NounPhrase) -> bool:
    return kinds.is_human(noun) or noun.head in _COMPANY or noun.head.removesuffix("s") in RELATIVES


def _complement(behind: Slot, end: int, own: bool, *, shared: bool) -> str:
    """Return the words of the phrases behind a tail that ends at ``end``; "" if they are far off or mean nothing."""
    items = behind.nouns
    if shared or len({_marks(item) for item in items}) > 1:
        items = items[:1]  # "tea in the morning and coffee after lunch"
    words = [_words(item, own) for item in items]
    if behind.nouns[0].start - end - len(behind.preposition) > 2 or not all(words) or len(words) > 3:
        return ""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


_AGED = re.compile(r"(?P<age>\d{1,3})[- ]years?[- ]old\s(?P<role>\S.*)")


def split_ages(assertions: Iterable[Assertion]) -> list[Assertion]:
    """Return the assertions with "44-year-old nurse" as an age and an occupation."""
    out: list[Assertion] = []
    for one in assertions:
        aged = _AGED.fullmatch(one.tail) if one.relation in ("works_as", "is_a") and not one.negated else None
        if aged is None:
            out.append(one)
        else:
            out.append(restated(one, (one.head, one.relation, aged["role"])))
            out.append(restated(one, (one.head, "age", aged["age"])))
    return out


def _marks(noun: NounPhrase) -> tuple[bool, bool, bool]:
    """Return whether a phrase has an article, an owner and a name: what a list joins has the same."""
    return bool(noun.determiner), noun.owner is not None, noun.named


def _words(noun: NounPhrase, own: bool) -> str:
    """Return a phrase of a complement with its article or its owner; "" if it means nothing by itself."""
    if noun.pronoun or noun.uncertain or noun.determiner in _POINTING or kinds.is_calendar(noun):
        return ""
    if noun.text[:1].isdigit():
        return ""  # "for 120 euros" tells of the price
    set_phrase = noun.text in _EMPTY or noun.head in ("passion", "vengeance")
    vague = noun.head in closed.EMPTY | nouns.VAGUE - _DAYTIMES and noun.of is None
    if not noun.named and (vague or set_phrase):
        return ""
    article = f"{noun.determiner} " if noun.determiner and not noun.owner else ""
    if noun.owner is None:
        return article + noun.text
    if not noun.owner.pronoun:
        return f"{noun.owner.text}'{'' if noun.owner.plural else 's'} {noun.text}"
    if noun.owner.pronoun == "i":
        return f"their {noun.text}" if own else ""
    shown = {"he": "his", "she": "her"}.get(noun.owner.pronoun, "")
    return "" if own or not shown else f"{shown} {noun.text}"
