"""Files that cost more than they are: what is over a bound is one bad record, named by its line; the rest goes in."""

import json
import os

import pytest
from foreign_files import chatgpt_chat, items, records_of, skipped, write_json

from mcp_memory.bounds import MOST_LEVELS, BrokenText, parse_toml
from mcp_memory.errors import InvalidInput
from mcp_memory.services.transfer.foreign import json_files
from mcp_memory.services.transfer.foreign.reading import FileRecord

DEEP = "[" * 40_000 + "]" * 40_000
NESTED = "[" * 200 + "]" * 200
MANY = "[" + "0," * 1_000_000 + "0]"
MEMORY = '{"id": "%s", "user_id": "ann", "memory": "Fact %s", "metadata": %s}'


def _told(found):
    return [item.text for item in items(found) if item.ref != "title"]


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("memories.jsonl", "1" * 5_000, "thousands of digits"),
        ("memories.jsonl", DEEP, f"more than {MOST_LEVELS} deep"),
        ("memories.jsonl", "NaN", "no JSON"),
        ("memories.jsonl", MANY, "more than 1,000,000 values"),
        ("memories.jsonl", "nothing", "no JSON"),
        ("memories.json", NESTED, f"more than {MOST_LEVELS} deep"),
        ("memories.json", MANY, "more than 1,000,000 values"),
    ],
)
def test_a_record_over_a_bound_is_named_by_its_line_and_the_others_go_in(tmp_path, name, value, problem):
    rows = [MEMORY % (number, number, value if number == 1 else 0) for number in range(3)]
    file = tmp_path / name
    file.write_text("\n".join(rows) + "\n" if name.endswith("l") else "[" + ",\n".join(rows) + "]", "utf-8")
    kind, found = records_of(file)
    assert (kind, _told(found)) == ("mem0", ["Fact 0", "Fact 2"])
    ((place, why),) = skipped(found)
    assert "line 2" in place
    assert problem in why


def test_a_list_in_an_object_is_read_up_to_and_behind_a_record_over_a_bound(tmp_path):
    file = tmp_path / "memory.json"
    name = '{"type": "entity", "name": "%s", "observations": ["x"%s]}'
    file.write_text(
        f'{{"entities": [{name % ("A", "")},\n{name % ("B", f", {NESTED}")},\n{name % ("C", "")}], "relations": []}}',
        "utf-8",
    )
    _, found = records_of(file)
    assert _told(found) == ["A: x", "C: x"]
    assert [place for place, _ in skipped(found)] == ["memory.json, entities 2 (line 2)"]


def test_a_line_that_is_too_long_is_not_held_and_the_next_one_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(json_files, "RECORD_BYTES", 10_000)
    chats = [chatgpt_chat(0), chatgpt_chat(1, turns=200), chatgpt_chat(2)]
    (tmp_path / "b.jsonl").write_text("\n".join(map(json.dumps, chats)), "utf-8")
    _, found = records_of(tmp_path / "b.jsonl")
    assert [problem for _, problem in skipped(found)] == ["is longer than 10,000 bytes"]
    assert {one.session for one in found if isinstance(one, FileRecord)} == {"chatgpt:chat-0", "chatgpt:chat-2"}


def test_a_value_of_a_list_is_held_as_far_as_its_bound(tmp_path, monkeypatch):
    monkeypatch.setattr(json_files, "RECORD_BYTES", 100_000)
    monkeypatch.setattr(json_files, "PIECE_BYTES", 1_000)
    chats = [chatgpt_chat(0), chatgpt_chat(1, turns=2_000)]
    write_json(tmp_path / "a.json", chats)
    with pytest.raises(InvalidInput, match="a value is longer than 100,000 bytes"):
        records_of(tmp_path / "a.json")
    _, found = records_of(write_json(tmp_path / "a.json", [chatgpt_chat(number, turns=9) for number in range(30)]))
    assert len(_told(found)) == 30 * 19


@pytest.mark.parametrize(
    "front",
    ["tags: " + "[" * 5_000, "title: " + "1" * 5_000, "- " * 5_000, "title: \x00", "x: " + "y" * 70_000 + "\n\n  - z"],
)
def test_no_front_matter_stops_a_folder(tmp_path, front):
    (tmp_path / "a.md").write_text(f"---\n{front}\n---\nOf a.\n", "utf-8")
    (tmp_path / "b.md").write_text("---\ntitle: B\n---\nOf b.\n", "utf-8")
    _, found = records_of(tmp_path)
    told = _told(found)
    assert told[0].endswith("Of a.")
    assert told[1:] == ["Of b."]


@pytest.mark.skipif(os.name == "nt", reason="links need a right there")
def test_links_out_of_a_folder_are_named_and_not_read(tmp_path):
    (tmp_path / "secret.md").write_text("My secret.", "utf-8")
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.md").write_text("Of a.", "utf-8")
    (folder / "out.md").symlink_to(tmp_path / "secret.md")
    (folder / "in.md").symlink_to(folder / "a.md")
    (folder / "up").symlink_to(tmp_path)
    _, found = records_of(folder)
    assert _told(found) == ["Of a.", "Of a."]
    assert skipped(found) == [("out.md", "is a link out of the folder")]


@pytest.mark.parametrize(
    "text", ["a = " + "[" * 5_000, "a = " + "1" * 5_000, "a = 1979-13-40", "=", "a." * 5_000 + "a = 1"]
)
def test_toml_that_no_parser_bears_is_refused_in_words(text):
    with pytest.raises(BrokenText):
        parse_toml(text)
