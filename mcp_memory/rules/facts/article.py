"""Read the subject and the predicate of the first sentence of an encyclopaedia article.

The subject is the name with which the sentence begins. The predicate is what it says behind "is": "a 1958 American
comedy film", "an Italian painter and sculptor". A later sentence is about the same subject if it begins with its name,
with "he" or "she" for a person, or with "it" or "the film" for anything else.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from mcp_memory.domain.entities import entity_key
from mcp_memory.language.vocabulary import word_set
from mcp_memory.rules.facts.names import read_name
from mcp_memory.rules.facts.tables import article_words
from mcp_memory.rules.facts.tables.nouns import ROLE_ENDINGS, ROLES

_COPULA = re.compile(r"[ ,;](?P<verb>is|was|are|were)\s(?=[\w\"“])")
_CONTINUATION = re.compile(
    r"(?:(?P<person>He|She)|(?P<thing>It|(?:The|This)\s(?:\w{1,20}\s)?(?:film|movie|song|album|single|novel|book|play|series"
    r"|show|game|episode|opera|story|picture|short|music|score|screenplay|script|soundtrack|company|club|band|team"
    r"|school|village|town|magazine|newspaper|organi[sz]ation)))\s(?=[a-z])"
)
_BEHIND = re.compile(r"\s{0,2}\([^)]{0,100}\)")
_ASIDE = re.compile(r"\s{1,300}(?:,|or\b|also\b|born\b|n[ée]e\b|and\b|known\b|better\b|[\"“”])")
_EDGES = " \t\n\"“”'‘’,;«»"
_EMPTY = word_set(
    "it he she they this that there these here in on at as by for to from when while after before although though if"
    " since because during with under until following despite both one"
)
_SMALL = word_set("of the and or de la von van der di da del du le al el bin ibn a an in & for at y e i to on also")
_OTHER_CLAUSE = re.compile(r"\b(?:whose|where|while|when)\b")


@dataclass(frozen=True, slots=True)
class Article:
    """The subject of an article, and where its first sentence names it.

    Attributes:
        name: the name of the title, or as the sentence writes it.
        start: first character of the words that name it.
        end: first character after them.
        copula: first character after the "is" of the sentence; 0 if the sentence does not say what the subject is.
    """

    name: str
    start: int
    end: int
    copula: int


def article_subject(title: str | None, text: str, start: int, end: int) -> Article | None:
    """Return the subject of an article if its first sentence begins with words of the title, or with a name.

    Args:
        title: of the article, if it has one.
        text: the text of the article, brackets masked.
        start: first character of its first sentence.
        end: first character after it.
    """
    copula = _COPULA.search(text, start, min(end, start + 400))
    stop = copula.start() if copula else min(end, start + 120)
    comma = text.find(",", start, stop)
    gap = text.find("   ", start, stop)  # a bracket was there
    last = min(position for position in (comma, gap, stop) if position >= 0)
    written = text[start:last].strip(_EDGES)
    if not written or (
        written.lower().split()[0] in _EMPTY and written[:4].lower() != (title or "").strip(_EDGES)[:4].lower()
    ):
        return None
    name = _BEHIND.sub("", title).strip() if title else ""
    if name and not _share_word(name, written):
        name = name.split(": ")[0]
    if name and ": " in name and entity_key(name) not in entity_key(written):
        name = name.split(": ")[0]
    first = text.index(written, start)
    if not name:
        capital = read_name(text, first, last)
        if capital is None or capital.end < first + len(written):
            return None
        name = written
    elif not _share_word(name, written) or not _is_name(written, name):
        return None
    has_copula = copula is not None and not _OTHER_CLAUSE.search(text, last, copula.start())
    if has_copula and text[last : copula.start() if copula else last].strip()[:1] not in ("", ",", ";", '"', "”"):
        has_copula = _ASIDE.match(text, last, stop) is not None
    return Article(" ".join(name.split()), first, first + len(written), copula.end() if copula and has_copula else 0)


def continuation(text: str, subject: Article, start: int, end: int, *, person: bool) -> int | None:
    """Return where a sentence continues behind its subject if that is the article's subject, otherwise None.

    Args:
        text: the text of the article.
        subject: the subject of the article.
        start: first character of the sentence.
        end: first character after it.
        person: whether the subject is a person.
    """
    if person and text.startswith("Born ", start):
        return start
    opening = _CONTINUATION.match(text, start, end)
    if opening is not None:
        return opening.end() if bool(opening["person"]) == person else None
    name = read_name(text, start, min(end, start + 80))
    if name is None or not person:
        return None
    words = entity_key(text[name.start : name.end])
    return name.end if words in (entity_key(subject.name), entity_key(subject.name).split(" ")[-1]) else None


def _is_name(written: str, name: str) -> bool:
    """Return whether the words before the verb are a name: capitalised, or in the title, or small particles."""
    title_words = name.lower().split()
    return all(
        not word[0].islower() or word in _SMALL or word.strip(_EDGES) in title_words or word[1:2].isupper()
        for word in written.split()
    )


def _share_word(name: str, written: str) -> bool:
    """Return whether two names share a word of three or more letters, or are equal."""
    ours, theirs = entity_key(name), entity_key(written)
    return ours == theirs or bool({w for w in ours.split() if len(w) > 2} & set(theirs.split()))


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
_KIN = article_words.KIN.keys() - word_set("widower spouse sibling") | word_set("nephew niece grandson granddaughter")
_STANDING = word_set("former retired lost late early current deceased renowned famous noted prominent leading eminent")
_ENDINGS = (*ROLE_ENDINGS, "baller")


@dataclass(frozen=True, slots=True)
class Predicate:
    """What a sentence says that its subject is.

    Attributes:
        start: first character.
        end: first character after it.
        kind: the kind of the subject, or "" if it is unknown.
        kinds: each class of the subject, with its span.
        nationalities: spans of their adjectives.
        year: span of the year before the class.
        kin: whether it is somebody's relative.
    """

    start: int
    end: int
    kind: Kind
    kinds: tuple[tuple[str, int, int], ...]
    nationalities: tuple[tuple[int, int], ...]
    year: tuple[int, int] | None
    kin: bool


def read_predicate(text: str, position: int, stop: int) -> Predicate | None:
    """Return the nouns behind "is" and "was", up to the first word that begins another phrase.

    Args:
        text: the whole document, brackets masked.
        position: first character after the verb.
        stop: first character that is not read.
    """
    determiner = _ARTICLE.match(text, position, stop)
    if determiner is None:
        return Predicate(position, position, "", (), (), None, False)
    start = position = determiner.end()
    nations: list[tuple[int, int]] = []
    year: tuple[int, int] | None = None
    groups: list[list[re.Match[str]]] = [[]]
    for _ in range(24):
        space = _SPACE.match(text, position, stop)
        token = _TOKEN.match(text, space.end() if space else position, stop)
        if token is None:
            break
        word = token[0]
        low = word.lower()
        if low in _STOPS:
            break
        position = token.end()
        if low in ("and", ",", "&", "/", "or"):
            groups.append([])
        elif _YEAR.fullmatch(word):
            year = year or token.span()
        elif nation := _nation(text, token, stop):
            nations.append(nation)
            position = max(position, nation[1])
        elif low in ("a", "an", "the"):
            continue
        elif low not in _STANDING or groups[-1]:
            groups[-1].append(token)
            if word.endswith(".") and len(word) > 4:
                break
    kind, kinds, end = _kinds(text, groups)
    kin = any(token[0].lower() in _KIN for group in groups for token in group[-1:])
    return Predicate(start, end or position, kind, kinds, tuple(nations[:3]), year, kin)


def _nation(text: str, token: re.Match[str], stop: int) -> tuple[int, int] | None:
    """Return the span of a nationality: "South Korean" whole, "Danish-born" without its second part."""
    word = token[0]
    if not word[0].isupper():
        return None
    low = word.lower()
    if low in article_words.NATIONALITIES:
        return token.span()
    if low in article_words.HALVES:
        after = _TOKEN.match(text, token.end() + 1, stop)
        if after and after[0].lower() in article_words.NATIONALITIES | {
            "zealand",
            "rican",
            "lankan",
            "arabian",
            "african",
        }:
            return token.start(), after.end()
    first, dash, _ = low.partition("-")
    if dash and first.strip() in article_words.NATIONALITIES:
        return token.start(), token.start() + len(first.strip())
    return None


def _kinds(text: str, groups: list[list[re.Match[str]]]) -> tuple[Kind, tuple[tuple[str, int, int], ...], int]:
    """Return the kind of the first noun that has one, and all the nouns of that kind, each with its adjectives."""
    kind: Kind = ""
    kinds: list[tuple[str, int, int]] = []
    begun: list[re.Match[str]] = []  # "film and television actor" is one
    for group in groups:
        begun = [*begun, *group]
        classified = next((result for result in map(_kind, reversed(group[-3:])) if result[0]), None) if group else None
        if classified is None:
            continue
        if kind and classified[0] != kind:
            break
        if not kind and _is_before(group, groups):
            continue
        kind = classified[0]
        first, last = begun[0].start(), classified[1]
        if "," in text[first:last]:  # "medallist, philologist": the first of them is of no known kind
            first = group[0].start()
        kinds.append((text[first:last].rstrip("."), first, last - text[first:last].endswith(".")))
        begun = []
    return kind, tuple(kinds[:5]), kinds[-1][2] if kinds else 0


def _is_before(group: list[re.Match[str]], groups: list[list[re.Match[str]]]) -> bool:
    """Return whether a kind of work is part of a role that follows: "film and television actor"."""
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
    ("work", article_words.WORKS),
    ("place", article_words.PLACES),
    ("body", article_words.BODIES),
    ("event", article_words.EVENTS),
    ("person", ROLES | article_words.PEOPLE),
)
