"""Precision and recall on the labelled sets that the rules were developed on must not fall."""

from pathlib import Path

import pytest
from extraction.score import read, score

HERE = Path(__file__).parents[3] / "extraction"


@pytest.mark.parametrize(
    ("name", "precision", "recall"),
    [
        ("sentences_open", 0.97, 0.5),  # some of a page, without the first one, which tells what the page is about
        ("sentences_fresh", 0.96, 0.3),
        ("talk_friends_open", 0.86, 0.24),
        ("talk_assistant_open", 0.95, 0.19),
        ("talk_developers_open", 0.97, 0.05),
    ],
)
def test_precision_and_recall_reach_their_minimum(name, precision, recall):
    result = score(read(HERE / f"{name}.jsonl"))
    assert result.precision >= precision, result.wrong
    assert result.recall >= recall, result.missed
