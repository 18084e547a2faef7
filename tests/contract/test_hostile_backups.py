"""Backups that somebody made to do harm: what they unpack is what they hold, within the place that they are for."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest
from test_lance_backups import fill, names, opened, refs, restored, saved

from mcp_memory.errors import InvalidInput, StoreUnwritable

pytestmark = pytest.mark.anyio


def member(name: str, kind: bytes = tarfile.REGTYPE, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.size = kind, target, 0
    return info


def sparse(name: str) -> tarfile.TarInfo:
    """Return a member of a petabyte of zeros, of which the archive has no byte."""
    info = member(name)
    size = str(1 << 50)
    info.pax_headers = {"GNU.sparse.size": size, "GNU.sparse.map": f"{size},0", "GNU.sparse.numblocks": "1"}
    return info


HOSTILE = {
    "a petabyte of zeros": sparse("segments_0.lance/zeros"),
    "sums without end": sparse("sums.json"),
    "a link": member("segments_0.lance/link", tarfile.SYMTYPE, "/etc/passwd"),
    "a link to a folder": member("segments_0.lance", tarfile.SYMTYPE, "/tmp"),
    "a second name": member("segments_0.lance/second", tarfile.LNKTYPE, "/etc/passwd"),
    "a second name of a member": member("segments_0.lance/second", tarfile.LNKTYPE, "header.json"),
    "a device": member("segments_0.lance/device", tarfile.CHRTYPE),
    "a pipe": member("segments_0.lance/pipe", tarfile.FIFOTYPE),
    "a folder": member("segments_0.lance/folder", tarfile.DIRTYPE),
    "up the tree": member("segments_0.lance/../../evil"),
    "from the root": member("/tmp/evil.lance/x"),
    "a backslash": member("segments_0.lance\\..\\..\\evil"),
    "no table": member("moved.json"),
    "a lock": member("write.lock/x"),
    "a long name": member("segments_0.lance/" + "x" * 5_000),
    "a file in the place of a folder": member("segments_0.lance/data/x/y/z"),
}


@pytest.mark.parametrize("kind", HOSTILE)
async def test_a_backup_with_a_member_that_is_no_file_of_a_table_is_refused_and_leaves_nothing(
    tmp_path: Path, kind: str
) -> None:
    await fill(opened(tmp_path / "store"))
    await saved(tmp_path / "store", tmp_path / "file")
    with tarfile.open(tmp_path / "file") as old, tarfile.open(tmp_path / "bad", "w") as new:
        for one in old:
            content = old.extractfile(one)
            assert content is not None
            if one.name == "sums.json":
                new.addfile(HOSTILE[kind], io.BytesIO())
            new.addfile(one, content)
    before = await refs(tmp_path / "store")
    with pytest.raises((InvalidInput, StoreUnwritable)):
        await restored(tmp_path / "bad", tmp_path / "copy")
    with pytest.raises((InvalidInput, StoreUnwritable)):
        await restored(tmp_path / "bad", tmp_path / "store", replace=True)
    assert names(tmp_path) == {"store", "file", "bad"}
    assert await refs(tmp_path / "store") == before
