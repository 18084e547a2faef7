"""What a tool is: its name, its description, its published schemas, and the function that checks and runs a call."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from mcp_memory import texts
from mcp_memory.domain.access import Right
from mcp_memory.server.tools.arguments import Input, read
from mcp_memory.server.tools.replies import Reply
from mcp_memory.settings import LimitSettings

if TYPE_CHECKING:
    from mcp_types import Tool as ToolDefinition

    from mcp_memory.memory import Memory
    from mcp_memory.ports import Progress

Run = Callable[["Memory", "Progress"], Awaitable[Reply]]
"""Runs a call whose arguments are checked."""


@dataclass(frozen=True)
class Tool:
    """One tool.

    Attributes:
        name: as a client calls it.
        title: as people see it.
        description: tells a model when to call it; the schema tells how.
        input: the model of its arguments.
        run: returns the function that runs a call with such arguments; raises `InvalidInput` while nothing is done yet.
        read_only: whether it stores nothing.
        repeatable: whether a repeated call changes nothing more.
        destructive: whether it removes what was stored; hosts can ask the person first.
        needs: what a caller has to be allowed in each space that a call names.
        meta: what else a host reads of it.
    """

    name: str
    title: str
    description: str
    input: type[Input]
    run: Callable[[Any], Run]
    read_only: bool
    repeatable: bool = True
    destructive: bool = False
    needs: frozenset[Right] = frozenset[Right](("read",))
    meta: Mapping[str, Any] | None = None

    def prepare(self, raw: Mapping[str, Any], limits: LimitSettings) -> Run:
        """Check the arguments of a call, within the configured limits, and return the function that runs it.

        Raises:
            InvalidInput: they are wrong, and nothing is done.
        """
        return self.run(read(self.input, raw, limits))

    @cached_property
    def definition(self) -> ToolDefinition:
        """Its entry in ``tools/list``."""
        from mcp_types import Tool as ToolDefinition  # slow to import, and commands for people need none of it
        from mcp_types import ToolAnnotations

        return ToolDefinition(
            name=self.name,
            title=self.title,
            description=self.description,
            input_schema=schema_of(self.input),
            output_schema=published_replies().get(self.name),
            annotations=ToolAnnotations(
                title=self.title,
                read_only_hint=self.read_only,
                destructive_hint=self.destructive,
                idempotent_hint=self.repeatable,
                open_world_hint=False,
            ),
            _meta=None if self.meta is None else dict(self.meta),
        )


@cache
def published_replies() -> dict[str, dict[str, Any]]:
    """Return what the structured replies of each tool hold, as JSON schemas.

    They are written by hand, in ``resources/tools.json``, with neither references nor nulls (`schema_of`).
    """
    return {tool["name"]: tool["outputSchema"] for tool in json.loads(texts.resource("tools.json"))}


def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """Return a model's JSON schema in as few words as possible, since a language model reads it on every turn.

    Titles and docstrings of models are left out: they repeat the names. References are written out: not every client
    follows them. An optional field may be left out, so its schema has no null. What APIs of models refuse is left out,
    too: that unknown fields are refused, and that a bound is exclusive, is told when it happens.
    """
    schema = model.model_json_schema()
    return {"type": "object", "properties": {}, **_short(schema, schema.get("$defs", {}))}


def _short(node: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    if "$ref" in node:
        node = definitions[node["$ref"].rsplit("/", 1)[-1]] | {k: v for k, v in node.items() if k != "$ref"}
    kept = {
        k: v
        for k, v in node.items()
        if k not in ("$defs", "title", "additionalProperties") and (k, v) != ("default", None)
    }
    for bound in ("Minimum", "Maximum"):
        if (exclusive := f"exclusive{bound}") in kept:
            kept[bound.lower()] = kept.pop(exclusive)
    if "properties" in kept:
        kept.pop("description", None)
        required = kept.get("required", [])
        kept["properties"] = {
            name: _short(_without_null(part) if name not in required else part, definitions)
            for name, part in kept["properties"].items()
        }
    if "items" in kept:
        kept["items"] = _short(kept["items"], definitions)
    return kept


def _without_null(node: dict[str, Any]) -> dict[str, Any]:
    branches = [branch for branch in node.get("anyOf", ()) if branch != {"type": "null"}]
    return branches[0] | {k: v for k, v in node.items() if k != "anyOf"} if len(branches) == 1 else node
