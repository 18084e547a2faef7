"""Forgetting in LanceDB: no file holds it any more, the store is sound, and others see it whole or not at all."""

from dataclasses import replace

import anyio
import pytest
from batches import asserted, batch, belief, erasing, lesson, point, pointed, taught, turn, unit_vectors
from lance_at import commit_to, embed, fold_all, forgotten, open_at, refs, relearn
from remembering import space_in
from rows_checked import row_problems
from store_contents import decoded, holding

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.entities import Alias
from mcp_memory.domain.language_model import Job
from mcp_memory.domain.requests import ForgetTargets
from mcp_memory.domain.turns import PooledQuestion
from mcp_memory.errors import McpMemoryError, StoreUnwritable
from mcp_memory.storage import forget as forget_module
from mcp_memory.storage import refresh as refresh_module
from mcp_memory.storage.forget import BOOK
from mcp_memory.storage.refresh import Refresher
from mcp_memory.storage.tables import Tables

GONE = ("zanzibarine", "quokkafarm")
"""Words that stand in the texts that go, and nowhere else."""


def opened(folder, **settings):
    return open_at(str(folder), embed=embed, relearn=relearn, **settings)


async def fill(store):
    """Write texts, facts, points, lessons, aliases, questions and jobs, some of them with words that are to go."""
    await commit_to(store, batch("bravo", *GONE, "charlie"))
    first, kept = batch(GONE[0]).sentences[0].id, batch("bravo").sentences[0].id
    await commit_to(store, Batch(assertions=(asserted(turn(GONE[1]), 7, "anthropic", tail=f"the {GONE[1]}"),)))
    made = replace(point("p"), sentences=(first, kept), description=f"{GONE[0]} and more", source="embedded")
    await commit_to(store, pointed(made, replace(made, revision=1, description=f"{GONE[0]} and bravo"), point("free")))
    about = lesson(GONE[0], {first: 1, kept: 1})
    await commit_to(store, Batch(lessons=(about,), beliefs=(belief(first), belief(kept))))
    await commit_to(store, taught("free", sentence=kept, supported=2))
    await commit_to(store, Batch(aliases=(Alias("default", "Ann", GONE[1], f"{GONE[1]} is Ann", "embedded", 1),)))
    question = PooledQuestion("default", f"Where is {GONE[0]}?", batch(GONE[0]).segments[0].id, frozenset([GONE[0]]))
    await commit_to(store, Batch(questions=(question,), question_vectors=unit_vectors(["q"])))
    await commit_to(store, Batch(jobs=(Job("default", turn(GONE[0]).id, "done", 1, 0, 0, "", 1),)))


@pytest.fixture
async def store(tmp_path):
    """A store that is `fill`ed, in the folder ``store``."""
    filled = opened(tmp_path / "store")
    await fill(filled)
    return filled


TARGETS = ForgetTargets("default", turns=frozenset(turn(ref).id for ref in GONE))


async def test_no_file_holds_what_was_forgotten_and_the_store_is_sound(store, tmp_path):
    """Decoded and in raw bytes, in every retained version; before the forget the same search finds every word."""
    ids = sorted(TARGETS.turns)
    assert holding(tmp_path / "store", (*GONE, *ids, "bravo")) == {*GONE, *ids, "bravo"}
    before = decoded(tmp_path / "store")
    assert all(before.count(word) > 2 for word in GONE)
    store._compaction.stop(60)  # as a command ends, before a compaction is through
    found = await store.forget(erasing(TARGETS))
    assert found.relearn
    assert holding(tmp_path / "store", (*GONE, *found.ids, "bravo", "charlie")) == {"bravo", "charlie"}
    assert await row_problems(store) == []
    assert (await store.about()).notes == ()
    space = await space_in(opened(tmp_path / "store"))
    kept = batch("bravo").sentences[0].id
    assert [one.episode_id for one in space.beliefs.lessons()] == ["ep_free"]
    left = space.beliefs.get(kept)
    assert left.supported == 1  # learnt again of the lesson that stays alone
    (made,) = [one for one in space.hypergraph.all() if one.id != "h_free"]
    assert (space.hypergraph.vector(made.id) == unit_vectors([made.description])[0]).all()


async def test_what_was_read_again_or_rebuilt_by_halves_goes_too(store, tmp_path):
    """Tables of other generations and readers, left by processes that died."""
    tables = fold_all(str(tmp_path / "store"))
    rows = tables.rows("assertions_0")
    for name in ("assertions_3_0", "assertions_1", "sentences_1"):
        tables.append(name, rows)
    await store.forget(erasing(TARGETS))
    assert not {"assertions_3_0", "assertions_1", "sentences_1", "assertions_0"} & set(tables.names())
    assert holding(tmp_path / "store", GONE) == set()


STEPS = ("_begin", "_relearnt", "_copy_tables", "_embed_points", "_switch", "finish")


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("after", [False, True])
async def test_a_forget_that_ends_in_the_middle_is_done_or_not_begun(store, tmp_path, monkeypatch, caplog, step, after):
    """Before and after each of its steps; a reader clears up, or a writer. Then it can be done. Nobody sees damage."""
    folder = tmp_path / "store"
    tables = set(fold_all(str(folder)).names())
    where = forget_module if step == "finish" else forget_module.Forgetter
    whole = getattr(where, step)

    def broken(*arguments):
        if after:
            whole(*arguments)
        raise KeyboardInterrupt

    async def broken_later(*arguments):
        if after:
            await whole(*arguments)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(where, step, broken_later if step in ("_relearnt", "_embed_points") else broken)
        with pytest.raises(BaseException):  # noqa: B017, PT011 - the process ends
            await store.forget(erasing(TARGETS))
    done = step == "finish" or (step == "_switch" and after)
    if after:
        await commit_to(opened(folder), batch("delta"))
    there = await refs(opened(folder))
    assert set(there) & {*GONE} == (set() if done else {*GONE})
    assert holding(folder, GONE) == (set() if done else {*GONE})
    other = opened(folder)
    assert await row_problems(other) == []
    assert await forgotten(other) == done
    if not done:
        assert set(Tables(str(folder)).names()) == tables
        assert len(list(folder.glob("log/*"))) == 1
        await other.forget(erasing(TARGETS))
    assert holding(folder, GONE) == set()
    assert await forgotten(opened(folder)) == 1
    space = await space_in(opened(folder))
    assert [one.ref for one in space.turns.values()][:2] == ["bravo", "charlie"]
    (made,) = [one for one in space.hypergraph.all() if one.id != "h_free"]
    assert (space.hypergraph.vector(made.id) == unit_vectors([made.description])[0]).all()
    left = space.beliefs.get(batch("bravo").sentences[0].id)
    assert left.supported == 1
    assert [record.getMessage() for record in caplog.records if "gone" in record.getMessage()] == []


async def test_what_a_process_was_killed_in_the_middle_of_writing_goes_too(store, tmp_path):
    """LanceDB writes each file under a name of its own first, and never removes what was not finished."""
    fold_all(str(tmp_path / "store"))
    data = next((tmp_path / "store" / "segments_0.lance" / "data").iterdir()).name
    left = [
        *("point_vectors_0.lance/data/.tmpA1", "segments_0.lance/_versions/.tmpB2"),
        f"journal/.{9:020d}.0a1b2c3d.part",
        *(f"segments_0.lance/data/{data}{ending}" for ending in ("#1", "#2")),
    ]
    for place in left:
        (tmp_path / "store" / place).write_text(f'"embedder": {" ".join(GONE)}')
    await store.forget(erasing(TARGETS))
    assert holding(tmp_path, GONE) == set()


async def test_a_process_that_dies_before_it_begins_to_forget_stops_nobody(store, tmp_path):
    other = opened(tmp_path / "store")
    assert len(await refs(other)) == 4
    Tables(str(tmp_path / "store")).log.begin_forgetting()
    for one in (other, store, opened(tmp_path / "store")):
        assert len(await refs(one)) == 4
    await commit_to(other, batch("delta"))
    assert "delta" in await refs(store)


async def test_a_full_disk_begins_nothing(store, tmp_path, monkeypatch):
    """The memory would take as much room again for a while."""
    usage = type("Usage", (), {"free": 1000})
    monkeypatch.setattr("mcp_memory.storage.forget.shutil.disk_usage", lambda _: usage)
    with pytest.raises(StoreUnwritable, match="Nothing was forgotten"):
        await store.forget(erasing(TARGETS))
    assert len((await space_in(opened(tmp_path / "store"))).turns) == 4
    assert await forgotten(store) == 0


async def test_a_rebuild_that_runs_meanwhile_gives_up_and_leaves_nothing(store, tmp_path):
    """It has derived from texts that were forgotten before it switched over."""
    other = opened(tmp_path / "store")

    async def make(turns):
        await store.forget(erasing(TARGETS))
        return batch("bravo", *GONE, "charlie")

    with pytest.raises(McpMemoryError, match="forgotten"):
        await other.rebuild(make)
    assert holding(tmp_path / "store", GONE) == set()
    assert await row_problems(store) == []
    assert sum(name.startswith("sentences") for name in Tables(str(tmp_path / "store")).names()) == 1


@pytest.mark.parametrize("content", [None, b"", b'00000000 {"records": []}'])
async def test_a_record_of_what_was_forgotten_that_is_gone_is_noted_and_begins_again(store, tmp_path, content):
    await store.forget(erasing(TARGETS))
    await store.aclose()
    (tmp_path / "store" / BOOK).unlink()
    if content is not None:
        (tmp_path / "store" / BOOK).write_bytes(content)
    store = opened(tmp_path / "store")
    assert await refs(store) == ["bravo", "charlie"]
    assert "forgotten" in " ".join((await store.about()).notes)
    await commit_to(store, batch("delta"))
    assert (await forgotten(store), store.damage) == (0, ())
    await store.forget(erasing(ForgetTargets("default", turns=frozenset([turn("charlie").id]))))
    again = opened(tmp_path / "store")
    assert await forgotten(again) == 1
    assert "forgotten" not in " ".join((await again.about()).notes)


async def test_a_store_whose_tables_are_replaced_while_it_is_opened_is_not_called_damaged(tmp_path, monkeypatch):
    await fill(opened(tmp_path / "store"))
    real, to_forget = refresh_module.short_tables, [TARGETS]

    def meanwhile(tables, last):
        if to_forget:
            anyio.run(opened(tmp_path / "store").forget, erasing(to_forget.pop()))
        return real(tables, last)

    def reset(refresher):
        told.append(store.damage)  # to other calls, which do not wait
        return begin_again(refresher)

    monkeypatch.setattr(refresh_module, "short_tables", meanwhile)
    store, told, begin_again = opened(tmp_path / "store"), [], Refresher.reset
    monkeypatch.setattr(Refresher, "reset", reset)
    assert await refs(store) == ["bravo", "charlie"]
    assert {store.damage, *told} == {()}


async def test_what_another_process_wrote_is_read_whole_although_something_is_forgotten_meanwhile(
    tmp_path, monkeypatch
):
    uri = tmp_path / "store"
    await fill(opened(uri))
    store, parts, to_forget = opened(uri), refresh_module._parts, [TARGETS]
    await refs(store)
    await commit_to(opened(uri), batch("delta"))
    fold_all(str(uri))

    def meanwhile(entries, last):
        if to_forget:
            anyio.run(opened(uri).forget, erasing(to_forget.pop()))
        return parts(entries, last)

    monkeypatch.setattr(refresh_module, "_parts", meanwhile)
    space = await space_in(store)
    assert [turn.ref for turn in space.turns.values()] == ["bravo", "charlie", "delta"]
    assert all(space.segments.of_turn(name) for name in space.turns)
