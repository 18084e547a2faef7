"""What of a store's folder the program knows as its own, and what it leaves alone."""

from __future__ import annotations

import os
from pathlib import Path

from mcp_memory.storage.own_files import others_in, own_files, remove_own, remove_unfinished

DATA = "010011001011101100101001" + "9f" * 13
OWN = (
    f"segments_0.lance/data/{DATA}.lance",
    f"segments_0.lance/data/{DATA}.lance#1",
    "segments_0.lance/_versions/18446744073709551609.manifest",
    "segments_3.lance/_versions/.tmpAb12Cd",
    f"journal/{7:020d}",
    f"log/{0:020d}/{1:020d}-{6:020d}",
    "view/" + "0a" * 16 + ".view",
    "vectors/3/" + "0a" * 16 + ".f32",
    "holders/12-0a1b2c3d.lock",
    "forgotten.json",
    "write.lock",
)
FOREIGN = (
    "segments_0.lance/photo.jpg",
    "segments_0.lance/data/notes.lance",
    "journal.damaged",
    "journal/mine",
    "view/mine.view",
    "vectors/3/mine.f32",
    "holders/mine.lock",
)


def lay(folder: Path, names: tuple[str, ...]) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("something")


def names(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()}


def test_only_what_has_the_name_of_an_own_file_is_removed(tmp_path: Path) -> None:
    lay(tmp_path, OWN + FOREIGN)
    assert {path.relative_to(tmp_path).as_posix() for path in own_files(tmp_path)} == {*OWN}
    assert {path.relative_to(tmp_path).as_posix() for path in others_in(tmp_path)} == {*FOREIGN}
    remove_own(tmp_path)
    assert names(tmp_path) == {*FOREIGN}
    assert not (tmp_path / "segments_3.lance").exists()


def test_a_part_of_the_folder_is_known_by_its_place(tmp_path: Path) -> None:
    lay(tmp_path, OWN + FOREIGN)
    remove_own(tmp_path / "view", "view")
    remove_own(tmp_path / "segments_3.lance", "segments_3.lance")
    gone = {name for name in OWN if name.startswith(("view/", "segments_3"))}
    assert names(tmp_path) == {*OWN, *FOREIGN} - gone


def test_no_link_is_an_own_file_and_none_is_followed(tmp_path: Path) -> None:
    lay(tmp_path / "outside", OWN)
    (tmp_path / "store").mkdir()
    for name in ("segments_0.lance", "view", "nowhere", "journal"):
        (tmp_path / "store" / name).symlink_to(tmp_path / "outside" / name)
    remove_own(tmp_path / "store")
    remove_own(tmp_path / "store" / "view", "view")
    assert names(tmp_path / "outside") == {*OWN}
    assert len(list((tmp_path / "store").iterdir())) == len(others_in(tmp_path / "store")) == 4


def test_half_a_file_of_a_process_that_died_goes_when_it_is_old_and_nobody_elses_does(tmp_path: Path) -> None:
    names = (f"journal/.{8:020d}.0123abcd.part", ".forgotten.json.0123abcd.part", ".mine.1a.part")
    lay(tmp_path, names)
    remove_unfinished(tmp_path)
    assert all((tmp_path / name).exists() for name in names)
    for name in names:
        os.utime(tmp_path / name, (0, 0))
    remove_unfinished(tmp_path)
    assert [name for name in names if (tmp_path / name).exists()] == [".mine.1a.part"]
