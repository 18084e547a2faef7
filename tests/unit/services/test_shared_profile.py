"""A project's space shows the user's wishes and profile of the default space, and nothing else of it."""

from __future__ import annotations

from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace

import pytest
from exported_store import open_at

from mcp_memory.domain.access import CALLER, MEANT_SPACE, Grant, Permission
from mcp_memory.domain.query import Query
from mcp_memory.domain.requests import EvolveRequest, Feedback, NewItem, WriteRequest
from mcp_memory.server.tools.reconstruct import recall_reply

pytestmark = pytest.mark.anyio
MAY = 1_714_903_200_000
HOME = (
    "I live in Aveiro.",
    "I'm allergic to peanuts.",
    "Always answer in British English.",
    "Perhaps I'll work at Quaycorp next year.",
    "My neighbour Otis restores clocks.",
)
WISH = "Always answer in British English"
PROJECT = ("The mast is twelve metres high.", "We chose larch for the deck.")


@contextmanager
def meant(space):
    token = MEANT_SPACE.set(space)
    try:
        yield
    finally:
        MEANT_SPACE.reset(token)


@asynccontextmanager
async def with_spaces(path, space="workspace", shared="workspace"):
    memory = open_at(path)
    server = replace(memory.settings.server, space=space, shared_profile=shared)
    memory.settings = replace(memory.settings, server=server)
    for name, texts in (("default", HOME), ("boat-1", PROJECT)):
        items = tuple(
            NewItem(text, ref=f"{name}{number}", role="user", said_at=MAY + number * 7_200_000)
            for number, text in enumerate(texts)
        )
        await memory.write(WriteRequest(name, "talk", "message", items))
    yield memory
    await memory.aclose()


def shown(result):
    return [(item.space, item.text) for item in result.evidence]


async def test_a_project_shows_the_wishes_of_the_default_space_and_what_was_asked_of_the_user(tmp_path):
    async with with_spaces(tmp_path / "store") as memory:
        with meant("boat-1"):
            recall = await memory.reconstruct(Query("What am I allergic to?", "boat-1"))
            assert [(wish.text.rstrip("."), wish.space) for wish in recall.wishes] == [(WISH, "default")]
            assert shown(recall)[0] == ("default", "user is allergic to peanuts")
            assert {space for space, _ in shown(recall)[1:]} <= {None}
            reply = recall_reply(recall, 2_000)
            assert reply.structured["evidence"][0]["space"] == "default"
            assert reply.structured["wishes"][0]["space"] == "default"
            assert "space default" in reply.text
            feedback = Feedback(supports=(recall.evidence[0].id,))
            await memory.evolve(EvolveRequest("default", recall.episode, feedback))  # it is known there
            second = Feedback(supports=("2",))
            await memory.evolve(EvolveRequest("boat-1", recall.episode, second))


@pytest.mark.parametrize(
    "question",
    ["How high is the mast?", "What does Otis restore?", "Where does my neighbour live?", "Where will I work?", "deck"],
)
async def test_nothing_else_of_the_default_space_is_ever_shown(tmp_path, question):
    async with with_spaces(tmp_path / "store") as memory:
        with meant("boat-1"):
            recall = await memory.reconstruct(Query(question, "boat-1"))
            assert {space for space, _ in shown(recall)} <= {None}
            assert [wish.text.rstrip(".") for wish in recall.wishes] == [WISH]
            assert not {"Otis", "Quaycorp", "Aveiro"} & set(str(shown(recall)).replace(".", " ").split())
            newest = await memory.reconstruct(Query("", "boat-1"))
            assert {text for _, text in shown(newest)} == set(PROJECT)


@pytest.mark.parametrize(
    ("space", "shared", "asked", "shares"),
    [
        ("workspace", "workspace", "boat-1", True),
        ("workspace", "workspace", "other", False),  # a space that a caller names stays behind its wall
        ("workspace", "never", "boat-1", False),
        ("boat-1", "workspace", "boat-1", False),
        ("boat-1", "always", "boat-1", True),
    ],
)
async def test_it_is_shared_where_the_setting_says_so(tmp_path, space, shared, asked, shares):
    async with with_spaces(tmp_path / "store", space, shared) as memory:
        with meant("boat-1"):
            recall = await memory.reconstruct(Query("Where do I live?", asked))
            assert (("default", "user lives in Aveiro") in shown(recall)) == shares
            assert bool(recall.wishes) == shares
            backwards = await memory.reconstruct(Query("How high is the mast?", "default"))
            assert "twelve" not in str(shown(backwards))


async def test_a_caller_who_may_not_read_the_default_space_is_shown_nothing_of_it(tmp_path):
    async with with_spaces(tmp_path / "store", shared="always") as memory:
        token = CALLER.set(Grant("bo", (Permission("boat-*", frozenset(("read", "write"))),)))
        recall = await memory.reconstruct(Query("Where do I live?", "boat-1"))
        CALLER.reset(token)
        assert not recall.wishes
        assert {item for item, _ in shown(recall)} <= {None}


async def test_spaces_that_a_caller_names_together_share_nothing_more(tmp_path):
    async with with_spaces(tmp_path / "store", shared="always") as memory:
        recall = await memory.reconstruct_across(Query("Where do I live?"), ("boat-1", "other"))
        assert {item.space for item in recall.evidence} == {"boat-1"}
        assert not recall.wishes
