"""What a question asks, about whom, of which time and how surely, and its first-person form."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_memory.domain.query import AnswerType
from mcp_memory.domain.times import Constraint
from mcp_memory.domain.turns import Speakers, Turn
from mcp_memory.language.iso import years
from mcp_memory.language.questions import understand

SPEAKERS = ["Ann", "Bob Ross", "Zoë"]


@pytest.mark.parametrize("asked", ["Did Ann meet Bob?", "Who was there?", "Annex prices", ""])
def test_a_question_that_names_none_or_several_is_about_no_one_speaker(asked: str) -> None:
    assert len(understand(asked, SPEAKERS).speakers) != 1


@pytest.mark.parametrize(
    ("asked", "speaker"),
    [("What is Ann's job?", "Ann"), ("What has ann made?", "Ann"), ("When did Bob paint?", "Bob Ross")],
)
def test_a_question_names_a_speaker_in_any_spelling(asked: str, speaker: str) -> None:
    assert understand(asked, SPEAKERS).speakers == (speaker,)


def test_i_is_the_user_and_you_the_assistant_if_there_are_such_speakers() -> None:
    mine, yours = "What is my sister's name?", "Which book did you recommend for your course?"
    assert understand(mine, ["user", "assistant"]).speakers == ("user",)
    assert understand(yours, ["user", "Assistant"]).speakers == ("Assistant",)
    assert understand(mine, ["Ann"]).speakers == understand(yours, ["Ann"]).speakers == ()
    assert understand("Where did Ann take my dog?", ["user", "Ann"]).speakers == ("Ann",)


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Who wrote it?", "who"),
        ("In which year did it open?", "when"),
        ("When did the one who won arrive?", "when"),
        ("Where is it?", "where"),
        ("How many dogs are there?", "how_many"),
        ("How long did it last?", "how_long"),
        ("How did it end?", "how"),
        ("Why did it end?", "why"),
        ("Which of them is red?", "what"),
        ("Did it rain?", "yes_no"),
        ("red bicycle", "other"),
        ("你好吗?", "other"),
    ],
)
def test_the_kind_of_answer_is_read_from_the_first_asking_word(question: str, kind: AnswerType) -> None:
    assert understand(question, ()).answer_type == kind


def test_content_words_are_kept_as_written_with_their_stems() -> None:
    understood = understand("Why were Ann's paintings sold?", ())
    assert understood.content_words == (("Ann's", ("ann",)), ("paintings", ("paint",)), ("sold", ("sold",)))
    assert understood.stems == ("ann", "paint", "sold")


@given(st.text(max_size=60), st.lists(st.text(max_size=12), max_size=4))
def test_any_text_and_any_speakers_are_understood(question: str, speakers: list[str]) -> None:
    understood = understand(question, speakers)
    assert understood.text == question
    assert set(understood.speakers) <= set(speakers)


@given(
    st.text(st.sampled_from("ae zé\u0301\u0338\u200b\u0130ﬁ①Ⓐ'’-_ग़ि東ア한\u0e33\U0001f469"), max_size=20)
    | st.text(max_size=20)
)
def test_every_stem_of_a_content_word_is_a_stem_of_the_question(question: str) -> None:
    """Combining marks, and signs that comparison removes, are the cases in which the two could differ."""
    understood = understand(question, [])
    assert all(parts and set(parts) <= set(understood.stems) for _, parts in understood.content_words)


def test_a_question_states_its_time_and_relative_times_need_the_date_of_the_call() -> None:
    assert understand("Who ran it in 1990?", ()).time == Constraint("within", *years(1990), "year")
    assert understand("Who ran it last year?", ()).time is None
    assert understand("Who ran it last year?", (), years(1991).since).time == Constraint("within", *years(1990), "year")
    assert understand("Who ran it?", (), 0).time is None


def speakers() -> Speakers:
    found = Speakers()
    for name, role in (("Kestrel", "assistant"), ("user", "user")):
        found.add(Turn(f"t_{name}", "x", "s", name, "message", "Hi.", name, role, None, 0, 0, 0, 0))
    return found


@pytest.mark.parametrize(
    "question",
    [
        "What did you suggest for my garden?",
        "Which book have you recommended to me?",
        "How did you recommend that I pack my bag?",
        "What was your advice about my loan?",
        "Show me your last draft again.",
        "What did the assistant say about my essay?",
        "Which of the recipes you gave me has lentils?",
    ],
)
def test_a_question_for_an_assistants_words_names_the_assistant(question: str) -> None:
    assert understand(question, speakers()).speakers == ("Kestrel",)


@pytest.mark.parametrize(
    "question",
    [
        "What did I tell you about my garden?",
        "Can you tell me where I parked?",
        "How would you plan my week?",
        "Could you look up which loan I took?",
        "Have I shown you my essay?",
    ],
)
def test_a_question_to_the_assistant_about_oneself_names_the_user(question: str) -> None:
    assert understand(question, speakers()).speakers == ("user",)


@pytest.mark.parametrize("question", ["Can you explain how bread rises?", "Would you sort these by price?"])
def test_a_request_names_nobody(question: str) -> None:
    assert understand(question, speakers()).speakers == ()
