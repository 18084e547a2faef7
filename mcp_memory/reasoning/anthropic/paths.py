"""Claude as the evaluator of paths: REAL's scores of the candidates of a search (§3.3.2, II; DESIGN L5).

It sees the question and the paths in the form of eq. 9, one per line behind a number. A path that extends another one
shows only its additional steps. It is asked once per step, for the paths of all beams and their extensions, so that all
are scored on one scale. ``navigation/beam.py`` says when a call is worth its cost: for one in six
questions to dialogues and mostly once per question to documents, for 660 and 800 tokens. Unless the question itself is
long, a call never takes more than 900.

A reply changes only scores. An unknown number is ignored, a path without a score keeps that of the formulas, and the
sufficiency of a hypothesis is at most its confidence (DESIGN I11). So a wrong reply misleads a search, but changes
neither which paths exist nor their number and length (DESIGN I32 to DESIGN I34).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from pydantic import AfterValidator

from mcp_memory.domain.paths import Path, PathScores
from mcp_memory.domain.query import Query
from mcp_memory.errors import EngineError
from mcp_memory.language import iso
from mcp_memory.navigation.paths import leads_back, serialise
from mcp_memory.reasoning.anthropic.client import ANSWER_TOKENS, Budget, Claude, Request
from mcp_memory.reasoning.anthropic.messages import (
    FRAME_TOKENS,
    Form,
    UnusableReply,
    estimate_tokens,
    frame,
    normalise_number,
    prompt_line,
)
from mcp_memory.texts import prompt

PATHS = 24
"""Most paths that are shown, best by the formulas; the others keep their scores. Each takes some 30 tokens of reply."""
ROOM = 420
"""Input tokens for them, so that a call stays below 900 in all."""
LINE_CHARS = 240
"""Length of a line; a longer one is cut."""
QUESTION_CHARS = 400
"""Characters of a question that are shown."""
TIME_SHARE = 0.25
"""Largest share of the time for one question that one call takes: the judgement still has to follow."""


def _share(value: float) -> float:
    if not 0 <= value <= 1:  # NaN is neither
        raise ValueError("a score is a number from 0 to 1")
    return value


def _check_number(scores: list[Score]) -> list[Score]:
    if len(scores) > 4 * PATHS:
        raise ValueError("more scores than paths")
    return scores


_Share = Annotated[float, AfterValidator(_share)]  # not as bounds of the schema, of which every word is paid for


class Score(Form):
    """Scores."""  # sent with the schema; what the fields mean is said in the prompt, once

    id: str
    qr: _Share
    lc: _Share
    sa: _Share


class PathsReply(Form):
    """Scores."""

    scores: Annotated[list[Score], AfterValidator(_check_number)]


@dataclass(frozen=True, slots=True)
class ClaudePathScorer:
    """Asks Claude for scores. `reasoning.judges` handles its `EngineError`."""

    claude: Claude

    async def score(self, query: Query, paths: Sequence[Path], budget: Budget) -> list[PathScores]:
        """Return the scores of paths, in their order.

        Args:
            query: as interpreted.
            paths: the paths with the scores that the formulas give them.
            budget: the budget of the question; `ANSWER_TOKENS` of it are left.

        Raises:
            EngineError: Claude returned nothing usable within its share of the time.
        """
        text, shown = render_paths(paths)
        if not shown:
            raise EngineError("they are too long to be shown")
        values = {
            "question": prompt_line(query.text, QUESTION_CHARS),
            "paths": text,
            "now": iso.show(query.now, query.offset),
        }
        request = Request(
            prompt("navigation/system.txt").substitute().strip(), prompt("navigation/asked.txt").substitute(values)
        )
        within = TIME_SHARE * self.claude.settings.timeout_s
        with budget.reserve(ANSWER_TOKENS):
            use = partial(to_scores, paths=paths, shown=shown)
            return await self.claude.ask(request, PathsReply, use, budget, within_s=within)


def render_paths(paths: Sequence[Path]) -> tuple[str, dict[str, int]]:
    """Return paths as numbered lines of data, and the index of the path that each number stands for.

    Shorter paths come first, since the others extend them, then those with better scores, as many as fit, in their
    order. Paths over the same facts from two ends are one; those that lead back or were guessed by co-occurrence are
    left out.
    """

    def tells(path: Path) -> bool:
        return not leads_back(path) and all(step.inferred != "cooccurrence" for step in path.steps)

    twins = _twins(paths)
    best = sorted(range(len(paths)), key=lambda place: (len(paths[place].steps), -paths[place].scores.mean, place))
    known: dict[Hashable, int] = {}
    rest: dict[int, str] = {}
    left = ROOM - FRAME_TOKENS
    for place in [place for place in best if twins[place] == place and tells(paths[place])][:PATHS]:
        path, whole = paths[place], serialise(paths[place])
        before = known.get(_path_key(path, -1))
        rest[place] = prompt_line(whole if before is None else whole.removeprefix(serialise(paths[before])), LINE_CHARS)
        left -= estimate_tokens(f"[P00] [P00] {rest[place]}\n")
        if left < 0:
            del rest[place]
            break
        known[_path_key(path)] = place
    shown = sorted(rest, key=lambda place: (len(paths[place].steps), place))
    numbers = {place: f"P{number}" for number, place in enumerate(shown, 1)}
    lines = []
    for place in shown:
        before = known.get(_path_key(paths[place], -1))
        start = "" if before is None else f"[{numbers[before]}] "
        lines.append(f"[{numbers[place]}] {start}{rest[place]}")
    return frame(lines), {number: place for place, number in numbers.items()}


def _twins(paths: Sequence[Path]) -> list[int]:
    """Return, for each path, the first one over the same facts from another root, or itself."""
    first: dict[Hashable, int] = {}
    twins: list[int] = []
    for place, path in enumerate(paths):
        other = first.setdefault(frozenset((step.version.id, step.inferred) for step in path.steps), place)
        twins.append(place if paths[other].root == path.root else other)
    return twins


def _path_key(path: Path, until: int | None = None) -> Hashable:
    """Return what distinguishes a path, or its first steps, from others."""
    return path.root, tuple((step.version.id, step.forward, step.inferred) for step in path.steps[:until])


def to_scores(reply: PathsReply, paths: Sequence[Path], shown: dict[str, int]) -> list[PathScores]:
    """Return the scores that a reply gives to paths; of two scores for one path the first counts.

    Args:
        reply: the reply of the form.
        paths: all of them.
        shown: the indices of the shown ones, by their numbers.

    Raises:
        UnusableReply: it scores no path that was shown.
    """
    scores: dict[int, PathScores] = {}
    for one in reply.scores:
        place = shown.get(normalise_number(one.id))
        if place is not None:
            scores.setdefault(place, PathScores(one.qr, one.lc, min(one.sa, _path_confidence(paths[place]))))
    if not scores:
        raise UnusableReply("it scored no path that was shown to it", "scores has to have one entry for each number.")
    return [scores.get(twin, path.scores) for twin, path in zip(_twins(paths), paths, strict=True)]


def _path_confidence(path: Path) -> float:
    """Return the highest sufficiency a path may have: 1, or the least confidence of its hypotheses."""
    return min((step.confidence for step in path.steps if step.inferred), default=1.0)
