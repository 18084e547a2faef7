"""How the models see a record; training and server use the same functions, so that it reads what it has learnt on."""

from __future__ import annotations

import re

from mcp_memory.view.space import NONE, Space

BEFORE_CHARS = 60
"""Characters of what was said before, from its end: a reply such as "the second one" means nothing without it."""
READ_CHARS = 420
"""Characters of a record that are read; time grows with them, and most messages are shorter."""
_SENTENCE = re.compile(r"(?<=[.!?:])\s+|\n+")
_WORD = re.compile(r"\w{3,}")


def message_text(speaker: str, text: str, before: str = "") -> str:
    """Return a message as the models see it: who said it, the words, and the end of what was said before.

    The embedder sees nothing of what was said before: that may be forgotten, and must not stay in a vector.
    """
    shown = f"{speaker}: {text}"
    return f"{shown} [before: {before[-BEFORE_CHARS:]}]" if before and len(text) < READ_CHARS else shown


def record_text(space: Space, row: int) -> str:
    """Return a segment as the reader sees it: a message with what came before it, or a document with its title.

    Args:
        space: the space of the segment.
        row: the row of the segment.
    """
    turn, text = space.segment_turn[row], space.text(space.segments[row])
    if turn.kind == "document":
        return f"{turn.title or 'document'}: {text}"
    before = int(space.previous_rows[row])
    earlier = "" if before == NONE else space.text(space.segments[before])
    return message_text(turn.speaker or turn.role or "somebody", text, earlier)


def nearest_part(query: str, shown: str) -> str:
    """Return the part of a record that is read: the stretch of sentences that has most of the query's words.

    Args:
        query: the other text of the pair.
        shown: a record as `record_text` shows it; what stands before its first colon stays.

    Returns:
        The record itself if it is short enough; the earliest stretch where several are as good.
    """
    if len(shown) <= READ_CHARS + BEFORE_CHARS:
        return shown
    name, _, text = shown.partition(": ")
    asked = set(_WORD.findall(query.lower()))
    sentences = [one for one in _SENTENCE.split(text) if one]
    words = [asked & set(_WORD.findall(one.lower())) for one in sentences]
    best, most = 0, -1
    for start in range(len(sentences)):
        seen, size = set[str](), 0
        for place in range(start, len(sentences)):
            if size and size + len(sentences[place]) > READ_CHARS:
                break
            seen |= words[place]
            size += len(sentences[place]) + 1
        if len(seen) > most:
            best, most = start, len(seen)
    return f"{name}: {' '.join(sentences[best:])[:READ_CHARS]}"
