"""What a value looks like: a secret, a placeholder for one, or a word, a name or a number of ordinary talk."""

from __future__ import annotations

import re

from mcp_memory.privacy.nouns import TABLE, WORDS

UNIT = re.compile(
    r"\s?[-–]?\s?(?:char|digit|letter|symbol|word|day|week|month|year|hour|minute|second|time|people|user|euro|dollar"
    r"|step|bit|byte|of\s|and above|or more|or longer|\+|percent|%|°|km|am\b|pm\b|o'clock|zeichen|stellen"
    r"|attempt|tries|person)",
    re.IGNORECASE,
)
_LIKE_A_WORD = re.compile(
    r"[a-z]+(?:ed|ing|able|ible|al|ical|ic|ful|less|ous|ent|ant|ive|ly|ary|en|ght|onger|ption)", re.IGNORECASE
)
_SPOKEN_OF = frozenset(TABLE["words"]["spoken_of"].split())
"""Words that follow "the password is" in prose, and what stands for one in code."""
YEAR = re.compile("(?:19|20)[0-9]{2}")
PLACEHOLDER = re.compile(
    r"[\[{(<…].*|\$[{(].*|\$(?:[A-Z_][A-Z0-9_]*|[a-z_]+)[;)]*|%\w+%?\S*|[*•xX.?_-]{3,}\S?|"
    r"(?-i:[A-Z_]*(?:PASS|PWD|SECRET|TOKEN|KEY|PIN|CODE)[A-Z_]*)|https?:.*|process\.\S*|os\.\S*"
    r"|/[a-z._-]+/\S*|~/\S*|\.{1,2}/\S*|(?:your|my|the|some|new|old|test|dummy|fake|sample|example|change|me|in|production"
    r"|redacted|masked|env|here|secret|token|password|passwd|pass|word|key|api|none|null|true|false|undefined|string|str|int|required"
    r"|optional|value|is|user|db|1password|placeholder|todo|tbd|insert|enter|goes|hidden|[_.\-!])+",
    re.IGNORECASE,
)
_NAMES = re.compile(r"[A-Za-z_]\w*(?:(?:\.|->|::)[A-Za-z_]\w*)+")
_CONSTANT = re.compile(
    r"_*(?:[A-Z][A-Z0-9]*(?:_[A-Z][A-Z0-9]*)+|[a-z][a-z0-9]*(?:_[a-z][a-z0-9]*)+)|[A-Za-z_][\w.]*[(\[].*"
    r"|[A-Z]\w*(?:Key|Token|Secret|Password|Credentials?)"
)
"""Names and calls in code."""
_DICEWARE = re.compile(
    r"(?![\w-]*[-_.](?:to|of|by|the|in|and|a)[-_.])(?:[A-Za-z]{3,}(?:[-_.][A-Za-z]{3,}){2,}"
    r"|(?=.{14})[A-Za-z]{2,}(?:-[A-Za-z]{2,}){2,})\d{0,4}"
)
TRAILING = ".,;:?)]}"
_HEX = re.compile(r"(?:0x)?(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{10,}", re.IGNORECASE)
DIGITS = re.compile(r"[#*]?\d(?:[ .-]?\d){2,11}[#*]?(?![\w%€$]|[.,:/-]\w)")
_BLOCKS = re.compile(r"[A-Za-z0-9]{4,8}(?:[- ][A-Za-z0-9]{2,8}){2,15}(?![\w-])")
_MIXED_CASE = re.compile(r"(?=[^a-z]*[a-z])(?=[^A-Z]*[A-Z])(?=\D*\d\D*\d)[A-Za-z0-9]{10,}")


def is_plain_word(value: str) -> bool:
    """Return whether a word is one that people take for a password, not one by which they speak of passwords."""
    lower = value.lower()
    return (
        len(value) >= 4
        and all(char.isalpha() or char in "-_'’" for char in value)
        and lower not in _SPOKEN_OF
        and lower not in WORDS
        and not any(lower.endswith(word) for word in ("password", "token", "secret", "key", "passwort"))
        and not _LIKE_A_WORD.fullmatch(lower)
        and not (PLACEHOLDER.fullmatch(value) or _CONSTANT.fullmatch(value))
        and ("-" not in value or _DICEWARE.fullmatch(value) is not None)
    )


def is_unspoken(words: str) -> bool:
    """Return whether a phrase has none of the words by which people speak of secrets."""
    return _SPOKEN_OF.isdisjoint(words.lower().split())


def is_shaped(value: str, *, least: int) -> bool:
    """Return whether a value looks like one that people or programs make up to be secret.

    Args:
        value: without quotes.
        least: characters of the shortest.
    """
    if len(value) < least or len(set(value)) < min(4, least) or not any(map(str.isalpha, value)):
        return False
    words = _DICEWARE.fullmatch(value) is not None
    signs = any(not char.isalnum() and char not in "_-.:/'’,;()" for char in value)
    if not (words or signs or any(map(str.isdigit, value))):
        return False
    return not any(known.fullmatch(value) for known in (PLACEHOLDER, _NAMES, _CONSTANT))


def is_random(value: str) -> bool:
    """Return whether nobody would say such a value in other words: hexadecimal digits, or a long mix with figures."""
    if _HEX.fullmatch(value) or _MIXED_CASE.fullmatch(value) or (value.isdigit() and len(value) > 11):
        return True
    return len(value) >= 16 and sum(map(str.isdigit, value)) >= 3 and is_shaped(value, least=16)


def groups(text: str, start: int) -> re.Match[str] | None:
    """Return blocks of letters and digits as programs give them out: "jv4x 2azj vp2y", "415752-699801-592639"."""
    found = _BLOCKS.match(text, start)
    blocks = re.split("[ -]", found[0]) if found else []
    if found is None or len(set(map(len, blocks[:-1]))) > 1:
        return None
    if len(blocks) == 4 and len(blocks[3]) == 4 and found[0].islower() and not set(blocks) & _SPOKEN_OF:
        return found
    figures = sum(any(map(str.isdigit, block)) for block in blocks)
    return found if figures * (2 if found[0].isupper() else 1.5) >= len(blocks) else None
