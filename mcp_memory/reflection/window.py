"""The window: what fits together into what a reader takes in at once (QRMeM, Algorithm 1, lines 16 to 20).

S_mix = S_imp ∪ S_add: the important segments, those of the question's entities, and the ones that reflection added.
Where they are longer than L together, the lowest-scored of S_add go. The important ones may exceed L by themselves, for
which the paper has nothing (DESIGN D22): they are then cut likewise, by how like the question they are, down to one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Piece:
    """A segment in the window.

    Attributes:
        row: of the segment.
        tokens: LEN, above 0.
        score: of the edge that led to it; of an important one its own likeness to the question. Higher is better.
        own: its own likeness to the question, which tells those with one score apart.
    """

    row: int
    tokens: int
    score: float
    own: float = 0.0


@dataclass(frozen=True, slots=True)
class Reached:
    """What a navigator comes to.

    Attributes:
        entities: keys of those that it added, in the order of the adding.
        important: S_imp, as it fits the window, nearest to the question first.
        added: S_add, likewise, best score first.
    """

    entities: tuple[str, ...]
    important: tuple[Piece, ...]
    added: tuple[Piece, ...]


def fitting(
    important: Iterable[Piece], added: Iterable[Piece], limit: int
) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
    """Return S_imp and S_add as they fit, each best first, ties by own likeness, then row.

    Args:
        important: S_imp; if there is any, the best is kept, however long it is.
        added: S_add; what is important too is not added.
        limit: L, in tokens; LEN of what is returned is at most that, but for one important piece that is longer (DESIGN
            I31).
    """
    first = _best(important)
    while len(first) > 1 and _tokens(first) > limit:
        first.pop()
    held = {piece.row for piece in first}
    then = [piece for piece in _best(added) if piece.row not in held]
    while then and _tokens(first) + _tokens(then) > limit:
        then.pop()
    return tuple(first), tuple(then)


def _best(pieces: Iterable[Piece]) -> list[Piece]:
    unique: dict[int, Piece] = {}
    for piece in sorted(pieces, key=lambda piece: (-piece.score, -piece.own, piece.row)):
        unique.setdefault(piece.row, piece)
    return list(unique.values())


def _tokens(pieces: Iterable[Piece]) -> int:
    return sum(piece.tokens for piece in pieces)
