"""LoCoMo's and BEAM's own files, by invented content of their shapes."""

import json

import pyarrow
import pytest
from bench.published import convert
from pyarrow import parquet

from mcp_memory.commands.dataset import read


def turn(number, speaker, text, **more):
    return {"speaker": speaker, "dia_id": number, "text": text, **more}


def talk(**questions):
    return {
        "sample_id": "talk-1",
        "conversation": {
            "speaker_a": "Odo",
            "speaker_b": "Petra",
            "session_10": [turn("D10:1", "Odo", "The oar is mended.")],
            "session_10_date_time": "9:05 am on 3 June, 2024",
            "session_2": [turn("D2:1", "Petra", "Look!", blip_caption="a kite"), turn("D2:2", "Odo", " ")],
            "session_2_date_time": "1:56 pm on 8 May, 2024",
            "session_3_date_time": "a session that has only a date",
        },
        "qa": [
            {"question": "What did Petra show?", "answer": "a kite", "evidence": ["D2:1"], "category": 4},
            {"question": "Which two?", "evidence": ["D2:1; D10:1", "D2:1"], "category": 1},
            {"question": "What did Odo show?", "adversarial_answer": "a kite", "evidence": ["D2:1"], "category": 5},
            {"question": "Without evidence?", "answer": "-", "evidence": [], "category": 3},
        ],
    }


def test_locomo_becomes_a_space_for_each_talk_with_its_sessions_in_order(tmp_path):
    (tmp_path / "locomo10.json").write_text(json.dumps([talk()]), encoding="utf-8")
    convert(tmp_path / "locomo10.json", tmp_path / "made")
    found = read(tmp_path / "made", unanswerable=True)
    assert [(call.space, call.session) for call in found.calls] == [("talk-1", "S2"), ("talk-1", "S10")]
    assert found.calls[0].items == (
        {"id": "D2:1", "speaker": "Petra", "text": "Look! [shares a picture: a kite]", "time": "2024-05-08T13:56:00"},
    )
    assert [(asked.kind, asked.gold, asked.answerable) for asked in found.questions] == [
        ("single-hop", ("D2:1",), True),
        ("multi-hop", ("D2:1", "D10:1"), True),
        ("adversarial", ("D2:1",), False),
    ]


def message(number, role, text, anchor=None):
    return {"id": number, "role": role, "content": text, "time_anchor": anchor, "index": None, "question_type": None}


FIRST = [message(0, "user", "I mend oars. ->-> 1,1", "March-05-2024"), message(1, "assistant", "Good.")]
SECOND = [message(2, "user", "Now I build kites.", None), message(3, "assistant", "")]
PROBING = {
    "temporal_reasoning": [{"question": "What first?", "source_chat_ids": {"first": [0], "second": [2, [0]]}}],
    "knowledge_update": [{"question": "What now?", "source_chat_ids": [2]}],
    "abstention": [{"question": "Which boat?", "ideal_response": "It is not said."}],
}


def as_parquet(folder):
    row = {"conversation_id": "7", "chat": [FIRST, SECOND], "probing_questions": repr(PROBING)}
    parquet.write_table(pyarrow.Table.from_pylist([row]), folder / "small.parquet")
    return folder / "small.parquet"


def as_folder(folder):
    place = folder / "small" / "100K" / "7"
    (place / "probing_questions").mkdir(parents=True)
    batches = [{"batch_number": 1, "turns": [FIRST]}, {"batch_number": 2, "turns": [SECOND[:1], SECOND[1:]]}]
    (place / "chat.json").write_text(json.dumps(batches), encoding="utf-8")
    (place / "probing_questions" / "probing_questions.json").write_text(json.dumps(PROBING), encoding="utf-8")
    return folder / "small"


@pytest.mark.parametrize("form", [as_parquet, as_folder])
def test_beam_is_read_from_its_parquet_file_and_from_its_repository_alike(tmp_path, form):
    convert(form(tmp_path), tmp_path / "made")
    found = read(tmp_path / "made", unanswerable=True)
    assert [(call.space, call.session) for call in found.calls] == [("beam-7", "B1"), ("beam-7", "B2")]
    assert found.calls[0].items == (
        {"id": "0", "speaker": "user", "text": "I mend oars.", "time": "2024-03-05T00:00:00"},
        {"id": "1", "speaker": "assistant", "text": "Good.", "time": "2024-03-05T00:00:00"},
    )
    assert found.calls[1].items == ({"id": "2", "speaker": "user", "text": "Now I build kites."},)
    assert [(asked.id, asked.gold) for asked in found.questions] == [
        ("beam-7:temporal_reasoning:0", ("0", "2")),
        ("beam-7:knowledge_update:0", ("2",)),
    ]
