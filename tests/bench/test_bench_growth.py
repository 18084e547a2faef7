"""The bench that lets one store grow."""

import json

from bench import growth
from bench.growth import grow, panels, table
from bench.plot import svg

from mcp_memory.settings import Settings


def test_a_run_that_was_stopped_goes_on_and_measures_each_size_once(tmp_path, monkeypatch):
    measured = []
    monkeypatch.setattr(growth, "SLICE", 60)
    monkeypatch.setattr(growth, "SIZES", (60, 120))
    monkeypatch.setattr(growth, "QUESTIONS", 3)
    monkeypatch.setattr(growth, "WRITES", 5)
    monkeypatch.setattr(growth, "measured", lambda *_: measured.append(1) or {"open to write s": len(measured)})
    for sentences in (60, 120, 120):
        assert grow(Settings(), tmp_path, sentences=sentences, output=None, plot=None) == 0
    state = json.loads((tmp_path / "growth.json").read_text())
    assert state == {"slices": 2, "figures": {"60": {"open to write s": 1}, "120": {"open to write s": 2}}}
    figures = growth.measure(growth.at(Settings(), tmp_path), next(growth.growing(growth.SEED, 60, 3)).questions)
    assert figures["sentences"] == 120
    assert figures["recall@10 against exact"] == 1.0
    assert figures["write p50 ms"] > 0
    assert figures["write beside indexing p50 ms"] > 0


def test_table_and_plot_have_a_column_for_each_size():
    figures = {size: dict.fromkeys(("open to write s", "write p50 ms"), 1.0 + size) for size in (10_000, 1_000_000)}
    assert "10,000  1,000,000" in table(figures)
    drawn = panels(figures)
    assert [panel.title for panel in drawn] == ["seconds to open", "write, ms"]
    assert ">10k</text>" in svg("Growth", drawn)
