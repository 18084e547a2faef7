"""Importing from other programs: twice is once, what was forgotten stays away, a bad record costs no other."""

import json
from collections import Counter

import pytest
from exported_store import LIMITS, open_at, store_of
from foreign_files import MEM0, NOTE, OFFICIAL, chatgpt_chat, claude_chat, records_of, write_json
from remembering import space_in

from mcp_memory.domain.facts import STABLE
from mcp_memory.domain.query import Query
from mcp_memory.domain.requests import ForgetRequest, NewFact, NewItem, WriteRequest
from mcp_memory.domain.turns import IMPORTED
from mcp_memory.errors import InvalidInput
from mcp_memory.search.wishes import standing_wishes
from mcp_memory.services.transfer.foreign.reading import FileRecord
from mcp_memory.services.transfer.foreign.sources import source_files
from mcp_memory.services.transfer.importing import import_files
from mcp_memory.services.transfer.kinds import READERS, recognise

NOW = 1_720_000_000_000


@pytest.fixture
async def memory(tmp_path):
    memory = open_at(tmp_path / "store")
    yield memory
    await memory.aclose()


async def imported(memory, path, **how):
    with source_files(path) as files:
        how = {"space": None, "default": "default", "limits": LIMITS, "now": NOW} | how
        return await import_files(store_of(memory), memory.reading, READERS[recognise(files)], files, **how)


async def content(memory, space="default"):
    turns = (await space_in(memory.store, space)).turns.values()
    return [(turn.session, turn.ref, turn.text) for turn in turns]


def written(path):
    """Write one export of every kind, and return their paths."""
    write_json(path / "chatgpt.json", [chatgpt_chat(0), chatgpt_chat(1, turns=3)])
    write_json(path / "claude.json", [claude_chat()])
    (path / "memory.jsonl").write_text("\n".join(map(_line, OFFICIAL)), "utf-8")
    write_json(path / "mem0.json", MEM0)
    (path / "texts").mkdir()
    (path / "texts" / "coffee.md").write_text(NOTE, "utf-8")
    (path / "texts" / "fern.txt").write_text("Water the fern.", "utf-8")
    names = ("chatgpt.json", "claude.json", "memory.jsonl", "mem0.json", "texts")
    return [path / name for name in names]


def _line(value):
    return json.dumps(value)


async def test_every_kind_is_stored_once_as_a_dry_run_counts_it(memory, tmp_path):
    for path in written(tmp_path):
        counted = await imported(memory, path, dry_run=True)
        before = await content(memory)
        first = await imported(memory, path)
        after = await content(memory)
        assert counted.found == first.stored, path
        assert len(after) > len(before), path
        second = await imported(memory, path)
        assert not second.stored.total(), path
        assert await content(memory) == after, path
    facts = (await space_in(memory.store)).facts
    stated = {(row.head, row.relation, row.tail) for row in facts.rows if row.extractor == "caller"}
    assert {("Ines", "works_at", "Aquarium"), ("Ines", "is_a", "person")} <= stated


async def test_an_imported_chat_is_found_with_its_time_and_source(memory, tmp_path):
    await imported(memory, write_json(tmp_path / "conversations.json", [chatgpt_chat()]))
    recall = await memory.reconstruct(Query("boat"))
    source = recall.evidence[0].sources[0].turn
    assert (source.session, source.role, source.said_at) == ("chatgpt:chat-0", "user", 1_714_903_200_500)


async def test_what_was_forgotten_stays_away_but_from_another_space(memory, tmp_path):
    path = write_json(tmp_path / "conversations.json", [chatgpt_chat()])
    await imported(memory, path)
    asked = ForgetRequest("default", ids=("chatgpt:c0-u0",), session="chatgpt:chat-0", dry_run=False)
    await memory.forget(asked)
    again = await imported(memory, path)
    assert (again.stored.total(), again.left_out) == (0, 1)
    assert "chatgpt:c0-u0" not in [ref for _, ref, _ in await content(memory)]
    assert (await imported(memory, path, space="other")).stored == Counter(messages=3, documents=1)


async def test_what_a_write_would_refuse_is_skipped_and_the_others_are_stored(memory, tmp_path):
    chat = chatgpt_chat(0, turns=3)
    chat["mapping"]["c0-u0"]["message"]["content"]["parts"] = ["x" * 1_001]
    chat["mapping"]["c0-u1"]["message"]["content"]["parts"] = ["a\x00b"]
    path = write_json(tmp_path / "conversations.json", [chat])
    result = await imported(memory, path)
    problems = [record.problem for record in result.skipped]
    assert problems[0] == "has 1,001 bytes in its text (limits.message_bytes), more than the 1,000 allowed"
    assert "null byte" in problems[1]
    assert result.stored == Counter(messages=5, documents=1)


async def test_a_file_that_breaks_off_stores_nothing(memory, tmp_path):
    path = write_json(tmp_path / "conversations.json", [chatgpt_chat(number) for number in range(50)])
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(InvalidInput, match="cut short"):
        await imported(memory, path)
    assert await content(memory) == []


async def said_first(memory, *facts):
    """Store what the user said in May 2024."""
    item = NewItem("I live in Porto.", ref="said", role="user", said_at=1_714_903_200_000)
    await memory.write(WriteRequest("default", "talk", "message", (item,), facts))


async def homes(memory, head="user"):
    facts = (await space_in(memory.store)).facts
    versions = facts.versions(facts.key(head), "lives_in")
    return {one.tail: one.current for one in versions}


UNDATED = {
    "memory.jsonl": [
        {"type": "entity", "name": "User", "entityType": "person", "observations": ["I live in Lima."]},
        {"type": "relation", "from": "user", "to": "Quito", "relationType": "lives in"},
    ],
    "mem0.jsonl": [
        {"id": "1", "memory": "The user lives in Lima.", "user_id": "user"},
        {"id": "2", "memory": "I live in Quito.", "user_id": "user"},
    ],
    "graph.json": [{"relations": [{"source": "user", "relationship": "lives_in", "target": "Lima"}], "results": [
        {"id": "1", "memory": "Lives well", "user_id": "user"}]}],
}  # fmt: skip


@pytest.mark.parametrize("name", UNDATED)
@pytest.mark.parametrize("order", ["before", "after"])
async def test_an_undated_import_ends_no_dated_fact(memory, tmp_path, name, order):
    if order == "before":
        await said_first(memory, NewFact("user", "lives_in", "Porto", source="said"))
    path = tmp_path / name
    path.write_text("\n".join(row if isinstance(row, str) else _line(row) for row in UNDATED[name]), "utf-8")
    await imported(memory, path)
    if order == "after":
        await said_first(memory, NewFact("user", "lives_in", "Porto", source="said"))
    found = await homes(memory)
    assert found.pop("Porto")
    assert not any(found.values())


NAMES = [
    {"type": "relation", "from": "user", "to": "Zelda", "relationType": "named"},
    {"type": "relation", "from": "Zelda", "to": "User", "relationType": "also known as"},
    {"type": "relation", "from": "user", "to": "short answers", "relationType": "prefers"},
    {"type": "entity", "name": "User", "entityType": "person", "observations": ["I'm Zelda.", "Call me Zelda."]},
    {"type": "relation", "from": "User", "to": "Tennis", "relationType": "plays"},
    {"type": "relation", "from": "User", "to": "Chess", "relationType": "plays"},
]


async def test_an_import_neither_names_the_user_nor_makes_wishes(memory, tmp_path):
    await said_first(memory)
    path = tmp_path / "memory.jsonl"
    path.write_text("\n".join(map(_line, NAMES)), "utf-8")
    result = await imported(memory, path)
    assert [(what, count) for (what, _), count in result.unread.items()] == [("fact", 2)]
    space = await space_in(memory.store)
    assert space.facts.name(space.facts.key("user")) == "user"
    assert space.facts.key("Zelda") != space.facts.key("user")
    assert standing_wishes(space) == []
    played = space.facts.versions(space.facts.key("user"), "plays")
    assert {(one.tail, one.confidence) for one in played} == {("Tennis", STABLE), ("Chess", STABLE)}
    texts = " ".join(text for _, _, text in await content(memory))
    assert "short answers" in texts
    assert "Zelda" in texts
    assert not (await imported(memory, path)).stored


def test_the_ids_of_all_kinds_begin_with_what_marks_an_import(tmp_path):
    for path in written(tmp_path):
        for record in records_of(path)[1]:
            for item in record.items if isinstance(record, FileRecord) else ():
                assert item.ref == "title" or item.ref.partition(":")[0] in IMPORTED
