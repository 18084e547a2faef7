"""Let the reader look again at what the search found first: a model that reads query and record together ranks better.

A search compares what a query and a record say each by itself; the reader sees both at once, and was trained on what
searches put first wrongly. Its chance that a record helps is added to the record's score, where the best score of the
search counts 1 and the chance `WEIGHT`. So it moves what is near to each other, and does not overrule the search.

It reads the best records until `CHARACTERS` are used up: thirty lines of talk or ten long plans take the same time.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mcp_memory.domain.query import Query
from mcp_memory.errors import EmbedderError
from mcp_memory.ports import Reader
from mcp_memory.search.candidates import CandidateSet, distinct_turns
from mcp_memory.search.rendering import READ_CHARS, record_text
from mcp_memory.view.space import Space

READER = "reader"
"""The name of its score in ``via``."""
WEIGHT = 0.3
MOST, CHARACTERS = 30, 4_800
"""Records that are read at most, and characters of them together."""
AHEAD = 0.4
"""Share of the best score below which the second leaves no doubt."""


async def read_first(
    reader: Reader | None, space: Space, query: Query, found: CandidateSet, *, always: bool
) -> tuple[CandidateSet, tuple[str, ...]]:
    """Return the candidates with the reader's chance added to the scores of those it read, and warnings.

    Args:
        reader: None leaves them as they are; so does one that cannot read, which the first recall warns of.
        space: the space of the candidates.
        query: understood.
        found: what search and loop found.
        always: whether it reads even where one record is far ahead (`AHEAD`).
    """
    if reader is None or reader.problem:
        return found, ()
    places: list[int] = []
    shown: list[str] = []
    size = 0
    best = distinct_turns(space, found.rows, found.total, MOST)
    if len(best) < 2 or (not always and found.total[best[1]] < AHEAD * found.total[best[0]]):
        return found, ()
    for place in best:
        text = record_text(space, int(found.rows[place]))
        size += min(len(text), READ_CHARS)
        if shown and size > CHARACTERS:
            break
        places.append(place)
        shown.append(text)
    try:
        chances = await reader.read([(query.text, text) for text in shown])
    except EmbedderError as error:
        return found, (str(error),)
    scores = np.zeros(len(found.rows), dtype=np.float32)
    scores[places] = WEIGHT * float(found.total.max()) * chances[:, 0]
    return replace(found, total=found.total + scores, boosts={**found.boosts, READER: scores}), ()
