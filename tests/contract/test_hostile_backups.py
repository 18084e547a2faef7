"""Backups that somebody made to do harm: what they unpack is what they hold, within the place that they are for."""

from __future__ import annotations

import struct
import zipfile
from pathlib import Path

import pytest
from test_lance_backups import fill, names, opened, refs, restored, saved

from mcp_memory.errors import InvalidInput, StoreUnwritable

pytestmark = pytest.mark.anyio
DATA = f"segments_0.lance/data/{'01' * 12}{'9f' * 13}.lance"
HOSTILE = {
    "up the tree": "segments_0.lance/../../evil",
    "from the root": "/tmp/evil.lance/x",
    "a backslash": "segments_0.lance\\..\\..\\evil",
    "no table": "moved.json",
    "a lock": "write.lock",
    "a long name": "segments_0.lance/" + "x" * 5_000,
    "a folder": "segments_0.lance/data/",
    "a file in the place of a folder": f"{DATA}/x",
}


@pytest.mark.parametrize("kind", HOSTILE)
async def test_a_backup_with_a_member_that_is_no_file_of_a_table_is_refused_and_leaves_nothing(
    tmp_path: Path, kind: str
) -> None:
    await fill(opened(tmp_path / "store"))
    await saved(tmp_path / "store", tmp_path / "file")
    bad = (tmp_path / "file").rename(tmp_path / "bad")
    with zipfile.ZipFile(bad, "a") as archive:
        archive.writestr(HOSTILE[kind], "evil")
    before = await refs(tmp_path / "store")
    with pytest.raises((InvalidInput, StoreUnwritable)):
        await restored(tmp_path / "bad", tmp_path / "copy")
    assert names(tmp_path) == {"store", "bad"}
    assert await refs(tmp_path / "store") == before


async def test_a_backup_that_grows_when_it_is_unpacked_is_refused(tmp_path: Path) -> None:
    await fill(opened(tmp_path / "store"))
    await saved(tmp_path / "store", tmp_path / "file")
    with zipfile.ZipFile(tmp_path / "file", "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(DATA, bytes(50 << 20))
    content = (tmp_path / "file").read_bytes()
    assert len(content) < 20 << 20
    assert struct.pack("<I", 50 << 20) in content
    with pytest.raises(InvalidInput, match="more than it does"):
        await restored(tmp_path / "file", tmp_path / "copy")
    assert names(tmp_path) == {"store", "file"}
