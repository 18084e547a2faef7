"""The tail of a fact keeps the phrase that belongs to it, and nothing that only the talk around it explains."""

import pytest
from reading import facts


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I baked a cake for my niece.", "Maria made cake for their niece"),
        ("I made a quilt with blue stars.", "Maria made quilt with blue stars"),
        ("I love hunting new colours for my shop.", "Maria likes hunting new colours for their shop"),
        ("I like skating in the park.", "Maria likes skating in the park"),
        ("I love walks with my aunt along the canal.", "Maria likes walks with their aunt along the canal"),
        ("I'm looking into nursing as a career.", "Maria interested_in nursing as a career"),
        ("I bought a barn with a stable near Orlen.", "Maria bought barn with a stable near Orlen"),
        ("We bought a cabin near Orlen.", "Maria bought cabin near Orlen"),
        ("I adopted a kitten from the shelter.", "Maria adopted kitten from the shelter"),
        ("I joined a choir for beginners.", "Maria member_of choir for beginners"),
        ("I collect coins from Malta.", "Maria collects coins from Malta"),
        ("I live in a flat above the bakery.", "Maria lives_in flat above the bakery"),
        ("We moved to a farm near Orlen.", "Maria lives_in farm near Orlen"),
        ("I like plain and useful tools.", "Maria likes plain and useful tools"),
    ],
)
def test_a_tail_keeps_its_complement(text: str, expected: str) -> None:
    assert expected in facts(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I went to a party for two hours.", "Maria attended party"),
        ("I baked a cake for it.", "Maria made cake"),
        ("I baked a cake for this thing.", "Maria made cake"),
        ("I made a quilt with Ann.", "Maria made quilt"),
        ("I baked a cake for her niece.", "Maria made cake"),
        ("I like bread for that.", "Maria likes bread"),
        ("I like jazz in general.", "Maria likes jazz"),
        ("I bought a lamp in May.", "Maria bought lamp"),
        ("I bought a lamp for 20 euros.", "Maria bought lamp"),
        ("I prefer trams to taxis.", "Maria prefers trams"),
    ],
)
def test_what_means_nothing_by_itself_is_left_out(text: str, expected: str) -> None:
    assert expected in facts(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I enjoy skating in the park and rowing on lakes.", ["likes skating in the park", "likes rowing on lakes"]),
        ("I enjoy cooking for my aunt and baking bread.", ["likes cooking for their aunt", "likes baking bread"]),
        ("We love skating, rowing, and baking bread.", ["likes skating", "likes rowing", "likes baking bread"]),
        ("I love skating, rowing and my dog barks.", ["likes skating", "likes rowing"]),
        ("I'm passionate about elders and their rights.", ["interested_in elders and their rights"]),
        ("I love tea in the morning and coffee after lunch.", ["likes tea in the morning"]),
        ("I volunteer at a library and at the dog shelter.", ["volunteers_at library", "volunteers_at dog shelter"]),
        ("I bought a kite for my niece and a lamp for me.", ["bought kite for their niece", "bought lamp"]),
        ("I studied law in Ghent and botany in Turku.", ["studies law", "studies botany"]),
    ],
)
def test_each_thing_of_a_list_keeps_what_belongs_to_it(text: str, expected: list[str]) -> None:
    assert facts(text) == [f"Maria {fact}" for fact in expected]


@pytest.mark.parametrize(
    "text", ["I reviewed routing, caching, and posts dated May 2022.", "I had a day out with Ann."]
)
def test_a_deed_that_cannot_be_read_to_its_end_is_left_out(text: str) -> None:
    assert facts(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "I'm using the following code:",
        "I use the correct format.",
        "I've been using combinations to count the hands.",
        "I've been using step-by-step examples.",
        "I plan my week and study groups.",
        "I may have found a job at Orbix.",
        "I love the moss and stone theme.",
    ],
)
def test_scraps_are_no_facts(text: str) -> None:
    assert facts(text) == []


@pytest.mark.parametrize("text", ["I'm using Vim.", "I use `pandas`.", "I use a fountain pen."])
def test_tools_are_used(text: str) -> None:
    assert [fact.split()[1] for fact in facts(text)] == ["uses"]


def test_an_age_before_an_occupation_is_a_fact_of_its_own() -> None:
    assert facts("I'm a 44-year-old nurse.") == ["Maria works_as nurse", "Maria age 44"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("My aunt knitted a scarf for my son.", "Maria's aunt made scarf"),
    ],
)
def test_what_is_the_speaker_s_is_told_with_the_speaker_s_name(text: str, expected: str) -> None:
    assert expected in facts(text)
