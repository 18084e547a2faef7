"""Recognise what notes about work give as values: amounts with units, addresses, commands, versions, names of software.

Each is one thing whatever signs it holds: "120 req/min", ``s3://plumb-backups``, ``make ship``, "v2.3.1", "Node 20".
"""

from __future__ import annotations

import re

from mcp_memory.heap import text_cache
from mcp_memory.language.iso import MONTHS, WEEKDAYS
from mcp_memory.language.vocabulary import word_set
from mcp_memory.rules.facts.tables import closed
from mcp_memory.rules.facts.tables.tools import COMMANDS, TOOLS, WORK_WORDS

_UNIT = (
    r"(?:%|percent|[kKMGTP]i?B?(?![A-Za-z])|[kmg]b(?![a-z])|bytes?|bits?|[munµ]s(?![a-z])|s(?![a-z])|secs?|(?:milli)?seconds?"
    r"|mins?|minutes?|m(?![a-z])|hrs?|hours?|h(?![a-z])|d(?![a-z])|days?|weeks?|months?|years?|px|em|rem|pt|dpi|fps|rpm"
    r"|hz|[kKMG]Hz|ct|cents?|eur(?:os?)?|usd|dollars?|pounds?|gbp|chf|[€$£¢]|req(?:uest)?s?|rows?|items?|lines?|spaces?"
    r"|characters?|chars?|words?|entries|records?|results?|pages?|points?|attempts?|retries|tries|times|users?|seats?"
    r"|people|tokens?|connections?|threads?|workers?|replicas?|instances?|nodes?|pods?|cores?|cpus?|files?|messages?"
    r"|jobs?|tasks?|calls?|queries|columns?|vessels?|sensors?|devices?|approvals?|reviewers?|versions?|releases?"
    r"|backups?|copies|snapshots?|steps?|levels?|metres?|meters?|km|cm|mm|kg|kW|°C|degrees)"
)
_COUNTED = r"(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty|thirty|sixty|ninety)"
_PER = r"(?:\s?/\s?\w{1,12}|\s(?:per|a|an|each)\s\w{1,12})"
AMOUNT = (
    rf"(?:[€$£]\s?)?(?:\d[\d.,_]{{0,12}}(?<![.,])(?![\w]*(?:[.:-]\w|/\d))(?:\s?x\s?\d{{1,5}})?(?:\s?{_UNIT}(?!\w))?"
    rf"|{_COUNTED}\s{_UNIT}(?!\w))"
    rf"(?:{_PER}){{0,2}}"
)
"""A number with its unit, "25 MB", "120 req/min per key", "$5", "two weeks"."""
VERSION = r"(?:v\d[\w.-]{0,20}(?<![.-])|\d{1,4}(?:\.\d{1,5}){1,3}(?:[-+]?[\w.]{1,12}(?<!\.))?)"
_SCHEME = r"(?:https?|s3|gs|ssh|ftp|sftp|postgres(?:ql)?|redis|amqps?|mqtts?|wss?|jdbc|file|git)"
_DOMAIN = r"(?:[\w-]{1,40}\.){1,5}" + (
    r"(?:com|org|net|io|dev|app|internal|local|lan|test|cloud|sh|co|eu|de|fr|nl|uk|ai|example|info)"
)
ADDRESS = (
    rf"(?:{_SCHEME}://[^\s`,;)\]]{{1,200}}(?<![.])"
    rf"|git@[\w.-]{{3,60}}:[\w./-]{{3,80}}(?<![.])|\.(?:env|git|docker|eslint|prettier|editor|npm|zsh"
    rf"|bash)[\w-]{{0,20}}(?:\.\w{{1,12}}){{0,2}}(?!\w)"
    rf"|{_DOMAIN}(?::\d{{2,5}})?(?:/[\w./~-]{{0,100}})?(?!\w)"
    r"|(?:localhost|\d{1,3}(?:\.\d{1,3}){3}|[a-z][\w-]{1,40}):\d{2,5}(?!\w)"
    r"|(?:~|\.{1,2})?/?(?:[\w.@*-]{1,60}/){1,8}[\w.@*-]{0,60}(?<![.])|[~.]{0,2}/[\w.@-]{1,60}(?<![.])"
    r"|[\w-]{1,60}\.(?:md|py|js|ts|tsx|jsx|go|rs|json|ya?ml|toml|ini|cfg|conf|env|sql|sh|txt|csv|html|css|xml|lock"
    r"|java|kt|rb"
    r"|php|proto|tf|ipynb|pdf|xlsx?|docx?|log)(?!\w)|[a-z]{2}-[a-z]{4,9}-\d(?!\w)"
    r"|[a-z_]\w{1,30}(?:\.\w{2,30})*:\w{2,30}(?=\s|$)|:\d{4,5}(?!\w)|port\s\d{2,5}(?!\w))"
)
"""A URL, host with port, path, file name, or port."""
_SPOKEN_PAIR = re.compile(r"[a-z]{1,12}/[a-z]{1,12}")


def is_address(text: str) -> bool:
    """Return whether a text is the address of something, not two words with a slash, "and/or", "2/3", "5/min"."""
    if not re.fullmatch(ADDRESS, text) or re.fullmatch(r"[\d./]+|\d[\d.,]*/[A-Za-z]+", text):
        return False
    return not (
        re.fullmatch(r"[\w.-]+/v?\d[\d.]*", text)
        or (_SPOKEN_PAIR.fullmatch(text) and text.partition("/")[0] in _SPOKEN)
    )


_SPOKEN = word_set("and he she his her yes on either pros input read true start him client name i/o tcp n w km req")
_BARE_COMMAND = re.compile(r"[a-z][\w-]{1,20}(?:\s(?:--?)?[\w./:=@-]{1,40}){1,5}")
_PLAIN_COMMANDS = word_set("make just go task fly mix swift brew stack pod bun dart bundle bash node")


_WORDS = (
    closed.PREPOSITIONS
    | closed.EMPTY
    | closed.DETERMINERS
    | closed.FIRST
    | closed.OBJECTIVE
    | closed.ADVERBS
    | closed.AUXILIARIES
    | word_set("sure sense me it fun")
)


def is_command(text: str, *, quoted: bool) -> bool:
    """Return whether a text is a command of a shell.

    Args:
        text: without back-ticks.
        quoted: whether it stands in back-ticks; then one word or a path suffices.
    """
    first = text.split()[0] if text.split() else ""
    if first.startswith("./") or first in COMMANDS:
        rest = text.split()[1:]
        plain = first in _PLAIN_COMMANDS and (len(rest) > 1 or any(word in _WORDS for word in rest))
        return quoted or (not plain and bool(_BARE_COMMAND.fullmatch(text)) and not _WORDS & set(rest))
    return quoted and first.rpartition("/")[2].endswith((".sh", ".py")) and " " in text


_CAMEL = re.compile(
    r"[A-Z]+[a-z]+[A-Z]\w*|[A-Z][a-z]+\d|[A-Z][a-z]+\.(?:js|io|ai|net)|[a-z]+(?:-[a-z0-9]+)*\.(?:js|io)"
)
_COUNTED_WORDS = frozenset(name.lower() for name in (*MONTHS, *WEEKDAYS)) | word_set(
    "version page line chapter step number section day week room phase part point question problem class grade"
    " level figure"
    " table option sprint release port error year years about over under around only the in at on by to for since"
    " until from"
    " code status item ticket issue pr task milestone case top first last next another all and or build series"
    " season unit"
)
_VERSIONED = re.compile(rf"[A-Za-z][\w.+#-]*(?:\s[A-Z]\w+)?\s(?:version\s)?(?:{VERSION}|\d{{1,4}})")
_PLAIN_WORDS = word_set(
    "make render echo black next express go next beam spark flux helix segment linear notion sketch cursor"
    " phoenix click"
    " fish alpine less rest arch unity oracle lambda vault chef puppet drone argo rails gin fiber moment bun"
    " bunny stripe"
    " cert tempo vagrant task poetry hatch salt celery solid loki fly railway spring dart pod just excel gemini claude"
    " windows apple meta slack discord zoom"
)
"""Names of software that are also plain words, so that they need a capital, a version or a sign."""


def is_tool(text: str) -> bool:
    """Return whether a phrase names software, a service, a language or a format: "Node 20", "css modules"."""
    words = text.strip("`").split()
    if not words:
        return False
    text = text.strip("`")
    if (_VERSIONED.fullmatch(text) and words[0].lower() not in _COUNTED_WORDS) or (
        words[-1].lower() in _DESCRIBING and words[0].lower() in TOOLS
    ):
        return True
    return any(_names_tool(word) for word in words)


def _names_tool(word: str) -> bool:
    low = word.lower().rstrip(".")
    if _CAMEL.fullmatch(word):
        return True
    return low in TOOLS and (low not in _PLAIN_WORDS or word[0].isupper())


_DESCRIBING = word_set(
    "shell framework library cli editor db database server client sdk api modules plugin files queue"
)
_ITEM = re.compile(
    r"\s?(?:the\s|a\s|an\s|plain\s|just\s)?(?P<name>`[^`\n]{1,60}`"
    r"|[\w@+#][\w@.+#/-]{0,40}(?:\s[\w@+#(][\w@.+#/-]{0,40}){0,3})"
)
_JOIN = re.compile(r"\s?(?:,\s?(?:and\s|plus\s)?|\sand\s|\splus\s|\swith\s|\s?\+\s|\s?&\s)")
_ENDS_ITEM = (
    closed.PREPOSITIONS
    | closed.CONJUNCTIONS
    | closed.SUBORDINATORS
    | closed.AUXILIARIES
    | word_set(
        "using planned due last this next yesterday every ago now instead too everywhere there here again still"
        " for, is it we i you they already"
        " only here. today currently"
        " installed set up running via not no then therefore but since both all rather also any anymore yet which"
        " that my our your he she"
    )
)


def read_tools(text: str, *, plain: bool = False) -> tuple[list[str], int]:
    """Return the names of software that a text begins with, "Flask 2.3, Redis and uv", and where they end.

    Args:
        plain: whether names that are also plain words count as well, as in a message about work.
        text: behind "we use"; an article before a name is skipped.
    """
    names: list[str] = []
    index = stop = 0
    while len(names) < 8 and (match := _ITEM.match(text, index)):
        name = match["name"] if match["name"].startswith("`") else _cut(match["name"])
        if not name or not (
            _is_quoted_tool(name, text[match.end("name") :])
            if name[0] == "`"
            else is_tool(name) or (plain and name.lower() in TOOLS)
        ):
            break
        names.append(name.strip("`"))
        stop = match.start("name") + len(name)
        join = _JOIN.match(text, stop)
        if join is None:
            break
        index = join.end()
    return names, stop


def _is_quoted_tool(name: str, behind: str) -> bool:
    """Return whether back-ticks name software rather than a word of code, the names of functions."""
    following = re.match(r"\s([a-z]\w*|API)\b", behind)
    if following and following[1].lower() not in _ENDS_ITEM | _DESCRIBING - {"api"} | {"package"}:
        return False
    first = name.strip("`").split()[0].lower()
    return first in TOOLS or bool(_VERSIONED.fullmatch(name.strip("`")))


def _cut(phrase: str) -> str:
    """Return the words of a phrase before the first that belongs to no name."""
    words = phrase.split(" ")
    kept = next((n for n, word in enumerate(words) if word.lower().rstrip(".,") in _ENDS_ITEM), len(words))
    ended = next((n + 1 for n, word in enumerate(words[:kept]) if word.endswith(".")), kept)
    return " ".join(words[: min(kept, ended)]).rstrip(".,/-")


_WORK_SIGNS = re.compile(
    rf"`|(?<![\w.]){_SCHEME}://|\bv\d+\.\d|\b\d+\s?(?:ms|[KMG]i?B)\b|\b\w+\.(?:py|js|ts|md|json|ya?ml)\b"
)
_LETTERS = re.compile(r"[\w.+#-]+")


@text_cache(8)  # asked for each sentence of a message
def is_about_work(text: str) -> bool:
    """Return whether a text is about software or its making, by its words and signs."""
    if _WORK_SIGNS.search(text):
        return True
    return any(
        word.lower().rstrip(".") in WORK_WORDS or _names_tool(word.rstrip("."))
        for word in _LETTERS.findall(text[:2_000])
    )
