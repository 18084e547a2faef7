"""Read what settings are set to: limits, defaults, time-outs, prices, intervals, with their units and former values.

"Default page size: 50", "the timeout was raised from 10 s to 30 s", "alerts fire at 80 %", "log level is debug". An
amount needs a noun of a setting (or a rate or a price as its value), a word the noun of something that is set to words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from mcp_memory.domain.facts import Assertion, restated
from mcp_memory.language.vocabulary import word_set
from mcp_memory.rules.facts.verbs import inflection
from mcp_memory.rules.facts.work_phrases import (
    GUESSED,
    HEAD,
    IS,
    NOW,
    PLAIN_VERBS,
    REST,
    Part,
    WorkFact,
    fact_of,
    owned,
    thing,
    unquoted,
)
from mcp_memory.rules.facts.work_values import AMOUNT, is_tool

SETTINGS = word_set(
    "timeout timeouts time-out limit limits max maximum min minimum size threshold thresholds retention interval"
    " ttl rate"
    " quota budget price prices cost costs fee fees delay retries retry attempts length coverage cap replicas"
    " workers width"
    " height window lifetime expiry duration resolution count limit concurrency capacity depth period cutoff"
    " padding margin"
    " memory bandwidth deposit rent salary discount tax vat indentation notice backoff cooldown debounce throttle"
    " expiration validity pool target buffer heartbeat upload uploads alert alarm sprint sprints iteration iterations"
    " cholesterol temperature weight cadence limiter freshness lag_budget rollout"
)
"""Nouns of what has an amount."""
_MEASURES = word_set(
    "height width length depth size count memory volume period duration minimum maximum min max rate target"
)
"""Nouns that measure much else as well."""
_WORDED = word_set(
    "level timezone time-zone currency encoding locale charset license licence indentation prefix suffix mode policy"
    " schedule cron theme naming convention format style"
)
"""Nouns of what has a value in words."""
_VALUE = rf"(?P<value>{AMOUNT})"
_IS_VALUE = re.compile(rf"{HEAD}{IS}{NOW}\s?{_VALUE}{REST}(?:,?\snot\s(?P<old>{AMOUNT}))?[.!]*", re.I)
_BARE = re.compile(rf"{HEAD}\s{_VALUE}", re.I)
_SPELT = re.compile(r"(?P<head>[\w./-]{1,30}(?:\s[\w./-]{1,30}){0,4}?)\s(?P<value>`[^`\n]{1,60}`)")
_IS_WORD = re.compile(
    rf"{HEAD}{IS}{NOW}\s?(?P<value>`[^`\n]{{1,60}}`|[\w#/.+<>-]{{1,50}}(?:\s[\w#/.+-]{{1,30}}){{0,4}}?)(?:\s(?:as\sof|since|from|for|because)\b.{{0,80}})?[.!]*",
    re.I,
)
_CHANGED = (
    r"(?:set|put|raised|lowered|bumped|increased|reduced|changed|cut|dropped|extended|shortened|decreased"
    r"|doubled|upped|halved)"
)
_SET = re.compile(
    r"(?:(?:we|i|they|(?-i:[A-Z]\w{1,20}))(?:['’]ve|\shave|\shas)?(?:\s(?:just|now|finally|also|then))?\s)?"
    rf"{_CHANGED}(?:\sup|\sdown)?\s{HEAD}(?:\sup|\sdown)?(?:\sfrom\s(?P<old>{AMOUNT}))?\s(?:to|at)\s{_VALUE}{REST}[.!]*",
    re.I,
)
_WAS_SET = re.compile(
    rf"{HEAD}(?:\s(?:was|were|is|are|has\sbeen|have\sbeen|got|went|goes|gets|came))(?:\s(?:now|just))?"
    rf"(?:\s(?:{_CHANGED}|up|down|moved)){{0,2}}(?:\sfrom\s(?P<old>{AMOUNT}))?\sto\s{_VALUE}{REST}[.!]*",
    re.I,
)
_AT_MOST = re.compile(r"max\.?\s(?P<value>\d[\d.,]*)\s(?P<what>[a-z]{3,20}(?:\s[a-z]{3,20}){0,3})[.!]*", re.I)
_USED_TO_BE = re.compile(rf"{HEAD}\sused\sto\sbe\s(?P<old>{AMOUNT})[.!]*", re.I)
_IMPERATIVE = re.compile(r"(?:set|put|cut)\s", re.I)
"""Verbs whose past tense is also a request."""
_INSTEAD = re.compile(rf"\s(?:instead\sof|rather\sthan|up\sfrom|down\sfrom|not)\s(?P<old>{AMOUNT})", re.I)
_ACTS_AT = re.compile(
    rf"{HEAD}\s(?:(?:fires?|triggers?|alerts?|times?\sout|expires?|caps?|is\scapped|are\scapped|kicks?\sin"
    rf"|gives?\sup)\s(?:at|after)|(?:is|are)\slimited\sto|defaults?\sto|costs?(?:\sus)?|allows?|holds?|(?:is|are)\svalid\sfor"
    rf"|expires?\sin|lives?\sfor)\s(?:now\s|about\s"
    rf"|up\sto\s)?{_VALUE}{REST}[.!]*"
    rf"|(?P<every>{HEAD.replace('head', 'what')})\s(?:run\s|runs\s|are\sdone\s|happen\s"
    rf"|is\sdone\s)?(?P<often>every\s{AMOUNT})[.!]*",
    re.I,
)
_RATED = re.compile(r"(?:/|\bper\s|\ba\s)\s?\w+$|[€$£]|\b(?:ct|cents?|euros?|eur|usd|dollars?)\b", re.I)
_OF_A_TOOL = re.compile(r"\b(?:in|of|for)\s(?P<tool>[\w.+#-]+(?:\s[\w.]+)?)$", re.I)


_OF_PRONOUN = re.compile(r"(?:he|she|it|that|this|they|there|you)\b", re.I)
"""The begin of what names no setting: "he'll cost us 380 a month"."""


def setting_facts(part: Part, speaker: str) -> Iterator[WorkFact]:
    """Yield the value of a setting, and the value that it no longer has."""
    if _IMPERATIVE.match(part.text):
        return
    if ended := _USED_TO_BE.fullmatch(part.text):
        if head := _setting(ended["head"], part, speaker, bare=False):
            yield fact_of(part, head, "set_to", ended["old"], "end")
        return
    changed = next((match for pattern in (_SET, _WAS_SET) if (match := pattern.fullmatch(part.text))), None)
    match = changed or _ACTS_AT.fullmatch(part.text) or _IS_VALUE.fullmatch(part.text) or _BARE.fullmatch(part.text)
    if match is None and (most := _AT_MOST.fullmatch(part.text)) and (noun := thing(most["what"])):
        yield fact_of(part, f"max {noun}", "set_to", most["value"])
    elif match is None:
        yield from _worded(part, speaker)
    if match is None:
        return
    groups = match.groupdict()
    if groups.get("often"):
        name = thing(groups["what"])
        if name and (name.split()[-1].endswith("s") or name.split()[-1].lower() in SETTINGS):
            yield fact_of(part, name, "set_to", groups["often"])
        return
    value = unquoted(match["value"])
    said_so = match.re is _ACTS_AT or (match.re is not _BARE and bool(_RATED.search(value)))
    head = (said_so and owned(match["head"], part, speaker)) or _setting(
        match["head"], part, speaker, bare=match.re is _BARE
    )
    if head and _OF_PRONOUN.match(head):
        return
    if not head:
        yield from _worded(part, speaker)
        return
    effect = "begin" if changed or " now" in part.text.lower() else "state"
    yield fact_of(part, head, "set_to", value, effect)
    rest = match.groupdict().get("rest") or ""
    former = match.groupdict().get("old") or ((old := _INSTEAD.match(rest)) and old["old"])
    if former and former != value:
        yield fact_of(part, head, "set_to", former, "end")
    if reason := re.search(r"\bbecause\s(?:of\s)?(?P<why>.{5,80})$", rest):
        yield fact_of(replace(part, sure=part.sure * GUESSED), head, "because", reason["why"].strip(" .!"))


_FORMER = re.compile(
    r"(?:up\sfrom|down\sfrom|not|was|(?:it\s)?used\sto\sbe|it\swas|previously|formerly|instead\sof|before\sit\swas"
    rf"|before)\s(?P<old>{AMOUNT})(?=\s|$).{{0,20}}",
    re.I,
)


def former_facts(part: Part, before: Sequence[WorkFact]) -> Iterator[WorkFact]:
    """Yield the value that a setting no longer has, of a part that goes on: "…, was 20".

    Args:
        part: the part of the sentence.
        before: the facts of the parts before it, in order.
    """
    settings = [fact for fact in before if fact.relation == "set_to" and fact.effect != "end"]
    if settings and (match := _FORMER.fullmatch(part.text)) and match["old"] != settings[-1].tail:
        yield fact_of(part, settings[-1].head, "set_to", match["old"], "end")


def _worded(part: Part, speaker: str) -> Iterator[WorkFact]:
    match = _IS_WORD.fullmatch(part.text) or _SPELT.fullmatch(part.text)
    if match is None or of_a_program(thing(match["head"])):
        return
    head, value = owned(match["head"], part, speaker), unquoted(match["value"])
    words = head.lower().split()
    fits = words and (
        (words[-1] == "version" and bool({"min", "minimum", "max", "maximum"} & {*words}))
        or words[-1] in _WORDED
        or (words[0] == "default" and len(words) > 1)
        or words[-2:] == ["time", "zone"]
    )
    switch = (
        words
        and (words[-1] in ("mode", "caching", "cache", "logging", "strict") or "flag" in words)
        and value in ("on", "off", "enabled", "disabled")
    )
    vague = re.match(r"(?:the|a|an|not|very|too|so|really|in|at|on|by|\w+ed)\b", value, re.I) is not None
    if switch or (fits and thing(value) and not vague):
        yield fact_of(part, head, "set_to", value, "begin" if " now" in part.text.lower() else "state")


def _setting(head: str, part: Part, speaker: str, *, bare: bool) -> str:
    """Return the name of a setting, or "" if the phrase names none."""
    name = owned(head, part, speaker)
    main = re.split(r"\s(?:of|for|in|on|per|at|to)\s", name)[0].split() if name else []
    if not main or not (
        main[-1].lower() in SETTINGS
        or (not bare and main[0].lower() in ("max", "min", "default", "maximum", "minimum", "number", "hard"))
        or (bare and main[0].lower() in ("max", "min", "default"))
    ):
        return ""
    if bare and any(is_third_person(word) for word in main[1:]):
        return ""
    if main[0].lower() in PLAIN_VERBS or (len(main) == 1 and main[0].lower() in _MEASURES and not part.work):
        return ""
    return "" if of_a_program(name) else name


def is_third_person(word: str) -> bool:
    """Return whether a word is a verb in the third person and no noun of a setting, "returns" but not "retries"."""
    verb = inflection(word.lower())
    return verb is not None and verb.forms == {"third"} and word.lower() not in SETTINGS


_RATE = re.compile(
    r"\s?%|\s(?:a|an|per|each)\s(?:second|minute|hour|day|night|week|month|year|user|person|client|file)\b", re.I
)
_SCOPE = re.compile(
    r"\s(?P<how>for|on|in)\s(?:(?:the|our|all|each|every)\s)?(?P<what>[a-z][\w-]*(?:\s[\w-]+){0,2}?)"
    r"(?=\s*(?:$|[.,;!?)\n]|\sand\s(?:to\s)?\d))",
    re.I,
)
_NO_SCOPE = word_set(
    "now moment total general average practice future time times past end meantime end place case row advance example"
    " instance all sure short me us you it them force turn addition"
)
_COMPARED = re.compile(
    r"\s(?:too|less|more|longer|shorter|higher|lower|slower|faster|earlier|later|ahead|behind|off)\b", re.I
)
_OF_OTHERS = re.compile(r"\b(?:their|his|her|your)\s+(?:[\w-]+\s+){0,3}$", re.I)


def scoped(text: str, item: Assertion, end: int) -> Assertion | None:
    """Return the value of a setting with its rate and with where it holds, "timeout for the API"; None for no value.

    No value of the setting is "30 seconds too short", nor what somebody else's is, "their limit".

    Args:
        text: the text of the turn.
        item: the item whose relation is ``set_to``.
        end: first character after its sentence.
    """
    at = text.find(item.tail, item.start, end)
    if at < 0:
        return item
    behind, tail = at + len(item.tail), item.tail
    if _COMPARED.match(text, behind, end):
        return None
    said = text.casefold().find(item.head.casefold(), item.start, end)
    if said >= 0 and _OF_OTHERS.search(text, max(0, said - 40), said):
        return None
    if rate := _RATE.match(text, behind, end):
        tail, behind = tail + rate[0], rate.end()
    scope = _SCOPE.match(text, behind, end)
    head = item.head
    if scope and not re.search(r"\s(?:for|on|in|of)\s", head) and _is_scope(scope["what"].lower()):
        head = f"{head} {scope['how'].lower()} {scope['what']}"
    return restated(item, (head, item.relation, tail)) if (head, tail) != (item.head, item.tail) else item


def _is_scope(what: str) -> bool:
    words = what.split()
    dated = re.search(
        r"day$|month|week|year|quarter|\d{4}|spring|summer|autumn|winter|night|morning|uary$|ember$|april|june|july|august",
        words[-1],
    )
    return words[-1] not in _NO_SCOPE and words[0] not in _NO_SCOPE and not dated


def of_a_program(name: str) -> bool:
    """Return whether a setting is the default of a program rather than of the work: "default timeout in nginx"."""
    tool = _OF_A_TOOL.search(name)
    return name.lower().startswith("default ") and tool is not None and is_tool(tool["tool"])
