"""A store whose table of commits is damaged can be read: other places have the commits as well."""

from dataclasses import replace
from pathlib import Path

import pytest
from batches import batch
from damaging import COMMITS, held, is_damaged, make, make_anew, newest, oldest, refs, repaired
from lance_at import commit_to, open_at

from mcp_memory.errors import StoreDamaged, StoreError
from mcp_memory.storage.copies import LOG_COPY, LogCopy, read_anchor
from mcp_memory.storage.forgotten import purge
from mcp_memory.storage.tables import Tables

pytestmark = pytest.mark.anyio

ALL = [f"m{number}" for number in range(COMMITS)]


def hurt(file: Path, way: str) -> bytes:
    """Damage a file and return what it held."""
    content = file.read_bytes()
    if way == "gone":
        file.unlink()
    elif way == "changed":
        place = len(content) // 2
        file.write_bytes(content[:place] + bytes([content[place] ^ 0x10]) + content[place + 1 :])
    else:
        file.write_bytes({"empty": b"", "halved": content[: len(content) // 2], "zeros": bytes(len(content))}[way])
    return content


def merge(folder: Path) -> None:
    """Put the commits into one file with no earlier version, as compaction may in time."""
    tables = Tables(str(folder))
    tables.replace("commits", tables.rows("commits"))
    purge(tables, "commits")
    tables.sums.tidy(["commits"])


@pytest.mark.parametrize("merged", [False, True])
@pytest.mark.parametrize("way", ["gone", "empty", "halved", "zeros", "changed"])
@pytest.mark.parametrize("part", ["_versions/*.manifest", "data/*.lance"])
async def test_everything_is_read_said_to_be_damaged_and_whole_again_with_the_file_or_a_repair(
    folder: Path, part: str, way: str, merged: bool
) -> None:
    if merged:
        merge(folder)
    file = newest(folder, f"commits.lance/{part}")
    content = hurt(file, way)
    store = open_at(str(folder), derive=lambda: make_anew)
    assert await held(store) == (2 * COMMITS, COMMITS, COMMITS)
    told = " ".join(store.damage)
    if part.startswith("data") or way in ("gone", "empty", "zeros"):  # else a manifest may say the same in other bytes
        assert f"have all {COMMITS} of them" in told
        assert "doctor --repair" in told
        assert told in " ".join((await store.about()).problems)
        assert (await store.about()).problems
        with pytest.raises((StoreDamaged, StoreError)):
            await store.rebuild(make_anew)
        await store.aclose()
        assert await is_damaged(folder) == ALL
    await store.aclose()
    file.write_bytes(content)
    store = open_at(str(folder))
    assert (await refs(store), store.damage) == (ALL, ())
    await store.aclose()
    hurt(file, way)
    await repaired(folder, lambda texts: pytest.fail(str(texts)))
    store = open_at(str(folder))
    assert await refs(store) == ALL
    await commit_to(store, batch("new"))
    assert (len(await refs(store)), store.damage) == (COMMITS + 1, ())


async def test_commits_that_no_other_place_has_are_said_to_be_gone(folder: Path) -> None:
    merge(folder)
    (folder / LOG_COPY).unlink()
    newest(folder, "commits.lance/data/*.lance").write_bytes(b"")
    store = open_at(str(folder))
    assert await refs(store) == ALL  # their rows are there
    assert f"{COMMITS - 1} of {COMMITS} are gone" in " ".join(store.damage)
    with pytest.raises(StoreDamaged, match="doctor --repair"):
        await commit_to(store, batch("new"))


async def test_the_copy_of_the_log_of_another_store_is_not_used(tmp_path: Path, folder: Path) -> None:
    other = await make(tmp_path / "other")
    entries = LogCopy(other).entries().values()
    LogCopy(folder).remove()
    LogCopy(folder).append([replace(entry.commit, at=entry.commit.at + 1) for entry in entries], {})
    oldest(folder, "commits.lance/data/*.lance").write_bytes(b"")
    store = open_at(str(folder))
    assert len(await refs(store)) == COMMITS
    assert f"1 of {COMMITS} are gone" in " ".join(store.damage)


async def test_a_newest_version_that_a_full_disk_cut_short_is_no_damage(folder: Path) -> None:
    tables, anchor = Tables(str(folder)), read_anchor(folder)
    assert anchor is not None
    files = tables.files("commits")
    tables.append("commits", tables.rows("commits", f"tx = {COMMITS}"))
    (made,) = tables.files("commits") - files
    (folder / "commits.lance" / "data" / made).write_bytes(b"cut")
    store = open_at(str(folder))
    assert (await refs(store), store.damage) == (ALL, ())
    await commit_to(store, batch("new"))
    assert (len(await refs(store)), store.damage) == (COMMITS + 1, ())


async def test_a_server_that_runs_goes_on_when_the_commits_break_and_when_they_are_back(folder: Path) -> None:
    merge(folder)
    store = open_at(str(folder))
    assert await refs(store) == ALL
    file = newest(folder, "commits.lance/_versions/*.manifest")
    content = file.read_bytes()
    file.unlink()
    assert await refs(store) == ALL
    assert store.damage
    with pytest.raises(StoreDamaged):
        await commit_to(store, batch("new"))
    file.write_bytes(content)
    again = open_at(str(folder))
    assert (await refs(again), again.damage) == (ALL, ())
