"""One value of a JSON file is set or taken out, and every other byte stays."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_memory.bounds import BrokenText
from mcp_memory.commands.jsonc import parse, with_value, without_value

PATH = ("mcpServers", "memory")
ENTRY = {"command": "/bin/mcp-memory", "env": {"A": "b"}}
COMMENTED = """\
// my servers
{
    "mcpServers": {
        /* the old one */ "files": { "command": "npx", "args": ["-y", "x"] }, // keep
        "last": {"command": "y"} // the last
        // nothing more
    },
    "theme": "dark",
}
"""


def test_comments_indentation_and_order_stay():
    changed = with_value(COMMENTED, PATH, ENTRY)
    assert (
        changed
        == """\
// my servers
{
    "mcpServers": {
        /* the old one */ "files": { "command": "npx", "args": ["-y", "x"] }, // keep
        "last": {"command": "y"}, // the last
        // nothing more
        "memory": {
            "command": "/bin/mcp-memory",
            "env": {
                "A": "b"
            }
        }
    },
    "theme": "dark",
}
"""
    )
    assert without_value(changed, PATH) == COMMENTED


@pytest.mark.parametrize(
    "text",
    [
        COMMENTED,
        COMMENTED.replace("\n", "\r\n"),
        "{}",
        "{ }",
        "{\n}\n",
        '{"a": 1}',
        '{"a": 1,}',
        '{"mcpServers": {}}',
        '{\n  "mcpServers": {}\n}\n',
        '{\n  "mcpServers": {\n  }\n}\n',
        '{\n  "mcpServers": {\n    // none yet\n  }\n}\n',
        '{\n\t"mcpServers": {\n\t\t"a": {},\n\t},\n}\n',
        '{\n  "a": "}{\\"//",\n  "mcpServers": {"b": {"command": "c"}}\n}',
        '{"mcpServers": {"a": 1, "memory": 2, "b": 3}}',
    ],
)
def test_what_is_set_is_there_and_nothing_else_changes(text):
    before = parse(text)
    changed = with_value(text, PATH, ENTRY)
    expected = {**before, "mcpServers": {**before.get("mcpServers", {}), "memory": ENTRY}}
    assert parse(changed) == expected
    assert with_value(changed, PATH, ENTRY) == changed
    if "mcpServers" in before and "memory" not in before["mcpServers"] and text != '{\n  "mcpServers": {\n  }\n}\n':
        assert without_value(changed, PATH) == text
    assert ("\r\n" in changed) == ("\r\n" in text)
    assert changed.count("\n") == changed.count("\r\n") or "\r\n" not in text


def test_an_empty_file_becomes_an_object():
    assert json.loads(with_value("", PATH, ENTRY)) == {"mcpServers": {"memory": ENTRY}}
    assert with_value("// mine\n", ("a",), 1) == '// mine\n{\n  "a": 1\n}\n'


def test_a_single_value_within_an_entry_is_replaced():
    entry = '{\n      "command": "old", // mine\n      "env": {"KEY": "k"}\n    }'
    text = '{\n  "mcpServers": {\n    "memory": ' + entry + "\n  }\n}\n"
    changed = with_value(text, (*PATH, "command"), "new")
    assert changed == text.replace('"old"', '"new"')
    changed = with_value(text, (*PATH, "env", "SPACE"), "work")
    assert changed == text.replace('{"KEY": "k"}', '{"KEY": "k", "SPACE": "work"}')


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ('{\n  "a": 1\n  "b": 2\n}', 3, "',' delimiter"),
        ('{\n  "a": \n}', 3, "Expecting value"),
        ('{\n  "a": 1,\n', 3, "double quotes"),
        ("{\n  a: 1\n}", 2, "double quotes"),
        ('{"a": "b // c}', 1, "is no JSON"),
        ('{"a": 1}\n\nmore', 3, "Extra data"),
        ('{"a": NaN}', 1, "is no number"),
        ("[" * 300, 1, "nested more than"),
        ('["x"]', 1, "the file is no object"),
        ('{"mcpServers": []}', 1, "'mcpServers' is no object"),
    ],
)
def test_a_broken_file_is_refused_with_its_line(text, line, words):
    with pytest.raises(BrokenText) as refusal:
        with_value(text, PATH, ENTRY)
    assert refusal.value.line == line
    assert words in refusal.value.problem


NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=5)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | NAMES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(NAMES, VALUES, max_size=4), st.sampled_from([None, 1, 4, "\t"]), NAMES)
@settings(deadline=None)
def test_any_file_can_be_edited_and_restored(content, indent, name):
    text = json.dumps(content, indent=indent, ensure_ascii=False)
    assert parse(text) == content
    changed = with_value(text, (name,), ENTRY)
    assert json.loads(changed) == content | {name: ENTRY}
    if name not in content:
        assert without_value(changed, (name,)) == text
    assert json.loads(without_value(text, (name,))) == {k: v for k, v in content.items() if k != name}
