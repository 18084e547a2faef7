"""``mcp-memory bench``: how fast it is and how much memory it takes, on made-up text, as ratios within one run.

Each part can be run alone. Everything lies in a temporary folder, and the settings are the user's own but for the
place of the store. Without ``--large`` it takes some three minutes, most of them embedding the text to recall from.
Progress goes to stderr and the table to stdout.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Collection
from pathlib import Path

import anyio

from mcp_memory.evaluation.bench_figures import Figure, document, table
from mcp_memory.evaluation.bench_handshake import handshake
from mcp_memory.evaluation.bench_memory import memory
from mcp_memory.evaluation.bench_recall import recall
from mcp_memory.evaluation.bench_store import Stores
from mcp_memory.evaluation.bench_write import many, waiting, writing
from mcp_memory.settings import Settings

SMALL, MEDIUM, LARGE = 1_000, 10_000, 100_000
"""Sentences in the stores that recall is measured on."""
PARTS = ("handshake", "write", "recall", "memory")
"""In the order in which they run: what other work disturbs most comes first."""


def bench(settings: Settings, *, large: bool, output: Path | None, parts: Collection[str] | None) -> int:
    """Measure, print, and return 0: a figure beyond its aim is marked in the table, and is no failure.

    Args:
        settings: the settings to measure with.
        large: also with 100,000 sentences and 5,000 single writes, which takes tens of minutes.
        output: a file to write the figures to as JSON.
        parts: those of `PARTS` to run; None or empty means all.
    """
    figures = anyio.run(_measure, settings, large, parts or PARTS)
    print(table(figures))
    if output:
        output.write_text(json.dumps(document(figures), indent=2) + "\n", encoding="utf-8")
    return 0


async def _measure(settings: Settings, large: bool, parts: Collection[str]) -> list[Figure]:
    figures: list[Figure] = []

    def report(figure: Figure) -> None:
        print(f"... {figure.part}: {figure.name} {figure.value:,.4g} {figure.unit}", file=sys.stderr)
        figures.append(figure)

    # A server on Windows may hold a file a moment longer than its process seems to live.
    with tempfile.TemporaryDirectory(prefix="mcp-memory-bench-", ignore_cleanup_errors=True) as folder:
        stores = Stores(settings, Path(folder))
        if "handshake" in parts:
            await handshake(settings, stores.folder, report)
        if "write" in parts:
            await writing(stores, report)
            await waiting(stores, report)
            if large:
                await many(stores, report)
        if "recall" in parts:
            for sentences in (SMALL, MEDIUM, *([LARGE] if large else [])):
                await recall(stores, sentences, report)
        if "memory" in parts:
            await memory(stores, MEDIUM, report)
    return figures
