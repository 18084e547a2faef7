"""Find secrets in a text, and mask them.

They are known by the words beside them (``stated.py``), or by their own form: keys and tokens with their issuer's
prefix, private keys, cards, headers, options. The forms of keys, tokens and options stand in
``resources/secrets.toml``. Each has literal hints: it is tried only in a text that holds one of them, so a text without
any costs a few microseconds. All patterns are bounded, so that they take linear time, and match the whole secret, which
is then masked to the end of its word. Nothing is verified: no request is ever sent.

**What the user tells to have it remembered** ("Remember that the door code is 4711#") stays readable
(``privacy.told``): who asks for it wants to read it again. It has to be the user's own and nothing else: one short line
that begins with the request, with no quotation in it, written here and not imported. So neither a stranger's words nor
a pasted text keep a secret readable.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

from mcp_memory.configurable import PrivacySettings
from mcp_memory.domain.batch import KEEP, Found, Masking
from mcp_memory.domain.spelling import readable, readable_places
from mcp_memory.domain.turns import IMPORTED, Turn, by_user
from mcp_memory.privacy.stated import PLACEHOLDER, TABLE, stated_secrets

RULES_VERSION = 5
"""Raised whenever other texts are masked than before: a view that was saved with other masks is not read again."""
_LONGEST = 300
_ASKED = re.compile(
    r"\W*(?:(?:ok|okay|hi|hey|so|and|also|please|pls|kindly|can|could|will|would|you|i|want|need|would like|to|always"
    r"|bitte|kannst|du|por favor|s'il te plaît)[\s,]+){0,5}"
    r"(?:remember|memori[sz]e|don['’]?t forget|do not forget|keep in mind|save|note|merk(?:e)? dir|vergiss nicht"
    r"|erinnere? dich|recuerda|no olvides|retiens|n['’]oublie pas|souviens-toi|ricorda|lembre|onthoud)\b",
    re.IGNORECASE,
)
_NOT_OWN = re.compile('[\n\r\u2028\u2029\x85"“”„«»`<>]')


def masking_of(chosen: PrivacySettings) -> Masking:
    """Return the masking that the settings ask for."""
    if chosen.secrets == "keep":
        return KEEP
    told = chosen.secrets == "mask" and chosen.told == "keep"
    return Masking(find_secrets, is_told if told else KEEP.keeps, refuses=chosen.secrets == "refuse")


def find_secrets(text: str, *, statement: bool = False) -> list[Found]:
    """Return the secrets of a text, in order; where several rules find one, the widest span and the first kind.

    It is read without invisible signs, as it will be shown: they come along with what is copied from pages.
    """
    said, text = text, readable(text)
    found = [*_issued_secrets(text), *stated_secrets(text, statement=statement)]
    merged: list[Found] = []
    for start, end, kind in sorted(found, key=lambda one: (one[0], -one[1])):
        if merged and start < merged[-1][1]:
            first, last, known = merged[-1]
            merged[-1] = first, max(last, end), known
        else:
            merged.append((start, end, kind))
    if not merged or len(said) == len(text):
        return merged
    places = readable_places(said)
    return [(places[start], places[end - 1] + 1, kind) for start, end, kind in merged]


def is_told(turn: Turn) -> bool:
    """Return whether a message is the user's own and asks to remember what it says."""
    text = turn.text.strip()
    if turn.kind != "message" or len(text) > _LONGEST or not _ASKED.match(text) or _NOT_OWN.search(text):
        return False
    return by_user(turn) and turn.ref.partition(":")[0] not in IMPORTED


_SHORTEST_WORD = 20
"""Characters of the shortest word with a token, an AWS access key. Most messages have no word of that length."""
_TOKENS = [(kind, hints, re.compile(form, re.ASCII)) for kind, hints, form in TABLE["tokens"]]
_WORD_END = re.compile(r"[A-Za-z0-9_\-]*")


def _issued_secrets(text: str) -> Iterator[Found]:
    """Yield start, end and kind of each secret that a text shows by its form."""
    searched = " ".join(word for word in text.split() if len(word) >= _SHORTEST_WORD)
    for kind, hints, form in _TOKENS if searched else ():
        for match in form.finditer(text) if any(hint in searched for hint in hints) else ():
            start, end = match.span("secret" if "secret" in form.groupindex else 0)
            longer = _WORD_END.match(text, end)
            if not (start and text[start - 1].isalnum() and text[start].isalnum()):  # the middle of a longer word
                yield start, longer.end() if longer else end, kind
    yield from chain(_private_keys(text), _cards(text), _in_place(text))


_BEGIN = re.compile(r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_END = re.compile(r"-----END (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_REST = re.compile(r"(?:[\s>]{0,6}(?:[A-Z][A-Za-z-]{2,16}: [^\n]{1,80}|[A-Za-z0-9+/=:,\\-]{16,}))*")
_BLOCK_CHARS = 20_000
"""Most characters of a private key's block; the largest in use, PGP's, have some thousand."""


def _private_keys(text: str) -> Iterator[Found]:
    """Yield each block of a private key; of one that was cut, what is left of it."""
    done = 0
    for match in _BEGIN.finditer(text) if "PRIVATE KEY" in text else ():
        if match.start() < done:
            continue
        ended = _END.search(text, match.end(), match.end() + _BLOCK_CHARS)
        rest = _REST.match(text, match.end(), match.end() + _BLOCK_CHARS)
        done = ended.end() if ended else rest.end() if rest else match.end()
        yield match.start(), done, "private key"


_BY = r"[\s.\u2010-\u2014-]{1,2}"
_CARD = re.compile(
    rf"(?<![\w.,+#$/-])[0-9]{{4}}(?:(?P<by>{_BY})[0-9]{{4}}(?P=by)[0-9]{{4}}(?P=by)[0-9]{{4}}"
    rf"|(?P<as>{_BY})[0-9]{{6}}(?P=as)[0-9]{{4,5}}|[0-9]{{10,15}})(?![^\W_]|[-.,][0-9])"
)
_ISSUERS = {
    16: re.compile(r"4|5[1-5]|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)|6011|64[4-9]|65|352[89]|35[3-8]\d|62"),
    15: re.compile(r"3[47]"),
    14: re.compile(r"30[0-5]|3[68]"),
    19: re.compile(r"62"),
}
"""How the numbers of cards begin, by how many digits they have."""


def _cards(text: str) -> Iterator[Found]:
    """Yield each number of a payment card: its issuer, length and check digit (Luhn) fit."""
    for match in _CARD.finditer(text):
        number = "".join(filter(str.isdigit, match[0]))
        issuer = _ISSUERS.get(len(number))
        if issuer and issuer.match(number) and _luhn(number):
            yield *match.span(), "card number"


def _luhn(number: str) -> bool:
    doubled = (0, 2, 4, 6, 8, 1, 3, 5, 7, 9)
    pairs = enumerate(reversed(number))
    return sum(doubled[int(digit)] if place % 2 else int(digit) for place, digit in pairs) % 10 == 0


_PLACES = [(hint, kind, re.compile(form, re.IGNORECASE)) for hint, kind, form in TABLE["places"]]


def _in_place(text: str) -> Iterator[Found]:
    """Yield each secret in an address, a header, a code for a wifi, or an option of a program."""
    lower = text.lower()
    for hint, kind, form in _PLACES:
        for found in form.finditer(text) if hint in lower else ():
            if not PLACEHOLDER.fullmatch(found["value"]):
                yield *found.span("value"), kind
