"""Record ``mcp-memory demo`` in a terminal and draw it as an SVG in which the lines appear as they did.

python packaging/draw_demo.py docs/demo.svg

The panel has its own dark background, so that it can be read on light and dark pages. Viewers without animations, and
people who asked for less motion, see all lines at once. It needs a system with pseudo-terminals.
"""

import os
import pty
import re
import sys
import time
from pathlib import Path
from xml.sax.saxutils import escape

COMMAND = [sys.executable, "-m", "mcp_memory", "demo"]
SHOWN = "$ mcp-memory demo"
LONGEST_PAUSE_S = 1.0
COLUMNS = 108
LINE, LEFT, TOP, CHARACTER = 19, 18, 44, 7.8
STYLES = {"1": "b", "2": "d", "32": "g", "33": "y", "36": "c"}
CODE = re.compile(r"\x1b\[([\d;]*)m|\x1b\[[\d;?]*[A-Za-z]")
HEAD = """\
<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img"
 xml:space="preserve">
<title>A terminal with the output of mcp-memory demo</title>
<style>
text {{ font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #e6edf3;
  white-space: pre; animation: appear 0s both; }}
.b {{ font-weight: bold; fill: #ffffff }} .d {{ fill: #9aa7b4 }} .g {{ fill: #7ee787 }} .y {{ fill: #f2cc60 }}
.c {{ fill: #79c0ff }}
@keyframes appear {{ from {{ opacity: 0 }} }}
@media (prefers-reduced-motion) {{ text {{ animation: none }} }}
</style>
<rect width="{width}" height="{height}" rx="10" fill="#0d1b26"/>
<circle cx="22" cy="20" r="6" fill="#ff5f56"/><circle cx="42" cy="20" r="6" fill="#ffbd2e"/>
<circle cx="62" cy="20" r="6" fill="#27c93f"/>
"""


def recorded() -> list[tuple[float, str]]:
    """Return the lines of the demo with the seconds after which each came, its pauses shortened."""
    child, descriptor = pty.fork()
    if child == 0:
        os.execvpe(COMMAND[0], COMMAND, {**os.environ, "TERM": "xterm-256color", "COLUMNS": str(COLUMNS)})
    lines: list[tuple[float, str]] = []
    at, before, rest = 0.5, time.monotonic(), b""
    while True:
        try:
            read = os.read(descriptor, 4096)
        except OSError:  # the other end is closed
            break
        now = time.monotonic()
        at, before = at + min(now - before, LONGEST_PAUSE_S), now
        *whole, rest = (rest + read).split(b"\n")
        lines += [(at, line.decode().rstrip("\r")) for line in whole]
    os.waitpid(child, 0)
    return lines


def spans(line: str) -> str:
    """Return a line with colours as SVG."""
    parts, style, end = [], "", 0
    for code in [*CODE.finditer(line), None]:
        text = line[end : code.start() if code else None]
        if text:
            parts.append(f'<tspan class="{style}">{escape(text)}</tspan>' if style else escape(text))
        if code:
            end = code.end()
            style = STYLES.get(code[1] or "", "")
    return "".join(parts)


def folded(lines: list[tuple[float, str]]) -> list[tuple[float, str]]:
    """Return the lines, those that are too long cut into several at a blank."""
    found = []
    for at, line in lines:
        while len(CODE.sub("", line)) > COLUMNS:
            cut = line.rfind(" ", 0, COLUMNS)
            found.append((at, line[:cut]))
            line = "     " + line[cut + 1 :]
        found.append((at, line))
    return found


def main() -> None:
    """Draw into the file that the command line names."""
    lines = folded([(0.0, SHOWN), *recorded()])
    size = {"width": round(2 * LEFT + COLUMNS * CHARACTER), "height": TOP + LINE * len(lines) + 12}
    rows = [
        f'<text x="{LEFT}" y="{TOP + LINE * (place + 1) - 6}" style="animation-delay:{at:.1f}s">{spans(line)}</text>'
        for place, (at, line) in enumerate(lines)
    ]
    Path(sys.argv[1]).write_text(HEAD.format(**size) + "\n".join([*rows, "</svg>"]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
