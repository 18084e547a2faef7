"""Precision and recall on the labelled sets that the rules were developed on must not fall."""

import json
from pathlib import Path

import pytest
from extraction.score import load, score, wordings
from extraction.score_talk import read_talk, score_talk

from mcp_memory.rules.facts.extractor import RuleExtractor

HERE = Path(__file__).parents[3] / "extraction"


@pytest.mark.parametrize(
    ("name", "precision", "recall"), [("sentences_open", 0.98, 0.69), ("sentences_fresh", 0.95, 0.45)]
)
def test_precision_and_recall_reach_their_minimum(name: str, precision: float, recall: float) -> None:
    result = score(RuleExtractor().extract, load(HERE / f"{name}.jsonl"))
    assert result.precision >= precision, result.wrong
    assert result.recall >= recall, result.missed


def test_plain_statements_are_read_with_their_dates() -> None:
    values = json.loads((HERE / "values.json").read_text(encoding="utf-8"))
    right, total, wrong = wordings(RuleExtractor().extract, load(HERE / "wordings_open.jsonl"), values)
    assert right >= 0.93 * total, wrong


@pytest.mark.parametrize(
    ("name", "precision", "recall"), [("friends", 0.88, 0.33), ("assistant", 0.94, 0.23), ("developers", 0.97, 0.06)]
)
def test_facts_of_labelled_talks_reach_their_minimum(name: str, precision: float, recall: float) -> None:
    result = score_talk(read_talk(HERE / f"talk_{name}_open.jsonl"))
    assert result.precision >= precision, result.wrong
    assert result.recall >= recall, result.missed
