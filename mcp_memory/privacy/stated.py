"""Secrets known by what stands beside them: "password=…", "the wifi password is …", "Authorization: Bearer …"; cards.

A value beside such a word is masked if it looks like a secret and not like code, prose or a placeholder: it mixes
letters with digits or signs, is no call, path of names or variable, and no hash ("password_hash"). All patterns are
bounded or anchored, so they take linear time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_CORES = ("pass", "kennwort", "contrase", "pwd", "secret", "token", "key", "credential")
"""What every word below holds; found by plain search, which is twenty times as fast as the patterns."""
_ALL = (*_CORES, "pin", "cvv", "cvc", "code", "combination", "bearer", "basic")
_WORD = re.compile(
    r"pass(?:word|wd|phrase|code|wort)|kennwort|contrase[nñ]a|(?<![a-z])pwd|"
    r"(?<![a-z])secret(?:[_-]?(?:access[_-]?)?key)?|(?<![a-z])(?:client|app|api|shared|signing|webhook)secret|"
    r"(?<![a-z])(?:access|auth|bearer|refresh|session|bot|api)?[_-]?token|(?<![a-z])credentials?|"
    r"(?:api|access|auth|account|encryption|signing|service|private|master|shared)[_-]?key",
    re.IGNORECASE,
)
_REST = re.compile(r"[\w-]{0,30}")
_ASSIGNED = (
    r"(?:(?P<quote>[\"'`])(?P<quoted>[^\"'`\n]{4,200})(?P=quote)|(?P<bare>[^\s\"'`,;<>()\[\]{}&|]{4,200})(?P<next>.?))"
)
_SIGNS = r"[\"'`]?\]?\s{0,3}(?::=|=>|={1,2}|:)\s{0,3}"
_VALUE = re.compile(_SIGNS + _ASSIGNED)
_STATED_VALUE = re.compile(rf"(?:{_SIGNS}| ){_ASSIGNED}")
_PASSWORD = re.compile(r"pass(?:word|phrase|code|wort)|kennwort", re.IGNORECASE)
_SAID = re.compile(
    r"(?: (?:for|of|to|on) [\w' -]{1,30}?)? (?:is|was|ist|lautet)(?: now)?:? [\"'`]?(?P<value>[^\s\"'`]{4,100})",
    re.IGNORECASE,
)
_NUMBERS = re.compile(
    r"(?:pin|cv[vc]2?)(?: (?:code|number))?(?: is |\s?[:=]\s?| ist )(?P<value>\d{3,8}[#*]?)(?![\w.,]\d|\w)",
    re.IGNORECASE,
)
_ABOUT = r"(?P<about> (?:for|of|to|at|on) [\w' -]{1,30}?)?(?:\s?[:=]\s?| (?:is|was|ist|lautet)(?: now)?:? | )"
_CODE = re.compile(_ABOUT + r"(?P<value>[#*]?\d{3,10}[#*]?|\d{1,2}(?:-\d{1,2}){2,3})(?![\w.,:-]\d|\w)", re.IGNORECASE)
_PLACE = re.compile(
    r"(?:door|gate|garage|alarm|entry|entrance|access|security|safe|locker|pad ?lock|lock|key ?pad|sim|unlock)[ -]?$",
    re.IGNORECASE,
)
_KEY = re.compile(_ABOUT + r"[\"'`]?(?P<value>[\w.~+/=-]{10,200})", re.IGNORECASE)
_QUALIFIED = re.compile(
    r"(?:(?:api|access|auth|account|app|client|(?:en|de)cryption|aes|hmac|hex|wpa2?|wi-?fi|network|recovery|licen[cs]e|"
    r"product|signing|service|private|master|shared|secret|session|bearer|refresh|bot)[ _-]?|\b(?:my|our|the) )$",
    re.IGNORECASE,
)
_HEX = re.compile(r"(?:0x)?(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{10,}", re.IGNORECASE)
_HEADERS = (
    re.compile(r"bearer\s{1,3}(?P<value>[\w.~+/-]{20,2000}={0,2})", re.IGNORECASE),
    re.compile(r"basic\s{1,3}(?P<value>[A-Za-z0-9+/]{8,500}={0,2})", re.IGNORECASE),
)
_CARD = re.compile(
    r"[0-9]{4}(?:(?P<by>[ -])[0-9]{4}(?P=by)[0-9]{4}(?P=by)[0-9]{4}|(?P<as>[ -])[0-9]{6}(?P=as)[0-9]{4,5}|[0-9]{10,15})"
)
_ISSUERS = (
    (16, re.compile(r"4|5[1-5]|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)|6011|64[4-9]|65|352[89]|35[3-8]\d|62")),
    (15, re.compile(r"3[47]")),
    (14, re.compile(r"30[0-5]|3[68]")),
    (19, re.compile(r"62")),
)
"""How many digits cards have, and how their numbers then begin."""

_NO_VALUE = frozenset(("hash", "hashed", "digest", "id", "ids", "name", "length", "len", "min", "max", "file", "path",
                       "url", "uri", "field", "type", "count", "policy", "version", "date", "at", "expiry", "ttl",
                       "limit", "usage", "budget", "size"))  # fmt: skip
_PLACEHOLDER = re.compile(
    r"[\[{(<$%*…]|x{3}|\.{2}|(?:your|my|the|some|new|old|test|dummy|fake|sample|example|change|redacted|masked|env|"
    r"secret|token|pass|key|api|none|null|true|false|undefined|string|str|int|required|optional|process\.|os\.|"
    r"https?:|/[a-z._-]+/|~/|\./)",
    re.IGNORECASE,
)
_NAMES = re.compile(r"[A-Za-z_]\w*(?:(?:\.|->|::)[A-Za-z_]\w*)+")
_CONSTANT = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|[a-z]+(?:_[a-z0-9]+)+")
_JOINS = frozenset("_.,+#$/-")
_TRAILING = ".,;:!?)\"'`"


def stated_secrets(text: str, *, statement: bool = False) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and kind of each secret that the words beside it show.

    Args:
        text: the text to search.
        statement: whether it is a caller's fact in words, "router password …", without any sign between the two.
    """
    pattern = _STATED_VALUE if statement else _VALUE
    lower = text.lower()
    if len(lower) != len(text):  # a few letters of other scripts grow
        lower = text
    if not any([core in lower for core in _ALL]):  # noqa: C419 - a list takes half the time of a generator
        return
    seen = -1
    for core in _CORES:
        for place in _hits(lower, core):
            if core == "pass" and (word := _PASSWORD.match(text, place)) and (said := _SAID.match(text, word.end())):
                value = said["value"].rstrip(_TRAILING)
                if _looks_secret(value, least=4, digits=True):
                    yield said.start("value"), said.start("value") + len(value), "password"
            rest = _REST.match(text, place)
            if rest is not None and (value_ := pattern.match(text, rest.end())) and rest.end() != seen:
                seen = rest.end()
                yield from _assigned(text, place, value_)
    for core in ("key", "token", "secret"):
        for place in _hits(lower, core):
            key = _KEY.match(text, place + len(core))
            if key is None or not _looks_random(value := key["value"].rstrip(_TRAILING)):
                continue
            if _QUALIFIED.search(text, max(0, place - 14), place):
                yield key.start("value"), key.start("value") + len(value), "secret"
    for core in ("code", "combination", "pin"):
        for place in _hits(lower, core):
            if code := _CODE.match(text, place + len(core)):
                where = _PLACE.search(text, max(0, place - 14), place) or _PLACE.search((code["about"] or "").strip())
                if where is not None:
                    yield *code.span("value"), "PIN"
    for core in ("pin", "cvv", "cvc"):
        for place in _hits(lower, core):
            if (number := _NUMBERS.match(text, place)) and not (place and text[place - 1].isalpha()):
                yield *number.span("value"), "PIN"
    for core, header in zip(("bearer", "basic"), _HEADERS, strict=True):
        for place in _hits(lower, core):
            found = header.match(text, place)
            if found is None or not any(map(str.isdigit, found["value"])):
                continue
            if core == "bearer" or "authorization" in lower[max(0, place - 24) : place]:
                yield *found.span("value"), "token"


def _hits(text: str, core: str) -> Iterator[int]:
    """Yield where a text holds a word."""
    place = text.find(core)
    while place >= 0:
        yield place
        place = text.find(core, place + 1)


def _assigned(text: str, place: int, value: re.Match[str]) -> Iterator[tuple[int, int, str]]:
    """Yield the value that is assigned to a name, if the name is that of a secret, and the value looks like one."""
    end, start = value.start(), place
    while start and place - start < 40 and (text[start - 1].isalnum() or text[start - 1] in "_-"):
        start -= 1
    name = text[start:end]
    word = _WORD.search(name)
    if word is None or re.split(r"[_-]", name[word.end() :].strip("_-").lower())[-1] in _NO_VALUE:
        return
    password = word[0].lower().startswith(("pass", "pwd", "kenn", "contra"))
    if value["quoted"] is not None:
        begin, found = value.start("quoted"), value["quoted"]
        if " " in found and not word[0].lower().endswith("phrase"):
            return
    else:
        begin, found = value.start("bare"), value["bare"].rstrip(".,;:")
        if value["next"] in ("(", "["):
            return
    if _looks_secret(found, least=5 if password else 12, digits=False):
        yield begin, begin + len(found), "password" if password else "secret"


def _looks_secret(value: str, *, least: int, digits: bool) -> bool:
    """Return whether a value is one that people or programs make up to be secret.

    Args:
        value: without quotes.
        least: characters of the shortest.
        digits: whether digits alone are one, too.
    """
    if len(value) < least or len(set(value)) < min(4, least) or _PLACEHOLDER.match(value):
        return False
    if _NAMES.fullmatch(value) or _CONSTANT.fullmatch(value):
        return False
    letters, figures = any(map(str.isalpha, value)), any(map(str.isdigit, value))
    if not letters:
        return digits and value.isdigit()
    signs = any(not char.isalnum() and char not in "_-.:/'’" for char in value)
    return figures or signs


def _looks_random(value: str) -> bool:
    """Return whether nobody would say such a value in other words: hexadecimal digits, or a long mix with figures."""
    if _HEX.fullmatch(value):
        return True
    return len(value) >= 16 and sum(map(str.isdigit, value)) >= 3 and _looks_secret(value, least=16, digits=False)


def cards(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and kind of each number of a payment card: its issuer, length and check digit (Luhn) fit."""
    if not any([digit in text for digit in "0123456789"]):  # noqa: C419
        return
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
        number = match[0].replace(" ", "").replace("-", "")
        if any(len(number) == length and issuer.match(number) for length, issuer in _ISSUERS) and _luhn(number):
            yield start, end, "card number"


def _luhn(number: str) -> bool:
    doubled = (0, 2, 4, 6, 8, 1, 3, 5, 7, 9)
    pairs = enumerate(reversed(number))
    return sum(doubled[int(digit)] if place % 2 else int(digit) for place, digit in pairs) % 10 == 0
