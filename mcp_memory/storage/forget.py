"""Forget: rewrite every table without some rows, and leave no file that holds them. The log's one exception.

What was chosen is written down first, by ids, in the table ``forgotten`` (`begin`). From then on the forget is finished
by whoever comes next, whatever happens to this process: no process reads or writes before that (`Forgetting.finish`).

1. Points, aliases, lessons, facts and jobs are rewritten without the rows that go.
2. The derived tables are copied without them into a new generation; beliefs are learnt again where lessons went.
3. The texts are rewritten. They go last: what rests on them is worked out from them, again after a crash.
4. The commits are rewritten with the counts of what is left, together with a commit of the new generation. Every other
   process loads the memory again when it sees that.
5. The backups that the store made by itself lose it, too, and what lies in other places is removed or named
   (``elsewhere.py``).
6. All tables of other generations and all earlier versions of the others are removed, and the note of what was chosen
   with them. What remains in ``forgotten`` is when, by whom, how many, and keyed hashes of the ids.

Each table is replaced by one version of its own, so every step is done or not, and doing it twice changes nothing. The
number of the new generation is never used by a rebuild that runs meanwhile: that one sees the new generation, drops its
own tables and gives up (``rebuild.py``, ``reread.py``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any

from anyio import to_thread

from mcp_memory.domain.entities import Alias
from mcp_memory.domain.forgetting import ForgetTargets
from mcp_memory.domain.times import Millis
from mcp_memory.storage.backups import without_compaction
from mcp_memory.storage.commits import commit_switch, last_commit
from mcp_memory.storage.copies import write_anchor
from mcp_memory.storage.data_files import flush
from mcp_memory.storage.forgotten import Work, purge, read_book, write_book
from mcp_memory.storage.mapped import remove_vectors
from mcp_memory.storage.own_files import needless_files
from mcp_memory.storage.rebuild import Embed, Relearn, Relearning
from mcp_memory.storage.rows import right_rows, row_faults, rows_of, values_of
from mcp_memory.storage.saved_view import remove_views
from mcp_memory.storage.schema import (
    COMMITS,
    DERIVED_TABLES,
    FORGOTTEN,
    LOG_TABLES,
    Commit,
    DerivedTable,
    TableKind,
    TableRows,
    commit_rows,
    commits_of,
    generation_of,
    table_name,
)
from mcp_memory.storage.tables import Tables
from mcp_memory.view.erasure import Erasure
from mcp_memory.view.resting import erasure_of
from mcp_memory.view.view import View

Elsewhere = Callable[[ForgetTargets], Awaitable[tuple[str, ...]]]
"""Forgets the targets in all places outside of the store's folder, and returns in words where they may still be."""


class Forgetting:
    """Carries out the work that `begin` has written down; the write lock must be held all the time.

    Args:
        tables: the tables of the store.
        embed: of the descriptions of points that are made again; None leaves them without vectors.
        relearn: makes beliefs of lessons.
        elsewhere: forgets in backups and wherever else something was written.
        clock: milliseconds since 1970, UTC.
    """

    def __init__(
        self,
        tables: Tables,
        embed: Embed | None,
        relearn: Relearn,
        elsewhere: Elsewhere,
        clock: Callable[[], Millis],
    ) -> None:
        self._elsewhere = elsewhere
        self._tables = tables
        self._embed = embed
        self._relearn = relearn
        self._clock = clock

    async def finish(self, work: Work, last: Commit, load: Callable[[], View]) -> tuple[str, ...]:
        """Do what is left to do, and return in words where outside of the store it may still be.

        Args:
            work: what was begun.
            last: the last commit.
            load: returns a view as of that commit, with all segments and sentences. Blocking.

        Raises:
            StoreUnwritable: it could not be finished now; the next call goes on.
        """
        async with without_compaction(self._tables):
            if last.generation != work.generation:
                if await to_thread.run_sync(self._texts_are_there, work.targets):
                    view = await to_thread.run_sync(load)
                    found = await to_thread.run_sync(erasure_of, view.space(work.targets.space), work.targets)
                    await to_thread.run_sync(self._rewrite_log, last, found)
                    await to_thread.run_sync(self._drop_generation, work.generation)
                    await to_thread.run_sync(self._copy_derived, last, found, work)
                    await self._learn_and_embed(last, work)
                    await to_thread.run_sync(self._rewrite, "turns", _turn_filter(found))
                await to_thread.run_sync(self._switch, last, work)
            left = await self._elsewhere(work.targets)
            await to_thread.run_sync(self._clean, work)
        return left

    def _texts_are_there(self, targets: ForgetTargets) -> bool:
        """Return whether the texts were not rewritten yet; what chooses no texts can be done twice."""
        if targets.everything or not targets.turns:
            return True
        rows = self._tables.rows("turns", None, ["id"])
        return rows is not None and not targets.turns.isdisjoint(rows["id"].to_pylist())

    # The log

    def _rewrite_log(self, last: Commit, found: Erasure) -> None:
        self._rewrite_points(last, found)
        self._rewrite("aliases", _alias_filter(found))
        self._rewrite_lessons(found)
        self._rewrite("facts", _fact_filter(found))
        self._rewrite("jobs", _turn_filter(found, "turn_id"))

    def _rewrite(self, name: str, keep: Callable[[TableRows], list[bool]]) -> None:
        """Replace a table by those of its rows that ``keep`` keeps."""
        rows = self._tables.rows(name)
        if rows is None:
            return
        kept = keep(rows)
        if not all(kept):
            self._tables.replace(name, _in_order(_chosen(rows, kept)))

    def _rewrite_points(self, last: Commit, found: Erasure) -> None:
        """Replace the points; those that are made again belong to the commit that is to come."""
        rows = self._tables.rows("points")
        if rows is None:
            return
        import pyarrow as pa

        parts, changed = [], False
        for place, point in enumerate(values_of("points", rows)):
            if point.space != found.targets.space:
                parts.append(rows.slice(place, 1))
                continue
            if next(row_faults("points", point), None):  # a bad row: nobody knows what it says
                changed = True
                continue
            left = found.point(point)
            changed |= left != point
            if left is not None:
                made = rows.slice(place, 1)
                if left != point:
                    tx, at = rows["tx"][place].as_py(), rows["place"][place].as_py()
                    made = _like(rows, rows_of("points", [left], [tx], [at]))
                parts.append(made)
        if found.remade:
            tx = last.tx + 1
            parts.append(_like(rows, rows_of("points", found.remade, [tx] * len(found.remade))))
            changed = True
        if changed:
            self._tables.replace("points", _in_order(pa.concat_tables(parts) if parts else rows.slice(0, 0)))

    def _rewrite_lessons(self, found: Erasure) -> None:
        rows = self._tables.rows("episodes")
        if rows is None:
            return
        import pyarrow as pa

        parts, changed = [], False
        spaces, names, judges = (rows[name].to_pylist() for name in ("space", "episode_id", "source"))
        for place, (space, *key) in enumerate(zip(spaces, names, judges, strict=True)):
            lesson = found.lessons.get((key[0], key[1]), ...) if space == found.targets.space else ...
            if found.targets.everything and space == found.targets.space:
                lesson = None
            if lesson is ...:
                parts.append(rows.slice(place, 1))
                continue
            changed = True
            if lesson is not None:
                tx, at = rows["tx"][place].as_py(), rows["place"][place].as_py()
                parts.append(_like(rows, rows_of("episodes", [lesson], [tx], [at])))
        if changed:
            self._tables.replace("episodes", _in_order(pa.concat_tables(parts) if parts else rows.slice(0, 0)))

    # The derived tables

    def _drop_generation(self, generation: int) -> None:
        """Drop what an earlier attempt has made."""
        for name in self._tables.names():
            if generation_of(name) == generation:
                self._tables.drop(name)

    def _copy_derived(self, last: Commit, found: Erasure, work: Work) -> None:
        here, whole = found.targets.space, found.targets.everything
        revisions = self._tables.rows("points", None, ["tx", "place"])
        places = set(zip(*(revisions[n].to_pylist() for n in ("tx", "place")), strict=True)) if revisions else set()

        def of_questions(rows: TableRows) -> list[bool]:
            columns = (rows[name].to_pylist() for name in ("space", "segment_id", "text"))
            return [space != here or found.keeps_question(*asked) for space, *asked in zip(*columns, strict=True)]

        def of_sentences(rows: TableRows) -> list[bool]:
            pairs = zip(rows["space"].to_pylist(), rows["sentence_id"].to_pylist(), strict=True)
            return [space != here or not (whole or sentence in found.sentences) for space, sentence in pairs]

        def of_points(rows: TableRows) -> list[bool]:
            return [pair in places for pair in zip(rows["tx"].to_pylist(), rows["place"].to_pylist(), strict=True)]

        filters: dict[DerivedTable, Callable[[TableRows], list[bool]]] = {
            "segments": _turn_filter(found, "turn_id"),
            "sentences": _turn_filter(found, "turn_id"),
            "assertions": _fact_filter(found),
            "questions": of_questions,
            "point_vectors": of_points,
            "beliefs": of_sentences,
        }
        for kind in DERIVED_TABLES:
            if kind == "beliefs" and work.relearn:
                continue
            rows = self._tables.rows(last.table(kind))
            if rows is not None:
                kept = _in_order(_chosen(rows, filters[kind](rows)))
                self._tables.append(table_name(kind, work.generation, last.reader), kept)

    async def _learn_and_embed(self, last: Commit, work: Work) -> None:
        """Make the beliefs again where lessons went, and the vectors of the points that were made again."""
        if work.relearn:
            learning = Relearning(self._tables, work.generation, self._relearn)
            await learning.catch_up(last.tx)
            if (rows := learning.rows()) is not None:
                name = table_name("beliefs", work.generation, last.reader)
                await to_thread.run_sync(self._tables.append, name, rows)
        made = right_rows("points", await to_thread.run_sync(self._tables.rows, "points", f"tx > {last.tx}"))
        if made and self._embed is not None:
            txs, places, points, _ = zip(*made, strict=True)
            vectors = await self._embed([point.description for point in points])
            name = table_name("point_vectors", work.generation, last.reader)
            await to_thread.run_sync(self._tables.append, name, rows_of("point_vectors", points, txs, places, vectors))

    # The switch

    def _switch(self, last: Commit, work: Work) -> None:
        """Write the commits with the counts of what is left, and with the commit that switches over."""
        rows = self._tables.rows(COMMITS)
        commits = commits_of(rows)
        counts: dict[TableKind, Counter[int]] = {}
        pieces: tuple[DerivedTable, ...] = ("segments", "sentences", "questions")
        for kind in (*LOG_TABLES, *pieces):
            found = self._tables.rows(table_name(kind, work.generation, last.reader), None, ["tx"])
            counts[kind] = Counter(found["tx"].to_pylist()) if found is not None else Counter()
        left = [_counted(commit, counts) for commit in commits]
        derived: tuple[DerivedTable, ...] = ("segments", "sentences", "assertions", "beliefs")
        sizes = {kind: self._tables.count(table_name(kind, work.generation, last.reader)) for kind in derived}
        points = counts["points"][last.tx + 1]
        switch = last.switched(self._clock(), generation=work.generation, points=points, **sizes)
        switch = commit_switch(self._tables, switch)
        self._tables.replace(COMMITS, commit_rows(*left, switch))
        write_anchor(self._tables.folder, switch)

    def _clean(self, work: Work) -> None:
        """Remove every file that may hold something of it, and then the note of what was chosen."""
        tables = self._tables
        remove_views(tables)
        if tables.folder is not None:
            flush(tables.folder)
        left = {path.stem for path in tables.folder.glob("*.lance")} if tables.folder is not None else set()
        for name in sorted({*tables.names(), *left}):
            generation = generation_of(name)
            if generation is not None and generation != work.generation:
                tables.drop(name)
        for name in (*LOG_TABLES, COMMITS):
            purge(tables, name)
        tables.log_copy.remove()
        if tables.folder is not None:
            remove_vectors(tables.folder)
            for path in needless_files(tables.folder):
                path.unlink(missing_ok=True)
        book = read_book(tables)
        last = last_commit(tables)
        tables.journal.clear(last.tx if last else 0)  # but for the switch, which holds no rows
        write_book(tables, book.records, None)  # from here on nobody would look for anything of it
        purge(tables, FORGOTTEN)
        tables.sums.tidy(tables.names())
        tables.journal.end_forgetting()


# Rows


def _counted(commit: Commit, counts: Mapping[TableKind, Counter[int]]) -> Commit:
    """Return a commit that counts the rows that are left of it."""
    left: dict[str, Any] = {kind: counted[commit.tx] for kind, counted in counts.items()}
    return replace(commit, **left)


def _turn_filter(found: Erasure, column: str = "id") -> Callable[[TableRows], list[bool]]:
    def keep(rows: TableRows) -> list[bool]:
        pairs = zip(rows["space"].to_pylist(), rows[column].to_pylist(), strict=True)
        here, whole = found.targets.space, found.targets.everything
        return [space != here or not (whole or name in found.turns) for space, name in pairs]

    return keep


def _fact_filter(found: Erasure) -> Callable[[TableRows], list[bool]]:
    def keep(rows: TableRows) -> list[bool]:
        columns = (rows[name].to_pylist() for name in ("space", "turn_id", "id"))
        here = found.targets.space
        return [space != here or found.keeps_assertion(turn, name) for space, turn, name in zip(*columns, strict=True)]

    return keep


def _alias_filter(found: Erasure) -> Callable[[TableRows], list[bool]]:
    def keeps(alias: Alias) -> bool:
        return next(row_faults("aliases", alias), None) is None and found.keeps_alias(alias)

    here = found.targets.space
    return lambda rows: [alias.space != here or keeps(alias) for alias in values_of("aliases", rows)]


def _chosen(rows: TableRows, kept: list[bool]) -> TableRows:
    import pyarrow as pa

    return rows.filter(pa.array(kept, pa.bool_()))


def _in_order(rows: TableRows) -> TableRows:
    """Return rows in the order of their commits, in which refreshes look for the newest."""
    import numpy as np

    order = np.argsort(rows["tx"].to_numpy(), kind="stable")
    return rows.take(order)


def _like(rows: TableRows, made: TableRows) -> TableRows:
    """Return made rows with exactly the columns that the stored ones have."""
    return made.select(rows.schema.names).cast(rows.schema)
