"""What of a text a tokenizer is given."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_memory.embedding.clean import CHARACTERS_PER_TOKEN, clean


@given(st.text())
def test_ordinary_text_is_given_as_it_is(text: str) -> None:
    assert clean(text, 256) == text


def test_lone_surrogates_become_question_marks() -> None:
    assert clean("before \ud83d after", 256) == "before ? after"


@pytest.mark.parametrize("length", [0, 1, 255, 256, 257, 1_000_000])
def test_a_text_is_cut_far_behind_what_the_model_reads(length: int) -> None:
    assert len(clean("é" * length, 4)) == min(length, 4 * CHARACTERS_PER_TOKEN)
