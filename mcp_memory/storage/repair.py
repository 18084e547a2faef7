"""Repair a damaged store: take back what is left, and give up the rest only if told to (`mcp-memory doctor --repair`).

1. Newest versions of a table that cannot be opened are set aside (``*.damaged``), so that LanceDB opens the one before.
2. Rows of the log are collected by commit from the newest version and all earlier ones; of a version with damaged files
   every row is read that lies in a whole file.
3. Commits that are gone are made anew up to the anchor, from the rows that carry their numbers.
4. Where rows are still missing, nothing is changed unless the caller gives them up. Then the commits count what is
   left, and ``lost.json`` beside the tables says what was lost.

Derived tables are made anew afterwards. Everything blocks; the write lock and the compaction lock must be held.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from mcp_memory.domain.times import Millis
from mcp_memory.errors import StoreError
from mcp_memory.storage.damage import COUNTED, read_anchor, write_anchor
from mcp_memory.storage.data_files import FAILURES, Table, no_panics
from mcp_memory.storage.schema import COMMITS, Commit, LogTable, TableRows, commit_rows, commits_of
from mcp_memory.storage.tables import Tables

NEWEST = (1 << 64) - 1
"""LanceDB names the manifest of version n by this number minus n, so that the newest comes first."""
LOST = "lost.json"


def repair(tables: Tables, give_up: Callable[[Sequence[str]], bool], at: Millis) -> list[str]:
    """Repair the log of a store and return in words what was done.

    Args:
        tables: of the store, a local folder.
        give_up: is told what would be lost for good, and returns whether to go on.
        at: now.

    Raises:
        StoreUnwritable: a table cannot be written; a later call goes on.
    """
    done = [text for name in (COMMITS, *COUNTED) for text in _set_aside(tables, name)]
    rows = {kind: _collected(tables, kind) for kind in COUNTED}
    found = {kind: Counter(part["tx"].to_pylist()) if part is not None else Counter() for kind, part in rows.items()}
    known = _collected(tables, COMMITS)
    commits = {commit.tx: commit for commit in (commits_of(known) if known is not None else ())}
    anchor = read_anchor(tables.folder)
    newest = max(filter(None, (anchor, *commits.values())), key=lambda commit: commit.tx, default=None)
    if newest is None:
        return done
    made = [number for number in range(1, newest.tx + 1) if number not in commits]
    for number in made:
        commits[number] = newest if number == newest.tx else _made_again(number, newest, found)
    if made:
        done.append(f"{len(made)} commits are made anew from the rows that carry their numbers.")
    lost = {kind: _lost(kind, commits, found[kind]) for kind in COUNTED}
    if any(lost.values()):
        texts = [
            f"{sum(part.values())} rows of {kind!r} (commits {_some(part)})" for kind, part in lost.items() if part
        ]
        if not give_up(texts):
            return [*done, "Nothing was given up: the memory stays as it is."]
        for number, commit in commits.items():
            left: dict[str, Any] = {kind: found[kind][number] for kind in COUNTED}
            commits[number] = replace(commit, **left)
        _write_down(tables, at, lost)
        done += [f"Given up: {text}." for text in texts]
    for kind in COUNTED:
        done += _put_back(tables, kind, rows[kind], newest.tx)
    ordered = [commits[number] for number in sorted(commits)]
    if made or any(lost.values()) or tables.count(COMMITS) != len(ordered):
        _replace(tables, COMMITS, commit_rows(*ordered))
    write_anchor(tables.folder, ordered[-1])
    return done


def _set_aside(tables: Tables, name: str) -> Iterator[str]:
    """Rename the newest manifests of a table as long as it cannot be opened."""
    for version in _versions(tables, name):
        tables.reopen(name)
        try:
            table = tables.latest(name)
        except StoreError:
            table = None
        if table is not None and int(table.version) >= version:
            return
        path = _manifests(tables, name)[version]
        path.rename(path.with_name(f"{path.name}.damaged"))
        path.with_name("latest_version_hint.json").unlink(missing_ok=True)
        tables.forget()
        yield f"Version {version} of {name!r} cannot be opened; it is set aside as {path.name}.damaged."


def _manifests(tables: Tables, name: str) -> dict[int, Any]:
    """Return the manifests of a table by version."""
    folder = tables.folder
    files = list((folder / f"{name}.lance" / "_versions").glob("*.manifest")) if folder is not None else []
    return {NEWEST - number if (number := int(path.stem)) > NEWEST >> 1 else number: path for path in files}


def _versions(tables: Tables, name: str) -> list[int]:
    return sorted(_manifests(tables, name), reverse=True)


def _collected(tables: Tables, name: str) -> TableRows | None:
    """Return the rows of a table, those of each commit from the version that has most of them; None for no rows."""
    import pyarrow as pa
    import pyarrow.compute as pc

    best: dict[int, TableRows] = {}
    for version in _versions(tables, name):
        table = tables.earlier(name, version)
        rows = _readable(table) if table is not None else None
        if rows is None:
            continue
        for number, count in Counter(rows["tx"].to_pylist()).items():
            if number not in best or len(best[number]) < count:
                best[number] = rows.filter(pc.equal(rows["tx"], number))
        if table is not None and len(rows) == _count(table):  # whole, and earlier versions had no more
            break
    parts = [best[number] for number in sorted(best)]
    return pa.concat_tables(parts, promote_options="default") if parts else None


def _count(table: Table) -> int:
    try:
        with no_panics():
            return int(table.count_rows())
    except FAILURES:
        return 0


def _readable(table: Table) -> TableRows | None:
    """Return the rows of a version that lie in whole files; None for none."""
    import pyarrow as pa

    parts = list(_parts(table, 0, _count(table)))
    return pa.concat_tables(parts) if parts else None


def _parts(table: Table, first: int, count: int) -> Iterator[TableRows]:
    if not count:
        return
    try:
        with no_panics():
            yield table.search().offset(first).limit(count).to_arrow()
    except FAILURES:
        if count > 1:
            yield from _parts(table, first, count // 2)
            yield from _parts(table, first + count // 2, count - count // 2)


def _made_again(number: int, like: Commit, found: Mapping[LogTable, Counter[int]]) -> Commit:
    """Return a commit that was lost, with the rows that carry its number; when it was written is not known."""
    zeros: dict[str, Any] = dict.fromkeys(("segments", "sentences", "assertions", "beliefs", "questions", "jobs"), 0)
    zeros |= dict.fromkeys(("day", "calls", "input_tokens", "cached_tokens", "output_tokens"), 0)
    counts: dict[str, Any] = {kind: counted[number] for kind, counted in found.items()}
    return replace(like, tx=number, **zeros, **counts)


def _lost(kind: LogTable, commits: Mapping[int, Commit], found: Counter[int]) -> Counter[int]:
    return Counter({number: commit.count(kind) for number, commit in commits.items()}) - found


def _some(numbers: Mapping[int, int]) -> str:
    return ", ".join(map(str, sorted(numbers)[:5])) + (" …" if len(numbers) > 5 else "")


def _put_back(tables: Tables, kind: LogTable, rows: TableRows | None, last: int) -> Iterator[str]:
    """Write the rows that were collected, if the table has not just these."""
    import pyarrow.compute as pc

    rows = rows.filter(pc.less_equal(rows["tx"], last)) if rows is not None else None
    try:
        now = tables.rows(kind)
        same = tables.fragments(kind) >= 0 and len(now or ()) == len(rows or ()) and kind not in tables.broken
    except StoreError:
        same = False
    if not same:
        _replace(tables, kind, rows)
        yield f"{len(rows) if rows is not None else 0} rows of {kind!r} are put back."


def _replace(tables: Tables, name: str, rows: TableRows | None) -> None:
    tables.forget()
    tables.broken.discard(name)
    if rows is None or not _versions(tables, name):
        tables.drop(name)
    if rows is not None:
        tables.replace(name, rows)


def _write_down(tables: Tables, at: Millis, lost: Mapping[LogTable, Counter[int]]) -> None:
    if tables.folder is None:
        return
    path = tables.folder / LOST
    try:
        before = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        before = []
    noted = {kind: {str(number): count for number, count in part.items()} for kind, part in lost.items() if part}
    path.write_text(json.dumps([*before, {"at": at, "rows_by_commit": noted}], indent=1), encoding="utf-8")
