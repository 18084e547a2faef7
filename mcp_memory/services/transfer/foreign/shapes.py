"""The shape of a JSON file: which names stand at its beginning. It tells what a file is, and where its records are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mcp_memory.services.transfer.foreign.sources import SourceFile

LOOKED_AT = 1 << 20
"""Bytes at the beginning of a JSON file that are looked at."""


@dataclass(frozen=True, slots=True)
class JsonKeys:
    """The names at the beginning of a JSON file.

    Attributes:
        root: of the object that the file is; empty if it is an array.
        first: of the first object in the file's array.
        broken: whether it is no JSON.
    """

    root: frozenset[str] = frozenset()
    first: frozenset[str] = frozenset()
    broken: bool = False


def keys_of(file: SourceFile) -> JsonKeys:
    """Return the names at the beginning of a JSON file; of a file that is none, none."""
    import ijson

    root: set[str] = set()
    first: set[str] = set()
    array = False
    with file.open() as stream:
        head = stream.read(LOOKED_AT).removeprefix(b"\xef\xbb\xbf")
    events: Any = ijson.sendable_list()
    parser = ijson.parse_coro(events)
    try:
        for start in range(0, len(head), 4096):
            parser.send(head[start : start + 4096])
            for prefix, event, value in events:
                if event == "start_array" and prefix == "":
                    array = True
                elif event == "map_key":
                    if prefix == "" and not array:
                        root.add(value)
                    elif prefix == "item" and array:
                        first.add(value)
                elif event == "end_map" and prefix == "item" and array:
                    return JsonKeys(frozenset(), frozenset(first))
            del events[:]
    except ijson.JSONError:
        return JsonKeys(frozenset(root), frozenset(first), broken=True)
    return JsonKeys(frozenset(root), frozenset(first))
