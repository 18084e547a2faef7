"""The interpretation of a model extends what the words of a query say."""

from dataclasses import replace

from mcp_memory.domain.query import Interpretation, Query, with_interpretation
from mcp_memory.domain.times import FOREVER, Constraint
from mcp_memory.language.iso import midnight
from mcp_memory.language.questions import understand

SINCE_1990 = Constraint("within", midnight(1990, 1, 1), FOREVER, "day")


def test_an_empty_interpretation_changes_nothing():
    for text in ("Where did Ann move in 2015?", "boat name", "¿Dónde vive Ann?", ""):
        question = understand(text, ("Ann",), 0)
        assert with_interpretation(question, Interpretation()) == question


def test_the_words_precede_the_interpretation():
    question = understand("Where did Ann Lee take her dog in 2015?", ("Ann Lee", "Bob"), 0)
    read = with_interpretation(
        question, Interpretation(answer_type="who", time=SINCE_1990, names=("ann lee", "Dr. Ann Lee"))
    )
    assert read == question
    assert read.answer_type == "where"
    assert read.time is not None
    assert read.time.since == midnight(2015, 1, 1)


def test_an_event_without_a_date_leaves_the_time_to_the_facts():
    question = understand("What did Ann do before she moved to Oslo?", ("Ann",))
    assert question.time is not None
    assert with_interpretation(question, Interpretation(time=SINCE_1990)).time == question.time


def test_an_interpretation_adds_what_the_words_lack():
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


def test_extra_names_are_kept_once_each_in_order_and_never_empty():
    read = with_interpretation(
        understand("Does Bob like it?", ()), Interpretation(names=("Zoe", "BOB", " ", "Ann", "zoe"))
    )
    assert read.extra_names == ("Zoe", "Ann")


def test_the_intent_fact_is_ignored():
    assert with_interpretation(understand("Who moved?", ()), Interpretation(intent="FACT")).intent is None


def test_a_query_is_not_a_part_of_itself():
    question = understand("Who moved?", ())
    assert with_interpretation(question, Interpretation(parts=("Who moved?", "", "I moved", "I moved"))).parts == (
        Query("I moved"),
    )
    assert with_interpretation(replace(question, parts=(Query("old"),)), Interpretation()).parts == ()
