"""The store's format: the kinds of rows, the commit, and the number that every row carries.

The log (``log.py``) holds what nothing else yields, one line for each commit. Everything in LanceDB is derived from it
and has one table for each *generation*, since a rebuild makes new tables next to the old ones. The columns of a table
are the fields of the domain's dataclass and more: ``tx``, the number of the commit that a row belongs to; ``place``,
its position within that commit, where the order of recording matters; and ``vector``. ``rows.py`` converts both ways.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from mcp_memory.domain.language_model import Reservation, Spending
from mcp_memory.domain.times import Millis

TableRows = Any
"""A pyarrow table; pyarrow comes without types."""

FORMAT = 12
"""The format of log and tables. It is raised whenever an older program could not read, or would damage, what a newer
one wrote. Up to format 10 the log was in tables of LanceDB, in 11 in one file; neither is read by this program: an
export of the older program brings such a memory over. CONTRIBUTING.md, "A change of the store's format", says how."""

KEY_BYTES = 16
"""Length of the key of a store."""

LogKind = Literal["turns", "facts", "episodes", "points", "aliases", "jobs", "questions"]
"""What no rebuild can make again: what was said, what callers asserted or a language model was paid to read, what
judges said of episodes, memory points, aliases, how far a language model has read each text, and the question pool."""
TableKind = Literal["segments", "sentences", "assertions", "beliefs", "point_vectors", "questions"]
"""What has tables in LanceDB, which a rebuild makes again: pieces of texts, what the embedded engine read in them, what
the lessons in ``episodes`` taught, the vectors of the descriptions in ``points``, and the questions with theirs."""
LOG_KINDS: tuple[LogKind, ...] = get_args(LogKind)
TABLE_KINDS: tuple[TableKind, ...] = get_args(TableKind)
RowKind = LogKind | TableKind


def table_name(kind: TableKind, generation: int, reader: int) -> str:
    """Return the name of the table of a kind.

    Args:
        kind: the kind of the table.
        generation: the generation of the tables.
        reader: the reader of the assertions (`Commit.reader`); other tables do not depend on it.
    """
    return f"{kind}_{reader}_{generation}" if kind == "assertions" and reader else f"{kind}_{generation}"


def generation_of(table: str) -> int | None:
    """Return the generation that a table belongs to; None for a table of another program."""
    number = table.rpartition("_")[2]
    return int(number) if number.isdigit() else None


@dataclass(frozen=True, slots=True)
class Commit:
    """The end of a transaction: with its line in the log its rows become visible.

    Attributes:
        tx: its number; 1, 2, … without gaps.
        at: when it was written.
        format: the format, see `FORMAT`.
        embedder: the model that made the vectors.
        dimension: the dimension of the vectors.
        generation: the generation of the tables.
        pid: the process that wrote it.
        turns, facts, episodes, points, aliases, jobs, questions: how many rows of this kind it has in the log; of
            points and questions as many in their tables.
        segments, sentences, assertions, beliefs: how many rows it has in the table of this kind; the commit of a
            rebuild, or of a forget, counts all of them.
        day: the day that the amounts below count for, see `Reservation`, which has no other table; 0 for none.
        calls: requests to a language model; this and the amounts below are negative if they correct an earlier row.
        input_tokens: the input tokens of these requests.
        cached_tokens: the cached tokens of these requests.
        output_tokens: the output tokens of these requests.
        reader: the version of the extractor that read the assertions of the embedded engine in this store, which are in
            ``assertions_<reader>_<generation>``; 0 for none, in ``assertions_<generation>``. A commit has that of the
            commit before it; a rebuild has its own.
        forgets: how many records the book of what was forgotten has (``forget.py``).
        key: the key of the store's ids (``domain/ids.py``), in hex digits: a random one in the first commit, in each
            later one that of the commit before it.
    """

    tx: int
    at: Millis
    format: int
    embedder: str
    dimension: int
    generation: int
    pid: int
    turns: int = 0
    segments: int = 0
    sentences: int = 0
    facts: int = 0
    assertions: int = 0
    episodes: int = 0
    beliefs: int = 0
    points: int = 0
    aliases: int = 0
    questions: int = 0
    day: int = 0
    calls: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    jobs: int = 0
    reader: int = 0
    forgets: int = 0
    key: str = field(default="", repr=False)

    def count(self, kind: RowKind) -> int:
        """Return how many rows of a kind it has."""
        return self.points if kind == "point_vectors" else int(getattr(self, kind))

    def table(self, kind: TableKind) -> str:
        """Return the name of the table of a kind that it has rows in."""
        return table_name(kind, self.generation, self.reader)

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of all tables that it has rows in."""
        return tuple(map(self.table, TABLE_KINDS))

    def next(self, at: Millis, **changes: Any) -> Commit:
        """Return the commit after this one: without rows of its own, but for what ``changes`` say."""
        kept = {"embedder": self.embedder, "dimension": self.dimension, "generation": self.generation}
        kept |= {"reader": self.reader, "forgets": self.forgets, "key": self.key or secrets.token_hex(KEY_BYTES)}
        return Commit(**{**kept, "tx": self.tx + 1, "at": at, "format": FORMAT, "pid": os.getpid(), **changes})

    @property
    def outlay(self) -> Reservation | None:
        """The costs of requests to a language model; None for most commits."""
        if not self.day:
            return None
        return Reservation(self.day, Spending(self.calls, self.input_tokens, self.cached_tokens, self.output_tokens))


def older_format(uri: str) -> str:
    """Return in words what to do with a memory of an older program."""
    return (
        f"storage.uri {uri!r} holds a memory of an older mcp-memory, whose format this program does not read. Nothing "
        "was changed. Bring it over: with the program that wrote it `mcp-memory export FILE`; then set storage.uri to "
        "a new place, and with this one `mcp-memory import FILE`."
    )


def costs_of(outlays: Sequence[Reservation]) -> dict[str, int]:
    """Return the costs of requests, all of one day, as fields of a commit; none for no requests."""
    if not outlays:
        return {}
    [day] = {outlay.day for outlay in outlays}
    cost = sum((outlay.what for outlay in outlays), Spending())
    amounts = {name: int(getattr(cost, name)) for name in ("calls", "input_tokens", "cached_tokens", "output_tokens")}
    return {"day": day, **amounts}
