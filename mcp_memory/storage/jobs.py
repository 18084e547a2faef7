"""From rows back to how far texts were read by a language model: of each text the revision that was recorded last.

They are part of the log, so that a text which was paid for is not paid for again after a rebuild. A bad row is as if it
had not been written: the one before it counts, or the text has not been read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import get_args

from mcp_memory.domain.jobs import Job, State
from mcp_memory.storage.rows import left_out
from mcp_memory.storage.schemas import Rows

AMOUNTS = ("parts", "tries", "until")
"""What is never below 0."""


def jobs_of(rows: Rows | None) -> tuple[Job, ...]:
    """Return the last revision of each turn in the order of recording; bad rows are left out.

    Args:
        rows: of ``jobs``, in any order, or None.
    """
    last: dict[str, Job] = {}
    order = [("tx", "ascending"), ("place", "ascending")]
    for tx, job in numbered_jobs_of(rows.sort_by(order)) if rows is not None else ():
        if not left_out("jobs", job.turn_id, tx, job_faults(job)):
            last.pop(job.turn_id, None)
            last[job.turn_id] = job
    return tuple(last.values())


def numbered_jobs_of(rows: Rows) -> Iterator[tuple[int, Job]]:
    """Return the jobs of some rows with their commits' numbers, in the order of the rows, right or not."""
    columns = [rows[f.name].to_pylist() for f in fields(Job)]
    return zip(rows["tx"].to_pylist(), map(Job, *columns), strict=True)


def job_faults(job: Job) -> Iterator[str]:
    """Say what cannot be right about a job."""
    if any(getattr(job, f.name) is None for f in fields(Job)):
        yield "a required column is empty"
        return
    if job.state not in get_args(State):
        yield f"its state is {job.state!r}"
    elif bool(job.holder) != (job.state == "leased"):
        yield f"its state is {job.state!r}, and its holder {job.holder!r}"
    for name in AMOUNTS:
        if getattr(job, name) < 0:
            yield f"its {name} is {getattr(job, name)}"
