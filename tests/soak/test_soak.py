"""A small share of what the scripts of this folder try; each of them goes on for as long as one likes."""

from dataclasses import replace

import anyio
import pytest
from batches import DIMENSION, batch, lesson, merged, point, pointed, unit_vectors
from soak import forget_everywhere
from soak.invariants import Quote, rows, violations
from soak.random_calls import soak

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.turns import PooledQuestion
from mcp_memory.storage.store import LanceStore


@pytest.mark.parametrize(("calls", "seed", "claude"), [(60, 7, False), (30, 3, True)])
def test_random_calls_a_kill_and_an_unreliable_claude_violate_no_invariant(tmp_path, calls, seed, claude):
    found = soak(tmp_path / "store", calls=calls, seed=seed, claude=claude)
    assert found.wrong == []
    assert found.done["killed"] == 1
    assert found.acknowledged
    assert {"memory_write", "memory_reconstruct", "memory_answer"} <= set(found.done)
    assert not claude or {mood.split()[0] for mood in found.asked} >= {"question", "answer", "reading"}


def test_each_violation_of_an_invariant_is_named(tmp_path):
    uri = str(tmp_path / "store")

    async def commit(*batches):
        store = LanceStore(uri, embedder="fake", dimension=DIMENSION)
        for one in batches:
            async with store.writing() as transaction:
                await transaction.commit(one)
        await store.aclose()

    a, b = point("a"), point("b", ("Bob", "Cy"))
    whole, *gone = merged("ab", a, b)
    anyio.run(commit, batch("x"), pointed(a, b))
    said = {("default", "talk", "x"): "x came first. Then there was more."}
    assert violations(uri, said, [Quote("default", "talk", "x", "Then there was  more.")]) == []
    asked = ("Where does Ann live?", "Where does Ann live now?")
    questions = tuple(("default", PooledQuestion(text, "g_1", frozenset({"ann"}))) for text in asked)
    anyio.run(
        commit,
        pointed(replace(whole, entities=("Ann", "Bob")), *gone),
        pointed(replace(point("c"), revision=0), replace(point("c", ("Di", "Ed")), revision=1)),
        pointed(replace(point("d"), status="merged", merged_into="h_none")),
        Batch(questions=questions, question_vectors=unit_vectors(asked)),
        Batch(lessons=(replace(lesson("z", {"s_none": 1}, source="embedded"), labels={"s_other": 1}),)),
    )
    lost = {("default", "talk", "lost"): "Lost words.", ("other", "talk", "x"): "x"}
    found = " ".join(violations(uri, lost, [Quote("default", "talk", "x", "never said")]))
    labels = (
        *(f"DESIGN I{number}" for number in (12, 13, 27, 30, 38)),
        "talk/lost is missing",
        "other: the acknowledged",
    )
    assert [label for label in labels if label not in found] == []
    assert rows(uri)["questions_0"] == 2


def test_nothing_of_a_forgotten_thing_is_found_anywhere_and_nothing_else_goes(tmp_path):
    found = anyio.run(forget_everywhere.rounds, tmp_path.resolve(), 8, 3)
    assert (found.left, found.unseen, found.lost) == ({}, [], [])
