"""Complete the tail of a fact with the phrase that belongs to it: "an interview for a pottery apprenticeship".

An event that is no name says little without what it was for or about, and an activity little without what it serves
("finding new colours for my shop"). Whatever stands at a distance, or can only be understood from the talk around it,
is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.relations import relations
from mcp_memory.language.vocabulary import word_set
from mcp_memory.rules.facts import kinds
from mcp_memory.rules.facts.clause import Clause
from mcp_memory.rules.facts.noun_phrases import NounPhrase
from mcp_memory.rules.facts.rows import Row
from mcp_memory.rules.facts.tables import closed, nouns

_OF_EVENTS = word_set("for about on against")
"""Prepositions of what an event is for or about."""
_OF_MAKING = word_set("made created")
"""Relations of things that are made with something: "a quilt with stars"."""
_LIKED = word_set("likes interested_in")
_POINTING = word_set("this that these those any another every each such all some")


def completed(noun: NounPhrase, row: Row, clause: Clause, index: int) -> NounPhrase:
    """Return the phrase of a tail with its complement, or as it is.

    Args:
        noun: the tail, in the slot at ``index``.
        row: by which the clause states it.
        clause: that states it.
        index: of the slot.
    """
    if noun.named or noun.quoted or noun.pronoun or len(clause.slots[index].nouns) > 1:
        return noun
    is_event = relations().get(row.relation).event and row.effect == "event"
    activity = row.relation in _LIKED and " " in noun.text and noun.text.split()[0].lower().endswith("ing")
    if not (is_event or activity) or index + 1 >= len(clause.slots):
        return noun
    behind = clause.slots[index + 1]
    allowed = _OF_EVENTS if is_event else {"for"}
    if row.relation in _OF_MAKING and not any(kinds.is_human(item) for item in behind.nouns):
        allowed = allowed | {"with"}
    distance = behind.nouns[0].start - clause.slots[index].end - len(behind.preposition)
    if behind.preposition not in allowed or distance > 2:
        return noun
    words = [_words(item, clause) for item in behind.nouns]
    if not all(words) or len(words) > 3:
        return noun
    *first, last = words
    text = f"{', '.join(first)} and {last}" if first else last
    return replace(noun, text=f"{noun.text} {behind.preposition} {text}", end=behind.end)


_AGED = re.compile(r"(?P<age>\d{1,3})[- ]years?[- ]old\s(?P<role>\S.*)")


def split_ages(assertions: Iterable[Assertion]) -> list[Assertion]:
    """Return the assertions with "44-year-old nurse" as an age and an occupation."""
    out: list[Assertion] = []
    for one in assertions:
        aged = _AGED.fullmatch(one.tail) if one.relation in ("works_as", "is_a") and not one.negated else None
        if aged is None:
            out.append(one)
        else:
            out += [replace(one, tail=aged["role"]), replace(one, relation="age", tail=aged["age"])]
    return out


def _words(noun: NounPhrase, clause: Clause) -> str:
    """Return a phrase of a complement with its article or its owner; "" if it means nothing by itself."""
    if noun.pronoun or noun.uncertain or noun.determiner in _POINTING or kinds.is_calendar(noun):
        return ""
    if noun.text[:1].isdigit():
        return ""  # "for 120 euros" tells of the price
    if not noun.named and noun.head in closed.EMPTY | nouns.VAGUE:
        return ""
    article = f"{noun.determiner} " if noun.determiner and not noun.owner else ""
    if noun.owner is None:
        return article + noun.text
    if not noun.owner.pronoun:
        return f"{noun.owner.text}'{'' if noun.owner.plural else 's'} {noun.text}"
    if noun.owner.pronoun == "i":
        return f"their {noun.text}"
    of_first = any(subject.pronoun in ("i", "we") for subject in clause.subject)
    shown = {"he": "his", "she": "her"}.get(noun.owner.pronoun, "")
    return "" if of_first or not shown else f"{shown} {noun.text}"
