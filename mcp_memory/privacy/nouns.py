"""The nouns by which people and programs call secrets (``resources/secrets.toml``), and those that a text has.

A noun counts alone ("password", "contraseña", DB_PASSWORD), or with a word that qualifies it ("API key", "door code",
"code of the safe"): most keys and codes are no secrets. A word behind it can make it the name of something else
("password manager", "token_count").
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from mcp_memory.texts import resource

Kind = Literal["password", "phrase", "login", "secret", "PIN", "code", "key"]
TABLE = tomllib.loads(resource("secrets.toml"))
WORDS: dict[str, Kind] = {word: kind for kind, words in TABLE["nouns"].items() for word in words.split()}
_QUALIFIERS = {
    name: re.compile(rf"\b(?:{words.replace(chr(10), '')})\W{{0,3}}$") for name, words in TABLE["qualified"].items()
}
_PLACE = re.compile(
    r"(?:for|of|to|at|on|für|zu[mr]|de[rsl]?|della|d[aou]|la|du|pour|para|van|от|для)\b[^.!?\n]{0,24}?"
    r"\b(?:get in\b|doors?|gates?|garage|alarm|entry|entrance|safe|lockers?|lock|lock ?box|key ?pad|vault|building"
    r"|shed|gym|office|house|flat|apartment|(?:haus)?tür|tor|tresor|puerta|porte|portail|porta|cancello|voordeur|двери)\b"
)
_ACCESS = re.compile(
    r"(?:for|of|to|für|zum|vom|del?|d[aou]|du|per|от|для)\b[^.!?\n]{0,24}?\b(?:wi-?fi|wlan|router|api|account|vpn"
    r"|network|netz|réseau|cuenta|conta|compte|konto|banco|bank|email|correo)\b"
)
_OWNED = re.compile(
    r"\b(?:my|your|his|her|our|their|card|sim|bank|debit|phone|atm|voicemail|meine?r?|the|new|old)\W{0,2}(?:\w+\s)?$"
)
NO_VALUE = frozenset(TABLE["words"]["no_value"].split())
"""Words behind a noun that make it the name of something that is no secret."""


def _any_of(words: frozenset[str]) -> re.Pattern[str]:
    """Return a pattern of words that branches by their first letters, which is twice as fast."""
    by_letter: dict[str, list[str]] = {}
    for word in sorted(words, reverse=True):
        by_letter.setdefault(word[0], []).append(word[1:])
    return re.compile("|".join(f"{letter}(?:{'|'.join(rest)})" for letter, rest in by_letter.items()))


_CORES = frozenset(word for word in WORDS if not any(other != word and other in word for other in WORDS))
"""The nouns that hold no shorter one: whatever has a noun has one of them."""
_IN_ASCII, _IN_ANY = _any_of(frozenset(filter(str.isascii, _CORES))), _any_of(_CORES)
_PART = re.compile(r"[A-Z]+(?![a-zß-ÿ])|[A-Z]?[^\W\dA-Z_]+|[^\W\d_]+")
_LONGEST = 40
_NAME = re.compile(rf"[\w-]{{0,{_LONGEST}}}")


@dataclass(frozen=True, slots=True)
class Noun:
    """A noun in a text that names a secret.

    Attributes:
        kind: of the secret.
        start: first character of its word.
        end: first character after the word.
        certain: whether it can hardly mean anything else; else its value has to show that it is a secret.
    """

    kind: Kind
    start: int
    end: int
    certain: bool


def find_nouns(text: str) -> Iterator[Noun]:
    """Yield the nouns of a text, each once."""
    lower = text.lower()
    if len(lower) != len(text):  # a few letters of other scripts grow
        lower = text
    end = 0
    for found in (_IN_ASCII if text.isascii() else _IN_ANY).finditer(lower):
        if found.start() >= end:
            end, noun = _noun_at(text, lower, found.start(), found[0])
            if noun is not None:
                yield noun


def _noun_at(text: str, lower: str, place: int, core: str) -> tuple[int, Noun | None]:
    """Return where the word at a place ends, and the noun that it is, if any."""
    if core > "\u0900":  # scripts that have no spaces
        return place + len(core), Noun(WORDS[core], place, place + len(core), certain=True)
    start = place
    while start and place - start < _LONGEST and (text[start - 1].isalnum() or text[start - 1] in "_-"):
        start -= 1
    end = max(_end_of_name(text, place), place + 1)
    parts = [one[0].lower() for one in _PART.finditer(text, start, end)]
    rest = next((n for n in range(len(parts) - 1, -1, -1) if _word_in(parts[n])), None)
    following = lower[end + 1 : _end_of_name(text, end + 1)] if text[end : end + 1] == " " else ""
    if rest is None or (rest < len(parts) - 1 and parts[-1] in NO_VALUE) or following in NO_VALUE:
        return end, None
    word = _word_in(parts[rest])
    prefix = " ".join([*parts[:rest], parts[rest].removesuffix(word)]).strip()
    before = lower[max(0, start - 24) : start] + (f"{prefix} " if prefix else "")
    certain = _is_certain(word, before, lower, end, capital=text[start:end] == "PIN")
    kind: Kind = "secret" if certain and WORDS[word] == "key" else WORDS[word]
    return end, None if certain is None else Noun(kind, start, end, certain)


def _end_of_name(text: str, place: int) -> int:
    found = _NAME.match(text, place)
    return found.end() if found else place


def _word_in(part: str) -> str:
    """Return the noun that a part of a name is, or that it ends in: "password", "wifipassword", "apikey"; else ""."""
    if part in WORDS:
        return part
    word = next(
        (word for word in ("password", "passwort", "secret", "token", "key", "code") if part.endswith(word)), ""
    )
    kind = WORDS.get(word)
    front = part.removesuffix(word)
    fused = kind == "password" or front in ("client", "app", "api", "auth", "access", "bot", "refresh", "webhook")
    return word if fused or (kind in _QUALIFIERS and _QUALIFIERS[kind].fullmatch(front)) else ""


def _is_certain(word: str, before: str, lower: str, end: int, *, capital: bool) -> bool | None:
    """Return whether what stands around a noun leaves no doubt that it is a secret's; None if it is another thing's."""
    kind = WORDS[word]
    if word == "pass":
        return _ACCESS.match(lower, end + 1) is not None
    if word == "seed":
        return False
    if word == "pin":
        return capital or lower[end : end + 5] in (" code", " numb") or _OWNED.search(before) is not None
    qualifier = _QUALIFIERS.get(word) or _QUALIFIERS.get(kind)
    if qualifier is None or word in ("passphrase", "mnemonic", "otp", "totp", "türcode") or qualifier.search(before):
        return True
    if kind == "key":
        owned = re.search(r"\b(?:my|our|the|mein\w*|mi|ma)\s$", before) is not None
        return True if _ACCESS.match(lower, end + 1, end + 48) else False if owned else None
    return True if kind == "code" and _PLACE.match(lower, end + 1, end + 48) else None
