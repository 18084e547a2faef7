"""A commit is an object of the log: every process sees it, the tables take it over, and a lost one is noticed."""

import sys
import threading

import pytest
from batches import DIMENSION, batch
from lance_at import COMMITS, NOW, commit_to, fold_all, is_damaged, make_rows, open_at, refs
from rows_checked import row_problems

from mcp_memory.errors import StoreDamaged
from mcp_memory.storage.log import Entry, Log
from mcp_memory.storage.objects import Folder
from mcp_memory.storage.rows import FORMAT, Commit
from mcp_memory.storage.tables import Tables


def objects(folder, pattern="journal/*"):
    """Return the objects of commits, or those of a pattern, the oldest first."""
    return sorted(folder.glob(pattern))


async def test_a_commit_of_which_a_power_loss_left_only_its_name_was_never_written(folder):
    (folder / "journal" / f"{COMMITS + 1:020d}").touch()
    writer = open_at(str(folder))
    assert (len(await refs(writer)), writer.damage) == (COMMITS, ())
    assert await commit_to(writer, batch("b")) == COMMITS + 1
    assert len(await refs(writer)) == len(await refs(open_at(str(folder)))) == COMMITS + 1


async def test_the_tables_take_commits_over_and_few_segments_have_their_lines(folder):
    slow, busy = open_at(str(folder)), open_at(str(folder))
    assert len(await refs(slow)) == COMMITS
    for number in range(COMMITS, 40):
        await commit_to(busy, batch(f"m{number}"))
        if number % 3 == 0:
            fold_all(str(folder))
    assert len(objects(folder)) <= 3
    assert len(objects(folder, "log/*/*")) <= 5
    for store in (slow, busy, open_at(str(folder))):
        assert len(await refs(store)) == 40
    assert [entry.tx for entry in Tables(str(folder)).log.commits()] == [*range(1, 41)]
    assert await row_problems(slow) == []


# Damage


def _remove(folder):
    for path in objects(folder)[1:3]:
        path.unlink()


def _change(folder):
    for path, place in zip(objects(folder)[1:4:2], (b"m1", b"m3"), strict=True):
        path.write_bytes(path.read_bytes().replace(place + b" came", b"XX came"))


def _cut(folder):
    fold_all(str(folder))
    (segment,) = folder.glob("log/*/*")
    segment.write_bytes(b"".join(segment.read_bytes().splitlines(keepends=True)[:2]))


@pytest.mark.parametrize(
    ("hurt", "left"), [(_remove, ["m0", "m3", "m4"]), (_change, ["m0", "m2", "m4"]), (_cut, ["m0", "m1", "m4"])]
)
async def test_lost_commits_are_noticed_and_nothing_is_changed(folder, hurt, left):
    hurt(folder)
    assert await is_damaged(folder) == left
    store = open_at(str(folder))
    await refs(store)
    assert f"2 of {COMMITS} commits are gone" in store.damage[0]
    assert store.damage == (await store.about()).problems
    with pytest.raises(StoreDamaged, match="restore a backup"):
        await store.rebuild(make_rows)


async def test_a_log_that_is_gone_is_no_empty_memory_and_makes_it_whole_when_it_is_back(folder):
    fold_all(str(folder))
    store = open_at(str(folder))
    await refs(store)
    for name in ("log", "journal"):
        (folder / name).rename(folder / f"{name}.away")
    assert await is_damaged(folder) == []
    assert (await refs(store), len(store.damage)) == ([], 1)
    for name in ("log", "journal"):
        (folder / f"{name}.away").rename(folder / name)
    for one in (store, open_at(str(folder))):
        assert (len(await refs(one)), one.damage) == (COMMITS, ())
    await commit_to(store, batch("new"))


async def test_a_commit_that_is_gone_under_a_running_server_is_back_when_its_file_is(folder):
    store = open_at(str(folder))
    (content,) = [(hurt := objects(folder)[2]).read_bytes()]
    hurt.unlink()
    assert await refs(store) == ["m0", "m1", "m3", "m4"]
    with pytest.raises(StoreDamaged, match="1 of 5 commits"):
        await commit_to(store, batch("more"))
    hurt.write_bytes(content)
    assert (len(await refs(store)), store.damage) == (COMMITS, ())
    await commit_to(store, batch("more"))
    assert len(await refs(open_at(str(folder)))) == COMMITS + 1


def test_no_thread_sees_less_than_was_there_before_it_looked(tmp_path):
    usual, behind = sys.getswitchinterval(), []

    def look(log, made):
        while (least := len(made)) < 8:
            if (found := log.newest()) < least:
                behind.append((found, least))

    sys.setswitchinterval(1e-6)
    try:
        for number in range(40):
            (folder := tmp_path / str(number)).mkdir()
            reader, writer, made = Log(Folder(folder)), Log(Folder(folder)), []
            threads = [threading.Thread(target=look, args=(reader, made)) for _ in range(3)]
            for thread in threads:
                thread.start()
            commit = Commit(0, 0, FORMAT, "fake", DIMENSION, 0, 0)
            for _ in range(8):
                writer.append(Entry(commit := commit.next(NOW), {}, {}))
                made.append(commit)
            for thread in threads:
                thread.join()
    finally:
        sys.setswitchinterval(usual)
    assert behind == []


async def test_a_commit_that_another_thread_sees_while_a_view_is_read_is_read_the_next_time(tmp_path, monkeypatch):
    uri = str(tmp_path / "store")
    reader, last = open_at(uri), Log.last
    await commit_to(open_at(uri), batch("a"))

    def seen_meanwhile(log):
        found = last.fget(log)
        if found.tx == 1:
            Log(Folder(tmp_path / "store")).append(Entry(found.next(NOW), {}, {}))
            log.newest()
        return found

    monkeypatch.setattr(Log, "last", property(seen_meanwhile))
    for tx in (1, 2):
        async with reader.reading() as view:
            assert view.tx == tx


def test_no_commit_counts_as_gone_that_goes_into_a_segment_while_the_log_is_looked_at(tmp_path):
    writer = Log(Folder(tmp_path))

    class Folded(Folder):
        def tags(self, prefix, after=""):
            found = super().tags(prefix, after)
            if prefix == "log/":
                writer.fold(lambda *_: None)
            return found

    reader, commit = Log(Folded(tmp_path)), Commit(0, 0, FORMAT, "fake", DIMENSION, 0, 0)
    for _ in range(2):
        for _ in range(3):
            writer.append(Entry(commit := commit.next(NOW), {}, {}))
        assert reader.missing() == []
    objects(tmp_path, "log/*/*")[0].unlink()
    assert reader.missing() == [1, 2, 3, 4, 5]


def logged(folder, *, at):
    """Make a log of three commits in a folder, and return the last."""
    folder.mkdir()
    log, commit = Log(Folder(folder)), Commit(0, 0, FORMAT, "fake", DIMENSION, 0, 0)
    for _ in range(3):
        log.append(Entry(commit := commit.next(at), {}, {}))
    return commit


def test_other_threads_see_one_log_or_the_other_while_a_store_takes_the_place_of_another(tmp_path):
    class Watched(Folder):
        def tags(self, prefix, after=""):
            seen.append((log.seen, log.edition))
            return super().tags(prefix, after)

    logged(tmp_path / "store", at=NOW)
    other, log, seen = logged(tmp_path / "other", at=NOW + 1), Log(Watched(tmp_path / "store")), []
    log.newest()
    (tmp_path / "store").rename(tmp_path / "gone")
    (tmp_path / "other").rename(tmp_path / "store")
    seen.clear()
    assert log.last == other
    assert {*seen} == {(3, 0), (3, 1)}


def test_a_commit_of_a_log_that_another_thread_finds_replaced_is_not_the_last(tmp_path):
    class Replaced(Folder):
        def get(self, name):
            found = super().get(name)
            if (tmp_path / "other").exists():
                (tmp_path / "store").rename(tmp_path / "gone")
                (tmp_path / "other").rename(tmp_path / "store")
                log.newest()
            return found

    first, other = logged(tmp_path / "store", at=NOW), logged(tmp_path / "other", at=NOW + 1)
    log = Log(Replaced(tmp_path / "store"))
    assert (log.last, log.last) == (first, other)
