"""What is about to be forgotten as the lines of an export, by which it can be taken back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from anyio import to_thread

from mcp_memory import __version__
from mcp_memory.domain.batch import Batch
from mcp_memory.domain.times import Millis
from mcp_memory.services.transfer.exporting import export_lines
from mcp_memory.view.erasure import Erasure


class Kept(Protocol):
    """What was forgotten and may still be taken back.

    Attributes:
        days: how long; 0 keeps nothing.
    """

    @property
    def days(self) -> int: ...  # noqa: D102

    async def log(self) -> Sequence[Batch]:
        """Return the log of the store, as it was said."""

    def purge(self) -> int:
        """Remove what is over, and return how many files. Blocking."""

    async def put(self, lines: Sequence[bytes]) -> str:
        """Keep the lines of an export, and return the name to take them back by.

        Raises:
            StoreUnwritable: they cannot be kept.
        """


async def kept_lines(kept: Kept, found: Erasure, now: Millis) -> list[bytes]:
    """Return what goes as the lines of an export, with its secrets.

    Lessons and points of which a part stays are not among them, nor points that are made anew.
    """
    log = await kept.log()
    return await to_thread.run_sync(lambda: _lines(log, found, now))


def _lines(log: Sequence[Batch], found: Erasure, now: Millis) -> list[bytes]:
    going = [_going(batch, found) for batch in log]
    return [line for _, line in export_lines(going, None, program=f"mcp-memory {__version__}", now=now)]


def _going(batch: Batch, found: Erasure) -> Batch:
    """Return what of a batch goes, with the texts of facts that go alone."""
    here, whole = found.targets.space, found.targets.everything
    named = {one.turn_id for one in batch.assertions if one.id in found.targets.assertions}

    def goes(space: str, *, chosen: bool) -> bool:
        return space == here and (whole or chosen)

    lessons = found.lessons
    return replace(
        batch,
        turns=tuple(t for t in batch.turns if goes(t.space, chosen=t.id in found.turns or t.id in named)),
        assertions=tuple(
            one for one in batch.assertions if goes(one.space, chosen=not found.keeps_assertion(one.turn_id, one.id))
        ),
        lessons=tuple(
            one for one in batch.lessons if goes(one.space, chosen=one.key in lessons and lessons[one.key] is None)
        ),
        points=tuple(one for one in batch.points if goes(one.space, chosen=one.id in found.points)),
        aliases=tuple(one for one in batch.aliases if goes(one.space, chosen=not found.keeps_alias(one))),
        questions=tuple(
            (space, one) for space, one in batch.questions if goes(space, chosen=one.segment_id in found.segments)
        ),
        jobs=tuple(one for one in batch.jobs if goes(one.space, chosen=one.turn_id in found.turns)),
    )
