"""Whether a sentence looks back or forward, which alone decides what "on Friday" or "in May" mean.

English marks it on the verb. The cue that stands nearest before the expression decides ("I **went** on Friday and
**will** go again on Sunday"), else the nearest after it. A sentence without any cue says nothing about it, and then no
time is read into it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import lru_cache
from typing import Literal

Direction = Literal[-1, 0, 1]
"""Past, unknown, future."""

_CUE = re.compile(
    r"\b(?:(?P<future>will|won['’]t|going\sto|gonna|shall|plan(?:s|ning)?|intend|hop(?:e|ing)|want\sto|about\sto|tomorrow"
    r"|scheduled|due|upcoming|forward\sto|can['’]t\swait|see\syou|let['’]s|remind|need\sto|must|should|have\sto|by"
    r"|(?:am|are|is|be)\s(?:\w+ly\s)?\w{2,}ing)"
    r"|(?P<past>was|wasn['’]t|were|weren['’]t|had|did|didn['’]t|been|went|got|saw|came|took|made|said|told|met|bought|ate"
    r"|had|left|gave|found|thought|felt|knew|ran|won|lost|began|started|wrote|read|heard|spent|slept|drove|flew|spoke|sang"
    r"|swam|rode|fell|broke|built|sent|taught|caught|brought|paid|kept|held|chose|grew|drew|wore|woke|became|sold|stood"
    r"|understood|forgot|hit|put|since|ago|born|(?!need|feed|indeed|hundred|speed|breed|naked|sacred|wicked)\w{2,}ed))\b"
    r"|['’](?:(?P<will>ll)|(?P<continuous>(?:m|re|s)\s(?:\w+ly\s)?\w{2,}ing))\b",
    re.ASCII | re.IGNORECASE,
)


@lru_cache(maxsize=16)
def _cues(sentence: str) -> tuple[list[int], list[Direction]]:
    """Return where the cues of a sentence stand, and which way each points: looked up once for all its expressions."""
    found = list(_CUE.finditer(sentence))
    return [cue.start() for cue in found], [-1 if cue["past"] else 1 for cue in found]


def direction(sentence: str, start: int, end: int) -> Direction:
    """Return where the verb nearest to the expression at ``start`` … ``end`` of a sentence points: -1, 0 or 1."""
    places, directions = _cues(sentence)
    if before := bisect_left(places, start):
        return directions[before - 1]
    after = bisect_left(places, end)
    return directions[after] if after < len(places) else 0
