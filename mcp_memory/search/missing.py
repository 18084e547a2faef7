"""The names and numbers of a question that no record of a space has: what a reply may say is not there.

Nothing else is said to be missing. A common word may be said in other words; a name or a number is said as it is, but
for accents and the case of letters ("Zoe" is held where "Zoë" is). Times that a question states are no numbers.
"""

from __future__ import annotations

from collections.abc import Iterator

from mcp_memory.domain.query import Query
from mcp_memory.language.expressions import MONTH_WORDS
from mcp_memory.language.stated import stated_times
from mcp_memory.language.tokens import words
from mcp_memory.search.words import WordIndex
from mcp_memory.view.space import Space

LONGEST = 1_000
"""Characters of a question that are read."""


def unknown_names(space: Space, query: Query) -> tuple[str, ...]:
    """Return the names and numbers of a question, as written, of which a word stands in no record of the space."""
    index = space.index(WordIndex)
    told = dict.fromkeys((*_names(query), *_numbers(query)))
    return tuple(name for name in told if not all(map(index.holds, words(name))))


def _names(query: Query) -> Iterator[str]:
    first = words(query.text[:LONGEST])[:1]
    for name in (*query.names, *query.entities):
        said = words(name)
        if said != first and not MONTH_WORDS.issuperset(said):  # a capital letter begins every question
            yield name


def _numbers(query: Query) -> Iterator[str]:
    text = query.text[:LONGEST]
    for stated in reversed(stated_times(text, None)):
        text = text[: stated.start] + " " + text[stated.end :]
    yield from (word for word in words(text) if any(letter.isdigit() for letter in word))
