"""From rows back to what they say: commits and turns; ``pieces.py`` and ``assertions.py`` have the others.

What comes from the disk is not trusted: a row that cannot be right (a span outside its text, a vector that is not
finite) is left out with a warning that names it, so that one bad row never keeps a memory from starting. Turns are
looked at one by one. Segments, sentences and assertions come by the ten thousand, so whole columns are compared at
once, and only the rows that this leaves in doubt are looked at one by one.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import fields
from typing import Any, get_args

from mcp_memory.domain.turns import Kind, Turn
from mcp_memory.storage.schemas import Commit, Rows

Find = Callable[[str, str], Turn | None]
"""Returns a stored turn by space and id."""

_log = logging.getLogger(__name__)


def commits_of(rows: Rows) -> list[Commit]:
    """Return the commits of some rows, by number; what an older format did not count is 0."""
    nothing: dict[str, Any] = dict.fromkeys((f.name for f in fields(Commit)), 0)
    counted = ({n: value for n, value in row.items() if n in nothing and value is not None} for row in rows.to_pylist())
    return sorted((Commit(**(nothing | row)) for row in counted), key=lambda commit: commit.tx)


def turns_of(rows: Rows | None) -> list[tuple[int, Turn]]:
    """Return the turns of some rows with their commits' numbers, in order of arrival; bad ones are left out."""
    stored = all_turns_of(rows) if rows is not None else []
    good = [(tx, turn) for tx, turn in stored if not left_out("turns", turn.id, tx, turn_faults(turn))]
    return sorted(good, key=lambda entry: (entry[0], entry[1].place))


def all_turns_of(rows: Rows) -> list[tuple[int, Turn]]:
    """Return the turns of some rows with their commits' numbers, in no order, right or not.

    A column that an older format does not have is read as empty.
    """
    there = {name: rows[name].to_pylist() for name in rows.column_names}
    columns = [there.get(f.name, [None] * len(rows)) for f in fields(Turn)]
    return [(tx, Turn(*values)) for tx, *values in zip(there["tx"], *columns, strict=True)]


def turn_faults(turn: Turn) -> Iterator[str]:
    """Say what cannot be right about a turn."""
    if turn.kind not in get_args(Kind):
        yield f"its kind is {turn.kind!r}"
    required = (turn.id, turn.space, turn.session, turn.ref, turn.text, turn.written_at, turn.revision, turn.place)
    if any(value is None for value in required):
        yield "a required column is empty"


def left_out(table: str, name: str, tx: int, faults: Iterator[str]) -> bool:
    """Warn of a row that has a fault, and return whether it has.

    Args:
        table: that it stands in.
        name: its id.
        tx: its commit's number.
        faults: what cannot be right about it.
    """
    fault = next(faults, None)
    if fault:
        _log.warning("%s: row %s of commit %s is left out: %s (mcp-memory doctor says more)", table, name, tx, fault)
    return fault is not None
