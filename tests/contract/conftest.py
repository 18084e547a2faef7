"""The stores that the contract tests run on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from batches import DIMENSION
from fakes import FakeLog, FakeStore

from mcp_memory.ports import Store
from mcp_memory.storage.store import LanceStore

Open = Callable[..., Store]


@pytest.fixture(params=["lancedb", "fake"])
def open_store(request: pytest.FixtureRequest, tmp_path: Path) -> Open:
    """Return a function that opens another store over the same rows, as another process would."""
    log = FakeLog()

    def open_(embedder: str = "fake", dimension: int = DIMENSION, **settings: object) -> Store:
        if request.param == "fake":
            return FakeStore(log, embedder=embedder, dimension=dimension, **settings)  # type: ignore[arg-type]
        uri = str(tmp_path / "store")
        return LanceStore(uri, embedder=embedder, dimension=dimension, **settings)  # type: ignore[arg-type]

    return open_


@pytest.fixture
def uri(tmp_path: Path) -> str:
    """The path of a store for one test."""
    return str(tmp_path / "store")
