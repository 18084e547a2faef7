"""Subjects, lists and relative clauses as people write them in chats."""

import pytest
from reading import facts


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It's Malmö, a lift, and a landlord who plays the tuba.", []),
        ("PS Joris lives in Turku.", ["Joris lives_in Turku"]),
        ("Either Joris or Olga lives in Turku.", []),
        ("Joris or Olga lives in Turku.", []),
        ("I'm learning Finnish, slowly, because of Olga.", ["Maria studies Finnish"]),
        ("I prefer plain, dark bread.", ["Maria prefers plain, dark bread"]),
        (
            "I'm passionate about mending chairs and tables.",
            ["Maria interested_in mending chairs and tables"],
        ),
        ("I want to surprise Olga. She lives in Turku.", ["Olga lives_in Turku"]),
        ("She taught Olga to swim and lives in Turku.", []),
        ("I love the calm it brings.", []),
        ("Keeps me working at my goals.", []),
        ("Turns out I do have a cat.", ["Maria has_pet cat"]),
        ("Olga accidentally became a nurse.", ["Olga works_as nurse"]),
        ("Thanks Olga, my brother lives in Turku.", ["Maria's brother lives_in Turku"]),
    ],
)
def test_clauses_of_chats(text: str, expected: list[str]) -> None:
    assert facts(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We replaced Plainbase with Tallydb.", ["not Maria uses Plainbase", "Maria uses Tallydb"]),
    ],
)
def test_a_tool_that_replaces_another(text: str, expected: list[str]) -> None:
    assert facts(text) == expected


def test_a_second_verb_is_no_object() -> None:
    assert "Maria uses painting doors" not in facts("I'm using a brush and painting doors.")
    assert facts("I'm using a brush and painting doors.")[:1] == ["Maria uses brush"]


def test_what_is_said_of_an_assistant_is_no_fact() -> None:
    assert facts("You live in Turku and you speak Finnish.", partner="assistant") == []
    assert facts("You live in Turku.", partner="Tom") == ["Tom lives_in Turku"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("My brother's bought a boat.", ["Maria's brother bought boat"]),
        ("Olga's gone to Malta.", ["Olga visited Malta"]),
        ("She's paid a salary, Olga.", []),
        ("Olga's taken up the cello.", ["Olga started cello"]),
        ("Olga lives in Turku. She'd moved there from Vaasa.", ["Olga lives_in Turku", "not Olga lives_in Vaasa"]),
        ("I'd moved to Turku by then.", ["Maria lives_in Turku"]),
        ("I'd move to Turku.", []),
        ("Flying to Oslo in June.", ["Maria visited Oslo"]),
        ("Flying to Oslo in June was fun.", []),
        ("Put the offer in the post.", []),
        ("They made me head baker last month.", ["Maria works_as head baker"]),
        ("It made me remember that.", []),
        ("The doctor put me on ramipril.", ["Maria takes ramipril"]),
        ("We enjoy each other's company.", []),
        ("I work at Tesco's.", ["Maria works_at Tesco's"]),
        ("I went to Luigi's in Oslo.", ["Maria visited Luigi's"]),
        ("I know Tom's in Oslo.", []),
        ("Olga is 79 and lives alone in Turku.", ["Olga age 79", "Olga lives_in Turku"]),
        ("They offered me the job!", []),
        ("I live on St Anne's Road.", ["Maria lives_in St Anne's Road"]),
        (
            "I'm Maria, 34, nurse at the Lumen clinic.",
            ["Maria age 34", "Maria works_as nurse", "Maria works_at Lumen clinic"],
        ),
        ("I'm fine, nurse said so.", []),
    ],
)
def test_verbs_as_people_shorten_them(text: str, expected: list[str]) -> None:
    assert facts(text) == expected
