"""Check a store: quickly, from its last commit alone, and thoroughly, by reading every row (`mcp-memory doctor`).

Both read as any reader does and change nothing. The thorough check reads rows a few thousand at a time, so that a large
store is checked with little memory. Segments, sentences and assertions may be of any earlier turn, so the lengths of
all turns are kept in memory.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from mcp_memory.domain.status import Remedy, StoreStatus
from mcp_memory.domain.times import DAY, Millis
from mcp_memory.domain.turns import Segment, Sentence, Turn
from mcp_memory.errors import StoreError
from mcp_memory.storage.columns import vector_faults, vectors_of
from mcp_memory.storage.commits import last_commit, newest
from mcp_memory.storage.damage import SUPERSEDED, Damage
from mcp_memory.storage.data_files import size_in_bytes
from mcp_memory.storage.fact_rows import DERIVED, LOGGED, alias_of, assertion_faults, assertions_of, job_faults, jobs_of
from mcp_memory.storage.journal import newer
from mcp_memory.storage.point_rows import (
    belief_faults,
    beliefs_of,
    lesson_of,
    lesson_records,
    point_of,
    question_faults,
)
from mcp_memory.storage.schema import (
    COMMITS,
    DERIVED_TABLES,
    FORGOTTEN,
    FORMAT,
    LOG_TABLES,
    READABLE,
    Commit,
    TableKind,
    TableRows,
    commits_of,
    split_commits,
)
from mcp_memory.storage.tables import Tables
from mcp_memory.storage.text_rows import piece_faults, segments_of, sentences_of, turn_faults, unchecked_turns

SHOWN = 3
"""How many rows with the same fault are named."""
FIRST_MS: Millis = -62_135_596_800_000
"""0001-01-01, the first day that a date can name."""
LAST_MS: Millis = 253_402_300_800_000
"""10000-01-01, the first day that none can."""

Severity = Literal["error", "warning", "note"]
ORDER: tuple[Severity, ...] = ("error", "warning", "note")


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem that the thorough check found.

    Attributes:
        severity: an error means lost or unreadable data; a warning means worse recall; a note is harmless.
        text: the text for a person.
    """

    severity: Severity
    text: str


def check(tables: Tables, *, now: Millis) -> list[Finding]:
    """Check every row and return the problems, worst first.

    Args:
        tables: the tables of the store.
        now: milliseconds since 1970, UTC; rows written later are reported.
    """
    faults: dict[tuple[Severity, str], list[str]] = defaultdict(list)
    try:
        for severity, problem, row in _faults(tables, now):
            faults[severity, problem].append(row)
    except StoreError as error:
        faults["error", str(error)] = []
    findings = [Finding(severity, problem + _row_names(rows)) for (severity, problem), rows in faults.items()]
    return sorted(findings, key=lambda finding: ORDER.index(finding.severity))


UNINDEXED: tuple[Severity, str] = "note", "turns: not indexed yet (harmless: any server that runs on the store does it)"
Fault = tuple[Severity, str, str]
"""Severity, problem, and the row that has it."""


def _faults(tables: Tables, now: Millis) -> Iterator[Fault]:
    last = last_commit(tables)
    if last is None:
        return
    if not READABLE <= last.format <= FORMAT:
        yield "error", f"the store has another format than this program's {FORMAT}", str(last.format)
        return
    rows = tables.rows(COMMITS)
    commits = commits_of(rows) if rows is not None else []
    rebuilt = min(commit.tx for commit in commits if commit.generation == last.generation) if last.generation else 0
    others = [commit.tx for commit in commits if (commit.generation, commit.reader) != (last.generation, last.reader)]
    reread = max(others, default=-1) + 1  # the commit since which the assertions are in their table
    yield from _commit_faults(commits, last, now)
    for entry in newer(tables.journal.whole_lines(), last.tx):
        turns = entry.rows.get("turns", ())
        for row in turns if isinstance(turns, Sequence) else turns.to_pylist():  # of a bucket they are an Arrow table
            if row["text"].strip():
                yield *UNINDEXED, row["id"]
    names = last.tables
    for name in names:
        if tables.count(name, f"tx > {last.tx}"):
            yield "note", "rows above the last commit (harmless: a write under way, or one that died)", name
    for name in sorted(set(tables.names()) - {COMMITS, FORGOTTEN, *names}):
        yield "note", "tables of another generation (harmless: a rebuild under way, or one that is over)", name
    after = 0
    known: dict[str, tuple[str, int]] = {}
    judged: set[tuple[str, str, str]] = set()
    sentence_ids: set[str] = set()
    worded: set[str] = set()  # turns that have words
    cut: dict[str, set[str]] = {"segments": set(), "sentences": set()}  # turns with pieces, by their tables
    last_with = {kind: max((c.tx for c in commits if c.count(kind)), default=0) for kind in SUPERSEDED}
    for until in [part[-1].tx for part in split_commits(commits)]:
        where = f"tx > {after} AND tx <= {until}"
        part = [commit for commit in commits if after < commit.tx <= until]
        read = {kind: tables.rows(last.table(kind), where) for kind in (*LOG_TABLES, *DERIVED_TABLES)}
        turns, sentences = read["turns"], read["sentences"]
        stored = [turn for _, turn in unchecked_turns(turns)] if turns is not None else []
        yield from _turn_faults(stored, known, now)
        known |= {turn.id: (turn.space, len(turn.text or "")) for turn in stored}
        worded |= {turn.id for turn in stored if turn.text and turn.text.strip()}
        yield from _piece_faults(known, read["segments"], sentences, last.dimension, cut)
        yield from _faults_of_assertions(read["facts"], read["assertions"], known)
        yield from _lesson_faults(read["episodes"], judged)
        if last_with["beliefs"] and sentences is not None:
            sentence_ids.update(sentences["id"].to_pylist())
        yield from _belief_faults(read["beliefs"], sentence_ids, last.dimension)
        yield from _point_faults(read["points"], read["point_vectors"], last.dimension)
        yield from _alias_and_question_faults(read["aliases"], read["questions"], last.dimension)
        yield from _job_faults(read["jobs"], known)
        yield from _count_faults(part, rebuilt, reread, last_with, read)
        after = until
    for table, turns_with in cut.items():
        for turn in sorted(worded - turns_with):
            if turn in cut["segments"] | cut["sentences"]:
                yield "warning", f"turns: there are no {table} of it (mcp-memory doctor --rebuild makes them)", turn
            elif table == "segments":
                yield *UNINDEXED, turn


def _commit_faults(commits: list[Commit], last: Commit, now: Millis) -> Iterator[Fault]:
    numbers = Counter(commit.tx for commit in commits)
    for number, count in numbers.items():
        if count > 1:
            yield "error", "commits written twice (two processes wrote without a common lock)", str(number)
    for number in range(1, last.tx + 1):
        if number not in numbers:
            yield "error", "commits that are missing", str(number)
    spent: Counter[int] = Counter()
    for commit in commits:
        if commit.at > now + DAY:
            yield "warning", "commits written in the future (was the clock wrong?)", str(commit.tx)
        spent[commit.day] += commit.input_tokens
    for day, tokens in spent.items():
        if tokens < 0:
            yield "warning", "commits: less than nothing was spent on a day", f"day {day} of 1970"


def _turn_faults(turns: Iterable[Turn], known: Container[str], now: Millis) -> Iterator[Fault]:
    ids = set()
    for turn in turns:
        faults = list(turn_faults(turn))
        for fault in faults:
            yield "error", f"turns: {fault}", turn.id
        if turn.id in ids or turn.id in known:
            yield "error", "turns: the id stands twice", turn.id
        ids.add(turn.id)
        if not faults and turn.written_at > now + DAY:
            yield "warning", "turns: written in the future (was the clock wrong?)", turn.id
        if turn.said_at is not None and not FIRST_MS <= turn.said_at < LAST_MS:
            yield "warning", "turns: said at a time that is no date", turn.id


def _piece_faults(
    known: Mapping[str, tuple[str, int]],
    segments: TableRows | None,
    sentences: TableRows | None,
    dimension: int,
    cut: dict[str, set[str]],
) -> Iterator[Fault]:
    """Yield the faults of pieces of known turns, and add those turns to the ones that are cut."""
    kinds: list[tuple[str, TableRows | None, Callable[[TableRows], Iterator[Segment | Sentence]]]] = [
        ("segments", segments, segments_of),
        ("sentences", sentences, sentences_of),
    ]
    for table, rows, read in kinds:
        if rows is not None:
            vectors = vectors_of(rows)
            if vectors.shape[1] != dimension:
                yield "error", f"{table}: their vectors do not have the {dimension} numbers that the commits say", table
            for piece, vector in zip(read(rows), vectors, strict=True):
                cut[table].add(piece.turn_id)
                for fault in piece_faults(piece, known.get(piece.turn_id), vector):
                    yield "warning", f"{table}: {fault}", piece.id


def _faults_of_assertions(
    facts: TableRows | None, assertions: TableRows | None, known: Mapping[str, tuple[str, int]]
) -> Iterator[Fault]:
    if facts is not None:
        for fact in assertions_of(facts):
            for fault in assertion_faults(fact, known.get(fact.turn_id), LOGGED):
                yield "error", f"facts: {fault}", fact.id
    if assertions is not None:
        for assertion in assertions_of(assertions):
            for fault in assertion_faults(assertion, known.get(assertion.turn_id), DERIVED):
                yield "warning", f"assertions: {fault}", assertion.id


def _lesson_faults(episodes: TableRows | None, judged: set[tuple[str, str, str]]) -> Iterator[Fault]:
    for row in lesson_records(episodes):
        key = row["space"], row["episode_id"], row["source"]
        lesson = lesson_of(row)
        if isinstance(lesson, str):
            yield "error", f"episodes: {lesson}", row["episode_id"]
        elif key in judged:
            yield "note", "episodes: a judge spoke of it twice (harmless: the first word counts)", row["episode_id"]
        elif isinstance(episode := lesson.episode(), str):
            yield "error", f"episodes: {episode} (what it taught counts all the same)", row["episode_id"]
        judged.add(key)


def _belief_faults(beliefs: TableRows | None, sentences: Container[str], dimension: int) -> Iterator[Fault]:
    for _, belief in beliefs_of(beliefs) if beliefs is not None else ():
        for fault in belief_faults(belief, dimension):
            yield "warning", f"beliefs: {fault}", belief.sentence_id
        if belief.sentence_id not in sentences:
            yield "warning", "beliefs: of no stored sentence", belief.sentence_id


def _point_faults(points: TableRows | None, vectors: TableRows | None, dimension: int) -> Iterator[Fault]:
    names: dict[tuple[int, int], str] = {}
    for row in points.to_pylist() if points is not None else ():
        names[row["tx"], row["place"]] = row["id"]
        point = point_of(row)
        if isinstance(point, str):
            yield "error", f"points: {point}", row["id"]
    with_vector = set()
    if vectors is not None:
        numbers = zip(vectors["tx"].to_pylist(), vectors["place"].to_pylist(), strict=True)
        for number, vector in zip(numbers, vectors_of(vectors), strict=True):
            with_vector.add(number)
            for fault in vector_faults(vector, dimension):
                yield "warning", f"point vectors: {fault}", names.get(number, f"commit {number[0]}")
    for number, name in names.items():
        if number not in with_vector:
            yield "warning", "points: there is no vector of it (mcp-memory doctor --rebuild makes it)", name


def _alias_and_question_faults(
    aliases: TableRows | None, questions: TableRows | None, dimension: int
) -> Iterator[Fault]:
    for row in aliases.to_pylist() if aliases is not None else ():
        if isinstance(fault := alias_of(row), str):
            yield "error", f"aliases: {fault}", str(row["alias"])
    for text, fault in question_faults(questions, dimension) if questions is not None else ():
        yield "warning", f"questions: {fault}", text


def _job_faults(jobs: TableRows | None, known: Mapping[str, tuple[str, int]]) -> Iterator[Fault]:
    for _, job in jobs_of(jobs) if jobs is not None else ():
        for fault in job_faults(job):
            yield "warning", f"jobs: {fault} (the row before it counts, or none)", str(job.turn_id)
        if job.turn_id not in known or known[job.turn_id][0] != job.space:
            yield "warning", "jobs: of no stored turn of its space", str(job.turn_id)


def _count_faults(
    commits: list[Commit],
    rebuilt: int,
    reread: int,
    last_with: Mapping[TableKind, int],
    read: Mapping[TableKind, TableRows | None],
) -> Iterator[Fault]:
    """Compare the rows of each commit with the counts in it; derived ones only if no rebuild replaced them.

    Of `SUPERSEDED` tables only the last commit with rows must still have all of them.

    Args:
        commits: in order.
        rebuilt: the number of the last rebuild's commit, 0 without one; no derived row carries it or counts before it.
        reread: likewise for the assertions, which are read again without a rebuild too.
        last_with: for each `SUPERSEDED` table, the number of the last commit with rows in it.
        read: the rows of these commits, in the order of the tables.
    """
    for kind, rows in read.items():
        stored = Counter(rows["tx"].to_pylist()) if rows is not None else Counter()
        for commit in commits:
            count, expected = stored[commit.tx], commit.count(kind)
            compacted = commit.tx < last_with.get(kind, 0) and count < expected
            since = reread if kind == "assertions" else rebuilt
            if (kind in LOG_TABLES or commit.tx > since) and count != expected and not compacted:
                yield "error", f"{kind}: a commit has other rows than it says", f"commit {commit.tx}"


def _row_names(rows: list[str]) -> str:
    if not rows:
        return ""
    more = f" and {len(rows) - SHOWN} more" if len(rows) > SHOWN else ""
    return ": " + ", ".join(map(str, rows[:SHOWN])) + more


# Status


def store_status(tables: Tables, embedder: str, dimension: int, examine: Callable[[], Damage]) -> StoreStatus:
    """Return the state of a store without reading its rows; who holds it and what it does just now are left open.

    Args:
        tables: the tables of the store.
        embedder: the configured model.
        dimension: the dimension of its vectors.
        examine: takes one look.
    """
    latest, last, damage = None, None, examine()
    problems, notes = [*damage.problems], tuple[str, ...]()
    remedy: Remedy = "--repair" if damage.log else ""
    try:
        last, latest = last_commit(tables), newest(tables)
        notes = tables.place.notes
    except StoreError as error:
        problems = problems or [str(error)]
    if last and not READABLE <= last.format <= FORMAT:
        told = (
            "It is made again from its log when a server opens it, or now by `mcp-memory doctor --rebuild`."
            if last.format < FORMAT
            else "Update this program."
        )
        problems.append(f"The store has format {last.format}, this program knows {FORMAT}. {told}")
        remedy = remedy or ("--rebuild" if last.format < FORMAT else "")
    if last and (last.embedder, last.dimension) != (embedder, dimension):
        problems.append(
            f"The store's vectors were made by {last.embedder!r}, configured is {embedder!r}: "
            "run `mcp-memory doctor --re-embed`."
        )
        remedy = remedy or "--re-embed"
    if tables.folder and not _can_be_written_to(tables.folder):
        problems.append(f"storage.uri {tables.uri!r} cannot be written to.")
    return StoreStatus(
        uri=tables.uri if tables.folder is None else str(tables.folder),  # where it was moved to
        bytes=None if tables.folder is None else size_in_bytes(tables.folder),
        tx=latest.tx if latest else 0,
        generation=last.generation if last else 0,
        format=last.format if last else FORMAT,
        embedder=last.embedder if last else None,
        holders=(),
        queue=0,
        problems=tuple(problems),
        remedy=remedy or ("--rebuild" if damage.derived else ""),
        notes=notes,
    )


def _can_be_written_to(folder: Path) -> bool:
    """Return whether files can be added to a folder, or the folder can be created if it does not exist yet."""
    try:
        existing = next(path for path in (folder, *folder.parents) if path.exists())
    except OSError:  # it lies behind a folder without access, or behind a file
        return False
    return existing.is_dir() and os.access(existing, os.W_OK | os.X_OK)
