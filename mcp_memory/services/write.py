"""Remember: keep what was said to the letter, and make it findable.

Everything that takes time (splitting, resolving dates, embedding) happens before the store's lock is taken. Under it
only what another process may have written meanwhile is looked at again, rows are appended, and one commit is made: a
call is wholly there or not at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mcp_memory.domain.ids import derived_ref, turn_id
from mcp_memory.domain.requests import WriteRequest, WriteResult, Written
from mcp_memory.domain.times import Millis
from mcp_memory.domain.turns import Turn
from mcp_memory.errors import InvalidInput
from mcp_memory.ports import Embedder, Progress, Store
from mcp_memory.services.derive import Derived, batch_of, derive
from mcp_memory.view.space import Space


async def write(
    store: Store, embedder: Embedder, request: WriteRequest, *, now: Millis, segment_tokens: int, progress: Progress
) -> WriteResult:
    """Store the items that are new, in one commit.

    Args:
        store: where to.
        embedder: for the vectors.
        request: what to remember.
        now: kept beside the time that the caller gave.
        segment_tokens: about how long a segment is.
        progress: told of the embedding, which is what takes time.

    Raises:
        InvalidInput: an id is taken by another text. Nothing of the call is stored.
        StoreError: nothing of the call is stored.
    """
    asked = _turns(request, now)
    ready: dict[int, Derived] = {}
    while True:
        async with store.reading(whole=False) as view:
            new, _ = _compare(view.space(request.space), asked)
        missing = [turn for turn in new if turn.place not in ready]
        made = await derive(embedder, missing, segment_tokens=segment_tokens, progress=progress)
        ready |= {turn.place: part for turn, part in zip(missing, made, strict=True)}
        batch = batch_of(new, [ready[turn.place] for turn in new])
        async with store.writing(batch) as transaction:
            still_new, warnings = _compare(transaction.view.space(request.space), asked)
            if any(turn.place not in ready for turn in still_new):
                continue  # another process revised a document while we embedded: what was known is new again
            if still_new != new:  # another process wrote some of the items while we embedded
                batch = batch_of(still_new, [ready[turn.place] for turn in still_new])
            await transaction.commit(batch)
            break
    stored = {turn.place for turn in batch.turns}
    items = tuple(Written(turn.ref, turn.session, turn.place in stored) for turn in asked)
    return WriteResult(items, len(batch.segments), len(batch.sentences), tuple(warnings))


def _turns(request: WriteRequest, now: Millis) -> list[Turn]:
    """Return the items as turns, as if none of them were stored yet."""
    turns: list[Turn] = []
    equal: dict[tuple[str | None, ...], int] = {}
    for place, item in enumerate(request.items):
        ref = item.ref
        if ref is None:
            when = None if item.said_at is None else str(item.said_at)
            key = (item.speaker, item.role, when, item.title, item.text)
            ref = derived_ref(*key, nth=equal.get(key, 0))
            equal[key] = equal.get(key, 0) + 1
        turns.append(
            Turn(
                id=turn_id(request.space, request.session, ref, item.text, 0),
                space=request.space,
                session=request.session,
                ref=ref,
                kind=request.kind,
                text=item.text,
                speaker=item.speaker,
                role=item.role,
                title=item.title,
                said_at=item.said_at,
                written_at=now,
                revision=0,
                place=place,
            )
        )
    return turns


def _compare(space: Space, asked: Sequence[Turn]) -> tuple[list[Turn], list[str]]:
    """Return which of the turns are new to the space (documents with their revision), and warnings about the others.

    Raises:
        InvalidInput: a message's id is taken, or one call gives two texts for one id.
    """
    new: list[Turn] = []
    warnings: list[str] = []
    in_call: dict[str, Turn] = {}
    for turn in asked:
        argument = f"{turn.kind}s[{turn.place}]"
        known = in_call.get(turn.ref) or space.current(turn.session, turn.ref)
        if known is None:
            in_call[turn.ref] = turn
            new.append(turn)
        elif known.text == turn.text and known.kind == turn.kind:
            differing = [name for name in ("speaker", "role", "said_at", "title") if _differs(known, turn, name)]
            if differing:
                words = ", ".join(differing).replace("said_at", "time")
                warnings.append(f"{argument} ({turn.ref!r}) is stored already; its other {words} was not taken over.")
        elif turn.ref in in_call:
            raise InvalidInput(f"{argument}.id", f"{turn.ref!r} stands twice in this call, with two texts", _OTHER_ID)
        elif turn.kind == "document" and known.kind == "document":
            revision = known.revision + 1
            name = turn_id(turn.space, turn.session, turn.ref, turn.text, revision)
            in_call[turn.ref] = replace(turn, id=name, revision=revision)
            new.append(in_call[turn.ref])
        else:
            problem = f"{turn.ref!r} is taken in session {turn.session!r} by a {known.kind} with another text"
            raise InvalidInput(f"{argument}.id", problem, _OTHER_ID)
    return new, warnings


_OTHER_ID = "Give each its own id, or leave the id out. Nothing of this call was stored."


def _differs(known: Turn, turn: Turn, name: str) -> bool:
    """Return whether the caller gave another value; one that it left out contradicts nothing."""
    given = getattr(turn, name)
    return given is not None and given != getattr(known, name)
