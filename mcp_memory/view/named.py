"""The names of texts in a space: their refs and ids, made with the key of the store (``domain/ids.py``).

The same text gets the same names again, also where an older program stored it, or another store had it first.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from mcp_memory.domain.ids import former_ref
from mcp_memory.domain.turns import Turn
from mcp_memory.view.space import Space


def ref_of(space: Space, session: str, ref: str) -> str:
    """Return a ref keyed, or as a program before format 10 made it, if a text has it; a caller's as it is."""
    keyed, former = space.ids.ref(ref), former_ref(ref)
    if keyed == ref or space.current(session, keyed) is not None or space.current(session, former) is None:
        return keyed
    return former


def named(space: Space, turns: Iterable[Turn]) -> list[Turn]:
    """Return first revisions of one call with their ids, and with the refs of the same texts if the space has them.

    Args:
        space: the space that they go into.
        turns: the turns, whose refs may not be keyed yet.
    """
    found: list[Turn] = []
    for turn in turns:
        ref = ref_of(space, turn.session, turn.ref)
        if space.foreign and ref != turn.ref and space.current(turn.session, ref) is None:
            taken = {one.ref for one in found}
            ref = next((one for one in space.foreign.find(turn, space.turns) if one not in taken), ref)
        found.append(replace(turn, id=space.ids.turn(turn.space, turn.session, ref, turn.text, 0), ref=ref))
    return found
