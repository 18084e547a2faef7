"""Draw lines over passes or sizes, side by side: as SVG without a library, or as PNG (extra ``plot``)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import ceil, floor
from pathlib import Path
from xml.sax.saxutils import escape

from mcp_memory.errors import ConfigurationError

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
"""The palette of Okabe and Ito, which colour-blind readers can distinguish."""
_STEPS = (0.1, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000)
WIDTH, HEIGHT = 340, 300
LEFT, RIGHT, TOP, BOTTOM = 44, 14, 34, 64


@dataclass(frozen=True, slots=True)
class Line:
    """One line.

    Attributes:
        name: the name for the legend.
        values: one for each pass.
        half_widths: the half widths of their intervals, in the same unit.
    """

    name: str
    values: Sequence[float]
    half_widths: Sequence[float]


@dataclass(frozen=True, slots=True)
class Panel:
    """Lines that share their axes; at least one.

    Attributes:
        title: above it.
        lines: at least one.
        labels: the labels of the points; none for the numbers of passes.
        axis: what the points are.
    """

    title: str
    lines: Sequence[Line]
    labels: Sequence[str] = ()
    axis: str = "pass"

    def label(self, number: int) -> str:
        """Return the label of a point."""
        return self.labels[number] if self.labels else str(number)


Draw = Callable[[str, Sequence[Panel]], None]
"""Takes a title and the panels, and writes the file."""


def writer(path: Path) -> Draw:
    """Return the function that draws into a file, chosen by the file's ending.

    Raises:
        ConfigurationError: neither ``.svg`` nor ``.png``, or matplotlib is missing.
    """
    if path.suffix.lower() == ".svg":
        return partial(_write_svg, path)
    if path.suffix.lower() != ".png":
        raise ConfigurationError(f"--plot {path}: the plot is a .svg or a .png file")
    try:
        import matplotlib  # noqa: F401 - checks that it is installed
    except ImportError as error:
        raise ConfigurationError(
            "a PNG needs matplotlib. Install the extra (pip install '.[plot]' in the checkout, or mcp-memory[plot] "
            "where you installed it from), or ask for .svg"
        ) from error
    return partial(_write_png, path)


def svg(title: str, panels: Sequence[Panel]) -> str:
    """Return the plot as an SVG document that is legible on light and dark pages."""
    width, height = WIDTH * len(panels), HEIGHT + 26
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
        ' font-family="sans-serif" font-size="11">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        f'<text x="{LEFT}" y="20" font-size="14" font-weight="bold">{escape(title)}</text>',
    ]
    for place, panel in enumerate(panels):
        parts += [f'<g transform="translate({WIDTH * place} 26)">', *_panel(panel), "</g>"]
    return "\n".join([*parts, "</svg>"]) + "\n"


def _panel(panel: Panel) -> list[str]:
    low, high = bounds(panel)
    passes = max(len(line.values) for line in panel.lines)
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM

    def x(number: int) -> float:
        return LEFT + (right - LEFT) * number / max(1, passes - 1)

    def y(value: float) -> float:
        return bottom - (bottom - TOP) * (value - low) / (high - low)

    parts = [f'<text x="{LEFT}" y="{TOP - 12}" font-weight="bold">{escape(panel.title)}</text>']
    for step in range(5):
        value = low + (high - low) * step / 4
        parts.append(f'<path d="M{LEFT} {y(value):.1f}H{right}" stroke="#dddddd"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y(value) + 4:.1f}" text-anchor="end">{value:g}</text>')
    parts += [
        f'<text x="{x(number):.1f}" y="{bottom + 16}" text-anchor="middle">{panel.label(number)}</text>'
        for number in range(passes)
    ]
    parts.append(f'<text x="{(LEFT + right) / 2}" y="{bottom + 32}" text-anchor="middle">{panel.axis}</text>')
    for place, line in enumerate(panel.lines):
        parts += _curve(panel, line, COLOURS[place % len(COLOURS)], x, y)
        left = LEFT + place * (right - LEFT) / len(panel.lines)
        parts.append(f'<circle cx="{left + 4:.1f}" cy="{bottom + 46}" r="4" fill="{COLOURS[place % len(COLOURS)]}"/>')
        parts.append(f'<text x="{left + 12:.1f}" y="{bottom + 50}">{escape(line.name)}</text>')
    return parts


def _curve(panel: Panel, line: Line, colour: str, x: Callable[[int], float], y: Callable[[float], float]) -> list[str]:
    points = " ".join(f"{x(number):.1f},{y(value):.1f}" for number, value in enumerate(line.values))
    parts = [f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>']
    for number, (value, half) in enumerate(zip(line.values, line.half_widths, strict=True)):
        bar = f"M{x(number):.1f} {y(value - half):.1f}V{y(value + half):.1f}"
        parts.append(f'<path d="{bar}" stroke="{colour}" stroke-opacity="0.4"/>')
        label = f"<title>{escape(line.name)}, {panel.axis} {panel.label(number)}: {value:.2f} ±{half:.2f}</title>"
        parts.append(
            f'<circle class="point" cx="{x(number):.1f}" cy="{y(value):.1f}" r="3" fill="{colour}">{label}</circle>'
        )
    return parts


def bounds(panel: Panel) -> tuple[float, float]:
    """Return the limits of a panel's axis: round numbers that include every interval."""
    ends = [
        value + sign * half
        for line in panel.lines
        for value, half in zip(line.values, line.half_widths, strict=True)
        for sign in (-1, 1)
    ]
    span = max(ends) - min(ends)
    step = next(step for step in (*_STEPS, float("inf")) if span <= 4 * step)
    step = step if step != float("inf") else span
    return floor(min(ends) / step) * step, max(ceil(max(ends) / step), floor(min(ends) / step) + 1) * step


def _write_svg(path: Path, title: str, panels: Sequence[Panel]) -> None:
    path.write_text(svg(title, panels), encoding="utf-8")


def _write_png(path: Path, title: str, panels: Sequence[Panel]) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.2 * len(panels), 4), layout="constrained")
    figure.suptitle(title)
    for place, panel in enumerate(panels, 1):
        axes = figure.add_subplot(1, len(panels), place)
        for line, colour in zip(panel.lines, COLOURS, strict=False):
            axes.errorbar(range(len(line.values)), line.values, line.half_widths, label=line.name, color=colour)
        if panel.labels:
            axes.set_xticks(range(len(panel.labels)), panel.labels)
        axes.set(title=panel.title, xlabel=panel.axis)
        axes.legend()
    figure.savefig(path, dpi=150)
