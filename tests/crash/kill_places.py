"""Kill what puts a whole store somewhere or makes its tables again, at each of its steps, and look at what is left.

Run as ``python tests/crash/kill_places.py places --rounds 500``. A round does one of `DEEDS` to a copy of a store, in a
process that is killed before or after its n-th operation on a file (a rename, a removal, a flush, a file opened for
writing, a folder made), or after some time. What must hold then: whoever opens the place finds the whole memory, as
before the deed or as after it, or is told in words which command mends it; the same deed, done once more, ends as if
nobody had been killed; nothing is left behind, the place takes a write, and there are never two memories.

Processes are forked from one that has imported everything and never used LanceDB, so a round takes a second.
"""

import builtins
import io
import logging
import os
import pickle
import random
import shutil
import signal
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import anyio

sys.path.insert(0, str(Path(__file__).parents[1] / "contract"))
sys.path.insert(0, str(Path(__file__).parents[1]))

from batches import WRITTEN_AT, asserted, derive, erasing, point, pointed, taught, turn, unit_vectors
from crash.rounds import Outcome, run
from lance_at import commit_to, embed, fold_all, make_rows, open_at, relearn
from written_stores import held

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.entities import Alias
from mcp_memory.domain.language_model import Job
from mcp_memory.domain.requests import ForgetTargets
from mcp_memory.domain.turns import PooledQuestion
from mcp_memory.errors import McpMemoryError
from mcp_memory.files import files_below
from mcp_memory.storage.backups import back_up, restore
from mcp_memory.storage.place import Place
from mcp_memory.storage.store import LanceStore
from mcp_memory.storage.tables import Tables, import_lancedb

NOW = 1_800_000_000_000
HANGS_S = 120
NAMES = ("rename", "replace", "unlink", "remove", "fsync", "mkdir", "rmdir", "link", "ftruncate")
AROUND = ("store", "notes", "all.backup")
STRAY = ("arriving", ".part", ".hidden", ".new")


# Processes


def in_process(work: Callable[[], Any], at: int | None = None, after: bool = False, within_s: float = HANGS_S) -> Any:
    """Do something in a process of its own, and return what it returns; an error as its text, None if it was killed.

    It is killed before or ``after`` the operation with the number ``at``, or in any case ``within_s``.
    """
    reads, writes = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        child = os.fork()
    if not child:
        os.close(reads)
        logging.disable()
        if at is not None:
            _kill_at(at, after=after)
        try:
            found = work()
        except McpMemoryError as error:
            found = str(error)
        except BaseException as error:
            found = f"BROKEN {type(error).__name__}: {error}"
        with os.fdopen(writes, "wb") as out:
            out.write(pickle.dumps((found, _done[0])))
        os._exit(0)
    os.close(writes)
    os.set_blocking(reads, False)
    content, until = b"", time.monotonic() + within_s
    while time.monotonic() < until:
        try:
            if not (piece := os.read(reads, 1 << 20)):
                break
            content += piece
        except BlockingIOError:
            time.sleep(0.005)
    else:
        os.kill(child, signal.SIGKILL)
    os.close(reads)
    os.waitpid(child, 0)
    if not content:
        return None
    found, _done[0] = pickle.loads(content)
    return found


_done = [0]
"""Operations on files, in the process that counts them, and of the last process that came to its end."""


def _kill_at(number: int, *, after: bool) -> None:
    """Count operations on files, and kill this process at one of them; 0 for none."""

    def counting(call: Callable[..., Any], *, only_writing: bool = False) -> Callable[..., Any]:
        def counted(*arguments: Any, **options: Any) -> Any:
            if only_writing and not _writes(arguments, options):
                return call(*arguments, **options)
            _done[0] += 1
            if _done[0] == number and not after:
                os.kill(os.getpid(), signal.SIGKILL)
            result = call(*arguments, **options)
            if _done[0] == number:
                os.kill(os.getpid(), signal.SIGKILL)
            return result

        return counted

    _done[0] = 0
    for name in NAMES:
        setattr(os, name, counting(getattr(os, name)))
    os.open = counting(os.open, only_writing=True)
    builtins.open = io.open = counting(io.open, only_writing=True)


def _writes(arguments: tuple[Any, ...], options: dict[str, Any]) -> bool:
    how = arguments[1] if len(arguments) > 1 else options.get("mode", options.get("flags", "r"))
    return bool(how & (os.O_WRONLY | os.O_RDWR)) if isinstance(how, int) else bool(set("wax+") & set(how))


# The store, and what is done to it


def commit_of(number: int, size: int) -> Batch:
    """Return the batch of one commit: messages, and every so often each other kind of row."""
    rows = derive([turn(f"m{number}-{place}", place=place) for place in range(size)])
    first = rows.turns[0]
    if number % 2 == 0:
        rows = replace(rows, assertions=(asserted(first, number, "caller"), *rows.assertions))
    if number % 3 == 0:
        made = pointed(point(f"p{number}"))
        rows = replace(rows, points=made.points, point_vectors=made.point_vectors)
    if number % 3 == 1:
        told = taught(f"e{number}", sentence=rows.sentences[0].id)
        rows = replace(rows, lessons=told.lessons, beliefs=told.beliefs)
    if number % 4 == 0:
        rows = replace(rows, aliases=(Alias("default", "Ann", f"Annie{number}", "why", "caller", WRITTEN_AT),))
    if number % 5 == 0:
        asked = PooledQuestion("default", f"What came {number}?", rows.segments[0].id, frozenset(("ann",)))
        rows = replace(rows, questions=(asked,), question_vectors=unit_vectors([asked.text]))
        rows = replace(rows, jobs=(Job("default", first.id, "done", 1, 0, 0, "", WRITTEN_AT),))
    return rows


async def make_store(folder: Path, *, commits: int, size: int) -> None:
    """Write a store of so many commits with so many messages each, the last one without what follows from its texts.

    All but the last two are in the tables.
    """
    store = open_at(str(folder), compact_after=1 << 30, embed=embed, relearn=relearn)
    for number in range(commits):
        rows = commit_of(number, size)
        await commit_to(store, rows if number < commits - 1 else Batch(rows.turns))
        if number < commits - 2:
            fold_all(str(folder))
    await store.aclose()
    store._compaction.stop(60)


async def forget(store: LanceStore, ref: str) -> None:
    """Forget a message."""
    async with store.reading() as view:
        chosen = frozenset(one.id for one in view.space("default").turns.values() if one.ref == ref)
    await store.forget(erasing(ForgetTargets("default", turns=chosen)))
    while store._compaction.running:  # noqa: ASYNC110 - a thread
        await anyio.sleep(0.01)


def open_store(folder: Path) -> LanceStore:
    """Return a store as a server opens it whose configuration lies beside it."""
    place = Place(str(folder), "", str(folder.parent / "notes"))
    return open_at(place, derive=lambda: make_rows, embed=embed, relearn=relearn)


async def _made(around: Path) -> None:
    """Write a store and a backup of it; forget a message, and write more."""
    folder = around / "store"
    await make_store(folder, commits=5, size=12)
    await back_up(Tables(str(folder)), 5.0, around / "all.backup", NOW)
    store = open_store(folder)
    await forget(store, "m0-1")
    await commit_to(store, derive([turn("newest")]))
    await store.aclose()


async def _restore(around: Path) -> None:
    await restore(around / "all.backup", str(around / "store"), noted_in=str(around / "notes"))


async def _rebuild(around: Path) -> None:
    store = open_store(around / "store")
    await store.rebuild(make_rows)
    await store.aclose()


async def _forget(around: Path) -> None:
    store = open_store(around / "store")
    await forget(store, "m2-3")
    await store.aclose()


def _lose(around: Path) -> None:
    shutil.rmtree(around / "store")


DEEDS: dict[str, tuple[Callable[[Path], None], Callable[[Path], Any]]] = {
    "restore in place of a lost one": (_lose, _restore),
    "rebuild": (lambda around: None, _rebuild),
    "forget": (lambda around: None, _forget),
}
"""What comes before, and what is done."""


async def _look(folder: Path, write: str = "") -> tuple[dict[str, Any], tuple[str, ...]]:
    """Open a place, write a message if one is given, and return what it holds and what is wrong with it, in words."""
    store = open_store(folder)
    try:
        if write:
            await commit_to(store, derive([turn(write)]))
        async with store.reading() as view:
            return held(view), tuple(store.damage)
    finally:
        await store.aclose()


# Rounds


def kill_rounds(folder: Path, rounds: int, seed: int) -> Outcome:
    """Do the deeds in turn, each killed at another point."""
    import_lancedb()
    dice, found = random.Random(seed), Outcome()
    original, around = folder / "original", folder / "around"
    original.mkdir(parents=True)
    if (said := in_process(lambda: anyio.run(_made, original))) is not None:
        raise AssertionError(said)
    _begin(original, around, lambda _: None)
    whole = in_process(lambda: anyio.run(_look, around / "store"))
    known: dict[str, tuple[Any, ...]] = {}
    for number in range(rounds):
        name = list(DEEDS)[(seed + number) % len(DEEDS)]
        before, deed = DEEDS[name]
        if name not in known:
            _begin(original, around, before)
            held = in_process(lambda: anyio.run(_look, around / "store"))
            _begin(original, around, before)
            began = time.monotonic()
            said = in_process(lambda: anyio.run(deed, around), at=0)  # noqa: B023
            took_s, steps = time.monotonic() - began, _done[0]
            after = in_process(lambda: anyio.run(_look, around / "store"))
            known[name] = held, whole, after, steps, took_s
            if said is not None or not isinstance(after, tuple) or after[1]:
                raise AssertionError((name, said, after))
        _begin(original, around, before)
        _round(around, name, known[name], dice, found, f"seed {seed}, round {number}, {name}")
    return found


def _begin(original: Path, around: Path, before: Callable[[Path], None]) -> None:
    shutil.rmtree(around, ignore_errors=True)
    shutil.copytree(original, around)
    in_process(lambda: anyio.run(_look, around / "store"))  # it is noted now
    before(around)


def _round(around: Path, name: str, known: tuple[Any, ...], dice: random.Random, found: Outcome, where: str) -> None:
    before, whole, after, steps, took_s = known
    deed, store = DEEDS[name][1], around / "store"
    if dice.random() < 0.75:
        at, late, within_s = dice.randint(1, steps), dice.random() < 0.5, float(HANGS_S)
        where += f", step {at} of {steps}, {'after' if late else 'before'} it"
    else:
        at, late, within_s = 0, False, dice.uniform(0, took_s)
        where += f", after {within_s:.3f} s"
    said = in_process(lambda: anyio.run(deed, around), at, late, within_s)
    found.interrupted += said is None

    def fault(text: object) -> None:
        found.faults.append(f"{where}: {str(text)[:600]}")

    ends = in_process(lambda: anyio.run(_look, store))
    told = ends if isinstance(ends, str) else " ".join(ends[1]) if ends else "it hangs"
    if not (ends in (before, whole, after) or "mcp-memory doctor --re" in told or "`mcp-memory doctor` says" in told):
        fault(f"opened: {_short(ends)}")
    if ends != after or name == "rebuild":
        again = in_process(lambda: anyio.run(deed, around))
        if again is not None:
            fault(f"once more: {again}")
    for path in files_below(around):
        if path.name.endswith(".part"):
            os.utime(path, (0, 0))  # whoever opens the store removes an old one
    last = in_process(lambda: anyio.run(_look, store))
    if last != after:
        fault(f"in the end: {_short(last)}")
    written = in_process(lambda: anyio.run(partial(_look, write="after all"), store))
    if not isinstance(written, tuple) or turn("after all").id not in [one["id"] for one in written[0]["turns"]]:
        fault(f"it takes no write: {_short(written)}")
    for path in files_below(around):
        inside = path.relative_to(around).as_posix()
        if any(part in inside for part in STRAY) or inside.partition("/")[0] not in AROUND:
            fault(f"left behind: {inside}")


def _short(state: Any) -> str:
    return f"{sum(map(len, state[0].values()))} rows, {state[1]}" if isinstance(state, tuple) else str(state)


if __name__ == "__main__":
    run({"places": kill_rounds}, __doc__)
