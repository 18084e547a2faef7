"""Timing arithmetic, the table and the JSON of the bench."""

import json

import pytest
from bench.own_server import quantile
from bench.subjects import Figure, Laps, document, table
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(("share", "expected"), [(0.01, 1), (0.5, 50), (0.95, 95), (0.951, 96), (0.99, 99), (1.0, 100)])
def test_a_quantile_is_the_smallest_value_that_its_share_does_not_exceed(share, expected):
    assert quantile([float(value) for value in range(100, 0, -1)], share) == expected


@given(st.lists(st.floats(0, 1e6), min_size=1), st.floats(0.001, 1.0))
def test_a_quantile_is_a_measured_value_with_at_least_its_share_at_or_below_it(values, share):
    found = quantile(values, share)
    assert found in values
    assert sum(value <= found for value in values) >= share * len(values) * (1 - 1e-9)


def test_a_lap_that_fails_is_not_counted():
    laps = Laps()
    with pytest.raises(KeyError), laps.lap():
        raise KeyError
    with laps.lap():
        pass
    assert len(laps) == 1
    assert laps.ms[0] >= 0


def test_ratios_come_first_and_figures_beyond_their_aim_are_marked():
    figures = [
        Figure("write", "single", 55.5, "ms", 100, aim=40.0),
        Figure("write", "batched / single", 0.25, "x", 20),
        Figure("memory", "idle", 100.0, "MB", 1, aim=120.0),
    ]
    lines = table(figures).splitlines()
    assert [line.split()[0] for line in lines if line] == ["write", "batched", "single", "memory", "idle"]
    (single,) = (line for line in lines if line.startswith("  single"))
    assert "55.5 ms" in single
    assert single.endswith("aim 40  BEYOND")
    assert "BEYOND" not in lines[-1]


def test_the_json_has_every_figure_and_only_the_relevant_properties_of_the_machine():
    content = json.loads(json.dumps(document([Figure("write", "single", 55.5, "ms", 100)])))
    assert content["figures"] == [
        {"part": "write", "name": "single", "value": 55.5, "unit": "ms", "runs": 100, "aim": None}
    ]
    assert set(content["machine"]) == {"system", "processor", "cores", "python", "versions"}
