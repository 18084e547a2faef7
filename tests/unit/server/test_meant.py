"""What clients send for an argument: read for what it means, at any depth, in every tool."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_memory.errors import InvalidInput
from mcp_memory.server.tools.arguments import as_meant, read_arguments
from mcp_memory.server.tools.catalogue import TOOLS
from mcp_memory.server.tools.recall import ReconstructInput, listing_of, recall_request
from mcp_memory.server.tools.write import WriteInput, write_request
from mcp_memory.settings import LimitSettings

LIMITS = LimitSettings()
EMPTY = [None, "", "  ", "null", " null ", [], {}]
PLAIN = {
    "memory_write": {"text": "Rosa keeps bees."},
    "memory_reconstruct": {"query": "Who keeps bees?"},
    "memory_answer": {"question": "Who keeps bees?"},
    "memory_evolve": {"goal": "bees"},
    "memory_explore": {"operator": "timeline", "entity": "Rosa"},
    "memory_forget": {"entity": "Rosa"},
    "memory_graph": {},
    "memory_status": {},
}


@pytest.mark.parametrize("tool", TOOLS)
def test_a_call_with_all_optional_arguments_empty_is_the_call_without_them(tool):
    model, plain = TOOLS[tool].input, PLAIN[tool]
    optional = [name for name, field in model.model_fields.items() if not field.is_required()]
    for empty in EMPTY:
        assert read_arguments(model, dict.fromkeys(optional, empty) | plain, LIMITS) == read_arguments(
            model, plain, LIMITS
        )


MESSAGE = {"text": "Rosa keeps bees.", "id": "4"}
FACT = {"head": "Rosa", "relation": "owns", "tail": "31"}
SENT = [  # the tool, an argument, its value, and other forms of it
    ("memory_reconstruct", "limit", 7, ["7", 7.0, "7.0", " 7 ", "+7"]),
    ("memory_reconstruct", "max_turns", None, ["none", "NULL", "None"]),
    ("memory_reconstruct", "include_uncertain", True, ["true", "True", " TRUE ", 1, "1"]),
    ("memory_reconstruct", "mode", "overview", ["Overview", " OVERVIEW "]),
    ("memory_explore", "operator", "tag_events", ["Tag-Events", "tag events"]),
    ("memory_reconstruct", "entities", ["31"], ["31", 31, [31.0], '["31"]', ["31", "", None, "null"]]),
    ("memory_reconstruct", "entities", None, ["[]", "{}", " [ ] ", [""], [None, "null"], '[""]']),
    ("memory_evolve", "steps", ["points"], ["Points", ["POINTS"], '["points"]']),
    ("memory_evolve", "feedback", {"supports": ["1"]}, ['{"supports": 1}', {"supports": "1", "correction": ""}]),
    (
        "memory_write", "messages", [MESSAGE],
        [MESSAGE, json.dumps(MESSAGE), json.dumps([MESSAGE]), [json.dumps(MESSAGE)], [MESSAGE | {"id": 4, "time": ""}]],
    ),
    ("memory_write", "facts", [FACT | {"confidence": 0.5}], [[FACT | {"tail": 31, "confidence": "0.50"}]]),
]  # fmt: skip


@pytest.mark.parametrize(("tool", "name", "value", "others"), SENT)
def test_other_forms_of_a_value_mean_the_value(tool, name, value, others):
    model, plain = TOOLS[tool].input, {} if name in PLAIN[tool] else PLAIN[tool]
    plain = {} if tool == "memory_write" else plain
    for other in others:
        meant = getattr(read_arguments(model, plain | {name: other}, LIMITS), name)
        assert meant == getattr(read_arguments(model, plain | {name: value}, LIMITS), name), other
        assert type(meant) is type(getattr(read_arguments(model, plain | {name: value}, LIMITS), name))


WRONG = [
    ("memory_reconstruct", "limit", ["seven", "7.5", 7.5, True, "1e3", "1,000", [7], {"a": 7}]),
    ("memory_reconstruct", "include_uncertain", ["yes", "on", 2, "2", [True]]),
    ("memory_reconstruct", "query", [True, [["a"]], {"a": 1}, float("inf"), 10**400]),
    ("memory_reconstruct", "mode", ["some-thing else", 3, ["x", "y"], True]),
    ("memory_reconstruct", "entities", [True, "[a, b", "{'a': 1}"]),
    ("memory_evolve", "feedback", ["words", "{'a': 1}", 3, True, [1]]),
]


@pytest.mark.parametrize(("tool", "name", "values"), WRONG)
def test_what_fits_no_type_is_refused_by_its_name(tool, name, values):
    for value in values:
        with pytest.raises(InvalidInput, match=rf"^{name}\b"):
            read_arguments(TOOLS[tool].input, {name: value}, LIMITS)


@pytest.mark.parametrize("text", ["5", "true", "[1, 2]", '{"text": "a"}', "null", "None", "[not a list"])
def test_what_the_text_of_a_message_says_is_never_read(text):
    request = write_request(read_arguments(WriteInput, {"messages": [{"text": text, "speaker": "Rosa"}]}, LIMITS))
    assert request.items[0].text == text


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda part: st.lists(part, max_size=3) | st.dictionaries(st.text(), part, max_size=3),
    max_leaves=8,
)


@given(JSON)
@settings(max_examples=150, deadline=None)
def test_any_json_is_read_or_refused_and_read_alike_once_more(value):
    for tool in TOOLS.values():
        for name in tool.input.model_fields:
            meant = as_meant(tool.input, {name: value})
            assert repr(as_meant(tool.input, meant)) == repr(meant)


def test_half_a_character_in_json_text_becomes_the_replacement_character():
    sent = json.dumps([{"text": "half \ud83e", "id": "\ud83e\udd42 whole"}])
    (item,) = write_request(read_arguments(WriteInput, {"messages": sent}, LIMITS)).items
    assert (item.text, item.ref) == ("half \ufffd", "\U0001f942 whole")


ASKED = {"query": "Which hives has Rosa?", "mode": "all", "since": "2024", "entities": ["Rosa"], "role": "user"}


def test_a_cursor_belongs_to_the_recall_that_gave_it():
    def asked(changes):
        return recall_request(read_arguments(ReconstructInput, ASKED | changes, LIMITS))[0]

    cursor = f"all-20-{listing_of(asked({}))}"
    for same in ({}, {"mode": "auto"}, {"limit": 5}, {"detail": "full"}, {"space": ""}, {"wordings": "null"}):
        query = asked(same | {"cursor": cursor})
        assert (query.skip, query.mode) == (20, "all")
    others = [{"query": "Which hives?"}, {"mode": "overview"}, {"since": "2023"}, {"until": "2025"}, {"space": "work"},
              {"entities": []}, {"wordings": ["Rosa has hives."]}, {"role": "assistant"}, {"as_of": "2024-05-01"},
              {"include_uncertain": True}]  # fmt: skip
    for other in others:
        with pytest.raises(InvalidInput, match=r"^cursor: .* is that of another recall\. Give the same query, space"):
            asked(other | {"cursor": cursor})
    with pytest.raises(InvalidInput, match=r"^cursor: 'all-20' is no cursor"):
        asked({"cursor": "all-20"})
