"""Paraphrases: which parts stay, which change, and by how much."""

import tomllib
from pathlib import Path

import pytest
from bench import synonyms
from bench.paraphrase import changed, paraphrase

QUESTIONS = [
    "When did Petra visit the Museum of Small Boats in Vellin?",
    "What did Odo buy for his sister's birthday on 3 March 2019?",
    'Who is the author of "The Long Way to Karst"?',
    "How many children does the mayor of Upper Tarn have?",
    "Why did Milla decide to leave her job at O'Hara & Sons?",
    "Where was the person who founded Quill Press born?",
]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    ("question", "kept"),
    [
        (QUESTIONS[0], ["Petra", "Museum of Small Boats in Vellin"]),
        (QUESTIONS[1], ["Odo", "3 March 2019"]),
        (QUESTIONS[2], ['"The Long Way to Karst"']),
        (QUESTIONS[3], ["Upper Tarn"]),
        (QUESTIONS[4], ["Milla", "O'Hara & Sons"]),
    ],
)
def test_names_numbers_and_quotations_stay_as_they_are(question, kept, seed):
    text = paraphrase(question, seed).text
    assert all(name in text for name in kept)


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_seed_determines_the_wording(question):
    assert paraphrase(question, 4) == paraphrase(question, 4)
    assert len({paraphrase(question, seed).text for seed in range(20)}) > 1


@pytest.mark.parametrize("question", QUESTIONS)
def test_ordinary_questions_are_paraphrased(question):
    found = paraphrase(question)
    assert found.enough
    assert found.changed >= 0.3
    assert found.text[0].isupper()
    assert found.text[-1] in "?."


def test_a_question_in_another_language_stays_and_does_not_count_as_paraphrased():
    question = "Wann hat Petra das kleine Museum besucht?"
    found = paraphrase(question)
    assert (found.text, found.changed, found.enough) == (question, 0.0, False)


def test_a_verb_after_a_name_is_inflected_as_in_a_statement():
    said = {paraphrase("When did Petra go home?", seed).text for seed in range(20)}
    assert any(text == "On what date was it that Petra went home?" for text in said)


def test_the_word_before_decides_between_verb_and_noun():
    verbs = {paraphrase("Where did Petra show her boat?", seed).text for seed in range(20)}
    nouns = {paraphrase("Who saw the show?", seed).text for seed in range(20)}
    assert not any("the display" in text or "the exhibit" in text for text in nouns)
    assert any("display" in text or "exhibit" in text for text in verbs)


def test_a_verb_with_a_particle_is_a_different_verb():
    said = {paraphrase("Who started out with Petra?", seed).text for seed in range(20)}
    assert all("started out" in text for text in said)


def test_another_form_of_the_same_word_is_no_change():
    assert changed("When did Petra go home?", "Petra went home at what time?") == pytest.approx(2 / 4)  # when, did
    assert changed("Petra Petra", "nothing") == 0.0


def test_no_entry_of_the_table_replaces_itself_or_contains_a_name():
    table = tomllib.loads(Path(synonyms.__file__).with_name("synonyms.toml").read_text("utf-8"))
    for part, entries in table.items():
        for word, said in entries.items():
            choices = said.split(" | ")
            assert word not in choices, (part, word)
            assert len(set(choices)) == len(choices), (part, word)
            assert said == said.lower(), (part, word)
