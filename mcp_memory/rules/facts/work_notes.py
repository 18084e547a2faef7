"""Read notes about work by their form: addresses, commands, owners, branches and versions of things.

"Staging runs on port 8081", "deploys with `make ship`" and "Owner of billing: Ilka" have no verb, or one that says
much else, so that the table of relations (``rows.py``) gives them no row. A part of a sentence (`work_phrases.parts`)
is matched whole: what has more words than a form allows is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from mcp_memory.domain.entities import PROJECT
from mcp_memory.language.vocabulary import word_set
from mcp_memory.rules.facts.rows import FEW_COUNTED
from mcp_memory.rules.facts.tables.nouns import NAMED_OWN, NAMED_WORK
from mcp_memory.rules.facts.tables.tools import WORK_WORDS
from mcp_memory.rules.facts.verbs import inflection
from mcp_memory.rules.facts.work_phrases import (
    HEAD,
    IS,
    NOW,
    PLAIN_VERBS,
    PRONOUNS,
    REST,
    Part,
    WorkFact,
    fact_of,
    owned,
    thing,
    unquoted,
)
from mcp_memory.rules.facts.work_settings import SETTINGS, setting_facts
from mcp_memory.rules.facts.work_values import ADDRESS, VERSION, is_address, is_command, is_tool

_AT = r"(?:at|in|under|on|via|to|from)"
_VERB_AT = (
    r"(?:lives?|sits?|runs?|is\srunning|are\srunning|listens?|is\shosted|are\shosted|(?:is|are)\s(?:stored"
    r"|deployed|kept|found"
    r"|available|served|published|defined|documented|reachable|located|mounted|logged|written|saved|checked\sin"
    r"|configured)"
    r"|(?:has\smoved|have\smoved|moved)(?=\sto)|goes?|go|resides?|belongs?|can\sbe\sfound)"
)
_ADDRESSED = re.compile(
    rf"{HEAD}(?:{IS}{NOW}(?:\s{_AT})?|\s{_VERB_AT}(?:\snow)?\s{_AT}|\s{_AT})\s?(?P<value>`[^`\s]{{1,160}}`"
    rf"|{ADDRESS}){REST}[.!]*",
    re.I,
)
_ADDRESS_ALONE = re.compile(
    rf"(?P<head>bucket|url|port|path|folder|repo|wiki|docs?|dashboard|logs?|registry)\s(?P<value>`[^`\s]{{1,160}}`"
    rf"|{ADDRESS})[.!]*",
    re.I,
)
_WE_KEEP = re.compile(
    rf"(?:we|i)\s(?:keep|store|put|host|deploy|serve|publish|save|track|document"
    rf"|log)\s{HEAD}\s{_AT}\s(?P<value>`[^`\s]{{1,160}}`|{ADDRESS}){REST}[.!]*",
    re.I,
)

_COMMAND = r"(?P<command>`[^`\n]{2,120}`|[a-z][\w./-]{1,20}(?:\s[\w./:=@-]{1,40}){1,5})"
_PLACED = re.compile(
    rf"{HEAD}(?P<not>\sno\slonger|\snot)?\s(?:runs?|is\srunning|lives?|sits?|(?:is|are)(?:\snow)?(?:\s(?:stored"
    r"|deployed|kept|hosted|loaded|read|fetched|served|backed\sup|archived|mirrored|tracked|documented))?)(?:\snow)?"
    r"\s(?:on|in|at|from|to)\s(?:the\s|our\s|an?\s)?(?P<value>[\w.-]{1,20}(?:\s[\w.-]{1,20}){0,2}?)"
    rf"{REST}[.!]*",
    re.I,
)
PLACES = word_set(
    "server box pod cluster machine vm host node wiki repo registry vault bucket folder drive cloud laptop device"
    " namespace"
    " container s3 gcs vault confluence notion figma github gitlab git aws azure gcp hetzner"
)
_COMMANDED = re.compile(
    rf"{HEAD}(?:\s?[:=]|\s(?:is|are)(?=\s`)|\s(?:is|are)\s(?:run|started|built|done|deployed|launched)\s(?:with|by"
    rf"|via|using)"
    rf"|\s(?:runs?\s)?(?:with|via|by|using)|,?\srun)\s?{_COMMAND}[.!]*",
    re.I,
)
_TO_DO = re.compile(
    rf"(?:to\s(?P<verb>[a-z]{{3,14}}(?:\s[\w-]{{1,30}}){{0,4}}?)\s?[:,]?\s?(?:(?:we\s)?(?:run|use|do|call)\s)?"
    rf"|(?:(?:we|i)\s)?run\s(?P<what>(?:the\s)?[\w-]{{1,30}}(?:\s[\w-]{{1,30}}){{0,3}})\s(?:with|via"
    rf"|using)\s){_COMMAND}[.!]*",
    re.I,
)
_COMMAND_FOR = re.compile(
    rf"(?:(?:use|run|call)\s(?=`))?{_COMMAND}\s(?:(?P<verb>runs|starts|builds|deploys|tests|formats|lints|seeds"
    rf"|migrates"
    rf"|resets)\s(?P<what>[\w./\s-]{{2,40}})|(?:for|to\srun|to\sstart|=|is\sfor)\s(?P<head>[\w./\s-]{{2,40}}))[.!]*",
    re.I,
)

_WHO = r"(?P<who>[A-Z][\w'’-]{1,20}(?<!['’]s)(?:\s[A-Z][\w'’-]{1,20})?|me|I)"
_THING = r"(?P<head>[\w`./@#'’-]{1,40}(?:\s[\w`./@#'’-]{1,40}){0,4}?)"
_OWNERS: tuple[re.Pattern[str], ...] = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(?:[Tt]he\s)?[Oo]wner\s(?:of|for)\s{_THING}(?:\s?[:=]|\sis)(?:\snow)?\s?{_WHO}(?:\snow)?[.!]*",
        rf"{_THING}\s[Oo]wner(?:\s?[:=]|\sis)(?:\snow)?\s?{_WHO}(?:\snow)?[.!]*",
        rf"(?:[Oo]wner|[Cc]ontact|[Rr]esponsible|[Mm]aintainer|[Ll]ead)\s(?:of|for)\s{_THING}(?:\s?[:=]"
        rf"|\sis)(?:\snow)?\s?{_WHO}(?:\snow)?[.!]*",
        rf"{_THING}\s(?:belongs?\sto|(?:is|are)(?:\snow)?\s(?:owned|maintained)\sby)\s{_WHO}(?:\snow)?{REST}[.!]*",
        rf"{_WHO}(?:\snow)?\s(?:owns?|maintains?|is\sresponsible\sfor|is\sin\scharge\sof|looks\safter"
        rf"|takes\scare\sof|takes\sover|took\sover|has\staken\sover"
        rf"|am\sresponsible\sfor|take\sover)\s{_THING}(?:\sfrom\s[A-Z]\w+)?(?:\s(?:now|from\snow\son|again))?[.!]*",
        r"(?P<head>(?:[\w-]{2,20}\s){0,3}(?:[Oo]n-?\s?call|duty|reviewer|stand-in|assignee|DRI|maintainer|lead"
        r"|backup|contact)(?:\s(?:over|for|this|next|in)\s[\w-]{2,20}(?:\s[\w-]{2,20})?)?)(?:\s?[:=]|\sis)(?:\snow)?\s"
        + _WHO
        + r"(?:\s(?:until|till|from|this|next)\b.{0,40})?[.!]*",
        rf"{_WHO}\s(?:has|does|handles|covers|is\sdoing|is\shandling|gets|takes|keeps)\s(?:the"
        rf"|our)\s{_THING}(?:\s(?:now|from\snow\son|again))?[.!]*",
        rf"{_WHO}\s(?:is|am)(?:\snow)?\s(?P<head>on-?\s?call)(?:\s(?:this|next|until|on|over)\b.{{0,30}})?[.!]*",
        rf"{_THING}\s(?:is|are)(?:\snow)?\s(?P<who>mine|[A-Z]\w{{1,20}}['’]s)(?:\s(?:now|job|baby|(?:as\sof|from)\s(?:today|now\son)))?[.!]*",
        rf"{_THING}\s(?:(?:is|was)\shanded\sover\sto|(?:goes|went|moves|moved)\sover\sto"
        rf"|is\swith)\s{_WHO}(?:\snow)?[.!]*",
    )
)
_LEADS = re.compile(rf"{_WHO}\s(?:leads?|heads?|runs)\s{_THING}(?:\snow)?[.!]*")

_BRANCH = re.compile(
    r"(?:(?:[Tt]he|[Oo]ur)\s)?(?P<head>[\w.-]{2,20}\s)?[Bb]ranch(?:\sfor\s(?P<for>[\w\s.-]{2,30}?))?(?:\s(?:is(?:\snow)?(?:\s(?:called|named))?|called|named)|\s?[:=])\s"
    r"(?P<value>`[^`\s]{1,80}`|[\w][\w./-]{1,60})[.!]*"
)
_ON_BRANCH = re.compile(
    r"(?:i['’]?m|i am|we['’]?re|we are|work(?:ing)?"
    r"|lives?)\s(?:working\s)?on\s(?:the\s)?(?:branch\s(?P<value>`[^`\s]{1,80}`|[\w./-]{2,60})"
    r"|(?P<other>`[^`\s]{1,80}`|[\w.-]+/[\w./-]{2,60})\sbranch)[.!]*",
    re.I,
)
_VERSIONED = re.compile(
    rf"(?:(?:current|latest)\sversion(?:\sof\s{HEAD})?|(?:version\sof\s)(?P<of>[\w.\s-]{{2,30}}?)"
    rf"|(?P<by>[\w.-]{{2,30}}(?:\s[\w.-]{{2,20}})?)\sversion)(?:\s?[:=]|\sis)(?:\snow)?\s(?P<value>{VERSION}"
    rf"|\d{{1,3}})[.!]*",
    re.I,
)
_UPGRADED = re.compile(
    rf"(?:(?:we|i|they)(?:['’]ve|\shave)?(?:\s(?:just|now|finally|also))?\s)?(?:upgraded|updated|bumped"
    rf"|moved)(?:\s(?P<head>[\w./-]{{2,30}}(?:\s[\w./-]{{2,20}})?))??(?:\sfrom\s(?:[A-Za-z][\w.-]*\s)?(?P<old>{VERSION}|\d{{1,3}}))?"
    rf"\sto\s(?:(?P<tool>(?!version\s)[A-Za-z][\w.-]{{1,20}})\s)?(?:version\s)?(?P<value>{VERSION}|\d{{1,3}})(?:\s(?:last|this"
    rf"|yesterday|today|in|on|since|now|for|everywhere|because|and)\b.*)?[.!]*",
    re.I,
)
_AT_VERSION = re.compile(
    rf"(?P<by>[\w.-]{{2,30}}(?:\s[\w.-]{{2,20}})?)\s(?:is|are)(?:\snow)?\s(?:at"
    rf"|on)(?:\sversion)?\s(?P<value>{VERSION})[.!]*",
    re.I,
)


def address_facts(part: Part, speaker: str) -> Iterator[WorkFact]:
    """Yield where something is: a path, a URL, a host or a port."""
    for pattern in (_WE_KEEP, _ADDRESSED, _ADDRESS_ALONE):
        match = pattern.fullmatch(part.text)
        if match is None:
            continue
        value = unquoted(match["value"])
        if not is_address(value):
            return
        stands = _STANDS.search(match["head"])  # "secrets live in Vault under kv/app"
        head = owned(match["head"][: stands.start()] if stands else match["head"], part, speaker)
        last = head.lower().split()[-1] if head else ""
        if last == "port" and (owner := head[: -len(last)].strip()):
            head = owner
        elif head.lower() in ("port", "url", "path", "folder", "bucket"):
            head = part.topic or last
        beside = pattern is _ADDRESSED and not re.search(
            r"[:=]|\b(?:is|are)\b|->|→|['’]s\b", part.text[match.end("head") : match.start("value")]
        )
        if (
            beside
            and not stands
            and not _STANDS.search(part.text, match.end("head"), match.start("value"))
            and not _can_have_a_path(head)
        ):
            return
        if (head and head.split()[-1].lower() in _PASSING | {"bug"}) or re.search(r"(?:Error|Exception)$", head):
            return
        if head and not is_address(head) and last != "branch":
            yield fact_of(part, head, "located_at", value)
        return
    match = _PLACED.fullmatch(part.text)
    if (
        match
        and match["value"].split()[-1].lower() in PLACES
        and _can_have_a_path(head := owned(match["head"], part, speaker))
    ):
        yield fact_of(part, head, "located_at", match["value"], "end" if match["not"] else "state")


_STANDS = re.compile(rf"\s{_VERB_AT}", re.I)
_PASSING = word_set(
    "error errors bug bugs issue issues problem problems change changes typo line lines function functions fix"
    " fixes todo"
    " comment comments update updates code edit edits trouble method class variable lots stuff look work crash"
    " exception"
)


def _can_have_a_path(head: str) -> bool:
    """Return whether "X in PATH" gives the place of a thing rather than of an error, an edit or an act."""
    words = head.lower().split()
    first = inflection(words[0]) if words else None
    acts = first is not None and bool(first.forms & {"past", "participle", "ing"}) and words[0] not in _GERUND_THINGS
    verb = first is not None and len(words) > 1 and first.forms == {"plain"} and words[0] not in WORK_WORDS
    return bool(words) and words[-1] not in _PASSING and not acts and not verb and words[0] not in PLAIN_VERBS


_GERUND_THINGS = word_set(
    "billing staging logging monitoring hosting caching testing routing indexing training onboarding pricing"
)


def command_facts(part: Part, _speaker: str) -> Iterator[WorkFact]:
    """Yield the command that does something: "tests: `make check`", "deploys with `make ship`"."""
    for pattern in (_TO_DO, _COMMAND_FOR, _COMMANDED):
        match = pattern.fullmatch(part.text)
        if match is None:
            continue
        written = match["command"]
        command = unquoted(written)
        if not is_command(command, quoted=written.startswith("`")):
            continue
        named = [name for name in (match.groupdict().get(key) for key in ("head", "verb", "what")) if name]
        said = " ".join(named) if pattern is not _COMMANDED else named[0]
        head = thing(said) or (said if pattern is _TO_DO and match["verb"] else "")
        verb = inflection(head) if head and " " not in head else None
        if verb is not None and verb.forms == {"third"}:
            head = verb.lemma  # "deploys with …"
        if head or part.topic:
            yield fact_of(part, head or part.topic, "has_command", command)
        return


_HAS = re.compile(r"\w+(?:\s\w+)?\shas\sthe\s")
"""Of work, who has a thing is who does it: "Callum has the API", but "Tom has the keys"."""
_ON_CALL = re.compile(r"on-?\s?call", re.I)
_NOBODY = word_set("nobody none everyone everybody someone somebody anyone anybody")
_WHOSE = word_set("product process business system tech team project repo home house car dog cat")
"""Things of which "X owner" is a role, or that are owned outside of work."""


def owner_facts(part: Part, speaker: str) -> Iterator[WorkFact]:
    """Yield who owns or leads something at work."""
    for pattern in (*_OWNERS, _LEADS):
        match = pattern.fullmatch(part.text)
        if match is None:
            continue
        who, head = match["who"], thing(match["head"]) or (match["head"] if _ON_CALL.match(match["head"]) else "")
        if (
            not head
            or head.lower() in PRONOUNS | _WHOSE
            or who.lower() in _NOBODY
            or who.split()[0].lower() in ("do", "does", "did", "is", "should", "could", "can", "would")
            or is_tool(who)
            or (_HAS.match(part.text) and not _is_work(head))
        ):
            return
        name = speaker if who in ("me", "I", "mine") else who.removesuffix("'s").removesuffix("’s")
        if pattern is _LEADS:
            yield fact_of(part, name, "leads", head)
        else:
            yield fact_of(
                part, head, "owned_by", name, "begin" if re.search(r"\bnow\b|took|take", part.text) else "state"
            )
        return


def _is_work(head: str) -> bool:
    last = head.lower().split()[-1]
    return (last in WORK_WORDS or is_tool(head)) and last not in ("keys", "tickets", "key", "ticket")


def branch_and_version_facts(part: Part, _speaker: str) -> Iterator[WorkFact]:
    """Yield the branch or the version that something has."""
    if match := _BRANCH.fullmatch(part.text):
        value = unquoted(match["value"])
        quoted = match["value"].startswith("`") or re.search(r"[/._-]|\d", value)
        if quoted or value in ("main", "master", "trunk", "develop", "dev", "staging", "release", "next"):
            yield fact_of(part, thing(match["for"] or "") or part.topic or PROJECT, "has_branch", value)
    elif match := _ON_BRANCH.fullmatch(part.text):
        yield fact_of(part, part.topic or PROJECT, "has_branch", unquoted(match["value"] or match["other"]))
    elif (match := _UPGRADED.fullmatch(part.text)) and _tells_version(match):
        name = match["tool"] or match["head"] or ""
        of_all = name.lower().split()[-1:] == ["version"] and len(name.split()) < 3
        if head := ("" if of_all else thing(name)) or part.topic or PROJECT:
            yield fact_of(part, head, "has_version", match["value"], "begin")
            if match["old"] and match["old"] != match["value"]:
                yield fact_of(part, head, "has_version", match["old"], "end")
    elif match := _VERSIONED.fullmatch(part.text) or _AT_VERSION.fullmatch(part.text):
        named = next((match.groupdict().get(key) for key in ("head", "of", "by") if match.groupdict().get(key)), "")
        head = (thing(named) if named else "") or part.topic or PROJECT
        if re.search(r"\b(?:min|minimum|max)\b", head) is None:
            yield fact_of(part, head, "has_version", match["value"])


def _tells_version(match: re.Match[str]) -> bool:
    """Return whether "to 4" is a version, "bumped eslint to 4", and no number or time: "bumped the workers to 4"."""
    value, name = match["value"], match["tool"] or match["head"] or ""
    exact = value[:1] in "vV" or value.count(".") > 1 or re.search(r"\bversion\b", match[0], re.I) is not None
    return exact or (is_tool(name) and name.lower() not in SETTINGS)


_NAMED = re.compile(
    rf"(?P<our>[Oo]ur\s)?{HEAD}(?:(?:\s(?:is|are)(?:\snow)?|['’]s)\s(?P<called>called|named)|(?:['’]s)?\sname(?:\sis|\s?[:=]))\s"
    r"(?P<value>`[^`\s]{1,60}`|[\w@][\w./@#-]{0,60}(?:\s[A-Z][\w'’-]{0,20}){0,3})(?:\s(?:now|btw))?[.!]*"
)
_NUMBERED = re.compile(
    rf"{HEAD}(?:\s(?:is|are)(?:\snow)?|\s?[:=])\s(?P<value>\+?\d[\d\s()/-]{{2,24}}\d|(?=\S*\d)[A-Z\d][\w-]{{2,20}})[.!]*"
)
_NUMBERS = word_set("number code extension hotline")
_NO_NUMBER = word_set(
    "phone mobile cell new old status error exit return line response issue ticket version lucky same large total"
    " average small high low source zip area dress first last"
)
"""What numbers and codes are about that are no setting of their own, or a person's."""
_HOW_CALLED = word_set("often again here there first last next so that this it what by after on from in for at with by")


def naming_facts(part: Part, speaker: str) -> Iterator[WorkFact]:
    """Yield the name of a thing, "the main bucket is called blue-whale", or its number, "the on-call number is …"."""
    if match := _NAMED.fullmatch(part.text):
        head, value = owned(match["head"], part, speaker), unquoted(match["value"])
        noun, written = head.lower().split()[-1:], match["value"].startswith("`") or value[0].isupper()
        sign = written or re.search(r"[\d_./-]", value)
        adverb = value.lower().endswith("ly") or value.lower() in _HOW_CALLED
        own = bool(noun) and noun[0] in NAMED_OWN and written
        if (own or (noun and noun[0] in NAMED_WORK and (sign or match["called"]))) and not adverb:
            named = fact_of(part, f"{speaker}'s {head}" if own and match["our"] else head, "named", value)
            yield replace(named, confidence=min(part.sure, 0.85))
    elif match := _NUMBERED.fullmatch(part.text):
        head = owned(match["head"], part, speaker)
        words = head.lower().split()
        if len(words) > 1 and words[-1] in _NUMBERS and _NO_NUMBER.isdisjoint(words):
            yield fact_of(part, head, "set_to", match["value"])


_RELEASED = re.compile(
    rf"{HEAD}(?:['’]s)?\s(?P<what>(?:is\s|was\s|got\s)?(?:finally\s|now\s)?(?:shipped|released|tagged|deployed|launched)"
    r"|went\s(?:out|live)|(?:is|are)\s(?:now\s)?(?:out|live))(?P<rest>\s(?:on|in|last|this|yesterday|today|with|as|since|at)\b.{0,60})?[.!]*",
    re.I,
)
_RELEASE = re.compile(rf"(?:(?P<name>[A-Z][\w-]*|[a-z][\w-]+)\s)?(?P<version>{VERSION})")


def release_facts(part: Part, _speaker: str) -> Iterator[WorkFact]:
    """Yield that a version or a thing of the work came out: "0.5.0 went out on 15 July", "PDF labels shipped"."""
    match = _RELEASED.fullmatch(part.text)
    head = thing(match["head"]) if match else ""
    if not match or not head or head.lower() in PRONOUNS:
        return
    release, what = _RELEASE.fullmatch(head), re.sub(r"\s(?:finally|now)\b", "", match["what"])
    if release:
        yield fact_of(part, release["name"] or part.topic or PROJECT, "has_version", release["version"], "begin")
    dated = re.search(r"\d|day\b|week|month", match["rest"] or "")
    known = release or head.split()[-1].lower() in _COMES_OUT or (part.work and _is_work(head))
    if dated and known and not what.startswith(("is ", "are ")):
        yield fact_of(part, head, "did", what, "event")


_COMES_OUT = word_set("beta alpha ga rc newsletter hotfix patch feature rollout redesign")
"""What comes out beside releases and, in a message about work, what `WORK_WORDS` name."""
_SWITCHED = re.compile(
    rf"{HEAD}(?:\s(?:is|are|feature\sis)|['’]s)(?:\snow)?\s(?P<value>off|on|disabled|enabled)\s(?:by\sdefault|unless\b.{{2,60}})[.!]*",
    re.I,
)
_RUNNING = re.compile(rf"{HEAD}\s(?:has|have)\sbeen\s(?:running|live|in\suse)\ssince\s.{{2,40}}", re.I)
_STAYS = re.compile(
    rf"{HEAD}\s(?P<verb>stays|is\sstaying|is\sgone|are\sgone)(?P<rest>\s(?:for\snow|now|too))?[.!]*", re.I
)


def switch_facts(part: Part, _speaker: str) -> Iterator[WorkFact]:
    """Yield what is on or off by default, and which tool stays or is gone: "clustering is off by default"."""
    part = replace(part, sure=min(part.sure, FEW_COUNTED))
    if match := _SWITCHED.fullmatch(part.text):
        if head := thing(match["head"]):
            yield fact_of(part, head, "set_to", match["value"].lower())
    elif (match := _RUNNING.fullmatch(part.text)) and is_tool(match["head"]):
        yield fact_of(part, part.topic or PROJECT, "uses", unquoted(match["head"]), "begin")
    elif (match := _STAYS.fullmatch(part.text)) and is_tool(match["head"]):
        gone = match["verb"].endswith("gone")
        yield fact_of(part, part.topic or PROJECT, "uses", unquoted(match["head"]), "end" if gone else "state")


NOTES: tuple[Callable[[Part, str], Iterator[WorkFact]], ...] = (
    release_facts, branch_and_version_facts, command_facts, address_facts, owner_facts, setting_facts, naming_facts,
    switch_facts,
)  # fmt: skip
"""The forms in the order in which they are tried; the first that fits a part holds."""
OF_WORDS = (release_facts, switch_facts, owner_facts, setting_facts, naming_facts)
"""Those of them whose values may be words alone."""
