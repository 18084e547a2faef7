"""Draw means with their intervals as bars, one below the other, into an SVG that light and dark pages can show."""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import escape

COLOUR, INK, RULE = "#0072b2", "#000000", "#dddddd"
LABELS, WIDTH, ROW, TOP, BOTTOM = 190, 360, 22, 44, 30


def bars(title: str, rows: Sequence[tuple[str, float, float, int]]) -> str:
    """Return the drawing.

    Args:
        title: above it.
        rows: a label, a mean in %, the half-width of its interval, and the number of questions; at least one.
    """
    height = TOP + ROW * len(rows) + BOTTOM
    width = LABELS + WIDTH + 130

    def x(value: float) -> float:
        return LABELS + WIDTH * min(max(value, 0), 100) / 100

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
        ' font-family="sans-serif" font-size="12">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        f'<text x="12" y="22" font-size="14" font-weight="bold" fill="{INK}">{escape(title)}</text>',
    ]
    for tick in range(0, 101, 20):
        parts.append(f'<path d="M{x(tick):.1f} {TOP - 6}V{height - BOTTOM}" stroke="{RULE}"/>')
        parts.append(f'<text x="{x(tick):.1f}" y="{height - 10}" text-anchor="middle" fill="{INK}">{tick}</text>')
    for place, (label, value, half, number) in enumerate(rows):
        middle = TOP + ROW * place + ROW / 2
        figure = f"{value:.1f} ±{half:.1f}, n={number}"
        parts += [
            f'<text x="{LABELS - 8}" y="{middle + 4:.1f}" text-anchor="end" fill="{INK}">{escape(label[:30])}</text>',
            f'<rect class="bar" x="{LABELS}" y="{middle - 7:.1f}" width="{x(value) - LABELS:.1f}" height="14"'
            f' fill="{COLOUR}"/>',
            f'<path d="M{x(value - half):.1f} {middle:.1f}H{x(value + half):.1f}" stroke="{INK}" stroke-width="2"/>',
            f'<text x="{LABELS + WIDTH + 8}" y="{middle + 4:.1f}" fill="{INK}">{figure}</text>',
        ]
    return "\n".join([*parts, "</svg>"]) + "\n"
