"""What a measurement leaves behind: figures with their unit and number of runs, a table, and JSON.

Absolute times say more about the machine than about the program; a ratio of two medians taken in turns within one run
says more about the program. So ratios stand first in each part of the table. An aim is what the project wants of a
figure on its own machine; a figure beyond it is marked and nothing else happens, for a slow or busy machine is no
error.
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from itertools import groupby
from statistics import median
from typing import Any

LIBRARIES = ("mcp", "lancedb", "pyarrow", "numpy", "onnxruntime", "tokenizers")


@dataclass(frozen=True, slots=True)
class Figure:
    """One number.

    Attributes:
        part: of the bench.
        name: what was measured, in words.
        value: the number.
        unit: ``ms``, ``s``, ``MB``, ``%``, ``x`` for a ratio, or nothing for a plain number.
        runs: how many measurements stand behind it.
        aim: the project wants at most this; None where it wants nothing in particular.
    """

    part: str
    name: str
    value: float
    unit: str
    runs: int
    aim: float | None = None

    @property
    def beyond(self) -> bool:
        """Whether it is worse than its aim."""
        return self.aim is not None and self.value > self.aim


Report = Callable[[Figure], None]
"""Told each figure as soon as it is known."""


@dataclass(slots=True)
class Laps:
    """Times of one thing done again and again, in milliseconds, in order."""

    ms: list[float] = field(default_factory=list)

    @contextmanager
    def lap(self) -> Iterator[None]:
        """Add the time that the block takes; one that raises is not counted."""
        began = time.perf_counter()
        yield
        self.ms.append((time.perf_counter() - began) * 1_000)

    def __len__(self) -> int:
        return len(self.ms)

    def median(self) -> float:
        """Return the median, in milliseconds; there must be one time at least."""
        return median(self.ms)

    def p(self, share: float) -> float:
        """Return a quantile, in milliseconds."""
        return quantile(self.ms, share)


def quantile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that at least ``share`` of the values do not exceed: one that was measured.

    Args:
        values: one at least, in any order.
        share: in (0, 1].
    """
    ordered = sorted(values)
    place = -int(-share * len(ordered) // 1) - 1  # the ceiling, less one
    return ordered[max(0, place)]


def table(figures: Sequence[Figure]) -> str:
    """Return the figures as lines for a terminal, part by part, ratios first."""
    lines: list[str] = []
    for part, group in groupby(figures, key=lambda figure: figure.part):
        ordered = sorted(group, key=lambda figure: figure.unit != "x")
        width = max(len(figure.name) for figure in ordered)
        lines += ["", part]
        for figure in ordered:
            aim = f"   aim {_number(figure.aim)}" if figure.aim is not None else ""
            mark = "  BEYOND" if figure.beyond else ""
            times = "run" if figure.runs == 1 else "runs"
            value = f"{_number(figure.value):>9} {figure.unit:<3}"
            lines.append(f"  {figure.name:<{width}} {value} {figure.runs:>6} {times:<4}{aim}{mark}".rstrip())
    return "\n".join(lines)


def document(figures: Sequence[Figure]) -> dict[str, Any]:
    """Return everything as JSON's own types, with what the figures depend on; the machine stays without a name."""
    machine = {
        "system": platform.system(),
        "processor": platform.machine(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "versions": {name: version(name) for name in LIBRARIES},
    }
    return {"machine": machine, "figures": [asdict(figure) for figure in figures]}


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
