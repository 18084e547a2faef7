"""Find secrets in a text, and mask them.

They are known by the words beside them ("password=…", "… is my PIN"; below), or by their own form: keys and tokens with
their issuer's prefix, private keys, cards, headers, options. The forms of keys, tokens and options stand in
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
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Literal

from mcp_memory.configurable import PrivacySettings
from mcp_memory.domain.batch import KEEP, Found, Masking
from mcp_memory.domain.turns import IMPORTED, Turn, by_user
from mcp_memory.texts import resource
from mcp_memory.visible import readable, readable_places

TABLE = tomllib.loads(resource("secrets.toml"))
RULES_VERSION = 5
"""Raised whenever other texts are masked than before: a view that was saved with other masks is not read again."""
_LONGEST_ASKED = 300
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
    if turn.kind != "message" or len(text) > _LONGEST_ASKED or not _ASKED.match(text) or _NOT_OWN.search(text):
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


# Secrets known by what stands beside them: "password=…", "the wifi password is …", "… is my PIN".
#
# One grammar serves all: a noun for a secret, then at most what it is for ("for the router"), then a sign, then the
# value. A **noun** counts alone ("password", "contraseña", DB_PASSWORD), or with a word that qualifies it ("API key",
# "door code"): most keys and codes are no secrets. A word behind it can make it the name of something else ("password
# manager"). Behind a **strong** sign (`:`, `=`, an arrow, "is", a table's cell, a tag) any single word may be a
# password, if it is no placeholder, no code and no word by which people speak of passwords ("wrong"). Behind a **weak**
# one (a dash, "to", a blank, a line's end), or before the noun, the value has to show by its shape that it is a secret,
# and no placeholder for one, nor a word, a name or a number of ordinary talk.

Kind = Literal["password", "phrase", "login", "secret", "PIN", "code", "key"]
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


# What stands beside a noun

_ABOUT = (
    r"(?:\s?[(\[][^()\[\]\n]{1,40}[)\]]|\s(?:number|code|nummer)|\s(?:for|of|to|on|at|in|from|with|i|we|you|he|she|they|that"
    r"|fürs?|zu[mr]?|vo[mn]|am|auf|bei[m]?|im|de|del|della|d[aou]|des|la|para|pour|per|til|för|voor|van|для|от|к|do)\b"
    r"(?:\s[\w'’.&/@-]{1,30}){0,5}?){0,2}"
)
_CLOSE, _OPEN = r"[*_`~\"'”’»\])]{0,4}", r"(?P<open>[*_`~]{0,3})"
_IS = (
    r"(?:is|was|are|equals|reads|ist|war|lautet|est|es|era|é|è|je|on|är|er|olan|это|là)"
    r"(?:\s(?:now|currently|still|just|set to|jetzt|ahora|maintenant))?\s?[:=]?\s"
)
_STRONG = (
    r"\s{0,3}(?::=|=>|->|→|=|[:：])(?!=)[*_]{0,3}\s{0,3}|(?<=\w)>(?=[^\s<>]{2,200}<)|\s{1,3}\|\s{1,3}"
    rf"|\s?(?:<[^<>\n]{{1,40}}>\s{{0,2}}){{1,3}}|\s{{1,3}}(?:value|content)=|\s(?:{_IS})|['’]s\s(?:(?:now|still)\s)?"
    r"|\s?[?,.;(–—-]{1,3}\s{0,2}(?:it|that|this|das|es)(?:['’]s|\sis|\sist|\swas)(?:\s(?:now|still))?\s"
    r"|\s?(?:是|为|為|は|는|은|가|이)\s?"
)
_WEAK = (
    r"\s{1,2}[-–—]{1,2}\s|\s(?:(?:has|have|had|was|is|wurde|been|be|now)\s){0,3}"
    r"(?:(?:changed|set|reset|updated|rotated|switched|geändert)\s)?(?P<to>(?:to|auf)\s)?|\s{0,2}\n\s{0,2}"
)
_VALUE = (
    _OPEN + r"(?:(?P<quote>[\"'`“„«])(?P<quoted>[^\"'`“”„«»\n]{3,200})[\"'`”“»]|(?P<bare>[^\s\"'`<>|”»。、，]{2,200}))"
)
_FORMS = (
    (re.compile(f"{_CLOSE}{_ABOUT}{_CLOSE}(?:{_STRONG}){_VALUE}", re.IGNORECASE), True),
    (re.compile(rf"{_CLOSE}(?:\s(?:number|code|nummer|wi-?fi|wlan))?(?:{_WEAK}){_VALUE}", re.IGNORECASE), False),
    (re.compile(rf"{_CLOSE}{_ABOUT}\s(?P<to>(?:to|auf)\s){_VALUE}", re.IGNORECASE), False),
)
_SPACE = re.compile(rf"(?:\s(?:has|is|value)){{0,2}}\s{{1,3}}{_VALUE}")
_BEFORE = re.compile(
    r"(?<!\S)[*_`\"'“„(]{0,3}(?P<value>[^\s\"'`“”„()]{4,64})[\"'`”*_,)]{0,3}\s(?:is|was|as|=|ist|als|est|es)\s(?:now\s|still\s)?"
    r"(?:the|my|our|your|his|her|their|its|new|das|die|der|meine?|unsere?|le|mon|la|mi|el)\s(?:[\w'’-]{1,20}\s){0,3}$",
    re.IGNORECASE,
)
_CHANGED = re.compile(r"\b(?:change|set|reset|updat|rotat|switch|new|ändern|änder)", re.IGNORECASE)
_DONE = re.compile(r"\S?\s(?:geändert|gesetzt|gewechselt|umgestellt)\b")
_DIGIT = re.compile(r"\d")
_CODE = re.compile(
    r"(?=[\w#*-]{0,12}\d)(?:[#*]?[A-Z0-9]{1,6}(?:-[A-Z0-9]{2,8}){0,6}[#*]?|[a-z0-9]{4,8}(?:-[a-z0-9]{4,8}){1,4})"
    r"(?![\w%€$]|[.,:/-]\w)"
)
_NEXT = re.compile(r"\s?(?:,|;|and|or|/|\n)\s{0,2}")
_PHRASE = re.compile(r"[^\W\d_]{2,12}(?:[ -][^\W\d_]{2,12}){2,23}")
_PAIR = re.compile(r"[\"'`]?[\w.@+-]{2,64}[\"'`]?(?P<by>\s?[/:]\s?|\s)[\"'`]?(?P<value>[^\s\"'`<>|,;]{4,100})")
_NEXT_NAME = re.compile(r"[;&,](?=\w+=)")
"""Where the value of a query or a connection string ends: the name of the next begins."""
_NAMED: dict[str, str] = {"PIN": "PIN", "code": "PIN", "secret": "secret", "key": "secret"}
"""What a kind of noun's secrets are called, where not "password"."""


def stated_secrets(text: str, *, statement: bool = False) -> Iterator[Found]:
    """Yield start, end and kind of each secret that the words beside it show; of a statement see `Masking`."""
    read_to = 0
    for noun in find_nouns(text):
        found = [*_behind(text, noun, statement=statement)] or [*_before(text, noun)]
        if noun.start >= read_to:
            cells, read_to = _column(text, noun)
            found += cells
        for start, end in found:
            yield start, end, _NAMED.get(noun.kind, "password")


def _behind(text: str, noun: Noun, *, statement: bool) -> Iterator[tuple[int, int]]:
    """Yield the value behind a noun, and further ones of a list: "backup codes: 1234-5678, 8765-4321"."""
    if noun.kind in ("PIN", "code") and not _DIGIT.search(text, noun.end, noun.end + 200):
        return
    if statement or text[max(0, noun.start - 2) : noun.start].endswith("-") or text[noun.start] == "-":
        spaced = _SPACE.match(text, noun.end)  # "--password …", "router password …"
        if spaced and (span := _span(text, noun, spaced, strong=True)):
            yield span
            return
    for form, strong in _FORMS:
        if (found := form.match(text, noun.end)) is None:
            continue
        changed = strong or found["to"] is None or _CHANGED.search(text, max(0, noun.start - 60), found.start("to"))
        if (changed or _DONE.match(text, found.end())) and (span := _span(text, noun, found, strong=strong)):
            yield span
            while noun.kind == "code" and (sign := _NEXT.match(text, span[1])):
                if (number := _DIGITS.match(text, sign.end()) or _CODE.match(text, sign.end())) is None:
                    return
                span = number.span()
                yield span
            return


def _before(text: str, noun: Noun) -> Iterator[tuple[int, int]]:
    """Yield the value before a noun: "4711 is my PIN"."""
    found = _BEFORE.search(text, max(0, noun.start - 130), noun.start) if noun.certain else None
    if found:
        number = noun.kind in ("PIN", "code") and _DIGITS.fullmatch(found["value"])
        if number or (noun.kind != "PIN" and _is_shaped(found["value"], least=5)):
            yield found.span("value")


def _span(text: str, noun: Noun, found: re.Match[str], *, strong: bool) -> tuple[int, int] | None:
    """Return where the value that a form found stands, if it is one for its noun and its sign."""
    quoted = found["quoted"] is not None
    start, end = found.span("quoted" if quoted else "bare")
    if noun.kind in ("PIN", "code"):
        return _number(text, noun, start, strong=strong)
    if noun.kind == "phrase":
        words = _PHRASE.match(text, start) if strong else None
        if words and (noun.certain or len(words[0].split()) > 11) and _SPOKEN_OF.isdisjoint(words[0].lower().split()):
            return words.span()
    if noun.kind == "login":
        pair = _PAIR.match(text, start) if strong else None
        named = pair and not pair[0].startswith("http") and _is_shaped(pair["value"], least=4)
        return pair.span("value") if pair and named else None
    if (strong or noun.kind == "secret") and (many := _groups(text, start)):
        return many.span()
    value = text[start:end]
    if not quoted:
        value = value.rstrip(_TRAILING)
        if found["open"] and value.endswith(found["open"]):
            value = value[: -len(found["open"])]
        value = _NEXT_NAME.split(value, maxsplit=1)[0]
        if not text[noun.start].isascii() and (ascii_only := re.match(r"[!-~]{4,}", value)):
            value = ascii_only[0]
    end = start + len(value)
    code = not quoted and (text[end : end + 1] in ("(", "[") or (value[-1:] == "=" and text[end : end + 1] in "\"'"))
    if code or " " in value or _UNIT.match(text, end):
        return None
    if noun.kind == "key":
        good = _is_random(value)
    elif noun.kind == "secret":
        good = _is_random(value) or (strong and _is_shaped(value, least=8) and any(map(str.isdigit, value)))
    else:
        number = value.isdigit() and len(value) > 3 and (strong or not _YEAR.fullmatch(value))
        word = strong and noun.certain and _is_plain_word(value) and (quoted or _ends_there(text, noun, start, end))
        good = (strong or noun.certain) and (number or word or _is_shaped(value, least=4 if strong else 5))
    return (start, end) if good else None


def _number(text: str, noun: Noun, start: int, *, strong: bool) -> tuple[int, int] | None:
    """Return where the number of a PIN or a code stands, "4711#", "12-34-56", "K7QX-22"; None for other numbers."""
    number = _DIGITS.match(text, start) or (
        (strong or noun.certain) and noun.kind == "code" and _CODE.match(text, start)
    )
    if not number or _UNIT.match(text, number.end()) or not number[0].strip("0"):
        return None
    whole = strong and re.fullmatch("[0-9]{4,8}", number[0]) and "\n" not in text[noun.end : start]
    return number.span() if noun.certain or whole else None


def _ends_there(text: str, noun: Noun, start: int, end: int) -> bool:
    """Return whether nothing follows a word that is given as a password, and it stands in no code."""
    behind = text[end : end + 60]
    rest = re.match(
        r"[*_`~\"'”.,;)!]{0,4}(?:\s{0,2}(?:\n|\||<|$)|\s(?=\w+[:=]|(?:and|but|so|btw)\b)|(?<=[.,;)!])\s)", behind
    )
    line = text[max(0, noun.start - 200) : noun.start].rpartition("\n")[2] + behind.partition("\n")[0]
    code = re.search(r"[{}()\[\];]|\b(?:def|const|let|var|return)\b|=>", line)
    return rest is not None and not code and not re.search(r"\s=|=\s", text[noun.end : start])


_LINE_CHARS, _TABLE_ROWS = 400, 200
"""Characters of a line in which a table is looked for, and rows of it that are read under a noun."""


def _column(text: str, noun: Noun) -> tuple[list[tuple[int, int]], int]:
    """Return the values under a noun that heads a column of a table, and up to where the table was read.

    The cells of a table are separated by bars or tabs.
    """
    first = text.rfind("\n", max(0, noun.start - _LINE_CHARS), noun.start) + 1
    last = text.find("\n", noun.end, noun.end + _LINE_CHARS)
    sign = next((one for one in "|\t" if one in text[first : max(first, last)]), None)
    if sign is None or noun.kind == "key" or noun.start - first > _LINE_CHARS:
        return [], noun.end
    place, count = text.count(sign, first, noun.start), text.count(sign, first, last)
    heading = text[first:last].split(sign)[place].strip(" *_`\"'")
    if not heading.endswith(text[noun.start : noun.end]) or len(heading.split()) > 3:
        return [], noun.end
    found = []
    for _ in range(_TABLE_ROWS if last >= 0 else 0):
        first, last = last + 1, text.find("\n", last + 1, last + _LINE_CHARS)
        cells = text[first : last if last >= 0 else first + _LINE_CHARS].split(sign)
        if len(cells) != count + 1:
            break
        value = cells[place].strip().strip("*_`\"'")
        start = first + sum(len(one) + 1 for one in cells[:place]) + cells[place].find(value)
        number, word = _DIGITS.fullmatch(value), noun.kind == "password" and _is_plain_word(value)
        if " " not in value and (number or word or _is_shaped(value, least=4)):
            found.append((start, start + len(value)))
        if last < 0:
            break
    return found, first


_UNIT = re.compile(
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
_YEAR = re.compile("(?:19|20)[0-9]{2}")
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
_TRAILING = ".,;:?)]}"
_HEX = re.compile(r"(?:0x)?(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{10,}", re.IGNORECASE)
_DIGITS = re.compile(r"[#*]?\d(?:[ .-]?\d){2,11}[#*]?(?![\w%€$]|[.,:/-]\w)")
_BLOCKS = re.compile(r"[A-Za-z0-9]{4,8}(?:[- ][A-Za-z0-9]{2,8}){2,15}(?![\w-])")
_MIXED_CASE = re.compile(r"(?=[^a-z]*[a-z])(?=[^A-Z]*[A-Z])(?=\D*\d\D*\d)[A-Za-z0-9]{10,}")


def _is_plain_word(value: str) -> bool:
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


def _is_shaped(value: str, *, least: int) -> bool:
    """Return whether a value, without quotes, looks like one that people or programs make up to be secret."""
    if len(value) < least or len(set(value)) < min(4, least) or not any(map(str.isalpha, value)):
        return False
    words = _DICEWARE.fullmatch(value) is not None
    signs = any(not char.isalnum() and char not in "_-.:/'’,;()" for char in value)
    if not (words or signs or any(map(str.isdigit, value))):
        return False
    return not any(known.fullmatch(value) for known in (PLACEHOLDER, _NAMES, _CONSTANT))


def _is_random(value: str) -> bool:
    """Return whether nobody would say such a value in other words: hexadecimal digits, or a long mix with figures."""
    if _HEX.fullmatch(value) or _MIXED_CASE.fullmatch(value) or (value.isdigit() and len(value) > 11):
        return True
    return len(value) >= 16 and sum(map(str.isdigit, value)) >= 3 and _is_shaped(value, least=16)


def _groups(text: str, start: int) -> re.Match[str] | None:
    """Return blocks of letters and digits as programs give them out: "jv4x 2azj vp2y", "415752-699801-592639"."""
    found = _BLOCKS.match(text, start)
    blocks = re.split("[ -]", found[0]) if found else []
    if found is None or len(set(map(len, blocks[:-1]))) > 1:
        return None
    if len(blocks) == 4 and len(blocks[3]) == 4 and found[0].islower() and not set(blocks) & _SPOKEN_OF:
        return found
    figures = sum(any(map(str.isdigit, block)) for block in blocks)
    return found if figures * (2 if found[0].isupper() else 1.5) >= len(blocks) else None
