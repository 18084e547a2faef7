"""Runs of sentences of about 200 tokens, the passages that recall ranks (QRMeM's static memory, §3.1).

Neighbours share one sentence, so that what two sentences say together is never torn apart.
"""

from __future__ import annotations

from collections.abc import Sequence

from mcp_memory.language.tokens import count_tokens


def pack(text: str, spans: Sequence[tuple[int, int]], limit: int = 200) -> list[tuple[int, int]]:
    """Return segments as (first, last) indices of sentences, both inclusive, in order.

    Args:
        text: the whole text.
        spans: its sentences as (start, end) in characters, as `split` gives them.
        limit: tokens that a segment may hold, by `count_tokens`; a single longer sentence stands alone.

    Returns:
        Segments that together hold every sentence. Each begins with the last sentence of the one before, or just after
        it where that sentence and the next do not fit together, and each adds at least one sentence.
    """
    sizes = [count_tokens(text[start:end]) for start, end in spans]
    segments: list[tuple[int, int]] = []
    first = 0
    while first < len(sizes):
        last, total = first, sizes[first]
        while last + 1 < len(sizes) and total + sizes[last + 1] <= limit:
            last += 1
            total += sizes[last]
        segments.append((first, last))
        following = last + 1
        if following == len(sizes):
            break
        overlaps = sizes[last] + sizes[following] <= limit
        first = last if overlaps else following
    return segments
