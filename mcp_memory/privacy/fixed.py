"""Secrets whose form is fixed: numbers of cards, secrets in a header, in a program's options, or by what they open."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mcp_memory.privacy.shapes import DIGITS, PLACEHOLDER, UNIT

_BY = r"[\s.\u2010-\u2014-]{1,2}"
_CARD = re.compile(
    rf"[0-9]{{4}}(?:(?P<by>{_BY})[0-9]{{4}}(?P=by)[0-9]{{4}}(?P=by)[0-9]{{4}}"
    rf"|(?P<as>{_BY})[0-9]{{6}}(?P=as)[0-9]{{4,5}}|[0-9]{{10,15}})"
)
_ISSUERS = (
    (16, re.compile(r"4|5[1-5]|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)|6011|64[4-9]|65|352[89]|35[3-8]\d|62")),
    (15, re.compile(r"3[47]")),
    (14, re.compile(r"30[0-5]|3[68]")),
    (19, re.compile(r"62")),
)
"""How many digits cards have, and how their numbers then begin."""
_JOINS = frozenset("_.,+#$/-")


def cards(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and kind of each number of a payment card: its issuer, length and check digit (Luhn) fit."""
    for match in _CARD.finditer(text):
        start, end = match.span()
        before, after = text[max(0, start - 1) : start], text[end : end + 2]
        if (
            before.isalnum()
            or before in _JOINS
            or after[:1].isalnum()
            or (after[:1] in ("-", ".", ",") and after[1:].isdigit())
        ):
            continue
        number = "".join(filter(str.isdigit, match[0]))
        if any(len(number) == length and issuer.match(number) for length, issuer in _ISSUERS) and _luhn(number):
            yield start, end, "card number"


def _luhn(number: str) -> bool:
    doubled = (0, 2, 4, 6, 8, 1, 3, 5, 7, 9)
    pairs = enumerate(reversed(number))
    return sum(doubled[int(digit)] if place % 2 else int(digit) for place, digit in pairs) % 10 == 0


Found = tuple[int, int, str]
"""Start, end (exclusive) and kind of a secret."""

_FIXED = (
    ("bearer", re.compile(r"bearer\s{1,3}(?P<value>(?=[^\s\d]*\d)[\w.~+/-]{20,2000}={0,2})", re.IGNORECASE)),
    (
        "authorization",
        re.compile(
            r"authorization.{0,12}\bbasic\s{1,3}(?P<value>(?=\D{0,200}\d)[A-Za-z0-9+/]{8,500}={0,2})", re.IGNORECASE
        ),
    ),
    (
        "cookie",
        re.compile(
            r"(?:(?<=cookie: )|(?<=; )|(?<=;)|(?<=cookie ['\"]))"
            r"[\w.-]{1,40}=(?P<value>[^\s;,\"']{16,4096})",
            re.IGNORECASE,
        ),
    ),
    ("wifi:", re.compile(r"WIFI:(?:[A-Z]:[^;\n]{0,64};){0,5}?P:(?P<value>(?:\\.|[^;\\\n]){3,100});", re.IGNORECASE)),
)
"""What begins a form that is fixed by a standard or a program, and where the secret stands in it."""
_OPTIONS = re.compile(
    r"\b(?:(?:mysql\w*|mariadb[\w-]*|7za?|7zr)\b[^\n|]{0,120}?\s-p"
    r"|(?:sshpass|docker login|podman login)\b[^\n|]{0,80}?\s-p\s?"
    r"|(?:curl|wget)\b[^\n|]{0,120}?\s(?:-u|--user|--proxy-user)[\s=]?[\"']?[\w.@+-]{1,64}:|redis-cli\b[^\n|]{0,80}?\s-a\s"
    r"|ConvertTo-SecureString\s(?:-String\s)?|ldap\w+\b[^\n|]{0,120}?\s-w\s|zip\b[^\n|]{0,80}?\s-P\s?|openssl\b[^\n|]{0,160}?\s(?:-pass(?:in|out)?\spass:|-k\s)"
    r"|net use\b[^\n|]{0,120}?\s/user:\S{1,64}\s)"
    r"[\"']?(?P<value>(?!\[secret\])[^\s\"'|@]{3,100})"
)
"""Programs whose options take a password."""
_PROGRAMS = (
    *("mysql", "maria", "7z", "login", "sshpass", "curl", "wget"),
    *("redis-cli", "ldap", "zip", "openssl", "net use", "ConvertTo"),
)
_LOCKED = (
    r"(?:key ?pad|key ?box|lock ?box|doors?|gates?|safe|vault|locker|lock|alarm|panel|garage|intercom|shed|cabinet"
    r"|suitcase|phone|tablet|ipad|laptop|barrier|haustür|tür|tor|tresor|porte|portail|coffre|puerta|porta|portão|cancello)"
)
_OPENED = re.compile(
    rf"\b(?:disarm\w*|(?:un)?arm|(?:{_LOCKED}\b[^.!?\n\d]{{0,40}}\s(?:opens?|unlocks?|opened|unlocked|geht auf|öffnet)"
    rf"|(?:open|unlock)s?\s[^.!?\n\d]{{0,30}}\b{_LOCKED})\b)[^.!?\n\d]{{0,20}}?"
    r"\s(?:with|using|by typing|by entering|mit|is|code|:)\s(?:the\s)?(?:code\s|pin\s|number\s)?(?P<with>[#*]?\d)"
    r"|\b(?:(?:combo|bike|pad|combination|number)[ -]?lock|lock ?box|key ?box|key ?pad|key ?safe|schlüsseltresor)\b"
    r"[^.!?\n\d]{0,24}?[\s:](?P<beside>\d)"
    rf"|\b{_LOCKED}\s?:\s?(?P<hash>[#*]?)(?=[#*]\d|\d{{3,8}}[#*])"
    r"|\b(?:type|enter|punch|dial|key|tap|press|use|hit|input|tippe?|gib|tapez|marca|digita)\s(?:in\s|the\s|code\s|pin\s){0,2}"
    rf"(?P<typed>[#*]?\d)[\d .#*-]{{2,14}}\s?(?:in\s)?(?:on|at|into|in|to|for|am|an|bei|sur|en|en el|no|na)\s"
    rf"[^.!?\n\d]{{0,24}}?\b{_LOCKED}\b",
    re.IGNORECASE,
)
"""A number that something locked is opened with, told without any noun for it."""
_LOCKS = (
    *("lock", "door", "gate", "alarm", "arm ", "keypad", "key pad", "key box"),
    *("safe", "panel", "garage", "tür", "port", "puerta"),
)
COUNTED = re.compile(
    r"\s(?!(?:within|and|then|or|before|after|in|at|on|to|from|und|et|y|e|for|when|if|followed)\b)[^\W\d_]"
)
"""A word behind a number that says what is counted."""


def fixed_secrets(text: str, lower: str, figures: bytes) -> Iterator[Found]:
    """Yield start, end and kind of each.

    Args:
        text: the text.
        lower: the same in lower case.
        figures: its figures, colons, bars and signs of equation, alone.
    """
    if (" -" in text or "/user:" in text) and any([one in text for one in _PROGRAMS]):  # noqa: C419 - a list is faster
        for option in _OPTIONS.finditer(text):
            if not PLACEHOLDER.fullmatch(option["value"]):
                yield *option.span("value"), "password"
    for core, form in _FIXED if figures else ():
        if core in lower:
            given = (found for found in form.finditer(text) if not PLACEHOLDER.fullmatch(found["value"]))
            yield from ((*found.span("value"), "secret") for found in given)
    if len(figures.translate(None, b":=|")) > 2 and any([one in lower for one in _LOCKS]):  # noqa: C419
        for found in _OPENED.finditer(text):
            number = DIGITS.match(text, found.start(found.lastgroup or 0))
            if number and not COUNTED.match(text, number.end()) and not UNIT.match(text, number.end()):
                yield *number.span(), "PIN"
