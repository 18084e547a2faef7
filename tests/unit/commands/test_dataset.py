"""Loading a data set of the user."""

import json

import pytest

from mcp_memory.commands.dataset import iso, read
from mcp_memory.errors import ConfigurationError


def lines(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def test_each_conversation_becomes_a_space_and_each_turn_a_message(tmp_path):
    turns = [
        {"turn_id": "a1", "speaker": "Odo", "text": "Look!", "caption": "a kite"},
        {"turn_id": "a2", "speaker": "Petra", "text": " "},
    ]
    session = {"session_id": "s1", "date": "1:56 pm on 8 May, 2023", "turns": turns}
    lines(tmp_path / "x.conversations.jsonl", {"id": "talk", "sessions": [session]})
    lines(
        tmp_path / "x.questions.jsonl",
        {"qid": 1, "conv_id": "talk", "question": "What did Odo show?", "evidence": ["a1"], "category": 1},
        {"qid": 2, "conv_id": "talk", "question": "Who flew?", "evidence": ["a1"], "category": 5},
        {"qid": 3, "conv_id": "talk", "question": "Why?", "evidence": [], "category": 1},
        {"qid": 4, "conv_id": "elsewhere", "question": "Why?", "evidence": ["a1"], "category": 1},
    )
    found = read(tmp_path / "x")
    (call,) = found.calls
    assert (call.space, call.session, call.kind) == ("talk", "s1", "messages")
    assert call.items == (
        {"id": "a1", "speaker": "Odo", "text": "Look! [shares a picture: a kite]", "time": "2023-05-08T13:56:00"},
    )
    assert [(asked.id, asked.space, asked.gold) for asked in found.questions] == [("1", "talk", ("a1",))]


def test_documents_go_into_one_space_with_their_titles(tmp_path):
    lines(
        tmp_path / "y.corpus.jsonl",
        {"doc_id": "d1", "title": "Tarn", "text": "A lake."},
        {"doc_id": "d2", "text": "None."},
    )
    lines(tmp_path / "y.questions.jsonl", {"qid": "q", "question": "What is Tarn?", "supporting": ["d1", "d2"]})
    found = read(tmp_path / "y")
    assert found.calls[0].items == ({"id": "d1", "text": "A lake.", "title": "Tarn"}, {"id": "d2", "text": "None."})
    assert found.questions[0].gold == ("d1", "d2")


def test_evidence_that_is_not_in_the_data_is_listed_with_the_question(tmp_path):
    lines(tmp_path / "y.corpus.jsonl", {"doc_id": "d1", "text": "A lake."})
    lines(tmp_path / "y.questions.jsonl", {"qid": "q", "question": "What is Tarn?", "supporting": ["d1", "d9"]})
    (asked,) = read(tmp_path / "y").questions
    assert (asked.gold, asked.unknown) == (("d1", "d9"), ("d9",))


@pytest.mark.parametrize(
    ("corpus", "questions", "named"),
    [
        (None, "{}", "y.corpus.jsonl"),
        ('{"doc_id": "d", "text": "T"}', None, "y.questions.jsonl"),
        ('{"doc_id": "d", "text": "T"}\n{"doc', "", "line 2"),
        ('{"doc_id": "d", "text": "T"}\n\n{"doc_id": "d"}', "", r"y\.corpus\.jsonl, line 3, lacks 'text'"),
        ('{"doc_id": "d", "text": "T"}\n[]', "", r"y\.corpus\.jsonl, line 2, is no JSON object"),
        ('{"doc_id": "d", "text": "T"}', '{"qid": 1}', r"y\.questions\.jsonl, line 1, lacks 'supporting'"),
        (
            '{"doc_id": "d", "text": "T"}',
            '{"qid": 1, "question": "?", "supporting": 5}',
            r"y\.questions\.jsonl, line 1, is of another form",
        ),
        (
            '{"doc_id": "d", "text": "T"}',
            '{"qid": 1, "question": "?", "supporting": ["e7", "e8"]}',
            r"y\.questions\.jsonl: none of the evidence is in the data: e7, e8",
        ),
        ('{"doc_id": "d", "text": "T"}', '{"qid": 1, "question": "?", "supporting": []}', "no question with evidence"),
    ],
)
def test_an_error_names_the_missing_or_malformed_part(tmp_path, corpus, questions, named):
    for name, text in (("y.corpus.jsonl", corpus), ("y.questions.jsonl", questions)):
        if text is not None:
            (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(ConfigurationError, match=named):
        read(tmp_path / "y")


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("12:05 am on 1 January, 2024", "2024-01-01T00:05:00"),
        ("2023/05/08 (Mon) 13:56", "2023-05-08T13:56:00"),
        ("8.5.2023, 7:30", "2023-05-08T07:30:00"),
        ("2023-05-08", "2023-05-08T00:00:00"),
        ("2023-02-30", None),
        ("some day", None),
        (None, None),
    ],
)
def test_session_dates_are_read_in_the_spellings_of_the_data_sets(said, meant):
    assert iso(said) == meant
