"""The SDK repeats a request at once here."""

import pytest


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch):
    monkeypatch.setattr("anthropic._base_client.INITIAL_RETRY_DELAY", 0.0)
