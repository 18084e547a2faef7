"""What an encyclopaedia article is about: the name with which its first sentence begins, and which of the next go on.

A sentence goes on about the article's own if it begins with its name, with "he" or "she" of a person, or with "it" or
"the film" of anything else.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from mcp_memory.domain.entities import entity_key
from mcp_memory.rules.facts.runs import run
from mcp_memory.rules.facts.tables import word_set

_COPULA = re.compile(r"[ ,;](?P<verb>is|was|are|were)\s(?=[\w\"“])")
_GOES_ON = re.compile(
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
_OTHERS = re.compile(r"\b(?:whose|where|while|when)\b")


@dataclass(frozen=True, slots=True)
class Article:
    """What an article is about, and where its first sentence says so.

    Attributes:
        name: of the title, or as the sentence writes it.
        start: first character of the words that name it.
        end: first character after them.
        copula: first character after the "is" of the sentence; 0 where it says nothing of the kind about it.
    """

    name: str
    start: int
    end: int
    copula: int


def article(title: str | None, text: str, start: int, end: int) -> Article | None:
    """Return what an article is about, if its first sentence begins with the words of the title, or with a name.

    Args:
        title: of the article, if it has one.
        text: of the article, brackets blanked.
        start: first character of its first sentence.
        end: first character behind it.
    """
    copula = _COPULA.search(text, start, min(end, start + 400))
    stop = copula.start() if copula else min(end, start + 120)
    comma = text.find(",", start, stop)
    gap = text.find("   ", start, stop)  # a bracket was there
    last = min(place for place in (comma, gap, stop) if place >= 0)
    written = text[start:last].strip(_EDGES)
    if not written or (
        written.lower().split()[0] in _EMPTY and written[:4].lower() != (title or "").strip(_EDGES)[:4].lower()
    ):
        return None
    name = _BEHIND.sub("", title).strip() if title else ""
    if name and not _shares(name, written):
        name = name.split(": ")[0]
    if name and ": " in name and entity_key(name) not in entity_key(written):
        name = name.split(": ")[0]
    first = text.index(written, start)
    if not name:
        capital = run(text, first, last)
        if capital is None or capital.end < first + len(written):
            return None
        name = written
    elif not _shares(name, written) or not _is_name(written, name):
        return None
    said = copula is not None and not _OTHERS.search(text, last, copula.start())
    if said and text[last : copula.start() if copula else last].strip()[:1] not in ("", ",", ";", '"', "”"):
        said = _ASIDE.match(text, last, stop) is not None
    return Article(" ".join(name.split()), first, first + len(written), copula.end() if copula and said else 0)


def goes_on(text: str, article: Article, start: int, end: int, *, person: bool) -> int | None:
    """Return where a sentence goes on behind its subject, if that is the article's own; else None.

    Args:
        text: of the article.
        article: what it is about.
        start: first character of the sentence.
        end: first character behind it.
        person: whether it is about a person.
    """
    if person and text.startswith("Born ", start):
        return start
    found = _GOES_ON.match(text, start, end)
    if found is not None:
        return found.end() if bool(found["person"]) == person else None
    name = run(text, start, min(end, start + 80))
    if name is None or not person:
        return None
    words = entity_key(text[name.start : name.end])
    return name.end if words in (entity_key(article.name), entity_key(article.name).split(" ")[-1]) else None


def _is_name(written: str, name: str) -> bool:
    """Return whether what stands before the verb is a name: words with capitals, those of the title, and small ones."""
    known = name.lower().split()
    return all(
        not word[0].islower() or word in _SMALL or word.strip(_EDGES) in known or word[1:2].isupper()
        for word in written.split()
    )


def _shares(name: str, written: str) -> bool:
    """Return whether two names share a word of some length, or are one."""
    ours, theirs = entity_key(name), entity_key(written)
    return ours == theirs or bool({w for w in ours.split() if len(w) > 2} & set(theirs.split()))
