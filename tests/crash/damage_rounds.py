"""Damage one file of a store at a time, and see what becomes of it.

Run as ``python tests/crash/damage_rounds.py [EVERY]``: it damages every EVERY-th file of a small store in seven ways, a
copy for each, opens it, reads, writes, puts the file back, opens it again, and counts what came of it:

- ``whole``: everything was there and could be written to.
- ``told``: something was missing, and the store said so.
- ``refused``: the store could not be read, and said so in our words.
- ``raw``: an exception or a panic of a library.
- ``silent``: something was missing, and the store called itself healthy.
- ``lost``: with the file put back, something that was there before is missing.
"""

from __future__ import annotations

import logging
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import anyio

if __name__ == "__main__":  # run by hand, without pytest
    tests = Path(__file__).parents[1]
    sys.path[:0] = [str(tests.parent), str(tests), str(tests / "contract")]

from batches import derive, point, pointed, taught, turn
from lance_at import commit_to, open_at

from mcp_memory.errors import McpMemoryError
from mcp_memory.storage.store import LanceStore
from mcp_memory.view.view import View

WAYS = ("deleted", "emptied", "halved", "zeroed", "flipped at the start", "flipped inside", "flipped at the end")


def contents(view: View) -> Counter[str]:
    """Return how much of everything there is."""
    found: Counter[str] = Counter()
    for space in view.spaces.values():
        found["turns"] += len(space.turns)
        found["sentences"] += len(space.sentences)
        found["segments"] += len(space.segments)
        found["facts"] += len(space.facts.rows)
        found["lessons"] += len(space.beliefs.lessons())
        found["points"] += len(space.hypergraph.active())
    return found


async def make(folder: Path, commits: int = 9) -> None:
    """Write a small store with every kind of row."""
    store = open_at(str(folder))
    for number in range(commits):
        rows = derive([turn(f"a{number}"), turn(f"b{number}")])
        if number % 3 == 0:
            made = pointed(point(f"p{number}"))
            lessons = taught(f"e{number}").lessons
            rows = replace(rows, points=made.points, point_vectors=made.point_vectors, lessons=lessons)
        await commit_to(store, rows)
    await store.aclose()


def damaged(content: bytes, way: str) -> bytes | None:
    """Return what a file holds when it was damaged in a way; None if it is gone."""
    if way == "deleted":
        return None
    if way == "emptied":
        return b""
    if way == "halved":
        return content[: len(content) // 2]
    if way == "zeroed":
        return bytes(len(content))
    place = {"start": 1, "inside": len(content) // 2, "end": len(content) - 3}[way.split()[-1]]
    return content[:place] + bytes([content[place] ^ 0x10]) + content[place + 1 :]


async def read(folder: Path) -> tuple[LanceStore, Counter[str] | None, bool]:
    """Open a store and return it, what it holds, and whether it calls itself healthy."""
    store = open_at(str(folder))
    held = None
    try:
        async with store.reading() as view:
            held = contents(view)
    except McpMemoryError:
        return store, None, False
    return store, held, not (await store.about()).problems and not store._refresher.broken


async def round_of(original: Path, file: Path, way: str, scratch: Path, whole: Counter[str]) -> str:
    """Damage one file in one way and return what came of it; ``whole`` is what the store held before."""
    folder = scratch / "store"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(original, folder)
    hurt = folder / file
    before = hurt.read_bytes()
    content = damaged(before, way)
    if content is None:
        hurt.unlink()
    else:
        hurt.write_bytes(content)
    outcome = "whole"
    try:
        store, held, healthy = await read(folder)
        if held is None:
            outcome = "refused"
        elif any(held[kind] < count for kind, count in whole.items()):
            outcome = "silent" if healthy else "told"
        try:
            await commit_to(store, derive([turn("after")]))
        except McpMemoryError:
            outcome = "told" if outcome == "whole" else outcome
        await store.aclose()
        if hurt.parent.is_dir():
            hurt.write_bytes(before)
        store, held, _ = await read(folder)
        await store.aclose()
        if held is None or any(held[kind] < count for kind, count in whole.items()):
            return "lost"
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return f"raw {type(error).__name__}"
    return outcome


def files_of(folder: Path) -> list[Path]:
    """Return the files of a store that hold something, relative to it."""
    return [path.relative_to(folder) for path in sorted(folder.rglob("*")) if path.is_file() and path.stat().st_size]


async def rounds(
    every: int = 1, ways: tuple[str, ...] = WAYS, said: Callable[[str], object] = lambda _: None
) -> Counter[str]:
    """Count what came of it, for every so manieth file and each way; ``said`` is told of what should not happen."""
    outcomes: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as scratch:
        original = Path(scratch, "original")
        await make(original)
        store, whole, _ = await read(original)
        await store.aclose()
        assert whole is not None
        for file in files_of(original)[::every]:
            for way in ways:
                outcome = await round_of(original, file, way, Path(scratch), whole)
                outcomes[outcome.split()[0]] += 1
                if outcome.split()[0] in ("raw", "silent", "lost"):
                    said(f"{outcome}: {'/'.join(file.parts[:2])} {way}\n")
    return outcomes


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    every = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    sys.stdout.write(f"{anyio.run(partial(rounds, every, said=sys.stderr.write))}\n")
