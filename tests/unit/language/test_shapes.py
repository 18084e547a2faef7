"""The shape of a question decides how broad a recall is."""

import pytest

from mcp_memory.language.areas import areas_asked
from mcp_memory.language.shapes import breadth_of, topic_of

SHAPES = {
    "all": (
        "In what order did I bring up the parts of the garden?",
        "List all the cakes that I baked.",
        "How many seedlings did I buy?",
        "How often does Ann swim?",
        "What cakes has Ann baked?",
        "Which of the tools have I lent across our conversations?",
        "Give me a timeline of the move.",
        "What is our current tech stack?",
        "How is Ann's health?",
        "What is coming up for me?",
        "What is on my calendar?",
        "What is planned for the next few weeks?",
    ),
    "overview": (
        "Can you summarise how the garden went?",
        "Give me a short overview of the renovation.",
        "How has my Italian developed?",
        "What has changed since the spring?",
        "Tell me everything we discussed about the roof.",
    ),
    "best": (
        "Where does Ann live?",
        "How many days did the move take?",
        "What is Ann's job?",
        "How is the health service in Turku paid?",
        "Who is coming up with the plan?",
        "How do I go to the station?",
        "In order to bake a cake, what do I need?",
        "Name the mayor of Turku in 1990.",
        "What happened to Ann's car?",
        "Mitä Ann leipoi?",
        "Thanks, that recap helps. The order of the rooms is settled now. What shall I paint first?",
        "",
    ),
}


@pytest.mark.parametrize(("breadth", "question"), [(kind, text) for kind, texts in SHAPES.items() for text in texts])
def test_lists_orders_and_counts_want_all_and_summaries_an_overview(breadth, question):
    assert breadth_of(question) == breadth


@pytest.mark.parametrize(
    ("question", "topic"),
    [
        ("Can you list the order in which I brought up different aspects of the garden?", "the garden"),
        ("Please give me a clear summary of the roof repair.", "the roof repair"),
        ("How many cakes did I mention?", "cakes did"),
        ("Where does Ann live?", "Where does Ann live"),
        ("Summarise?", "Summarise?"),
    ],
)
def test_a_topic_is_the_question_without_the_words_that_ask_for_a_list(question, topic):
    assert topic_of(question) == topic


def test_a_list_of_everything_is_a_list_and_no_overview():
    assert breadth_of("List everything I did to the boat, in order.") == "all"
    assert breadth_of("Please list all I bought.") == "all"
    assert breadth_of("Summarise everything I did to the boat.") == "overview"


def test_a_topic_asks_for_an_area_if_it_is_not_of_many_other_things():
    assert [area.name for area in areas_asked("the health of my mother since May")] == ["health"]
    assert areas_asked("the features, tests, timeline and security of my budget tracker app") == []
