"""Another user of the machine who may write beside a store: they are not handed the memory, and it is said."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from batches import batch
from lance_at import commit_to, open_at

from mcp_memory.errors import StoreUnwritable
from mcp_memory.storage.arrival import leave, settled
from mcp_memory.storage.data_files import MOVED

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(os.name != "posix", reason="Windows has other rights")]

STRANGER = 65_534


def given_away(path: Path, patched: pytest.MonkeyPatch) -> None:
    """Let a file be another user's: of one without rights, or of whoever runs the test, who is another one then."""
    if os.geteuid() == 0:
        os.chown(path, STRANGER, STRANGER)
    else:
        patched.setattr(os, "geteuid", lambda: STRANGER)


def linked(path: Path, _: pytest.MonkeyPatch) -> None:
    path.rename(path.with_name("note"))
    path.symlink_to(path.with_name("note"))


def of_a_group(path: Path, patched: pytest.MonkeyPatch) -> None:
    path.chmod(0o620)
    group = path.stat().st_gid
    patched.setattr(os, "getegid", lambda: group + 1)


def below(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*"))


PLANTED: dict[str, Callable[[Path, pytest.MonkeyPatch], None]] = {
    "of another user": given_away,
    "that everybody may write": lambda path, _: path.chmod(0o602),
    "that another group may write": of_a_group,
    "behind a link": linked,
}


@pytest.mark.parametrize("kind", PLANTED)
@pytest.mark.parametrize("to_a_store", [True, False])
async def test_a_note_that_others_may_have_written_leads_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, to_a_store: bool
) -> None:
    theirs, note = tmp_path / "theirs", tmp_path / "mine" / MOVED
    if to_a_store:
        store = open_at(str(theirs))
        await commit_to(store, batch("theirs"))
        await store.aclose()
    note.parent.mkdir()
    note.write_text(json.dumps({"to": str(theirs)}))
    note.chmod(0o600)
    PLANTED[kind](note, monkeypatch)
    before = below(tmp_path)
    with pytest.raises(StoreUnwritable, match=r"others may have written.*set storage\.uri.*remove the file"):
        async with open_at(str(note.parent)).reading():
            pass
    with pytest.raises(StoreUnwritable, match="others may have written"):
        await commit_to(open_at(str(note.parent)), batch("mine"))
    assert below(tmp_path) == before


async def test_a_note_of_this_user_is_followed(tmp_path: Path) -> None:
    store = open_at(str(tmp_path / "new"))
    await commit_to(store, batch("mine"))
    await store.aclose()
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / MOVED).write_text(json.dumps({"to": str(tmp_path / "new")}))
    (tmp_path / "old" / MOVED).chmod(0o600)
    async with open_at(str(tmp_path / "old")).reading() as view:
        assert [turn.ref for turn in view.space("default").turns.values()] == ["mine"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (given_away, "belongs to another user"),
        (lambda path, _: path.chmod(0o707), "every user of this machine"),
        (lambda path, _: path.chmod(0o770), ""),
        (lambda path, _: path.chmod(0o500), ""),
    ],
)
async def test_status_says_who_else_may_change_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path, pytest.MonkeyPatch], None], words: str
) -> None:
    store = open_at(str(tmp_path / "store"))
    await commit_to(store, batch("a"))
    assert (await store.about()).notes == ()
    change(tmp_path / "store", monkeypatch)
    notes = (await store.about()).notes
    assert bool(notes) == bool(words)
    assert words in "".join(notes)
    assert str(tmp_path) not in "".join(notes)  # callers who may not see all read it, too


async def test_a_new_store_and_all_in_it_is_its_owners_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = os.umask(0o002)
    try:
        store = open_at(str(tmp_path / "above" / "store"))
        await commit_to(store, batch("a"))
        await store.aclose()
    finally:
        os.umask(before)
    assert not [path for path in below(tmp_path / "above") if path.stat().st_mode & 0o077]


def test_a_memory_is_found_after_many_moves(tmp_path: Path) -> None:
    places = [tmp_path / str(number) for number in range(20)]
    for place in places:
        place.mkdir()
    for place, to in pairwise(places):
        leave(place, to)
    (places[-1] / "memory.log").touch()
    assert settled(places[0]) == places[-1]
