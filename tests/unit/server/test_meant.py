"""What clients send for an argument: read for what it means, at any depth, in every tool."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_memory.errors import InvalidInput
from mcp_memory.server.tools.arguments import read
from mcp_memory.server.tools.catalogue import TOOLS
from mcp_memory.server.tools.meant import LEFT_OUT, _fields, as_meant
from mcp_memory.server.tools.reconstruct import ReconstructInput, listing_of, recall_query
from mcp_memory.server.tools.write import WriteInput, write_request
from mcp_memory.settings import LimitSettings

LIMITS = LimitSettings()
EMPTY = [None, "", "  ", "null", " null ", [], {}]
EMPTY_BUT_FOR_TEXTS = [*EMPTY, "None", "NULL"]
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


def models():
    """Return each model of arguments with the tool that it is of, also those of objects in arguments."""
    found = [(tool.input, name) for name, tool in TOOLS.items()]
    for model, name in found:
        for declared, _ in _fields(model).values():
            inner = declared.model or (declared.item and declared.item.model)
            if inner:
                found.append((inner, name))
    return found


FIELDS = [(model, name, *field) for model, _ in models() for name, field in _fields(model).items()]
OPTIONAL = [(model, name, declared) for model, name, declared, optional in FIELDS if optional]


def kind_of(declared):
    return "words" if declared.words else declared.kind.__name__


def called(case):
    return f"{case[0].__name__}.{case[1]}"


@pytest.mark.parametrize("case", OPTIONAL, ids=called)
def test_whatever_is_empty_counts_as_left_out_for_every_optional_argument(case):
    model, name, declared = case
    texts = declared.kind is str or (declared.item and declared.item.kind is str)
    for empty in EMPTY if texts else EMPTY_BUT_FOR_TEXTS:
        assert as_meant(model, {name: empty}) == {}, empty
    if declared.kind in (list, dict):
        for empty in ("[]", "{}", " [ ] ", *([[""], [None, "null"], '[""]'] if texts else ())):
            assert as_meant(model, {name: empty}) == {}, empty


@pytest.mark.parametrize("tool", TOOLS)
def test_a_call_with_all_optional_arguments_empty_is_the_call_without_them(tool):
    model, plain = TOOLS[tool].input, PLAIN[tool]
    for empty in EMPTY:
        filled = dict.fromkeys((name for name, (_, optional) in _fields(model).items() if optional), empty) | plain
        assert read(model, filled, LIMITS) == read(model, plain, LIMITS)


@pytest.mark.parametrize("case", [case for case in FIELDS if not case[3]], ids=called)
def test_required_text_that_is_empty_or_the_word_null_stays_as_it_is(case):
    model, name, declared, _ = case
    if declared.kind is str:
        assert [as_meant(model, {name: text}) for text in ("", "null", "5")] == [
            {name: ""},
            {name: "null"},
            {name: "5"},
        ]
    assert as_meant(model, {name: None}) == {}


def as_sent(declared):
    """Return values of a type, each with other forms in which clients send it."""
    if declared.words:
        return [(word, [word.lower(), word.upper(), f" {word} ", word.replace("_", "-")]) for word in declared.words]
    if declared.item is not None:
        if declared.item.model is not None:
            return []  # below
        ones = as_sent(declared.item)
        return [([value], [value, *others, json.dumps([value]), *([one] for one in others)]) for value, others in ones]
    return {
        "int": [(7, ["7", 7.0, "7.0", " 7 ", "+7"]), (120, ["120", 120.0])],
        "float": [(0.5, ["0.5", "0.50", "+0.5"]), (1, ["1", 1.0, "1.0"])],
        "bool": [(True, ["true", "True", " TRUE ", 1, "1"]), (False, ["false", "False", 0, "0"])],
        "str": [("31", [31, 31.0]), ("2.5", [2.5]), ("-4", [-4])],
    }.get(kind_of(declared), [])


@pytest.mark.parametrize("case", FIELDS, ids=called)
def test_other_forms_of_a_value_mean_the_value_for_every_argument(case):
    model, name, declared, _ = case
    for value, others in as_sent(declared):
        for other in (value, *others):
            meant = as_meant(model, {name: other})
            assert meant == {name: value}, other
            assert type(meant[name]) is type(value) or declared.kind is float


@pytest.mark.parametrize("case", FIELDS, ids=called)
def test_what_fits_no_type_stays_as_it_came_and_is_refused_by_its_name(case):
    model, name, declared, _ = case
    wrong = {
        "int": ["seven", "7.5", 7.5, True, "1e3", "1,000", [7], {"a": 7}],
        "float": ["high", True, "50%", [0.5]],
        "bool": ["yes", "on", 2, "2", [True]],
        "str": [True, [["a"]], {"a": 1}, float("inf"), 10**400],
        "list": [True, "[a, b", "{'a': 1}"],
        "dict": ["words", "{'a': 1}", 3, True, [1]],
        "words": ["some-thing else", 3, ["x", "y"], True],
    }[kind_of(declared)]
    for value in wrong:
        assert as_meant(model, {name: value}) == {name: value}
        with pytest.raises(InvalidInput) as error:
            read(model, {name: value}, LIMITS)
        if not any(field.is_required() for other, field in model.model_fields.items() if other != name):
            assert str(error.value).startswith(name), value


@pytest.mark.parametrize("case", [case for case in FIELDS if case[2].item and case[2].item.model], ids=called)
def test_a_list_of_objects_may_be_one_object_or_json_text(case):
    model, name, declared, _ = case
    one = {"text": "Rosa keeps bees.", "id": "4", "description": "x"}
    for sent in (one, [one], json.dumps(one), json.dumps([one]), [json.dumps(one)], [{**one, "id": 4, "time": "null"}]):
        found = as_meant(model, {name: sent})[name]
        assert [
            {k: v for k, v in item.items() if k != "time" or "time" not in _fields(declared.item.model)}
            for item in found
        ]
        assert found[0]["text"] == one["text"]


@pytest.mark.parametrize("case", [case for case in FIELDS if case[2].item], ids=called)
def test_a_list_says_how_long_it_may_be_and_a_longer_one_is_refused_before_its_items_are_read(case):
    model, name, declared, _ = case
    assert (declared.most is None) == (model is WriteInput)  # whose lists have a setting
    for sent in ([object()] * 301, json.dumps([{}] * 301)):
        with pytest.raises(InvalidInput, match=rf"^{name}: 301 items are more than the {declared.most or 300}"):
            as_meant(model, {name: sent}, 300)


@pytest.mark.parametrize("text", ["5", "true", "[1, 2]", '{"text": "a"}', "null", "None", "[not a list"])
def test_what_the_text_of_a_message_says_is_never_read(text):
    request = write_request(read(WriteInput, {"messages": [{"text": text, "speaker": "Rosa"}]}, LIMITS))
    assert request.items[0].text == text


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda part: st.lists(part, max_size=3) | st.dictionaries(st.text(), part, max_size=3),
    max_leaves=8,
)


@given(JSON)
@settings(max_examples=150, deadline=None)
def test_any_json_is_read_or_refused_and_read_alike_once_more(value):
    for model, name, _, _ in FIELDS:
        meant = as_meant(model, {name: value})
        assert LEFT_OUT not in meant.values()
        assert repr(as_meant(model, meant)) == repr(meant)


@pytest.mark.parametrize("text", ["half \ud83e", "\udd42", "\ud83e\udd42 whole"])
def test_half_a_character_becomes_the_replacement_character_also_in_json_text(text):
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    for sent in ([{"text": text, "id": text}], json.dumps([{"text": text, "id": text}])):
        (item,) = write_request(read(WriteInput, {"messages": sent}, LIMITS)).items
        assert (item.text, item.ref) == (whole, whole)


ASKED = {"query": "Which hives has Rosa?", "mode": "all", "since": "2024", "entities": ["Rosa"], "role": "user"}


def test_a_cursor_belongs_to_the_recall_that_gave_it():
    cursor = f"all-20-{listing_of(recall_query(read(ReconstructInput, ASKED, LIMITS)))}"
    for same in ({}, {"mode": "auto"}, {"limit": 5}, {"detail": "full"}, {"space": ""}, {"wordings": "null"}):
        query = recall_query(read(ReconstructInput, ASKED | same | {"cursor": cursor}, LIMITS))
        assert (query.skip, query.mode) == (20, "all")
    others = [{"query": "Which hives?"}, {"mode": "overview"}, {"since": "2023"}, {"until": "2025"}, {"space": "work"},
              {"entities": []}, {"wordings": ["Rosa has hives."]}, {"role": "assistant"}, {"as_of": "2024-05-01"},
              {"include_uncertain": True}]  # fmt: skip
    for other in others:
        with pytest.raises(InvalidInput, match=r"^cursor: .* is that of another recall\. Give the same query, space"):
            recall_query(read(ReconstructInput, ASKED | other | {"cursor": cursor}, LIMITS))
    with pytest.raises(InvalidInput, match=r"^cursor: 'all-20' is no cursor"):
        recall_query(read(ReconstructInput, ASKED | {"cursor": "all-20"}, LIMITS))
