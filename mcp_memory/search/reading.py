"""Let the reader look again at what the search found first: a model that reads query and record together ranks better.

A search compares what a query and a record say each by itself; the reader sees both at once, and was trained on what
searches put first wrongly. Its chance that a record helps is added to the record's score, where the best score of the
search counts 1 and the chance `READER_WEIGHT`. So it moves what is near to each other, and does not overrule the
search.

It reads before the loop goes on: what a chain of memories leads to need not be like the query, and would fall behind.

It reads the best records until `READ_TOGETHER_CHARS` are used up: fifteen lines of talk or six long plans take the same
time. It reads messages alone: it learnt from talk, and of documents the search knows more. What it does not read gains
what it gives on average, so that nothing rises by having been read.

**Measured** on what did not train it, R@5 and 10 without and with it: prompts of kept worlds 45.0 / 67.2 and 53.3 /
67.2, their questions 64.6 / 81.2 and 71.8 / 82.3; within a point on friends' talk, chats with an assistant, projects
and a year's records (``training/README.md``). With more weight worlds gain more and all else loses. A recall over stdio
takes 116 ms instead of 28.

**What a model sees of a record** (`record_text`): training and server use the same
function, so that the reader reads what it has learnt on.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mcp_memory.domain.query import Query
from mcp_memory.errors import EmbedderError
from mcp_memory.ports import PairReader
from mcp_memory.search.candidates import CandidateSet, distinct_turns
from mcp_memory.search.words import READ_CHARS, message_text
from mcp_memory.view.space import NONE, Space

READER_SCORE = "reader"
"""The name of its score among those of the channels."""
READER_WEIGHT = 0.2
MOST_RECORDS, READ_TOGETHER_CHARS = 24, 3_000
"""Records that are read at most, and characters of them with the query together."""
QUERY_CHARS = 190
"""Characters of a query that are read, about: of a longer one its beginning and its end."""
NO_DOUBT = 0.4
"""Share of the best score below which the second leaves no doubt."""


async def read_first(
    reader: PairReader | None, space: Space, query: Query, found: CandidateSet | None, *, always: bool
) -> tuple[CandidateSet | None, tuple[str, ...]]:
    """Return the candidates with the reader's chance added to the scores of those it read, and warnings.

    Args:
        reader: None leaves them as they are; so does one that cannot read, which the first recall warns of.
        space: the space of the candidates.
        query: understood.
        found: what the search found; None for nothing.
        always: whether it reads even where one record is far ahead (`NO_DOUBT`).
    """
    if found is None or reader is None or reader.problem:
        return found, ()
    places: list[int] = []
    shown: list[str] = []
    size = 0
    best = [
        place for place in distinct_turns(space, found.rows, found.total, MOST_RECORDS) if space.talk[found.rows[place]]
    ]
    if len(best) < 2 or (not always and found.total[best[1]] < NO_DOUBT * found.total[best[0]]):
        return found, ()
    for place in best:
        text = record_text(space, int(found.rows[place]))
        size += min(len(text), READ_CHARS) + min(len(query.text), QUERY_CHARS)
        if shown and size > READ_TOGETHER_CHARS:
            break
        places.append(place)
        shown.append(text)
    try:
        chances = await reader.read([(query.text, text) for text in shown])
    except EmbedderError as error:
        return found, (str(error),)
    helps = np.where(found.total > 0, chances.mean(), 0).astype(np.float32)
    helps[places] = chances
    scores = READER_WEIGHT * found.total.max() * helps
    return replace(found, total=found.total + scores, scores={**found.scores, READER_SCORE: scores}), ()


def record_text(space: Space, row: int) -> str:
    """Return a segment as the reader sees it: a message with what came before it, or a document with its title.

    Args:
        space: the space of the segment.
        row: the row of the segment.
    """
    turn, text = space.segment_turn[row], space.text(space.segments[row])
    if turn.kind == "document":
        return f"{turn.title or 'document'}: {text}"
    before = int(space.rows_before[row])
    earlier = "" if before == NONE else space.text(space.segments[before])
    return message_text(turn.speaker or turn.role or "somebody", text, earlier)
