"""The window: DESIGN W12 by hand, and DESIGN I31 for any segments."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_memory.reflection import navigators
from mcp_memory.reflection.navigators import WindowSegment

PIECES = st.lists(
    st.builds(
        lambda row, score, own: WindowSegment(row, 1 + 7 * row % 40, score, own),  # a segment has one length
        st.integers(0, 12),
        st.sampled_from((0.1, 0.5, 0.9)),
        st.floats(0, 1),
    ),
    max_size=12,
)


def fit_window(important, added, limit):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(navigators, "WINDOW", limit)
        return navigators.fit_window(important, added)


def total(segments):
    return sum(piece.tokens for piece in segments)


def rows(segments):
    return [piece.row for piece in segments]


def test_the_lowest_scored_added_segments_are_dropped_until_the_window_fits():
    important = [WindowSegment(0, 4, 0.2)]
    added = [WindowSegment(1, 3, 0.9), WindowSegment(2, 3, 0.7), WindowSegment(3, 3, 0.8)]
    first, then = fit_window(important, added, 10)
    assert (rows(first), rows(then)) == ([0], [1, 3])
    assert total((*first, *then)) == 10
    assert rows(fit_window(important, added, 13)[1]) == [1, 3, 2]


@given(PIECES, PIECES, st.integers(1, 100))
def test_the_result_fits_the_window_and_drops_only_lower_scores(important, added, limit):
    first, then = fit_window(important, added, limit)
    held = [*first, *then]
    assert total(held) <= limit or (len(first) == 1 and not then)
    assert bool(first) == bool(important)
    assert len(set(rows(held))) == len(held)
    for kept, offered in ((first, important), (then, added)):
        lost = [piece for piece in offered if piece.row not in rows(held)]
        assert all(piece.score >= other.score for piece in kept for other in lost)
