"""Choose what of a text is read for facts: a message's own words (``language/own_words.py``), within limits of time."""

from __future__ import annotations

import logging
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence

from mcp_memory.domain.turns import READ_CHARS, Turn
from mcp_memory.language.segments import is_repetitive

Span = tuple[int, int]

LONGEST = 1_200
"""Characters of a sentence that are read; longer ones were not written as one sentence."""
CEILING_S = 4.0
"""Seconds of the processor for one message, some six times what the worst of 94 hostile texts takes on 200,000
characters. A rebuild on another machine may read more or less of such a message."""
TOLD_AGAIN = 8
"""How often a sentence is read that a text repeats word for word."""

_LEAD_IN = re.compile(
    r"\s*(?:(?:please|pls|so|and|also|ok|okay|hey)[, ]{1,2})?(?:(?:(?:do not|don['’]t|never) forget|remember"
    r"|keep in mind|bear in mind|(?:make|take) a note|note to self|just so you know|fyi|for the record|nota bene"
    r"|note|reminder|save this|to remember|guess what)(?:\s*[:,–—]\s*|\s+that\s+(?=\S)))",
    re.IGNORECASE,
)
_log = logging.getLogger(__name__)


def skip_lead_in(text: str, start: int, end: int) -> int:
    """Return the start of the statement: behind "remember that", or the start of the sentence."""
    match = _LEAD_IN.match(text, start, end)
    return match.end() if match and match.end() < end else start


def spans_to_read(turn: Turn, sentences: Sequence[Span]) -> Iterator[tuple[int, Span]]:
    """Yield the index and the characters of each sentence that is read for facts.

    Left out are sentences that repeat themselves, the ninth and later ones with the same words, and what follows after
    `READ_CHARS` of a message. So the time for a text is proportional to its length, and that for a message is limited.
    If a message takes `CEILING_S` nevertheless, the rest of it is not read, and the log says so.

    Args:
        turn: the text.
        sentences: spans of its sentences, in characters.
    """
    talk = turn.kind == "message"
    occurrences, read_chars, until = Counter[str](), 0, time.thread_time() + CEILING_S
    for index, (start, end) in enumerate(sentences):
        span = start, min(end, start + LONGEST)
        text = turn.text[slice(*span)]
        occurrences[text] += 1
        if is_repetitive(turn.text, *span) or occurrences[text] > TOLD_AGAIN:
            continue
        read_chars += len(text)
        if talk and read_chars > READ_CHARS:
            return
        if talk and time.thread_time() > until:
            _log.warning("%s: reading its text for facts took over %g s; what follows character %s is stored and can "
                         "be found, but its facts are not read", turn.id, CEILING_S, start)  # fmt: skip
            return
        yield index, span
