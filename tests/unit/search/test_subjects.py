"""Evidence that is told of another than whom the question asks about, where that is nobody who speaks."""

from dataclasses import replace

import numpy as np
import pytest
from small_space import message, read, turn_text

from mcp_memory.domain.turns import Turn
from mcp_memory.language.questions import understand
from mcp_memory.search.candidates import Candidate
from mcp_memory.search.subjects import subject_of, told_of_another
from mcp_memory.search.told_of import Another

HERE = (1.0, 0.0)


def another(question: str, *lines: str) -> Another | None:
    """Return of whom the lines are told in place of another; each is as near to the question, the first the nearest."""
    turns: list[Turn] = []
    for number, line in enumerate(lines):
        speaker, text = line.split(": ", 1) if ": " in line else ("user", line)
        turns.append(message(str(number), speaker, text, at=number))
    batch = {text: HERE for turn in turns for text in (turn.text,)}
    space = read(*turns, vectors=batch)
    assert all(turn_text(turns, sentence) for sentence in space.sentences)
    query = replace(understand(question, space.speakers), vectors=np.array([HERE], np.float32))
    found = [Candidate(row, 1.0, ("meaning",), {}) for row in range(len(space.segments))]
    weights = {stem: 1 / len(query.stems) for stem in query.stems}
    return told_of_another(space, query, found, weights)


def told(question: str, *lines: str) -> tuple[str, str] | None:
    """Return of whom the lines are told, not of whom."""
    found = another(question, *lines)
    return found and (found.whom, found.asked)


@pytest.mark.parametrize(
    ("question", "line", "expected"),
    [
        ("Where did John move?", "James moved to Lima.", ("James", "John")),
        ("What is Hugo's birthday?", "Bruno's birthday is on the 4th.", ("Bruno", "Hugo")),
        ("What did Theo score?", "Yesterday Milo scored two goals.", ("Milo", "Theo")),
        ("What does the Kite server run?", "The Osprey server runs Debian.", ("Osprey", "Kite")),
        ("What did Dr. Lie prescribe?", "Dr. Berg prescribed iron.", ("Dr. Berg", "Dr. Lie")),
        ("Where does my sister live?", "My brother lives in Ghent.", ("my brother", "my sister")),
        ("What does my mother make?", "My mother-in-law makes pierogi.", ("my mother-in-law", "my mother")),
        ("How much does my wife take?", "I take 20 mg.", ("the user", "my wife")),
        ("Where was I born?", "My wife was born in Oulu.", ("my wife", "the user")),
        ("Where is Ruth's surgery?", "Mia: My surgery is in Bern.", ("Mia", "Ruth")),
    ],
)
def test_what_is_told_of_another_is_said_so(question: str, line: str, expected: tuple[str, str]) -> None:
    assert told(question, line) == expected


@pytest.mark.parametrize(
    ("question", "lines"),
    [
        ("Where did John move?", ("John moved to Lima.",)),
        ("Where did John move?", ("Then we heard that John moved to Lima.",)),
        ("Where did John move?", ("John called.", "He moved to Lima.")),
        ("Where did John move?", ("Moved to Lima, of all places!",)),
        ("When is the Lima fair?", ("Correct, the fair is on Friday.",)),
        ("Where did John move?", ("Anna, the move to Lima is done.",)),
        ("When does the Lima branch open?", ("New date is 1 May.", "Agreed plan is to open on 3 May.")),
        ("What did Henrik get?", ("I gave Henrik a lamp.",)),
        ("Where does my sister live?", ("My sister lives in Ghent.",)),
        ("Which language do I want?", ("Always answer in English.",)),
        ("What does Owen want?", ("Keep a short diary.",)),
        ("What does the user want?", ("I want a loom.",)),
        ("Where was I born?", ("I was born in Oulu.",)),
        ("Where was I born?", ("My wife was born in Oulu, and so was I.",)),
        ("Where did the flood begin?", ("James moved to Lima.",)),
        ("Where did Ann move?", ("Ann: I moved to Lima.", "Bob: My brother moved to Lima.")),
        ("Would Ann have Dr. Lie paint it?", ("Ann: I painted the fence.", "Bob: My brother paints well.")),
        ("What did Dr. Lie paint?", ("Ann: Wow, Bob!", "Bob: Thanks a lot, Ann.")),
        ("Where did Annie move?", ("Anniek: I moved to Lima.", "Bob: My brother moved to Lima.")),
    ],
)
def test_what_may_be_told_of_the_one_asked_about_is_not_doubted(question: str, lines: tuple[str, ...]) -> None:
    assert told(question, *lines) is None


@pytest.mark.parametrize(
    ("question", "lines", "certain"),
    [
        ("Where did John move?", ("James moved to Lima.",), True),
        ("Where did John move?", ("James moved to Lima.", "John is a baker."), False),
        ("When did I start my job?", ("Lowenna starts her job in May.",), True),
        ("When did I start my job at the mill in Turku?", ("Lowenna starts in May.",), False),
        ("At what age did my mother retire?", ("My brother retires at 60.", "My mum is a baker."), False),
    ],
)
def test_that_it_is_told_of_another_is_certain_where_nothing_mentions_the_one_asked_about(
    question: str, lines: tuple[str, ...], certain: bool
) -> None:
    found = another(question, *lines)
    assert found is not None
    assert found.certain is certain


def test_only_one_person_is_asked_about() -> None:
    assert subject_of(understand("Where do my brother and my sister live?", ()), ()) is None
    asked = subject_of(understand("Where does my dear sister live?", ()), ())
    assert asked is not None
    assert asked.masked == "Where does somebody live?"


def test_a_thing_that_two_words_describe_is_told_of_by_sentences_that_mention_it():
    app, billing = "The mobile app is built with Dart.", "The billing service uses one database and has a port."
    assert told("Which database does the mobile app use?", billing, app) == ("something else", "mobile app")
    assert told("What is the port of the billing service?", app, billing) is None
    assert told("What does the mobile app use?", app, "It uses SQLite for its notes.") is None
    assert told("Which database does the mobile app use?", billing) is None  # nothing tells of the thing at all


def test_a_sentence_with_a_pronoun_is_told_of_whom_the_sentences_before_it_name():
    lines = ("Tom: My cousin Ida came.", "Tom: She restores boats.", "Tom: Her boyfriend Marek plays.")
    assert told("Where does Marek restore boats?", *lines) == ("Ida", "Marek")
