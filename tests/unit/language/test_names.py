"""Names by their spelling, and the title of a document."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mcp_memory.domain.spelling import readable
from mcp_memory.language.tokens import HEAD_LENGTH, head, names, short


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Who ran the Bank of England in New York?", ("Bank of England", "New York")),
        ("Did Ann's Boston trip help Bob Ross?", ("Ann", "Boston", "Bob Ross")),
        ("Who sings “Paint it blue” by J. K. Doe?", ("Paint it blue", "Paint", "J. K. Doe")),
        ("Where was Élodie born, Paris, Lyon or Nice?", ("Élodie", "Paris", "Lyon", "Nice")),
        ("nothing here", ()),
        ("Please ask Ann.", ("Ann",)),
        ("", ()),
    ],
)
def test_names_are_capitalised_runs_and_quotations(text: str, found: tuple[str, ...]) -> None:
    assert names(text) == found


@pytest.mark.parametrize(
    ("title", "text", "found"),
    [
        ("Blue Mill (theatre)", "It opened.", "blue mill"),
        ("The Blue Mill", "", "blue mill"),
        ("The Blue Mill: History", "", "blue mill"),
        (": draft", "", "draft"),
        (None, "The Blue Mill (1901) was a theatre.", "blue mill"),
        (None, "Dr. Jane Roe, born 1960, is a judge.", "dr jane roe"),
        (" ", "Jane Roe is a judge.", "jane roe"),
        (None, "She was born in 1960.", ""),
        (None, "in those years it was cold.", ""),
        (None, "It rained. The Blue Mill was closed.", ""),
        ("?", "…", ""),
        (None, "“Blue Mill” is a song by Jane Roe.", "blue mill"),
        (None, '"Blue Mill", a song by Jane Roe, came out in 1990.', "blue mill"),
        (None, "The 1901 Blue Mill Cup was a race.", "1901 blue mill cup"),
        (None, "Blue Mill may refer to: a theatre", "blue mill"),
        (None, "The Blue Mill in Turku was a theatre.", "blue mill"),
        (None, "1901 was a cold year.", ""),
        (None, "Blue mills are a kind of mill.", "blue mills"),
        (None, "In Turku, Jane Roe is a judge.", ""),
        (None, "During the war she was a nurse.", ""),
    ],
)
def test_a_title_is_given_or_the_subject_of_the_first_sentence(title: str | None, text: str, found: str) -> None:
    assert " ".join(head(title, text)) == found


@pytest.mark.parametrize(
    ("title", "about", "found"),
    [
        (None, "jane ann roe", "jane roe"),
        (None, "jane ann mary roe", "jane roe"),
        ("Jane Ann Roe", "jane ann roe", ""),
        (None, "jane roe", ""),
        (None, "bank of turku", ""),
        (None, "1901 blue cup", ""),
    ],
)
def test_a_name_that_is_written_out_is_mentioned_by_its_first_and_last_word(
    title: str | None, about: str, found: str
) -> None:
    assert " ".join(short(title, about.split())) == found


@example("A\u00ad0", None)
@given(st.text(max_size=80), st.one_of(st.none(), st.text(max_size=40)))
def test_any_text_has_names_and_a_title_or_none(text: str, title: str | None) -> None:
    assert all(name in readable(text) for name in names(text))
    assert len(head(title, text)) <= HEAD_LENGTH


def test_an_opening_before_a_name_is_not_a_title() -> None:
    assert head(None, "Behind the Red Mill there is a yard.") == ()
    assert head(None, "The Red Mill has a yard.") == ("red", "mill")
