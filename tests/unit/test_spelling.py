"""How texts and names are spelt for whoever reads or compares them."""

from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_memory.domain.entities import entity_key
from mcp_memory.visible import is_readable, readable, readable_places

TEXTS = st.text(st.sampled_from("ab é-\u00ad\u200b\u200d\u2010\u2011\ufeff"))


@given(TEXTS)
def test_each_readable_character_stands_at_its_place_in_the_text(text):
    places = readable_places(text)
    assert [readable(text[place]) for place in places[:-1]] == [*readable(text)]
    assert places[-1] == len(text)
    assert is_readable(text) == (readable(text) == text)


@settings(max_examples=300)
@given(st.text())
def test_a_key_is_empty_only_for_an_empty_name_and_blanks_around_it_change_none(name):
    assert bool(entity_key(name)) == bool(name.strip())
    assert entity_key(f"  {name} ") == entity_key(name)
