"""Whom evidence tells of: the person asked about, somebody else, or nobody, as greetings and thanks do."""

import pytest
from small_space import ask, document, message, read

from mcp_memory.language.questions import understand
from mcp_memory.search.candidates import Candidate
from mcp_memory.search.told_of import is_small_talk, told_of


def telling(question, *turns):
    """Return what the turns tell, each a candidate whose meaning fits by .5."""
    space = read(*turns)
    query = understand(question, space.speakers)
    weights = {stem: 1 / len(query.stems) for stem in query.stems}
    found = [Candidate(row, 1.0, ("meaning",), {"meaning": 0.5}) for row in range(len(space.segments))]
    return told_of(space, query, found, weights)


@pytest.mark.parametrize(
    ("speaker", "text", "whom"),
    [
        ("Ann", "I adopted a grey kitten.", "Ann"),
        ("Bob", "I adopted a grey kitten.", "Bob"),
        ("Bob", "You adopted a grey kitten!", "Ann"),
        ("Ann", "You adopted a grey kitten!", "Bob"),
        ("Bob", "Ann adopted a grey kitten.", "Ann"),
        ("Ann", "Bob adopted a grey kitten.", "Bob"),
        ("Bob", "Ann, I adopted a grey kitten.", "Bob"),
        ("Bob", "I adopted a grey kitten, Ann!", "Bob"),
        ("Bob", "The grey kitten purrs.", "Bob"),
    ],
)
def test_a_sentence_is_told_of_the_person_that_its_words_mean(speaker, text, whom):
    told = telling(
        "When did Ann adopt a grey kitten?",
        message("1", speaker, text),
        message("2", "Ann", ""),
        message("3", "Bob", ""),
    )
    _, lead, another = told
    assert ("Ann" if another is None else another.whom) == whom
    assert (lead > 0) == (whom == "Ann")


def test_a_remark_on_what_somebody_else_told_leads_less_than_the_telling():
    turns = (
        message("1", "Ann", "I adopted a grey kitten."),
        message("2", "Bob", "A grey kitten is lovely, well done!"),
    )
    leads = [telling(f"When did {who} adopt a grey kitten?", *turns)[1] for who in ("Ann", "Bob")]
    assert leads[0] > 0 > leads[1]


def test_a_question_tells_less_than_a_statement():
    asked = telling("What did Ann adopt?", message("1", "Ann", "Did I adopt a kitten?"), message("2", "Bob", ""))
    stated = telling("What did Ann adopt?", message("1", "Ann", "I did adopt a kitten."), message("2", "Bob", ""))
    assert asked[0] == pytest.approx(0.8 * stated[0])


def test_where_nobody_or_several_are_asked_about_nothing_is_told_of_another():
    turns = (message("1", "Ann", "I adopted a kitten."), message("2", "Bob", "I did too."))
    for question in ("Who adopted a kitten?", "Did Ann and Bob adopt a kitten?"):
        support, lead, another = telling(question, *turns)
        assert (lead, another) == (None, None)
        assert support > 0.5


def test_documents_tell_of_nobody():
    space = read(document("d", "Kittens", "Ann adopted a kitten."))
    assert told_of(space, understand("What did Ann adopt?", ("Ann",)), ask(space, "kitten"), {"kitten": 1.0}) is None


NAMES = ("ann", "bob")


@pytest.mark.parametrize(
    "text", ["Thanks, Ann! That means a lot.", "Bye Bob, take care!", "Wow, that's awesome!", "Hey Ann, how is it?"]
)
def test_greetings_thanks_and_cheers_are_small_talk(text):
    assert is_small_talk(text, NAMES)


@pytest.mark.parametrize(
    "text",
    [
        "Thanks, Ann! The kayak is red.",
        "Great, see you at 7!",
        "She was great.",
        "I think so.",
        "Gracias, Ann!",
        "Wow! " * 40,
        "",
    ],
)
def test_what_tells_anything_is_none(text):
    assert not is_small_talk(text, NAMES)
