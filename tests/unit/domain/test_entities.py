"""Two spellings of a name share a key, two names do not."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_memory.domain.entities import entity_key, titled


@pytest.mark.parametrize(
    "spellings",
    [
        ("Patel", "Dr. Patel", "the Dr Patel", "PATEL's", "Prof. Dr. Patel", "  patel. "),
        ("Acme Corp", "acme corp.", "the Acme-Corp", "ACME  CORP"),
        ("O'Neill", "O’Neill", "Mr. O'NEILL"),
        ("James", "James'", "James's"),
        ("sister", "my sister", "our sister"),
        ("Café Noir", "Cafe\u0301 noir"),
        ("Strasse", "straße"),
        ("Ｔｏｋｙｏ", "Tokyo"),
        ("co\u00adop", "coop"),
        ("Núria Peña", "nuria pena"),
        ("Mary\u2011Ann", "Mary-Ann"),
        ("Human", "me", "User"),
    ],
)
def test_spellings_of_one_name_share_a_key(spellings: tuple[str, ...]) -> None:
    assert len({entity_key(spelling) for spelling in spellings}) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Anna Patel", "Patel"),
        ("St. Louis", "Louis"),
        ("C", "C++"),
        ("C++", "C#"),
        ("Ann's mother", "mother"),
        ("A. Lincoln", "B. Lincoln"),
        ("दिल्ली", "दलील"),
        ("❤️", "☀️"),
        ("🐶", "🐱"),
        ("!", "?"),
        ("Human Resources", "user"),
        ("Mei", "me"),
    ],
)
def test_two_names_have_two_keys(one: str, other: str) -> None:
    assert entity_key(one) != entity_key(other)


@pytest.mark.parametrize(("name", "key"), [("the", "the"), ("Dr.", "dr"), ("the Doctor", "doctor"), ("'s", "s")])
def test_a_name_of_only_removable_words_keeps_the_last(name: str, key: str) -> None:
    assert entity_key(name) == key


@settings(max_examples=300, deadline=None)
@given(st.text())
def test_a_key_is_empty_only_for_an_empty_name_and_is_a_key_of_itself_in_other_case(name: str) -> None:
    key = entity_key(name)
    assert bool(key) == bool(name.strip())
    assert entity_key(f"  {name} ") == key


def test_only_names_with_a_title_before_them_are_titled() -> None:
    assert titled("Dr. Patel")
    assert titled("my Dr. Patel")
    assert not titled("Patel")
    assert not titled("Doctor")
    assert not titled("The Lord of the Rings")
    assert not titled("St. Louis")
