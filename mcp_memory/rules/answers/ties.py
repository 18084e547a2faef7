"""Ties that change over time, as documents tell it; the table of them is ``resources/ties.toml``."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from mcp_memory.texts import resource


class Tie(NamedTuple):
    """A tie that questions ask for; see the comment of the table.

    Attributes:
        name: the name of it.
        asks: words of a question, in lower case, that ask for it.
        begins: words of a text right before the value.
        behind: words right behind the value, "verb", with what follows them, "office"; None without such.
        value: what the value has to hold, or None.
        phrase: whether the value is a noun phrase; otherwise it is a name.
        lasts: whether it lasts until the next change.
        fresh: so many years after a change its value surely holds.
    """

    name: str
    asks: re.Pattern[str]
    begins: re.Pattern[str]
    behind: re.Pattern[str] | None
    value: re.Pattern[str] | None
    phrase: bool
    lasts: bool
    fresh: float


@cache
def ties() -> Mapping[str, Tie]:
    """Return the ties by their names, in the order of the table."""
    table = tomllib.loads(resource("ties.toml"))
    return {row["name"]: _tie(row, table) for row in table["tie"]}


_ASIDE = r"\s*(?:\([^()]*\)\s*)?,?\s*"
_REST = r"(?P<office>[^.;,]{0,70})"


def _tie(row: Mapping[str, Any], table: Mapping[str, Any]) -> Tie:
    def any_of(patterns: Sequence[str]) -> str:
        rows = [each for one in patterns for each in (table[one[1:]] if one[0] == "$" else [one])]
        text = "|".join(rows).replace("~", r"(?: [\w'’,-]+){0,6}?").replace(" %", "(?: the)?").replace(" ", r"\s+")
        return rf"\b(?:{text})(?!\w)"

    return Tie(
        name=row["name"],
        asks=re.compile(any_of(row["asks"])),
        begins=re.compile(any_of(row["begins"])),
        behind=re.compile(rf"{_ASIDE}(?P<verb>{any_of(row['behind'])}){_REST}") if "behind" in row else None,
        value=re.compile(row["value"]) if "value" in row else None,
        phrase=row.get("phrase", False),
        lasts=row.get("lasts", True),
        fresh=row.get("fresh", 2.0),
    )
