"""recall@k and its half-width, compared with values computed by hand."""

from math import isnan, sqrt

import pytest

from mcp_memory.commands.evaluate import mean, ranked_ids, recall_at


def test_ids_come_from_the_best_item_first_in_the_order_of_its_sources_without_repeats():
    evidence = [
        {"sources": [{"id": "b"}, {"id": "a"}]},
        {"sources": []},
        {"sources": [{"id": "a"}, {"id": "c"}]},
    ]
    assert ranked_ids(evidence) == ["b", "a", "c"]


def test_recall_is_the_share_of_the_gold_ids_among_the_first_k():
    ids = ["b", "a", "c", "d"]
    assert recall_at(1, ("a", "d"), ids) == 0.0
    assert recall_at(2, ("a", "d"), ids) == 0.5
    assert recall_at(4, ("a", "d"), ids) == 1.0
    assert recall_at(10, ("a", "x"), ids) == 0.5


def test_the_half_width_is_that_of_the_mean_of_independent_questions():
    found = mean([0.0, 100.0, 100.0, 100.0])
    assert found.value == 75.0
    assert found.half_width == pytest.approx(1.96 * sqrt(0.25 * 0.75) * 100 / 2)
    assert found.number == 4
    assert isnan(mean([]).value)
