"""The plain forms of words."""

import pytest

from mcp_memory.language.tokens import stem


@pytest.mark.parametrize(
    ("forms", "plain"),
    [
        (("spoke", "spoken", "speaks", "speaking"), "speak"),
        (("wedding", "married", "marries"), "marry"),
        (("favorites", "favourites", "favorite"), "favourite"),
    ],
)
def test_forms_of_one_word_have_one_stem(forms: tuple[str, ...], plain: str) -> None:
    assert {stem(form) for form in forms} == {stem(plain)}


def test_a_stop_word_is_its_own_stem() -> None:
    assert stem("the") == "the"
