"""Writing stores what is new once and completely or not at all, with other processes writing too; a corpus as well."""

from dataclasses import replace

import lancedb
import numpy as np
import pytest
from asserting import asserted
from exported_store import open_at
from fakes import Disk, DiskStore, FakeEmbedder
from hypothesis import given
from hypothesis import strategies as st
from learning_memory import memory
from remembering import space_in

from mcp_memory.domain.query import Query
from mcp_memory.domain.requests import ExploreRequest, NewFact, NewItem, WriteRequest
from mcp_memory.domain.times import FOREVER
from mcp_memory.errors import InvalidInput
from mcp_memory.language.iso import parse, show
from mcp_memory.server.tools.write import write_reply
from mcp_memory.services.indexing import SHORT_CHARS, Reading, silent
from mcp_memory.services.write import changes, statement, write, write_many
from mcp_memory.storage.tables import Tables
from mcp_memory.view.facts import Facts

pytestmark = pytest.mark.usefixtures("one_key")

NOW = 1_700_000_000_000


async def say(store, *items, kind="message", embedder=None):
    request = WriteRequest("default", "talk", kind, items)
    return await write(store, Reading(embedder or FakeEmbedder(), None), request, now=NOW, progress=silent)


async def test_a_message_is_stored_word_for_word_with_its_sentences_and_both_times():
    store = DiskStore()
    text = "  Hello\u200b there. I came yesterday.\n"
    result = await say(store, NewItem(text, ref="m1", speaker="Ann", said_at=1_683_547_200_000))
    assert [(item.ref, item.stored) for item in result.items] == [("m1", True)]
    space = await space_in(store)
    turn = space.current("talk", "m1")
    assert (turn.text, turn.said_at, turn.written_at) == (text, 1_683_547_200_000, NOW)
    assert [space.text(space.sentences[row]) for row in space.sentences.of_turn(turn.id)] == [
        "Hello\u200b there.",
        "I came yesterday.",
    ]
    (stated,) = space.sentences[1].times
    assert text[stated.start : stated.end] == "yesterday"
    assert stated.since == 1_683_417_600_000  # 7 May 2023, the day before


async def test_a_text_at_which_the_rules_fail_is_found_without_facts(caplog):
    class Faulty:
        name, version = "rules", 1

        def extract(self, *_):
            raise IndexError("a fault of the rules")

    store = DiskStore()
    request = WriteRequest("default", "talk", "message", (NewItem("The shelf was made.", ref="m1", speaker="Ann"),))
    reading = Reading(FakeEmbedder(), Faulty())
    result = await write(store, reading, request, now=NOW, progress=silent)
    assert [item.stored for item in result.items] == [True]
    assert len((await space_in(store)).sentences) == 1
    assert "No facts were read" in caplog.text
    assert "shelf" not in caplog.text


async def test_repeating_a_call_stores_nothing_and_makes_no_commit():
    disk = Disk()
    items = (NewItem("Yes.", speaker="Ann"), NewItem("Yes.", speaker="Ann"), NewItem("Other.", ref="x"))
    first = await say(DiskStore(disk), *items)
    again = await say(DiskStore(disk), *items)
    assert [item.stored for item in first.items] == [True, True, True]
    assert [item.stored for item in again.items] == [False, False, False]
    assert [item.ref for item in again.items] == [item.ref for item in first.items]
    assert disk.commits == 2


async def test_a_taken_id_is_refused_by_name_and_nothing_of_the_call_is_stored():
    disk = Disk()
    store = DiskStore(disk)
    await say(store, NewItem("Hello.", ref="m1"))
    with pytest.raises(InvalidInput, match=r"messages\[1\]\.id: 'm1' is taken"):
        await say(store, NewItem("New.", ref="m2"), NewItem("Another text.", ref="m1"))
    with pytest.raises(InvalidInput, match=r"messages\[1\]\.id: 'm3' stands twice"):
        await say(store, NewItem("One.", ref="m3"), NewItem("Two.", ref="m3"))
    with pytest.raises(InvalidInput, match=r"documents\[0\]\.id: 'm1' is taken .* by a message"):
        await say(store, NewItem("A document.", ref="m1"), kind="document")
    assert disk.commits == 2


async def test_a_document_written_again_becomes_a_revision_and_may_go_back_to_an_old_text():
    store = DiskStore()
    for text in ("First text.", "Second text.", "First text.", "First text."):
        await say(store, NewItem(text, ref="d1"), kind="document")
    revisions = (await space_in(store)).revisions("talk", "d1")
    assert [(turn.text, turn.revision) for turn in revisions] == [
        ("First text.", 0),
        ("Second text.", 1),
        ("First text.", 2),
    ]
    assert len({turn.id for turn in revisions}) == 3


lines = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1).filter(str.strip)


@given(st.lists(lines, min_size=1, max_size=5))
async def test_every_text_is_returned_unchanged_and_pieces_are_spans_of_it(texts):
    store = DiskStore()
    await say(store, *(NewItem(text) for text in texts))
    space = await space_in(store)
    assert [space.turns[turn].text for turn in space.sessions["talk"]] == texts
    for piece in (*space.segments, *space.sentences):
        assert space.text(piece)
        assert space.text(piece) == space.text(piece).strip()


async def test_of_a_long_text_only_the_segments_are_embedded_and_equal_texts_once():
    """The sentences of a long text have the vectors of their segments, so it costs no more than these."""
    embedder, store = FakeEmbedder(), DiskStore()
    lines = [f"- The {place} has a {thing}." for place in ("north", "south") for thing in ("gate", "well", "mill")]
    long = "\n".join([*lines * 20, "", "Short. Same."])
    await say(store, NewItem(long, ref="m1"), NewItem("Short. Same.", ref="m2"), embedder=embedder)
    space = await space_in(store)
    turn = space.current("talk", "m1")
    runs = [space.text(one) for one in space.segments if one.turn_id == turn.id]
    places = reversed(list(enumerate(space.segments)))
    first = {row: place for place, segment in places for row in space.sentences_within(segment)}
    for row in (row for row, one in enumerate(space.sentences) if one.turn_id == turn.id):
        assert np.array_equal(space.sentence_vectors[row], space.segment_vectors[first[row]])
    assert len(runs) > 1
    assert sorted(embedder.texts) == sorted({*runs, "Short.", "Same.", "Short. Same."})


async def test_a_sentence_of_a_short_message_is_embedded_as_a_part_of_its_segment_and_others_by_themselves():
    """A message of one sentence is that sentence, and headings stand before what is below them."""
    embedder, store = FakeEmbedder(), DiskStore()
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


# What a write changes: the versions before it and after it


OSLO, ROME, DENIED = asserted("Oslo", 2010), asserted("Rome", 2015), asserted("Oslo", 2015, negated=True)
SURE, HEDGED = asserted("Rome", 2010, confidence=0.99), asserted("Rome", 2015, confidence=0.45)


@pytest.mark.parametrize(
    ("what", "before", "new", "made"),
    [
        ("a first statement adds", [], OSLO, "Oslo added"),
        ("the next one of the same value merges", [OSLO], asserted("Oslo", 2012), "Oslo merged"),
        ("a new value closes the old one", [OSLO], ROME, "Rome added, Oslo closed"),
        ("a denial closes what it denies", [OSLO], DENIED, "Oslo closed"),
        ("and nothing that nobody asserted", [asserted("Rome", 2010)], DENIED, ""),
        ("of two values with one start the surer one holds", [OSLO], SURE, "Rome added, Oslo contested"),
        ("whichever was told first", [SURE], OSLO, "Oslo contested"),
        ("a hedged fact that is stated closes", [OSLO, HEDGED], asserted("Rome", 2016), "Rome merged, Oslo closed"),
    ],
)
def test_a_write_reports_what_it_changes(what, before, new, made):
    facts = Facts()
    facts.add([*before, new])
    assert ", ".join(f"{one.version.tail} {one.op}" for one in changes(facts, [new], ())) == made, what


def test_an_assertion_recorded_before_changes_nothing():
    facts = Facts()
    facts.add([OSLO])
    assert [change.op for change in changes(facts, [OSLO], (OSLO.id,))] == ["unchanged"]


def test_a_denial_says_from_when_on_a_fact_no_longer_holds():
    told = NewFact("Ann", "lives_in", "Oslo", valid_from=parse("2020-05-01")[0])
    assert statement(told) == "Ann lives in Oslo from 1 May 2020."
    assert statement(replace(told, negated=True)) == "No longer from 1 May 2020 on: Ann lives in Oslo."


# Facts of a caller beside messages


MAY, JUNE = (parse(f"2023-0{month}-08")[0] for month in (5, 6))


async def written(one, facts, *items):
    request = WriteRequest("default", "talk", "message" if items else "statement", items, tuple(facts))
    return request, await one.write(request)


async def test_a_fact_without_a_source_was_said_with_the_last_message_of_its_call():
    one = memory()
    items = (NewItem("Hello.", speaker="Ann", said_at=MAY), NewItem("I moved.", speaker="Ann", said_at=JUNE))
    _, result = await written(one, [NewFact("Ann", "lives_in", "Keld")], *items)
    assert [show(fact.valid_from)[:10] for fact in result.facts] == ["2023-06-08"]
    _, alone = await written(one, [NewFact("Bob", "lives_in", "Keld")])
    assert [show(fact.valid_from)[:10] for fact in alone.facts] == ["2024-01-01"]  # the day of writing


async def test_a_denial_that_ends_nothing_is_named_also_beside_facts_that_are_new():
    one = memory()
    denied = NewFact("Ann", "lives_in", "Oslo", negated=True)
    request, result = await written(one, [NewFact("Ann", "has_pet", "a cat"), denied])
    assert "ends by what was negated of: Ann lives_in Oslo." in write_reply(request, result).text
    one = memory()
    await written(one, [NewFact("Ann", "lives_in", "Oslo", valid_from=MAY)])
    request, result = await written(one, [NewFact("Ann", "has_pet", "a dog"), denied])
    assert "negated of" not in write_reply(request, result).text


async def test_a_date_that_moved_is_closed_and_no_contradiction():
    one = memory()
    due = [NewFact("report", "due_on", "2023-06-20", source="m1")]
    await written(one, due, NewItem("The report is due on 20 June.", ref="m1", speaker="Ann", said_at=MAY))
    moved = [
        NewFact("report", "due_on", "2023-06-27", source="m2"),
        NewFact("report", "due_on", "2023-06-20", source="m2", negated=True),
    ]
    said = NewItem("The report moved to 27 June.", ref="m2", speaker="Ann", said_at=JUNE)
    request, result = await written(one, moved, said)
    assert [(fact.text, fact.op) for fact in result.facts] == [
        ("report is due on 2023-06-27", "added"),
        ("report is due on 2023-06-20", "closed"),
    ]
    old = "- closed: report is due on 2023-06-20 (from 2023-05-08, but set aside for another statement)"
    assert old in write_reply(request, result).text
    found = await one.reconstruct(Query("When is the report due?", "default", 12))
    assert not [line for line in found.conflicts if "was also said" in line]


async def test_a_date_to_come_is_not_told_as_past_and_the_one_told_last_counts():
    one = memory()
    for number, day in enumerate(("2031-03-01", "2031-02-19")):
        said = NewFact("launch", "date", day, valid_from=parse(day)[0])
        _, result = await written(one, [said], NewItem(f"The launch is set: {day}.", said_at=MAY + number))
    assert [(fact.text, fact.op) for fact in result.facts] == [
        ("launch has the date 2031-02-19", "added"),
        ("launch has the date 2031-03-01", "closed"),
    ]


async def test_a_misread_fact_is_taken_back_and_what_it_had_ended_goes_on():
    one = memory()
    museum = NewItem("I work at the museum.", ref="m1", speaker="Ann", said_at=MAY)
    await written(one, [NewFact("Ann", "works_at", "the museum", source="m1")], museum)
    club = NewItem("I work with the club on Sundays.", ref="m2", speaker="Ann", said_at=JUNE)
    await written(one, [NewFact("Ann", "works_at", "the club", source="m2")], club)
    wrong = NewFact("Ann", "works_at", "the club", valid_from=JUNE, negated=True)
    request, result = await written(one, [wrong], NewItem("No, I only run there.", said_at=JUNE + 1))
    told = write_reply(request, result).text
    assert "- closed: Ann works at the club (from 2023-06-08, but set aside for another statement)" in told
    answer = await one.answer(Query("Where does Ann work?", "default", 12))
    assert answer.text == "the museum"
    history = await one.explore(ExploreRequest("default", "versions", "Ann"))
    assert [(item.text, item.valid_to) for item in history.items] == [
        ("Ann works at the museum", FOREVER),
        ("Ann works at the club", JUNE),
    ]


LATER = 1_720_000_000_000


def talk(session, count):
    items = tuple(
        NewItem(f"{session}: Ines moved to Porto on 3 May {2000 + n}. She likes it.", f"{session}-{n}", speaker="Ines")
        for n in range(count)
    )
    return WriteRequest("default", session, "message", items, (), wait=True)


def tables(folder):
    """Return every row of every table and of the texts of the log in its order, without its commit and place there."""
    Tables(str(folder)).fold()
    database = lancedb.connect(folder)
    found = {path.stem: database.open_table(path.stem).to_arrow() for path in sorted(folder.glob("*.lance"))}
    entries = Tables(str(folder)).log.entries()
    said = [{**row, "place": 0} for entry in entries for row in entry.logged.get("turns", ())]
    return said, {name: rows.drop_columns([*{"tx", "place"} & {*rows.column_names}]) for name, rows in found.items()}


async def test_a_corpus_becomes_the_rows_that_single_writes_make(tmp_path):
    one, other = open_at(tmp_path / "one"), open_at(tmp_path / "other")
    requests = [talk(f"talk {number}", 3) for number in range(4)]
    for request in requests:
        await write(one.store, one.reading, request, now=LATER, progress=silent)
    for stored in (12, 0):
        batch = await write_many(other.store, requests, reading=other.reading, now=LATER)
        assert len(batch.turns) == stored
    assert (await other.store.about()).tx == 2
    for written_to in (one, other):
        await written_to.aclose()
    (said, single), (also_said, many) = tables(tmp_path / "one"), tables(tmp_path / "other")
    assert said == also_said
    assert single.keys() == many.keys() >= {"sentences_0"}
    assert sum(rows.num_rows for rows in many.values()) >= 3 * 3 * 4
    for name, rows in single.items():
        assert rows.combine_chunks().equals(many[name].combine_chunks()), name
