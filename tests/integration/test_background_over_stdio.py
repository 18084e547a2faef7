"""Background work after an answer, over a real server process: it is done although the client leaves at once."""

from __future__ import annotations

from pathlib import Path

from stdio_client import serving


def test_points_are_made_from_an_answer_although_the_client_leaves_at_once(tmp_path: Path) -> None:
    store = tmp_path / "store"
    messages = [
        {"speaker": "Ann", "text": "Rufus lives in Oslo with Bella."},
        {"speaker": "Bob", "text": "Bella won the Crufts cup."},
    ]
    with serving(store) as server:
        server.structured(
            "memory_write", messages=messages, facts=[{"head": "Rufus", "relation": "lives_in", "tail": "Oslo"}]
        )
        assert server.structured("memory_answer", question="Where does Rufus live?")["answer"] == "Oslo"
        assert server.structured("memory_status")["queue"] >= 1
        assert server.read("memory://default/points")["total"] == 0
        assert server.process.stdin is not None
        server.process.stdin.close()
        assert server.process.wait(60) == 0
    with serving(store) as server:
        points = server.read("memory://default/points")["points"]
        assert any({"Rufus", "Bella"} <= set(point["entities"]) for point in points)
