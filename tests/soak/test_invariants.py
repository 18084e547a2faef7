"""The check of the invariants finds each kind of violation."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import anyio
from batches import DIMENSION, batch, lesson, merged, point, pointed, unit_vectors
from soak.invariants import Quote, rows, violations

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.turns import PooledQuestion
from mcp_memory.storage.store import LanceStore


def _commit(uri: str, *batches: Batch) -> None:
    async def commit() -> None:
        store = LanceStore(uri, embedder="fake", dimension=DIMENSION)
        for one in batches:
            async with store.writing() as transaction:
                await transaction.commit(one)
        await store.aclose()

    anyio.run(commit)


def test_a_correct_store_has_no_violations(tmp_path: Path) -> None:
    uri = str(tmp_path / "store")
    a, b = point("a"), point("b", ("Bob", "Cy"))
    _commit(uri, batch("x"), pointed(a, b), pointed(*merged("ab", a, b)))
    acknowledged = {("default", "talk", "x"): "x came first. Then there was more."}
    assert violations(uri, acknowledged, [Quote("default", "talk", "x", "Then there was  more.")]) == []
    assert rows(uri)["points"] == 5


def test_each_violation_is_named(tmp_path: Path) -> None:
    uri = str(tmp_path / "store")
    a, b = point("a"), point("b", ("Bob", "Cy"))
    whole, *gone = merged("ab", a, b)
    asked = ("Where does Ann live?", "Where does Ann live now?")
    questions = tuple(("default", PooledQuestion(text, "g_1", frozenset({"ann"}))) for text in asked)
    stray = lesson("z", {"s_none": 1}, source="embedded")
    _commit(
        uri,
        batch("x"),
        pointed(a, b),
        pointed(replace(whole, entities=("Ann", "Bob")), *gone),
        pointed(replace(point("c"), revision=0), replace(point("c", ("Di", "Ed")), revision=1)),
        pointed(replace(point("d"), status="merged", merged_into="h_none")),
        Batch(questions=questions, question_vectors=unit_vectors(asked)),
        Batch(lessons=(replace(stray, labels={"s_other": 1}),), beliefs=()),
    )
    acknowledged = {("default", "talk", "lost"): "Lost words.", ("other", "talk", "x"): "x"}
    found = " ".join(violations(uri, acknowledged, [Quote("default", "talk", "x", "never said")]))
    for label in (
        "DESIGN I12",
        "DESIGN I13",
        "DESIGN I27",
        "DESIGN I30",
        "DESIGN I38",
        "talk/lost is missing",
        "other: the acknowledged text",
    ):
        assert label in found
    assert rows(uri)["questions_0"] == 2
