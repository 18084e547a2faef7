"""Forgetting: what a caller asks for, what it comes to, and what is left of it.

A *target* is what was chosen: texts, facts that callers stated, memory points and episodes, by their ids, or a whole
space. What rests on it follows from the stored rows (``view/resting.py``). No value here holds words of what goes,
except `ForgetResult`, which shows them to the caller before they go.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mcp_memory.domain.query import Window


@dataclass(frozen=True, slots=True)
class ForgetTargets:
    """What is to be forgotten in one space.

    Attributes:
        space: its name.
        everything: the whole space; the other fields are empty then.
        turns: ids of messages, revisions of documents and statements.
        assertions: ids of facts that callers stated or Claude read, of texts that stay.
        points: ids of memory points.
        episodes: ids of learnt episodes.
    """

    space: str
    everything: bool = False
    turns: frozenset[str] = frozenset()
    assertions: frozenset[str] = frozenset()
    points: frozenset[str] = frozenset()
    episodes: frozenset[str] = frozenset()

    @property
    def empty(self) -> bool:
        """Whether nothing is chosen."""
        return not (self.everything or self.turns or self.assertions or self.points or self.episodes)


@dataclass(frozen=True, slots=True)
class ForgetRequest:
    """What a caller asks to forget: exactly one of ids, a session alone, entity, query, window, everything.

    Attributes:
        space: its name.
        ids: the ids of messages, documents, facts, points, episodes or evidence.
        session: of the messages and documents that ``ids`` name; alone, the session itself.
        entity: a name.
        query: the query whose matches go.
        window: the window of times; None for no range.
        everything: the whole space.
        dry_run: whether only to say what would go.
        token: the token of the preview.
    """

    space: str
    ids: tuple[str, ...] = ()
    session: str | None = None
    entity: str | None = None
    query: str | None = None
    window: Window | None = None
    everything: bool = False
    dry_run: bool = True
    token: str | None = None


@dataclass(frozen=True, slots=True)
class ForgetResult:
    """What went, or would go.

    Attributes:
        forgotten: how many of each kind.
        affected: in words: what goes, what loses a source, what is made again, what stays.
        dry_run: whether nothing was changed.
        token: the token with which the same call does it.
        warnings: in words.
    """

    forgotten: Mapping[str, int]
    affected: tuple[str, ...]
    dry_run: bool
    token: str | None = None
    warnings: tuple[str, ...] = ()
