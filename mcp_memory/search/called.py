"""By which names a space calls the things that a question names: "my cat" is Biscuit in most of what is told of her.

Who asks for "the cat" wants what is told of Biscuit, too, and no word of these messages says so. Where a sentence gives
the thing a name ("our cat is called Biscuit", "my cat Biscuit", "Biscuit, my cat"), what has that name bears on a list
or an overview of the thing.

Source: QRMeM unites the names of one entity by a language model (§2.1). **Departures.** Here the words of a sentence
say it, when a list is asked for, and nothing is stored. English.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from mcp_memory.domain.query import Query
from mcp_memory.language.expressions import MONTH_WORDS
from mcp_memory.language.forms import bases
from mcp_memory.language.iso import WEEKDAYS
from mcp_memory.language.tokens import STOP_WORDS, stems, words
from mcp_memory.language.vocabulary import SMALL_TALK
from mcp_memory.search.words import WordIndex
from mcp_memory.view.space import Space

READ = 60
"""Segments with the word that are read, the earliest, where things are introduced."""
AROUND = 60
"""Characters before and after the word in which its name may stand."""
MOST = 3
"""Names that are followed."""
SHARE = 50
"""A name in more than one of so many segments, and in more than `FEW`, names too much."""
FEW = 40
_OWNER = r"(?:[Mm]y|[Oo]ur|[Hh]is|[Hh]er|[Tt]heir|[Tt]he|[Aa]n?|\w+['’]s)"
_NAME = r"(?P<name>[A-Z][\w'’-]+(?: [A-Z][\w'’-]+){0,2})"
_GIVEN = (
    r"\b{owner} (?:[\w-]+ ){{0,2}}{noun}(?:,| is| was|['’]s)? (?:called|named|name is|by the name of) {name}",
    r"\b(?:call(?:ed|s)?|nam(?:ed|es?)) {owner} (?:[\w-]+ )?{noun} {name}",
    r"\b{owner} (?:[\w-]+ )?{noun},? {name}(?=[\s,.;!]|['’]s\b|$)",
    r"\b{name}(?:,| is| was) {owner} (?:[\w-]+ )?{noun}\b",
)


_AFTER = re.compile(r"['’]?s?,? ?(?:is |was )?(?:called |named |name is |by the name of )?[A-Z]")
_BEFORE = re.compile(r"[A-Z][\w'’-]+(?:,| is| was) (?:[\w'’]+ ){1,3}$")
"""A quick look at what stands behind and before the word for a thing."""
_NO_NAMES = frozenset(word for time in (*MONTH_WORDS, *WEEKDAYS) for word in words(time)) | STOP_WORDS | SMALL_TALK


def rows_by_name(space: Space, query: Query) -> list[int]:
    """Return the rows of talk that call a thing of a question by a name which the question does not have."""
    index, every = space.index(WordIndex), np.arange(len(space.segments))
    asked = set(words(query.text))
    found: dict[str, None] = {}
    for noun in _nouns(query):
        forms = sorted({*bases(noun), *stems(noun)})
        holds = np.logical_or.reduce([index.contains(every, form) for form in forms]) & space.talk & space.live
        for row in np.flatnonzero(holds)[:READ].tolist():
            for name in names_given(space.text(space.segments[row]), noun):
                if asked.isdisjoint(words(name)) and name not in space.speakers:
                    found.setdefault(name)
    rows: set[int] = set()
    for name in list(found)[:MOST]:
        parts = stems(name)
        holds = np.logical_and.reduce([index.contains(every, stem) for stem in parts]) if parts else every < 0
        named = np.flatnonzero(holds & space.talk & space.live).tolist()
        if len(named) <= max(FEW, len(every) // SHARE):
            rows.update(named)
    return sorted(rows)


def names_given(text: str, noun: str) -> list[str]:
    """Return the names that a text gives a thing, in order; a question gives none.

    Args:
        text: of a message.
        noun: what the thing is, in lower case; its other number counts as well.
    """
    forms = "|".join(re.escape(form) for form in sorted({noun, noun.removesuffix("s"), f"{noun}s"}))
    found: list[str] = []
    for place in re.finditer(rf"\b(?:{forms})\b", text):
        if _AFTER.match(text, place.end()) or _BEFORE.search(text, max(0, place.start() - AROUND), place.start()):
            begin = max(0, place.start() - AROUND)
            found += _names_in(text, begin, min(len(text), place.end() + AROUND), forms)
    return list(dict.fromkeys(found))


def _names_in(text: str, begin: int, stop: int, forms: str) -> Iterator[str]:
    """Yield the names that a piece of a text gives a thing."""
    for pattern in _GIVEN:
        given = re.compile(pattern.format(owner=_OWNER, noun=f"(?:{forms})", name=_NAME))
        for match in given.finditer(text, begin, stop):
            end = re.search(r"[.!?\n]", text[match.end() :])
            name = re.sub(r"['’]s$", "", match["name"])
            first = words(name)[:1]
            if first and first[0] not in _NO_NAMES and not (end and end[0] == "?"):
                yield name


def _nouns(query: Query) -> list[str]:
    """Return the words of a question that may name a thing: in lower case, and not of its names."""
    named = {word for name in (*query.names, *query.speakers) for word in words(name)}
    return [
        word for written, _ in query.content_words for word in words(written) if written.islower() and word not in named
    ]
