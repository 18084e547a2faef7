"""Secrets that nobody ever had, put together when a test runs, so that no scanner of repositories trips on this file.

A line of ``made_up.txt`` has a kind and its form: `{36}` stands for so many letters and digits of a seeded stream,
`{32:HEX}` for those of an alphabet, and the secret is all of it, or what « and » enclose. Where · stands is nothing.
"""

from __future__ import annotations

import random
import re
import string
from pathlib import Path

DIGITS, HEX = string.digits, string.digits + "abcdef"
ALNUM = string.ascii_letters + DIGITS
ALPHABETS = {
    "": ALNUM, "DIGITS": DIGITS, "NO_ZERO": DIGITS[1:], "HEX": HEX, "LETTERS": string.ascii_letters,
    "UPPER": string.ascii_uppercase, "UPPER_DIGITS": string.ascii_uppercase + DIGITS, "URL_SAFE": ALNUM + "-_",
    "BASE64": ALNUM + "+/", "BASE32": string.ascii_uppercase + "234567", "BECH32": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
}  # fmt: skip
LINES = Path(__file__).with_name("made_up.txt").read_text(encoding="utf-8").splitlines()
FORMS = dict(line.replace("·", "").replace("\\n", "\n").split(" = ", 1) for line in LINES)
_PIECE = re.compile(r"\{(\d+|pem|card):?([^{}\"]*)\}")


class Stream:
    """Characters of a seeded random stream."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def __call__(self, count: int, alphabet: str = ALNUM) -> str:
        """Return so many characters; mixed ones hold at least a digit, a small and a capital letter."""
        made = [self._random.choice(alphabet) for _ in range(count)]
        if len(alphabet) >= len(ALNUM) and count >= 6:
            made[1], made[count // 2], made[-2] = "k", "7", "Q"
        return "".join(made)

    def piece(self, what: str, of: str) -> str:
        """Return what a piece of a form stands for."""
        if what == "pem":  # as OpenSSL writes a key
            body = "\n".join(self(64, ALPHABETS["BASE64"]) for _ in range(6))
            return f"-----BEGIN {of}-----\n{body}\n{self(30)}==\n-----END {of}-----"
        if what == "card":
            prefix, length, groups = of.split(",")
            return card(prefix, int(length), self, groups)
        return self(int(what), ALPHABETS[of])


def card(prefix: str, length: int, some: Stream, groups: str) -> str:
    """Return a number with the check digit of Luhn; ``groups`` separates its groups of four."""
    digits = prefix + some(length - len(prefix) - 1, DIGITS)
    total = 0
    for place, digit in enumerate(reversed(digits)):
        doubled = int(digit) * (2 - place % 2)
        total += doubled - 9 if doubled > 9 else doubled
    number = digits + str(-total % 10)
    return groups.join(number[start : start + 4] for start in range(0, length, 4)) if groups else number


def made_up(kind: str, seed: int = 7) -> tuple[str, str]:
    """Return a secret of a kind, and a text with it."""
    some, form = Stream(seed), FORMS[kind]
    text = _PIECE.sub(lambda found: some.piece(found[1], found[2]), form)
    if "«" not in form:
        text = f"For the record, the deploy uses «{text}» since May."
    before, secret, behind = re.split("[«»]", text)
    return secret, before + secret + behind
