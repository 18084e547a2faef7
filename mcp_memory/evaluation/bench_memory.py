"""How much memory a server process takes: idle, loaded, and at its worst while it writes long documents."""

from __future__ import annotations

import anyio

from mcp_memory.evaluation.bench_figures import Figure, Report
from mcp_memory.evaluation.bench_process import call, connected, own_server, peak_mb, resident_mb
from mcp_memory.evaluation.bench_store import SEED, Stores
from mcp_memory.evaluation.synthetic import prose

IDLE_S = 2.0
"""So long after the handshake a server counts as idle."""
DOCUMENTS, SENTENCES_EACH = 8, 250
"""Some 170 segments of 200 tokens: enough for every batch of the embedder to be full."""


async def memory(stores: Stores, sentences: int, report: Report) -> None:
    """Measure two server processes: one that was only greeted, one that works on a filled store."""
    idle = own_server(stores.settings, stores.folder / "idle", warm_up="first_call")
    async with connected(idle) as (client, process):
        await client.list_tools()
        await anyio.sleep(IDLE_S)
        report(Figure("memory", "idle after the handshake (first_call)", resident_mb(process), "MB", 1, aim=120))

    filled = await stores.of(sentences)
    async with connected(own_server(stores.settings, filled.folder)) as (client, process):
        await call(client, "memory_reconstruct", {"query": filled.corpus.questions[0].text})
        words = f"after the first recall over {sentences:,} sentences"
        report(Figure("memory", words, resident_mb(process), "MB", 1, aim=520))
        highest = 0.0
        for number in range(DOCUMENTS):
            text = prose(SEED + number, SENTENCES_EACH)
            await call(client, "memory_write", {"documents": [{"id": f"long-{number}", "text": text}], "space": "long"})
            highest = max(highest, resident_mb(process))
        peak = peak_mb(process)
        await anyio.sleep(IDLE_S)
        report(Figure("memory", "steady, after writing full segments", resident_mb(process), "MB", 1, aim=520))
        if peak is not None:
            report(Figure("memory", "peak while writing full segments", peak, "MB", DOCUMENTS, aim=650))
        else:  # macOS keeps no peak: what was seen between two calls is a lower bound
            report(Figure("memory", "highest seen while writing full segments", highest, "MB", DOCUMENTS, aim=650))
