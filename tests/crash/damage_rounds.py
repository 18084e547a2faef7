"""Damage each file of a store of 1,000 messages in seven ways, and see what becomes of it.

Run as ``python tests/crash/damage_rounds.py FOLDER STORE MODE [EVERY [PART OF]]``, where FOLDER is scratch space:

- STORE: ``loose``, ``compacted`` or ``forgotten``, see `make_store`.
- MODE: ``open`` (a server opens the damaged store, reads, writes), ``running`` (two servers had it open before),
  ``repair`` (`doctor --repair` gives up what it has to, then a server opens it), ``killed`` (the same, and the repair
  is killed before each of its changes of files, one after the other, until it gets through).
- EVERY: of each kind of file only every so manieth, from its first one on, so that each kind is met whatever EVERY is;
  PART OF: of these, only the files whose place modulo OF is PART.

In the end the file is put back, and the store is opened once more. It prints, for each kind of file, how often it was

- ``whole``: everything was there, at once or after the rebuild that a server makes by itself, and could be written to;
- ``kept``: everything was there, but the store said that it is damaged, and took no write until it is repaired;
- ``told``: something was missing, and the store said so; with ``repair``, it was given up;
- ``refused``: the store could not be read, and said so in our words;
- ``raw``: an exception or a panic of a library;
- ``silent``: something was missing or could not be written, and the store called itself healthy;
- ``mended``: with the file put back something was missing, the store said so, and `doctor --repair` brought it back;
- ``lost``: with the file put back, something is missing that was there, or that was written in between.
"""

from __future__ import annotations

import json
import logging
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from unittest.mock import patch

import anyio
from damaged_store import (
    LOG,
    WAYS,
    Item,
    commit_to,
    contents,
    copy,
    damage,
    derive,
    files_of,
    make_rows,
    make_store,
    open_store,
    put_back,
    turn,
)

from mcp_memory.errors import McpMemoryError
from mcp_memory.storage.store import LanceStore
from mcp_memory.storage.tables import Tables

Outcomes = dict[str, Counter[str]]
BAD = ("raw", "silent", "lost")


class Killed(BaseException):
    """The process is gone."""


async def look(store: LanceStore) -> tuple[frozenset[Item] | None, bool]:
    """Return what a store holds, None if it refuses to be read, and whether it calls itself healthy."""
    try:
        async with store.reading() as view:
            held = contents(view)
        held |= {("forgotten", one.at, one.by, one.space, *one.hashes) for one in await store.forgotten()}
    except McpMemoryError:
        return None, False
    return held, not (await store.about()).problems


async def mended(store: LanceStore, held: frozenset[Item] | None, healthy: bool) -> tuple[frozenset[Item] | None, bool]:
    """Return what a store holds, and whether it is well, after the work that a server does in the background."""
    if held is None or not store.outdated:
        return held, healthy
    with suppress(McpMemoryError):  # which a server logs
        await store.reread()
    return await look(store)


async def use(store: LanceStore, whole: frozenset[Item], new: str) -> tuple[str, frozenset[Item]]:
    """Read, let the store rebuild what it can, write; return the outcome and what was written."""
    held, healthy = await look(store)
    if held is not None and not held >= whole and healthy:
        return "silent", frozenset()
    held, healthy = await mended(store, held, healthy)
    outcome = "whole"
    if held is None:
        outcome = "refused"
    elif not held >= whole:
        outcome = "silent" if healthy else "told"
    rows = derive([turn(new)])
    try:
        try:
            await commit_to(store, rows)
        except McpMemoryError:  # perhaps of a table that only writers need
            await mended(store, held, healthy)
            await commit_to(store, rows)
    except McpMemoryError:
        if not (await store.about()).problems:
            return "silent", frozenset()
        return ("kept" if outcome == "whole" else outcome), frozenset()
    return outcome, frozenset(("turn", one.space, one.id, one.text) for one in rows.turns)


async def opened(folder: Path, whole: frozenset[Item], hurt: Callable[[], None]) -> tuple[str, frozenset[Item]]:
    """Damage a store, and let a server open it."""
    hurt()
    store = open_store(folder)
    try:
        return await use(store, whole, "after")
    finally:
        await store.aclose()


async def running(folder: Path, whole: frozenset[Item], hurt: Callable[[], None]) -> tuple[str, frozenset[Item]]:
    """Damage a store that two servers have open, and let both go on."""
    stores = [open_store(folder), open_store(folder)]
    try:
        for store in stores:
            await look(store)
        hurt()
        written: frozenset[Item] = frozenset()
        outcomes = []
        for number, store in enumerate(stores):
            outcome, new = await use(store, whole | written, f"after{number}")
            outcomes.append(outcome)
            written |= new
        return max(outcomes, key=["whole", "kept", "told", "refused", "silent"].index), written
    finally:
        for store in stores:
            await store.aclose()


@contextmanager
def killed_before(change: int) -> Iterator[None]:
    """Raise `Killed` before the change of files with this number, from 0 on."""
    done = iter(range(change + 1))

    def instead_of(method: Callable[..., object]) -> Callable[..., object]:
        def work(*values: object, **more: object) -> object:
            if next(done, change) == change:
                raise Killed
            return method(*values, **more)

        return work

    places = [(Path, "rename"), (Path, "replace"), (Path, "write_text"), (Path, "unlink")]
    places += [(Tables, "drop"), (Tables, "append")]
    patches = [patch.object(owner, name, instead_of(getattr(owner, name))) for owner, name in places]
    for one in patches:
        one.start()
    try:
        yield
    finally:
        for one in patches:
            one.stop()


async def repaired(
    folder: Path, whole: frozenset[Item], hurt: Callable[[], None], *, kill: bool = False
) -> tuple[str, frozenset[Item]]:
    """Damage a store, repair it, and let a server open it; ``kill`` the repair again and again."""
    hurt()
    given_up: list[str] = []
    for change in range(1000 if kill else 0):
        store = open_store(folder)
        try:
            with killed_before(change):
                await store.repair(lambda texts: not given_up.extend(texts))
            break
        except Killed:
            continue
        finally:
            await store.aclose()
    store = open_store(folder)
    try:
        await store.repair(lambda texts: not given_up.extend(texts))
        await store.rebuild(make_rows)
        held, healthy = await mended(store, *await look(store))
        rows = derive([turn("after")])
        await commit_to(store, rows)
        written = frozenset(("turn", one.space, one.id, one.text) for one in rows.turns)
        if held is None or not healthy:
            return "refused", written
        gone = Counter(str(item[0]) for item in whole - held)
        if gone and not (gone.keys() & LOG and given_up):
            return f"silent {dict(gone)}", written
        return (f"told {dict(gone)}" if gone else "whole"), written
    finally:
        await store.aclose()


async def killed(folder: Path, whole: frozenset[Item], hurt: Callable[[], None]) -> tuple[str, frozenset[Item]]:
    """See `repaired`."""
    return await repaired(folder, whole, hurt, kill=True)


MODES = {"open": opened, "running": running, "repair": repaired, "killed": killed}


async def round_of(original: Path, file: Path, way: str, mode: str, folder: Path, whole: frozenset[Item]) -> str:
    """Damage one file in one way, put it back in the end, and return what came of it."""
    copy(original, folder)
    content = b""

    def hurt() -> None:
        nonlocal content
        content = damage(folder / file, way)

    try:
        outcome, written = await MODES[mode](folder, whole, hurt)
        kept = whole
        if mode in ("repair", "killed"):  # what was given up is gone, and stays so
            store = open_store(folder)
            kept = (await look(store))[0] or frozenset()
            await store.aclose()
        put_back(folder / file, content)
        store = open_store(folder)
        held, _ = await mended(store, *await look(store))
        await store.aclose()
        if held is None or not held >= kept | written:
            store = open_store(folder)
            said = bool((await look(store)) and store.damage)
            await store.repair(lambda _: False)
            await store.aclose()
            store = open_store(folder)
            held, _ = await mended(store, *await look(store))
            await store.aclose()
            if said and held is not None and held >= kept | written:
                return f"mended ({outcome})"
            gone = Counter(str(item[0]) for item in (kept | written) - (held or frozenset()))
            return f"lost {dict(gone)} ({outcome})"
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return f"raw {type(error).__name__} {str(error)[:200]}"
    return outcome


def kind_of(file: Path) -> str:
    """Return what sort of file it is, in words."""
    if len(file.parts) < 3:
        return file.name
    table, part = file.parts[0].partition(".")[0], file.parts[1].strip("_")
    return f"{table.rstrip('0123456789_')} {part}"


def chosen(files: Sequence[Path], every: int) -> list[Path]:
    """Return of each kind of file only every so manieth; the first manifest of a table is its newest."""
    places: Counter[str] = Counter()
    found = []
    for file in files:
        if not places[kind_of(file)] % every:
            found.append(file)
        places[kind_of(file)] += 1
    return found


async def rounds(
    scratch: Path,
    kind: str,
    mode: str,
    *,
    commits: int = 10,
    size: int = 100,
    every: int = 1,
    part: int = 0,
    of: int = 1,
    ways: tuple[str, ...] = WAYS,
    told: Callable[[str], object] = lambda _: None,
) -> Outcomes:
    """Count by kind of file what came of it; ``told`` hears of what should not happen."""
    outcomes: Outcomes = defaultdict(Counter)
    original = scratch / "original"
    await make_store(original, kind, commits=commits, size=size)
    store = open_store(original)
    whole, healthy = await look(store)
    await store.aclose()
    assert healthy
    assert whole is not None
    for file in chosen(files_of(original), every)[part::of]:
        for way in ways:
            outcome = await round_of(original, file, way, mode, scratch / "store", whole)
            outcomes[kind_of(file)][outcome.split()[0]] += 1
            if outcome != "whole":
                told(f"{file} {way}: {outcome}\n")
    return outcomes


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    place, kind, mode = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    every, part, of = (int(text) for text in [*sys.argv[4:], *("1", "0", "1")[len(sys.argv) - 4 :]])
    with tempfile.TemporaryDirectory(dir=place) as scratch:

        async def main() -> Outcomes:
            """Run the part that was asked for."""
            return await rounds(Path(scratch), kind, mode, every=every, part=part, of=of, told=sys.stderr.write)

        sys.stdout.write(json.dumps(anyio.run(main)) + "\n")
