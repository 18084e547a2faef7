"""Points are made in the background from the evidence of an answer, if the settings ask for it."""

from dataclasses import replace

import pytest
from fakes import FakeLog, FakeStore
from unit.rules.answers.small_memory import WordEmbedder, said

from mcp_memory.domain.query import Query
from mcp_memory.domain.requests import NewFact, WriteRequest
from mcp_memory.hypergraph.settings import PointSettings
from mcp_memory.memory import Memory
from mcp_memory.reconstruct.graph import CueGraph
from mcp_memory.reconstruct.topics import Topics
from mcp_memory.search.candidates import INDEXES
from mcp_memory.services.settings import EvolveSettings
from mcp_memory.settings import Settings
from mcp_memory.view.view import View

pytestmark = pytest.mark.anyio
NOW = 1_704_067_200_000
QUESTION = "Where does Rufus live?"


async def answering(auto=True, points=None, *, question=QUESTION, learn=True):
    """Return a memory that was told something and asked, and its answer."""
    embedder = WordEmbedder()
    store = FakeStore(
        FakeLog(),
        embedder=embedder.name,
        dimension=embedder.dimension,
        make_view=lambda: View((*INDEXES, CueGraph, Topics)),
    )
    config = replace(Settings(), evolve=EvolveSettings(auto=auto), points=points or PointSettings())
    one = Memory(config, store, embedder, clock=lambda: NOW)
    items = said("Ann: Rufus lives in Oslo with Bella.", "Bob: Bella won the Crufts cup.")
    facts = (NewFact("Rufus", "lives_in", "Oslo"),)
    await one.write(WriteRequest("default", "talk", "message", tuple(items)))
    await one.write(WriteRequest("default", "talk", "statement", (), facts))
    return one, await one.answer(Query(question, "default", 12, learn=learn))


def points(one):
    return one.store._view.space("default").hypergraph.active()


async def test_points_are_made_after_the_answer_and_status_counts_waiting_jobs():
    one, answer = await answering()
    assert (answer.text, points(one)) == ("Oslo", [])
    assert (await one.status()).store.queue == 1
    await one.background.drain(60)
    assert (await one.status()).store.queue == 0
    assert {point.scope for point in points(one)} == {""}  # of no goal, so that other questions add to them
    commits = len(one.store.log.commits)
    await one.answer(Query(QUESTION, "default", 12))
    answered = len(one.store.log.commits)
    await one.background.drain(60)
    assert len(one.store.log.commits) == answered >= commits  # what was found stands in points already


@pytest.mark.parametrize(
    "asked",
    [
        {"auto": False},
        {"points": PointSettings(enabled=False)},
        {"learn": False},
        {"question": "What is the price of tea in Peru?"},
    ],
)
async def test_no_job_waits_if_it_is_off_or_nothing_may_be_learnt_or_was_answered(asked):
    one, _ = await answering(**asked)
    assert (await one.status()).store.queue == 0
