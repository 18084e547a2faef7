"""ROUGE-L on worked examples (DESIGN W11), and its properties for any texts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_memory.language.tokens import rouge_l

WORDS = st.lists(st.sampled_from("abcd"), max_size=8)


@pytest.mark.parametrize(
    ("one", "other", "likeness"),
    [
        ("where does alice live now", "where does alice work now", 0.8),
        ("when did alice move to paris", "when did bob move to rome", 0.6667),
        ("what did alice buy in may", "what did alice sell in june to bob", 0.5714),
        ("a b", "b a", 0.5),
        ("a", "", 0.0),
    ],
)
def test_examples_by_hand(one, other, likeness):
    assert rouge_l(one.split(), other.split()) == pytest.approx(likeness, abs=5e-5)


@given(WORDS, WORDS)
def test_rouge_is_symmetric_within_0_and_1_and_1_for_equal_words(one, other):
    assert rouge_l(one, other) == rouge_l(other, one)
    assert 0 <= rouge_l(one, other) <= 1
    assert (rouge_l(one, other) == 1) == (one == other and one != [])
