"""Read the dates of things from notes without a clause: "release 5.2 on the 27th", "retro every second Friday".

What a clause states ("the report is due on Friday") is read in ``appointments.py``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from mcp_memory.domain.times import BEGINNING, DAY, FOREVER, StatedTime
from mcp_memory.language.vocabulary import word_set
from mcp_memory.rules.facts.appointments import DATED_THINGS
from mcp_memory.rules.facts.verbs import inflection
from mcp_memory.rules.facts.work_phrases import HEAD, Part, WorkFact, fact_of, thing
from mcp_memory.rules.facts.work_settings import is_third_person

_DATED = DATED_THINGS | word_set("go-live downtime pilot hackathon offsite retrospective planning cutoff beta")
_BEFORE_DATE: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (relation, re.compile(pattern, re.I))
    for relation, pattern in (
        ("due_on", rf"{HEAD}\s(?:is\s|are\s)?due(?:\s(?:on|by|until|at))?"),
        ("due_on", rf"(?:the\s)?(?:deadline|due\sdate)\s(?:for|of)\s{HEAD}(?:\sis|\s?[:=])(?:\s(?:now|on|by))?"),
        ("due_on", rf"{HEAD}\s(?:deadline|due\sdate)(?:\sis|\s?[:=])(?:\s(?:now|on|by))?"),
        ("scheduled_for", rf"{HEAD}\s(?:goes?\s(?:live|out)|launches|ships|is\s(?:planned"
        rf"|scheduled)\sfor)(?:\s(?:on|in|at))?"),
        ("ends_on", rf"{HEAD}\s(?:expires?|runs?\sout|ends?)(?:\s(?:on|at|in|by))?"),
        ("starts_on", rf"{HEAD}\s(?:starts?|begins?|kicks?\soff)(?:\s(?:on|at|in))?"),
        ("scheduled_for", rf"(?:(?:we(?:['’]re|\sare)|i['’]m)\s)?(?:releasing|shipping|deploying|launching"
        rf"|rolling\sout)\s{HEAD}(?:\s(?:to|on|in)\s(?:prod|production|staging))?(?:\s(?:on|in|at))?"),
        ("scheduled_for", rf"{HEAD}(?:\s(?:is|moved\sto|is\smoved\sto|was\smoved\sto|is\sset\sfor)"
        rf"|\s?[:=])?(?:\s(?:on|at|in))?"),
    )
)  # fmt: skip


def _is_past(word: str) -> bool:
    form = inflection(word)
    return form is not None and "past" in form.forms and "plain" not in form.forms


_UNTIL = re.compile(
    rf"{HEAD}(?:\s(?:is|are))?(?:\s(?:valid|good|open|available|welcome|paid|extended|booked))(?:\suntil)?", re.I
)
_EVERY = re.compile(
    rf"{HEAD}(?:\s(?:is|are|takes\splace|happens?|runs?|(?:is|are)\s(?:run|made|taken|done|sent|reset|generated|rotated)))?:?\s"
    rf"(?P<when>(?:at\s)?\d{{1,2}}[:.]\d\d(?:\s?[ap]m)?\s(?:on|every|each)\s\w+(?:\s\w+)?|(?:always\s)?(?:(?:every|each)\s\w+(?:\s\w+)?|daily"
    rf"|weekly|monthly"
    r"|biweekly|on\s\w+days|(?:mon|tues|wednes|thurs|fri|satur|sun)days?)?,?(?:\s?(?:at\s)?\d{1,2}[:.]\d\d"
    r"|\s?at\s\d{1,2}(?:\s?[ap]m)?)?)[.!]*",
    re.I,
)


def recurring_facts(part: Part) -> Iterator[WorkFact]:
    """Yield when a meeting takes place that recurs: "retro every second Friday", "standup is at 9:30"."""
    match = _EVERY.fullmatch(part.text)
    head = thing(match["head"]) if match and match["when"] else ""
    if match and head and head.split()[-1].lower() in _MEETINGS | _ROUTINES:
        when = re.sub(r"^(?:at|on|always)\s", "", match["when"].strip(" ,"))
        if len(when) > 2:
            yield fact_of(part, head, "scheduled_for", when)


_ROUTINES = word_set(
    "backup backups invoice invoices report reports newsletter newsletters payroll digest cleanup database job jobs"
    " cron sync syncs export exports import imports statistics batch"
)
"""What is done again and again, "backups run every night at 02:30"."""
_MEETINGS = word_set(
    "standup stand-up retro retrospective planning sync meeting review call demo"
    " refinement grooming daily weekly jour fixe"
)


def date_facts(part: Part, times: Sequence[StatedTime], text: str) -> Iterator[tuple[WorkFact, StatedTime]]:
    """Yield the date of a thing that a note without a clause gives, with the time that it states.

    Args:
        part: of a sentence.
        times: that the sentence states.
        text: of the turn.
    """
    inside = [time for time in times if part.start <= time.start and time.end <= part.end]
    if not inside or inside[0].until >= FOREVER or inside[0].grain in ("year", "decade", "century"):
        return
    time = inside[0]
    before, after = text[part.start : time.start].rstrip(), text[time.end : part.end].strip(" .!")
    if time.since <= BEGINNING:  # "valid until 4 May"
        match = _UNTIL.fullmatch(before)
        if match and (head := thing(match["head"])):
            last = replace(time, since=time.until - DAY)
            yield (
                fact_of(
                    part, head, "ends_on", re.sub(r"^(?:until|till)\s", "", text[time.start : time.end]), "planned"
                ),
                last,
            )
        return
    if after and not re.match(r"(?:at|in|with|for|by|before|after|incl|inclusive|latest|\d)\b", after):
        return
    span = re.search(r"\s(?:to|until|till)\s|\s?[–-]\s?", text[time.start : time.end])
    for number, (relation, pattern) in enumerate(_BEFORE_DATE):
        match = pattern.fullmatch(before)
        head = thing(match["head"]) if match else ""
        if not head or not match or head.lower() in ("deadline", "due date"):
            continue
        if any(is_third_person(word) or _is_past(word) for word in head.split()[1:-1]):
            return  # "my nephew Timo starts school in September"
        noun = re.split(r"\s(?:of|for|with|to)\s", head)[0].split()[-1].lower()
        first_dated = head.split()[0].lower() in ("release", "sprint") and not head.endswith("ed")  # "sprint ended"
        if number == len(_BEFORE_DATE) - 1 and noun not in _DATED and not first_dated:
            return
        tail = text[time.start : time.end]
        yield fact_of(part, head, relation, re.sub(r"^(?:on|by|in|at|until|for)\s", "", tail), "planned"), time
        if span and time.until - time.since > DAY:
            yield fact_of(part, head, "ends_on", tail[span.end() :], "planned"), replace(time, since=time.until - DAY)
        return
