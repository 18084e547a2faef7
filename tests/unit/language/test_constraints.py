"""Time constraints of queries: dates, events that stand for a time, and words of order."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_memory.domain.times import FOREVER, Constraint
from mcp_memory.language.constraints import constraint, events_between
from mcp_memory.language.iso import DAY, midnight
from mcp_memory.language.stated import in_words

NOW = midnight(2024, 5, 15) + DAY // 2  # a Wednesday


def told(question: str, now: int | None = None) -> tuple[str, str | None] | None:
    """Return the order, and the interval or the event in words."""
    found = constraint(question, now)
    if found is None:
        return None
    return found.order, in_words(found.since, found.until, found.grain) if found.grain else found.event


@pytest.mark.parametrize(
    ("question", "order", "when"),
    [
        ("Who owned the mill in 1955?", "within", "1955"),
        ("Who owned the mill in May 1955?", "within", "May 1955"),
        ("What did Ann buy on 7 May 2023?", "within", "7 May 2023"),
        ("What did Ann buy on May 7, 2023 for her shop?", "within", "7 May 2023"),
        ("Who owned the mill from 1951 to 1962?", "within", "1951 to 1962"),
        ("Who owned it between Mar 1990 and May 1992?", "within", "March 1990 to May 1992"),
        ("Who ran it in the early 1980s?", "within", "the early 1980s"),
        ("Who ran it in the 19th century?", "within", "the 19th century"),
        ("Who has run it since 2004?", "within", "since 2004"),
        ("Who ran it until 1990?", "within", "until 1990"),
        ("What had she painted by 1990?", "within", "until 1990"),
        ("Where did she live as of June 2016?", "within", "June 2016"),
        ("Who ran it before Mar 1990?", "before", "until February 1990"),
        ("After 1990, who ran it?", "after", "since 1991"),
        ("Who ran it after 1990 and before 1995?", "within", "1991 to 1994"),
        ("What happened the week before 10 May 2023?", "within", "3 May 2023 to 9 May 2023"),
        ("What happened two days after 10 May 2023?", "within", "12 May 2023"),
    ],
)
def test_a_date_binds_the_question(question: str, order: str, when: str) -> None:
    assert told(question) == (order, when)


@pytest.mark.parametrize(
    ("question", "when"),
    [
        ("In 1955, who lived in the house built in 1794?", "1955"),
        ("Who lived in 1955 in the house?", "1955"),
        ("The man who was born in 1911 held what post between 1939 and 1940?", "1939 to 1940"),
    ],
)
def test_a_date_of_the_whole_question_wins_over_one_of_a_clause(question: str, when: str) -> None:
    assert told(question) == ("within", when)


@pytest.mark.parametrize(
    "question",
    [
        "Who directed Blue Mill (1952 film)?",
        'Who wrote "Summer of 1942"?',
        "Who won the 2010 Cup?",
        "Who won the 2018/19 Cup?",
        "Who is the author of the 1984 adaptation?",
        "Which mill is older, Red Mill or Blue Mill?",
        "Which mill was built first, Red Mill or Blue Mill?",
        "Which came first?",
        "When did Ann move to Rome?",
        "Do you know when Ann moved?",
        "During which century was it built?",
        "Who was the mill named after by its owner?",
        "Who looks after the children?",
        "What is her first name?",
        "Who starred in Last Train Home?",
        "How often does she train once a week?",
        "What did she use to bend the wire?",
        "Wann zog Ann nach Rom?",
        "谁拥有磨坊?",
        "mill owner",
        "",
    ],
)
def test_a_date_in_a_name_or_one_that_is_asked_for_does_not_bind(question: str) -> None:
    assert constraint(question, NOW) is None


@pytest.mark.parametrize(
    ("question", "order", "event"),
    [
        ("Where did she live before she moved to Rome?", "before", "she moved to Rome"),
        ("What did he do after the wedding?", "after", "the wedding"),
        ("Where did he live when he was at Grey & Sons?", "within", "he was at Grey & Sons"),
        ("When she was in Rome, where did she work?", "within", "she was in Rome"),
        ("When he was in Rome where did he live?", "within", "he was in Rome"),
        ("Who helped her during the flood?", "within", "the flood"),
        ("Who has helped her since she fell ill?", "after", "she fell ill"),
        ("Where did they live until the flood?", "before", "the flood"),
        ("Who ran it following the death of Grey?", "after", "the death of Grey"),
        ("Before moving to Rome, where did she live?", "before", "moving to Rome"),
    ],
)
def test_an_event_stands_for_a_time(question: str, order: str, event: str) -> None:
    assert told(question) == (order, event)


@pytest.mark.parametrize(
    ("question", "order"),
    [
        ("Where does she live now?", "now"),
        ("Where does she currently live?", "now"),
        ("Where does she live at the moment?", "now"),
        ("Who was her first teacher?", "first"),
        ("What was the earliest painting?", "first"),
        ("Who was the last owner?", "last"),
        ("What is her latest book?", "last"),
        ("What is her most recent book?", "last"),
        ("What was her previous job?", "before"),
        ("Where did she use to live?", "before"),
    ],
)
def test_words_of_order_are_distinguished(question: str, order: str) -> None:
    assert constraint(question, None) == Constraint(order)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "question", ["What is coming up?", "Which upcoming trips are there?", "What happens in the next few weeks?"]
)
def test_what_is_still_to_come_is_after_the_call(question: str) -> None:
    assert constraint(question, NOW) == Constraint("after", NOW, NOW, "day")
    assert constraint(question, None) is None


def test_relative_times_need_the_time_of_the_call() -> None:
    assert told("What did Ann buy last week?", NOW) == ("within", "the week of 6 May 2024")
    assert told("What did Ann buy last week?") is None
    assert told("What did Ann buy in March?", NOW) == ("within", "March 2024")
    assert told("Where did Ann live two years ago?", NOW) == ("within", "2022")
    assert constraint("Where does Ann live now?", NOW) == Constraint("now", NOW, NOW + DAY, "day")


def test_a_date_wins_over_an_event_and_an_event_over_an_order() -> None:
    assert told("What was her first job after 2005?") == ("after", "since 2006")
    assert told("What was her first job after the war?") == ("after", "the war")


@given(st.text(max_size=300), st.none() | st.integers(-(2**62), 2**62))
def test_any_text_at_any_time_gives_a_valid_interval_or_none(question: str, now: int | None) -> None:
    found = constraint(question, now)
    assert found is None or found.since < found.until


@pytest.mark.parametrize(
    "question",
    ["before " * 20_000, "(" * 100_000, "a" * 100_000, "when a" * 20_000, "in 1990 and " * 9_000, "'" * 9_000],
)
def test_only_the_beginning_of_a_long_text_is_read(question: str) -> None:
    found = constraint(question, NOW)
    assert found is None or found.until <= FOREVER


@pytest.mark.parametrize(
    ("question", "events"),
    [
        ("How many days between when I sowed beans and when I picked them?", ("I sowed beans", "I picked them")),
        ("How many weeks lie between my test and the start of the course?", ("my test", "the start of the course")),
        ("How many days between buying oats and hay and the end of it?", ("buying oats and hay", "the end of it")),
        ("How many weeks passed between Ann adopting Rex and Bella?", ("Ann adopting Rex", "Ann adopting Bella")),
        ("How long after I moved to Lima did I buy the car?", ("I moved to Lima", "I buy the car")),
        ("How many days before the trip did I buy the tent?", ("I buy the tent", "the trip")),
        ("How long did it take me to learn Dutch after moving?", ("moving", "learn Dutch")),
    ],
)  # fmt: skip
def test_events_of_a_question_in_their_order(question, events):
    assert events_between(question) == events


@pytest.mark.parametrize(
    "question",
    ["How long have they been married?", "What is the difference between oats and hay?", "", "When did I go?"],
)
def test_other_questions_name_none(question):
    assert events_between(question) is None


@pytest.mark.parametrize(
    ("question", "when"),
    [
        ("What did Ann buy on 3 June?", "3 June 2023"),
        ("Where will Ann go on 3 April?", "3 April 2025"),
        ("Whom did she meet in July?", "July 2023"),
        ("Where did they sail last summer?", "summer 2023"),
        ("Whom did she see last Tuesday?", "14 May 2024"),
    ],
)
def test_a_question_is_about_the_last_or_next_such_time_however_far(question: str, when: str) -> None:
    assert told(question, NOW) == ("within", when)
