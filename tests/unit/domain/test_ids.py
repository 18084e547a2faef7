"""Ids are digests: the same for the same thing, different for different things."""

from hypothesis import given
from hypothesis import strategies as st

from mcp_memory.domain.ids import Ids, digest

texts = st.lists(st.text(), min_size=1, max_size=4)


@given(texts, texts)
def test_two_sequences_of_texts_share_a_digest_only_if_they_are_equal(one, other):
    assert (digest(*one) == digest(*other)) == (one == other)


def test_the_id_of_the_first_revision_depends_on_its_place_alone_later_ones_on_their_text():
    ids = Ids(b"key")
    assert ids.turn("s", "talk", "m1", "one text", 0) == ids.turn("s", "talk", "m1", "another text", 0)
    assert ids.turn("s", "talk", "m1", "one text", 1) != ids.turn("s", "talk", "m1", "another text", 1)
