"""A text is clipped before it is tokenised."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_memory.embedding.onnx import CHARACTERS_PER_TOKEN, clip


@given(st.text())
def test_ordinary_text_stays_as_it_is(text):
    assert clip(text, 256) == text


def test_lone_surrogates_become_question_marks():
    assert clip("before \ud83d after", 256) == "before ? after"


@pytest.mark.parametrize("length", [0, 1, 255, 256, 257, 1_000_000])
def test_a_text_is_cut_well_after_the_last_token_that_the_model_reads(length):
    assert len(clip("é" * length, 4)) == min(length, 4 * CHARACTERS_PER_TOKEN)
