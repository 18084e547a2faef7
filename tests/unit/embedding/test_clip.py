"""A text is clipped before it is tokenised, and texts are divided into batches of similar length."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_memory.embedding.onnx import CHARACTERS_PER_TOKEN, batch_by_length, clip


@given(st.text())
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert clip(text, 256) == text


def test_lone_surrogates_become_question_marks() -> None:
    assert clip("before \ud83d after", 256) == "before ? after"


@pytest.mark.parametrize("length", [0, 1, 255, 256, 257, 1_000_000])
def test_a_text_is_cut_well_after_the_last_token_that_the_model_reads(length: int) -> None:
    assert len(clip("é" * length, 4)) == min(length, 4 * CHARACTERS_PER_TOKEN)


LENGTHS = st.lists(st.integers(0, 300), max_size=200)


@given(LENGTHS, st.integers(1, 40), st.integers(1, 300_000))
def test_every_text_is_in_exactly_one_batch(lengths: list[int], texts: int, area: int) -> None:
    batches = batch_by_length(lengths, texts=texts, area=area)
    assert sorted(place for batch in batches for place in batch) == list(range(len(lengths)))
    assert all(batches)


@given(LENGTHS, st.integers(1, 40), st.integers(1, 300_000))
def test_no_batch_is_too_large_unless_it_is_a_single_text(lengths: list[int], texts: int, area: int) -> None:
    for batch in batch_by_length(lengths, texts=texts, area=area):
        assert len(batch) <= texts
        assert len(batch) == 1 or len(batch) * max(lengths[place] for place in batch) ** 2 < area


@given(LENGTHS, st.integers(1, 40), st.integers(1, 300_000))
def test_no_batch_could_have_taken_the_next_text_as_well(lengths: list[int], texts: int, area: int) -> None:
    batches = batch_by_length(lengths, texts=texts, area=area)
    for batch, after in pairwise(batches):
        assert len(batch) == texts or (len(batch) + 1) * lengths[after[0]] ** 2 >= area


@given(LENGTHS)
def test_texts_of_similar_length_go_together_and_equal_lengths_keep_their_order(lengths: list[int]) -> None:
    order = [place for batch in batch_by_length(lengths, texts=32, area=200_000) for place in batch]
    assert order == sorted(range(len(lengths)), key=lambda place: (lengths[place], place))


def test_full_segments_go_three_at_a_time_and_short_turns_thirty_two() -> None:
    assert [len(batch) for batch in batch_by_length([256] * 7, texts=32, area=200_000)] == [3, 3, 1]
    assert [len(batch) for batch in batch_by_length([14] * 70, texts=32, area=200_000)] == [32, 32, 6]
