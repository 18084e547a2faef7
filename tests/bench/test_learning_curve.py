"""The learning curve: marked evidence, the table and the figures."""

import json
from random import Random

import pytest
from bench.__main__ import main
from bench.learning import GROUPS, LABELS, Curve, Found, figures, is_taught, marked, panels, rounds_of, table

EVIDENCE = [{"id": f"e{i}", "sources": [{"id": f"m{i}"}]} for i in range(9)]


def curve(last=2, rounds=3):
    """Return a curve whose recall starts at 50 and grows by ten points per pass, with one round fewer each time."""
    found = {
        (labels, group, number): [
            Found((50.0 + 10 * number, 60.0 + 10 * number), None if rounds is None else rounds - number),
            Found((50.0, 60.0), None if rounds is None else rounds),
        ]
        for labels in LABELS
        for group in GROUPS
        for number in range(last + 1)
    }
    return Curve("made-up", 1, found, {labels: [2] * last for labels in LABELS})


def test_clean_labels_mark_every_item_that_cites_a_gold_id():
    assert marked(EVIDENCE, ["m1", "m3", "m30"], "clean", Random(0)) == ["e1", "e3"]
    assert marked(EVIDENCE, ["m30"], "clean", Random(0)) == []


def test_noisy_labels_mark_one_wrong_item_in_three_of_ten_cases():
    rng = Random(1)
    said = [marked(EVIDENCE, ["m1", "m3"], "noisy", rng) for _ in range(2_000)]
    wrong = [ids for ids in said if ids != ["e1", "e3"]]
    assert len(wrong) / len(said) == pytest.approx(0.3, abs=0.03)
    assert {ids for (ids,) in wrong} == {"e0", "e2", "e4", "e5", "e6"}


def test_the_gain_is_a_paired_difference():
    gain = curve().gain("clean", "taught", 10)
    assert (gain.value, gain.number) == (10.0, 2)
    assert gain.half_width == pytest.approx(1.96 * 10 / 2**0.5)


def test_the_table_shows_each_pass_and_what_was_left_out():
    lines = table(curve()).splitlines()
    assert "1 could not be reworded" in lines[0]
    (taught,) = (line for line in lines[: len(lines) // 2] if "R@10 taught" in line)
    assert [cell for cell in taught.split() if "±" not in cell] == ["R@10", "taught", "60.0", "65.0", "70.0", "+10.0"]
    (rounds,) = (line for line in lines[: len(lines) // 2] if "rounds taught" in line)
    assert rounds.split() == ["rounds", "taught", "3.00", "2.50", "2.00", "-33", "%"]


def test_rounds_are_left_out_if_the_server_does_not_report_them():
    silent = curve(rounds=None)
    assert "rounds" not in table(silent)
    assert not any("rounds" in figure.name for figure in figures(silent))
    assert len(panels(silent)) == len(panels(curve())) - 1
    assert rounds_of({"evidence": []}) is None
    assert rounds_of({"budget": {"rounds": 2}}) == 2


def test_the_figures_have_every_pass_with_its_half_width():
    values = {(figure.part, figure.name): figure.value for figure in figures(curve())}
    assert values["learning, noisy labels", "unseen, R@5, pass 2"] == 60.0
    assert ("learning, noisy labels", "unseen, R@5, pass 2, half-width") in values
    assert values["learning, clean labels", "taught, rounds, pass 1"] == 2.5


def test_a_set_without_a_question_to_teach_is_refused_before_anything_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("MCP_MEMORY_CONFIG", str(tmp_path / "config.toml"))
    (tmp_path / "config.toml").write_text("", encoding="utf-8")
    unseen = next(name for name in map(str, range(99)) if not is_taught("few", name))
    question = {"qid": unseen, "question": "What is Tarn?", "supporting": ["d1"]}
    (tmp_path / "few.corpus.jsonl").write_text('{"doc_id": "d1", "text": "A lake."}', encoding="utf-8")
    (tmp_path / "few.questions.jsonl").write_text(json.dumps(question), encoding="utf-8")
    assert main(["--learning", str(tmp_path / "few")]) == 2
    said = capsys.readouterr()
    assert "none of its 1 questions would be taught" in said.err
    assert said.out == ""


@pytest.mark.parametrize("option", ["--json", "--plot"])
@pytest.mark.parametrize(("place", "why"), [("absent/out.svg", "no such folder"), ("", "is a folder")])
def test_an_output_file_that_cannot_be_written_is_refused_at_once(tmp_path, capsys, option, place, why):
    with pytest.raises(SystemExit) as stopped:
        main(["--learning", str(tmp_path / "absent"), option, str(tmp_path / place)])
    assert stopped.value.code == 2
    assert f"{option} {tmp_path / place}" in (said := capsys.readouterr().err)
    assert why in said
