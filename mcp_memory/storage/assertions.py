"""From rows back to assertions, those that stand in the log and those that a rebuild makes anew, in one order."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterator
from dataclasses import fields
from itertools import compress
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from mcp_memory.domain.facts import WHOLE, Assertion, Extractor, Intent
from mcp_memory.storage.columns import fit, numbers
from mcp_memory.storage.rows import Find, left_out
from mcp_memory.storage.schemas import Rows

LOGGED: frozenset[Extractor] = frozenset({"caller", "anthropic"})
"""Whose assertions stand in ``facts``, a part of the log, which no rebuild touches: what was told, or paid for."""
DERIVED: frozenset[Extractor] = frozenset(get_args(Extractor)) - LOGGED
"""Whose assertions stand in ``assertions_<generation>``, and are made anew by a rebuild."""


def recorded(facts: Rows | None, derived: Rows | None, find: Find) -> tuple[Assertion, ...]:
    """Return the assertions of some rows in the order of recording; bad ones are left out.

    Args:
        facts: of ``facts``, in any order, or None.
        derived: of ``assertions_<generation>``, likewise.
        find: returns a turn.

    Returns:
        By commit and by place within it; of one place, what was derived comes first.
    """
    kept: list[tuple[int, int, Assertion]] = []
    for table, rows, extractors in (("assertions", derived, DERIVED), ("facts", facts, LOGGED)):
        if rows is None or not len(rows):
            continue
        assertions = list(assertions_of(rows))
        good = _plainly_right(rows, extractors, find)
        for row in np.flatnonzero(~good).tolist():
            one = assertions[row]
            turn = find(one.space, one.turn_id)
            faults = assertion_faults(one, (turn.space, len(turn.text)) if turn else None, extractors)
            good[row] = not left_out(table, one.id, rows["tx"][row].as_py(), faults)
        places = numbers(rows, "tx").tolist(), numbers(rows, "place").tolist()
        kept += compress(zip(*places, assertions, strict=True), good)
    return tuple(assertion for _, _, assertion in sorted(kept, key=lambda entry: entry[:2]))


def assertions_of(rows: Rows) -> Iterator[Assertion]:
    """Return the assertions of some rows, in their order, right or not."""
    columns = [rows[f.name].to_pylist() for f in fields(Assertion)]
    return (Assertion(*values) for values in zip(*columns, strict=True))


def assertion_faults(assertion: Assertion, turn: tuple[str, int] | None, extractors: Container[str]) -> Iterator[str]:
    """Say what cannot be right about an assertion.

    Args:
        assertion: as read.
        turn: space and length, in characters, of the one it names, if there is one.
        extractors: whose assertions stand in its table.
    """
    if any(getattr(assertion, f.name) is None for f in fields(Assertion)):
        yield "a required column is empty"
        return
    if turn is None:
        yield "it belongs to no stored turn"
    elif turn[0] != assertion.space:
        yield "it lies in another space than its turn"
    elif not 0 <= assertion.start <= assertion.end <= turn[1]:
        yield "its span lies outside its text"
    if assertion.sentence < WHOLE:
        yield "it names no sentence"
    if not 0 < assertion.confidence <= 1:
        yield f"its confidence is {assertion.confidence}"
    if assertion.intent not in get_args(Intent):
        yield f"its intent is {assertion.intent!r}"
    if assertion.extractor not in extractors:
        yield f"its extractor is {assertion.extractor!r}"
    if assertion.since >= assertion.until:
        yield "it ends before it begins"


def _plainly_right(rows: Rows, extractors: Collection[str], find: Find) -> NDArray[np.bool_]:
    """Return which rows of assertions are right; of the others some may be, after all, as `assertion_faults` knows."""
    import pyarrow as pa
    import pyarrow.compute as pc

    right = fit(rows, find)
    right &= (numbers(rows, "sentence") >= WHOLE) & (numbers(rows, "since") < numbers(rows, "until"))
    confidence = pc.fill_null(rows["confidence"], 0).to_numpy()
    right &= (confidence > 0) & (confidence <= 1)
    for name, known in (("intent", get_args(Intent)), ("extractor", list(extractors))):
        right &= pc.is_in(rows[name], value_set=pa.array(known)).to_numpy()
    for field in fields(Assertion):
        if rows[field.name].null_count:
            right &= rows[field.name].is_valid().to_numpy()
    return right
