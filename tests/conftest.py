"""Fixtures for all tests."""

from types import SimpleNamespace

import pytest
from hypothesis import settings

settings.register_profile("any machine", deadline=None)  # a busy one takes longer, and that is no fault
settings.load_profile("any machine")


@pytest.fixture(scope="session", autouse=True)
def disks(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Put the stores of this session where pytest clears up, also if it is stopped."""
    from fakes import Disk

    Disk.place = tmp_path_factory.mktemp("disks")


@pytest.fixture
def anyio_backend() -> str:
    """Run asynchronous tests on asyncio, as the server does."""
    return "asyncio"


@pytest.fixture
def one_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every store that is begun here have the same key, so that two with the same content have the same ids."""
    monkeypatch.setattr("mcp_memory.storage.refresh.secrets", SimpleNamespace(token_bytes=lambda count: b"k" * count))
