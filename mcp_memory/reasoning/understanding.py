"""Claude as the reader of questions: interpret a question before recall starts (DESIGN L4).

It sees the question and the speakers of the space, and returns the entities, relations, intent and time that the
question is about, and the intermediate facts to find (REAL §III-B1, MRAgent's cues). What does not fit is dropped: a
name means an entity only if the space has one of that name, and parts are texts to search for, never to answer with.
So a wrong reply changes what is searched and its order, never the content: measured with the parts of other questions,
it costs 1 to 4 points of recall in dialogues and none in documents. It is asked once.

**Departures.** REAL has an intent per root; ours is one for the whole question. Its dialogue history is not shown: a
question is read by itself. Its relation schema (§III-B1) is the registry, not the relations of the space: its writers
name those, and there may be thousands.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from functools import cache, partial
from itertools import islice
from typing import Annotated

from pydantic import AfterValidator

from mcp_memory.domain.entities import entity_key
from mcp_memory.domain.facts import Intent
from mcp_memory.domain.query import Constraint, Query
from mcp_memory.domain.relations import relations
from mcp_memory.domain.times import BEGINNING, FOREVER, Millis
from mcp_memory.language import iso
from mcp_memory.language.stated import weekday_and_day
from mcp_memory.reasoning.client import Budget, Claude, Form, delimit, prompt_line
from mcp_memory.texts import prompt

MOST_NAMES = 6
"""Most names that are taken from a reply."""
MOST_RELATIONS = 4
"""Most relations that are taken from it."""
MOST_PARTS = 3
"""Most parts that are taken from it; each costs one more search."""
PART_CHARS = 200
"""Length of a part; a longer one is dropped."""
SHOWN_SPEAKERS = 12
"""Speakers that are shown, the first of the space."""
QUESTION_CHARS = 1_000
"""Characters of a question that are shown: a longer one is a text, and is billed twice."""


def _bounded(texts: list[str]) -> list[str]:
    if len(texts) > 12 or any(len(text) > 400 for text in texts):
        raise ValueError("at most 12 items of at most 400 characters")
    return texts


_Texts = Annotated[list[str], AfterValidator(_bounded)]  # not as bounds of the schema, of which every word is paid for


class MeaningForm(Form):
    """A meaning."""  # sent with the schema; what the fields mean is said in the prompt, once

    names: _Texts
    relations: _Texts
    intent: Intent
    since: str
    until: str
    uncertain: bool
    parts: _Texts


async def understand_question(
    claude: Claude,
    query: Query,
    speakers: Collection[str],
    held: Collection[str],
    span: tuple[Millis, Millis] | None,
    budget: Budget,
) -> Query:
    """Return a query with Claude's interpretation.

    It is told who speaks in the space, what that holds (``conversations``, ``documents``), and when the first and the
    last of it was said.

    Raises:
        EngineError: Claude returned nothing usable.
    """
    names = [name for speaker in islice(speakers, SHOWN_SPEAKERS) if (name := prompt_line(speaker, 60))]
    values = {
        "question": prompt_line(query.text, QUESTION_CHARS),
        "now": iso.show(query.now, query.offset) or "unknown",
        "speakers": delimit(f"[P{number}] {name}" for number, name in enumerate(names, 1)) if names else "none",
        "known": _contents_line(held, span),
    }
    asked = prompt("question/asked.txt").substitute(values)
    system, use = _system_prompt(), partial(with_meaning, query)
    return await claude.ask(system, asked, MeaningForm, use, budget, sent_back=False)


def with_meaning(query: Query, reply: MeaningForm) -> Query:
    """Return a query with what a reply adds to it, without the reply's invalid parts.

    Everything parsed from the words of the question stays: a model is right about most of these too, but the words are
    certain, and the memory was measured with them. So it only adds a time if the words give none, further names,
    parts, and that guesses are wanted. For relations and the intent the words give only hints, and in
    the paper a model names them: both are taken over, but for the intent FACT, which restricts nothing.
    """
    registry = relations()
    known = {relation.name for relation in registry}
    named = dict.fromkeys(registry.name(name) for name in reply.relations)
    own = {entity_key(name) for name in ("", *query.names, *query.speakers)}
    names: dict[str, str] = {}
    for name in _distinct_lines(reply.names, MOST_NAMES):
        if (key := entity_key(name)) not in own:
            names.setdefault(key, name)
    parts = _distinct_lines((part for part in reply.parts if len(part) <= PART_CHARS), MOST_PARTS)
    return replace(
        query,
        time=query.time or _time(reply.since, reply.until),
        extra_names=tuple(names.values()),
        relations=tuple(islice((name for name in named if name in known), MOST_RELATIONS)),
        intent=None if reply.intent == "FACT" else reply.intent,
        include_uncertain=query.include_uncertain or reply.uncertain,
        parts=(*query.parts, *map(Query, parts)),
    )


@cache
def _system_prompt() -> str:
    """Return the constant part of each call: the task and the relations, one of each pair of inverses."""
    listed: dict[str, None] = {}
    for known in relations():
        if known.inverse not in listed:
            listed[known.name] = None
    return prompt("question/system.txt").substitute(relations=" ".join(listed)).strip()


def _contents_line(held: Collection[str], span: tuple[Millis, Millis] | None) -> str:
    """Return what the space holds, and from when to when, in words."""
    what = f"The memory holds {' and '.join(held) or 'nothing'}"
    if span is None:
        return f"{what}."
    first, last = map(weekday_and_day, span)
    return f"{what}, from {first} to {last}."


def _distinct_lines(texts: Iterable[str], most: int) -> tuple[str, ...]:
    """Return the texts that hold letters or digits, each on one line and once."""
    lines = (line for text in texts if (line := prompt_line(text)) and any(char.isalnum() for char in line))
    return tuple(islice(dict.fromkeys(lines), most))


def _time(since: str, until: str) -> Constraint | None:
    """Return the interval between two dates, one of which may be empty; None if it is invalid."""
    try:
        start = iso.parse(since)[0] if since.strip() else BEGINNING  # what is no date is no time, however long it is
        end = iso.parse(until)[1] if until.strip() else FOREVER
    except (ValueError, OverflowError):
        return None
    time = Constraint("within", start, end, "day")
    return time if time.dated and start < end else None
