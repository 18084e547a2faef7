"""Read the log: what each commit recorded that nothing else yields, for an export.

The log tables hold what was said and asserted, and judgements of it. The question pool is derived, but made by calls
and not by a rebuild, so it belongs here as well. Rows that cannot be right are left out with a warning.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.language_model import Job
from mcp_memory.domain.turns import Turn
from mcp_memory.errors import StoreBusy, StoreMismatch
from mcp_memory.storage.columns import has_fault, valid_values
from mcp_memory.storage.commits import last_commit
from mcp_memory.storage.fact_rows import LOGGED, alias_of, assertion_faults, assertions_of, job_faults, jobs_of
from mcp_memory.storage.journal import Entry, newer, rows_of
from mcp_memory.storage.point_rows import lessons_of, points_of, rows_to_questions
from mcp_memory.storage.schema import FORMAT, LogTable, TableRows
from mcp_memory.storage.tables import Tables
from mcp_memory.storage.text_rows import turns_of

ATTEMPTS = 3
"""How often the log is read where a rebuild drops the table of questions meanwhile."""


def read_log(tables: Tables) -> list[Batch]:
    """Return the log as one batch for each commit that has rows in it, in the order of recording. Blocking.

    The batches have turns, assertions of callers and of Claude, lessons (of each judge and episode the first),
    revisions of points, aliases, questions, and of each text the last state of its reading. They have no vectors.

    Raises:
        StoreBusy: the store is rebuilt again and again.
        StoreMismatch: the store has a newer format.
        StoreError: a table cannot be read.
    """
    for _ in range(ATTEMPTS):
        entries, _ = tables.journal.read()  # before the tables, see there
        last = last_commit(tables)
        if last is None:
            return []
        if last.format > FORMAT:
            raise StoreMismatch(
                f"storage.uri {tables.uri!r} was written by a newer mcp-memory (format {last.format}, this program "
                f"knows {FORMAT}). Nothing was read. Update this program."
            )
        questions = last.table("questions")
        batches = _Log(tables, last.tx, newer(entries, last.tx), questions).batches()
        now = last_commit(tables)
        if now is not None and now.table("questions") == questions:
            return batches
    raise StoreBusy(f"storage.uri {tables.uri!r} is being rebuilt. Nothing was read. Try again.")


class _Log:
    """The rows of the log up to one commit in the tables, and of those in the journal, by commit."""

    def __init__(self, tables: Tables, until: int, entries: Sequence[Entry], questions: str) -> None:
        self._tables = tables
        self._entries = entries
        self._until = until
        self._questions = questions
        self._parts: dict[int, dict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))

    def batches(self) -> list[Batch]:
        turns = [*turns_of(self._rows("turns")), *turns_of(rows_of(self._entries, "turns"))]
        for tx, turn in turns:
            self._parts[tx]["turns"].append(turn)
        self._add_facts({turn.id: turn for _, turn in turns})
        judged = set()
        for tx, lesson in lessons_of(self._rows("episodes")):
            if (lesson.space, *lesson.key) not in judged:
                judged.add((lesson.space, *lesson.key))
                self._parts[tx]["lessons"].append(lesson)
        for tx, _, point in points_of(self._rows("points")):
            self._parts[tx]["points"].append(point)
        aliases = self._rows("aliases")
        for tx, _, alias in valid_values("aliases", "alias", aliases.to_pylist() if aliases else (), alias_of):
            self._parts[tx]["aliases"].append(alias)
        for tx, _, question in rows_to_questions(self._rows(self._questions)):
            self._parts[tx]["questions"].append(question)
        self._add_jobs()
        return [_batch_of(part) for _, part in sorted(self._parts.items())]

    def _rows(self, name: LogTable | str) -> TableRows | None:
        rows = self._tables.rows(name, f"tx <= {self._until}")
        return rows if rows is not None and len(rows) else None

    def _add_facts(self, turns: dict[str, Turn]) -> None:
        placed: list[tuple[int, int, Assertion]] = []
        for rows in filter(None, (self._rows("facts"), rows_of(self._entries, "facts"))):
            places = rows["tx"].to_pylist(), rows["place"].to_pylist()
            for tx, place, fact in zip(*places, assertions_of(rows), strict=True):
                turn = turns.get(fact.turn_id)
                faults = assertion_faults(fact, (turn.space, len(turn.text)) if turn else None, LOGGED)
                if not has_fault("facts", fact.id, tx, faults):
                    placed.append((tx, place, fact))
        for tx, _, fact in sorted(placed, key=lambda entry: entry[:2]):
            self._parts[tx]["assertions"].append(fact)

    def _add_jobs(self) -> None:
        rows = self._rows("jobs")
        if rows is None:
            return
        latest: dict[str, tuple[int, Job]] = {}
        for tx, job in jobs_of(rows.sort_by([("tx", "ascending"), ("place", "ascending")])):
            if not has_fault("jobs", job.turn_id, tx, job_faults(job)):
                latest.pop(job.turn_id, None)
                latest[job.turn_id] = tx, job
        for tx, job in latest.values():
            self._parts[tx]["jobs"].append(job)


def _batch_of(part: Mapping[str, Sequence[Any]]) -> Batch:
    return Batch(
        turns=tuple(part.get("turns", ())),
        assertions=tuple(part.get("assertions", ())),
        lessons=tuple(part.get("lessons", ())),
        points=tuple(part.get("points", ())),
        aliases=tuple(part.get("aliases", ())),
        questions=tuple(part.get("questions", ())),
        jobs=tuple(part.get("jobs", ())),
    )
