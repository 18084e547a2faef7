"""Draw lines over sizes, panel beside panel, as SVG that is legible on light and dark pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, floor
from xml.sax.saxutils import escape

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")
"""Of the palette of Okabe and Ito, which colour-blind readers can distinguish."""
WIDTH, HEIGHT = 340, 300
LEFT, RIGHT, TOP, BOTTOM = 44, 326, 34, 236
Lines = Mapping[str, Sequence[float]]
"""The values of each line by its name, one for each label."""


def svg(title: str, labels: Sequence[str], panels: Mapping[str, Lines]) -> str:
    """Return a document with a panel for each entry of ``panels``, whose points have these labels."""
    width, height = WIDTH * len(panels), HEIGHT + 26
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
        ' font-family="sans-serif" font-size="11">',
        f'<title>{escape(title)}</title><rect width="{width}" height="{height}" fill="#ffffff"/>',
        f'<text x="{LEFT}" y="20" font-size="14" font-weight="bold">{escape(title)}</text>',
    ]
    for place, (name, lines) in enumerate(panels.items()):
        parts += [f'<g transform="translate({WIDTH * place} 26)">', *_panel(name, labels, lines), "</g>"]
    return "\n".join([*parts, "</svg>"]) + "\n"


def _panel(title: str, labels: Sequence[str], lines: Lines) -> list[str]:
    low, high = _bounds([value for values in lines.values() for value in values])

    def x(number: int) -> float:
        return LEFT + (RIGHT - LEFT) * number / max(1, len(labels) - 1)

    def y(value: float) -> float:
        return BOTTOM - (BOTTOM - TOP) * (value - low) / (high - low)

    parts = [f'<text x="{LEFT}" y="{TOP - 12}" font-weight="bold">{escape(title)}</text>']
    for value in (low + (high - low) * step / 4 for step in range(5)):
        parts.append(f'<path d="M{LEFT} {y(value):.1f}H{RIGHT}" stroke="#dddddd"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y(value) + 4:.1f}" text-anchor="end">{value:g}</text>')
    for number, label in enumerate(labels):
        parts.append(f'<text x="{x(number):.1f}" y="{BOTTOM + 16}" text-anchor="middle">{label}</text>')
    parts.append(f'<text x="{(LEFT + RIGHT) / 2}" y="{BOTTOM + 32}" text-anchor="middle">sentences</text>')
    for place, ((name, values), colour) in enumerate(zip(lines.items(), COLOURS, strict=False)):
        points = [(f"{x(number):.1f}", f"{y(value):.1f}", value) for number, value in enumerate(values)]
        curve = " ".join(f"{across},{down}" for across, down, _ in points)
        parts.append(f'<polyline points="{curve}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for across, down, value in points:
            told = f"<title>{escape(name)}: {value:.2f}</title>"
            parts.append(f'<circle cx="{across}" cy="{down}" r="3" fill="{colour}">{told}</circle>')
        left = LEFT + place * (RIGHT - LEFT) / len(lines)
        parts.append(f'<circle cx="{left + 4:.1f}" cy="{BOTTOM + 46}" r="4" fill="{colour}"/>')
        parts.append(f'<text x="{left + 12:.1f}" y="{BOTTOM + 50}">{escape(name)}</text>')
    return parts


def _bounds(values: Sequence[float]) -> tuple[float, float]:
    """Return round limits that include every value."""
    span = max(values) - min(values)
    step = next(
        (size * 10**power for power in range(-1, 6) for size in (1, 2, 5) if span <= 4 * size * 10**power), span
    )
    low = floor(min(values) / step) * step
    return low, max(ceil(max(values) / step) * step, low + step)
