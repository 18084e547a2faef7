"""Writes that nobody waits for, and processes that die before they are indexed."""

from __future__ import annotations

from pathlib import Path

from crash.pending_rounds import pending_rounds
from stdio_client import StdioClient, serving


def test_what_killed_processes_leave_is_indexed_once_by_the_next(tmp_path: Path) -> None:
    """Two processes write, index and die in each round."""
    result = pending_rounds(tmp_path / "store", rounds=3, seed=11)
    assert result.acknowledged >= 6
    assert (result.lost, result.twice, result.faults) == (0, 0, ())


def _pending(client: StdioClient) -> int:
    counts = client.structured("memory_status")["counts"]
    assert isinstance(counts["pending"], int)
    return counts["pending"]


def test_a_write_over_the_protocol_does_not_wait_and_the_next_server_indexes_what_a_killed_one_left(
    tmp_path: Path,
) -> None:
    store = tmp_path / "store"
    book = " ".join(f"Keeper {n} lived in Oslo and mended lamp {n} of the pier." for n in range(2_000))
    with serving(store, MCP_MEMORY_WRITE_WAIT="false") as client:
        tools = client.ask("tools/list")["result"]["tools"]
        (write,) = (tool for tool in tools if tool["name"] == "memory_write")
        assert write["inputSchema"]["properties"]["wait"]["default"] is False
        stated = [{"head": "Ann", "relation": "lives_in", "tail": "Turku"}]
        reply = client.structured(
            "memory_write", messages=[{"id": "m", "text": "I adopted a lurcher.", "speaker": "Ann"}], facts=stated
        )
        assert reply["pending"] == {"texts": 2}  # the message, and the statement
        assert [fact["text"] for fact in reply["facts"]] == ["Ann lives in Turku"]
        reply = client.structured("memory_write", documents=[{"id": "book", "text": f"{book} A quagga was seen."}])
        assert reply["pending"] == {"texts": 1}
        found = client.structured("memory_reconstruct", query="quagga", limit=3)
        assert found["evidence"][0]["sources"][0]["id"] == "book"
        client.process.kill()
    with serving(store, MCP_MEMORY_WRITE_WAIT="false") as client:
        assert _pending(client) > 0
        client.structured("memory_write", documents=[{"id": "book", "text": "It was withdrawn."}])  # a revision
        waited = client.structured("memory_write", text="Bob moved to Porto.", wait=True)
        assert "pending" not in waited
        assert any("Porto" in fact["text"] for fact in waited["facts"])
        reply = client.structured("memory_reconstruct", query="Who has a greyhound?")
        assert any("lurcher" in item["text"] for item in reply["evidence"])
