"""Paths in one line of text, in the form of REAL's eq. 9: ``Alice -lives_in[2015-03-01,now) c=.95-> London``."""

from __future__ import annotations

from mcp_memory.domain.paths import Path, Step
from mcp_memory.domain.times import BEGINNING, FOREVER, Millis
from mcp_memory.language.gregorian import FIRST, LAST, civil

UNKNOWN = "…"
"""Stands for the start of what has none, and for times that no calendar of four digits holds."""


def serialise(path: Path) -> str:
    """Return a path as text: its root, and for each step the relation, when it holds, how sure it is, and where to.

    A step from tail to head has its arrow on the other side, ``London <-lives_in[2015-03-01,now) c=.95- Alice``; one
    that a rule inferred names the rule, ``Ann -interested_in[2015-03-01,now) c=.76 by symmetry-> jazz``.
    """
    parts = [path.root.name]
    for step in path.steps:
        parts += [_arrow(step), step.version.tail if step.forward else step.version.head]
    return " ".join(parts)


def _arrow(step: Step) -> str:
    version = step.version
    when = f"[{_start(version.since)},{_end(version.until)})"
    rule = f" by {step.inferred}" if step.inferred else ""
    said = f"{version.relation}{when} c={_share(step.confidence)}{rule}"
    return f"-{said}->" if step.forward else f"<-{said}-"


def _start(since: Millis) -> str:
    return UNKNOWN if since <= BEGINNING else _day(since)


def _end(until: Millis) -> str:
    return "now" if until >= FOREVER else _day(until)


def _day(instant: Millis) -> str:
    return "{:04}-{:02}-{:02}".format(*civil(instant)) if FIRST <= instant < LAST else UNKNOWN


def _share(confidence: float) -> str:
    return f"{confidence:.2f}".removeprefix("0")
