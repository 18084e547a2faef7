"""Export and import: nothing is lost, the copy answers alike, and what is wrong is refused whole."""

import json
from collections import Counter

import numpy as np
import pytest
from exported_store import content, content_as_exported, exported, fill, imported, open_at, replies, store_of

from mcp_memory.domain.requests import NewItem, WriteRequest
from mcp_memory.errors import InvalidInput, StoreUnwritable
from mcp_memory.services.transfer.renaming import Leaving
from mcp_memory.storage.log import Log

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def anyio_backend():
    return "asyncio"


@pytest.fixture(scope="module")
async def original(tmp_path_factory):
    memory = open_at(tmp_path_factory.mktemp("original") / "store")
    await fill(memory)
    yield memory
    await memory.aclose()


@pytest.fixture(scope="module")
async def file(original):
    return await exported(original)


@pytest.fixture
async def copy(tmp_path):
    memory = open_at(tmp_path / "copy")
    yield memory
    await memory.aclose()


def records(file):
    return [json.loads(line) for line in file.splitlines()]


async def test_the_file_holds_every_sort_of_record(file):
    sorts = Counter(record.get("record") for record in records(file))
    assert set(sorts) == {
        None, "message", "document", "statement", "fact", "lesson", "point", "alias", "question", "reading", "end",
    }  # fmt: skip
    assert sorts["document"] == 3
    header, *_, end = records(file)
    assert header["format"] == "mcp-memory export"
    assert header["spaces"] == ["default", "work"]
    assert end == {"record": "end", "records": len(records(file)) - 2}


async def test_a_copy_holds_the_same_and_answers_alike(original, file, copy):
    result = await imported(copy, file)
    assert result.records == sum(result.stored.values())
    for space in ("default", "work"):
        there, here = await content_as_exported(original, space), await content_as_exported(copy, space)
        for sort in there:
            assert there[sort] == here[sort], sort
    assert await replies(original) == await replies(copy)
    async with original.store.reading() as before, copy.store.reading() as after:
        for name in ("default", "work"):
            old, new = before.space(name).beliefs, after.space(name).beliefs
            ids = [
                [Leaving(view.space(name)).id(one) for one in view.space(name).beliefs.sentence_ids]
                for view in (before, after)
            ]
            assert ids[0] == ids[1]
            assert len(old) > 2 or name == "work"
            for column in ("task", "time", "task_doubts", "time_doubts"):
                np.testing.assert_allclose(getattr(old, column), getattr(new, column), atol=1e-6)


async def test_an_export_of_a_copy_is_the_same_file(file, copy):
    await imported(copy, file)
    assert await exported(copy) == file


async def test_a_second_import_stores_nothing(file, copy):
    await imported(copy, file)
    before = (await copy.store.about()).tx
    again = await imported(copy, file)
    assert sum(again.stored.values()) == 0
    assert (await copy.store.about()).tx == before


async def test_a_rebuilt_copy_equals_the_rebuilt_original(original, file, copy, tmp_path):
    from mcp_memory.services.ingest import deriver, silent

    await imported(copy, file)
    again = open_at(tmp_path / "again")
    await imported(again, file)
    await store_of(copy).rebuild(deriver(copy.reading, progress=silent))
    there, here = await content_as_exported(original), await content_as_exported(copy)
    assert {fact["id"]: fact["tail"] for fact in there["facts"]} == {fact["id"]: fact["tail"] for fact in here["facts"]}
    assert await replies(again) == await replies(copy)
    assert await exported(copy) == file
    await again.aclose()


async def test_an_import_into_another_space_answers_alike_and_comes_back_the_same(original, copy, tmp_path):
    file = await exported(original, "default")
    await imported(copy, file, into="other")
    async with copy.store.reading() as view:
        assert set(view.spaces) == {"other"}
    assert await replies(original) == await replies(copy, "other")
    there, here = await content(original), await content(copy, "other")
    assert [len(there[sort]) for sort in there] == [len(here[sort]) for sort in here]
    assert [one.text for one in there["facts"]] == [one.text for one in here["facts"]]
    async with copy.store.reading() as view:
        space = view.space("other")
        assert all(space.sentence(name) for lesson in space.beliefs.lessons() for name in lesson.labels)
        assert any(point.sentences for point in space.hypergraph.all())
        assert all(space.sentence(name) for point in space.hypergraph.all() for name in point.sentences)
        assert all(space.facts.version(name) for point in space.hypergraph.all() for name in point.facts)
        assert all(space.segment_row(question.segment_id) >= 0 for question in space.questions.rows)
        assert len(space.beliefs) > 2
    moved = await exported(copy)
    assert b'"default"' not in moved
    back = open_at(tmp_path / "back")
    await imported(back, moved, into="default")
    assert await exported(back) == file
    assert sum((await imported(copy, file, into="other")).stored.values()) == 0
    await back.aclose()


async def test_an_import_that_was_stopped_goes_on(file, copy):
    calls = 0

    async def stop(_done, _total, _what):
        nonlocal calls
        calls += 1
        if calls == 7:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await imported(copy, file, progress=stop)
    assert (await copy.store.about()).tx > 2
    await imported(copy, file)
    assert await exported(copy) == file


async def test_an_import_waits_for_those_who_write_meanwhile(file, copy, tmp_path):
    other, pauses = open_at(tmp_path / "copy"), 0

    async def write_meanwhile():
        nonlocal pauses
        pauses += 1
        if pauses % 5 == 1 and pauses < 60:
            item = NewItem(f"It rains for the {pauses}th time.", ref=f"r{pauses}")
            await other.write(WriteRequest("weather", "now", "message", (item,)))

    copy.embedder.before = write_meanwhile
    await imported(copy, file)
    assert len((await content(copy, "weather"))["texts"]) > 1
    assert await exported(copy, "default", "work") == file
    await other.aclose()


async def test_a_disk_that_fills_up_loses_nothing_and_the_import_goes_on(file, copy, monkeypatch):
    append, calls = Log.append, 0

    def fail(*arguments, **options):
        nonlocal calls
        calls += 1
        if calls == 4:
            raise StoreUnwritable("the disk is full")
        return append(*arguments, **options)

    monkeypatch.setattr(Log, "append", fail)
    with pytest.raises(StoreUnwritable):
        await imported(copy, file)
    await imported(copy, file)
    assert await exported(copy) == file


async def test_other_words_under_a_known_id_are_refused_before_anything_is_stored(original, file, copy):
    item = NewItem("Other words.", ref="m3")
    await copy.write(WriteRequest("default", "letters", "message", (item,)))
    before = (await copy.store.about()).tx
    with pytest.raises(InvalidInput, match=r"line \d+: is stored with other words: message 'm3'.*--space"):
        await imported(copy, file)
    assert (await copy.store.about()).tx == before
    await imported(copy, await exported(original, "default"), into="second")


def with_record(file, record, /, **changes):
    """Return a file in which the first record of a sort is changed; None takes a field out."""
    lines = file.splitlines(keepends=True)
    place = next(place for place, one in enumerate(records(file)) if one.get("record", "header") == record)
    changed = {name: value for name, value in (records(file)[place] | changes).items() if value is not None}
    lines[place] = json.dumps(changed).encode() + b"\n"
    return b"".join(lines), place + 1


@pytest.mark.parametrize(
    ("record", "changes", "problem"),
    [
        ("message", {"text": None}, "has no text in 'text'"),
        ("message", {"text": 5}, "has no text in 'text'"),
        ("message", {"text": "a\x00b"}, "null byte"),
        ("message", {"text": "a\ud800b"}, "surrogate"),
        ("statement", {"id": "m2"}, "has the id of line"),
        ("message", {"space": "a b"}, "names a space 'a b'"),
        ("message", {"written": "yesterday"}, "no time that can be read in 'written'"),
        ("message", {"written": "2024-05-05"}, "no time that can be read in 'written'"),
        ("message", {"written": 10**15}, "no time that can be read in 'written'"),
        ("message", {"time": "9999-12-31T23:59:59-23:00"}, "no time that can be read in 'time'"),
        ("message", {"written": None}, "has no time in 'written'"),
        ("message", {"revision": 1}, "no line before it has the one before"),
        ("message", {"mood": "good"}, "does not know: 'mood'"),
        ("message", {"record": "poem"}, "'poem' in 'record'"),
        ("fact", {"id": "m99"}, "which no line before it holds"),
        ("fact", {"end": 100_000}, "words outside of its text"),
        ("fact", {"confidence": 1.5}, "above 0 and at most 1 in 'confidence'"),
        ("fact", {"confidence": float("nan")}, "NaN is no number"),
        ("fact", {"until": "1900-01-01T00:00:00Z"}, "ends before it begins"),
        ("fact", {"by": "embedded"}, "'embedded' in 'by'"),
        ("fact", {"head": " "}, "empty head"),
        ("fact", {"negated": 1}, "neither true nor false in 'negated'"),
        ("fact", {"since": 10**30}, "no time that can be read in 'since'"),
        ("lesson", {"labels": {"s_1": 2}}, "has 2 in 'labels', which is none of -1, 0, 1"),
        ("lesson", {"trace": None}, "has no object in 'trace'"),
        ("lesson", {"by": "nobody"}, "'nobody' in 'by'"),
        ("point", {"entities": ["Ines", "ines"]}, "fewer than 2 entities"),
        ("point", {"status": "merged", "merged_into": None}, "has the status 'merged'"),
        ("point", {"sentences": "s_1"}, "no list of texts in 'sentences'"),
        ("alias", {"reason": None}, "has no text in 'reason'"),
        ("question", {"entities": [1]}, "no list of texts in 'entities'"),
        ("reading", {"state": "leased"}, "'leased' in 'state'"),
        ("reading", {"parts": -1}, "no whole number that can be right in 'parts'"),
    ],
)
async def test_a_bad_record_is_named_by_its_line_and_nothing_is_stored(file, copy, record, changes, problem):
    bad, line = with_record(file, record, **changes)
    with pytest.raises(InvalidInput) as error:
        await imported(copy, bad)
    assert problem in str(error.value)
    assert f"line {line}: " in str(error.value), error.value
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
    with pytest.raises(InvalidInput, match=f"line 4: {problem}"):
        await imported(copy, b"".join([*lines[:3], line, *lines[4:]]))


async def test_a_file_that_was_cut_short_is_refused(file, copy):
    lines = file.splitlines(keepends=True)
    for short in (lines[:-1], lines[:-2], [*lines[:5], *lines[6:]], [*lines, lines[3]], [*lines[:-1], lines[-1][:-9]]):
        with pytest.raises(InvalidInput, match=r"cut short or changed(?s:.*)Nothing was stored"):
            await imported(copy, b"".join(short))
    with pytest.raises(InvalidInput, match="cut short or changed"):
        await imported(copy, file[: len(file) // 2])
    assert (await copy.store.about()).tx == 0


@pytest.mark.parametrize(
    "foreign",
    [
        b"",
        b'{"type":"entity","name":"Ines","entityType":"person","observations":[]}\n',
        b'[{"title": "A chat", "mapping": {}}]',
        b"PK\x03\x04\x00\xff",
        "\ufeff{}".encode("utf-16"),
        b'{"format": "somebody else"}\n',
        b'{"format": 7}\n',
        b"x" * 3_000_000,
    ],
)
async def test_a_file_of_another_program_is_refused(copy, foreign):
    with pytest.raises(InvalidInput, match="no export of mcp-memory"):
        await imported(copy, foreign)


async def test_a_newer_format_is_refused_with_what_helps(file, copy):
    newer, _ = with_record(file, "header", version=2)
    with pytest.raises(InvalidInput, match=r"version 2, and this program knows 1.*newer mcp-memory"):
        await imported(copy, newer)


async def test_a_file_of_several_spaces_goes_into_no_other(file, copy):
    with pytest.raises(InvalidInput, match=r"the file holds several: default, work.*Export one"):
        await imported(copy, file, into="one")
    assert (await copy.store.about()).tx == 0
