"""The kept stores, one of each format, written by a program of their time, and their contents.

``stores/format_<n>.tar.xz`` is the store, ``stores/format_<n>.json`` its contents as read by the program that wrote it,
one row per line. Neither is ever written again: they represent the stores of users. ``python written_stores.py FORMAT``
makes those of a new format, once, with the code that raised it.
"""

import json
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import anyio

sys.path.insert(0, str(Path(__file__).parent.parent))

from fakes import FakeEmbedder

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.language_model import Job
from mcp_memory.domain.query import Query
from mcp_memory.domain.requests import EvolveRequest, Feedback, NewFact, NewItem, PointEdits, PointInsert, WriteRequest
from mcp_memory.domain.turns import assertion_id
from mcp_memory.memory import Memory
from mcp_memory.reconstruct.graph import CueGraph
from mcp_memory.reconstruct.topics import Topics
from mcp_memory.rules.facts.extractor import RuleExtractor
from mcp_memory.search.ranking import INDEXES
from mcp_memory.services.indexing import silent
from mcp_memory.services.write import write as write_texts
from mcp_memory.settings import Settings
from mcp_memory.storage.store import LanceStore
from mcp_memory.storage.tables import Tables
from mcp_memory.vectors import Vector
from mcp_memory.view.space import Space, View

STORES = Path(__file__).parent / "stores"
NOW = 1_750_000_000_000
DIMENSION = 32
MESSAGES = (
    NewItem(
        "I adopted a beagle called Rufus in May. Rufus chased a heron.", "m1", "Ann", "user", None, NOW - 10**9, 120
    ),
    NewItem("I live in Lisbon. I moved there on 3 March 2025.", "m2", "Bob", "assistant"),
    NewItem("Rufus and Bella met in Hyde Park.", "m3"),
)
FACTS = (
    NewFact("Anna Patel", "visited", "Oslo"),
    NewFact("Anna Maria Patel", "works_at", "Acme", valid_from=NOW - 10**10, valid_to=NOW, confidence=0.75),
    NewFact("Anna Patel", "lives_in", "Lima", negated=True),
    NewFact("Bob", "lives_in", "Lisbon", source="m2"),
)


def memory_of(folder: Path, *, writing: bool = False) -> Memory:
    """Return a memory over a store, at the time at which everything in it is written.

    One that only reads sees what is stored and no more: it does not cut what is not indexed yet.
    """
    make_view = partial(View, (*INDEXES, CueGraph, Topics), dimension=DIMENSION if writing else 0)
    how: dict[str, Any] = {"make_view": make_view, "reader": 1, "clock": lambda: NOW}
    store = LanceStore(str(folder), embedder=FakeEmbedder.name, dimension=DIMENSION, **how)
    return Memory(Settings(), store, FakeEmbedder(DIMENSION), RuleExtractor(), lambda: NOW)


async def write(folder: Path) -> None:
    """Write something into every table, through the services where one writes it."""
    memory = memory_of(folder, writing=True)
    await memory.write(WriteRequest("default", "talk", "message", MESSAGES, FACTS))
    for text in ("The boiler is in the cellar. It was made in 1990.", "The boiler is in the attic. It hums."):
        await memory.write(WriteRequest("default", "papers", "document", (NewItem(text, "boiler", title="House"),)))
    await memory.write(WriteRequest("elsewhere", "talk", "message", (NewItem("Cid has a boat.", "m1", "Cid"),)))
    found = await memory.reconstruct(Query("Where did Rufus meet Bella last year?", "default", 3))
    judged = Feedback(supports=(found.evidence[0].id,), not_supports=(found.evidence[-1].id,))
    await memory.evolve(EvolveRequest("default", found.episode, judged))
    points = PointEdits((PointInsert(("Rufus", "Bella", "Hyde Park"), "Rufus and Bella met in Hyde Park."),))
    await memory.evolve(EvolveRequest("default", goal="Who met?", points=points))
    await memory.evolve(EvolveRequest("default", steps=("entities", "questions")))
    reserved = await memory.ledger.reserve(900)
    await memory.ledger.settle(reserved, replace(reserved.what, input_tokens=700))
    await _read_by_claude(memory)
    item, fact = NewItem("Cleo paints gates.", "m4", "Ann"), NewFact("Cleo", "likes", "gates", source="m4")
    late = WriteRequest("default", "talk", "message", (item,), (fact,), wait=False)
    Tables(str(folder)).fold()
    await write_texts(memory.store, memory.reading, late, now=NOW, progress=silent)  # nobody indexes it
    await memory.aclose()


async def _read_by_claude(memory: Memory) -> None:
    """Write assertions that a language model would have read, and how far it has read."""
    async with memory.store.writing() as transaction:
        said = {turn.ref: turn for turn in transaction.view.space("default").turns.values()}
        told = next(one for one in transaction.view.space("default").facts.rows if one.extractor == "caller")
        text = said["m3"].text
        name = assertion_id(said["m3"].id, 0, len(text), "Rufus", "met", "Bella", "anthropic")
        met = replace(told, id=name, turn_id=said["m3"].id, sentence=0, start=0, end=len(text), extractor="anthropic")
        met = replace(met, head="Rufus", relation="met", tail="Bella")
        jobs = (
            Job("default", said["m3"].id, "leased", 0, 0, NOW + 60_000, "one", NOW),
            Job("default", said["m3"].id, "done", 1, 0, 0, "", NOW),
            Job("default", said["m2"].id, "waiting", 0, 1, NOW + 60_000, "", NOW),
            Job("default", said["m1"].id, "leased", 0, 0, NOW + 60_000, "one", NOW),
            Job("default", said["boiler"].id, "failed", 1, 5, 0, "", NOW),
        )
        await transaction.commit(Batch(assertions=(met,), jobs=jobs))


def held(view: View) -> dict[str, list[dict[str, Any]]]:
    """Return every row of every space, by kind; of vectors the first four numbers."""
    found: dict[str, list[dict[str, Any]]] = {"spent": [asdict(view.spent(NOW // 86_400_000))]}
    for name in sorted(view.spaces):
        for kind, rows in _rows(view.space(name)):
            found.setdefault(kind, []).extend(rows)
    return json.loads(json.dumps(found))


def _rows(space: Space) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    beliefs, points, pool = space.beliefs, space.hypergraph, space.questions
    yield "turns", [asdict(turn) for turn in space.turns.values()]
    yield "segments", [asdict(one) | _begun(space.segment_vectors[row]) for row, one in enumerate(space.segments)]
    yield "sentences", [asdict(one) | _begun(space.sentence_vectors[row]) for row, one in enumerate(space.sentences)]
    yield "assertions", [asdict(one) for one in space.facts.rows]
    names = {one.alias: one for key in space.facts.entities() for one in space.facts.inferred_aliases(key)}
    yield "aliases", [asdict(one) for one in names.values()]
    yield "lessons", [asdict(one) | {"trace": json.loads(one.trace)} for one in beliefs.lessons()]
    known = [(one, beliefs.get(one.id)) for one in space.sentences]
    held = [(one.id, belief) for one, belief in known if belief]
    doubts = [{"id": name, "task_doubt": one.task_doubt, "time_doubt": one.time_doubt} for name, one in held]
    counts = [{"seen": one.supported} | _begun(one.task) for _, one in held]
    yield "beliefs", [one | more for one, more in zip(doubts, counts, strict=True)]
    revisions = [one for point in points.all() for one in points.revisions(point.id)]
    yield "points", [asdict(one) | _begun(points.vector(one.id)) for one in revisions]
    asked = zip(pool.rows, pool.vectors if pool.vectors is not None else (), strict=False)
    yield "questions", [asdict(one) | {"entities": sorted(one.entities)} | _begun(vector) for one, vector in asked]
    yield "jobs", [asdict(job) for job in space.jobs.values()]


def _begun(vector: Vector) -> dict[str, list[float]]:
    return {"vector": [round(float(number), 3) for number in vector[:4]]}


def unpacked(number: int, into: Path) -> Path:
    """Return a writable copy of the store of a format."""
    with tarfile.open(STORES / f"format_{number}.tar.xz") as packed:
        packed.extractall(into, filter="data")
    return into / "store"


def was_held(number: int) -> Mapping[str, list[dict[str, Any]]]:
    """Return what the store of a format contained."""
    text = (STORES / f"format_{number}.json").read_text(encoding="utf-8")
    return json.loads(text)


def main(number: str) -> None:
    """Write the store of a new format, and its contents, beside the others."""

    async def written() -> dict[str, list[dict[str, Any]]]:
        await write(folder)
        memory = memory_of(folder)
        async with memory.store.reading() as view:
            return held(view)

    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "store")
        rows = anyio.run(written)
        with tarfile.open(STORES / f"format_{number}.tar.xz", "w:xz") as packed:
            for table in sorted([*folder.glob("*.lance"), folder / "log", folder / "journal"]):
                packed.add(table, f"store/{table.name}", filter=_nobodys)
    lists = (f'"{kind}": [\n' + ",\n".join(map(json.dumps, those)) + "\n]" for kind, those in rows.items())
    (STORES / f"format_{number}.json").write_text("{\n" + ",\n".join(lists) + "\n}\n", encoding="utf-8")


def _nobodys(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Return a file of an archive without owner and time, readable for everybody."""
    member.uid = member.gid = member.mtime = 0
    member.uname = member.gname = ""
    member.mode = 0o755 if member.isdir() else 0o644
    return member


if __name__ == "__main__":
    main(sys.argv[1])
