"""Repair a damaged store: take back what is left, and give up the rest only if told to (`mcp-memory doctor --repair`).

1. Newest versions of a table that cannot be opened are set aside (``*.damaged``), so that LanceDB opens the one before.
2. Rows are collected by commit from the newest version of each table and all earlier ones, then from the journal (also
   after a damaged line) and the copy of the log; of a version with damaged files every row is read that lies in a whole
   file. Rows of files that were changed since they were written come last: they are *doubtful*, since most of them are
   as they were, and nobody knows which.
3. Commits that are gone are made again from the rows that carry their numbers, up to the anchor: the newest commit,
   noted beside the tables.
4. Where rows are still missing, nothing is changed unless the caller gives them up. Then the commits count what is
   left.

The commits are written last, so a repair that was killed begins again and finds all that the first one found. Derived
tables are made again afterwards; they hold no words that the log does not have. Everything blocks; the write lock and
the compaction lock must be held.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from mcp_memory.errors import StoreError
from mcp_memory.storage.copies import collected, copied_rows, joined, read_anchor, write_anchor
from mcp_memory.storage.damage import COUNTED
from mcp_memory.storage.data_files import ASIDE, manifests_of
from mcp_memory.storage.examine import write_missing
from mcp_memory.storage.forgotten import Book, read_book, write_book
from mcp_memory.storage.journal import Entry, newer, rows_of
from mcp_memory.storage.own_files import own_files
from mcp_memory.storage.rights import rights_kept
from mcp_memory.storage.schema import (
    COMMITS,
    FORGOTTEN,
    LOG_TABLES,
    Commit,
    TableKind,
    TableRows,
    commit_rows,
    commits_of,
)
from mcp_memory.storage.tables import Tables

HIDDEN = ".hidden"
NO_BOOK = "what was forgotten: an import may bring it back"
REPAIRED: tuple[TableKind, ...] = (*COUNTED, "jobs")
"""Tables that no rebuild makes again. Of ``jobs`` nobody knows how many rows there should be."""

Found = dict[TableKind, Counter[int]]
"""How many rows of each kind there are, by commit."""


def repair(tables: Tables, give_up: Callable[[Sequence[str]], bool]) -> list[str]:
    """Repair the log of a store and return in words what was done.

    Args:
        tables: the tables of the store, a local folder.
        give_up: is told what would be lost for good, and returns whether to go on.

    Raises:
        StoreUnwritable: a table cannot be written; a later call goes on.
    """
    with rights_kept(tables.folder):
        return _repaired(tables, give_up)


def _repaired(tables: Tables, give_up: Callable[[Sequence[str]], bool]) -> list[str]:
    _show(tables)
    done = [*_set_aside(tables, COMMITS)]  # steps 1 and 2 for the commits: these in tables and journal, then the copy's
    stored, entries, copied = _stored_commits(tables)
    commits = stored | {entry.commit.tx: entry.commit for entry in entries}
    before = len(commits)
    commits = {number: entry.commit for number, entry in copied.items()} | commits
    anchor = read_anchor(tables.folder)
    if anchor is not None and commits.get(anchor.tx, anchor) != anchor:  # a changed manifest gives columns other names
        commits |= {number: entry.commit for number, entry in copied.items()} | {anchor.tx: anchor}
    newest = max(filter(None, (anchor, *commits.values())), key=lambda commit: commit.tx, default=None)
    if newest is None:
        return done
    names = {kind: newest.table(kind) for kind in REPAIRED}
    done += [text for name in names.values() for text in _set_aside(tables, name)]  # steps 1 and 2 for the other tables
    with _hidden(tables, names.values()) as changed:
        rows = {
            kind: joined(collected(tables.folder, name, tables.earlier), rows_of(entries, kind))
            for kind, name in names.items()
        }
        lacking = _missing(commits, newest, rows) + len(commits) - before
        rows |= {log: joined(rows[log], copied_rows(copied.values(), log)) for log in LOG_TABLES}
        if taken := lacking - _missing(commits, newest, rows):
            done.append(f"{taken} rows and commits are taken from the copy of the log.")
    doubtful = _add_doubtful(tables, {kind: name for kind, name in names.items() if name in changed}, rows)
    found = _counts(rows)
    made = [number for number in range(1, newest.tx + 1) if number not in commits]  # step 3
    for number in made:
        commits[number] = newest if number == newest.tx else _made_again(number, newest, found)
    if made:
        done.append(f"{len(made)} commits are made again from the rows that carry their numbers.")
    gone = [number for number in made if not any(counted[number] for counted in found.values())]
    gone += range(newest.tx + 1, newest.tx + 1 + tables.journal.damaged_lines() - len(gone))
    gone = [number for number in gone if number != newest.tx]  # of which the anchor counts the rows
    lost = {kind: part for kind in COUNTED if (part := _lost(kind, commits, found[kind]))}  # step 4
    book = read_book(tables)
    if texts := [*_in_words(gone, lost, doubtful), *([NO_BOOK] if book.damage and not book.records else [])]:
        if not give_up(texts):
            return [*done, "Nothing was given up: the memory stays as it is."]
        done += [f"Given up: {text}." for text in texts]
    done += _put_back_book(tables, book)  # from here on tables are written, the commits last
    for kind, name in names.items():
        done += _put_back(tables, name, rows[kind], newest.tx, always=name in changed)
    left = {number: _counting(commit, found, lost) for number, commit in sorted(commits.items())}
    if left != stored:
        _replace(tables, COMMITS, commit_rows(*left.values()))
    write_anchor(tables.folder, left[newest.tx])
    tables.journal.clear(newest.tx)
    for files in tables.sums.wrong((COMMITS, FORGOTTEN, *names.values())).values():
        for file in files:  # no version needs them any more that is newer than the rows put back
            file.replace(file.with_name(f"{file.name}{ASIDE}"))
    tables.forget()
    write_missing(tables)
    return done


# What is there


def _stored_commits(tables: Tables) -> tuple[dict[int, Commit], list[Entry], dict[int, Entry]]:
    """Return the commits of the tables, the newer ones of the journal, and those of the copy of the log, by number."""
    with _hidden(tables, (COMMITS,)):
        known = collected(tables.folder, COMMITS, tables.earlier)
    stored = {commit.tx: commit for commit in (commits_of(known) if known is not None else ())}
    entries = newer(tables.journal.whole_lines(), max(stored, default=0))
    commits = stored | {entry.commit.tx: entry.commit for entry in entries}
    copied = tables.log_copy.entries()
    if any(commits[number].at != entry.commit.at for number, entry in copied.items() if number in commits):
        copied = {}  # of another store that was in this place
    return stored, entries, copied


def _add_doubtful(
    tables: Tables, changed: Mapping[TableKind, str], rows: dict[TableKind, TableRows | None]
) -> dict[TableKind, Counter[int]]:
    """Add to rows what only files hold that are not what was written, and return how many rows that is, by commit.

    Args:
        tables: the tables of the store.
        changed: names of the tables with such files.
        rows: found elsewhere.
    """
    doubtful: dict[TableKind, Counter[int]] = {}
    for kind, name in changed.items():
        certain = _counts(rows)[kind]
        rows[kind] = joined(rows[kind], collected(tables.folder, name, tables.earlier))
        if more := _counts(rows)[kind] - certain:
            doubtful[kind] = more
    return doubtful


@contextmanager
def _hidden(tables: Tables, names: Iterable[str]) -> Iterator[Container[str]]:
    """Hide the files of tables that are not what was written, so that no row of them is read; yield whose they are."""
    wrong = tables.sums.wrong(names)
    for file in (file for files in wrong.values() for file in files):
        file.replace(file.with_name(f"{file.name}{HIDDEN}"))
        file.with_name("latest_version_hint.json").unlink(missing_ok=True)  # beside manifests
    tables.forget()
    try:
        yield wrong
    finally:
        _show(tables)
        tables.forget()


def _show(tables: Tables) -> None:
    """Give hidden files their names again, also those of a repair that was killed."""
    for file in list(own_files(tables.folder)) if tables.folder is not None else ():
        if file.name.endswith(HIDDEN):
            file.replace(file.with_suffix(""))


def _set_aside(tables: Tables, name: str) -> Iterator[str]:
    """Rename the newest manifests of a table as long as it cannot be opened."""
    for version in manifests_of(tables.folder, name):
        tables.reopen(name)
        try:
            table = tables.latest(name)
        except StoreError:
            table = None
        if table is not None and int(table.version) >= version:
            return
        path = manifests_of(tables.folder, name)[version]
        path.replace(path.with_name(f"{path.name}{ASIDE}"))  # Windows renames to no name that is taken
        path.with_name("latest_version_hint.json").unlink(missing_ok=True)
        tables.forget()
        yield f"Version {version} of {name!r} cannot be opened; it is set aside as {path.name}{ASIDE}."


# What is not


def _missing(commits: Mapping[int, Commit], newest: Commit, rows: Mapping[TableKind, TableRows | None]) -> int:
    """Return how many rows and commits are missing."""
    found = _counts(rows)
    return newest.tx - len(commits) + sum(_lost(kind, commits, found[kind]).total() for kind in COUNTED)


def _counts(rows: Mapping[TableKind, TableRows | None]) -> Found:
    return {kind: Counter(part["tx"].to_pylist()) if part is not None else Counter() for kind, part in rows.items()}


def _made_again(number: int, like: Commit, found: Found) -> Commit:
    """Return a commit that was lost, with the rows that carry its number; when it was written is not known."""
    zeros: dict[str, Any] = dict.fromkeys(("segments", "sentences", "assertions", "beliefs"), 0)
    zeros |= dict.fromkeys(("day", "calls", "input_tokens", "cached_tokens", "output_tokens"), 0)
    counts: dict[str, Any] = {kind: counted[number] for kind, counted in found.items()}
    return replace(like, tx=number, **zeros, **counts)


def _lost(kind: TableKind, commits: Mapping[int, Commit], found: Counter[int]) -> Counter[int]:
    return Counter({number: commit.count(kind) for number, commit in commits.items()}) - found


def _counting(commit: Commit, found: Found, lost: Mapping[TableKind, Counter[int]]) -> Commit:
    """Return a commit that counts what is left of it."""
    changed: dict[str, Any] = {kind: found[kind][commit.tx] for kind, part in lost.items() if part[commit.tx]}
    if found["jobs"][commit.tx] < commit.jobs:
        changed["jobs"] = found["jobs"][commit.tx]
    return replace(commit, **changed)


def _in_words(
    gone: Sequence[int], lost: Mapping[TableKind, Counter[int]], doubtful: Mapping[TableKind, Counter[int]]
) -> Iterator[str]:
    """Yield what a repair would give up."""
    if gone:
        yield f"all that {len(gone)} commits held ({_some(gone)})"
    for kind, part in lost.items():
        yield f"{part.total()} rows of {kind!r} (commits {_some(part)})"
    for kind, part in doubtful.items():
        yield (
            f"how {part.total()} rows of {kind!r} were (commits {_some(part)}): their file was changed after it was "
            "written, and they are taken from it"
        )


def _some(numbers: Collection[int]) -> str:
    return ", ".join(map(str, sorted(numbers)[:5])) + (" …" if len(numbers) > 5 else "")


# Writing


def _put_back(tables: Tables, name: str, rows: TableRows | None, last: int, *, always: bool) -> Iterator[str]:
    """Write the rows that were collected, if the table has not just these, or in any case."""
    import pyarrow.compute as pc

    rows = rows.filter(pc.less_equal(rows["tx"], last)) if rows is not None else None
    try:
        now = tables.rows(name)
        same = tables.fragments(name) >= 0 and len(now or ()) == len(rows or ()) and name not in tables.broken
    except StoreError:
        same = False
    if not same or always:
        _replace(tables, name, rows)
        yield f"{len(rows) if rows is not None else 0} rows of {name!r} are put back."


def _put_back_book(tables: Tables, book: Book) -> Iterator[str]:
    """Write what was forgotten, if its table is damaged."""
    if book.damage:
        yield from _set_aside(tables, FORGOTTEN)
        if not manifests_of(tables.folder, FORGOTTEN) or not book.records:
            tables.drop(FORGOTTEN)
        if book.records:
            write_book(tables, book.records, book.work)
        yield f"{len(book.records)} records of what was forgotten are put back."


def _replace(tables: Tables, name: str, rows: TableRows | None) -> None:
    tables.forget()
    if rows is None or not manifests_of(tables.folder, name):
        tables.drop(name)
    if rows is not None:
        tables.replace(name, rows)
