"""Tell names of software, and whether a text is about software or its making."""

from __future__ import annotations

import re

from mcp_memory.heap import text_cache
from mcp_memory.language.iso import MONTHS, WEEKDAYS
from mcp_memory.language.vocabulary import word_set
from mcp_memory.rules.facts.tables.tools import TOOLS, WORK_WORDS

_VERSION = r"(?:v\d[\w.-]{0,20}(?<![.-])|\d{1,4}(?:\.\d{1,5}){1,3}(?:[-+]?[\w.]{1,12}(?<!\.))?)"
_SCHEME = r"(?:https?|s3|gs|ssh|ftp|sftp|postgres(?:ql)?|redis|amqps?|mqtts?|wss?|jdbc|file|git)"
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
_VERSIONED = re.compile(rf"[A-Za-z][\w.+#-]*(?:\s[A-Z]\w+)?\s(?:version\s)?(?:{_VERSION}|\d{{1,4}})")
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
