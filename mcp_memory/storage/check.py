"""What doctor asks: is everything there, does it hang together, can it be right?

It reads as any reader does and changes nothing. Rows come a few thousand at a time, so that a large memory is checked
in little space; pieces carry the number of their turn's commit, so what belongs together is read together. What callers
assert, and what Claude reads, may be about any earlier turn: of those we keep in mind how long they are.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from mcp_memory.domain.times import Millis
from mcp_memory.domain.turns import Segment, Sentence, Turn
from mcp_memory.errors import StoreError
from mcp_memory.storage.aliases import alias_of
from mcp_memory.storage.assertions import DERIVED, LOGGED, assertion_faults, assertions_of
from mcp_memory.storage.beliefs import belief_faults, beliefs_of
from mcp_memory.storage.jobs import job_faults, numbered_jobs_of
from mcp_memory.storage.lessons import lesson_of, records_of
from mcp_memory.storage.names import ALIASES, COMMITS, EPISODES, FACTS, JOBS, POINTS, TURNS, tables_of
from mcp_memory.storage.pieces import piece_faults, segments_of, sentences_of, vectors_of
from mcp_memory.storage.points import point_of, point_vector_faults
from mcp_memory.storage.questions import question_faults
from mcp_memory.storage.refresh import last_commit, parts
from mcp_memory.storage.rows import all_turns_of, commits_of, turn_faults
from mcp_memory.storage.schemas import FORMAT, READABLE, Commit, Rows
from mcp_memory.storage.tables import Tables

SHOWN = 3
"""Of many of a kind so many are named."""
DAY_MS: Millis = 24 * 3600 * 1000
FIRST_MS: Millis = -62_135_596_800_000
"""0001-01-01, the first day that a date can name."""
LAST_MS: Millis = 253_402_300_800_000
"""10000-01-01, the first day that none can."""

LOG = frozenset({TURNS, FACTS, EPISODES, POINTS, ALIASES, JOBS})
"""What no rebuild can make anew."""

SUPERSEDED = ("beliefs", "jobs")
"""Of what rows may be gone that later ones have taken the place of (``compaction.py``)."""

Severity = Literal["error", "warning", "note"]
ORDER: tuple[Severity, ...] = ("error", "warning", "note")


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that doctor found.

    Attributes:
        severity: an error is something lost or unreadable; a warning costs something in recall; a note is harmless.
        text: for a person.
    """

    severity: Severity
    text: str


def check(tables: Tables, *, now: Millis) -> list[Finding]:
    """Look at every row and return what is wrong, worst first; empty if all is well.

    Args:
        tables: of the store.
        now: milliseconds since 1970, UTC; nothing was written after it.
    """
    faults: dict[tuple[Severity, str], list[str]] = defaultdict(list)
    try:
        for severity, what, where in _faults(tables, now):
            faults[severity, what].append(where)
    except StoreError as error:
        faults["error", str(error)] = []
    found = [Finding(severity, what + _named(rows)) for (severity, what), rows in faults.items()]
    return sorted(found, key=lambda finding: ORDER.index(finding.severity))


Fault = tuple[Severity, str, str]
"""How bad, what it is, and the row that has it."""


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
    yield from _commit_faults(commits, last, now)
    names = tables_of(last.generation)
    for name in names:
        if tables.count(name, f"tx > {last.tx}"):
            yield "note", "rows above the last commit (harmless: a write under way, or one that died)", name
    for name in sorted(set(tables.names()) - {COMMITS, *names}):
        yield "note", "tables of another generation (harmless: a rebuild under way, or one that is over)", name
    after = 0
    known: dict[str, tuple[str, int]] = {}
    judged: set[tuple[str, str, str]] = set()
    cut: set[str] = set()
    kept = {name: max((c.tx for c in commits if getattr(c, name)), default=0) for name in SUPERSEDED}
    for until in [part[-1].tx for part in parts(commits)]:
        within = [commit for commit in commits if after < commit.tx <= until]
        read = [tables.rows(name, f"tx > {after} AND tx <= {until}") for name in names]
        turns, facts, episodes, points, aliases, jobs, *derived = read
        segments, sentences, assertions, beliefs, point_vectors, asked = derived
        stored = [turn for _, turn in all_turns_of(turns)] if turns is not None else []
        yield from _turn_faults(stored, known, now)
        known |= {turn.id: (turn.space, len(turn.text or "")) for turn in stored}
        yield from _piece_faults({turn.id: turn for turn in stored}, segments, sentences, last.dimension)
        yield from _assertion_faults(facts, assertions, known)
        yield from _lesson_faults(episodes, judged)
        if kept["beliefs"] and sentences is not None:
            cut.update(sentences["id"].to_pylist())
        yield from _belief_faults(beliefs, cut, last.dimension)
        yield from _point_faults(points, point_vectors, last.dimension)
        yield from _pool_faults(aliases, asked, last.dimension)
        yield from _job_faults(jobs, known)
        yield from _torn(within, rebuilt, kept, read)
        after = until


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
        if commit.at > now + DAY_MS:
            yield "warning", "commits written in the future (was the clock wrong?)", str(commit.tx)
        spent[commit.day] += commit.input_tokens
    for day, tokens in spent.items():
        if tokens < 0:
            yield "warning", "commits: less than nothing was spent on a day", f"day {day} of 1970"


def _turn_faults(turns: Iterable[Turn], known: Container[str], now: Millis) -> Iterator[Fault]:
    seen = set()
    for turn in turns:
        faults = list(turn_faults(turn))
        for fault in faults:
            yield "error", f"turns: {fault}", turn.id
        if turn.id in seen or turn.id in known:
            yield "error", "turns: the id stands twice", turn.id
        seen.add(turn.id)
        if not faults and turn.written_at > now + DAY_MS:
            yield "warning", "turns: written in the future (was the clock wrong?)", turn.id
        if turn.said_at is not None and not FIRST_MS <= turn.said_at < LAST_MS:
            yield "warning", "turns: said at a time that is no date", turn.id


def _piece_faults(
    turns: dict[str, Turn], segments: Rows | None, sentences: Rows | None, dimension: int
) -> Iterator[Fault]:
    kinds: list[tuple[str, Rows | None, Callable[[Rows], Iterator[Segment | Sentence]]]] = [
        ("segments", segments, segments_of),
        ("sentences", sentences, sentences_of),
    ]
    for table, rows, read in kinds:
        bare = set(turns)
        if rows is not None:
            vectors = vectors_of(rows)
            if vectors.shape[1] != dimension:
                yield "error", f"{table}: their vectors do not have the {dimension} numbers that the commits say", table
            for piece, vector in zip(read(rows), vectors, strict=True):
                bare.discard(piece.turn_id)
                for fault in piece_faults(piece, turns.get(piece.turn_id), vector):
                    yield "warning", f"{table}: {fault}", piece.id
        for turn in bare:
            if turns[turn].text and turns[turn].text.strip():
                yield "warning", f"turns: there are no {table} of it (mcp-memory doctor --rebuild makes them)", turn


def _assertion_faults(
    facts: Rows | None, assertions: Rows | None, known: Mapping[str, tuple[str, int]]
) -> Iterator[Fault]:
    if facts is not None:
        for fact in assertions_of(facts):
            for fault in assertion_faults(fact, known.get(fact.turn_id), LOGGED):
                yield "error", f"facts: {fault}", fact.id
    if assertions is not None:
        for assertion in assertions_of(assertions):
            for fault in assertion_faults(assertion, known.get(assertion.turn_id), DERIVED):
                yield "warning", f"assertions: {fault}", assertion.id


def _lesson_faults(episodes: Rows | None, judged: set[tuple[str, str, str]]) -> Iterator[Fault]:
    for row in records_of(episodes):
        key = row["space"], row["episode_id"], row["source"]
        lesson = lesson_of(row)
        if isinstance(lesson, str):
            yield "error", f"episodes: {lesson}", row["episode_id"]
        elif key in judged:
            yield "note", "episodes: a judge spoke of it twice (harmless: the first word counts)", row["episode_id"]
        elif isinstance(episode := lesson.episode(), str):
            yield "error", f"episodes: {episode} (what it taught counts all the same)", row["episode_id"]
        judged.add(key)


def _belief_faults(beliefs: Rows | None, sentences: Container[str], dimension: int) -> Iterator[Fault]:
    for _, belief in beliefs_of(beliefs) if beliefs is not None else ():
        for fault in belief_faults(belief, dimension):
            yield "warning", f"beliefs: {fault}", belief.sentence_id
        if belief.sentence_id not in sentences:
            yield "warning", "beliefs: of no stored sentence", belief.sentence_id


def _point_faults(points: Rows | None, vectors: Rows | None, dimension: int) -> Iterator[Fault]:
    named: dict[tuple[int, int], str] = {}
    for row in points.to_pylist() if points is not None else ():
        named[row["tx"], row["place"]] = row["id"]
        point = point_of(row)
        if isinstance(point, str):
            yield "error", f"points: {point}", row["id"]
    found = set()
    if vectors is not None:
        numbers = zip(vectors["tx"].to_pylist(), vectors["place"].to_pylist(), strict=True)
        for number, vector in zip(numbers, vectors_of(vectors), strict=True):
            found.add(number)
            for fault in point_vector_faults(vector, dimension):
                yield "warning", f"point vectors: {fault}", named.get(number, f"commit {number[0]}")
    for number, name in named.items():
        if number not in found:
            yield "warning", "points: there is no vector of it (mcp-memory doctor --rebuild makes it)", name


def _pool_faults(aliases: Rows | None, questions: Rows | None, dimension: int) -> Iterator[Fault]:
    for row in aliases.to_pylist() if aliases is not None else ():
        if isinstance(fault := alias_of(row), str):
            yield "error", f"aliases: {fault}", str(row["alias"])
    for text, fault in question_faults(questions, dimension) if questions is not None else ():
        yield "warning", f"questions: {fault}", text


def _job_faults(jobs: Rows | None, known: Mapping[str, tuple[str, int]]) -> Iterator[Fault]:
    for _, job in numbered_jobs_of(jobs) if jobs is not None else ():
        for fault in job_faults(job):
            yield "warning", f"jobs: {fault} (the row before it counts, or none)", str(job.turn_id)
        if job.turn_id not in known or known[job.turn_id][0] != job.space:
            yield "warning", "jobs: of no stored turn of its space", str(job.turn_id)


def _torn(
    commits: list[Commit], rebuilt: int, kept: Mapping[str, int], tables: Sequence[Rows | None]
) -> Iterator[Fault]:
    """Compare the rows of each commit with what it says it has; derived ones only if no rebuild replaced them.

    Of what is `SUPERSEDED` only the last commit with any must have all its rows.

    Args:
        commits: in order.
        rebuilt: the number of the last rebuild's commit, 0 without one; no derived row carries it or counts before it.
        kept: of what is `SUPERSEDED`, the number of the last commit with any.
        tables: the rows of these commits, as `tables_of` has the tables.
    """
    have = [Counter(rows["tx"].to_pylist()) if rows is not None else Counter() for rows in tables]
    for commit in commits:
        said = {
            "turns": commit.turns,
            "facts": commit.facts,
            "episodes": commit.episodes,
            "points": commit.points,
            "aliases": commit.aliases,
            "jobs": commit.jobs,
            "segments": commit.segments,
            "sentences": commit.sentences,
            "assertions": commit.assertions,
            "beliefs": commit.beliefs,
            "point_vectors": commit.points,
            "questions": commit.questions,
        }
        for (table, expected), rows in zip(said.items(), have, strict=True):
            fewer = commit.tx < kept.get(table, 0) and rows[commit.tx] < expected
            if (table in LOG or commit.tx > rebuilt) and rows[commit.tx] != expected and not fewer:
                yield "error", f"{table}: a commit has other rows than it says", f"commit {commit.tx}"


def _named(rows: list[str]) -> str:
    if not rows:
        return ""
    more = f" and {len(rows) - SHOWN} more" if len(rows) > SHOWN else ""
    return ": " + ", ".join(map(str, rows[:SHOWN])) + more
