"""The definitions of the tools, which every request of a client's model contains."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest
from jsonschema import Draft202012Validator

from mcp_memory.domain.evidence import Assessor, Rule, Stop
from mcp_memory.domain.facts import Engine, FactKind, Intent, Precision
from mcp_memory.domain.query import Breadth
from mcp_memory.domain.requests import EvolveStep, Op
from mcp_memory.server import app
from mcp_memory.server.tools.catalogue import TOOLS
from mcp_memory.texts import resource

DEFINITIONS = [*app.DEFINITIONS.values()]
ROOT = Path(__file__).parents[3]


def test_the_file_of_definitions_that_is_served_is_up_to_date():
    generator = ROOT / "packaging" / "tool_definitions.py"
    made = subprocess.run([sys.executable, str(generator)], capture_output=True, encoding="utf-8", check=True).stdout
    assert resource("tools.json") == made, f"run: python {generator}"
    assert app.DEFINITIONS.keys() == TOOLS.keys()


def test_names_descriptions_and_input_schemas_stay_small():
    size = sum(len(json.dumps([tool.name, tool.description, tool.input_schema])) for tool in DEFINITIONS)
    assert size / 4 <= 3000


@pytest.mark.parametrize("tool", DEFINITIONS, ids=lambda tool: tool.name)
def test_schemas_are_objects(tool):
    for schema in (tool.input_schema, tool.output_schema):
        Draft202012Validator.check_schema(schema)
        assert schema["type"] == "object"
        assert not {"oneOf", "anyOf", "allOf", "$ref", "$defs"} & set(schema)
        assert "$ref" not in json.dumps(schema)
    assert "null" not in json.dumps(tool.input_schema)


TAKEN = {"type", "description", "properties", "required", "items", "enum", "default", "minimum", "maximum"}
"""Words of JSON Schema that the APIs of all models take, Gemini's and OpenAI's among them."""


def schemas_in(schema):
    yield schema
    for part in (*schema.get("properties", {}).values(), *([schema["items"]] if "items" in schema else ())):
        yield from schemas_in(part)


@pytest.mark.parametrize("tool", DEFINITIONS, ids=lambda tool: tool.name)
def test_input_schemas_have_only_words_that_every_model_api_takes(tool):
    for schema in schemas_in(tool.input_schema):
        assert set(schema) <= TAKEN
        assert schema["type"] in ("object", "array", "string", "integer", "number", "boolean")
        assert all(isinstance(value, str) for value in schema.get("enum", ()))
        assert set(schema.get("required", ())) <= set(schema.get("properties", ()))
        assert (schema["type"] == "array") == ("items" in schema)


WORDS = {
    "engine": Engine,
    "fact_kind": FactKind,
    "inferred": Rule,
    "intent": Intent,
    "mode": Breadth,
    "op": Op,
    "precision": Precision,
    "step": EvolveStep,
    "stop_reason": Stop,
    "sufficiency_by": Assessor,
}


def test_the_words_of_a_published_reply_are_those_of_the_program():
    published = json.dumps([tool.output_schema["properties"] for tool in DEFINITIONS])
    for name, words in WORDS.items():
        found = {
            tuple(json.loads(enum)) for enum in re.findall(rf'"{name}": {{[^{{}}]*?"enum": (\[[^]]*\])', published)
        }
        assert found == {get_args(words)}, name


@pytest.mark.parametrize("tool", DEFINITIONS, ids=lambda tool: tool.name)
def test_hints_state_what_a_tool_does(tool):
    hints = tool.annotations
    stores = tool.name in ("memory_write", "memory_answer", "memory_evolve", "memory_forget")  # an answer learns
    assert hints.read_only_hint is not stores
    assert hints.idempotent_hint is (tool.name != "memory_answer")  # each answer is an episode of its own
    assert (hints.destructive_hint, hints.open_world_hint) == (tool.name == "memory_forget", False)
    assert "Use it" in tool.description
