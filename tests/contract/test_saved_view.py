"""The view of a large store is saved beside it: used only if it is right, and gone with what is forgotten."""

import os
import pickle
import shutil
import stat
import struct
import sys
import time
import zlib
from pathlib import Path

import anyio
import numpy as np
import pytest
from anyio import from_thread
from batches import DIMENSION, batch, belief, erasing, lesson, pointed
from batches import point as memory_point
from lance_at import commit_to, newest
from store_contents import holding
from written_stores import held

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.requests import ForgetTargets
from mcp_memory.errors import StoreMismatch, StoreUnwritable
from mcp_memory.reconstruct.graph import CueGraph
from mcp_memory.search.ranking import INDEXES
from mcp_memory.search.words import WordIndex
from mcp_memory.storage import forget, saved_view
from mcp_memory.storage.refresh import Refresher
from mcp_memory.storage.saved_view import FOLDER
from mcp_memory.storage.store import LanceStore
from mcp_memory.vectors import GrowingMatrix
from mcp_memory.view.saved_rows import SavedTurns
from mcp_memory.view.space import View


@pytest.fixture(autouse=True)
def _every_view_is_large(monkeypatch):
    monkeypatch.setattr(saved_view, "LEAST_SENTENCES", 1)
    monkeypatch.setattr(GrowingMatrix, "BLOCK", 4)


def store_at(uri, made_by="settings", embedder="fake"):
    make_view = lambda: View((*INDEXES, CueGraph))  # noqa: E731
    return LanceStore(uri, embedder=embedder, dimension=DIMENSION, make_view=make_view, saved=made_by)


def files(uri):
    return sorted(Path(uri, FOLDER).glob("*"))


async def saved(uri, *batches):
    """Write batches, save the view, and return its file."""
    store = store_at(uri)
    for rows in batches:
        await commit_to(store, rows)
    async with store.reading():
        pass
    await store.save_view()
    (file,) = files(uri)
    written = file.stat().st_mtime_ns
    await store.save_view()  # which is not due any more
    assert file.stat().st_mtime_ns == written
    return file


async def content(store):
    """Return whether the view was saved, and what is in it."""
    async with store.reading() as view:
        found = [held(view), view.tx, view.generation, view.sentences]
        for space in view.spaces.values():
            found += [list(space.turns), space.sessions, list(space.segment_turn), dict(space.speakers)]
            found += [space.facts.names("ann"), space.facts.counts("lives_in"), space.speakers.asker]
            for one in (space.segment_vectors, space.sentence_vectors):
                found += [one.take(np.arange(len(one))).tolist() if one else None]
            found += [list(space.facts.all()), space.index(WordIndex).score(space, ["came", "a"], talk=True).tolist()]
        return any(isinstance(space.turns, SavedTurns) for space in view.spaces.values()), found


async def test_a_saved_view_is_as_the_tables_make_it_and_grows_with_later_commits(uri):
    first, later = batch(*"abcdefgh"), batch(*"ijk")
    taught = Batch(lessons=(lesson("x", {first.sentences[0].id: 1}),), beliefs=(belief(first.sentences[0].id),))
    file = await saved(uri, first, batch(*"pq", space="other"), taught, pointed(memory_point("one")))
    assert await content(store_at(uri)) == (True, (await content(store_at(uri, made_by="")))[1])
    if sys.platform != "win32":
        assert {stat.S_IMODE(path.stat().st_mode) for path in (file.parent, file)} == {0o600, 0o700}
    opened = store_at(uri)
    assert (await content(opened))[0]
    await commit_to(opened, later)
    known = (await content(store_at(uri, made_by="")))[1]
    assert await content(opened) == await content(store_at(uri)) == (True, known)
    before = file.stat().st_mtime_ns
    await opened.save_view()  # of a view that was saved, and has grown
    assert file.stat().st_mtime_ns > before
    assert await content(store_at(uri)) == (True, known)


async def test_a_view_that_is_just_being_saved_makes_way_for_a_call(uri, monkeypatch):
    store = store_at(uri)
    await commit_to(store, batch(*"abcd"))
    async with store.reading():
        pass
    begun, save = anyio.Event(), Refresher.save

    def save_when_asked(self, view, stop):
        from_thread.run_sync(begun.set)
        until = time.monotonic() + 20
        while not stop() and time.monotonic() < until:
            pass
        save(self, view, stop)

    monkeypatch.setattr(Refresher, "save", save_when_asked)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(store.save_view)
        await begun.wait()
        async with store.reading():
            assert files(uri) == []
    monkeypatch.setattr(Refresher, "save", save)
    await store.save_view()
    assert len(files(uri)) == 1


async def test_a_view_is_saved_although_other_processes_remove_theirs_meanwhile(uri, monkeypatch):
    file, listed = await saved(uri, batch("a")), Path.glob
    file.unlink()
    others = [file.with_name(f"{number}.view") for number in range(3)]
    for age, one in enumerate(others):
        one.touch()
        os.utime(one, (age, age))

    def removed(folder, pattern):
        found = [*listed(folder, pattern)]
        others.pop(0).unlink()  # at the first listing before its time is asked for, then before it is removed
        return iter(found)

    store = store_at(uri)
    async with store.reading():
        pass
    with monkeypatch.context() as patch:
        patch.setattr(Path, "glob", removed)
        await store.save_view()
    assert file.exists()


async def test_a_store_with_other_settings_or_that_saves_none_reads_its_tables(uri):
    await saved(uri, batch(*"abcd"))
    assert not (await content(store_at(uri, made_by="others")))[0]
    other = store_at(uri, made_by="")
    assert not (await content(other))[0]
    await other.save_view()
    assert len(files(uri)) == 1


async def test_another_embedder_is_refused_although_a_view_is_saved(uri):
    await saved(uri, batch("one"))
    store = store_at(uri, embedder="another")
    with pytest.raises(StoreMismatch):
        await content(store)
    await store.aclose()


def _flip(at):
    return lambda old: (
        (place := int(at * (len(old) - 1))) and (old[:place] + bytes([old[place] ^ 1]) + old[place + 1 :])
    )


@pytest.mark.parametrize("damage", [*map(_flip, (0.001, 0.5, 0.97, 1)), lambda old: old[:-5], lambda _: b""])
async def test_a_damaged_file_harms_nothing_and_is_written_anew(uri, damage):
    file = await saved(uri, batch(*"abcdefgh"))
    right = file.read_bytes()
    known = (await content(store_at(uri)))[1]
    file.write_bytes(damage(right))
    store = store_at(uri)
    assert await content(store) == (False, known)
    await store.save_view()
    assert (await content(store_at(uri)))[0]


async def test_a_view_of_another_store_is_not_used(uri, tmp_path):
    file = await saved(uri, batch(*"abcd"))
    other = str(tmp_path / "other")
    await commit_to(store_at(other), batch(*"wxyz"))
    shutil.copytree(file.parent, Path(other, FOLDER))
    was_saved, found = await content(store_at(other))
    assert not was_saved
    assert "w came first" in str(found)


async def test_damage_of_the_log_is_noticed_as_without_a_saved_view(uri):
    await saved(uri, batch(*"abcd"))
    log = newest(Path(uri), "journal/*")
    log.write_bytes(b" " + log.read_bytes())
    store = store_at(uri)
    assert not (await content(store))[0]
    assert "commits are gone" in " ".join(store.damage)


async def test_a_forget_that_is_interrupted_before_it_removes_saved_views_is_finished(uri, monkeypatch):
    rows = batch("alpha", "bravo")
    await saved(uri, rows)

    def interrupted(_tables):
        raise StoreUnwritable("interrupted")

    with monkeypatch.context() as patched:
        patched.setattr(forget, "remove_views", interrupted)
        with pytest.raises(StoreUnwritable):
            await store_at(uri).forget(erasing(ForgetTargets("default", turns=frozenset([rows.turns[0].id]))))
    assert any(b"alpha" in file.read_bytes() for file in files(uri))
    assert "alpha" not in str(await content(store_at(uri)))
    assert holding(Path(uri), ["alpha", "bravo"]) == {"bravo"}


async def test_a_forget_leaves_no_word_in_saved_views(uri):
    """Nor does a process that was just about to save its view when another one forgot, nor one that died at it."""
    rows = batch("alpha", "bravo", "charlie")
    file = await saved(uri, rows)
    late = store_at(uri)
    async with late.reading() as view:
        refresher, old, last = late._refresher, view, late._refresher.last
    file.with_name(f"{file.name}.1").write_bytes(file.read_bytes())
    (mine := file.with_name("mine.txt")).write_text("a file of somebody else")
    assert holding(Path(uri), ["alpha"]) == {"alpha"}
    await store_at(uri).forget(erasing(ForgetTargets("default", turns=frozenset([rows.turns[0].id]))))
    assert files(uri) == [mine]
    mine.unlink()
    refresher._saved.save(old, last, lambda: False)
    assert holding(Path(uri), ["alpha", "bravo"]) == {"bravo"}
    assert "alpha" not in str(await content(late))
    await saved(uri)
    assert await content(store_at(uri)) == (True, (await content(late))[1])
    assert holding(Path(uri), ["alpha", "bravo"]) == {"bravo"}


async def test_a_file_that_somebody_made_runs_nothing(uri, tmp_path):
    file = await saved(uri, batch(*"abcd"))
    known = (await content(store_at(uri)))[1]
    old, mark = file.read_bytes(), tmp_path / "mark"
    length = struct.unpack("<I", old[-16:-12])[0]
    described = saved_view._description(file)
    hostile = pickle.dumps(_Touch(mark), protocol=5)
    assert len(hostile) < described["buffers"][0][0]
    changed = hostile + old[len(hostile) : -12]
    assert length
    file.write_bytes(changed + struct.pack("<I", zlib.crc32(changed)) + old[-8:])
    assert await content(store_at(uri)) == (False, known)
    assert not mark.exists()
    pickle.loads(hostile)
    assert mark.exists()


class _Touch:
    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return Path.touch, (self.mark,)
