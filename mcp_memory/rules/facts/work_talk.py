"""Read facts of work memory from a sentence of a message, and give them their times (DESIGN 1.2).

The forms stand in `work_notes` (notes of a thing and its value) and `work_decisions` (what is used, chosen, decided and
replaced). They look at parts of a sentence and not at clauses, since notes have none; what a clause states as well is
taken from there (``extractor.py``).

**Dates** of things are read from notes without a clause: "release 5.2 on the 27th", "retro every second Friday". What a
clause states ("the report is due on Friday") is read in ``appointments.py``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.relations import relations
from mcp_memory.domain.times import BEGINNING, DAY, FOREVER, Millis, StatedTime
from mcp_memory.domain.turns import Turn, speaker
from mcp_memory.heap import text_cache
from mcp_memory.language.stated import stated_times
from mcp_memory.language.vocabulary import RELATIVES, word_set
from mcp_memory.rules.facts.appointments import DATED_THINGS, in_calendar
from mcp_memory.rules.facts.claims import make_assertion
from mcp_memory.rules.facts.rows import rows
from mcp_memory.rules.facts.tables.tools import WORK_WORDS
from mcp_memory.rules.facts.validity import Validity, before_telling, from_utterance, precision_of
from mcp_memory.rules.facts.verbs import inflection
from mcp_memory.rules.facts.work_decisions import change_facts, choice_facts, role_facts, use_facts
from mcp_memory.rules.facts.work_notes import NOTES, OF_WORDS
from mcp_memory.rules.facts.work_phrases import HEAD, SUPPOSED, Part, WorkFact, fact_of, parts, thing
from mcp_memory.rules.facts.work_settings import former_facts, is_third_person, of_a_program, scoped
from mcp_memory.rules.facts.work_values import is_about_work, is_tool

_DATED_WORK = DATED_THINGS | word_set(
    "install installation availability ga rc go-live downtime pilot hackathon offsite retrospective planning cutoff"
)
_BEFORE_DATE: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (relation, re.compile(pattern, re.I))
    for relation, pattern in (
        ("due_on", rf"{HEAD}\s(?:is\s|are\s)?due(?:\s(?:on|by|until|at))?"),
        (
            "due_on",
            rf"(?:the\s)?(?:deadline|due\sdate)\s(?:for|of)\s{HEAD}(?:\sis|\s?[:=])(?:\s(?:now|on|by|the)){{0,2}}",
        ),
        ("due_on", rf"{HEAD}\s(?:deadline|due\sdate)(?:\sis|\s?[:=])(?:\s(?:now|on|by|the)){{0,2}}"),
        ("scheduled_for", rf"{HEAD}\s(?:goes?\s(?:live|out)|launches|ships|is\s(?:planned"
        rf"|scheduled)\sfor)(?:\s(?:on|in|at))?"),
        ("ends_on", rf"{HEAD}\s(?:expires?|runs?\sout|ends?)(?:\s(?:on|at|in|by))?"),
        ("starts_on", rf"{HEAD}\s(?:starts?|begins?|kicks?\soff)(?:\s(?:on|at|in))?"),
        ("scheduled_for", rf"(?:(?:we(?:['’]re|\sare)|i['’]m)\s)?(?:releasing|shipping|deploying|launching"
        rf"|rolling\sout)\s{HEAD}(?:\s(?:to|on|in)\s(?:prod|production|staging))?(?:\s(?:on|in|at))?"),
        ("scheduled_for", rf"{HEAD}(?:['’]s|\s(?:is|will\sbe|moved\sto|is\smoved\sto|was\smoved\sto|is\sset\sfor"
        r"|moves\sto|shifts\sto|slips\sto)"
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
    r"|nightly|hourly|biweekly|on\s\w+days|(?:mon|tues|wednes|thurs|fri|satur|sun)days?)?,?(?:\s?(?:at\s)?\d{1,2}[:.]\d\d"
    r"|\s?at\s\d{1,2}(?:\s?[ap]m)?)?)(?:\s(?:UTC|CET|GMT))?(?:\s(?:to|into|in|on)\s(?:the|our|a)\s[\w\s-]{2,50})?[.!]*",
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
        part: the part of a sentence.
        times: the times that the sentence states.
        text: the text of the turn.
    """
    end = part.end + (text[part.end : part.end + 1] == ".")  # that of "June." may belong to the month
    inside = [time for time in times if part.start <= time.start and time.end <= end]
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
    if after and not re.match(r"(?:at|in|with|for|by|before|after|as|incl|inclusive|latest|\d)\b", after):
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
        if noun in RELATIVES:
            return  # "my sister starts on 3 May"
        first_dated = head.split()[0].lower() in ("release", "sprint") and not head.endswith("ed")  # "sprint ended"
        if number == len(_BEFORE_DATE) - 1 and noun not in _DATED_WORK and not first_dated:
            return
        tail = text[time.start : time.end].rstrip(".")
        yield fact_of(part, head, relation, re.sub(r"^(?:on|by|in|at|until|for)\s", "", tail), "planned"), time
        if span and time.until - time.since > DAY:
            yield fact_of(part, head, "ends_on", tail[span.end() :], "planned"), replace(time, since=time.until - DAY)
        return


_NEEDS_WORK = frozenset(("decided", "decided_against", "leads", "owned_by", "has_version", "has_branch"))
"""Relations that are read only from messages about work: people decide and own much else."""


def work_assertions(turn: Turn, index: int, span: tuple[int, int], times: Sequence[StatedTime]) -> Iterator[Assertion]:
    """Yield what a sentence of a message tells about work.

    Args:
        turn: the message.
        index: the index of the sentence.
        span: the span of the sentence, in characters.
        times: the times that the sentence states.
    """
    who = speaker(turn)
    if who is None or turn.kind != "message":
        return
    about_work = is_about_work(turn.text) or bool(_OWNER.search(turn.text, *span))
    read = list(_of_parts(turn, index, span, times, who, about_work))
    labelled = _labelled(turn.text, *span, about_work)
    if labelled and all(one.relation == "set_to" and labelled.tail.startswith(one.tail) for one in read):
        yield _assertion(turn, index, labelled, [])
    else:
        yield from read


def _of_parts(
    turn: Turn, index: int, span: tuple[int, int], times: Sequence[StatedTime], who: str, about_work: bool
) -> Iterator[Assertion]:
    """Yield what the parts of a sentence tell about work."""
    text, (start, end) = turn.text, span
    earlier: list[WorkFact] = []
    previous: Part | None = None
    told = False
    for part in parts(text, start, end, times or ahead_of(turn, span), work=about_work):
        read_whole = previous is not None and told and part.end == previous.end
        if part.sure <= 0 or read_whole:
            continue
        found = list(_read(part, text, end, who, earlier))
        for fact in found:
            if fact.relation in _NEEDS_WORK and not about_work:
                continue
            yield _assertion(turn, index, fact, _times_of(turn, span, part, times))
        if not found:
            dated = list(date_facts(part, ahead_of(turn, span), text))
            for fact, time in dated:
                yield _dated(turn, index, fact, time)
            found = [fact for fact, _ in dated] or list(recurring_facts(part))
            if not dated:
                yield from (_assertion(turn, index, fact, []) for fact in found)
        earlier += found
        previous, told = part, bool(found)


_LABELLED = re.compile(
    r"\W*(?P<head>[\w#`/.-]{2,20}(?:\s[\w#`/.-]{1,20}){0,6})\s?:\s(?P<value>[^.;:!?\n]{2,90}(?:\.\d+)?)[.!]*\s*"
)
_NO_LABEL = word_set(
    "correction decision decided motion proposal plan plans incident found hired bug cause reason news finding findings"
    " update question answer issue problem todo note notes reminder idea summary result results example warning status"
    " option options alternative vote wish thought thoughts maybe suggestion pro pros con cons agenda topic topics"
    " request feedback tbd blocker risk risks goal aim recap context background reply today's yesterday's rumour joke"
    " it me us again too edit fyi ps tldr done fix docs next today yesterday tomorrow date deadline time"
)
_STATED = re.compile(
    r"\b(?:I|we|you|he|she|it|they|is|are|was|were|has|have|had|will|would|can|could|should|must|not|what|who|let"
    r"|does|owns|handles|covers|takes|gets|wants|needs|says|goes|today|tomorrow|yesterday|tonight|\w+day|\w{3,}ing)\b"
    r"|['’](?:s|re|m|ve|ll|d)\b|\bn['’]t\b|→|->|`|/|\bwent\b",
    re.IGNORECASE,
)
"""Signs of a clause, or of a value that a form of its own reads."""


def _labelled(text: str, start: int, end: int, about_work: bool) -> WorkFact | None:
    """Return the value of "retention: raw rows 30 days", a sentence that is a label and what stands behind it."""
    match = _LABELLED.fullmatch(text, start, end)
    if match is None or SUPPOSED.match(match["head"]):
        return None
    if _STATED.search(match["value"]) or _STATED.search(match["head"]):
        return None
    head, words = thing(match["head"]), match["value"].split()
    last = head.split()[-1].lower() if head else ""
    if not (about_work or ("subject", last) in rows()):
        return None
    alone = " " not in head and head[:1].isupper() and last not in WORK_WORDS  # a name or a heading
    said = any(word[0].isupper() or word[0].isdigit() or is_tool(word.strip(",")) for word in words)
    if not head or not said or _NO_LABEL & {last, head.split()[0].lower()} or alone or not 1 < len(words) < 14:
        return None
    return WorkFact(head, "set_to", match["value"].rstrip(" ."), match.start("head"), match.end("value"))


_SAID_AGAIN = frozenset(
    ("did", "lives_in", "located_in", "works_at", "plays_for", "named", "owns", "responsible_for", "leads")
)
"""Relations that a clause or a note states of the words of which the forms of work state something more exact."""
_DATES = frozenset(("scheduled_for", "due_on", "starts_on", "ends_on"))


_OWNER = re.compile(r"\bowner\b|\bon-?\s?call\b|\breviewer\b|\bstand-in\b|\bmaintainer\b|\bversion\b|\bbranch\b", re.I)
_VALUED = re.compile(
    r"[\d`:=/]|\s--?\w|\w\.\w|\b(?:branch|server|box|pod|cluster|machine|vm|host|node|wiki|repo|vault|bucket|folder|drive"
    r"|s3|figma|notion|confluence|github|gitlab)\b",
    re.I,
)
"""Signs without which a part has no address, command, branch or version."""


def with_work(read: Sequence[Assertion], work: Sequence[Assertion]) -> list[Assertion]:
    """Return the assertions of a sentence with those about work, each thing once.

    Args:
        read: what its clauses and other forms state; a date of a thing that they give stands.
        work: what the forms of work state; it stands for what a clause reads of the same words.
    """
    dated = {one.relation for one in read}
    kept = [one for one in work if not (one.relation in _DATES and one.relation in dated)]
    stands = [one for one in read if not (one.relation == "set_to" and of_a_program(one.head))]
    stands = [one for one in stands if one.relation != "lives_in" or not is_tool(one.tail)]  # "we left Heroku"
    return [one for one in stands if not any(_is_same(one, other) for other in kept)] + kept


def with_scopes(turn: Turn, end: int, read: Iterable[Assertion]) -> list[Assertion]:
    """Return the assertions of a sentence of a message, settings with where they hold (`work_settings.scoped`)."""
    settled = (scoped(turn.text, one, end) if one.relation == "set_to" else one for one in read)
    return [one for one in settled if one is not None]


def _is_same(one: Assertion, other: Assertion) -> bool:
    if other.relation in _DATES or one.start >= other.end or other.start >= one.end:
        return False
    if one.relation == other.relation == "uses" and is_tool(one.tail):
        return one.tail.casefold() in other.tail.casefold()
    if one.relation in _SAID_AGAIN or one.tail.casefold() == other.tail.casefold():
        return True
    return one.relation == other.relation or relations().get(one.relation).cardinality == "unknown"


_TASK = re.compile(
    r"(?P<who>[A-Z][\w'’-]{1,20}|I)\s(?=(does\s|do\s|handles\s|covers\s|the\s|our\s)?)"
    r"(?P<does>does\s|do\s|handles\s|covers\s)?(?:the\s|our\s)?"
    r"(?P<head>[\w./#-]{2,30}(?:\s[\w./#-]{2,30}){0,2})[.!]*"
)
"""An item of a list of who does what: "Kim does ingest, Lea the docs"."""
_MORE_TASKS = re.compile(r"[,;]?\s(?:and\s)?[A-Z][\w'’-]+\s(?:does|handles|covers|the|our)\s")


def _read(part: Part, text: str, end: int, who: str, earlier: Sequence[WorkFact]) -> Iterator[WorkFact]:
    """Yield the facts of the first form that fits a part."""
    if former := list(former_facts(part, earlier)):
        yield from former
        return
    listed = bool(earlier) and earlier[-1].relation == "owned_by"
    task = _TASK.fullmatch(part.text)
    if task and task["does"]:
        listed = listed or _MORE_TASKS.match(text, part.end, end) is not None
    if task and listed and task[2] and not is_tool(task["who"]):
        if head := thing(task["head"]):
            yield fact_of(part, head, "owned_by", who if task["who"] == "I" else task["who"])
        return
    for decisions in (change_facts, choice_facts, use_facts):
        if found := list(decisions(part, text, end, who)):
            yield from found
            return
    for notes in NOTES if _VALUED.search(part.text) else OF_WORDS:
        if found := list(notes(part, who)):
            yield from found
            return
    if part.work:
        yield from role_facts(part, text, end)


_DATED = re.compile(r"\d|day\b|tomorrow|week|month|end of|(?:uar|ri|pril|ember|ober|une|uly|ugust)", re.I)
"""Signs without which a sentence states no day."""


@text_cache(4)
def _ahead(text: str, said_at: Millis, span: tuple[int, int]) -> tuple[StatedTime, ...]:
    return stated_times(text, said_at, *span, tense=1)


def ahead_of(turn: Turn, span: tuple[int, int]) -> tuple[StatedTime, ...]:
    """Return the times of a note without a verb, which announces what is to come: "the 27th" is the next one."""
    return _ahead(turn.text, turn.local_time, span) if _DATED.search(turn.text, *span) else ()


def _times_of(turn: Turn, span: tuple[int, int], part: Part, times: Sequence[StatedTime]) -> list[StatedTime]:
    """Return the times stated in a part."""
    for stated in (times, ahead_of(turn, span)):
        inside = [time for time in stated if time.start < part.end and part.start < time.end]
        leading = [time for time in stated if time.end <= part.start < time.end + 16 and _starts(turn, time)]
        if stated is times and (inside or leading):
            return inside or leading
    return [time for time in inside if _starts(turn, time)] or leading


def _starts(turn: Turn, time: StatedTime) -> bool:
    """Return whether something holds from a time on, "from 1 May", "since the 3rd"."""
    return _STARTS.match(turn.text, max(0, time.start - 8), time.end) is not None


def _assertion(turn: Turn, index: int, fact: WorkFact, times: Sequence[StatedTime]) -> Assertion:
    time = next((time for time in times if time.since > BEGINNING and time.grain != "time"), None)
    validity = from_utterance(turn.local_time)
    if fact.effect == "event":
        validity = before_telling(turn.local_time)
        if time and time.since <= turn.local_time:
            until = time.until if time.until < FOREVER else turn.local_time
            validity = Validity(
                time.since, max(until, time.since + 1), True, kind="event", precision=precision_of(time.grain)
            )
    elif time and (fact.effect in ("begin", "end") or _starts(turn, time)):
        kind = "planned" if time.since > turn.local_time else "state"
        validity = Validity(time.since, FOREVER, True, change=True, kind=kind, precision=precision_of(time.grain))  # type: ignore[arg-type]
    if fact.effect == "end":
        validity = Validity(validity.since, FOREVER, validity.stated, True, True, validity.kind, validity.precision)
    elif fact.effect == "begin" and not validity.stated:
        validity = Validity(validity.since, FOREVER, False, change=True)
    triple = fact.head, fact.relation, fact.tail
    return make_assertion(turn, index, (fact.start, fact.end), triple, validity, "FACT", fact.confidence)


_STARTS = re.compile(r".{0,9}?\b(?:since|from|as of|starting)\b", re.I)


def _dated(turn: Turn, index: int, fact: WorkFact, time: StatedTime) -> Assertion:
    kind = "planned" if time.until > turn.local_time else "event"
    validity = Validity(time.since, time.until, True, kind=kind, precision=precision_of(time.grain))  # type: ignore[arg-type]
    triple = fact.head, fact.relation, in_calendar(fact.tail, time)
    return make_assertion(turn, index, (fact.start, fact.end), triple, validity, "FACT", fact.confidence)
