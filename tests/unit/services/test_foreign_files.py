"""Files of other programs are recognised by their content; every record of them is read, or named as left out."""

import io
import json
import os
import random
import zipfile
from contextlib import suppress

import pytest
from foreign_files import (
    MEM0,
    NOTE,
    OFFICIAL,
    chatgpt_chat,
    claude_chat,
    facts,
    items,
    left_out,
    records_of,
    skipped,
    write_json,
)

from mcp_memory.access.tokens import TokenFile
from mcp_memory.bounds import MOST_LEVELS, BrokenText, parse_toml
from mcp_memory.commands.install import CLIENTS, read_client_file
from mcp_memory.errors import InvalidInput, McpMemoryError
from mcp_memory.server.incoming import read_message
from mcp_memory.server.tools.catalogue import TOOLS
from mcp_memory.services.transfer.foreign import json_files
from mcp_memory.services.transfer.foreign.reading import BadRecord, FileRecord, LeftOut, moment_of
from mcp_memory.settings import Settings, load

MAY_5_10 = 1_714_903_200_000


def texts(found):
    """Return the texts of records without the titles of chats."""
    return [item.text for item in items(found) if item.ref != "title"]


def stated(found):
    return {(fact.head, fact.relation, fact.tail) for fact in facts(found)}


# ChatGPT


def test_of_a_chat_of_chatgpt_only_the_branch_of_the_current_node_is_read(tmp_path):
    kind, found = records_of(write_json(tmp_path / "conversations.json", [chatgpt_chat(turns=2)]))
    assert kind == "chatgpt"
    assert found[0].session == "chatgpt:chat-0"
    *said, title = items(found)
    assert [(item.speaker, item.role, item.text) for item in said] == [
        (None, "user", "I moved to Porto in March, note 0 0."),
        ("ChatGPT", "assistant", "Porto is lovely, 0 0."),
        (None, "user", "I moved to Porto in March, note 0 1."),
        ("ChatGPT", "assistant", "Porto is lovely, 0 1."),
        (None, "user", "This is my boat.\n[attached: boat.jpg]"),
    ]
    assert {item.said_at for item in said} == {MAY_5_10 + 500}
    assert said[0].ref == "chatgpt:c0-u0"
    assert (title.ref, title.title, title.text) == ("title", "Moving", "Title of this chat: Moving")


def test_the_parts_of_a_split_export_are_read_in_order_from_a_folder_and_from_an_archive(tmp_path):
    folder = tmp_path / "export"
    for part in range(3):
        write_json(folder / f"conversations-00{part}.json", [chatgpt_chat(part)])
    write_json(folder / "user.json", {"id": "u", "email": "x"})
    (folder / "chat.html").write_text("<html>")
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        for path in sorted(folder.iterdir()):
            archive.write(path, f"deep/{path.name}")
    for place in (folder, tmp_path / "export.zip"):
        kind, found = records_of(place)
        assert kind == "chatgpt"
        order = [one.session for one in found if items([one]) and one.kind == "message"]
        assert order == ["chatgpt:chat-0", "chatgpt:chat-1", "chatgpt:chat-2"]


def test_a_record_that_is_none_is_named_and_the_others_are_read(tmp_path):
    chats = [chatgpt_chat(0), 5, {"title": "x", "mapping": 3}, {"mapping": {}}, chatgpt_chat(4)]
    _, found = records_of(write_json(tmp_path / "conversations.json", chats, indent=1))
    assert [problem for _, problem in skipped(found)] == [
        "is no JSON object",
        "has no messages in 'mapping'",
        "has no text in 'conversation_id' or 'id' or 'title'",
    ]
    assert skipped(found)[0][0].startswith("conversations.json, record 2 (line ")
    assert len(texts(found)) == 6


# Claude


def test_a_chat_of_claude_keeps_what_was_attached_as_a_document(tmp_path):
    kind, found = records_of(write_json(tmp_path / "conversations.json", [claude_chat()], indent=2))
    assert kind == "claude"
    human, document_free = items(found)[0], items(found)[1]
    assert human.text == "Read this.\n[attached: log.txt]\n[attached: sails.png]"
    assert (human.role, human.speaker, human.said_at) == ("user", None, MAY_5_10 + 1_000)
    assert (document_free.speaker, document_free.text) == ("Claude", "It sailed at noon.")
    assert document_free.said_at == MAY_5_10 + 123  # that of the chat
    document = items(found)[2]
    assert (document.title, document.text) == ("log.txt", "The Curlew sailed at noon.")
    assert items(found)[3].text == "Title of this chat: Boats"
    assert [record.kind for record in found[:3]] == ["message", "document", "document"]


def said(number, *, by="human", parent=None, minute=0):
    when = f"2026-02-01T09:{minute:02}:00Z"
    row = {"uuid": f"w{number}", "sender": by, "text": f"Sentence {number}.", "content": [], "created_at": when}
    return row | ({} if parent is None else {"parent_message_uuid": parent})


def kites(*messages, **more):
    """Return a chat of Claude of these messages."""
    return {"uuid": "c", "name": "Kites", "created_at": "2026-02-01T09:00:00Z", "chat_messages": messages, **more}


ROOT = "00000000-0000-4000-8000-000000000000"
TREE = [
    said(0, parent=ROOT),
    said(1, by="assistant", parent="w0", minute=1),
    said(2, parent="w1", minute=2),
    said(3, by="assistant", parent="w2", minute=3),
    said(4, parent="w1", minute=9),  # an edit of 2
    said(5, by="assistant", parent="w4", minute=10),
    said(6, by="assistant", parent="w4", minute=8),  # a retry of 5
]


@pytest.mark.parametrize(
    ("leaf", "branch"),
    [("w5", [0, 1, 4, 5]), ("w3", [0, 1, 2, 3]), ("w6", [0, 1, 4, 6]), ("w1", [0, 1]), (None, [0, 1, 4, 5]),
     ("gone", [0, 1, 4, 5])],
)  # fmt: skip
def test_of_a_chat_of_claude_the_branch_of_its_leaf_is_read_and_the_others_are_counted(tmp_path, leaf, branch):
    for messages in (TREE, TREE[::-1]):
        _, found = records_of(write_json(tmp_path / "c.json", [kites(*messages, current_leaf_message_uuid=leaf)]))
        assert texts(found) == [f"Sentence {number}." for number in branch]
        assert left_out(found) == [("message", "on branches that were abandoned", len(TREE) - len(branch))]


MEMORY = {
    "conversations_memory": "**Hobbies**\n\nThe user builds kites in Aveiro.",
    "project_memories": {"q7": "Bamboo spars.", "q8": ""},
    "account_uuid": "a1",
    "memory_version": "x2",
}


@pytest.mark.parametrize("value", [MEMORY, [MEMORY], [{**MEMORY, "project_memories": [{"q7": "Bamboo spars."}]}]])
def test_what_claude_remembers_is_stored_at_no_time(tmp_path, value):
    kind, found = records_of(write_json(tmp_path / "memories.json", value))
    assert kind == "claude"
    whole, project = texts(found)
    assert "kites in Aveiro" in whole
    assert "Bamboo spars." in project
    assert all(item.said_at is None for item in items(found))


def archive(*members):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as made:
        for name, value in members:
            made.writestr(name, value if isinstance(value, bytes) else json.dumps(value))
    return packed.getvalue()


def laid(tmp_path, parts):
    """Write files into a folder, and return it."""
    (folder := tmp_path / "export").mkdir()
    for name, content in parts:
        (folder / name).write_bytes(content)
    return folder


def test_projects_of_claude_are_documents(tmp_path):
    project = {
        "uuid": "q",
        "name": "Boat",
        "prompt_template": "Answer briefly.",
        "created_at": "2024-05-05T10:00:00Z",
        "docs": [{"uuid": "d", "filename": "sails.md", "content": "Two sails.", "created_at": "2024-05-05T10:00:00Z"}],
    }
    kind, found = records_of(write_json(tmp_path / "projects.json", [project]))
    assert kind == "claude"
    assert [(item.title, item.text) for item in items(found)] == [
        ("Instructions of the project Boat", "Answer briefly."),
        ("sails.md", "Two sails."),
    ]


def test_an_export_in_numbered_archives_in_a_folder_is_read_whole(tmp_path):
    project = {"uuid": "q7", "name": "Kite", "description": "A big one.", "prompt_template": "", "docs": []}
    chats = [kites(said(0)) | {"uuid": f"c{number}"} for number in range(3)]
    parts = [
        ("conversations-000.zip", archive(("conversations.json", chats[:2]))),
        ("conversations-001.zip", archive(("conversations.json", chats[2:]))),
        ("memories-000.zip", archive(("memories/a1.json", MEMORY))),
        ("projects-000.zip", archive(("projects/q7.json", project))),
        ("users-000.zip", archive(("users.json", [{"uuid": "a1", "full_name": "Nobody"}]))),
        ("manifest-1.json", b'{"files": ["https://x/conversations-000.zip"]}'),
    ]
    kind, found = records_of(laid(tmp_path, parts))
    assert kind == "claude"
    chats = {"claude:c0", "claude:c1", "claude:c2"}
    assert {one.session for one in found if items([one])} == chats | {"claude:memory", "claude-project:q7"}
    assert "A big one." in texts(found)
    assert left_out(found) == [("file", "of no known kind", 1)] * 2


LONG = ("conversations.json", [kites(*(said(number) for number in range(90)))])
SHORT = ("conversations.json", [kites(said(0))])


def encrypted(packed):
    flagged = bytearray(packed)
    flagged[packed.rindex(b"PK\x01\x02") + 8] |= 1
    return bytes(flagged)


@pytest.mark.parametrize(
    ("harm", "why"),
    [
        (lambda packed: packed[: len(packed) // 2], "cut short"),
        (encrypted, "encrypted"),
        (lambda _: archive(("a.json", b" " * (30 << 20))), "as no export does"),
    ],
)
def test_an_archive_that_cannot_be_read_is_named_and_the_rest_goes_in(tmp_path, harm, why):
    folder = laid(tmp_path, [("a.zip", harm(archive(LONG))), ("b.zip", archive(SHORT))])
    kind, found = records_of(folder)
    assert (kind, texts(found)) == ("claude", ["Sentence 0."])
    ((place, problem),) = skipped(found)
    assert place == "a.zip"
    assert why in problem
    with pytest.raises(InvalidInput, match=why):
        records_of(folder / "a.zip")


def test_an_archive_with_a_damaged_file_is_refused(tmp_path):
    packed = archive(LONG, ("users.json", []))
    damaged = packed[:60] + b"\xff" * 40 + packed[100:]
    folder = laid(tmp_path, [("a.zip", damaged), ("b.zip", archive(SHORT))])
    with pytest.raises(InvalidInput, match=r"cannot be read.*Download it again"):
        records_of(folder)


def test_files_of_another_program_in_a_folder_are_named_with_their_kind(tmp_path):
    write_json(tmp_path / "conversations.json", [chatgpt_chat()])
    write_json(tmp_path / "claude" / "conversations.json", [kites(said(0))])
    (tmp_path / "chat.html").write_text("<p>")
    kind, found = records_of(tmp_path)
    assert kind == "chatgpt"
    assert left_out(found)[:2] == [("file", "of no known kind", 1), ("file", "of another kind (claude)", 1)]
    assert left_out(found)[2:] == [
        ("message", "of tools, thoughts, or hidden", 1),
        ("message", "on branches that were abandoned", 2),
    ]


# Other memories


ENTITIES = [
    {"type": "entity", "name": "Ann", "entityType": "person", "observations": ["Tabs", {"city": {"item": "Porto"}}]},
    {"_type": "entity", "name": "Boat", "entityType": "thing", "observations": [{"boats": [2, True]}]},
    {"name": "Kite", "entityType": "thing", "observations": [{"content": "Red", "createdAt": "2025-05-06"}]},
]
RELATIONS = [{"from": "Ann", "to": "Harbour", "relationType": "lives at"}]


@pytest.mark.parametrize("form", ["lines", "array", "object", "pretty"])
def test_every_observation_of_a_graph_is_in_its_text_in_every_form_of_file(tmp_path, form):
    rows = [*ENTITIES, *RELATIONS]
    whole = rows if form == "array" else {"entities": ENTITIES, "relations": RELATIONS}
    content = json.dumps(whole, indent=2 if form == "pretty" else None)
    path = tmp_path / "memory.json"
    path.write_text("\n".join(map(json.dumps, rows)) if form == "lines" else content, "utf-8")
    kind, found = records_of(path)
    assert kind == "official"
    assert texts(found) == [
        "Ann: Tabs\nAnn: city: Porto",
        "Boat: boats: 2\nBoat: boats: True",
        "Kite: Red\nKite: createdAt: 2025-05-06",
    ]
    assert ("Ann", "lives_at", "Harbour") in stated(found)
    assert skipped(found) == left_out(found) == []


ROWS = [
    {"id": "m1", "memory": "Rows at dawn", "user_id": "bo", "created_at": "2025-07-01T10:00:00Z", "categories": ["x"]},
    {"memory": "Owns a kayak", "user_id": "bo"},
    {"id": "m3", "memory": "Hates rain", "user_id": "bo", "event": "DELETE"},
    {"id": "m4", "user_id": "bo"},
]
GRAPH = [
    {"source": "user_id:_bo", "relationship": "rows_with", "target": "ana_maria"},
    {"source": "bo", "relationship": "owns", "destination": "kayak"},
    {"source": "bo", "relationship": "owns"},
]


def test_mem0_is_read_as_an_object_an_array_and_lines_and_what_is_not_stored_is_named(tmp_path):
    forms = [
        json.dumps({"results": ROWS, "relations": GRAPH, "next": None}),
        json.dumps({"memories": ROWS, "relations": GRAPH}, indent=1),
        "\n".join(json.dumps(row | ({"relations": GRAPH} if not number else {})) for number, row in enumerate(ROWS)),
    ]
    for number, content in enumerate(forms):
        path = tmp_path / "dump.json"
        path.write_text(content, "utf-8")
        kind, found = records_of(path)
        assert kind == "mem0", number
        assert texts(found) == ["Rows at dawn", "Owns a kayak"]
        assert stated(found) == {("bo", "rows_with", "ana maria"), ("bo", "owns", "kayak")}
        assert [problem for _, problem in skipped(found)] == ["has no text in 'memory' or 'text' or 'content'"]
        assert sorted(left_out(found)) == [
            ("memory", "that was deleted", 1),
            ("relation", "without a name at both ends", 1),
        ]


def test_texts_take_their_time_from_front_matter_then_name_then_file(tmp_path):
    (tmp_path / "a.md").write_text("---\ndate: 2024-03-01\n---\n# Fern care\nWater it.", "utf-8")
    (tmp_path / "2024-03-02 diary.txt").write_text("It rained.", "utf-8")
    (tmp_path / "b.md").write_text("---\ntitle: [broken\nand more\n---\nText.", "utf-8")
    (tmp_path / "c.md").write_text("---\ndate: 05/06/2024\n---\nSold.", "utf-8")
    (tmp_path / "empty.md").write_text(" \n", "utf-8")
    (tmp_path / ".obsidian").mkdir()
    (tmp_path / ".obsidian" / "x.md").write_text("hidden", "utf-8")
    (tmp_path / "latin.txt").write_bytes("Garten\nFrühling".encode("latin-1"))
    kind, found = records_of(tmp_path)
    assert kind == "text"
    day = 86_400_000
    assert [(item.title, item.said_at // day) for item in items(found)[:2]] == [
        ("2024-03-02 diary", 19_784),
        ("Fern care", 19_783),
    ]
    assert items(found)[2].text == "---\ntitle: [broken\nand more\n---\nText."
    assert items(found)[2].said_at == (tmp_path / "b.md").stat().st_mtime_ns // 1_000_000
    assert items(found)[3].said_at == (tmp_path / "c.md").stat().st_mtime_ns // 1_000_000
    assert [(one.what, one.place) for one in found if isinstance(one, LeftOut)] == [
        ("date", "c.md"),
        ("file", "empty.md"),
    ]
    assert skipped(found) == [("latin.txt", "is not UTF-8 (line 2); save it as UTF-8")]


# What cannot be read


IN_LIST = b'[{"id": "1", "memory": "A"},\n{"id": "2", "memory": "B", "metadata": %s}]'
CUT = json.dumps([chatgpt_chat(0), chatgpt_chat(1)], indent=1)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("conversations.json", CUT[: len(CUT) // 2].encode(), ("line", "cut short", "Nothing was stored")),
        ("conversations.json", CUT.replace('"mapping"', "mapping", 2).encode(), ("line 5", "no JSON")),
        ("conversations.json", CUT.encode("utf-16"), ("is not UTF-8", "Save the file as UTF-8")),
        ("conversations.json", CUT.replace("Moving", "Umzüge").encode("latin-1"), ("is not UTF-8",)),
        (
            "memory.jsonl",
            b'{"type": "entity", "name": "A", "observations": ["x"]}\n{"type": "en',
            ("line 2", "cut short"),
        ),
        ("memory.jsonl", b'{"type": "entity", "name": "A"}\n{"type": "\xfc"}\n', ("line 2", "not UTF-8")),
        ("mem0.json", IN_LIST % ("[" * 40_000 + "]" * 40_000).encode(), ("line 2", "nested too deeply", "Nothing was")),
        ("mem0.json", IN_LIST % b"nothing", ("line 2", "no JSON", "Nothing was stored")),
        ("photo.json", b"\x89PNG\r\n\x1a\n", ("no export that is known", "--from")),
        ("package.json", b'{"name": "x", "version": "1"}', ("no export that is known", "chatgpt")),
        ("empty.json", b"", ("is empty", "again")),
        ("broken.zip", b"PK\x03\x04" + b"\0" * 40, ("cannot be read", "cut short")),
    ],
)
def test_a_file_that_cannot_be_read_to_its_end_is_refused_with_line_and_remedy(tmp_path, name, content, words):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InvalidInput) as refusal:
        records_of(tmp_path / name)
    for word in words:
        assert word in str(refusal.value)


def test_times_are_read_in_the_forms_that_programs_write():
    for value in (1_714_903_200, 1_714_903_200_000, "1714903200", "2024-05-05T12:00:00+02:00"):
        assert moment_of(value) == MAY_5_10, value
    assert moment_of(1_714_903_200.5) == MAY_5_10 + 500


@pytest.mark.parametrize(
    "value", ["yesterday", "05/06/2024", "05.06.2024", float("nan"), 1e300, "2024-13-01", [], True, "{{date}}"]
)
def test_a_time_that_could_mean_two_things_or_none_is_no_time(value):
    with pytest.raises(BadRecord, match="cannot be read"):
        moment_of(value)


# What is over a bound is one bad record, named by its line; the rest goes in


DEEP = "[" * 40_000 + "]" * 40_000
NESTED = "[" * 200 + "]" * 200
MANY = "[" + "0," * 1_000_000 + "0]"
ROW = '{"id": "%s", "user_id": "ann", "memory": "Fact %s", "metadata": %s}'


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
    rows = [ROW % (number, number, value if number == 1 else 0) for number in range(3)]
    file = tmp_path / name
    file.write_text("\n".join(rows) + "\n" if name.endswith("l") else "[" + ",\n".join(rows) + "]", "utf-8")
    kind, found = records_of(file)
    assert (kind, texts(found)) == ("mem0", ["Fact 0", "Fact 2"])
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
    assert texts(found) == ["A: x", "C: x"]
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
    with pytest.raises(InvalidInput, match="a value is longer than 100,000 bytes"):
        records_of(write_json(tmp_path / "a.json", chats))
    _, found = records_of(write_json(tmp_path / "a.json", [chatgpt_chat(number, turns=9) for number in range(30)]))
    assert len(texts(found)) == 30 * 19


@pytest.mark.parametrize(
    "front",
    ["tags: " + "[" * 5_000, "title: " + "1" * 5_000, "- " * 5_000, "title: \x00", "x: " + "y" * 70_000 + "\n\n  - z"],
)
def test_no_front_matter_stops_a_folder(tmp_path, front):
    (tmp_path / "a.md").write_text(f"---\n{front}\n---\nOf a.\n", "utf-8")
    (tmp_path / "b.md").write_text("---\ntitle: B\n---\nOf b.\n", "utf-8")
    _, found = records_of(tmp_path)
    told = texts(found)
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
    assert texts(found) == ["Of a.", "Of a."]
    assert skipped(found) == [("out.md", "is a link out of the folder")]


@pytest.mark.parametrize(
    "text", ["a = " + "[" * 5_000, "a = " + "1" * 5_000, "a = 1979-13-40", "=", "a." * 5_000 + "a = 1"]
)
def test_toml_that_no_parser_bears_is_refused_in_words(text):
    with pytest.raises(BrokenText):
        parse_toml(text)


# Files of every format, cut, spliced, nested and flipped at random


PIECES = [b"\x00", b"\xff", b'"', b"{", b"}", b"[" * 200, b",", b"\\ud800", b"1e999", b"9" * 400, b"NaN", b"\n", b": ",
          b"&a", b"*a", b"\xef\xbb\xbf", b"null", b"---\n", b"= ", b"x" * 5_000]  # fmt: skip


def client(name):
    """Return what changes our entry of a client's file, and takes it out."""

    def change(path):
        text, known = read_client_file(path), CLIENTS[name]
        found = known.content(path, text)
        known.with_entry(path, None, known.with_entry(path, {"command": "x"}, text))
        return found

    return change


def calls(path):
    """Read the lines of a client, and the arguments of its calls."""
    with path.open("rb") as file:
        while read := read_message(file, 2_000_000):
            params = getattr(read[0], "params", None) or {}
            tool, given = TOOLS.get(str(params.get("name"))), params.get("arguments") or {}
            if tool is not None and isinstance(given, dict):
                tool.prepare(given, Settings().limits)
    return path


TOKEN = {"name": "ann", "digest": "0" * 64, "permissions": [{"spaces": "a*", "rights": ["read"]}], "made": 1.0,
         "expires": None}  # fmt: skip
HEADER = {"format": "mcp-memory export", "version": 1, "program": "x", "exported": "2024-05-05T10:00:00Z",
          "spaces": ["a"]}  # fmt: skip
TEXT = {"record": "message", "space": "a", "session": "s", "id": "m", "text": "Hi.", "written": "2024-05-05T10:00:00Z"}
STATED = {"record": "fact", "space": "a", "session": "s", "id": "m", "head": "Ann", "relation": "likes", "tail": "tea",
          "confidence": 0.9, "intent": "FACT"}  # fmt: skip
CALL = {"jsonrpc": "2.0", "id": 7, "method": "tools/call",
        "params": {"name": "memory_write", "arguments": {"messages": [{"text": "Hi", "id": "1"}]}}}  # fmt: skip
SERVERS = {"mcpServers": {"mcp-memory": {"command": "x", "args": []}, "y": {"command": "y"}}}


def lines(*rows):
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


FORMATS = {
    "chatgpt.json": (json.dumps([chatgpt_chat(0, 2)]).encode(), records_of),
    "claude.json": (json.dumps([claude_chat(0)], indent=1).encode(), records_of),
    "official.jsonl": (lines(*OFFICIAL), records_of),
    "mem0.json": (json.dumps(MEM0).encode(), records_of),
    "note.md": (NOTE.encode(), records_of),
    "export.jsonl": (lines(HEADER, TEXT, STATED, {"record": "end", "records": 2}), records_of),
    "settings.toml": (b'[storage]\nuri = "/tmp/x"\n[limits]\nitems = 5_000\n', lambda path: load(path, {})),
    "tokens.json": (json.dumps({"tokens": [TOKEN]}).encode(), lambda path: TokenFile(path).list()),
    "client.json": (json.dumps(SERVERS).encode(), client("cursor")),
    "client.toml": (b'model = "x"\n[mcp_servers.mcp-memory]\ncommand = "x"\n', client("codex")),
    "calls.jsonl": (lines(CALL, CALL), calls),
}


def mutated(chance, data):
    """Return a file that is broken in one to four places."""
    for _ in range(chance.randint(1, 4)):
        place, end = sorted(chance.choices(range(len(data) + 1), k=2))
        piece = chance.choice(PIECES)
        data = chance.choice(
            (
                data[:place] + piece + data[place:],
                data[:place] + piece + data[end:],
                data[:place] + data[min(end, place + 9) :],
                data[:end],
                data + data[place:end],
                data.replace(data[place : place + 3] or b" ", piece, 2),
            )
        )
    return data


@pytest.mark.parametrize("name", FORMATS)
def test_whatever_a_file_holds_it_is_read_or_refused_in_words(tmp_path, name):
    whole, read = FORMATS[name]
    path = tmp_path / name
    path.write_bytes(whole)
    assert read(path)
    for seed in range(150):
        path.write_bytes(mutated(random.Random(f"{name}{seed}"), whole))
        with suppress(McpMemoryError):
            read(path)
