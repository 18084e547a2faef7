"""Facts of a message, statements that assert nothing, and confidences."""

import pytest
from reading import facts, read


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I live in Bergen.", ["Maria lives_in Bergen"]),
        ("You make the best soup and you live in Turku.", ["Tom lives_in Turku"]),
        (
            "I speak French, Polish and some Dutch.",
            ["Maria speaks French", "Maria speaks Polish", "Maria speaks Dutch"],
        ),
        ("I work as a nurse at Arden Clinic.", ["Maria works_as nurse", "Maria works_at Arden Clinic"]),
        ("Rui works at the aquarium in Porto.", ["Rui works_at aquarium"]),
        ("Rui works at the moment, and I work at a desk.", []),
        ("My brother Jon plays the cello.", ["Jon plays cello", "Maria sibling_of Jon"]),
        ("My aunt is allergic to shellfish.", ["Maria's aunt allergic_to shellfish"]),
        ("My aunt Berthe plays chess.", ["Berthe plays chess", "Maria niece_or_nephew_of Berthe"]),
        ("My nephew Tom plays chess.", ["Tom plays chess", "Tom niece_or_nephew_of Maria"]),
        ("My grandma Elvira plays chess.", ["Elvira plays chess", "Maria grandchild_of Elvira"]),
        ("Ann Hill died of pneumonia.", ["Ann Hill died_of pneumonia"]),
        ("Ann Hill passed away from a rare cancer.", ["Ann Hill died_of rare cancer"]),
        ("I almost always play chess.", ["Maria plays chess"]),
        ("Nora and I broke up.", ["not Maria dating Nora"]),
        ("I've got two dogs, Bo and Rex.", ["Maria has_pet Bo", "Maria has_pet Rex"]),
        ("My favourite colour is green.", ["Maria favourite_colour green"]),
        ("I'm no longer a vegetarian.", ["not Maria is_a vegetarian"]),
        ("I don't like olives.", ["Maria dislikes olives"]),
        ("I switched from guitar to bass.", ["not Maria plays guitar", "Maria plays bass"]),
    ],
)
def test_plain_statements_give_their_facts(text: str, expected: list[str]) -> None:
    assert facts(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Do you live in Oslo?",
        "If I move to Oslo, I'll buy a boat.",
        "I wish I had a dog.",
        "I almost moved to Rome.",
        "Ann Hill nearly died of pneumonia.",
        "Ann Hill died of laughter.",
        "I want to move to Rome.",
        "I was going to study medicine.",
        "I could never live in Grauen.",
        "I don't think she lives there.",
        'She whispered "I live in Rome" and left.',
        "Marry me, this soup is incredible!",
        "Ich wohne seit 2019 in Bergen und arbeite als Lehrerin.",
        "J'habite à Lyon et je travaille comme professeur.",
    ],
)
def test_a_statement_that_asserts_nothing_gives_no_fact(text: str) -> None:
    assert facts(text) == []


@pytest.mark.parametrize(
    ("text", "confidence"),
    [
        ("Jan works at Orla Foods.", 0.95),
        ("Tom said that Jan works at Orla Foods.", 0.75),
        ("I think Jan works at Orla Foods.", 0.65),
        ("Jan probably works at Orla Foods.", 0.65),
        ("Maybe Jan works at Orla Foods.", 0.45),
        ("Jan might work at Orla Foods.", 0.45),
    ],
)
def test_confidence_follows_from_hedges_and_reports(text: str, confidence: float) -> None:
    assert [fact.confidence for fact in read(text)] == [confidence]


def test_a_statement_before_a_tag_question_is_read() -> None:
    assert facts("My favourite colour is green, can't you tell from the sofa?") == ["Maria favourite_colour green"]


def test_you_refers_to_nobody_without_an_addressee() -> None:
    assert facts("You live in Turku.", partner=None) == []


def test_a_message_without_a_speaker_is_by_the_user() -> None:
    assert facts("I live in Bergen.", speaker=None) == ["user lives_in Bergen"]


def test_the_span_covers_the_words_that_state_the_fact() -> None:
    text = "Great to hear! I moved to Bergen in 2016, and it rains."
    fact = read(text)[0]
    assert text[fact.start : fact.end] == "I moved to Bergen"
    assert fact.sentence == 1


def test_a_change_is_marked_and_has_the_intent_of_a_change() -> None:
    fact = read("I live in Bergen now.")[0]
    assert (fact.change, fact.intent) == (True, "EVOLUTION")
