"""The labelled sets that the rules were written on: what they reach there must not fall."""

import json
from pathlib import Path

import pytest
from extraction.score import load, score, wordings

from mcp_memory.rules.facts.extractor import RuleExtractor

HERE = Path(__file__).parents[3] / "extraction"


@pytest.mark.parametrize(
    ("name", "precision", "recall"), [("sentences_open", 0.97, 0.76), ("sentences_fresh", 0.95, 0.52)]
)
def test_the_rules_are_right_where_they_speak_and_speak_often_enough(
    name: str, precision: float, recall: float
) -> None:
    reached = score(RuleExtractor().extract, load(HERE / f"{name}.jsonl"))
    assert reached.precision >= precision, reached.wrong
    assert reached.recall >= recall, reached.missed


def test_plain_tellings_are_read_with_their_date() -> None:
    values = json.loads((HERE / "values.json").read_text(encoding="utf-8"))
    right, total, wrong = wordings(RuleExtractor().extract, load(HERE / "wordings_open.jsonl"), values)
    assert right >= 0.95 * total, wrong
