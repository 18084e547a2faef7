"""What a reader takes a question to mean, laid over what its words say."""

from dataclasses import replace

from mcp_memory.domain.query import Interpretation, Query, with_interpretation
from mcp_memory.domain.times import FOREVER, Constraint
from mcp_memory.language.gregorian import midnight
from mcp_memory.language.questions import understand

SINCE_1990 = Constraint("within", midnight(1990, 1, 1), FOREVER, "day")


def test_a_reader_who_says_nothing_changes_nothing():
    for text in ("Where did Ann move in 2015?", "boat name", "¿Dónde vive Ann?", ""):
        question = understand(text, ("Ann",), 0)
        assert with_interpretation(question, Interpretation()) == question


def test_what_the_words_say_stands_against_the_reader():
    question = understand("Where did Ann Lee take her dog in 2015?", ("Ann Lee", "Bob"), 0)
    read = with_interpretation(
        question, Interpretation(answer_type="who", time=SINCE_1990, names=("ann lee", "Dr. Ann Lee"))
    )
    assert read == question
    assert (read.answer_type, read.first_person) == ("where", "Where did I take my dog in 2015?")
    assert read.time is not None
    assert read.time.since == midnight(2015, 1, 1)


def test_an_event_without_a_date_keeps_the_time_open_for_what_the_facts_know_of_it():
    question = understand("What did Ann do before she moved to Oslo?", ("Ann",))
    assert question.time is not None
    assert with_interpretation(question, Interpretation(time=SINCE_1990)).time == question.time


def test_a_reader_adds_what_the_words_lack():
    question = understand("boat name", ())
    said = Interpretation(
        ("the Heron", "Heron"), ("owns",), "EVOLUTION", "what", SINCE_1990, accepts_guesses=True, parts=("My boat is",)
    )
    read = with_interpretation(question, said)
    assert (read.answer_type, read.time, read.accepts_guesses) == ("what", SINCE_1990, True)
    assert (read.extra_names, read.relations, read.intent, read.parts) == (
        ("the Heron",),
        ("owns",),
        "EVOLUTION",
        (Query("My boat is"),),
    )
    assert (read.text, read.stems, read.names) == (question.text, question.stems, question.names)


def test_names_are_kept_once_each_in_the_order_of_the_reader_and_none_without_words():
    read = with_interpretation(
        understand("Does Bob like it?", ()), Interpretation(names=("Zoe", "BOB", " ", "Ann", "zoe"))
    )
    assert read.extra_names == ("Zoe", "Ann")


def test_facts_of_all_kinds_serve_an_intent_that_says_nothing():
    assert with_interpretation(understand("Who moved?", ()), Interpretation(intent="FACT")).intent is None


def test_the_question_itself_is_no_part_of_it():
    question = understand("Who moved?", ())
    assert with_interpretation(question, Interpretation(parts=("Who moved?", "", "I moved", "I moved"))).parts == (
        Query("I moved"),
    )
    assert with_interpretation(replace(question, parts=(Query("old"),)), Interpretation()).parts == ()
