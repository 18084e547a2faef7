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

from mcp_memory.privacy.fixed import COUNTED, Found, fixed_secrets
from mcp_memory.privacy.nouns import Kind, Noun, find_nouns
from mcp_memory.privacy.shapes import (
    DIGITS,
    SAID,
    SPOKEN_OF,
    TRAILING,
    UNIT,
    WHOLE,
    YEAR,
    groups,
    is_made_up,
    is_plain_word,
    is_random,
    is_shaped,
)

_ABOUT = (
    r"(?:\s?[(\[][^()\[\]\n]{1,40}[)\]]|\s(?:number|code|nummer)|\s(?:for|of|to|on|at|in|from|with|i|we|you|he|she|they|that"
    r"|here|fürs?|zu[mr]?|vo[mn]|am|auf|bei[m]?|im|de|del|della|d[aou]|des|la|para|pour|en|per|til|för|voor|van|для|от|к|на"
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
    r"|\s?[?,.;(–—-]{1,3}\s{0,2}(?:it|that|this|das|es)(?:['’]s|\sis|\sist|\swas)(?:\s(?:now|still))?\s"
    r"|\s?(?:是|为|為|は|는|은|가|이)\s?"
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
    (re.compile(rf"{_CLOSE}(?:\s(?:number|code|nummer|wi-?fi|wlan))?(?:{_WEAK}){_VALUE}", re.IGNORECASE), False),
    (re.compile(rf"{_CLOSE}{_ABOUT}\s(?P<to>(?:to|auf|på|naar)\s){_VALUE}", re.IGNORECASE), False),
)
_SPACE = re.compile(rf"\s{{1,3}}{_VALUE}")
_BEFORE = re.compile(
    r"(?<!\S)[*_`\"'“„(]{0,3}(?P<value>[^\s\"'`“”„()]{4,64})[\"'`”*_,)]{0,3}\s(?:is|was|as|be|=|ist|als|est|es)\s(?:now\s|still\s)?"
    r"(?:the|my|our|your|his|her|their|its|new|das|die|der|meine?|unsere?|le|mon|la|mi|el)\s(?:[\w'’-]{1,20}\s){0,3}$",
    re.IGNORECASE,
)
_CHANGED = re.compile(r"\b(?:change|set|reset|updat|rotat|switch|new|ändern|änder)", re.IGNORECASE)
_DONE = re.compile(r"\S?\s(?:geändert|gesetzt|gewechselt|umgestellt)\b")
_DIGIT = re.compile(r"\d")
_CODE = re.compile(
    r"(?=[\w#*-]{0,12}\d)(?:[#*]?[A-Z0-9]{1,6}(?:-[A-Z0-9]{2,6}){0,4}[#*]?|[a-z0-9]{4,8}(?:-[a-z0-9]{4,8}){1,4})"
    r"(?![\w%€$]|[.,:/-]\w)"
)
_MIXED = re.compile(r"(?=[a-z]*\d[a-z]*\d)(?=\d*[a-z])[a-z0-9]{4,10}(?![\w-])", re.IGNORECASE)
_WORD = re.compile(r"(?<=\s)\S+")
_QUOTES = "\"'`“”„«»*(["
_FAR = 110
"""Characters behind a noun in which a value of an odd shape is still its."""
_NAMING_WORDS = (
    "for of to at on in from with user username account login by as named called id file server host site page line"
    " room order no nr version für von zu auf de del da para pour от для к see"
)
_NAMING = frozenset(_NAMING_WORDS.split())
"""Words before a name, not a value."""
_OTHER_THINGS = "user username users email mail name number account hash id version"
_OTHERS = frozenset(_OTHER_THINGS.split())
"""What the rest of a sentence may be about instead."""
_COPULA_WORDS = "is ist lautet es est è é jest je är er = - – — : это"
_COPULAS = frozenset(_COPULA_WORDS.split())
_CALL = re.compile(r"[({\[][^)}\]]*$|https?://\S*$|//|/\*|<[^>]*$")
_LISTED = re.compile(r"(?=[A-Z-]{0,24}\d[A-Z-]{0,24}\d)[A-Z0-9]{4,8}(?:-[A-Z0-9]{4,8}){1,6}(?![\w-])")
_NEXT = re.compile(r"\s?(?:,|;|and|or|/|\n)\s{0,2}")
_PHRASE = re.compile(r"[^\W\d_]{2,12}(?:[ -][^\W\d_]{2,12}){2,23}")
_PAIR = re.compile(r"[\"'`]?[\w.@+-]{2,64}[\"'`]?(?P<by>\s?[/:]\s?|\s)[\"'`]?(?P<value>[^\s\"'`<>|,;]{4,100})")
_NEXT_NAME = re.compile(r"[;&,](?=\w+=)")
"""Where the value of a query or a connection string ends: the name of the next begins."""
_HEADS = re.compile(r"[\w-]+(?:[,;][\w-]+)+")
_LINE = 400
"""Characters of a line in which a table is looked for."""
_ROWS = 200
"""Rows of a table that are read under a noun."""


def stated_secrets(text: str, figures: bytes, *, statement: bool = False) -> Iterator[Found]:
    """Yield start, end and kind of each secret that the words beside it show.

    Args:
        text: the text to search.
        figures: its figures, colons, bars and signs of equation, alone.
        statement: whether it is a caller's fact in words, "router password …", without any sign between the two.
    """
    lower = text.lower()
    if len(lower) != len(text):  # a few letters of other scripts grow
        lower = text
    table = (0, 0)
    for noun in find_nouns(text, lower, figures=bool(figures)):
        yield from _values(text, noun, statement=statement)
        line = text.rfind("\n", max(0, noun.start - _LINE), noun.start) + 1
        if line == table[0] or noun.start >= table[1]:
            cells, end = _column(text, noun, line)
            table = line, end
            yield from cells
    if figures or " -" in text:
        yield from fixed_secrets(text, lower, figures)


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
        changed = changed or _DONE.match(text, found.end())
        if changed and (span := _span(text, noun, found, strong=strong)):
            yield span
            yield from _more(text, noun, span)
            return
    before = _BEFORE.search(text, max(0, noun.start - 130), noun.start)
    if before and noun.certain:
        value = before["value"]
        numbers = noun.kind in ("PIN", "code") and DIGITS.fullmatch(value)
        if numbers or (noun.kind != "PIN" and is_shaped(value, least=5)):
            yield before.start("value"), before.end("value"), _KINDS.get(noun.kind, "password")
            return
    if noun.certain or noun.kind == "key":
        yield from _far(text, noun)


def _far(text: str, noun: Noun) -> Iterator[Found]:
    """Yield the value that stands further on in the sentence of a noun, known by a shape that no prose has."""
    kind, before = _KINDS.get(noun.kind, "password"), ""
    for word in _WORD.finditer(text, noun.end, noun.end + _FAR):
        value = word[0].strip(TRAILING + _QUOTES)
        start = word.start() + word[0].index(value)
        signed = (before.endswith((":", "=")) and before != "==") or before in _COPULAS
        named = before in _NAMING
        length = 0
        if noun.kind in ("PIN", "code"):
            number = DIGITS.match(text, start) if signed or len(value) > 3 else None
            if number and (signed or not (named or YEAR.fullmatch(number[0]) or COUNTED.match(text, number.end()))):
                length = len(number[0])
        elif signed and (many := (_PHRASE.match(text, start) if noun.kind == "phrase" else groups(text, start))):
            length = len(many[0]) if noun.kind != "phrase" or len(many[0].split()) > 10 else 0
        elif (signed and noun.kind == "password" and any(map(str.isdigit, value)) and is_shaped(value, least=6)) or (
            not named and is_made_up(value, signed=noun.kind == "password")
        ):
            length = len(value)
        if length and not (UNIT.match(text, start + length) or _CALL.search(text, noun.start, word.end())):
            yield start, start + length, kind
        if length or word[0][-1] in ".!?;" or value.lower() in _OTHERS or text[word.end() : word.end() + 1] == "\n":
            return
        before = word[0].lower()


_KINDS: dict[Kind, str] = {"PIN": "PIN", "code": "PIN", "secret": "secret", "key": "secret", "phrase": "password"}


def _span(text: str, noun: Noun, found: re.Match[str], *, strong: bool) -> Found | None:
    """Return the secret that a form found, if its value is one for its noun and its sign."""
    group = "quoted" if found["quoted"] is not None else "bare"
    start, end = found.span(group)
    kind = _KINDS.get(noun.kind, "password")
    if noun.kind in ("PIN", "code"):
        capital = text[noun.start : noun.end] == "PIN"
        number = DIGITS.match(text, start) or (noun.kind == "code" and strong and _CODE.match(text, start))
        number = number or (noun.kind == "code" and noun.certain and _LISTED.match(text, start))
        number = number or ((strong or capital) and _MIXED.match(text, start))
        whole = number and strong and WHOLE.fullmatch(number[0]) and "\n" not in text[noun.end : start]
        if not (noun.certain or whole):
            return None
        if not number or UNIT.match(text, number.end()) or not (strong or noun.certain) or not number[0].strip("0"):
            return None
        if noun.kind == "PIN" and not strong and len(number[0]) < 4 and text[noun.start : noun.end].lower() == "pin":
            return None
        return number.start(), number.end(), kind
    if noun.kind == "phrase":
        words = _PHRASE.match(text, start) if strong else None
        if words and (noun.certain or len(words[0].split()) > 11) and not set(words[0].lower().split()) & SPOKEN_OF:
            return *words.span(), kind
        if not noun.certain:
            return None
    if noun.kind == "credentials":
        pair = _PAIR.match(text, start) if strong or found["to"] else None
        if pair is None or pair[0].startswith("http"):
            return None
        good = is_shaped(pair["value"], least=4)
        good = good or (pair["by"] != " " and _is_word(text, noun, *pair.span("value")))
        return (*pair.span("value"), kind) if good else None
    if (strong or noun.kind == "secret") and noun.kind != "answer" and (many := groups(text, start)):
        return *many.span(), kind
    value = text[start:end]
    if group == "bare":
        if found["open"] and value.rstrip(TRAILING).endswith(found["open"]):
            value = value.rstrip(TRAILING)[: -len(found["open"])]
        value = _NEXT_NAME.split(value.rstrip(TRAILING), maxsplit=1)[0]
        if not text[noun.start].isascii() and (ascii_only := re.match(r"[!-~]{4,}", value)):
            value = ascii_only[0]
    elif " " in value and noun.kind not in ("phrase", "answer"):
        told = value.count(" ") < 6 and any(map(str.isdigit, value)) and not SAID & set(value.lower().split())
        return (start, end, kind) if told and noun.kind == "password" and noun.certain else None
    end = start + len(value)
    if group == "bare" and (text[end : end + 1] in ("(", "[") or (value[-1:] == "=" and text[end : end + 1] in "\"'")):
        return None  # code, or an attribute's name
    password = noun.kind in ("password", "phrase")
    if noun.kind == "key":
        good = is_random(value)
    elif noun.kind == "answer":
        good = is_shaped(value, least=4) or _is_told(text, noun, start, end, quoted=group == "quoted")
    elif password:
        good = is_shaped(value, least=4 if strong else 5) or (
            strong
            and (
                _is_number(text, value, end)
                or (noun.certain and _is_told(text, noun, start, end, quoted=group == "quoted"))
            )
        )
        good = good or (not strong and len(value) > 3 and value.isdigit() and not YEAR.fullmatch(value))
        good = good and (strong or noun.certain)
    else:
        good = is_random(value) or (strong and is_shaped(value, least=8) and any(map(str.isdigit, value)))
    return (start, end, kind) if good and not UNIT.match(text, end) else None


def _more(text: str, noun: Noun, found: Found) -> Iterator[Found]:
    """Yield further codes of a list: "backup codes: 1234-5678, 8765-4321"."""
    while noun.kind == "code" and (sign := _NEXT.match(text, found[1])):
        number = DIGITS.match(text, sign.end()) or _CODE.match(text, sign.end())
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
    if last < 0 or noun.kind == "key" or noun.start - first > _LINE:
        return [], noun.end
    line = text[first:last]
    if (sign := next((one for one in "|\t;," if one in line), None)) is None:
        return [], noun.end
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
        numbers = noun.kind in ("PIN", "code", "password") and DIGITS.fullmatch(value) is not None
        word = sign in "|\t" and noun.kind == "password" and is_plain_word(value)
        if " " not in value and (numbers or word or is_shaped(value, least=4)):
            found.append((start, start + len(value), _KINDS.get(noun.kind, "password")))
        if last < 0:
            break
    return found, first


def _is_number(text: str, value: str, end: int) -> bool:
    return value.isdigit() and len(value) >= 4 and not UNIT.match(text, end)


def _is_told(text: str, noun: Noun, start: int, end: int, *, quoted: bool) -> bool:
    return is_plain_word(text[start:end]) if quoted else _is_word(text, noun, start, end)


def _is_word(text: str, noun: Noun, start: int, end: int) -> bool:
    """Return whether a single word of letters is given as a password: nothing follows, and it is no code."""
    if not is_plain_word(text[start:end]):
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
