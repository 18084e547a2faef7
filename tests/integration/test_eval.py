"""``mcp-memory eval`` with an invented data set on disk and a real server process."""

import json

import pytest

from mcp_memory.cli import main

PLACES = ("Vellin", "Karst", "Upper Tarn", "Molde", "Sorrel", "Ebb")
TRADES = ("kites", "oars", "bells", "lamps", "drums", "clocks")


@pytest.fixture
def data(here, tmp_path):
    documents = [
        {"doc_id": f"d{i}", "title": place, "text": f"{place} is a village. Its workshops make {TRADES[i]}."}
        for i, place in enumerate(PLACES)
    ]
    questions = [
        {"qid": f"q{i}", "question": f"What do the workshops of {place} make?", "supporting": [f"d{i}"], "type": kind}
        for i, (place, kind) in enumerate(zip(PLACES, ("near", "far") * 3, strict=True))
    ]
    for name, rows in (("corpus", documents), ("questions", questions)):
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / f"made-up.{name}.jsonl").write_text(text, encoding="utf-8")
    return tmp_path / "made-up"


def test_recall_is_measured_compared_and_the_store_written_once(data, tmp_path, capsys):
    kept, figures = tmp_path / "kept", tmp_path / "figures.json"
    common = ["eval", str(data), "--store", str(kept)]
    assert main([*common, "--json", str(figures)]) == 0
    shown = capsys.readouterr()
    assert shown.err == ""  # no bar where there is no terminal
    assert "6 questions, 6 items written in" in shown.out
    assert [line.split()[0] for line in shown.out.splitlines()[2:]] == ["all", "far", "near"]
    report = json.loads(figures.read_text(encoding="utf-8"))
    assert report["recall"]["all answerable"]["R@2"][0] == 100
    assert [row["kind"] for row in report["questions"]] == ["near", "far"] * 3
    assert main([*common, "--switch", "words=false", "--against", str(figures)]) == 0
    again = capsys.readouterr().out
    assert "made-up, words=false: 6 questions, 6 items;" in again
    assert "paired difference" in again
    (data.parent / "made-up.corpus.jsonl").write_text('{"doc_id": "d0", "text": "Other."}\n', encoding="utf-8")
    assert main(common) == 2
    assert "holds other data" in capsys.readouterr().err


def test_what_cannot_be_measured_is_refused_before_anything_is_written(data, tmp_path, capsys):
    assert main(["eval", str(data), "--switch", "wings=false"]) == 2
    assert main(["eval", str(data), "--against", str(data) + ".questions.jsonl"]) == 2
    assert "no file that `mcp-memory eval --json` wrote" in capsys.readouterr().err
    with pytest.raises(SystemExit) as ended:
        main(["eval", str(data), "--json", str(tmp_path / "no" / "x.json")])
    assert ended.value.code == 2
