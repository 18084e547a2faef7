"""From rows back to the aliases that the memory came to hold, in the order of recording; they are part of the log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, get_args

from mcp_memory.domain.aliases import Alias
from mcp_memory.domain.evidence import Engine
from mcp_memory.storage.rows import left_out
from mcp_memory.storage.schemas import Rows


def aliases_of(rows: Rows | None) -> tuple[Alias, ...]:
    """Return the aliases of some rows in the order of recording; bad ones are left out."""
    kept: list[tuple[int, int, Alias]] = []
    for row in rows.to_pylist() if rows is not None else ():
        alias = alias_of(row)
        if isinstance(alias, Alias):
            kept.append((row["tx"], row["place"], alias))
        else:
            left_out("aliases", str(row["alias"]), row["tx"], iter([alias]))
    return tuple(alias for *_, alias in sorted(kept, key=lambda entry: entry[:2]))


def alias_of(row: Mapping[str, Any]) -> Alias | str:
    """Return the alias that a row of ``aliases`` holds, or in words what cannot be right about it."""
    if any(value is None for value in row.values()):
        return "a required column is empty"
    if row["source"] not in get_args(Engine):
        return f"its source is {row['source']!r}"
    return Alias(**{f.name: row[f.name] for f in fields(Alias)})
