"""ROUGE-L: how much two texts say the same words in the same order (Lin 2004, the summaries' own measure)."""

from __future__ import annotations

from collections.abc import Sequence


def rouge_l(one: Sequence[str], other: Sequence[str]) -> float:
    """Return the F-measure of the longest common subsequence of two texts, in [0, 1]; 0 where one has no words.

    Args:
        one: words, as `language.tokens.words` returns them.
        other: likewise.
    """
    if not one or not other:
        return 0.0
    lengths = [0] * (len(other) + 1)
    for word in one:
        diagonal = 0
        for place, against in enumerate(other, start=1):
            above = lengths[place]
            lengths[place] = diagonal + 1 if word == against else max(above, lengths[place - 1])
            diagonal = above
    return 2 * lengths[-1] / (len(one) + len(other))
