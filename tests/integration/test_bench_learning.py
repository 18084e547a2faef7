"""A smaller run of the learning curve with a data set on disk and a real store, embedder and server processes."""

import json
import xml.etree.ElementTree as ElementTree

import pytest
from bench import learning
from bench.__main__ import main

PLACES = ("Vellin", "Karst", "Upper Tarn", "Molde", "Sorrel", "Ebb", "Quill", "Hask", "Bry", "Loam", "Fenn", "Osk")
TRADES = ("kites", "oars", "bells", "lamps", "drums", "clocks", "jars", "saddles", "nets", "ladders", "barrels", "cups")


def test_the_curve_is_measured_over_stdio_printed_drawn_and_written(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(learning, "PASSES", 1)
    monkeypatch.setenv("MCP_MEMORY_CONFIG", str(tmp_path / "config.toml"))
    (tmp_path / "config.toml").write_text("", encoding="utf-8")
    documents = [
        {
            "doc_id": f"d{i}",
            "title": place,
            "text": f"{place} is a village. Its workshops make {TRADES[i]} for the coast.",
        }
        for i, place in enumerate(PLACES)
    ]
    questions = [
        {"qid": f"q{i}", "question": f"What did the shops of {place} create for customers?", "supporting": [f"d{i}"]}
        for i, place in enumerate(PLACES)
    ]
    for name, rows in (("corpus", documents), ("questions", questions)):
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / f"made-up.{name}.jsonl").write_text(text, encoding="utf-8")
    plot, figures = tmp_path / "curve.svg", tmp_path / "figures.json"

    code = main(["--learning", str(tmp_path / "made-up"), "--plot", str(plot), "--json", str(figures)])

    assert code == 0
    shown = capsys.readouterr()
    assert "12 items written" in shown.err
    assert "R@10 paraphrased" in shown.out
    values = {
        (figure["part"], figure["name"]): figure["value"]
        for figure in json.loads(figures.read_text(encoding="utf-8"))["figures"]
    }
    assert values["learning, clean labels", "taught, R@5, pass 0"] > 80
    assert values["learning, clean labels", "unseen, R@5, pass 1"] > 80
    assert (
        values["learning, noisy labels", "taught, R@5, pass 0"]
        == values["learning, clean labels", "taught, R@5, pass 0"]
    )
    ElementTree.parse(plot)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "config.toml",
        "curve.svg",
        "figures.json",
        "made-up.corpus.jsonl",
        "made-up.questions.jsonl",
    ]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--learning", "nowhere/data"], "no data.conversations.jsonl"),
        (["--learning", "nowhere/data", "--plot", "curve.pdf"], ".svg or a .png"),
    ],
)
def test_an_impossible_measurement_is_refused_at_once_with_code_2(arguments, said, capsys):
    assert main(arguments) == 2
    shown = capsys.readouterr()
    assert said in shown.err
    assert shown.out == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ["--plot", "curve.svg"],
        ["--questions", "5"],
        ["--learning", "x", "--large"],
        ["--learning", "x", "--only", "write"],
    ],
)
def test_options_without_effect_are_refused(arguments, capsys):
    with pytest.raises(SystemExit) as told:
        main(arguments)
    assert told.value.code == 2
    assert "--learning" in capsys.readouterr().err
