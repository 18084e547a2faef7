"""A space made by hand: one line a message or document, one segment each unless told otherwise."""

from collections.abc import Sequence

import numpy as np

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.requests import Window
from mcp_memory.domain.turns import Segment, Turn
from mcp_memory.language.questions import understand
from mcp_memory.search.look import INDEXES, Hit, Switches, Weights, look
from mcp_memory.vectors import Matrix
from mcp_memory.view.space import Space
from mcp_memory.view.view import View


def message(ref: str, speaker: str | None, text: str, at: int = 0, session: str = "s", role: str | None = None) -> Turn:
    return Turn(f"t_{session}{ref}", "x", session, ref, "message", text, speaker, role, None, at, 0, 0, 0)


def document(ref: str, title: str | None, text: str, at: int = 0, revision: int = 0) -> Turn:
    name = f"t_d{ref}.{revision}"
    return Turn(name, "x", "papers", ref, "document", text, None, None, title, at, 0, revision, 0)


def batch(turns: Sequence[Turn], width: int = 10_000) -> Batch:
    """Return the turns with segments of ``width`` characters."""
    segments = [
        Segment(f"g_{turn.id}.{index}", "x", turn.id, index, start, min(start + width, len(turn.text)), index, index)
        for turn in turns
        for index, start in enumerate(range(0, len(turn.text), width))
    ]
    return Batch(tuple(turns), tuple(segments), (), np.zeros((len(segments), 2), np.float32))


def space_of(*turns: Turn, width: int = 10_000) -> Space:
    view = View(INDEXES)
    view.add(batch(turns, width), 1)
    return view.space("x")


def ask(
    space: Space,
    question: str,
    cosines: Matrix | None = None,
    window: Window = Window(),  # noqa: B008 - frozen
    switches: Switches = Switches(),  # noqa: B008 - frozen
    limit: int = 20,
) -> list[Hit]:
    """Look with no meaning but the one given."""
    asked = understand(question, space.speakers)
    given = np.zeros((2, len(space.segments)), np.float32) if cosines is None else cosines
    return look(space, asked, given, window, Weights(), switches, limit)


def refs(space: Space, hits: Sequence[Hit]) -> list[str]:
    return [space.segment_turn[hit.row].ref for hit in hits]
