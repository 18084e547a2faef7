"""What kind of span a question asks for: the form of its answer, the noun that names its type, the time it is about."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from mcp_memory.domain.query import Query
from mcp_memory.domain.times import BEGINNING, FOREVER, Millis, StatedTime
from mcp_memory.language.dates import stated_times
from mcp_memory.language.tokens import stems

Form = Literal["date", "duration", "frequency", "count", "person", "place", "reason", "thing", "yes_no"]
"""What the answer looks like."""

_OFTEN = re.compile(r"\bhow (?:often|frequently|regularly)\b|\bhow many times (?:a|per|each|every)\b", re.I)
_NOUN = re.compile(
    r"\b(?:what|which)(?:\s+(?:kind|type|sort|genre|style|form)s?\s+of)?\s+((?:[\w'’-]+\s+){0,2}?)"
    r"([\w'’-]+)(?=\s+(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should)\b)",
    re.I,
)
_DIRECT = re.compile(r"\b(?:what|which)(?:\s+(?:kind|type|sort|genre|style|form)s?\s+of)?\s+([\w'’-]+)", re.I)
_COUNTED = re.compile(r"\bhow (?:many|much)\s+(?:of\s+)?(?:(?:different|more|other|new|total)\s+)*([\w'’-]+)", re.I)
_OLD = re.compile(r"\bhow old\b", re.I)
_RELATION = re.compile(
    r"\b(?:of|whose|who|whom|that|which|where|when|featuring|starring|belongs?)\b|['’]s?\b(?=\s)", re.I
)
_ALTERNATIVE = re.compile(r"\w\s+or\s+\w", re.I)
MOST_NESTED = 3
_TYPE_WORDS = frozenset(("kind", "type", "sort", "name"))
_FORM_WORDS: dict[Form, frozenset[str]] = {
    "count": frozenset(("mani", "much")),
    "duration": frozenset(("long",)),
    "frequency": frozenset(("often", "frequent", "regular", "mani", "time")),
    "person": frozenset(("person",)),
    "date": frozenset(("year", "month", "date", "day", "time")),
}
"""Stems that ask for a form, "how *many*", "which *person*", and so need not stand in what answers."""
_FORMS: dict[str, Form] = {
    "who": "person",
    "when": "date",
    "where": "place",
    "how_many": "count",
    "how_long": "duration",
    "why": "reason",
    "yes_no": "yes_no",
}


@dataclass(frozen=True, slots=True)
class Asking:
    """A question, as the rules for spans need it.

    Attributes:
        question: taken apart by `language.questions`.
        form: of the answer.
        stems: of its content words, without those that ask for the form, that state a time, or that name the one
            speaker: these are looked for otherwise.
        noun: stem of the word that names the type, "city" of "which city" or "dog" of "how many dogs"; None without.
        event: stem of its last content word, mostly the verb; None without.
        time: the interval that it is about, ``[since, until)``, of which one side is bounded at least; None without.
            "Before 1911" is the moment before 1911 began: of a state, the last value before it is meant.
        nested: how far it hangs one relation on another ("when did the director of the film that …"), in [0, 1]; the
            sentence that holds its words is then seldom the one that holds the answer.
        compares: whether it offers alternatives ("A or B").
    """

    question: Query
    form: Form
    stems: frozenset[str]
    noun: str | None
    event: str | None
    time: tuple[Millis, Millis] | None
    nested: float
    compares: bool


def asking(question: Query) -> Asking:
    """Return what the question asks for."""
    form: Form = "frequency" if _OFTEN.search(question.text) else _FORMS.get(question.answer_type, "thing")
    named = frozenset(stem for speaker in question.speakers for stem in stems(speaker))
    times = stated_times(question.text, None)
    dated = frozenset(stem for time in times for stem in stems(question.text[time.start : time.end]))
    left = frozenset(question.stems) - dated - _FORM_WORDS.get(form, frozenset()) - _TYPE_WORDS
    if len(question.speakers) == 1:
        left -= named
    return Asking(
        question=question,
        form=form,
        stems=left,
        noun=_noun(question.text, form),
        event=question.stems[-1] if question.stems else None,
        time=_time(question, times),
        nested=min(max(len(_RELATION.findall(question.text)) - 1, 0), MOST_NESTED) / MOST_NESTED,
        compares=form != "yes_no" and _ALTERNATIVE.search(question.text) is not None,
    )


def _time(question: Query, times: Sequence[StatedTime]) -> tuple[Millis, Millis] | None:
    said = question.time
    if said is None or not said.dated:  # a time that binds nothing, "the 2010 cup", still tells which sentence is meant
        return (times[0].since, times[0].until) if times else None
    if said.order == "before":
        edge = said.until if said.since == BEGINNING else said.since
        return edge - 1, edge
    if said.order == "after":
        edge = said.since if said.until == FOREVER else said.until
        return edge, edge + 1
    return said.since, said.until


def _noun(text: str, form: Form) -> str | None:
    if form == "count":
        found = _COUNTED.search(text)
        word = found[1] if found else ""
    elif form == "duration" and _OLD.search(text):
        word = "old"
    else:
        found = _NOUN.search(text) or _DIRECT.search(text)
        word = found[found.lastindex or 1] if found else ""
    return next(iter(stems(word)), None)
