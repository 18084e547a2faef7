"""Sufficiency: the probability that all that is needed was found, and in words what is missing."""

from dataclasses import replace

import pytest
from small_space import batch, document, message, read

from mcp_memory.domain.evidence import Sufficiency
from mcp_memory.language.questions import understand
from mcp_memory.language.segments import split
from mcp_memory.language.stated import stated_times
from mcp_memory.rules.facts.extractor import RuleExtractor
from mcp_memory.search.candidates import INDEXES, Candidate
from mcp_memory.search.settings import Feature, SufficiencyFormula, SufficiencySettings
from mcp_memory.search.sufficiency import judge_sufficiency, probability
from mcp_memory.view.view import View

ANN = message("1", "Ann", "I painted a red kayak at the lake.")
BOB = message("2", "Bob", "That sounds great, good for you!")
CHAT = tuple(message(str(number), "Bob", f"Number {number} of my stories.") for number in range(3, 13))


def judged(question, *turns, meaning=(0.8, 0.3), scores=None, uncovered=()):
    """Return the judgement where the turns were found in this order, with these cosines and scores."""
    space = read(*turns)
    cosines = (*meaning, *[meaning[-1]] * len(turns))
    falling = scores or [1 - row / 20 for row in range(len(turns))]
    found = [
        Candidate(row, falling[row], ("meaning",), {"meaning": cosines[row]}) for row in range(len(space.segments))
    ]
    return judge_sufficiency(space, understand(question, space.speakers), found, uncovered, SufficiencySettings())


def test_what_is_told_of_the_person_asked_about_suffices():
    found = judged("Where did Ann paint a red kayak?", ANN, BOB)
    assert found == Sufficiency(found.score, True, ())
    assert found.score > 0.9


def test_what_is_told_of_somebody_else_does_not_suffice_and_is_said_to_be():
    found = judged("Where did Bob paint a red kayak?", ANN, BOB)
    assert (found.sufficient, found.missing) == (
        False,
        ("told of Ann, not of Bob: “I painted a red kayak at the lake.”",),
    )
    assert found.score < 0.2


def test_nobody_is_mistaken_for_the_assistant():
    said = message("1", "user", "I painted a red kayak at the lake."), message("2", "assistant", "Use two coats.")
    found = judged("Where did the assistant paint a red kayak?", *said)
    assert not found.sufficient
    assert not any(words.startswith("told of") for words in found.missing)


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        ("Wo hat Ann das rote Boot gemalt?", {"rote", "Boot", "gemalt"}),
        ("Où est le bateau rouge de Ann ?", {"bateau", "rouge"}),
        ("Where did the old die cast?", {"old", "die", "cast"}),  # "die" is a word of this English question
    ],
)
def test_words_without_content_of_another_language_are_not_missing(question: str, missing: set[str]):
    words = [word.strip("?") for word in question.split()]
    uncovered = [word for word in words if word and word.casefold() not in {"ann", "where", "did", "the"}]
    found = judged(question, ANN, BOB, meaning=(0.1, 0.1), uncovered=uncovered)
    assert {word for word in found.missing if " " not in word} == missing


def test_the_letters_of_an_abbreviation_are_not_missing():
    found = judged(
        "Which kayaks of the U.S. did Ann paint?", ANN, BOB, meaning=(0.1, 0.1), uncovered=("U", "S", "coast")
    )
    assert "coast" in found.missing
    assert {"U", "S"}.isdisjoint(found.missing)
    assert "B" in judged("Which plan B did Ann paint?", ANN, BOB, meaning=(0.1, 0.1), uncovered=("plan", "B")).missing


def test_a_long_sentence_is_quoted_in_part_and_on_one_line():
    long = replace(ANN, text=f"I painted a red kayak at the lake\t  {'and at the sea ' * 20}")
    (missing,) = judged("Where did Bob paint a red kayak?", long, BOB).missing
    assert missing.startswith("told of Ann, not of Bob: “I painted a red kayak at the lake and at")
    assert missing.endswith("…”")
    assert len(missing) < 130


def test_what_is_unlike_the_question_does_not_suffice():
    found = judged(
        "Where is my kayak?", message("1", "user", "I like green tea."), meaning=(0.2,), uncovered=("kayak",)
    )
    assert (found.sufficient, found.missing) == (False, ("kayak",))
    assert found.score < 0.2


def test_a_value_of_the_kind_asked_for_is_needed():
    many, three = (message("1", "Ann", f"I have {count} kayaks.") for count in ("red", "three"))
    assert judged("How many kayaks does Ann have?", three, BOB).sufficient
    found = judged("How many kayaks does Ann have?", many, BOB)
    assert (found.sufficient, found.missing) == (False, ("a number",))
    assert found.score <= SufficiencySettings().doubtful


def test_where_many_fit_about_as_well_less_is_certain():
    crowd = [1 - row / 50 for row in range(12)]
    lone = [1.0, *[0.5 - row / 50 for row in range(11)]]
    question = "Where did Ann paint a red kayak?"
    crowded, alone = (
        judged(question, ANN, BOB, *CHAT, scores=scores, meaning=(0.3, 0.2)).score for scores in (crowd, lone)
    )
    assert crowded < alone - 0.05


def test_the_words_of_a_date_need_not_be_said():
    told = judged("Where did Ann paint a red kayak in May 2021?", ANN, BOB)
    assert told.score == pytest.approx(judged("Where did Ann paint a red kayak?", ANN, BOB).score)


def test_documents_need_what_the_question_names():
    mill = document("d", "Blue Mill", "The Blue Mill was built in 1901.")
    tower = document("e", "Old Tower", "The Old Tower was built in 1423.")
    trees = document("f", "Trees", "Trees grow in the sun.")
    question = "When were the Blue Mill and the Old Tower built?"
    both, one = (judged(question, *turns, meaning=(0.7, 0.6)) for turns in ((mill, tower), (mill, trees)))
    assert both.sufficient
    assert both.score > one.score + 0.1


def test_nothing_found_does_not_suffice():
    assert judged("Where is the kayak?", uncovered=("kayak",)) == Sufficiency(0.0, False, ("kayak",))


def test_a_query_without_content_words_is_judged_without_an_error():
    for question in ("", "?", "Who was it?", "Ann", "🎉"):
        assert 0 <= judged(question, ANN, BOB).score <= 1


def test_a_sign_counts_within_its_range_and_its_mean_stands_for_it_where_it_is_not_known():
    formula = SufficiencyFormula(-1.0, {"covered": Feature(2.0, usual=0.5, low=0.0, high=1.0)})
    assert probability(formula, {}) == probability(formula, {"covered": 0.5}) == 0.5
    assert (
        probability(formula, {"covered": 7.0})
        == probability(formula, {"covered": 1.0})
        == pytest.approx(0.7311, abs=1e-4)
    )
    assert probability(formula, {"covered": -7.0}) == probability(formula, {"covered": 0.0})


def test_words_that_only_ask_and_other_forms_of_a_verb_are_not_missing():
    lamp = message("1", "user", "I bought a lamp and some rope.")
    assert judged("List everything I buy for the boat", lamp, uncovered=("List", "everything", "buy", "boat")).missing[
        :1
    ] == ("boat",)


@pytest.mark.parametrize("word", ["kind", "currently", "according", "receive", "previous"])
def test_words_without_which_a_text_may_answer_are_not_missing(word: str):
    found = judged("Which boat did Bob sail?", message("1", "user", "A lamp."), BOB, uncovered=(word, "boat"))
    assert word not in found.missing
    assert "boat" in found.missing


def test_of_what_suffices_only_names_and_numbers_are_missing():
    found = judged("Where did Ann paint a red kayak?", ANN, BOB, uncovered=("carefully", "Tove", "1998"))
    assert found.sufficient
    assert found.missing == ("Tove", "1998")


def test_a_word_that_asks_for_a_relation_is_not_missing_where_a_fact_states_it():
    moved = message("1", "user", "I moved to Varna in the spring.")
    view = View(INDEXES)
    told = replace(batch([moved]), assertions=tuple(extracted(moved)))
    view.add(told, 1)
    space = view.space("x")
    found = [Candidate(0, 1.0, ("meaning",), {"meaning": 0.5})]
    query = understand("Where do I live?", space.speakers)

    assert judge_sufficiency(space, query, found, ("live",), SufficiencySettings()).missing == ()
    assert judge_sufficiency(space, query, found, ("work",), SufficiencySettings()).missing == ("work",)


def extracted(turn):
    spans = split(turn.text)
    return RuleExtractor().extract(turn, None, spans, [stated_times(turn.text, turn.said_at, *span) for span in spans])


@pytest.mark.parametrize(
    ("question", "uncovered"),
    [
        ("Which quizzes did Ann hold at the dyke?", "quizzes"),
        ("What was the decision on the dyke?", "decision"),
        ("What is the situation of the dyke right now?", "situation right"),
        ("How old is the dyke, and where do things stand with it?", "old stand"),
        ("Are there any details on the latest plans for the dyke?", "details latest plans"),
    ],
)
def test_what_only_asks_and_other_forms_of_what_is_there_are_not_missing(question: str, uncovered: str):
    said = message("1", "Ann", "We held a quiz and decided about it.")
    found = judged(question, said, BOB, meaning=(0.1, 0.1), uncovered=(*uncovered.split(), "dyke"))
    assert [word for word in found.missing if word in (*uncovered.split(), "dyke")] == ["dyke"]


@pytest.mark.parametrize(
    "question", ["What did the kayak cost?", "How much was the kayak?", "What is the price of Ann's kayak?"]
)
def test_a_number_of_another_thing_is_none_of_what_is_asked_about(question: str):
    kayak, gap = (
        message("1", "Ann", "I have a kayak, and it is red."),
        message("2", "Bob", "It looks good on the water."),
    )
    told = message("4", "Ann", "The kayak was 310."), message("5", "Bob", "Well, 310 for a kayak is fine.")
    saw, more = message("3", "Ann", "For the saw I paid 310."), message("6", "Bob", "The reeds are tall.")
    found = judged(question, kayak, gap, saw, more, meaning=(0.8, 0.6))
    assert (found.sufficient, "a number" in found.missing) == (False, True)
    assert "a number" not in judged(question, kayak, gap, *told, meaning=(0.8, 0.6)).missing


def test_a_number_in_the_reply_to_what_tells_of_the_thing_counts():
    asked, reply = message("1", "Bob", "What was the kayak in the end?"), message("2", "Ann", "640 all in.")
    assert "a number" not in judged("How much did the kayak cost?", asked, reply).missing
