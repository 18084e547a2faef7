"""A judge that is always right: it knows the answer of each question and finds its evidence in the prompt."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from standin.messages_api import Asked, Script
from standin.replies import Reply, message, said
from standin.rooms import each, meant

_NUMBERED = re.compile(r"^\[(\d+)\] (.*)$", re.MULTILINE)
_NAME = re.compile(r"\b[A-Z][a-z]{2,}\b")


@dataclass(frozen=True)
class Known:
    """The known answer of a question.

    Attributes:
        answer: that is right; empty where nobody said it.
        words: of the sentences that it rests on, all of which have to be shown.
        way: through the facts, names in the order in which a path meets them; the last is the answer's.
        about: names that the question is about.
        parts: texts that are worth looking for.
    """

    answer: str = ""
    words: tuple[str, ...] = ()
    way: tuple[str, ...] = ()
    about: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()


def perfect(known: Mapping[str, Known], facts: Mapping[str, Mapping[str, Any]] | None = None) -> Script:
    """Return a script that does right in every room, by the question, and reads facts where some words stand."""

    def reads(asked: Asked) -> Reply:
        told = [
            {"line": int(number), **fact}
            for number, text in _NUMBERED.findall(asked.text)
            for words, fact in (facts or {}).items()
            if words in text
        ]
        return message(json.dumps({"facts": told}))

    def understands(asked: Asked) -> Reply:
        one = known.get(asked.question, Known())
        return meant(names=list(one.about), parts=list(one.parts))

    def answers(asked: Asked) -> Reply:
        one = known.get(asked.question, Known())
        lines = {words: [n for n, line in asked.lines.items() if words in line] for words in one.words}
        numbers = tuple(dict.fromkeys(number for found in lines.values() for number in found[:2]))
        if one.answer and all(lines.values()):
            return said(one.answer, numbers, **_points(asked))
        missing = tuple(words for words, found in lines.items() if not found)
        return said(
            supports=numbers,
            missing=missing or ("all of it",),
            look_for=list(missing),
            names=list(one.way),
            **_points(asked),
        )

    return each(question=understands, answer=answers, reading=reads)


def _points(asked: Asked) -> dict[str, Any]:
    """Return a memory point of the names in the evidence, where the form has points and none is there."""
    form = asked.body["output_config"]["format"]["schema"]["properties"]
    grounds = [number for number in asked.lines if number.startswith("S")]
    names = list(dict.fromkeys(_NAME.findall(" ".join(asked.lines[number] for number in grounds))))[:2]
    if "points" not in form or len(names) < 2 or any(number.startswith("P") for number in asked.lines):
        return {}
    made = {"of": [], "entities": names, "description": "They belong together.", "supports": grounds, "concern": ""}
    return {"points": [made]}
