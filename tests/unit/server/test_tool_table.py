"""What every request of a client's model has to carry: the definitions of the tools."""

import json

import pytest
from jsonschema import Draft202012Validator

from mcp_memory.server.tools import TOOLS

DEFINITIONS = [tool.definition for tool in TOOLS.values()]


def test_names_descriptions_and_input_schemas_stay_small():
    size = sum(len(json.dumps([tool.name, tool.description, tool.input_schema])) for tool in DEFINITIONS)
    assert size / 4 <= 2000  # of 3,000 for seven tools


@pytest.mark.parametrize("tool", DEFINITIONS, ids=lambda tool: tool.name)
def test_schemas_are_objects_that_every_model_api_takes(tool):
    for schema in (tool.input_schema, tool.output_schema):
        Draft202012Validator.check_schema(schema)
        assert schema["type"] == "object"
        assert not {"oneOf", "anyOf", "allOf", "$ref", "$defs"} & set(schema)
        assert "$ref" not in json.dumps(schema)
    assert tool.input_schema["additionalProperties"] is False
    assert "null" not in json.dumps(tool.input_schema)


@pytest.mark.parametrize("tool", DEFINITIONS, ids=lambda tool: tool.name)
def test_hints_tell_what_a_tool_does(tool):
    hints = tool.annotations
    assert hints.read_only_hint is (tool.name != "memory_write")
    assert (hints.destructive_hint, hints.idempotent_hint, hints.open_world_hint) == (False, True, False)
    assert "Use it" in tool.description
