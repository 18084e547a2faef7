"""Every record of an export is found in what an import yields, or named as skipped or left out, whatever its form."""

from __future__ import annotations

import io
import json
import zipfile
from itertools import count

import pytest
from foreign_files import chatgpt_chat, records_of, write_json
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from mcp_memory.errors import InvalidInput
from mcp_memory.services.transfer.foreign.reading import FileRecord, LeftOut, SkippedRecord, said_in

ROOT = "00000000-0000-4000-8000-000000000000"


def texts(found):
    return [item.text for record in found if isinstance(record, FileRecord) for item in record.items]


def facts(found):
    rows = [fact for record in found if isinstance(record, FileRecord) for fact in record.facts]
    return {(fact.head, fact.relation, fact.tail) for fact in rows}


def left(found):
    return [(one.what, one.why, one.count) for one in found if isinstance(one, LeftOut) and one.count]


def said(number, *, by="human", parent=None, minute=0):
    when = f"2026-02-01T09:{minute:02}:00Z"
    row = {"uuid": f"w{number}", "sender": by, "text": f"Sentence {number}.", "content": [], "created_at": when}
    return row | ({} if parent is None else {"parent_message_uuid": parent})


def claude_chat(messages, **more):
    return {"uuid": "c", "name": "Kites", "created_at": "2026-02-01T09:00:00Z", "chat_messages": messages, **more}


# Claude: branches, memories, archives

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
    for chat in (
        claude_chat(TREE, current_leaf_message_uuid=leaf),
        claude_chat(TREE[::-1], current_leaf_message_uuid=leaf),
    ):
        _, found = records_of(write_json(tmp_path / "c.json", [chat]))
        assert texts(found)[:-1] == [f"Sentence {number}." for number in branch]
        assert left(found) == [("message", "on branches that were abandoned", len(TREE) - len(branch))]


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
    assert all(item.said_at is None for one in found if isinstance(one, FileRecord) for item in one.items)


def archive(*members):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as made:
        for name, value in members:
            made.writestr(name, value if isinstance(value, bytes) else json.dumps(value))
    return packed.getvalue()


def test_an_export_in_numbered_archives_in_a_folder_is_read_whole(tmp_path):
    project = {"uuid": "q7", "name": "Kite", "description": "A big one.", "prompt_template": "", "docs": []}
    chats = [claude_chat([said(0)]) | {"uuid": f"c{number}"} for number in range(3)]
    parts = [
        ("conversations-000.zip", archive(("conversations.json", chats[:2]))),
        ("conversations-001.zip", archive(("conversations.json", chats[2:]))),
        ("memories-000.zip", archive(("memories/a1.json", MEMORY))),
        ("projects-000.zip", archive(("projects/q7.json", project))),
        ("users-000.zip", archive(("users.json", [{"uuid": "a1", "full_name": "Nobody"}]))),
        ("manifest-1.json", b'{"files": ["https://x/conversations-000.zip"]}'),
    ]
    folder = tmp_path / "export"
    folder.mkdir()
    for name, content in parts:
        (folder / name).write_bytes(content)
    kind, found = records_of(folder)
    assert kind == "claude"
    sessions = {one.session for one in found if isinstance(one, FileRecord)}
    assert sessions == {"claude:c0", "claude:c1", "claude:c2", "claude:memory", "claude-project:q7"}
    assert "A big one." in texts(found)
    assert left(found) == [("file", "of no known kind", 1)] * 2


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
    many = archive(("conversations.json", [claude_chat([said(number) for number in range(90)])]))
    parts = [("a.zip", harm(many)), ("b.zip", archive(("conversations.json", [claude_chat([said(0)])])))]
    folder = tmp_path / "export"
    folder.mkdir()
    for name, content in parts:
        (folder / name).write_bytes(content)
    kind, found = records_of(folder)
    assert (kind, len(texts(found))) == ("claude", 2)
    (bad,) = [one for one in found if isinstance(one, SkippedRecord)]
    assert bad.place == "a.zip"
    assert why in bad.problem
    with pytest.raises(InvalidInput, match=why):
        records_of(folder / "a.zip")


def test_an_archive_with_a_damaged_file_is_refused(tmp_path):
    many = [claude_chat([said(number) for number in range(90)])]
    packed = archive(("conversations.json", many), ("users.json", []))
    (tmp_path / "a.zip").write_bytes(packed[:60] + b"\xff" * 40 + packed[100:])
    (tmp_path / "b.zip").write_bytes(archive(("conversations.json", [claude_chat([said(0)])])))
    with pytest.raises(InvalidInput, match=r"cannot be read.*Download it again"):
        records_of(tmp_path)


def test_files_of_another_program_in_a_folder_are_named_with_their_kind(tmp_path):
    write_json(tmp_path / "conversations.json", [chatgpt_chat()])
    write_json(tmp_path / "claude" / "conversations.json", [claude_chat([said(0)])])
    (tmp_path / "chat.html").write_text("<p>")
    kind, found = records_of(tmp_path)
    assert kind == "chatgpt"
    assert left(found)[:2] == [("file", "of no known kind", 1), ("file", "of another kind (claude)", 1)]
    assert left(found)[2:] == [
        ("message", "of tools, thoughts, or hidden", 1),
        ("message", "on branches that were abandoned", 2),
    ]


# The official server's file, in its forms

LEAF = some.text(some.characters(categories=["L"]), min_size=3, max_size=8)
OBSERVED = some.recursive(
    LEAF,
    lambda inner: (
        some.lists(inner, max_size=3)
        | some.dictionaries(some.sampled_from(["item", "city", "text"]), inner, max_size=3)
    ),
    max_leaves=6,
)


def leaves(value):
    if isinstance(value, str):
        yield value
    else:
        for one in value.values() if isinstance(value, dict) else value:
            yield from leaves(one)


@some.composite
def graphs(draw):
    kind = draw(some.sampled_from(["type", "_type", None]))
    number, rows = count(), []
    for observed in draw(some.lists(OBSERVED, min_size=1, max_size=4)):
        when = draw(some.sampled_from([None, "2025-05-06T14:09:36.202Z"]))
        observations = [observed] if when is None else [{"content": observed, "createdAt": when}]
        row = {"name": f"Thing {next(number)}", "entityType": "thing", "observations": observations}
        rows.append(("entities", row | ({kind: "entity"} if kind else {})))
    relation = {"from": "Thing 0", "to": "Harbour", "relationType": "lies at"}
    rows.append(("relations", relation | ({kind: "relation"} if kind else {})))
    return rows, draw(some.sampled_from(["lines", "object", "array", "pretty"]))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(graphs())
def test_every_observation_of_a_graph_is_in_its_text_in_every_form_of_file(tmp_path, graph):
    rows, form = graph
    values = [row for _, row in rows]
    if form == "lines":
        content = "\n".join(map(json.dumps, values))
    elif form == "array":
        content = json.dumps(values)
    else:
        whole = {name: [row for of, row in rows if of == name] for name in ("entities", "relations")}
        content = json.dumps(whole, indent=2 if form == "pretty" else None)
    path = tmp_path / "memory.json"
    path.write_text(content, "utf-8")
    kind, found = records_of(path)
    assert kind == "official"
    stored = "\n".join(texts(found))
    for _, row in rows[:-1]:
        for leaf in leaves(row["observations"]):
            assert leaf in stored
    assert ("Thing 0", "lies_at", "Harbour") in facts(found)
    assert not [one for one in found if isinstance(one, SkippedRecord | LeftOut)]


def test_a_name_that_says_something_stays_before_its_text():
    value = {"items": ["Uses tabs"], "city": {"value": "Porto"}, "boats": [2, True]}
    assert list(said_in(value)) == ["Uses tabs", "city: Porto", "boats: 2", "boats: True"]


# mem0

ROWS = [
    {
        "id": "m1",
        "memory": "Rows at dawn",
        "user_id": "bo",
        "created_at": "2025-07-01T10:00:00Z",
        "categories": ["sport"],
    },
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
        assert facts(found) == {("bo", "rows_with", "ana maria"), ("bo", "owns", "kayak")}
        assert [one.problem for one in found if isinstance(one, SkippedRecord)] == [
            "has no text in 'memory' or 'text' or 'content'"
        ]
        assert sorted(left(found)) == [
            ("memory", "that was deleted", 1),
            ("relation", "without a name at both ends", 1),
        ]
