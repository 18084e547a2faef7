"""Another user of the machine who may write beside a store: they are not handed the memory, and it is said."""

import os

import pytest
from batches import batch
from lance_at import commit_to, open_at

pytestmark = pytest.mark.skipif(os.name != "posix", reason="Windows has other rights")

STRANGER = 65_534


def given_away(path, patched):
    """Let a file be another user's: of one without rights, or of whoever runs the test, who is another one then."""
    if os.geteuid() == 0:
        os.chown(path, STRANGER, STRANGER)
    else:
        patched.setattr(os, "geteuid", lambda: STRANGER)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (given_away, "belongs to another user"),
        (lambda path, _: path.chmod(0o707), "every user of this machine"),
        (lambda path, _: path.chmod(0o770), ""),
        (lambda path, _: path.chmod(0o500), ""),
    ],
)
async def test_status_says_who_else_may_change_the_memory(tmp_path, monkeypatch, change, words):
    store = open_at(str(tmp_path / "store"))
    await commit_to(store, batch("a"))
    assert (await store.about()).notes == ()
    change(tmp_path / "store", monkeypatch)
    notes = (await store.about()).notes
    assert bool(notes) == bool(words)
    assert words in "".join(notes)
    assert str(tmp_path) not in "".join(notes)  # callers who may not see all read it, too


async def test_a_new_store_and_all_in_it_is_its_owners_alone(tmp_path, monkeypatch):
    before = os.umask(0o002)
    try:
        store = open_at(str(tmp_path / "above" / "store"))
        await commit_to(store, batch("a"))
        await store.aclose()
    finally:
        os.umask(before)
    assert not [path for path in (tmp_path / "above").rglob("*") if path.stat().st_mode & 0o077]
