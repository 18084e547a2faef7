"""A smaller run of the bench with a real store, embedder and server processes."""

import json

import anyio
from bench import speed as command
from bench.speed import writing
from bench.subjects import Stores

from mcp_memory.settings import Settings


def test_the_bench_prints_a_table_and_writes_every_figure_of_it_as_json(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(command, "SMALL", 60)
    monkeypatch.setattr(command, "MEDIUM", 60)
    code = command.bench(Settings(), large=False, output=tmp_path / "figures.json", parts=["recall"])

    assert code == 0
    figures = json.loads((tmp_path / "figures.json").read_text(encoding="utf-8"))["figures"]
    by_name = {figure["name"]: figure for figure in figures}
    assert by_name["reconstruct p50 / floor p50"]["value"] > 0.5
    assert by_name["over stdio, p50"]["value"] > 0
    assert by_name["one-hop questions, answer's item in the top 10"]["value"] >= 50
    out = capsys.readouterr().out
    assert all(name in out for name in by_name)


def test_writing_is_measured_including_the_lock_and_the_disk(tmp_path):
    told = []

    async def measured():
        await writing(Stores(Settings(), tmp_path), told.append, single=3, batches=1)

    anyio.run(measured)
    figures = {figure.name: figure for figure in told}
    assert figures["under the lock p50"].runs == 4
    assert 0 < figures["under the lock p50"].value < figures["single message p95"].value
    assert figures["store size per 1,000 messages, compacted"].value > 0
