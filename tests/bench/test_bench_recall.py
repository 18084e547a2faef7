"""The floor of a recall: embedding the same texts, and one scan for each of them."""

from __future__ import annotations

from pathlib import Path

import anyio
import numpy as np
import pytest
from bench import recall_speed
from bench.recall_speed import RecordingEmbedder
from bench.subjects import Filled
from bench.synthetic import Corpus, Question
from fakes import FakeEmbedder

from mcp_memory.memory import Memory
from mcp_memory.settings import Settings


class Asking:
    """A fake memory that embeds each question, and a further text for every second question."""

    def __init__(self, embedder: RecordingEmbedder) -> None:
        self.embedder = embedder

    async def reconstruct(self, request):
        await self.embedder.embed([request.text])
        if int(request.text) % 2:
            await self.embedder.embed(["what", "else"])
        return type("Recall", (), {"evidence": ()})


def test_every_text_counts_towards_the_floor_and_queries_with_further_texts_stand_apart(
    monkeypatch: pytest.MonkeyPatch,
):
    embedder = FakeEmbedder()
    monkeypatch.setattr(recall_speed, "replace", lambda memory, embedder: Asking(embedder))
    monkeypatch.setattr(recall_speed, "_vectors", lambda memory: _matrix())
    questions = tuple(Question(str(number), "one-hop", "x") for number in range(4))
    filled = Filled(Path(), Corpus((), (), questions), 0.0)
    measured = recall_speed._in_process
    figures = {
        figure.name: figure for figure in anyio.run(measured, "recall", Memory(Settings(), None, embedder), filled, 3.0)
    }
    asked = [text for number in "0123" for text in [number, *(["what", "else"] if number in "13" else [])] * 2]
    # each by recall, then by its floor; all of them to warm up, then once more, and once for each broad mode
    assert embedder.texts == asked * 4
    assert figures["queries with further texts"].value == 50
    assert figures["texts embedded, with further texts"].value == 3
    assert figures["texts embedded, without further texts"].value == 1
    assert figures["reconstruct p50 / floor p50"].aim == 3


async def _matrix() -> np.ndarray:
    return np.eye(64, dtype=np.float32)
