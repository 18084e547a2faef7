"""Files of other programs are recognised by their content, and read with dates, roles, attachments and sources."""

import json
import zipfile

import pytest
from foreign_files import BASIC, chatgpt_chat, claude_chat, records_of, write_json

from mcp_memory.errors import InvalidInput
from mcp_memory.services.transfer.foreign.reading import BadRecord, FileRecord, SkippedRecord, moment_of

MAY_5_10 = 1_714_903_200_000


def lines(path, values):
    path.write_text("\n".join(value if isinstance(value, str) else json.dumps(value) for value in values), "utf-8")
    return path


def records(found):
    return [record for record in found if isinstance(record, FileRecord)]


def items(found):
    return [item for record in records(found) for item in record.items]


def facts(found):
    return [fact for record in records(found) for fact in record.facts]


def skipped(found):
    return [record for record in found if isinstance(record, SkippedRecord)]


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
        sessions = [record.session for record in records(found) if record.kind == "message"]
        assert sessions == ["chatgpt:chat-0", "chatgpt:chat-1", "chatgpt:chat-2"]


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


def test_projects_of_claude_are_documents(tmp_path):
    project = {
        "uuid": "q",
        "name": "Boat",
        "prompt_template": "Answer briefly.",
        "created_at": "2024-05-05T10:00:00Z",
        "docs": [{"uuid": "d", "filename": "sails.md", "content": "Two sails.", "created_at": "2024-05-05T10:00:00Z"}],
    }
    write_json(tmp_path / "x" / "conversations.json", [claude_chat()])
    write_json(tmp_path / "x" / "projects" / "q.json", project)
    write_json(tmp_path / "projects.json", [project])
    assert [record.session for record in records(records_of(tmp_path / "x")[1])] == [
        "claude:k0",
        "claude:k0",
        "claude:k0",
        "claude-project:q",
    ]
    kind, found = records_of(tmp_path / "projects.json")
    assert kind == "claude"
    assert [(item.title, item.text) for item in items(found)] == [
        ("Instructions of the project Boat", "Answer briefly."),
        ("sails.md", "Two sails."),
    ]


def test_notes_of_basic_memory_state_relations(tmp_path):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "coffee.md").write_text(BASIC, "utf-8")
    (tmp_path / ".obsidian").mkdir()
    (tmp_path / ".obsidian" / "x.md").write_text("hidden", "utf-8")
    kind, found = records_of(tmp_path)
    assert kind == "basic-memory"
    (item,) = items(found)
    assert (item.ref, item.title, item.said_at) == ("basic-memory:notes/coffee", "Brewing coffee", 1_709_251_200_000)
    assert item.text.startswith("# Brewing coffee")
    assert [(fact.head, fact.relation, fact.tail, fact.source) for fact in facts(found)] == [
        ("Brewing coffee", "relates_to", "Kettles", item.ref),
        ("Brewing coffee", "is_part_of", "Morning", item.ref),
    ]


def test_texts_take_their_time_from_front_matter_then_name_then_file(tmp_path):
    (tmp_path / "a.md").write_text("---\ndate: 2024-03-01\n---\n# Fern care\nWater it.", "utf-8")
    (tmp_path / "2024-03-02 diary.txt").write_text("It rained.", "utf-8")
    (tmp_path / "b.md").write_text("---\ntitle: [broken\n---\nText.", "utf-8")
    (tmp_path / "empty.md").write_text(" \n", "utf-8")
    (tmp_path / "latin.txt").write_bytes("Garten\nFrühling".encode("latin-1"))
    kind, found = records_of(tmp_path)
    assert kind == "text"
    day = 86_400_000
    assert [(item.title, item.said_at // day) for item in items(found)[:2]] == [
        ("2024-03-02 diary", 19_784),
        ("Fern care", 19_783),
    ]
    assert items(found)[2].text == "---\ntitle: [broken\n---\nText."
    assert items(found)[2].said_at == (tmp_path / "b.md").stat().st_mtime_ns // 1_000_000
    assert skipped(found) == [SkippedRecord("latin.txt", "is not UTF-8 (line 2); save it as UTF-8")]


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


def test_a_record_that_is_none_is_named_and_the_others_are_read(tmp_path):
    chats = [chatgpt_chat(0), 5, {"title": "x", "mapping": 3}, {"mapping": {}}, chatgpt_chat(4)]
    _, found = records_of(write_json(tmp_path / "conversations.json", chats, indent=1))
    assert [bad.problem for bad in skipped(found)] == [
        "is no JSON object",
        "has no messages in 'mapping'",
        "has no text in 'conversation_id' or 'id' or 'title'",
    ]
    assert skipped(found)[0].place.startswith("conversations.json, record 2 (line ")
    text = (tmp_path / "conversations.json").read_text("utf-8").splitlines()
    line = int(skipped(found)[0].place.split("line ")[1].rstrip(")"))
    assert text[line - 1].strip() == "5,"
    assert len([item for item in items(found) if item.ref != "title"]) == 6


@pytest.mark.parametrize(
    ("value", "moment"),
    [
        (1_714_903_200, MAY_5_10),
        (1_714_903_200.5, MAY_5_10 + 500),
        (1_714_903_200_000, MAY_5_10),
        ("1714903200", MAY_5_10),
        ("2024-05-05T12:00:00+02:00", MAY_5_10),
    ],
)
def test_times_are_read_in_the_forms_that_programs_write(value, moment):
    assert moment_of(value) == moment


@pytest.mark.parametrize(
    "value", ["yesterday", "05/06/2024", "05.06.2024", float("nan"), 1e300, "2024-13-01", [], True, "{{date}}"]
)
def test_a_time_that_could_mean_two_things_or_none_is_no_time(value):
    with pytest.raises(BadRecord, match="cannot be read"):
        moment_of(value)
