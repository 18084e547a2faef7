"""The commits of a store whose table of commits is damaged, from everything else that has them.

Nothing of a store can be read without its commits, and they are few and small: they stand in earlier versions of their
table, in the copy of the log, and the newest one in the anchor. So where the table cannot be read whole, all of these
together take its place for readers, in memory. Nothing is written: `repair` puts the table in order.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from mcp_memory.storage.anchor import read_anchor
from mcp_memory.storage.data_files import Table, is_readable, manifests_of
from mcp_memory.storage.journal import Journal
from mcp_memory.storage.lance import import_lancedb
from mcp_memory.storage.log_copy import LOG_COPY, LogCopy
from mcp_memory.storage.salvage import collected
from mcp_memory.storage.schema import COMMITS, Commit, commit_rows, commits_of
from mcp_memory.storage.sums import Sums


class CommitCopies:
    """The commits of one store, as others than their table have them.

    Args:
        folder: of the store; None for a store that is no local folder, which has no copies.
        sums: of its data files.
        log_copy: its copy of the log.
        journal: its newest commits, which are not looked for here.
        earlier: returns a table at one of its versions; None if it cannot be opened.
    """

    def __init__(
        self,
        folder: Path | None,
        sums: Sums,
        log_copy: LogCopy,
        journal: Callable[[], Journal],
        earlier: Callable[[str, int], Table | None],
    ) -> None:
        self._folder = folder
        self._sums = sums
        self._log_copy = log_copy
        self._journal = journal
        self._earlier = earlier
        self._state: list[object] | None = None  # of the files, as of which the others are
        self._table: Table | None = None
        self._text = ""

    def table(self) -> Table | None:
        """Return a table of all commits that are known, in memory; None where that of the store has them all."""
        if self._folder is None:
            return None
        if (state := self._state_now()) != self._state:
            self._state, commits = state, self._found()
            self._table = None
            if commits:
                self._text = self._told(commits)
                self._table = import_lancedb().connect("memory://").create_table(COMMITS, commit_rows(*commits))
        return self._table

    @property
    def problem(self) -> str | None:
        """In words that the table of commits is damaged, and what is known nevertheless; None where it is whole."""
        return self._text if self.table() is not None else None

    def _found(self) -> list[Commit]:
        """Return all commits that are known; none where a readable version of the table has as many.

        A newer version that cannot be read is no damage then: a full disk cut it short, and no commit is in it. Nor is
        the table damaged if the anchor alone is newer than all that it holds: then the journal was lost.
        """
        newest_is_whole, readable = False, 0
        for place, version in enumerate(manifests_of(self._folder, COMMITS)):
            table = self._earlier(COMMITS, version)
            if table is not None and is_readable(table):
                newest_is_whole, readable = place == 0, int(table.count_rows())
                break
        rows = collected(self._folder, COMMITS, self._earlier)
        known = {commit.tx: commit for commit in (commits_of(rows) if rows is not None else ())}
        others = {number: entry.commit for number, entry in self._log_copy.entries().items()}
        anchor = read_anchor(self._folder)
        changed = bool(self._sums.wrong((COMMITS,))) or (anchor is not None and known.get(anchor.tx, anchor) != anchor)
        if any(known[number].at != other.at for number, other in others.items() if number in known) and not changed:
            others = {}  # of another store that was in this place
        damaged = changed or not newest_is_whole or len(known | others) > readable
        if damaged and anchor and all(entry.commit.tx != anchor.tx for entry in self._journal().whole_lines()):
            others.setdefault(anchor.tx, anchor)
        found = known | others if changed else others | known
        if len(found) <= readable and not changed:
            return []
        return [found[number] for number in sorted(found)]

    def _told(self, commits: list[Commit]) -> str:
        last, unknown = commits[-1].tx, commits[-1].tx - len(commits)
        lacking = f"; {unknown} of {last} are gone" if unknown else f", which have all {last} of them"
        return (
            f"The table {COMMITS!r} is damaged. What it said is taken from its earlier versions, the copy of the log "
            f"and the note of the last commit{lacking}."
        )

    def _state_now(self) -> list[object]:
        """Return what changes whenever a file that is read here comes, goes or changes."""
        found: list[object] = []
        folder = self._folder or Path()
        for part in ("data", "_versions"):
            with suppress(OSError), os.scandir(folder / f"{COMMITS}.lance" / part) as files:
                found += sorted((file.name, file.stat().st_mtime_ns, file.stat().st_size) for file in files)
        with suppress(OSError):
            found.append((folder / LOG_COPY).stat().st_size)
        anchor = read_anchor(self._folder)
        return [*found, self._journal().size(), anchor.tx if anchor else 0]
