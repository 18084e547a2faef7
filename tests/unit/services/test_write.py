"""Writing stores what is new once and completely or not at all, with other processes writing too."""

from __future__ import annotations

import numpy as np
import pytest
from fakes import Disk, DiskStore, FakeEmbedder
from hypothesis import given
from hypothesis import strategies as st

from mcp_memory.domain.requests import NewItem, WriteRequest, WriteResult
from mcp_memory.errors import InvalidInput
from mcp_memory.services.indexing import SHORT_CHARS, Reading, silent
from mcp_memory.services.write import write

NOW = 1_700_000_000_000


async def say(
    store: DiskStore,
    *items: NewItem,
    kind: str = "message",
    embedder: FakeEmbedder | None = None,
    space: str = "default",
) -> WriteResult:
    request = WriteRequest(space, "talk", "document" if kind == "document" else "message", items)
    embedder = embedder or FakeEmbedder()
    return await write(store, Reading(embedder, None), request, now=NOW, progress=silent)


def store_on(disk: Disk) -> DiskStore:
    return DiskStore(disk)


async def test_a_message_is_stored_word_for_word_with_its_sentences_and_both_times() -> None:
    store = store_on(Disk())
    text = "  Hello\u200b there. I came yesterday.\n"
    result = await say(store, NewItem(text, ref="m1", speaker="Ann", said_at=1_683_547_200_000))
    assert [(item.ref, item.stored) for item in result.items] == [("m1", True)]
    async with store.reading() as view:
        space = view.space("default")
        turn = space.current("talk", "m1")
        assert turn is not None
        assert (turn.text, turn.said_at, turn.written_at) == (text, 1_683_547_200_000, NOW)
        assert [space.text(space.sentences[row]) for row in space.sentences.of_turn(turn.id)] == [
            "Hello\u200b there.",
            "I came yesterday.",
        ]
        (stated,) = space.sentences[1].times
        assert text[stated.start : stated.end] == "yesterday"
        assert stated.since == 1_683_417_600_000  # 7 May 2023, the day before


class FaultyExtractor:
    """Raises at every text, as a fault of the rules would."""

    name, version = "rules", 1

    def extract(self, *_: object) -> list[object]:
        raise IndexError("a fault of the rules")


async def test_a_text_at_which_the_rules_fail_is_found_without_facts(caplog: pytest.LogCaptureFixture) -> None:
    store = store_on(Disk())
    request = WriteRequest("default", "talk", "message", (NewItem("The shelf was made.", ref="m1", speaker="Ann"),))
    reading = Reading(FakeEmbedder(), FaultyExtractor())  # type: ignore[arg-type]
    result = await write(store, reading, request, now=NOW, progress=silent)
    assert [item.stored for item in result.items] == [True]
    async with store.reading() as view:
        assert len(view.space("default").sentences) == 1
    assert "No facts were read" in caplog.text
    assert "shelf" not in caplog.text


async def test_repeating_a_call_stores_nothing_and_makes_no_commit() -> None:
    disk = Disk()
    items = (NewItem("Yes.", speaker="Ann"), NewItem("Yes.", speaker="Ann"), NewItem("Other.", ref="x"))
    first = await say(store_on(disk), *items)
    again = await say(store_on(disk), *items)
    assert [item.stored for item in first.items] == [True, True, True]
    assert [item.stored for item in again.items] == [False, False, False]
    assert [item.ref for item in again.items] == [item.ref for item in first.items]
    assert disk.commits == 2


async def test_a_taken_id_is_refused_by_name_and_nothing_of_the_call_is_stored() -> None:
    disk = Disk()
    store = store_on(disk)
    await say(store, NewItem("Hello.", ref="m1"))
    with pytest.raises(InvalidInput, match=r"messages\[1\]\.id: 'm1' is taken"):
        await say(store, NewItem("New.", ref="m2"), NewItem("Another text.", ref="m1"))
    with pytest.raises(InvalidInput, match=r"messages\[1\]\.id: 'm3' stands twice"):
        await say(store, NewItem("One.", ref="m3"), NewItem("Two.", ref="m3"))
    with pytest.raises(InvalidInput, match=r"documents\[0\]\.id: 'm1' is taken .* by a message"):
        await say(store, NewItem("A document.", ref="m1"), kind="document")
    assert disk.commits == 2


async def test_a_document_written_again_becomes_a_revision_and_may_go_back_to_an_old_text() -> None:
    store = store_on(Disk())
    for text in ("First text.", "Second text.", "First text.", "First text."):
        await say(store, NewItem(text, ref="d1"), kind="document")
    async with store.reading() as view:
        revisions = view.space("default").revisions("talk", "d1")
    assert [(turn.text, turn.revision) for turn in revisions] == [
        ("First text.", 0),
        ("Second text.", 1),
        ("First text.", 2),
    ]
    assert len({turn.id for turn in revisions}) == 3


lines = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1).filter(str.strip)


@given(st.lists(lines, min_size=1, max_size=5))
async def test_every_text_is_returned_unchanged_and_pieces_are_spans_of_it(texts: list[str]) -> None:
    store = store_on(Disk())
    await say(store, *(NewItem(text) for text in texts))
    async with store.reading() as view:
        space = view.space("default")
        assert [space.turns[turn].text for turn in space.sessions["talk"]] == texts
        for piece in (*space.segments, *space.sentences):
            assert space.text(piece)
            assert space.text(piece) == space.text(piece).strip()


def _rows_of(space, place):
    return space.sentences_within(space.segments[place])


async def test_of_a_long_text_only_the_segments_are_embedded_and_equal_texts_once() -> None:
    """The sentences of a long text have the vectors of their segments, so it costs no more than these."""
    embedder, store = FakeEmbedder(), store_on(Disk())
    lines = [f"- The {place} has a {thing}." for place in ("north", "south") for thing in ("gate", "well", "mill")]
    long = "\n".join([*lines * 20, "", "Short. Same."])
    await say(store, NewItem(long, ref="m1"), NewItem("Short. Same.", ref="m2"), embedder=embedder)
    async with store.reading() as view:
        space = view.space("default")
        turn = space.current("talk", "m1")
        assert turn is not None
        runs = [space.text(one) for one in space.segments if one.turn_id == turn.id]
        first = {row: place for place in reversed(range(len(space.segments))) for row in _rows_of(space, place)}
        for row in (row for row, one in enumerate(space.sentences) if one.turn_id == turn.id):
            assert np.array_equal(space.sentence_vectors[row], space.segment_vectors[first[row]])
    assert len(runs) > 1
    assert sorted(embedder.texts) == sorted({*runs, "Short.", "Same.", "Short. Same."})


async def test_a_sentence_of_a_short_message_is_embedded_as_a_part_of_its_segment_and_others_by_themselves() -> None:
    """A message of one sentence is that sentence, and headings stand before what is below them."""
    embedder, store = FakeEmbedder(), store_on(Disk())
    talk = ("Yes. I moved to Porto.", "Hello.", "# Plan\n\nWe sail. You cook.")
    await say(store, *map(NewItem, talk), embedder=embedder)
    below = "We sail. You cook."
    sail = next(whole for words, whole in embedder.parts if words == "We sail.")
    assert sail.endswith(below)
    assert sorted(embedder.parts) == sorted(
        [("Yes.", talk[0]), ("I moved to Porto.", talk[0]), *(one for one in embedder.parts if one[1] == sail)]
    )
    assert {"We sail.", "You cook."} <= {words for words, whole in embedder.parts if whole == sail}
    embedder.parts.clear()
    await say(store, NewItem("Porto is old. It is wet.", ref="d1"), kind="document", embedder=embedder)
    await say(store, NewItem("It rained. " + "We walked on. " * (SHORT_CHARS // 14), ref="long"), embedder=embedder)
    assert embedder.parts == []
    assert {"Porto is old.", "It is wet.", "It rained.", "We walked on."} <= set(embedder.texts)
