"""Figures of a measurement: their units and runs, a table, and JSON.

Absolute times depend mostly on the machine; the ratio of two medians measured in turns within one run depends mostly on
the program. So ratios come first in each part of the table. An aim is the value that the project wants on its own
machine; a figure beyond it is marked and has no other effect, since a slow or busy machine is not an error.
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
        unit: ``ms``, ``s``, ``MB``, ``%``, ``x`` for a ratio, or empty for a plain number.
        runs: number of measurements.
        aim: highest value that the project wants; None for no aim.
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
"""Called with each figure as soon as it is known."""


@dataclass(slots=True)
class Laps:
    """Times of a repeated action, in milliseconds, in order."""

    ms: list[float] = field(default_factory=list)

    @contextmanager
    def lap(self, clock: Callable[[], float] = time.perf_counter) -> Iterator[None]:
        """Add the time that the block takes by a clock in seconds, unless it raises."""
        began = clock()
        yield
        self.ms.append((clock() - began) * 1_000)

    def __len__(self) -> int:
        return len(self.ms)

    def median(self) -> float:
        """Return the median in milliseconds; there must be at least one time."""
        return median(self.ms)

    def p(self, share: float) -> float:
        """Return a quantile, in milliseconds."""
        return quantile(self.ms, share)


def quantile(values: Sequence[float], share: float) -> float:
    """Return the smallest measured value that at least ``share`` of the values do not exceed.

    Args:
        values: at least one, in any order.
        share: in (0, 1].
    """
    ordered = sorted(values)
    place = -int(-share * len(ordered) // 1) - 1  # the ceiling, less one
    return ordered[max(0, place)]


def table(figures: Sequence[Figure]) -> str:
    """Return the figures as lines for a terminal, by part, ratios first."""
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
    """Return the figures in JSON types, with the properties of the machine that they depend on."""
    return {"machine": machine(), "figures": [asdict(figure) for figure in figures]}


def machine() -> dict[str, Any]:
    """Return the properties of the machine that figures depend on, but not its name."""
    return {
        "system": platform.system(),
        "processor": platform.machine(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "versions": {name: version(name) for name in LIBRARIES},
    }


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
