"""Read parts of a note that go on from what its sentence told before: "kept 35 days", "(was 20)", "Saskia does it".

They have no head of their own; it is that of the last fact, of the topic, or of the part before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from mcp_memory.rules.facts.verbs import inflection
from mcp_memory.rules.facts.work_phrases import Part, WorkFact, fact_of, thing
from mcp_memory.rules.facts.work_values import ADDRESS, AMOUNT, is_address, is_command, is_tool

_FORMER = re.compile(
    r"(?:up\sfrom|down\sfrom|not|was|(?:it\s)?used\sto\sbe|it\swas|previously|formerly|instead\sof|before\sit\swas"
    r"|before)"
    rf"\s(?P<old>{AMOUNT})(?=\s|$).{{0,20}}",
    re.I,
)
_NOW_IT_IS = re.compile(rf"(?:now\s)?it(?:['’]s|\sis)(?:\snow)?\s(?P<value>{AMOUNT})(?:\snow)?[.!]*", re.I)
_KEPT = re.compile(
    rf"(?:(?:they\sare|it['’]?s|we)\s)?(?:kept|retained|keep\sthem|stored)\s(?:for\s)?(?P<value>{AMOUNT})", re.I
)
_FOR_OTHERS = re.compile(
    rf"(?:and\s)?(?:for\s)?(?P<whom>[a-z][\w-]{{2,20}}(?:\s[a-z][\w-]{{2,20}})?)\s(?P<value>{AMOUNT})", re.I
)
_DOES_IT = re.compile(
    r"(?P<who>[A-Z][\w'’-]{1,20}|I|me)(?:['’]s|\sis|['’]ll|\swill)?\s(?:does|do|handles?|owns?|leads?|takes|take"
    r"|takes\scare\sof|maintains?|responsible\sfor"
    r"|on|renews?|runs?|owner\sof|handling|doing)\s(?:it|that|this|that\sone|this\sone|them)[.!]*"
)
_AN_ADDRESS = re.compile(
    rf"(?:(?:on|at|in|under)\s)?(?P<value>`[^`\s]{{1,160}}`|{ADDRESS})(?:\s(?:because|since"
    rf"|as)\s(?P<why>.{{5,100}}))?[.!]*",
    re.I,
)
_A_COMMAND = re.compile(
    r"(?:run|start|build|test|deploy)?\s?(?:it\s|them\s)?(?:with|via|using)?\s?(?P<command>`[^`\n]{2,120}`)[.!]*", re.I
)
_IN_OR_OUT = re.compile(
    r"(?P<tool>[\w.+#-]{2,30}(?:\s[\w.]{1,12})?)\s(?:is\s|are\s)?(?P<how>in|out|gone|removed|dead|retired)[.!]*", re.I
)
_COUNTED = re.compile(
    rf"(?:we\s(?:run|have|use|keep|need|allow)\s)?(?P<value>\d{{1,4}})\s(?P<head>retries|attempts|replicas|workers"
    rf"|approvals"
    rf"|reviewers)(?:\swith\s(?:a\s)?(?P<second>{AMOUNT})\s(?P<other>delay|timeout|time-out|backoff|interval"
    rf"|pause))?[.!]*",
    re.I,
)


def followups(part: Part, previous: Part | None, before: Sequence[WorkFact]) -> Iterator[WorkFact]:
    """Yield what a part states of the thing that its sentence has told of.

    Args:
        part: of the sentence.
        previous: the part before it.
        before: the facts of the parts before it, in order.
    """
    last = before[-1] if before else None
    settings = [fact for fact in before if fact.relation == "set_to" and fact.effect != "end"]
    if settings and (match := _FORMER.fullmatch(part.text)):
        if match["old"] != settings[-1].tail:
            yield fact_of(part, settings[-1].head, "set_to", match["old"], "end")
    elif (ended := [fact for fact in before if fact.relation == "set_to"]) and (
        match := _NOW_IT_IS.fullmatch(part.text)
    ):
        yield fact_of(part, ended[-1].head, "set_to", match["value"], "begin")
    elif settings and (match := _KEPT.fullmatch(part.text)):
        yield fact_of(part, settings[-1].head, "set_to", match["value"])
    elif (
        settings
        and part.after != "?"
        and (match := _FOR_OTHERS.fullmatch(part.text))
        and thing(match["whom"])
        and inflection(match["whom"].split()[0]) is None
    ):
        whom, head = thing(match["whom"]), re.split(r"\s(?:for|per)\s", settings[-1].head)[0]
        if len(whom.split()) == 1 and whom.endswith("s") and _kind(settings[-1].tail) >= _kind(match["value"]):
            yield fact_of(part, f"{head} for {whom}", "set_to", match["value"])
    elif last and previous and last.end >= previous.start and (match := _DOES_IT.fullmatch(part.text)):
        who = match["who"]
        yield fact_of(part, last.head, "owned_by", "" if who in ("I", "me") else who)
    elif part.before == "(" and previous and re.search(r"\d", part.text) and is_tool(part.text):
        if head := thing(previous.text):
            yield fact_of(part, head, "uses", part.text)
    elif part.before == "," and last and previous and last.end == previous.end and last.tail == previous.text:
        if re.search(r"\d", part.text) and is_tool(part.text):  # "(Node 20, pg 8.11)"
            yield fact_of(part, last.head, "uses", part.text)
    elif match := _AN_ADDRESS.fullmatch(part.text):
        value = match["value"].strip("`")
        head = (
            (last.head if last and last.relation != "uses" else "")
            or part.topic
            or (_end_of(previous) if part.before == "(" else "")
        )
        if head and is_address(value) and not (last and last.relation == "located_at" and part.before != "("):
            yield fact_of(part, head, "located_at", value)
            if match["why"]:
                yield fact_of(part, head, "because", match["why"].strip(" ."))
    elif (last or part.topic) and (match := _A_COMMAND.fullmatch(part.text)):
        command = match["command"].strip("`")
        if is_command(command, quoted=True):
            yield fact_of(part, last.head if last else part.topic, "has_command", command)
    elif (match := _IN_OR_OUT.fullmatch(part.text)) and is_tool(match["tool"]):
        yield fact_of(
            part, part.topic or "the project", "uses", match["tool"], "begin" if match["how"] == "in" else "end"
        )
    elif match := _COUNTED.fullmatch(part.text):
        yield fact_of(part, match["head"], "set_to", match["value"])
        if match["second"]:
            yield fact_of(part, match["other"], "set_to", match["second"])


def _kind(value: str) -> frozenset[str]:
    """Return the letters of a value's unit, so that "600" and "600 req/min" may follow "120 req/min"."""
    return frozenset(re.findall(r"[a-z%€$£]+", value.lower()))


def _end_of(previous: Part | None) -> str:
    """Return the name at the end of the part before: "… it's GlitchTip" gives GlitchTip."""
    if previous is None:
        return ""
    last = previous.text.split()[-1].strip("`.,:")
    return last if is_tool(last) else ""
