"""A project's space shows the user's standing wishes of the default space, and nothing else of it."""

from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from exported_store import open_at

from mcp_memory.domain.access import CALLER, MEANT_SPACE, OWNER, Grant, Permission
from mcp_memory.domain.query import Query
from mcp_memory.domain.requests import NewItem, WriteRequest
from mcp_memory.server.tools.recall import recall_reply

MAY = 1_714_903_200_000
WISH = "Always answer in British English"
HOME = ("I live in Aveiro.", f"{WISH}.", "My neighbour Otis restores clocks.")
PROJECT = ("The mast is twelve metres high.", "We chose larch for the deck.")
BO = Grant("bo", (Permission("boat-*", frozenset(("read", "write"))),))


@asynccontextmanager
async def in_a_project(path, setting="workspace", caller=OWNER):
    """Yield a memory with a default space and that of a project, called by somebody who means the project's."""
    memory = open_at(path)
    memory.settings = replace(memory.settings, server=replace(memory.settings.server, space=setting))
    for name, texts in (("default", HOME), ("boat-1", PROJECT)):
        items = (
            NewItem(text, ref=f"{name}{number}", role="user", said_at=MAY + number * 7_200_000)
            for number, text in enumerate(texts)
        )
        await memory.write(WriteRequest(name, "talk", "message", tuple(items)))
    tokens = MEANT_SPACE.set("boat-1"), CALLER.set(caller)
    try:
        yield memory
    finally:
        MEANT_SPACE.reset(tokens[0])
        CALLER.reset(tokens[1])
        await memory.aclose()


@pytest.mark.parametrize("question", ["How high is the mast?", "Where do I live?", "What does Otis restore?", ""])
async def test_a_project_shows_the_wishes_of_the_default_space_and_nothing_else_of_it(tmp_path, question):
    async with in_a_project(tmp_path / "store") as memory:
        recall = await memory.reconstruct(Query(question, "boat-1"))
        assert [(wish.text.rstrip("."), wish.space) for wish in recall.wishes] == [(WISH, "default")]
        assert {item.text for item in recall.evidence} <= set(PROJECT)
        reply = recall_reply(recall, 2_000)
        assert reply.structured["wishes"][0]["space"] == "default"
        assert "Standing wish (space default)" in reply.text


@pytest.mark.parametrize(
    ("setting", "caller", "asked"),
    [
        ("workspace", OWNER, "other"),  # a space that a caller names stays behind its wall
        ("boat-1", OWNER, "boat-1"),
        ("workspace", BO, "boat-1"),
    ],
)
async def test_no_other_space_and_nobody_who_may_not_read_the_default_one_is_shown_them(
    tmp_path, setting, caller, asked
):
    async with in_a_project(tmp_path / "store", setting, caller) as memory:
        assert not (await memory.reconstruct(Query("How high is the mast?", asked))).wishes
        assert not (await memory.reconstruct_across(Query("How high is the mast?"), ("boat-1", "other"))).wishes
