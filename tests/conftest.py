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


@pytest.fixture
def run(capsys):
    """Return what runs a command that has to end with a code, and returns what it printed: its ``out`` and ``err``."""
    from mcp_memory.cli import main

    def run(*words, code=0):
        capsys.readouterr()
        try:
            ended = main([str(word) for word in words])
        except SystemExit as wrong_usage:
            ended = wrong_usage.code
        printed = capsys.readouterr()
        assert ended == code, printed
        return printed

    return run
