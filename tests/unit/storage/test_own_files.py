"""What of a store's folder the program knows as its own, and what it leaves alone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mcp_memory.errors import StoreUnwritable
from mcp_memory.storage.own_files import (
    in_the_way,
    own_files,
    refuse_in_the_way,
    remove_own,
    remove_unfinished,
)

DATA = "010011001011101100101001" + "9f" * 13
OWN = {
    f"segments_0.lance/data/{DATA}.lance": b"\0\1",
    f"segments_0.lance/data/{DATA}.lance#1": b"",
    "segments_0.lance/_versions/18446744073709551609.manifest": b"\0",
    "segments_3.lance/_versions/.tmpAb12Cd": b"\0",
    f"journal/{7:020d}": b'0123abcd {"tx":7,"embedder":"x"}\t{}\n',
    f"log/{0:020d}/{1:020d}-{6:020d}": b'0123abcd {"tx":1,"embedder":"x"}\t{}\n',
    "view/" + "0a" * 16 + ".view": b"\x80\x05\x95 and so on",
    "vectors/3/" + "0a" * 16 + ".f32": b"\0\0\0\x3f\0\0\0\xbf" + b"\xde\xad\xbe\xef",
    "holders/12-0a1b2c3d.lock": b"",
}
FOREIGN = {
    "segments_0.lance/photo.jpg": b"jpg",
    "segments_0.lance/data/notes.lance": b"mine",
    "journal.damaged": b"mine",
    "journal/mine": b"mine",
    "write.lock": b"mine",
    "view/" + "0b" * 16 + ".view": b"my view",
    "vectors/3/" + "0b" * 16 + ".f32": b"my own numbers, as text",
    f"replaced-mine/segments_0.lance/data/{DATA}.lance": b"my copy",
    "holders/mine.lock": b"",
}


def lay(folder: Path, files: dict[str, bytes]) -> None:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def names(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()}


def test_only_what_has_the_place_and_the_form_of_an_own_file_is_removed(tmp_path: Path) -> None:
    lay(tmp_path, OWN | FOREIGN)
    assert {path.relative_to(tmp_path).as_posix() for path in own_files(tmp_path)} == OWN.keys()
    remove_own(tmp_path)
    assert names(tmp_path) == FOREIGN.keys()
    assert not (tmp_path / "segments_3.lance").exists()


def test_a_part_of_the_folder_is_known_by_its_place(tmp_path: Path) -> None:
    lay(tmp_path, OWN | FOREIGN)
    remove_own(tmp_path / "view", "view")
    remove_own(tmp_path / "segments_3.lance", "segments_3.lance")
    gone = {name for name in OWN if name.startswith(("view/", "segments_3"))}
    assert names(tmp_path) == (OWN.keys() | FOREIGN.keys()) - gone


def test_no_link_is_an_own_file_and_none_is_followed(tmp_path: Path) -> None:
    lay(tmp_path / "outside", OWN)
    (tmp_path / "store").mkdir()
    for name in ("segments_0.lance", "view", "nowhere", "journal"):
        (tmp_path / "store" / name).symlink_to(tmp_path / "outside" / name)
    remove_own(tmp_path / "store")
    remove_own(tmp_path / "store" / "view", "view")
    assert names(tmp_path / "outside") == OWN.keys()
    assert len(list((tmp_path / "store").iterdir())) == 4
    found = {path.name for path in in_the_way(tmp_path / "store")}
    assert found == {"segments_0.lance", "view", "journal"}


def test_what_takes_a_name_that_the_store_needs_is_named(tmp_path: Path) -> None:
    lay(tmp_path, OWN)
    refuse_in_the_way(tmp_path)
    lay(tmp_path, {"forgotten.json": b"my list", "notes.txt": b"mine"})
    with pytest.raises(StoreUnwritable, match=r"under names that it needs: forgotten\.json\. Nothing was"):
        refuse_in_the_way(tmp_path)


def test_half_a_file_of_a_process_that_died_goes_when_it_is_old_and_nobody_elses_does(tmp_path: Path) -> None:
    names = (
        f"journal/.{8:020d}.0123abcd.part",
        ".forgotten.json.0123abcd.part",
        ".mine.1a.part",
    )
    (tmp_path / "journal").mkdir()
    for name in names:
        (tmp_path / name).touch()
    remove_unfinished(tmp_path)
    assert all((tmp_path / name).exists() for name in names)
    for name in names:
        os.utime(tmp_path / name, (0, 0))
    remove_unfinished(tmp_path)
    assert [name for name in names if (tmp_path / name).exists()] == [".mine.1a.part"]
