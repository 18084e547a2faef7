"""Print ``resources/tools.json``, what ``tools/list`` answers, with the schemas of the arguments as they are now.

All else is written there by hand: when to call a tool, what it does, what it returns.

python packaging/tool_definitions.py > tools.json && mv tools.json resources/
"""

import json
import sys
from typing import Any

from pydantic import BaseModel

from mcp_memory import texts
from mcp_memory.server.tools.catalogue import TOOLS


def definitions() -> str:
    """Return the text of the file; an empty schema of a tool that is new is filled in."""
    tools = json.loads(texts.resource("tools.json"))
    made = [tool | {"inputSchema": schema_of(TOOLS[tool["name"]].input)} for tool in tools]
    return json.dumps(made, ensure_ascii=False, indent=1) + "\n"


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
