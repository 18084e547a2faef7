"""Export and import, of our own and of other programs: what was said comes back, once, and what is wrong is refused."""

import json
from collections import Counter

import pytest
from exported_store import LIMITS, MAY, QUESTIONS, content, exported, fill, imported, open_at, replies, tell
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

pytestmark = pytest.mark.usefixtures("one_key")


@pytest.fixture
async def original(tmp_path):
    memory = open_at(tmp_path / "original")
    await tell(memory)
    yield memory
    await memory.aclose()


@pytest.fixture
async def file(original):
    return await exported(original)


@pytest.fixture
async def copy(tmp_path):
    memory = open_at(tmp_path / "copy")
    yield memory
    await memory.aclose()


def records(file):
    return [json.loads(line) for line in file.splitlines()]


def file_of(rows):
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


async def stated(memory, space="default"):
    """Return the texts of each session in their newest wording, with their times, and the facts that callers stated."""
    held = await content(memory, space)
    turns = {turn.id: turn for turn in held["texts"]}
    texts = {
        session: [(turns[name].text, turns[name].said_at, turns[name].written_at) for name in names]
        for session, names in held["sessions"].items()
    }
    facts = [one for one in held["assertions"] if one.extractor == "caller"]
    return texts, {(one.head, one.relation, one.tail, one.since, one.until, one.recorded_at) for one in facts}


async def words(memory, space="default"):
    """Return the texts of the replies in their order; the former wordings of a document count in their scores."""
    return [[row[:2] for row in one] if isinstance(one, list) else one for one in await replies(memory, space)]


async def test_a_file_holds_what_was_said_and_stated_and_nothing_that_was_learnt(tmp_path):
    memory = open_at(tmp_path / "full")
    await fill(memory)
    file = await exported(memory)
    sorts = Counter(record.get("record") for record in records(file))
    assert set(sorts) == {None, "message", "document", "statement", "fact", "end"}
    assert sorts["document"] == 1
    assert {record["by"] for record in records(file) if record.get("record") == "fact"} == {"caller"}
    header, *_, end = records(file)
    assert (header["format"], header["spaces"]) == ("mcp-memory export", ["default", "work"])
    assert end == {"record": "end", "records": len(records(file)) - 2}


async def test_a_copy_holds_the_same_and_answers_alike_and_a_second_import_stores_nothing(original, file, copy):
    result = await imported(copy, file)
    assert result.found == result.stored
    for space in ("default", "work"):
        assert await stated(original, space) == await stated(copy, space)
        assert await words(original, space) == await words(copy, space)
    assert sorted(records(await exported(copy)), key=repr) == sorted(records(file), key=repr)
    before = (await copy.store.about()).tx
    assert not (await imported(copy, file)).stored.total()
    assert not (await imported(original, file)).stored.total()
    assert (await copy.store.about()).tx == before


async def test_an_import_into_another_space_answers_alike(original, copy):
    await imported(copy, await exported(original, "default"), into="other")
    async with copy.store.reading() as view:
        assert set(view.spaces) == {"other"}
    assert await words(original) == await words(copy, "other")


async def test_an_import_that_was_stopped_goes_on(file, copy, monkeypatch):
    monkeypatch.setattr("mcp_memory.services.transfer.importing.AT_ONCE", 2)
    calls = 0

    async def stop(_done, _total, _what):
        nonlocal calls
        calls += 1
        if calls == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await imported(copy, file, progress=stop)
    assert (await copy.store.about()).tx > 2
    await imported(copy, file)
    assert sorted(records(await exported(copy)), key=repr) == sorted(records(file), key=repr)


async def test_a_document_keeps_its_newest_wording_and_a_former_one_does_not_come_back(original, copy):
    """A file of an older program has all its wordings, each with the facts of that one."""
    place = {"space": "default", "session": "papers", "id": "tank"}
    text = {"record": "document", **place, "written": "2024-05-05T10:00:00Z"}
    fact = {"record": "fact", **place, "head": "tank", "relation": "has_depth", "confidence": 1, "intent": "FACT"}
    rows = [
        {"format": "mcp-memory export", "version": 1, "spaces": ["default"]},
        {**text, "text": "The tank is 8 m deep."},
        {**fact, "tail": "8 m"},
        {**text, "revision": 1, "text": "The tank is 9 m deep."},
        {**fact, "revision": 1, "tail": "9 m"},
        {"record": "lesson", "space": "default", "query": "How deep is the tank?"},
        {"record": "end", "records": 5},
    ]
    older = file_of(rows)
    result = await imported(copy, older)
    assert result.stored == {"documents": 1, "facts": 1}
    assert {(what, count) for (what, _), count in result.unread.items()} == {("document", 1), ("lesson", 1)}
    texts, facts = await stated(copy)
    assert [[text for text, *_ in said] for said in texts.values()] == [["The tank is 9 m deep."]]
    assert [tail for _, _, tail, *_ in facts] == ["9 m"]
    newer = NewItem("The tank is 10 m deep.", ref="tank")
    await copy.write(WriteRequest("default", "papers", "document", (newer,)))
    assert not (await imported(copy, older)).stored.total()
    assert [text for text, *_ in (await stated(copy))[0]["papers"]] == ["The tank is 10 m deep."]


async def test_a_message_with_other_words_under_a_known_id_is_named_and_the_others_are_stored(file, copy):
    item = NewItem("Other words.", ref="m3")
    await copy.write(WriteRequest("default", "letters", "message", (item,)))
    result = await imported(copy, file)
    assert ["'m3' is taken" in one.problem for one in result.skipped] == [True]
    assert "Other words." in [text for text, *_ in (await stated(copy))[0]["letters"]]
    assert (await copy.reconstruct(Query(QUESTIONS[2]))).evidence


async def test_two_stores_with_the_same_texts_have_them_once(tmp_path, monkeypatch):
    """Each makes ids of its own for texts without one."""
    monkeypatch.undo()
    one, other = open_at(tmp_path / "one"), open_at(tmp_path / "other")
    items = tuple(NewItem(text, speaker="Ines", said_at=MAY) for text in ("The ferns are fine.", "Yes.", "Yes."))
    facts = (NewFact("Ines", "likes", "ferns", confidence=0.8),)
    for memory in (one, other):
        await memory.write(WriteRequest("default", "letters", "message", items, facts))
    assert not (await imported(other, await exported(one))).stored.total()
    assert len((await stated(other))[0]["letters"]) == 4


@pytest.mark.parametrize(
    ("record", "changes", "problem"),
    [
        ("header", {"version": 2}, "version 1, which this program reads"),
        ("message", {"text": None}, "has no text in 'text'"),
        ("message", {"text": 5}, "has no text in 'text'"),
        ("message", {"space": "a b"}, "names a space 'a b'"),
        ("message", {"written": "yesterday"}, "a time that cannot be read"),
        ("message", {"record": "poem"}, "'poem'"),
        ("message", {"record": "end"}, "'end'"),
        ("statement", {"id": "m2"}, "repeats the id 'm2'"),
        ("fact", {"id": "m99"}, "names 'm99', a text that no line before it holds"),
        ("fact", {"confidence": 1.5}, "above 0 and at most 1 in 'confidence'"),
        ("fact", {"confidence": float("nan")}, "NaN is no number"),
        ("fact", {"until": "1900-01-01T00:00:00Z"}, "ends before it begins"),
        ("fact", {"head": " "}, "empty head"),
        ("fact", {"negated": 1}, "neither true nor false in 'negated'"),
        ("fact", {"intent": "HOPE"}, "'HOPE' in 'intent', which is none of CAUSAL"),
    ],
)
async def test_a_bad_line_is_named_and_nothing_is_stored(file, copy, record, changes, problem):
    """The first record of a sort is changed; None takes a field out."""
    rows = records(file)
    place = next(place for place, row in enumerate(rows) if row.get("record", "header") == record)
    rows[place] = {name: value for name, value in (rows[place] | changes).items() if value is not None}
    with pytest.raises(InvalidInput) as error:
        await imported(copy, file_of(rows))
    assert problem in str(error.value)
    assert f"line {place + 1} " in str(error.value), error.value
    assert "Nothing was stored." in str(error.value)
    assert (await copy.store.about()).tx == 0


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"{not json}\n", "is no JSON"),
        (b"[]\n", "is no JSON object"),
        (b'"\xff"\n', "is not UTF-8"),
        (b"[" * 100_000 + b"\n", "is nested more than 100 deep"),
    ],
)
async def test_a_line_that_is_no_record_is_named(file, copy, line, problem):
    lines = file.splitlines(keepends=True)
    with pytest.raises(InvalidInput, match=f"line 4 .*{problem}"):
        await imported(copy, b"".join([*lines[:3], line, *lines[4:]]))


async def test_a_file_that_was_cut_short_is_refused(file, copy):
    lines = file.splitlines(keepends=True)
    for short in (lines[:-1], lines[:-2], [*lines[:5], *lines[6:]], [*lines, lines[3]], lines[:1]):
        with pytest.raises(InvalidInput, match=r"(cut short or changed|no record).*Nothing was stored"):
            await imported(copy, b"".join(short))
    with pytest.raises(InvalidInput, match="line"):
        await imported(copy, file[: len(file) // 2])
    assert (await copy.store.about()).tx == 0


async def test_a_file_of_several_spaces_goes_into_no_other(file, copy):
    with pytest.raises(InvalidInput, match=r"the file holds several: default, work.*Export one"):
        await imported(copy, file, into="one")
    assert (await copy.store.about()).tx == 0


# From other programs: twice is once, what was forgotten stays away, a bad record costs no other


async def brought(memory, path, **how):
    with source_files(path) as files:
        how = {"space": None, "default": "default", "limits": LIMITS, "now": MAY + 5_000_000_000} | how
        return await import_files(memory.store, memory.reading, READERS[recognise(files)], files, **how)


async def texts_of(memory):
    turns = (await space_in(memory.store)).turns.values()
    return [(turn.session, turn.ref, turn.text) for turn in turns]


def written(path):
    """Write one export of every kind, and return their paths."""
    write_json(path / "chatgpt.json", [chatgpt_chat(0), chatgpt_chat(1, turns=3)])
    write_json(path / "claude.json", [claude_chat()])
    (path / "memory.jsonl").write_text("\n".join(map(json.dumps, OFFICIAL)), "utf-8")
    write_json(path / "mem0.json", MEM0)
    (path / "texts").mkdir()
    (path / "texts" / "coffee.md").write_text(NOTE, "utf-8")
    (path / "texts" / "fern.txt").write_text("Water the fern.", "utf-8")
    names = ("chatgpt.json", "claude.json", "memory.jsonl", "mem0.json", "texts")
    return [path / name for name in names]


async def test_every_kind_is_stored_once_as_a_dry_run_counts_it(copy, tmp_path):
    for path in written(tmp_path):
        counted = await brought(copy, path, dry_run=True)
        before = await texts_of(copy)
        first = await brought(copy, path)
        after = await texts_of(copy)
        assert counted.found == first.stored, path
        assert len(after) > len(before), path
        second = await brought(copy, path)
        assert not second.stored.total(), path
        assert await texts_of(copy) == after, path
    facts = (await space_in(copy.store)).facts
    stated = {(row.head, row.relation, row.tail) for row in facts.rows if row.extractor == "caller"}
    assert {("Ines", "works_at", "Aquarium"), ("Ines", "is_a", "person")} <= stated


async def test_an_imported_chat_is_found_with_its_time_and_source(copy, tmp_path):
    await brought(copy, write_json(tmp_path / "conversations.json", [chatgpt_chat()]))
    recall = await copy.reconstruct(Query("boat"))
    source = recall.evidence[0].sources[0].turn
    assert (source.session, source.role, source.said_at) == ("chatgpt:chat-0", "user", 1_714_903_200_500)


async def test_what_was_forgotten_stays_away_but_from_another_space(copy, tmp_path):
    path = write_json(tmp_path / "conversations.json", [chatgpt_chat()])
    await brought(copy, path)
    asked = ForgetRequest("default", ids=("chatgpt:c0-u0",), session="chatgpt:chat-0", dry_run=False)
    await copy.forget(asked)
    again = await brought(copy, path)
    assert (again.stored.total(), again.left_out) == (0, 1)
    assert "chatgpt:c0-u0" not in [ref for _, ref, _ in await texts_of(copy)]
    assert (await brought(copy, path, space="other")).stored == Counter(messages=3, documents=1)


async def test_what_a_write_would_refuse_is_skipped_and_the_others_are_stored(copy, tmp_path):
    chat = chatgpt_chat(0, turns=3)
    chat["mapping"]["c0-u0"]["message"]["content"]["parts"] = ["x" * 1_001]
    chat["mapping"]["c0-u1"]["message"]["content"]["parts"] = ["a\x00b"]
    path = write_json(tmp_path / "conversations.json", [chat])
    result = await brought(copy, path)
    problems = [record.problem for record in result.skipped]
    assert problems[0] == "has 1,001 bytes in its text (limits.message_bytes), more than the 1,000 allowed"
    assert "null byte" in problems[1]
    assert result.stored == Counter(messages=5, documents=1)


async def test_a_file_that_breaks_off_stores_nothing(copy, tmp_path):
    path = write_json(tmp_path / "conversations.json", [chatgpt_chat(number) for number in range(50)])
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(InvalidInput, match="cut short"):
        await brought(copy, path)
    assert await texts_of(copy) == []


async def said_first(memory, *facts):
    """Store what the user said in May 2024."""
    item = NewItem("I live in Porto.", ref="said", role="user", said_at=1_714_903_200_000)
    await memory.write(WriteRequest("default", "talk", "message", (item,), facts))


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
async def test_an_undated_import_ends_no_dated_fact(copy, tmp_path, name, order):
    if order == "before":
        await said_first(copy, NewFact("user", "lives_in", "Porto", source="said"))
    path = tmp_path / name
    path.write_text("\n".join(map(json.dumps, UNDATED[name])), "utf-8")
    await brought(copy, path)
    if order == "after":
        await said_first(copy, NewFact("user", "lives_in", "Porto", source="said"))
    facts = (await space_in(copy.store)).facts
    found = {one.tail: one.current for one in facts.versions(facts.key("user"), "lives_in")}
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


async def test_an_import_neither_names_the_user_nor_makes_wishes(copy, tmp_path):
    await said_first(copy)
    path = tmp_path / "memory.jsonl"
    path.write_text("\n".join(map(json.dumps, NAMES)), "utf-8")
    result = await brought(copy, path)
    assert [(what, count) for (what, _), count in result.unread.items()] == [("fact", 2)]
    space = await space_in(copy.store)
    assert space.facts.name(space.facts.key("user")) == "user"
    assert space.facts.key("Zelda") != space.facts.key("user")
    assert standing_wishes(space) == []
    played = space.facts.versions(space.facts.key("user"), "plays")
    assert {(one.tail, one.confidence) for one in played} == {("Tennis", STABLE), ("Chess", STABLE)}
    texts = " ".join(text for _, _, text in await texts_of(copy))
    assert "short answers" in texts
    assert "Zelda" in texts
    assert not (await brought(copy, path)).stored


def test_the_ids_of_all_kinds_begin_with_what_marks_an_import(tmp_path):
    for path in written(tmp_path):
        for record in records_of(path)[1]:
            for item in record.items if isinstance(record, FileRecord) else ():
                assert item.ref == "title" or item.ref.partition(":")[0] in IMPORTED
