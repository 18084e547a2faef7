"""One codec says of every dataclass what its fields may hold, and reads JSON as its values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import pytest

from mcp_memory.codec import NOT_STORED, Count, Misread, Share, fields_of, read


@dataclass(frozen=True)
class Leaf:
    """A part of a `Tree`."""

    name: str
    tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Tree:
    """One field of each sort."""

    kind: Literal["oak", "elm"]
    rings: Count
    sun: Share = 1.0
    leaf: Leaf | None = None
    names: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict)
    seen: bool = field(default=False, metadata=NOT_STORED)


def test_what_belongs_to_a_process_alone_is_no_field():
    assert [one.name for one in fields_of(Tree)] == ["kind", "rings", "sun", "leaf", "names"]


def test_json_becomes_the_value_that_it_describes():
    told = {"kind": "oak", "rings": 7, "sun": 1, "leaf": {"name": "a", "tags": ["b"], "new": 1}, "names": {"x": ["y"]}}
    assert read(Tree, told) == Tree("oak", 7, 1.0, Leaf("a", ("b",)), {"x": ("y",)})


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"kind": "ash"}, "'ash'"),
        *(({"rings": wrong}, "no whole number") for wrong in (-1, True, 2**63)),
        *(({"sun": wrong}, "above 0 and at most 1") for wrong in (0, float("nan"))),
        ({"leaf": "a"}, "no object"),
        ({"leaf": {}}, "no name"),
        ({"leaf": {"name": "a", "tags": "b"}}, "no list of texts"),
        ({"names": {"x": [1]}}, "no list of texts"),
    ],
)
def test_json_that_is_no_such_value_is_refused_in_words(changes, problem):
    with pytest.raises(Misread, match=problem):
        read(Tree, {"kind": "oak", "rings": 7} | changes)
