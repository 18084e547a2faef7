"""Numbers of payment cards, by issuer, length and check digit."""

from __future__ import annotations

import re
from collections.abc import Iterator

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
