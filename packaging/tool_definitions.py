"""Print ``resources/tools.json``: what ``tools/list`` answers. What a tool returns is written there by hand, and kept.

python packaging/tool_definitions.py > tools.json && mv tools.json resources/
"""

import json
import sys
from typing import Any

from mcp_types import Tool as ToolDefinition
from mcp_types import ToolAnnotations
from pydantic import BaseModel

from mcp_memory import texts
from mcp_memory.server.tools.catalogue import TOOLS
from mcp_memory.server.tools.tool import Tool


def definitions() -> str:
    """Return the definitions of all tools as the text of the file."""
    replies = {tool["name"]: tool["outputSchema"] for tool in json.loads(texts.resource("tools.json"))}
    made = [definition(tool, replies[tool.name]) for tool in TOOLS.values()]
    rows = [one.model_dump(mode="json", by_alias=True, exclude_none=True) for one in made]
    return json.dumps(rows, ensure_ascii=False, indent=1) + "\n"


def definition(tool: Tool, reply: dict[str, Any] | None) -> ToolDefinition:
    """Return the entry of a tool, whose structured reply has this schema."""
    return ToolDefinition(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=schema_of(tool.input),
        output_schema=reply,
        annotations=ToolAnnotations(
            title=tool.title,
            read_only_hint=tool.read_only,
            destructive_hint=tool.destructive,
            idempotent_hint=tool.repeatable,
            open_world_hint=False,
        ),
        _meta=None if tool.meta is None else dict(tool.meta),
    )


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


if __name__ == "__main__":
    sys.stdout.write(definitions())
