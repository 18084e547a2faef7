"""What an opening says that its subject is: "a 1958 American comedy film", "an Italian painter and sculptor"."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from mcp_memory.rules.facts.tables import openings as tables
from mcp_memory.rules.facts.tables import word_set
from mcp_memory.rules.facts.tables.kinds import ROLES

Kind = Literal["person", "work", "place", "body", "event", ""]

_ARTICLE = re.compile(r"(?:an?|the|one\sof\sthe)\s{1,2}", re.IGNORECASE)
_TOKEN = re.compile(r"[^\W_][\w'’./]{0,40}(?:-\s?[^\W_][\w'’./]{0,40}){0,3}|[,&/]")
_SPACE = re.compile(r"\s{0,2}")
_YEAR = re.compile(r"(?:1[0-9]|20)\d\d")
_STOPS = word_set(
    "by from in of for who whom whose which that based set located situated with at on to about where released"
    " published produced made featuring starring directed written known born currently as performed recorded created"
    " founded established developed composed designed best is was are were active working under during between since"
    " serving playing competing headquartered originally first when after before consisting near covering broadcast"
)
_KIN = word_set(
    "son daughter child brother sister husband wife widow father mother nephew niece grandson granddaughter consort"
)
_STANDING = word_set("former retired lost late early current deceased renowned famous noted prominent leading eminent")
_ENDINGS = (
    "ologist",
    "ician",
    "grapher",
    "smith",
    "maker",
    "keeper",
    "worker",
    "driver",
    "teacher",
    "writer",
    "baller",
)


@dataclass(frozen=True, slots=True)
class Predicate:
    """What a subject is said to be.

    Attributes:
        start: first character.
        end: first character after it.
        kind: what it comes down to, or nothing where that is open.
        kinds: each thing it is said to be, with its place.
        nationalities: places of their adjectives.
        year: place of the year before the kind.
        kin: whether it is somebody's relative.
    """

    start: int
    end: int
    kind: Kind
    kinds: tuple[tuple[str, int, int], ...]
    nationalities: tuple[tuple[int, int], ...]
    year: tuple[int, int] | None
    kin: bool


def predicate(text: str, place: int, stop: int) -> Predicate | None:
    """Return the nouns behind "is" and "was", up to the first word that begins something else.

    Args:
        text: the whole document, brackets blanked.
        place: first character behind the verb.
        stop: first character that is not read.
    """
    article = _ARTICLE.match(text, place, stop)
    if article is None:
        return Predicate(place, place, "", (), (), None, False)
    start = place = article.end()
    nations: list[tuple[int, int]] = []
    year: tuple[int, int] | None = None
    groups: list[list[re.Match[str]]] = [[]]
    for _ in range(24):
        space = _SPACE.match(text, place, stop)
        token = _TOKEN.match(text, space.end() if space else place, stop)
        if token is None:
            break
        word = token[0]
        low = word.lower()
        if low in _STOPS:
            break
        place = token.end()
        if low in ("and", ",", "&", "/", "or"):
            groups.append([])
        elif _YEAR.fullmatch(word):
            year = year or token.span()
        elif nation := _nation(text, token, stop):
            nations.append(nation)
            place = max(place, nation[1])
        elif low in ("a", "an", "the"):
            continue
        elif low not in _STANDING or groups[-1]:
            groups[-1].append(token)
            if word.endswith(".") and len(word) > 4:
                break
    kind, kinds, end = _kinds(text, groups)
    kin = any(token[0].lower() in _KIN for group in groups for token in group[-1:])
    return Predicate(start, end or place, kind, kinds, tuple(nations[:3]), year, kin)


def _nation(text: str, token: re.Match[str], stop: int) -> tuple[int, int] | None:
    """Return where a nationality stands, "South Korean" whole, "Danish-born" without its tail."""
    word = token[0]
    if not word[0].isupper():
        return None
    low = word.lower()
    if low in tables.NATIONALITIES:
        return token.span()
    if low in tables.HALVES:
        after = _TOKEN.match(text, token.end() + 1, stop)
        if after and after[0].lower() in tables.NATIONALITIES | {"zealand", "rican", "lankan", "arabian", "african"}:
            return token.start(), after.end()
    first, dash, _ = low.partition("-")
    if dash and first.strip() in tables.NATIONALITIES:
        return token.start(), token.start() + len(first.strip())
    return None


def _kinds(text: str, groups: list[list[re.Match[str]]]) -> tuple[Kind, tuple[tuple[str, int, int], ...], int]:
    """Return the kind by the first noun that has one, and all the nouns of that kind, each with its adjectives."""
    kind: Kind = ""
    found: list[tuple[str, int, int]] = []
    begun: list[re.Match[str]] = []  # "film and television actor" is one
    for group in groups:
        begun = [*begun, *group]
        known = next((one for one in map(_kind, reversed(group[-3:])) if one[0]), None) if group else None
        if known is None:
            continue
        if kind and known[0] != kind:
            break
        if not kind and _is_before(group, groups):
            continue
        kind = known[0]
        first, last = begun[0].start(), known[1]
        if "," in text[first:last]:  # "medallist, philologist": the first of them is of no known kind
            first = group[0].start()
        found.append((text[first:last].rstrip("."), first, last - text[first:last].endswith(".")))
        begun = []
    return kind, tuple(found[:5]), found[-1][2] if found else 0


def _is_before(group: list[re.Match[str]], groups: list[list[re.Match[str]]]) -> bool:
    """Return whether a kind of work stands before a role: "film and television actor"."""
    if _kind(group[-1])[0] != "work":
        return False
    later = groups[groups.index(group) + 1 :]
    return any(_kind(token)[0] == "person" for other in later[:3] for token in other[-1:])


def _kind(token: re.Match[str]) -> tuple[Kind, int]:
    word = token[0].lower().rstrip(".").split("-")[-1].strip()
    for kind, words in _WORDS:
        if word in words:
            return kind, token.end()
    if word.endswith(_ENDINGS) or (word.endswith("s") and (word[:-1] in ROLES)):
        return "person", token.end()
    return "", token.end()


_WORDS: tuple[tuple[Kind, frozenset[str]], ...] = (
    ("work", tables.WORKS),
    ("place", tables.PLACES),
    ("body", tables.BODIES),
    ("event", tables.EVENTS),
    ("person", ROLES | tables.PEOPLE),
)
