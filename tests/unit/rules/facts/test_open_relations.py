"""What no table names is told by the verb itself; what says nothing by itself is left out."""

import pytest
from telling import facts


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("I repaired my old tandem last week.", "Maria repair old tandem"),
        ("We rented a houseboat in June.", "Maria rent houseboat"),
        ("I handed in my thesis!", "Maria hand_in thesis"),
        ("We cycled up to Lindenhof.", "Maria cycle_to Lindenhof"),
        ("Still driving the school van.", "Maria drives school van"),
    ],
)
def test_a_content_verb_is_its_own_relation(text: str, told: str) -> None:
    assert told in facts(text)


@pytest.mark.parametrize(
    "text",
    [
        "I would rent a houseboat.",
        "I took a deep breath.",
        "I reached my limits.",
        "I rented it.",
        "I didn't pass the test.",
    ],
)
def test_what_says_nothing_by_itself_is_left_out(text: str) -> None:
    assert facts(text) == []


def test_what_is_asked_to_be_kept_is_told() -> None:
    assert facts("Remember that my dentist is Dr. Quell.") == ["Maria dentist Dr. Quell"]
    assert facts("Don't forget that Olga is allergic to latex.") == ["Olga allergic_to latex"]


def test_a_line_of_an_item_and_its_value_is_told_and_turns_to_whose_it_is() -> None:
    told = facts("new phone number for Olga: 555 0199. moved to Brenn last week")
    assert told == ["Olga phone 555 0199", "Olga lives_in Brenn"]


def test_a_participle_tells_of_the_phrase_before_it() -> None:
    told = facts("Orvall Lines is a ferry company based in Port Sund, founded in 1931.", title="Orvall Lines")
    assert {"Orvall Lines located_in Port Sund", "Orvall Lines founded_in 1931"} <= {*told}


def test_the_brackets_behind_a_name_tell_of_a_life() -> None:
    told = facts("Edda Lorn (born 2 May 1950 in Karst) is a painter.", title="Edda Lorn")
    assert {"Edda Lorn born_on 2 May 1950", "Edda Lorn born_in Karst"} <= {*told}


def test_his_wife_beside_a_name_is_the_wife_of_that_name() -> None:
    assert "Jost Brahm married_to Ada" in facts("The mill was built by Jost Brahm and his wife Ada.", title="Old Mill")
