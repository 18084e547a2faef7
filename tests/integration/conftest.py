"""The place that commands of a test work on."""

import pytest


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Return a folder with an empty configuration, whose store is ``store`` in it."""
    (tmp_path / "config.toml").touch()
    monkeypatch.setenv("MCP_MEMORY_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("MCP_MEMORY_STORAGE_URI", str(tmp_path / "store"))
    return tmp_path
