"""Clients of the fake memory, connected in memory, and what they write."""

from contextlib import asynccontextmanager

import pytest
from mcp import Client
from word_memory import word_memory

from mcp_memory.server.app import build
from mcp_memory.settings import ServerSettings, Settings

LAZY = Settings(server=ServerSettings(warm_up="first_call"))
ERAS = pytest.mark.parametrize("mode", ["auto", "legacy"])
TALK = [
    {"id": "D1:1", "speaker": "Ann", "text": "I moved to Lisbon", "time": "2023-05-08"},
    {"id": "D1:2", "speaker": "Bob", "text": "And I adopted a dog", "time": "2023-05-09T10:00:00Z"},
]


FACTS = [
    {"head": "Ann", "relation": "lives_in", "tail": "Lisbon", "valid_from": "2015-03-01", "source": "D1:1"},
    {"head": "Ann", "relation": "lives_in", "tail": "Oslo", "valid_from": "2020-01-01"},
    {"head": "Ann", "relation": "lives_in", "tail": "Rome", "valid_from": "2020-01-01", "confidence": 0.9},
    {"head": "Ann", "relation": "owns", "tail": "a boat", "valid_from": "2021-01-01", "confidence": 0.45},
    {"head": "Bob", "relation": "friend_of", "tail": "Ann", "valid_from": "2018-01-01", "valid_to": "2019-01-01"},
]


@asynccontextmanager
async def connected(memory=None, mode="auto", settings=LAZY, opener=None, **how):
    async def opened():
        return memory or word_memory()

    async with Client(build(opener or opened, settings), mode=mode, **how) as client:
        yield client
