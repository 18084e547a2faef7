"""Secrets known by what stands beside them: "password=…", "the wifi password is …", "Authorization: Bearer …".

One grammar serves all forms: a noun for a secret (`find_nouns`), then at most what it is for ("for the router"), then a
sign, then the value. A **strong** sign says that a value follows: `:`, `=`, an arrow, "is", a table's cell, a tag.
Behind it any single word may be a password, if it is no placeholder, no code and no word by which people speak of
passwords ("wrong"). Behind a **weak** one (a dash, "to", a blank, a line's end), or before the noun ("… is my PIN"),
the value has to show by its shape that it is a secret. A table's column under such a noun is read alike, and so are the
options of some programs that take passwords.

All patterns are bounded or anchored, so they take linear time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mcp_memory.privacy.nouns import WORDS, Kind, Noun, find_nouns

Found = tuple[int, int, str]
"""Start, end (exclusive) and kind of a secret."""

_ABOUT = (
    r"(?:\s?[(\[][^()\[\]\n]{1,40}[)\]]|\s(?:number|code|nummer)|\s(?:for|of|to|on|at|in|from|with|i|we|you|he|she|they|that"
    r"|here|für|zu[mr]?|vo[mn]|am|auf|bei[m]?|im|de|del|della|d[aou]|des|la|para|pour|en|per|til|för|voor|van|для|от|к|на"
    r"|dla|do|za)\b(?:\s[\w'’.&/@-]{1,30}){0,5}?){0,2}"
)
_CLOSE, _OPEN = r"[*_`~\"'”’»\])]{0,4}", r"(?P<open>[*_`~]{0,3})"
_IS = (
    r"(?:is|was|are|equals|reads|ist|war|lautet|est|es|era|é|è|jest|je|on|är|er|olan|είναι|это|là|adalah)"
    r"(?:\s(?:now|currently|still|just|simply|again|set to|jetzt|nun|ahora|maintenant|agora|ora))?\s?[:=]?\s"
)
_STRONG = (
    r"\s{0,3}(?::=|=>|->|→|=|[:：])(?!=)[*_]{0,3}\s{0,3}|(?<=\w)>(?=[^\s<>]{2,200}<)|\s{1,3}\|\s{1,3}"
    r"|\s?(?:<[^<>\n]{1,40}>\s{0,2}){1,3}|\s{1,3}(?:value|content)=|\s(?:"
    + _IS
    + r")|['’]s\s(?:(?:now|currently|still|just|simply)\s)?|,?\sc['’]est\s"
    r"|\s?[?,.;–—-]{1,2}\s{1,2}(?:it|that|this|das|es)(?:['’]s|\sis|\sist|\swas)(?:\s(?:now|still))?\s|\s?(?:是|为|為|は|는|은|가|이)\s?"
)
_WEAK = (
    r"\s{1,2}[-–—]{1,2}\s|\s(?:(?:has|have|had|will|should|would|must|can|got|wurde|being|been|be|now|is|was)\s){0,3}"
    r"(?:(?:changed|set|reset|updated|rotated|switched|geändert)\s)?(?P<to>(?:from\s\S{1,64}\s)?(?:to|auf)\s)?|\s{0,2}\n\s{0,2}"
)
_VALUE = (
    _OPEN + r"(?:(?P<quote>[\"'`“„«])(?P<quoted>[^\"'`“”„«»\n]{3,200})[\"'`”“»]|(?P<bare>[^\s\"'`<>|”»。、，]{2,200}))"
)
_FORMS = (
    (re.compile(f"{_CLOSE}{_ABOUT}{_CLOSE}(?:{_STRONG}){_VALUE}", re.IGNORECASE), True),
    (re.compile(rf"{_CLOSE}(?:\s(?:number|code|nummer))?(?:{_WEAK}){_VALUE}", re.IGNORECASE), False),
    (re.compile(rf"{_CLOSE}{_ABOUT}\s(?P<to>(?:to|auf|på|naar)\s){_VALUE}", re.IGNORECASE), False),
)
_SPACE = re.compile(rf"\s{{1,3}}{_VALUE}")
_BEFORE = re.compile(
    r"(?<!\S)[*_`\"'“„(]{0,3}(?P<value>[^\s\"'`“”„()]{4,64})[\"'`”*_,)]{0,3}\s(?:is|was|as|be|=|ist|als|est|es)\s(?:now\s|still\s)?"
    r"(?:the|my|our|your|his|her|their|its|new|das|die|der|meine?|unsere?|le|mon|la|mi|el)\s(?:[\w'’-]{1,20}\s){0,3}$",
    re.IGNORECASE,
)
_CHANGED = re.compile(r"\b(?:change|set|reset|updat|rotat|switch|new|ändern|änder)", re.IGNORECASE)
_DIGIT = re.compile(r"\d")
_NO_FIGURE = bytes(set(range(256)) - set(b"0123456789:=|"))
_DIGITS = re.compile(r"[#*]?\d(?:[ .-]?\d){2,11}[#*]?(?![\w%€$]|[.,:/-]\w)")
_CODE = re.compile(
    r"(?=[\w#*-]{0,12}\d)(?:[#*]?[A-Z0-9]{1,6}(?:-[A-Z0-9]{2,6}){0,4}[#*]?|[a-z0-9]{4,8}(?:-[a-z0-9]{4,8}){1,4})"
    r"(?![\w%€$]|[.,:/-]\w)"
)
_BLOCKS = re.compile(r"[A-Za-z0-9]{4,8}(?:[- ][A-Za-z0-9]{2,8}){2,15}(?![\w-])")
_MIXED = re.compile(r"(?=[a-z]*\d[a-z]*\d)(?=\d*[a-z])[a-z0-9]{4,10}(?![\w-])", re.IGNORECASE)
_WORD = re.compile(r"(?<=\s)\S+")
_QUOTES = "\"'`“”„«»*(["
_FAR = 110
"""Characters behind a noun in which a value of an odd shape is still its."""
_NAMING = frozenset(
    "for of to at on in from with user username account login by as named called id file server host site page für"
    " von zu auf de del da para pour от для к see".split()
)
"""Words before a name, not a value."""
_CALL = re.compile(r"[({\[][^)}\]]*$|https?://\S*$|//|/\*|<[^>]*$")
_NEXT = re.compile(r"\s?(?:,|;|and|or|/|\n)\s{0,2}")
_PHRASE = re.compile(r"[^\W\d_]{2,12}(?:[ -][^\W\d_]{2,12}){2,23}")
_PAIR = re.compile(r"[\"'`]?[\w.@+-]{2,64}[\"'`]?(?P<by>\s?[/:]\s?|\s)[\"'`]?(?P<value>[^\s\"'`<>|,;]{4,100})")
_NEXT_NAME = re.compile(r"[;&,](?=\w+=)")
"""Where the value of a query or a connection string ends: the name of the next begins."""
_UNIT = re.compile(
    r"\s?[-–]?\s?(?:char|digit|letter|symbol|word|day|week|month|year|hour|minute|second|time|people|user|euro|dollar"
    r"|step|bit|byte|of\s|and above|or more|or longer|\+|percent|%|°|km|am\b|pm\b|o'clock|zeichen|stellen"
    r"|attempt|tries|person)",
    re.IGNORECASE,
)
_LIKE_A_WORD = re.compile(
    r"[a-z]+(?:ed|ing|able|ible|al|ical|ic|ful|less|ous|ent|ant|ive|ly|ary|en|ght|onger|ption)", re.IGNORECASE
)
_WORDS_OF_PROSE = (
    "wrong right correct incorrect weak strong safe secure insecure long short easy hard same different new old"
    " good bad fine here there gone empty okay set known unknown too very not now still always never only also"
    " just both none null true false void that this these those what whatever something nothing anything"
    " everything your mine yours ours theirs with from under over above below inside stored stale fresh unique"
    " mandatory random simple complex longer shorter better worse case lost kept due yes nope maybe also then when"
    " where which because but and for the reused string str text bytes object any int bool char varchar uuid self"
    " input prompt value field param args kwargs env bitwarden keepass keychain lastpass dashlane vault dotenv"
    " argon scrypt bcrypt falsch richtig sicher unsicher erforderlich abgelaufen vergessen incorrecta correcta"
    " obligatoire requis requise incorrect oublié admin-only see ask redacted masked removed later soon today"
    " tomorrow pending ready done next more than about like case-sensitive well-known up-to-date one-time-only"
)
_SPOKEN_OF = frozenset(_WORDS_OF_PROSE.split())
"""Words that follow "the password is" in prose, and what stands for one in code."""
_SAID = _SPOKEN_OF | frozenset("a an of to must be at least in on than my our you i it its are has have".split())
_YEAR = re.compile("(?:19|20)[0-9]{2}")
_TECH = re.compile(
    r"(?:1password|\w*2fa|u2f|oauth\d?\S*|sha-?\d+|md5|aes-?\d*\S*|rsa-?\d*|base-?\d+|utf-?\d+|bcrypt|argon2\w*|pbkdf2\w*"
    r"|http[/\d]*|v?\d+(?:\.\d+)+\w*|\d+[a-z]{1,4}|\d+x|rfc-?\d+|iso-?\d+|p\d{1,2}|ipv?[46]|wpa\d?\S*|rot13|ed25519|x509|\d+(?:st|nd|rd|th)"
    r"|h264|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}\S*|\d{1,2}:\d\d\S*|[\w.+-]+@[\w-]+(?:\.\w{2,})+|\d+[-–+/]\S*|24/7|k8s|s3|ec2)",
    re.IGNORECASE,
)
"""Names of methods, versions, sizes, dates, times and addresses: they mix letters, digits and signs, too."""
_PLACEHOLDER = re.compile(
    r"[\[{(<…].*|\$[{(].*|\$(?:[A-Z_][A-Z0-9_]*|[a-z_]+)[;)]*|(?-i:[A-Z_]*(?:PASS|PWD|SECRET|TOKEN|KEY|PIN|CODE)[A-Z_]*)|%\w+%?\S*|[*•xX.?_-]{3,}\S?|https?:.*|process\.\S*|os\.\S*"
    r"|/[a-z._-]+/\S*|~/\S*|\.{1,2}/\S*|(?:your|my|the|some|new|old|test|dummy|fake|sample|example|change|me|in|production"
    r"|redacted|masked|env|here|secret|token|password|passwd|pass|word|key|api|none|null|true|false|undefined|string|str|int|required"
    r"|optional|value|is|user|db|placeholder|todo|tbd|insert|enter|goes|hidden|[_.\-!])+",
    re.IGNORECASE,
)
_NAMES = re.compile(r"[A-Za-z_]\w*(?:(?:\.|->|::)[A-Za-z_]\w*)+")
_CONSTANT = re.compile(
    r"_*(?:[A-Z][A-Z0-9]*(?:_[A-Z][A-Z0-9]*)+|[a-z][a-z0-9]*(?:_[a-z][a-z0-9]*)+)|[A-Za-z_][\w.]*[(\[].*"
    r"|[A-Z]\w*(?:Key|Token|Secret|Password|Credentials?)"
)
"""Names and calls in code."""
_DICEWARE = re.compile(
    r"(?![\w-]*[-_.](?:to|of|by|the|in|and|a)[-_.])(?:[A-Za-z]{3,}(?:[-_.][A-Za-z]{3,}){2,}|(?=.{14})[A-Za-z]{2,}(?:-[A-Za-z]{2,}){2,})\d{0,4}"
)
_TRAILING = ".,;:?)]}"
_HEX = re.compile(r"(?:0x)?(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{10,}", re.IGNORECASE)
_FIXED = (
    ("bearer", re.compile(r"bearer\s{1,3}(?P<value>(?=[^\s\d]*\d)[\w.~+/-]{20,2000}={0,2})", re.IGNORECASE)),
    (
        "authorization",
        re.compile(r"authorization.{0,12}\bbasic\s{1,3}(?P<value>(?=\D{0,200}\d)[A-Za-z0-9+/]{8,500}={0,2})", re.IGNORECASE),
    ),
    ("cookie", re.compile(r"(?:(?<=cookie: )|(?<=; )|(?<=;)|(?<=cookie ['\"]))[\w.-]{1,40}=(?P<value>[^\s;,\"']{16,4096})", re.IGNORECASE)),
    ("wifi:", re.compile(r"WIFI:(?:[A-Z]:[^;\n]{0,64};){0,5}?P:(?P<value>(?:\\.|[^;\\\n]){3,100});", re.IGNORECASE)),
    ("securestring", re.compile(r"ConvertTo-SecureString\s(?:-String\s)?[\"'](?P<value>[^\"'$\n]{3,200})[\"']", re.IGNORECASE)),
)
"""What begins a form that is fixed by a standard or a program, and where the secret stands in it."""
_OPTIONS = re.compile(
    r"\b(?:(?:mysql\w*|mariadb[\w-]*|7za?|7zr)\b[^\n|]{0,120}?\s-p"
    r"|(?:sshpass|docker login|podman login)\b[^\n|]{0,80}?\s-p\s?"
    r"|(?:curl|wget)\b[^\n|]{0,120}?\s(?:-u|--user|--proxy-user)[\s=]?[\"']?[\w.@+-]{1,64}:|redis-cli\b[^\n|]{0,80}?\s-a\s"
    r"|ldap\w+\b[^\n|]{0,120}?\s-w\s|zip\b[^\n|]{0,80}?\s-P\s?|openssl\b[^\n|]{0,160}?\s-pass(?:in|out)?\spass:)"
    r"[\"']?(?P<value>(?!\[secret\])[^\s\"'|@]{3,100})"
)
"""Programs whose options take a password."""
_PROGRAMS = ("mysql", "maria", "7z", "login", "sshpass", "curl", "wget", "redis-cli", "ldap", "zip", "openssl")
_LOCKED = (
    r"(?:key ?pad|key ?box|lock ?box|doors?|gates?|safe|vault|locker|lock|alarm|panel|garage|intercom|shed|cabinet|suitcase"
    r"|phone|tablet|ipad|laptop|barrier|haustür|tür|tor|tresor|porte|portail|coffre|puerta|porta|portão|cancello)"
)
_OPENED = re.compile(
    rf"\b(?:disarm\w*|(?:un)?arm\s[^.!?\n\d]{{0,20}}|(?:{_LOCKED}\b[^.!?\n\d]{{0,40}}\s(?:opens?|unlocks?|opened|unlocked|geht auf|öffnet)"
    rf"|(?:open|unlock)s?\s[^.!?\n\d]{{0,30}}\b{_LOCKED})\b)[^.!?\n\d]{{0,20}}?\s(?:with|using|by typing|by entering|mit|is|code|:)\s"
    r"(?:the\s)?(?:code\s|pin\s|number\s)?(?P<with>[#*]?\d)"
    r"|\b(?:type|enter|punch|dial|key|tap|press|use|hit|input|tippe?|gib|tapez|marca|digita)\s(?:in\s|the\s|code\s|pin\s){0,2}"
    rf"(?P<typed>[#*]?\d)[\d .#*-]{{2,14}}\s?(?:in\s)?(?:on|at|into|in|to|for|am|an|bei|sur|en|en el|no|na)\s[^.!?\n\d]{{0,24}}?\b{_LOCKED}\b",
    re.IGNORECASE,
)
"""A number that something locked is opened with, told without any noun for it."""
_LOCKS = ("lock", "door", "gate", "alarm", "arm ", "keypad", "key pad", "safe", "panel", "garage", "tür", "port", "puerta")
_COUNTED = re.compile(r"\s(?!(?:within|and|then|or|before|after|in|at|on|to|from|und|et|y|e|for|when|if|followed)\b)[^\W\d_]")
_HEADS = re.compile(r"[\w-]+(?:[,;][\w-]+)+")
_LINE = 400
"""Characters of a line in which a table is looked for."""
_ROWS = 200
"""Rows of a table that are read under a noun."""


def stated_secrets(text: str, *, statement: bool = False) -> Iterator[Found]:
    """Yield start, end and kind of each secret that the words beside it show.

    Args:
        text: the text to search.
        statement: whether it is a caller's fact in words, "router password …", without any sign between the two.
    """
    lower = text.lower()
    if len(lower) != len(text):  # a few letters of other scripts grow
        lower = text
    table = (0, 0)
    figures = text.encode("utf-8", "replace").translate(None, _NO_FIGURE)
    for noun in find_nouns(text, lower, figures=bool(figures)):
        yield from _values(text, noun, statement=statement)
        line = text.rfind("\n", max(0, noun.start - _LINE), noun.start) + 1
        if line == table[0] or noun.start >= table[1]:
            cells, end = _column(text, noun, line)
            table = line, end
            yield from cells
    if " -" in text and any([one in text for one in _PROGRAMS]):  # noqa: C419 - a list is faster than a generator
        for option in _OPTIONS.finditer(text):
            if not _PLACEHOLDER.fullmatch(option["value"]):
                yield *option.span("value"), "password"
    for core, form in _FIXED if figures else ():
        if core in lower:
            yield from ((*found.span("value"), "secret") for found in form.finditer(text))
    if len(figures.translate(None, b":=|")) > 2 and any([one in lower for one in _LOCKS]):  # noqa: C419
        for found in _OPENED.finditer(text):
            number = _DIGITS.match(text, found.start("with" if found["with"] else "typed"))
            if number and not _COUNTED.match(text, number.end()) and not _UNIT.match(text, number.end()):
                yield *number.span(), "PIN"


def _values(text: str, noun: Noun, *, statement: bool) -> Iterator[Found]:
    if noun.kind in ("PIN", "code") and not _DIGIT.search(text, max(0, noun.start - 130), noun.end + 200):
        return
    if statement or text[max(0, noun.start - 2) : noun.start].endswith("-") or text[noun.start] == "-":
        spaced = _SPACE.match(text, noun.end)  # "--password …", "router password …"
        if spaced and (span := _span(text, noun, spaced, strong=True)):
            yield span
            return
    for form, strong in _FORMS if noun.kind != "answer" else _FORMS[:1]:
        if (found := form.match(text, noun.end)) is None:
            continue
        to = None if strong else found["to"]
        changed = to is None or "from" in to or _CHANGED.search(text, max(0, noun.start - 60), found.start("to"))
        if changed and (span := _span(text, noun, found, strong=strong)):
            yield span
            yield from _more(text, noun, span)
            return
    before = _BEFORE.search(text, max(0, noun.start - 130), noun.start)
    if before and noun.certain:
        value = before["value"]
        numbers = noun.kind in ("PIN", "code") and _DIGITS.fullmatch(value)
        if numbers or (noun.kind != "PIN" and _is_shaped(value, least=5)):
            yield before.start("value"), before.end("value"), _KINDS.get(noun.kind, "password")
            return
    if noun.certain or noun.kind == "key":
        yield from _far(text, noun)


def _far(text: str, noun: Noun) -> Iterator[Found]:
    """Yield the value that stands further on in the sentence of a noun, known by a shape that no prose has."""
    kind, before = _KINDS.get(noun.kind, "password"), ""
    for word in _WORD.finditer(text, noun.end, noun.end + _FAR):
        value = word[0].strip(_TRAILING + _QUOTES)
        start = word.start() + word[0].index(value)
        if before.endswith((":", "=")):
            if noun.kind in ("PIN", "code"):
                many = _DIGITS.match(text, start)
            else:
                many = _groups(text, start) or (_PHRASE.match(text, start) if noun.kind == "phrase" else None)
            if many and (noun.kind != "phrase" or len(many[0].split()) > 10) and not _UNIT.match(text, many.end()):
                yield *many.span(), kind
                return
        named = before.lower() in _NAMING or _CALL.search(text, noun.start, word.end())
        if noun.kind not in ("PIN", "code") and not named and _is_made_up(value, signed=noun.kind == "password"):
            yield start, start + len(value), kind
            return
        if word[0][-1] in ".!?;" or "\n" in text[word.end() : word.end() + 1]:
            return
        before = word[0]


def _groups(text: str, start: int) -> re.Match[str] | None:
    """Return blocks of letters and digits as programs give them out: "jv4x 2azj vp2y", "415752-699801-592639"."""
    found = _BLOCKS.match(text, start)
    blocks = re.split("[ -]", found[0]) if found else []
    figures = sum(any(map(str.isdigit, block)) for block in blocks)
    even = len(set(map(len, blocks[:-1]))) == 1
    small = len(blocks) == 4 and even and len(blocks[3]) == 4 and found is not None and found[0].islower()
    return found if even and (figures * 3 >= len(blocks) * 2 or (small and not set(blocks) & _SPOKEN_OF)) else None


_KINDS: dict[Kind, str] = {"PIN": "PIN", "code": "PIN", "secret": "secret", "key": "secret", "phrase": "password"}


def _span(text: str, noun: Noun, found: re.Match[str], *, strong: bool) -> Found | None:
    """Return the secret that a form found, if its value is one for its noun and its sign."""
    group = "quoted" if found["quoted"] is not None else "bare"
    start, end = found.span(group)
    kind = _KINDS.get(noun.kind, "password")
    if noun.kind in ("PIN", "code"):
        capital = text[noun.start : noun.end] == "PIN"
        number = _DIGITS.match(text, start) or (noun.kind == "code" and strong and _CODE.match(text, start))
        number = number or ((strong or capital) and _MIXED.match(text, start))
        if not number or _UNIT.match(text, number.end()) or not (strong or noun.certain) or not number[0].strip("0"):
            return None
        if noun.kind == "PIN" and not strong and len(number[0]) < 4 and text[noun.start : noun.end].lower() == "pin":
            return None
        return number.start(), number.end(), kind
    if noun.kind in ("phrase", "credentials"):
        form = _PHRASE if noun.kind == "phrase" else _PAIR
        many = form.match(text, start) if strong or found["to"] else None
        if many and noun.kind == "phrase" and not set(many[0].lower().split()) & _SPOKEN_OF:
            return *many.span(), kind
        if noun.kind == "credentials":
            spaced = many is None or many["by"] == " "
            if (
                not many
                or many[0].startswith("http")
                or not (
                    _is_shaped(many["value"], least=4) or (not spaced and _is_word(text, noun, *many.span("value")))
                )
            ):
                return None
            return *many.span("value"), kind
    if strong and noun.kind != "answer" and (many := _groups(text, start)):
        return *many.span(), kind
    value = text[start:end]
    if group == "bare":
        if found["open"] and value.rstrip(_TRAILING).endswith(found["open"]):
            value = value.rstrip(_TRAILING)[: -len(found["open"])]
        value = _NEXT_NAME.split(value.rstrip(_TRAILING), maxsplit=1)[0]
        if not text[noun.start].isascii() and (ascii_only := re.match(r"[!-~]{4,}", value)):
            value = ascii_only[0]
    elif " " in value and noun.kind not in ("phrase", "answer"):
        words = value.split()
        told = len(words) < 7 and any(map(str.isdigit, value)) and not _SAID & set(value.lower().split())
        return (start, end, kind) if told and noun.kind == "password" and noun.certain else None
    end = start + len(value)
    if group == "bare" and (text[end : end + 1] in ("(", "[") or (value[-1:] == "=" and text[end : end + 1] in "\"'")):
        return None  # code, or an attribute's name
    password = noun.kind in ("password", "phrase")
    if noun.kind == "key":
        good = _is_random(value)
    elif noun.kind == "answer":
        good = _is_shaped(value, least=4) or (_is_plain_word(value) if group == "quoted" else _is_word(text, noun, start, end))
    elif password:
        good = _is_shaped(value, least=4 if strong else 5) or (
            strong
            and (
                _is_number(text, value, end)
                or (noun.certain and (_is_plain_word(value) if group == "quoted" else _is_word(text, noun, start, end)))
            )
        )
        good = good or (not strong and len(value) > 3 and value.isdigit() and not _YEAR.fullmatch(value))
        good = good and (strong or noun.certain)
    else:
        good = _is_random(value) or (value.isdigit() and len(value) > 11) or (strong and _is_shaped(value, least=8) and any(map(str.isdigit, value)))
    return (start, end, kind) if good and not _UNIT.match(text, end) else None


def _more(text: str, noun: Noun, found: Found) -> Iterator[Found]:
    """Yield further codes of a list: "backup codes: 1234-5678, 8765-4321"."""
    while noun.kind == "code" and (sign := _NEXT.match(text, found[1])):
        number = _DIGITS.match(text, sign.end()) or _CODE.match(text, sign.end())
        if number is None:
            return
        found = number.start(), number.end(), found[2]
        yield found


def _column(text: str, noun: Noun, first: int) -> tuple[list[Found], int]:
    """Return the values under a noun that heads a table's column, and up to where was looked.

    Args:
        text: the text.
        noun: the noun.
        first: the first character of its line.
    """
    last = text.find("\n", noun.end, noun.end + _LINE)
    sign = next((one for one in "|\t;," if one in text[first:last]), None)
    if last < 0 or noun.kind == "key" or sign is None or noun.start - first > _LINE:
        return [], noun.end
    line = text[first:last]
    place, count = text.count(sign, first, noun.start), line.count(sign)
    if sign in ",;" and not _HEADS.fullmatch(line):
        return [], noun.end
    cell = line.split(sign)[place].strip(" *_`\"'")
    if not cell.endswith(text[noun.start : noun.end]) or len(cell.split()) > (1 if sign in ",;" else 3):
        return [], noun.end
    found: list[Found] = []
    for _ in range(_ROWS):
        first, last = last + 1, text.find("\n", last + 1, last + _LINE)
        row = text[first : last if last >= 0 else first + _LINE]
        cells = row.split(sign)
        if len(cells) != count + 1:
            break
        value = cells[place].strip().strip("*_`\"'")
        start = first + sum(len(one) + 1 for one in cells[:place]) + cells[place].find(value)
        numbers = noun.kind in ("PIN", "code", "password") and _DIGITS.fullmatch(value) is not None
        word = sign in "|\t" and noun.kind == "password" and _is_plain_word(value)
        if " " not in value and (numbers or word or _is_shaped(value, least=4)):
            found.append((start, start + len(value), _KINDS.get(noun.kind, "password")))
        if last < 0:
            break
    return found, first


def _is_number(text: str, value: str, end: int) -> bool:
    return value.isdigit() and len(value) >= 4 and not _UNIT.match(text, end)


def _is_word(text: str, noun: Noun, start: int, end: int) -> bool:
    """Return whether a single word of letters is given as a password: nothing follows, and it is no code."""
    if not _is_plain_word(text[start:end]):
        return False
    rest = re.match(
        r"[*_`~\"'”.,;)!]{0,4}(?P<next>\s{0,2}(?:\n|\||<|$)|\s(?=\w+[:=]|(?:and|but|so|btw)\b)|(?<=[.,;)!])\s)",
        text[end : end + 60],
    )
    if rest is None:
        return False
    line = text[max(0, noun.start - 200) : noun.start].rpartition("\n")[2] + text[end : end + 60].partition("\n")[0]
    sign = text[noun.end : start]
    return not re.search(r"[{}()\[\];]|\b(?:def|const|let|var|return)\b|=>", line) and not re.search(r"\s=|=\s", sign)


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
        and not (_PLACEHOLDER.fullmatch(value) or _CONSTANT.fullmatch(value))
        and ("-" not in value or _DICEWARE.fullmatch(value) is not None)
    )


def _is_shaped(value: str, *, least: int) -> bool:
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
    return not any(known.fullmatch(value) for known in (_PLACEHOLDER, _NAMES, _CONSTANT, _TECH))


def _is_made_up(value: str, *, signed: bool) -> bool:
    """Return whether a word has a shape that no word of prose has: letters, figures and a sign, or random ones."""
    if signed and 7 < len(value) < 65 and any(map(str.isdigit, value)) and re.search(r"[a-zA-Z]", value):
        return any(sign in value for sign in "_!#$%&*+^~?@") and "=" not in value and _is_shaped(value, least=8)
    return len(value) > 15 and "/" not in value and "=" not in value.rstrip("=") and _is_random(value)


def _is_random(value: str) -> bool:
    """Return whether nobody would say such a value in other words: hexadecimal digits, or a long mix with figures."""
    if _HEX.fullmatch(value):
        return True
    return len(value) >= 16 and sum(map(str.isdigit, value)) >= 3 and _is_shaped(value, least=16)
