"""What LanceDB keeps in memory of each commit is bounded."""

import pytest
from batches import DIMENSION, batch

from mcp_memory.storage import lance
from mcp_memory.storage.store import LanceStore

pytestmark = pytest.mark.anyio
BOUND = 64 << 10


async def test_a_process_that_reads_what_another_writes_keeps_no_more_than_its_bound(tmp_path, monkeypatch):
    sessions, new_session = [], lance.new_session

    def noted():
        sessions.append(new_session())
        return sessions[-1]

    monkeypatch.setattr(lance, "METADATA_BYTES", BOUND)
    monkeypatch.setattr(lance, "new_session", noted)
    writer, reader = (LanceStore(str(tmp_path), embedder="fake", dimension=DIMENSION) for _ in range(2))
    for number in range(12):
        async with writer.writing() as transaction:
            await transaction.commit(batch(f"m{number}"))
        async with reader.reading() as view:
            assert view.tx == number + 1
    assert 0 < max(one.size_bytes for one in sessions) <= 2 * BOUND
    await writer.aclose()
    await reader.aclose()
