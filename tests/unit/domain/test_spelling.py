"""How texts are spelt for whoever reads or compares them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_memory.domain.spelling import is_readable, readable, readable_places, without_accents

TEXTS = st.text(st.sampled_from("ab é-\u00ad\u200b\u200d\u2010\u2011\ufeff"))


@given(TEXTS)
def test_each_readable_character_stands_at_its_place_in_the_text(text: str) -> None:
    places = readable_places(text)
    assert [readable(text[place]) for place in places[:-1]] == [*readable(text)]
    assert places[-1] == len(text)
    assert is_readable(text) == (readable(text) == text)


@pytest.mark.parametrize("text", ["йога", "が", "दिल्ली", "서울"])
def test_marks_of_other_scripts_stay(text: str) -> None:
    assert without_accents(text) == text
