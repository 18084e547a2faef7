"""Damage every file of a store in five ways: do doctor, status and writes agree, and does the named command mend it?

Run as ``python tests/crash/damage_table.py [STORE [PART OF]]``: the damages of a store (`STORES`), or of each of them;
PART OF: only those files whose place modulo OF is PART. It prints a line for each kind of file and way of damage, with
how many of these cells there are, and what came of them; then the sums. Of each cell that is bad it prints a line on
standard error.

For each cell: `mcp-memory doctor` looks, `mcp-memory status` looks, a server writes; each meets a fresh copy of the
damaged store. Then the command that doctor names is run. A cell is

- ``quiet``: nobody says anything, everything is there, and a write is taken: the file is not needed any more, or
  only by a repair, and is written again;
- ``mended``: afterwards doctor and status say that all is well, everything that was stored is there, a write is taken,
  and nothing is left that no store has;
- ``given up``: the same, but something that had no copy was given up after asking, and doctor had said so and named
  `mcp-memory restore` before;
- ``silent``: something is missing and nobody says so;
- ``not mended``, with the command or for want of one; ``raw``: an exception that is none of ours.

Besides, it may be marked as ``differ`` (of doctor and status one says that all is well, or doctor does, and a write is
refused), ``other words`` (they name different problems) or ``stray`` (files are left behind).
"""

from __future__ import annotations

import logging
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, replace
from functools import partial
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import anyio
from damaged_store import (
    WAYS,
    Item,
    commit_to,
    contents,
    copy,
    damage,
    derive,
    embed,
    files_of,
    forget,
    make_rows,
    make_store,
    relearn,
    turn,
)
from lance_at import NOW, open_at

from mcp_memory.commands import care
from mcp_memory.commands.terminal import Terminal
from mcp_memory.domain.batch import Batch
from mcp_memory.domain.language_model import Job
from mcp_memory.domain.turns import Turn
from mcp_memory.errors import McpMemoryError
from mcp_memory.search.candidates import INDEXES
from mcp_memory.services.maintain.status import status
from mcp_memory.storage import saved_view
from mcp_memory.storage.own_files import is_own
from mcp_memory.storage.schema import generation_of
from mcp_memory.storage.store import LanceStore
from mcp_memory.storage.tables import Tables
from mcp_memory.vectors import GrowingMatrix
from mcp_memory.view.view import View

STORES = ("loose", "compacted", "large")
BAD = frozenset(("differ", "other words", "silent", "not mended", "stray", "raw"))


@dataclass(frozen=True)
class Said:
    """What a command said of a store.

    Attributes:
        well: whether it exits with 0.
        problems: that it named.
        notes: likewise.
        lines: all of its lines.
    """

    well: bool
    problems: tuple[str, ...]
    notes: tuple[str, ...]
    lines: tuple[str, ...]

    @property
    def command(self) -> str | None:
        """The option of doctor that is named."""
        found = re.search(r"mcp-memory doctor (--[a-z-]+)", " ".join(self.lines[-1:]))
        return found[1] if found else None


def open_as_server(folder: Path) -> LanceStore:
    """Open a store as a server does, with small blocks of vectors and a saved view."""
    make_view = lambda: View(INDEXES, vector_limit=3 if (folder / "vectors").exists() else 1 << 40)  # noqa: E731
    more = {"saved": "made by"} if (folder / "view").exists() else {}
    return open_at(
        str(folder),
        make_view=make_view,
        derive=lambda: make_rows,
        embed=embed,
        relearn=relearn,
        **more,
    )


@contextmanager
def commands_of(folder: Path) -> Iterator[None]:
    """Let commands open the store of a folder, with vectors that cost nothing."""

    async def embedder(_: object) -> object:
        return SimpleNamespace(name="fake", dimension=16, embed=embed)

    with (
        patch.object(care, "open_embedder", embedder),
        patch.object(care, "open_store", lambda *_: open_as_server(folder)),
        patch.object(care, "open_extractor", lambda *_: None),
        patch.object(care, "reading_of", lambda *_: None),
        patch.object(care, "deriver", lambda *_, **__: make_rows),
    ):
        yield


async def doctor(folder: Path, option: str | None = None, *, yes: bool = False) -> Said:
    """Run `mcp-memory doctor`, and return what it says."""
    asked = {name: option == f"--{name.replace('_', '-')}" for name in ("rebuild", "re_embed", "repair")}
    settings: Any = SimpleNamespace()
    options: Any = SimpleNamespace(yes=yes, **asked)
    with redirect_stdout(StringIO()) as out, commands_of(folder), patch.object(sys, "stdin", StringIO()):
        try:
            code = await care.doctor(settings, options, Terminal(colours=False))
        except McpMemoryError as error:  # as `mcp-memory` prints it
            out.write(f"ERROR: {error}\n")
            code = 1
    lines = tuple(out.getvalue().splitlines())
    problems = tuple(line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: "))
    return Said(code == 0, problems, tuple(line[6:] for line in lines if line.startswith("NOTE: ")), lines)


async def status_of(folder: Path) -> Said:
    """Return what `mcp-memory status` says."""
    store = open_at(str(folder))
    try:
        found = await status(store, SimpleNamespace(name="fake"), uptime_s=0, version="")  # type: ignore[arg-type]
    finally:
        await store.aclose()
    return Said(found.healthy, found.store.problems, found.store.notes, ())


async def written(folder: Path, new: str = "after") -> str | None:
    """Let a server write, and return in words why it cannot."""
    store = open_as_server(folder)
    try:
        await commit_to(store, derive([turn(new)]))
    except McpMemoryError as error:
        return str(error)
    finally:
        await store.aclose()
        store._compaction.stop(60)
    return None


async def held(folder: Path) -> frozenset[Item] | None:
    """Return what a store holds; None if it cannot be read."""
    store = open_as_server(folder)
    try:
        async with store.reading() as view:
            found = contents(view)
        return found | {("forgotten", one.at, one.by, one.space, *one.hashes) for one in await store.forgotten()}
    except McpMemoryError:
        return None
    finally:
        await store.aclose()


def strays(folder: Path) -> list[str]:
    """Return the files of a store that none has, and its tables of a generation that no commit has."""
    files = {path: path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    commit = Tables(str(folder)).log.last
    last = commit.generation if commit is not None else 0
    tables = {path.stem for path in folder.glob("*.lance") if (generation_of(path.stem) or 0) > last}
    unfinished = (name for path, name in files.items() if ".tmp" in name or ".part" in name or not is_own(path, name))
    return [*unfinished, *sorted(tables)]


async def cell(original: Path, file: Path, way: str, work: Path, whole: frozenset[Item]) -> tuple[list[str], str]:
    """Return what came of one damage, and more about it."""
    folder = work / "store"

    def hurt() -> None:
        copy(original, folder)
        damage(folder / file, way)

    hurt()
    told = await doctor(folder)
    hurt()
    seen = await status_of(folder)
    hurt()
    refused = await written(folder)
    more = f"doctor {told.problems or told.notes or 'well'} {told.command}, "
    more += f"status {seen.problems or seen.notes or 'well'}, write {refused or 'taken'}"
    outcomes = []
    if told.well != seen.well or (refused is not None and told.well):
        outcomes.append("differ")
    elif (
        set(told.problems) != set(seen.problems)
        or not set(told.notes) >= set(seen.notes)
        or (refused is not None and not all(text in refused for text in told.problems))
    ):
        outcomes.append("other words")
    if told.well and not told.command:
        hurt()
        if (now := await held(folder)) is None or not now >= whole:
            return [*outcomes, "silent"], more
        return [*outcomes, "quiet"], more
    if not told.command:
        return [*outcomes, "not mended"], more
    hurt()
    result = await doctor(folder, told.command)
    gave_up = any("Nothing was given up" in line for line in result.lines)
    if gave_up:
        result = await doctor(folder, told.command, yes=True)
    again, after = await doctor(folder), await status_of(folder)
    now, left, refused = await held(folder), strays(folder), await written(folder)
    missing = Counter(str(item[0]) for item in whole - (now or frozenset()))
    more += f"; then {result.lines[-4:]}, doctor {again.problems}, status {after.problems or after.notes}, "
    more += f"write {refused}, stray {left}, missing {dict(missing)}"
    if left:
        outcomes.append("stray")
    if not (again.well and after.well) or after.notes or refused or now is None or (missing and not gave_up):
        return [*outcomes, "not mended"], more
    if gave_up:
        named = any("mcp-memory restore" in line for line in told.lines)
        return [*outcomes, "given up" if named else "not mended"], more
    return [*outcomes, "mended"], more


async def make(folder: Path, kind: str) -> None:
    """Write a store of a kind; ``large`` has a saved view, mapped vectors, deletions, and a forget."""
    await make_store(
        folder, "compacted" if kind == "compacted" else "loose", commits=5 if kind == "compacted" else 3, size=2
    )
    if kind != "large":
        return
    store = open_as_server(folder)
    await store.rebuild(make_rows)
    tables = Tables(str(folder))
    for name in tables.names():
        if generation_of(name) == 0:
            tables.drop(name)
    await forget(store, "m0-1")
    texts = [turn(f"more{place}", place=place) for place in range(6)]
    await commit_to(store, replace(derive(texts), jobs=(_job(texts[0], "waiting"), _job(texts[1], "waiting"))))
    await commit_to(store, Batch(jobs=(_job(texts[0], "done"),)))
    await store.aclose()
    store._compaction.stop(60)
    (folder / "vectors").mkdir()
    (folder / "view").mkdir()
    store = open_as_server(folder)
    async with store.reading():
        pass
    await store.save_view()
    await commit_to(store, Batch((turn("last"),)))
    await store.aclose()
    store._compaction.stop(60)


def _job(text: Turn, state: Any) -> Job:
    return Job("default", text.id, state, 1, 0, 0, "", NOW)


def kind_of(file: Path) -> str:
    """Return what sort of file it is, in words."""
    if len(file.parts) < 3:
        return f"{file.parts[0]}/*" if len(file.parts) == 2 else file.name
    kind = "hint" if file.name.startswith("latest") else file.parts[1].strip("_")
    return f"{file.parts[0].partition('.')[0].rstrip('0123456789_')} {kind}"


async def table(
    scratch: Path,
    kind: str,
    *,
    part: int = 0,
    of: int = 1,
    ways: Sequence[str] = WAYS,
    only: str = "",
    told: Callable[[str], object] = lambda _: None,
) -> tuple[Counter[tuple[str, str, str]], list[str]]:
    """Return how often what came of each kind of file and way of damage, and a line about each bad cell.

    Args:
        scratch: an empty folder.
        kind: of the store, one of `STORES`.
        part: see the module, as for ``of``.
        of: how many parts there are.
        ways: of `WAYS`.
        only: a part of the names of the files to damage.
        told: hears of each bad cell at once.
    """
    found: Counter[tuple[str, str, str]] = Counter()
    bad = []
    original = scratch / "original"
    await make(original, kind)
    whole = await held(original)
    assert whole is not None
    well = await status_of(original)
    assert well.well, well
    files = [file for file in files_of(original) if not file.name.endswith(".lock") and only in file.as_posix()]
    for file in files[part::of]:
        for way in ways:
            try:
                outcomes, more = await cell(original, file, way, scratch, whole)
            except BaseException as error:
                if isinstance(error, KeyboardInterrupt):
                    raise
                outcomes, more = ["raw"], f"{type(error).__name__} {str(error)[:300]}"
            found.update((kind_of(file), way, outcome) for outcome in ("cells", *outcomes))
            if not BAD.isdisjoint(outcomes):
                bad.append(f"{kind} {file} {way}: {', '.join(outcomes)}: {more}")
                told(f"{bad[-1]}\n")
    return found, bad


def small() -> None:
    """Let a small store have what otherwise only a large one has."""
    saved_view.LEAST, GrowingMatrix.BLOCK = 1, 4


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    small()
    chosen, (part, of) = sys.argv[1:2] or STORES, map(int, sys.argv[2:4] or (0, 1))
    sums: Counter[str] = Counter()
    for kind in chosen:
        with tempfile.TemporaryDirectory() as scratch:
            work = partial(table, Path(scratch), kind, part=part, of=of, told=sys.stderr.write)
            found, _ = anyio.run(work)
        for sort, way in sorted({key[:2] for key in found}):
            told = [f"{count} {key[2]}" for key, count in found.items() if key[:2] == (sort, way)]
            sys.stdout.write(f"{kind:10} {sort:24} {way:14} {', '.join(told)}\n")
        sys.stdout.flush()  # LanceDB's threads may end a process before it does
        for (_, _, outcome), count in found.items():
            sums[outcome] += count
    sys.stdout.write(f"{dict(sums)}\n")
    sys.stdout.flush()
    sys.exit(not BAD.isdisjoint(sums))
