"""Choose what of a text is read for facts: a message's own words (``language/own_words.py``), within limits of time."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from mcp_memory.domain.turns import READ_CHARS, Turn
from mcp_memory.language.segments import is_repetitive

Span = tuple[int, int]

LONGEST = 1_200
"""Characters of a sentence that are read; longer ones were not written as one sentence."""
_LEAD_IN = re.compile(
    r"\s*(?:(?:please|pls|so|and|also|ok|okay|hey)[, ]{1,2})?(?:(?:(?:do not|don['’]t|never) forget|remember"
    r"|keep in mind|bear in mind|(?:make|take) a note|note to self|just so you know|fyi|for the record|nota bene"
    r"|note|reminder|save this|to remember|guess what)(?:\s*[:,–—]\s*|\s+that\s+(?=\S)|\s+(?=I\b)))",
    re.IGNORECASE,
)


def skip_lead_in(text: str, start: int, end: int) -> int:
    """Return the start of the statement: behind "remember that", or the start of the sentence."""
    match = _LEAD_IN.match(text, start, end)
    return match.end() if match and match.end() < end else start


def spans_to_read(turn: Turn, sentences: Sequence[Span]) -> Iterator[tuple[int, Span]]:
    """Yield the index and the characters of each sentence that is read for facts.

    Left out are sentences that repeat themselves, and what follows after `READ_CHARS` of a message. So the time for a
    text is proportional to its length, and that for a message is limited.

    Args:
        turn: the text.
        sentences: spans of its sentences, in characters.
    """
    read_chars = 0
    for index, (start, end) in enumerate(sentences):
        span = start, min(end, start + LONGEST)
        if is_repetitive(turn.text, *span):
            continue
        read_chars += span[1] - span[0]
        if turn.kind == "message" and read_chars > READ_CHARS:
            return
        yield index, span
