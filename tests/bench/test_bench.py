"""The benches run: small ones, with a real store, embedder and server processes."""

import json
from concurrent.futures import ThreadPoolExecutor

from bench import evidence, growth, speed
from bench.growth import grow
from bench.published import convert

from mcp_memory.settings import Settings


def test_the_bench_prints_every_figure_and_writes_it_as_json(tmp_path, monkeypatch, capsys):
    small = {"SIZES": (60,), "SINGLE": 3, "BATCHES": 1, "FORGETS": 1, "QUESTIONS": 6}
    for name, value in small.items():
        monkeypatch.setattr(speed, name, value)
    parts = ["write", "recall", "forget"]
    assert speed.bench(Settings(), large=False, output=tmp_path / "figures.json", parts=parts) == 0
    told = json.loads((tmp_path / "figures.json").read_text(encoding="utf-8"))
    figures = {figure["name"]: figure["value"] for figure in told}
    assert figures["recall p50 / floor p50"] > 0.5
    assert figures["one-hop: answer's item in the top 10"] >= 50
    assert 0 < figures["until acknowledged, p50"] < figures["until indexed, p50"]
    assert figures["one of 60 sentences, p50"] > 0
    out = capsys.readouterr().out
    assert all(name in out for name in figures)


def test_a_store_that_grows_goes_on_after_a_stop(tmp_path, monkeypatch, capsys):
    for name, value in {"SLICE": 60, "SIZES": (60, 120), "QUESTIONS": 3, "WRITES": 5}.items():
        monkeypatch.setattr(growth, name, value)
    monkeypatch.setattr(growth, "ProcessPoolExecutor", lambda *_: ThreadPoolExecutor(1))  # in this process
    grow(Settings(), tmp_path, 60)
    grow(Settings(), tmp_path, 120)
    small, large = map(json.loads, capsys.readouterr().out.splitlines())
    assert small["sentences"] == 60 < 120 <= large["sentences"]
    assert small["ratio"] > 1


def talk():
    def turn(number, speaker, text, **more):
        return {"speaker": speaker, "dia_id": number, "text": text, **more}

    return {
        "sample_id": "talk-1",
        "conversation": {
            "session_10": [turn("D10:1", "Odo", "The oar is mended.")],
            "session_10_date_time": "9:05 am on 3 June, 2024",
            "session_2": [turn("D2:1", "Petra", "Look!", blip_caption="a kite"), turn("D2:2", "Odo", " ")],
            "session_2_date_time": "1:56 pm on 8 May, 2024",
            "session_3_date_time": "a session that has only a date",
        },
        "qa": [
            {"question": "Which two?", "evidence": ["D2:1; D10:1", "D2:1"], "category": 1},
            {"question": "What did Odo show?", "adversarial_answer": "a kite", "evidence": ["D2:1"], "category": 5},
            {"question": "Without evidence?", "answer": "-", "evidence": [], "category": 3},
        ],
    }


def test_locomo_becomes_a_space_for_each_talk_with_its_sessions_in_order(tmp_path):
    (tmp_path / "locomo10.json").write_text(json.dumps([talk()]), encoding="utf-8")
    convert(tmp_path / "locomo10.json", tmp_path / "made")
    calls = list(evidence.writes(tmp_path / "made"))
    assert [(call["space"], call["session"]) for call in calls] == [("talk-1", "S2"), ("talk-1", "S10")]
    assert calls[0]["messages"] == [
        {"id": "D2:1", "speaker": "Petra", "text": "Look! [shares a picture: a kite]", "time": "2024-05-08T13:56:00"}
    ]
    asked = evidence.questions(tmp_path / "made")
    assert [(one.kind, one.gold, one.answerable) for one in asked] == [
        ("multi-hop", ("D2:1", "D10:1"), True),
        ("adversarial", ("D2:1",), False),
    ]


PLACES = {"Vellin": "kites", "Karst": "oars", "Upper Tarn": "bells", "Molde": "lamps"}


def row(name, kind, value):
    return {"id": name, "kind": kind, "answerable": True, **{f"R@{k}": value for k in evidence.KS}}


async def test_the_evidence_of_questions_is_found_and_a_difference_is_paired(tmp_path):
    files = {
        "corpus": [
            {"doc_id": trade, "title": place, "text": f"{place} is a village. Its workshops make {trade}."}
            for place, trade in PLACES.items()
        ],
        "questions": [
            {"qid": place, "question": f"What do the workshops of {place} make?", "supporting": [trade], "type": trade}
            for place, trade in PLACES.items()
        ],
    }
    for kind, rows in files.items():
        (tmp_path / f"made-up.{kind}.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    report = await evidence.measure(Settings(), tmp_path / "made-up", tmp_path)
    assert [row["R@2"] for row in report["questions"]] == [1.0] * 4
    assert evidence.table(report)[2].split() == ["all", "answerable", *["100.0", "±0.0"] * 4, "n=4"]
    before = {"questions": [row("q1", "a", 0.0), row("q2", "a", 1.0), row("gone", "a", 1.0)]}
    every, kind = evidence.differences(before, {"questions": [row("q1", "a", 0.5), row("q2", "a", 1.0)]})
    assert "+25.0 ±34.6" in every
    assert kind.strip().startswith("a ")
