"""Read what a team uses, chose, decided and replaced, and why, from talk about work.

"We use X and Y", "the importer runs on Node 20", "switched from A to B", "A is replaced by B", "chose A over B because
…" and "we decided to …". "We" is the project of the space, "I" the speaker. What is used has to be software by its name
(`work_values.is_tool`), or something named that a word like "switched" shows to be of that kind: people also move from
one town to another and choose wine.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mcp_memory.domain.entities import PROJECT
from mcp_memory.language.vocabulary import word_set
from mcp_memory.rules.facts.tables import closed
from mcp_memory.rules.facts.tables.tools import WORK_WORDS
from mcp_memory.rules.facts.tails import infinitive_end
from mcp_memory.rules.facts.work_notes import PLACES
from mcp_memory.rules.facts.work_phrases import GUESSED, Part, WorkFact, thing
from mcp_memory.rules.facts.work_values import is_address, is_tool, read_tools

_ADVERBS = r"(?:\s(?:now|currently|still|already|also|mostly|just|only|always|really|both|all|finally|recently))*"
_WHO = r"(?P<who>we|i|the\steam|our\steam|everyone|everybody|(?-i:[A-Z][\w'’-]{1,20}))"
_USES = re.compile(
    rf"(?:(?:(?:for|in|on)\s(?:the\s|our\s)?[\w-]{{2,20}}(?:\s[\w-]{{2,20}})?,?\s)?{_WHO}(?:['’](?:re|m)|\sare|\sam"
    rf"|\sis)?{_ADVERBS}\s(?:us(?:e|es|ing)|run|running|rely\son|on"
    rf"|(?:build|deploy|test|host|lint|bundle|format|monitor|track|ship|develop|write|document|chat|plan|log"
    rf"|track\s\w{{3,12}})\s(?:\w{{2,12}}\s)?(?:with|on|via|in|using|through)"
    rf"|developing\s(?:in|on|with)"
    r"|stay(?:ing)?\s(?:with|on)|keep(?:ing)?\susing|built\s(?:it\s)?with|have\sbeen\susing)"
    rf"|(?P<have>i|we)(?:['’]ve|\shave)(?:\s(?:been\susing|got))"
    r"|(?P<it>it|everything|the\s(?:app|site|project|service|tool|repo|code|codebase|backend"
    r"|frontend))['’]?(?:\sis|s|\sare)?"
    r"\s(?:built\s(?:with|on|in)|written\sin|based\son|powered\sby|running\son))\s",
    re.I,
)
_THING_USES = re.compile(
    rf"(?P<head>[\w`./@#'’-]{{1,30}}(?:\s[\w`./@#'’-]{{1,30}}){{0,3}}?)(?:\s(?:is|are)|['’]s)?{_ADVERBS}\s(?:uses?|(?<=is\s)in|(?<=are\s)in|(?<=['’]s\s)in|(?:has|have)\s(?:been|run)\son"
    rf"|runs?(?:\son)?|stays?\son|staying\son|goe?s?\sto|running\son|is\son|are\son|(?:is|are)?"
    r"\s?(?:built|written|implemented|made)\s(?:with|on|in)|(?:is|are)\spowered\sby|relies\son|rely\son"
    r"|comes?\sfrom|(?:(?:is|are)\s)?(?:now\s)?(?:done|handled|managed|hosted|rendered|renewed|sent)\s(?:with|by"
    r"|via|on)"
    r"|goes?\sthrough)\s",
    re.I,
)
_IN = re.compile(r"(?:is|are|['’]s)(?:\snow|\sstill)?\sin\s$", re.I)
_NO_USER = closed.NOMINATIVE | closed.EMPTY | closed.NEGATIONS | frozenset(("no one",))
_BUILDING = re.compile(
    r"(?:i|we|i['’]m|we['’]re|i\sam|we\sare|i['’]ve|we['’]ve|i\shave|we\shave)\s(?:trying\sto\s)?(?:been\s)?(?:working"
    r"|building|built|developing|developed|creating|created|writing|written"
    r"|implementing|implemented|setting|set|build|deploying|deployed|initialize|initializing|migrating|designing"
    r"|hosting|using)\b[^.;?!]{0,140}?\s(?:using|with|built\s(?:with|on|in)|written\sin)\s",
    re.I,
)
_NO_USE = re.compile(
    r"(?P<head>we|i|[\w./-]{2,30}(?:\s[\w./-]{2,30}){0,2}?)(?P<not>\s(?:don['’]?t|do\snot|doesn['’]?t"
    r"|does\snot)(?:\sactually)?\suse|(?:['’]re|['’]m|\sare|\sam|\sis)\s(?:no\slonger|not)\s(?:using|on)"
    r"|\sno\slonger\suses?"
    r"|\s(?:have\s|has\s|['’]ve\s)?(?:finally\s|now\s|just\s)?(?:stopped|quit)\susing|(?:\shave"
    r"|['’]ve)?\s(?:finally\s|now\s|just\s)?(?:got\srid\sof|removed|dropped"
    r"|ditched|threw\sout|retired))\s",
    re.I,
)
_NO_MORE = r"(?!(?:to|from|by|with|for|in|over|instead|and|last|since|because|on|as|due|now|this|yesterday|today)\b)"
_NAME = rf"(?:`[^`\n]{{1,50}}`|[\w@.+#/&'’-]{{1,40}}(?:\s{_NO_MORE}[\w@.+#/&'’-]{{1,40}}){{0,3}})"
_SWITCHED = re.compile(
    rf"(?:(?P<who>we|i|they|the\steam|(?-i:[A-Z]\w{{1,20}}))?(?:['’]ve|\shave|\shas|['’]re|\sare|\sam"
    rf"|['’]m)?{_ADVERBS}\s?(?P<verb>switched|moved|migrated|changed|went|ported|upgraded|converted)"
    rf"|(?P<head>[\w./-]{{1,30}}(?:\s[\w./-]{{1,30}}){{0,3}}?)\s(?:was|were|has\sbeen|have\sbeen|is|are"
    rf"|got)(?:\snow)?\s(?P<passive>switched|moved|migrated|changed|ported|upgraded|converted))"
    rf"(?:\s(?:over|away|back))?(?:\s(?P<object>(?:the|our|all|my)\s{_NAME}"
    rf"|[a-z][\w-]+(?:\s[a-z]+)?))??\sfrom\s(?P<old>{_NAME})\s(?:over\s|back\s)?to\s(?P<new>{_NAME})",
    re.I,
)
_REPLACED = re.compile(
    rf"(?:(?:we|i|they)(?:['’]ve|\shave)?{_ADVERBS}\s)?(?:replaced|swapped(?:\sout)?|exchanged|traded|ditched"
    rf"|dropped|left|abandoned)\s(?P<old>{_NAME})\s(?:with|by|for|in\sfavou?r\sof)\s(?P<new>{_NAME})"
    rf"|(?P<was>{_NAME})\s(?:was|is|has\sbeen|got|will\sbe)(?:\snow)?\sreplaced\s(?:by|with)\s(?P<by>{_NAME})"
    rf"|(?P<newer>{_NAME})(?:\shas)?\sreplaced\s(?P<older>{_NAME})"
    rf"|(?:we(?:['’]re)?\s(?:now\s)?us(?:e|ing)\s)(?P<used>{_NAME})\s(?:instead\sof|rather\sthan)\s(?P<unused>{_NAME})",
    re.I,
)
_SWITCHED_TO = re.compile(
    rf"(?:(?:we|i|(?-i:[A-Z]\w{{1,20}}))(?:['’]ve|\shave|\shas)?{_ADVERBS}\s)?(?:switched|migrated"
    rf"|moved|went\sback|returned)(?:\s(?:over|everything|(?:the|our|all)\s[\w\s-]{{2,30}}?))?\sto\s",
    re.I,
)
_CHOSE = re.compile(
    rf"(?:for\s(?:the\s|our\s)?[\w-]{{2,20}}(?:\s[\w-]{{2,20}}){{0,2}},?\s)?(?:{_WHO}(?:['’]ve|\shave|\sboth|['’]re|\sare|['’]ll|\swill)?{_ADVERBS}\s)?(?:chose|chosen|picked|went\swith|gone\swith"
    rf"|going\swith|(?<=ll\s)(?:use|go\swith|stick\swith)|take|settled\s(?:on|for)|decided\s(?:on|for|to\suse|to\sgo\swith)|opted\sfor|selected)\s(?:the\s)?",
    re.I,
)
_OVER = re.compile(rf",?\s(?:over|instead\sof|rather\sthan|not)\s(?P<other>{_NAME})", re.I)
_DECIDED = re.compile(
    r"(?:(?P<who>we|i|the\steam|(?-i:[A-Z]\w{1,20}))(?:['’]ve|\shave|\shas)?(?:\s(?:also|now|just|finally|both|all"
    r"|already))*\s)?(?:decided|agreed)(?:\s(?:today|yesterday|together))?"
    r"(?P<how>\sagainst|\snot\sto|\sto|\sthat|\son|:|(?=\s(?:the|our|we|no|all|every|v?\d[\d.]*)\s))\s(?P<what>.{3,120})",
    re.I,
)
_RULED_OUT = re.compile(
    rf"(?:(?P<who>we|i)(?:['’]ve|\shave|['’]re|\sare)?\s)?(?:wo[n]['’]t\s(?:do|use|take|adopt)|will\snot\suse"
    rf"|not\sgoing\s(?:with|for)|ruled\sout|rejected|banned|discarded"
    rf"|voted\sagainst)\s(?P<what>{_NAME})",
    re.I,
)
_CUT_OVER = re.compile(
    rf"(?P<old>{_NAME})\s?(?:->|→|\sto\s)\s?(?P<new>{_NAME.replace('{0,3}', '{0,1}?')})"
    r"\s(?:cutover|migration|switch|move|upgrade)"
    r"\s(?:is|was)\s(?:done|complete|completed|finished|through|live)",
    re.I,
)
_VERSIONED = re.compile(r"(?P<name>[A-Za-z][\w.+#-]*(?:\s[A-Z]\w*)?)\sv?\d[\w.]*")
_NUMBER = re.compile(r"v?\d[\w.]*")
_REASON = re.compile(
    r",?\s(?:because(?:\sof)?|since(?=\s(?:it|we|they|the|our|its|there|that|nobody|no)\b)|due\sto|thanks\sto"
    r"|(?<=,\s)as(?=\s(?:it|we|they|the|our|its|there)\b))\s(?P<why>[^.;!?\n]{4,120})"
    r"|\s?[(,]\s?reason:?\s(?P<reason>[^.;!?)\n]{4,100})",
    re.I,
)
_PROVIDERS = word_set(
    "provider hosting payments payment checkout search mail email database db analytics monitoring tracker ci"
    " queue editor"
    " framework bundler cloud vendor processor crm helpdesk registrar browser search-engine"
)
_NO_NAME = word_set("it this that them one something the a an my our office house home place job")


def use_facts(part: Part, text: str, end: int, speaker: str) -> Iterator[WorkFact]:
    """Yield what is used, and what no longer is.

    Args:
        part: the part of a sentence.
        text: the text of the turn.
        end: first character after the sentence; a list of names may go beyond the part.
        speaker: "I".
    """
    if match := _NO_USE.match(text, part.start, end):
        names, stop = read_tools(text[match.end() : end])
        head = _user(match["head"], part, speaker)
        if names and head and not re.search(r"\b(?:before|yet)\b", part.text):
            for name in names[:3]:
                yield WorkFact(head, "uses", name, part.start, match.end() + stop, "end", part.sure)
        return
    match = _USES.match(text, part.start, end) or _BUILDING.match(text, part.start, end)
    general = None if match else _THING_USES.match(text, part.start, end)
    inside = general is not None and _IN.search(general[0]) is not None
    if match is None and general is None:
        return
    if match is not None and match.re is _BUILDING:
        head = speaker if part.text[:1].lower() == "i" else PROJECT
    elif match is not None:
        who = (match["who"] or match["have"] or match["it"] or "we").lower()
        head = _user(
            match["who"] if match["who"] and who not in ("we", "i") else ("i" if who == "i" else "we"), part, speaker
        )
    else:
        head = thing(general["head"]).removesuffix("'s").removesuffix("’s") if general else ""
        bare = head.islower() and part.text.startswith(head)
        if inside and not (bare or {*head.lower().split()[-1:]} & WORK_WORDS):
            head = ""  # "towerd's in Rust", not "Tom's in Go"
    found = match or general
    if found is None or not head or head.lower() in _NO_USER or " but " in head:
        return
    if general and general[0].endswith(" use ") and text[: part.start].endswith("but "):
        return  # "all services but billing use Redis"
    names, stop = read_tools(text[found.end() : end], plain=part.work)
    if inside:
        names = [name for name in names if name.lower() not in PLACES]  # "secrets are in Vault"
    effect = "begin" if re.search(r"\bnow\b", found[0], re.I) else "state"
    for name in names:
        if not is_address(name) or name.lower().endswith(".js"):
            yield WorkFact(head, "uses", name, part.start, found.end() + stop, effect, part.sure)  # type: ignore[arg-type]


def _user(who: str, part: Part, speaker: str) -> str:
    who = who.removesuffix("'s").removesuffix("’s")  # "API's on Python 3.12"
    low = who.lower()
    if low == "i":
        return speaker
    if low in ("we", "the team", "our team"):
        return part.topic or PROJECT
    return who if who[0].isupper() and " " not in who else thing(who)


def change_facts(part: Part, text: str, end: int, speaker: str) -> Iterator[WorkFact]:
    """Yield what replaced what: the event, the old that is no longer used, and the new."""
    match = _SWITCHED.match(text, part.start, end)
    if match:
        old, new = _name(match["old"]), _name(match["new"])
        about = match["object"] or match["head"] or ""
        verb = (match["verb"] or match["passive"]).lower()
        subject = (match["who"] or "").lower()
        certain = is_tool(old) or is_tool(new) or bool(_PROVIDERS & set(about.lower().split()))
        if not certain and not (
            verb.startswith(("switch", "migrat")) and _capital(old) and _capital(new) and subject == "we"
        ):
            return
        head = thing(about) if about else _user("we" if not subject or subject != "i" else "i", part, speaker)
        if not about and (subject == "i" or not (certain or part.work)):
            head = speaker
    elif match := _CUT_OVER.match(text, part.start, end) or _REPLACED.match(text, part.start, end):
        groups = dict.fromkeys(("was", "older", "unused", "by", "newer", "used"), "") | match.groupdict()
        old = _name(groups["old"] or groups["was"] or groups["older"] or groups["unused"] or "")
        new = _name(groups["new"] or groups["by"] or groups["newer"] or groups["used"] or "")
        left = re.search(r"\b(?:dropped|left|abandoned|ditched|exchanged|traded)\b", match[0], re.I)
        if not (is_tool(old) or is_tool(new)) or (left and not is_tool(old)):
            return
        head = speaker if re.match(r"i\b", match[0], re.I) else part.topic or PROJECT
    else:
        yield from _switched_to(part, text, end, speaker)
        return
    if (versioned := _VERSIONED.fullmatch(old)) and _NUMBER.fullmatch(new):
        new = f"{versioned['name']} {new}"  # "from Node 18 to 20"
    if not old or not new or old.lower() == new.lower() or not head:
        return
    span = part.start, match.end()
    yield WorkFact(old, "replaced_by", new, *span, "event", part.sure)
    yield WorkFact(head, "uses", old, *span, "end", part.sure)
    yield WorkFact(head, "uses", new, *span, "begin", part.sure)
    yield from _reasons(text, match.end(), end, part)


def _switched_to(part: Part, text: str, end: int, speaker: str) -> Iterator[WorkFact]:
    match = _SWITCHED_TO.match(text, part.start, end)
    if match is None:
        return
    names, stop = read_tools(text[match.end() : end])
    head = speaker if part.text[:1] in ("I", "i") and part.text[1:2] in " '’" else part.topic or PROJECT
    for name in names[:1]:
        yield WorkFact(head, "uses", name, part.start, match.end() + stop, "begin", part.sure)
        yield from _reasons(text, match.end() + stop, end, part)


def choice_facts(part: Part, text: str, end: int, speaker: str) -> Iterator[WorkFact]:
    """Yield what was chosen, decided or ruled out, and the reason."""
    if match := _CHOSE.match(text, part.start, end):
        names, stop = read_tools(text[match.end() : end])
        head = _user(match["who"], part, speaker) if match["who"] and match["who"].lower() != "we" else PROJECT
        if names and head:
            span = part.start, match.end() + stop
            for name in names[:2]:
                yield WorkFact(head, "chose", name, *span, "event", part.sure)
            if other := _OVER.match(text, match.end() + stop, end):
                yield WorkFact(head, "decided_against", _name(other["other"]), *span, "event", part.sure)
                stop += other.end() - other.start()
            yield from _reasons(text, match.end() + stop, end, part)
            return
    if match := _RULED_OUT.match(text, part.start, end):
        what = _name(match["what"])
        if is_tool(what):
            yield WorkFact(
                _user(match["who"] or "we", part, speaker),
                "decided_against",
                what,
                part.start,
                match.end(),
                "event",
                part.sure,
            )
            yield from _reasons(text, match.end(), end, part)
    elif match := _DECIDED.match(part.text):
        yield from _decided(match, part, text, end, speaker)


def _decided(match: re.Match[str], part: Part, text: str, end: int, speaker: str) -> Iterator[WorkFact]:
    more = infinitive_end(text, part.start + match.end("what"), end) if match["how"].strip() == "to" else 0
    what = text[part.start + match.start("what") : more or part.start + match.end("what")].strip(" .!")
    if reason := _REASON.search(what):
        what = what[: reason.start()]
    if ":" in what or what.count("(") != what.count(")"):
        return
    what = re.split(r"\s(?:so\sthat|so|if|when|but|though|which)\s", what)[0].strip(" ,.")
    how = match["how"].strip().lower()
    head = _user(match["who"] or "we", part, speaker)
    if not 1 <= len(what.split()) <= 14 or not head or (how == "on" and len(what.split()) > 5):
        return
    relation = "decided_against" if how in ("against", "not to") else "decided"
    if relation == "decided_against":
        what = re.sub(r"^(?:using|having|the\suse\sof|a|an|the|use)\s", "", what)
    yield WorkFact(head, relation, what, part.start, part.end, "event", part.sure)
    yield from _reasons(text, part.start + match.start("what"), end, part, what)


_ROLE = re.compile(
    r"(?P<head>(?:[\w-]{2,20}\s){0,2}?[\w-]{2,20})(?:(?:\s(?:is|are|will\sbe)|[\'’]s)(?:\snow)?|\s?[:=])\s(?P<tools>\S.*)",
    re.I,
)
_ROLES = _PROVIDERS | word_set(
    "database db orm cms ide shell os language languages stack linter formatter compiler logging search storage"
    " broker registry"
    " api dashboard app site website service client billing"
    " dns cdn proxy host hoster backend frontend auth tests testing docs wiki chat vcs scm infra deployment"
    " bundler tooling"
)


def role_facts(part: Part, text: str, end: int) -> Iterator[WorkFact]:
    """Yield what fills a role of the work: "Database: Postgres 16", "CI is Buildkite", "payment provider: Mollie"."""
    match = _ROLE.fullmatch(part.text)
    if match is None or match["head"].lower().split()[-1] not in _ROLES or not (head := thing(match["head"])):
        return
    tools = text[part.start + match.start("tools") : end]
    names, stop = read_tools(tools)
    if not names and head.lower().split()[-1] in ("provider", "vendor", "hosting", "registrar"):
        names = (
            [match["tools"].rstrip(".!")] if re.fullmatch(r"[A-Z][\w-]+(?:\s[A-Z][\w-]+)?[.!]*", match["tools"]) else []
        )
        stop = len(match["tools"])
    changes = re.match(r"\s?(?:->|→|=>|to\s)", tools[stop:]) is not None  # "queue: RabbitMQ -> SQS"
    if names and not changes and (stop >= len(tools.rstrip(" .!")) or tools[stop] in ",;.( "):
        for name in names:
            yield WorkFact(head, "uses", name, part.start, part.end, "state", part.sure)


_DECIDER = re.compile(
    r"(?:we|i|they|the\steam)(?:['’]ve|\shave|\shad)?\s(?:just\s|now\s|finally\s|also\s|then\s|recently\s)?", re.I
)


def _reasons(text: str, start: int, end: int, part: Part, head: str = "") -> Iterator[WorkFact]:
    """Yield the reason that follows within the same sentence, of the decision as it is told: "chose Svelte over React".

    Args:
        text: the text of the turn.
        start: first character behind the decision.
        end: first character after the sentence.
        part: the part of the sentence that tells the decision.
        head: the decision, if it is not the part up to ``start``.
    """
    head = head or _DECIDER.sub("", text[part.start : start], count=1).strip(" ,:")
    if not 2 <= len(head.split()) <= 10:
        return
    found = _REASON.search(text, start, end)
    if found is None or found.start() > start + 90:
        return
    why = (found["why"] or found["reason"]).strip(" ,)")
    why = re.split(r",\s", why)[0].strip()
    if len(why.split()) > 1:
        yield WorkFact(head, "because", why, start, found.end(), "state", part.sure * GUESSED)


def _name(text: str) -> str:
    text = text.strip("`., ")
    while (first := text.split(" ")[0].lower()) in ("the", "a", "an", "our", "my") and " " in text:
        text = text[len(first) + 1 :]
    return "" if text.lower() in _NO_NAME else text


def _capital(text: str) -> bool:
    return bool(text) and text[0].isupper()
