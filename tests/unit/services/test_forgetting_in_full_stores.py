"""Forget in a store with everything that a memory does, at once and after ``forget.keep_days``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from exported_store import MAY, content, exported, fill, imported, open_at, replies, store_of
from rows_checked import row_problems
from store_contents import decoded, holding

from mcp_memory.domain.forgetting import ForgetRequest
from mcp_memory.domain.query import Query
from mcp_memory.domain.requests import EvolveRequest, Feedback, NewItem, PointEdits, PointInsert, WriteRequest
from mcp_memory.errors import InvalidInput
from mcp_memory.memory import Memory
from mcp_memory.server.tools.forget import forget_reply
from mcp_memory.services.ingest import Reading, deriver, silent
from mcp_memory.storage.forgotten import DAY_MS, FOLDER, KeptFiles

pytestmark = pytest.mark.anyio

VALVES = ("Which valve leaks?", "Who mends valve 2 on Friday?", "valve 4", "What does my brother mend?")


async def evidence(memory: Memory, *questions: str, space: str = "work") -> list[list[str]]:
    found = [await memory.reconstruct(Query(question, space)) for question in questions]
    return [[item.id for item in result.evidence] for result in found]


async def filled(folder: object) -> Memory:
    memory = open_at(folder)
    await fill(memory)
    return memory


async def test_a_message_goes_from_every_file_and_the_rest_answers_as_before(tmp_path) -> None:
    """And a rebuild of what is left gives the same memory: nothing that is derived still rests on what went."""
    memory = await filled(tmp_path / "store")
    assert holding(tmp_path / "store", ["Braga", "harbour", "Matos"]) == {"Braga", "harbour", "Matos"}
    before = await evidence(memory, *VALVES)
    work = await content(memory, "work")
    found = await memory.forget(ForgetRequest("default", query="Braga"))
    assert found.forgotten["messages"] == 1
    await memory.forget(ForgetRequest("default", query="Braga", dry_run=False, token=found.token))
    await memory.forget(ForgetRequest("default", ids=("tank",), dry_run=False))
    assert holding(tmp_path / "store", ["Braga", "Matos", "harbour"]) == {"harbour"}
    assert await evidence(memory, *VALVES) == before
    assert await content(memory, "work") == work
    assert await row_problems(store_of(memory)) == []
    left = await content(memory)
    reading = Reading(memory.embedder, memory.extractor, memory.settings.search.segment_tokens)
    await store_of(memory).rebuild(deriver(reading, progress=silent))
    assert await content(memory) == left
    assert await content(memory, "work") == work
    await memory.aclose()


@pytest.mark.usefixtures("one_key")
async def test_after_a_forget_a_memory_answers_like_one_that_never_had_what_went(tmp_path) -> None:
    """To the digit, though the rarity of every word is another one than before."""
    memory, other = await filled(tmp_path / "store"), open_at(tmp_path / "other")
    for chosen in ({"query": "Braga"}, {"ids": ("tank",)}):
        preview = await memory.forget(ForgetRequest("default", **chosen))
        await memory.forget(ForgetRequest("default", **chosen, dry_run=False, token=preview.token))
    await imported(other, await exported(memory))
    for space in ("default", "work"):
        assert await replies(memory, space) == await replies(other, space)
        assert await evidence(memory, *VALVES, space=space) == await evidence(other, *VALVES, space=space)
    await memory.aclose()
    await other.aclose()


async def test_an_import_leaves_out_what_was_forgotten_unless_told(tmp_path) -> None:
    """Texts with their facts, lessons and points; a second import stores nothing."""
    memory = await filled(tmp_path / "store")
    file = await exported(memory)
    await memory.forget(ForgetRequest("default", ids=("m1",), session="letters", dry_run=False))
    left = await content(memory)
    result = await imported(memory, file)
    assert result.left_out
    async with memory.store.reading() as view:
        assert view.space("default").current("letters", "m1") is None
    assert (await content(memory))["texts"] == left["texts"]
    await imported(memory, file, again=True)
    async with memory.store.reading() as view:
        turn = view.space("default").current("letters", "m1")
        assert turn is not None
        assert view.space("default").facts.assertions_in(turn.id)
    await memory.aclose()


ANIMALS = ("heron", "badger", "lynx", "otter", "stoat", "ibex", "crane", "marmot", "newt", "quail", "shrew", "vole")
PLACES = ("meadow", "quarry", "orchard", "harbour")


async def test_questions_that_have_nothing_to_do_with_it_find_the_same_evidence_in_the_same_order(tmp_path) -> None:
    """In the same space, with facts, lessons and points beside."""
    memory = open_at(tmp_path / "store")
    told = [
        NewItem(
            f"The {animal} of the {place} sleeps until {number + 1} o'clock.", ref=f"{animal}-{place}", speaker="Ann"
        )
        for animal in ANIMALS
        for number, place in enumerate(PLACES)
    ]
    await memory.write(WriteRequest("default", "walks", "message", tuple(told)))
    kept = ANIMALS[3:]
    for animal in (*ANIMALS[:3], *kept[:3]):
        found = await memory.reconstruct(Query(f"When does the {animal} wake up?", limit=3))
        feedback = Feedback(supports=(found.evidence[0].id,))
        await memory.evolve(EvolveRequest("default", episode=found.episode, feedback=feedback))
    questions = [f"Where does the {animal} sleep?" for animal in kept]
    questions += [f"{animal}, until when?" for animal in kept]

    async def asked() -> list[list[str]]:
        found = [await memory.reconstruct(Query(question, limit=3)) for question in questions]
        return [[item.id for item in result.evidence] for result in found]

    before = await asked()
    assert all(before)
    for animal in ANIMALS[:3]:
        for place in PLACES[:2]:
            await memory.forget(ForgetRequest("default", ids=(f"{animal}-{place}",), dry_run=False))
    assert await asked() == before
    await memory.aclose()


def keeping(memory: Memory, folder: Path, days: int, now: int = MAY) -> KeptFiles:
    kept = KeptFiles(str(folder), days, lambda: now, lambda: store_of(memory).log(secrets=True))
    memory.kept = kept
    return kept


async def forgotten(folder: Path, days: int = 7) -> tuple[Memory, str, object]:
    """Return a memory in which a message was forgotten, the name to take it back by, and what it knew before."""
    memory = open_at(folder)
    await fill(memory)
    keeping(memory, folder, days)
    before = await content(memory)
    found = await memory.forget(ForgetRequest("default", query="Braga"))
    result = await memory.forget(ForgetRequest("default", query="Braga", dry_run=False, token=found.token))
    return memory, result.warnings[0], before


async def test_it_is_hidden_at_once_and_comes_back_with_its_facts(tmp_path: Path) -> None:
    memory, told, before = await forgotten(tmp_path / "store")
    assert "Kept for 7 days" in told
    recall = await memory.reconstruct(Query("What about Braga?"))
    assert not [item for item in recall.evidence if "Braga" in item.text]
    assert "Braga" not in decoded(tmp_path / "store")  # of all tables
    name = told.split("--undo ")[1].split("`")[0]
    kept = keeping(memory, tmp_path / "store", 7, MAY + 6 * DAY_MS)
    with pytest.raises(InvalidInput, match=f"kept as 'nonsense'.*{name}"):
        kept.find("nonsense")
    assert kept.find("last") == kept.find(name)
    await imported(memory, kept.find(name).read_bytes(), again=True)
    after = await content(memory)
    assert isinstance(before, dict)
    assert {one.id: replace(one, place=0) for one in after["texts"]} == {one.id: one for one in before["texts"]}
    assert {one.id for one in after["assertions"]} == {one.id for one in before["assertions"]}
    assert {one.key for one in after["lessons"]} == {one.key for one in before["lessons"]}
    await memory.aclose()


async def test_it_is_gone_when_its_days_are_over_and_not_sooner_whatever_is_set_by_then(tmp_path: Path) -> None:
    memory, _, _ = await forgotten(tmp_path / "store")
    assert holding(tmp_path / "store", ["Braga"]) == {"Braga"}
    assert keeping(memory, tmp_path / "store", 7, MAY + 7 * DAY_MS - 1).remove_expired() == 0
    kept = keeping(memory, tmp_path / "store", 7, MAY + 7 * DAY_MS)
    with pytest.raises(InvalidInput, match="Kept is: nothing"):
        kept.find("last")
    assert holding(tmp_path / "store", ["Braga"]) == set()
    keeping(memory, tmp_path / "store", 7)
    await memory.forget(ForgetRequest("default", ids=("tank",), dry_run=False))
    assert len(list((tmp_path / "store" / FOLDER).iterdir())) == 1
    (file,) = (tmp_path / "store" / FOLDER).iterdir()
    other = keeping(memory, tmp_path / "store", 0, MAY + 7 * DAY_MS - 1)  # a program to which no days were told
    assert other.remove_expired() == 0
    assert other.find("last") == file
    older = file.rename(file.with_name(f"{MAY}-{file.stem.rpartition('-')[2]}.jsonl"))  # its name has no date
    assert keeping(memory, tmp_path / "store", 7).find("last") == older
    assert keeping(memory, tmp_path / "store", 0).remove_expired() == 1
    await memory.aclose()


async def test_only_what_was_kept_here_is_removed_when_its_days_are_over(tmp_path: Path) -> None:
    memory, _, _ = await forgotten(tmp_path / "store")
    mine = tmp_path / "store" / FOLDER / f"{MAY - 9 * DAY_MS}-{MAY - 8 * DAY_MS}-0a1b2c3d.jsonl"
    mine.write_text("my own notes\n")
    assert keeping(memory, tmp_path / "store", 0, MAY + 8 * DAY_MS).remove_expired() == 1
    assert [path.name for path in (tmp_path / "store" / FOLDER).iterdir()] == [mine.name]
    await memory.aclose()


async def test_what_cannot_be_kept_is_not_forgotten(tmp_path: Path) -> None:
    memory = open_at(tmp_path / "store")
    await fill(memory)
    keeping(memory, tmp_path / "store", 7)
    (tmp_path / "store" / FOLDER).write_text("no folder")
    with pytest.raises(Exception, match="Nothing was forgotten"):
        await memory.forget(ForgetRequest("default", ids=("m1",), session="letters", dry_run=False))
    async with memory.store.reading() as view:
        assert view.space("default").current("letters", "m1") is not None
    await memory.aclose()


async def test_an_undo_leaves_out_only_a_text_in_whose_place_another_one_stands(tmp_path: Path) -> None:
    memory = open_at(tmp_path / "store")
    kept = keeping(memory, tmp_path / "store", 7)

    async def tell(**texts: str) -> None:
        items = tuple(NewItem(text, ref=name) for name, text in texts.items())
        await memory.write(WriteRequest("default", "s", "message", items))

    await tell(m1="Ines likes octopuses.", m2="Ines lives in Porto.")
    await memory.forget(ForgetRequest("default", ids=("m1", "m2"), session="s", dry_run=False))
    await tell(m1="Ines likes squids.")
    file = kept.find("last").read_bytes()
    result = await imported(memory, file, again=True, part=True)
    assert (result.records, result.left_out, result.stored["messages"]) == (2, 1, 1)
    async with memory.store.reading() as view:
        told = {one.text for one in view.space("default").turns.values()}
    assert told == {"Ines likes squids.", "Ines lives in Porto."}
    with pytest.raises(InvalidInput, match="other words"):
        await imported(memory, file, again=True)
    assert (await imported(memory, file, "beside", again=True)).stored["messages"] == 2  # as the reply says
    await memory.aclose()


SUMMARY = "My own summary: they are a couple."


async def summarised(folder: Path) -> Memory:
    """Return a memory with points: one rests on two sessions, one only shares its goal."""
    memory = open_at(folder)
    said = ("Ines moved to Oslo with Rafael.", "Ines works with Rafael at Nordlys.", "Ines sings in a choir with Bo.")
    for session, text in zip("abc", said, strict=True):
        await memory.write(WriteRequest("default", session, "message", (NewItem(text),)))
    async with memory.store.reading() as view:
        first, second, third = (sentence.id for sentence in view.space("default").sentences)
    points = (
        PointInsert(("Ines", "Rafael"), SUMMARY, (first, second)),
        PointInsert(("Ines", "Bo"), "They sing every Tuesday.", (third,)),
    )
    await memory.evolve(EvolveRequest("default", goal="What is Ines doing?", points=PointEdits(insert=points)))
    await memory.evolve(EvolveRequest("default", steps=("questions",)))
    return memory


async def point_goals(memory: Memory) -> dict[str, str]:
    async with memory.store.reading() as view:
        return {one.description: one.scope for one in view.space("default").hypergraph.active()}


async def test_an_undo_brings_back_points_and_goals_and_counts_what_is_there(tmp_path: Path) -> None:
    memory = await summarised(tmp_path / "store")
    kept, before = keeping(memory, tmp_path / "store", 7), await point_goals(memory)
    preview = await memory.forget(ForgetRequest("default", session="a"))
    assert any(line == f"a memory point goes: {SUMMARY}" for line in preview.affected)
    assert any(line == "a memory point loses its goal: They sing every Tuesday." for line in preview.affected)
    assert any(line.startswith("a question goes: ") for line in preview.affected)
    await memory.forget(ForgetRequest("default", session="a", dry_run=False, token=preview.token))
    assert SUMMARY not in (left := await point_goals(memory))
    assert left["They sing every Tuesday."] == ""
    file = kept.find("last").read_bytes()
    for _ in range(2):
        result = await imported(memory, file, again=True)
        assert result.missing == 0
        assert before.items() <= (await point_goals(memory)).items()
    assert not result.stored.total()
    await memory.aclose()


async def test_a_kept_file_is_named_when_what_it_says_was_made_again_and_is_forgotten_for_good(tmp_path: Path) -> None:
    memory = await summarised(tmp_path / "store")
    for days in (7, 0):
        keeping(memory, tmp_path / "store", days)
        async with memory.store.reading() as view:
            point = next(one for one in view.space("default").hypergraph.active() if one.description == SUMMARY)
        result = await memory.forget(ForgetRequest("default", ids=(point.id,), dry_run=False))
        again = PointInsert(point.entities, SUMMARY, point.sentences)
        await memory.evolve(EvolveRequest("default", points=PointEdits(insert=(again,))))
    (file,) = (tmp_path / "store" / FOLDER).iterdir()
    assert f"{file}; delete it, too." in str(result.warnings)
    await memory.aclose()


async def test_a_point_without_the_text_that_it_rests_on_is_told_as_missing(tmp_path: Path) -> None:
    memory = await summarised(tmp_path / "store")
    keeping(memory, tmp_path / "store", 7)
    files: list[bytes] = []
    for session in "ab":
        preview = await memory.forget(ForgetRequest("default", session=session))
        await memory.forget(ForgetRequest("default", session=session, dry_run=False, token=preview.token))
        files += [
            file.read_bytes() for file in (tmp_path / "store" / FOLDER).iterdir() if file.read_bytes() not in files
        ]
    first, second = files
    result = await imported(memory, first, again=True)
    assert (result.missing, result.stored["points"]) == (1, 1)  # the goal of the other one is back
    assert SUMMARY not in await point_goals(memory)
    await imported(memory, second, again=True)
    assert (await imported(memory, first, again=True)).missing == 0
    assert SUMMARY in await point_goals(memory)
    await memory.aclose()


async def test_a_text_that_still_lies_in_an_earlier_kept_file_is_told(tmp_path: Path) -> None:
    memory = await summarised(tmp_path / "store")
    keeping(memory, tmp_path / "store", 7)
    request = ForgetRequest("default", session="a")
    token = (await memory.forget(request)).token
    done = await memory.forget(replace(request, dry_run=False, token=token))
    assert "No file" not in forget_reply(request, done).text
    await memory.write(WriteRequest("default", "a", "message", (NewItem("Ines moved to Oslo with Rafael."),)))
    keeping(memory, tmp_path / "store", 0)
    token = (await memory.forget(request)).token
    done = await memory.forget(replace(request, dry_run=False, token=token))
    (file,) = (tmp_path / "store" / FOLDER).iterdir()
    assert f"Kept since it was forgotten before, until 2024-05-12: {file}; delete it, too." in done.warnings
    assert "No file" not in forget_reply(request, done).text
    whole = file.read_bytes()
    for damaged in (whole[:-20], whole.replace(b"Ines", b"In\xffs"), whole + b"[]\n"):
        file.write_bytes(damaged)
        await memory.write(WriteRequest("default", "a", "message", (NewItem("Ines moved to Rome with Rafael."),)))
        token = (await memory.forget(request)).token
        done = await memory.forget(replace(request, dry_run=False, token=token))
        assert any(f"damaged, may hold it, until 2024-05-12: {file}" in line for line in done.warnings)
        assert "No file" not in forget_reply(request, done).text
    file.unlink()
    await memory.write(WriteRequest("default", "a", "message", (NewItem("Ines moved to Oslo with Rafael."),)))
    token = (await memory.forget(request)).token
    request = replace(request, dry_run=False, token=token)
    assert "No file of the memory" in forget_reply(request, await memory.forget(request)).text
    await memory.aclose()
