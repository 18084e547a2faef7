"""Convert assertions, aliases and reading jobs to rows and back.

Assertions are stored in two tables: those of callers and of Claude in ``facts``, which is part of the log, and those of
the embedded engine in ``assertions_<reader>_<generation>``, which a rebuild replaces. ``place`` orders both together.

Jobs record how far a language model has read each text for facts. They are part of the log, so that a text is not paid
for again after a rebuild. A bad row counts as not written: the row before it is used, or the text counts as not read.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from itertools import compress
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from mcp_memory.codec import fields_of
from mcp_memory.domain.entities import Alias
from mcp_memory.domain.facts import WHOLE, Assertion, Engine, ExtractorName, FactKind, Intent, Precision, kind_of
from mcp_memory.domain.language_model import Job, State
from mcp_memory.storage.columns import FindTurn, has_fault, int_column, shared_values, spans_are_valid, valid_values
from mcp_memory.storage.schema import TableRows, tx_columns

LOGGED: frozenset[ExtractorName] = frozenset({"caller", "anthropic"})
"""Extractors whose assertions are in ``facts``: what callers stated or what was paid for. No rebuild changes it."""
DERIVED: frozenset[ExtractorName] = frozenset(get_args(ExtractorName)) - LOGGED
"""Extractors whose assertions stand in ``assertions_<generation>`` and are made again by a rebuild."""


# Assertions

_SINCE_7 = frozenset(("kind", "precision"))
"""Columns that rows of formats before 7 lack. A row without a kind has that of its relation."""
_OPTIONAL = _SINCE_7 | {"original"}


def assertion_rows(assertions: Sequence[Assertion], places: Sequence[int], txs: Sequence[int]) -> TableRows:
    """Return assertions as rows, as they were stated, each with its place and its commit's number."""
    import pyarrow as pa

    kinds = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
    columns = tx_columns(txs, places)
    said = [
        one if one.original is None else replace(one, head=one.original[0], tail=one.original[1]) for one in assertions
    ]
    for field in fields_of(Assertion):
        columns[field.name] = pa.array([getattr(assertion, field.name) for assertion in said], kinds[field.kind])
    return pa.table(columns)


def assertions_in_order(facts: TableRows | None, derived: TableRows | None, find: FindTurn) -> tuple[Assertion, ...]:
    """Return the assertions of some rows in the order of recording; bad ones are left out.

    Args:
        facts: rows of ``facts``, in any order, or None.
        derived: rows of ``assertions_<generation>``, in any order, or None.
        find: returns a turn.

    Returns:
        By commit and by place within it; at the same place, derived ones come first.
    """
    valid: list[tuple[int, int, Assertion]] = []
    for table, rows, extractors in (("assertions", derived, DERIVED), ("facts", facts, LOGGED)):
        if rows is None or not len(rows):
            continue
        assertions = list(assertions_of(rows))
        good = _certainly_valid(rows, extractors, find)
        for row in np.flatnonzero(~good).tolist():
            assertion = assertions[row]
            turn = find(assertion.space, assertion.turn_id)
            faults = assertion_faults(assertion, (turn.space, len(turn.text)) if turn else None, extractors)
            good[row] = not has_fault(table, assertion.id, rows["tx"][row].as_py(), faults)
        numbers = int_column(rows, "tx").tolist(), int_column(rows, "place").tolist()
        valid += compress(zip(*numbers, assertions, strict=True), good)
    return tuple(assertion for _, _, assertion in sorted(valid, key=lambda entry: entry[:2]))


def assertions_of(rows: TableRows) -> Iterator[Assertion]:
    """Return the assertions of some rows, in their order, right or not."""
    known = set(rows.column_names)
    columns = [shared_values(rows, f.name) if f.name in known else [None] * len(rows) for f in fields(Assertion)]
    for assertion in (Assertion(*values) for values in zip(*columns, strict=True)):
        yield replace(assertion, kind=kind_of(assertion.relation or "")) if assertion.kind is None else assertion


def assertion_faults(assertion: Assertion, turn: tuple[str, int] | None, extractors: Container[str]) -> Iterator[str]:
    """Yield the faults of an assertion, in words.

    Args:
        assertion: as read.
        turn: space and length, in characters, of the turn that it names, if there is one.
        extractors: the extractors of its table.
    """
    if any(getattr(assertion, f.name) is None for f in fields(Assertion) if f.name not in _OPTIONAL):
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
    if assertion.kind not in get_args(FactKind):
        yield f"its kind is {assertion.kind!r}"
    if assertion.precision is not None and assertion.precision not in get_args(Precision):
        yield f"its precision is {assertion.precision!r}"


def _certainly_valid(rows: TableRows, extractors: Collection[str], find: FindTurn) -> NDArray[np.bool_]:
    """Return rows in which `assertion_faults` would find nothing; it may find nothing in some of the others as well."""
    import pyarrow as pa
    import pyarrow.compute as pc

    valid = spans_are_valid(rows, find)
    valid &= (int_column(rows, "sentence") >= WHOLE) & (int_column(rows, "since") < int_column(rows, "until"))
    confidence = pc.fill_null(rows["confidence"], 0).to_numpy()
    valid &= (confidence > 0) & (confidence <= 1)
    for name, allowed in (("intent", get_args(Intent)), ("extractor", list(extractors))):
        valid &= pc.is_in(rows[name], value_set=pa.array(allowed)).to_numpy()
    for name, known in (("kind", get_args(FactKind)), ("precision", get_args(Precision))):
        if name in rows.column_names:
            valid &= pc.or_(pc.is_null(rows[name]), pc.is_in(rows[name], value_set=pa.array(known))).to_numpy()
    for field in fields(Assertion):
        if field.name not in _OPTIONAL and rows[field.name].null_count:
            valid &= rows[field.name].is_valid().to_numpy()
    return valid


# Aliases


def alias_rows(aliases: Sequence[Alias], places: Sequence[int], txs: Sequence[int]) -> TableRows:
    """Return aliases as rows, each with its place within its commit and with its commit's number."""
    import pyarrow as pa

    columns = tx_columns(txs, places)
    for name in (f.name for f in fields(Alias)):
        kind = pa.int64() if name == "at" else pa.string()
        columns[name] = pa.array([getattr(alias, name) for alias in aliases], kind)
    return pa.table(columns)


def aliases_of(rows: TableRows | None) -> tuple[Alias, ...]:
    """Return the aliases of some rows in the order of recording; bad ones are left out."""
    valid = valid_values("aliases", "alias", rows.to_pylist() if rows is not None else (), alias_of)
    return tuple(alias for _, _, alias in valid)


def alias_of(row: Mapping[str, Any]) -> Alias | str:
    """Return the alias that a row of ``aliases`` holds, or its fault in words."""
    if any(value is None for value in row.values()):
        return "a required column is empty"
    if row["source"] not in get_args(Engine):
        return f"its source is {row['source']!r}"
    return Alias(**{f.name: row[f.name] for f in fields(Alias)})


# Jobs


def job_rows(jobs: Sequence[Job], places: Sequence[int], txs: Sequence[int]) -> TableRows:
    """Return jobs as rows, each with its place within its commit and with its commit's number."""
    import pyarrow as pa

    texts = {"space", "turn_id", "state", "holder"}
    columns = tx_columns(txs, places)
    for name in (f.name for f in fields(Job)):
        columns[name] = pa.array([getattr(job, name) for job in jobs], pa.string() if name in texts else pa.int64())
    return pa.table(columns)


def latest_jobs(rows: TableRows | None) -> tuple[Job, ...]:
    """Return the last revision of each turn's job in the order of recording; bad rows are left out.

    Args:
        rows: the rows of ``jobs``, in any order, or None.
    """
    latest: dict[str, Job] = {}
    order = [("tx", "ascending"), ("place", "ascending")]
    for tx, job in jobs_of(rows.sort_by(order)) if rows is not None else ():
        if not has_fault("jobs", job.turn_id, tx, job_faults(job)):
            latest.pop(job.turn_id, None)
            latest[job.turn_id] = job
    return tuple(latest.values())


def jobs_of(rows: TableRows) -> Iterator[tuple[int, Job]]:
    """Return the jobs of some rows with their commits' numbers, in the order of the rows, right or not."""
    columns = [rows[f.name].to_pylist() for f in fields(Job)]
    return zip(rows["tx"].to_pylist(), map(Job, *columns), strict=True)


def job_faults(job: Job) -> Iterator[str]:
    """Yield the faults of a job, in words."""
    if any(getattr(job, f.name) is None for f in fields(Job)):
        yield "a required column is empty"
        return
    if job.state not in get_args(State):
        yield f"its state is {job.state!r}"
    elif bool(job.holder) != (job.state == "leased"):
        yield f"its state is {job.state!r}, and its holder {job.holder!r}"
    for name in ("parts", "tries", "until"):
        if getattr(job, name) < 0:
            yield f"its {name} is {getattr(job, name)}"
