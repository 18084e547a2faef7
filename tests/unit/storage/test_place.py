"""What of a store's folder the program knows as its own, and what it leaves alone."""

import os

from mcp_memory.storage.place import others_in, own_files, remove_folder, remove_unfinished

OWN = (
    "segments_0.lance/data/x.lance",
    "segments_3_1.lance/_versions/.tmpAb12Cd",
    f"journal/{7:020d}",
    f"log/{0:020d}/{1:020d}-{6:020d}",
    "view/x.view",
    "holders/12-0a1b2c3d.lock",
    "forgotten.json",
    "write.lock",
)
FOREIGN = ("segments.lance/photo.jpg", "photos_0.lance/x", "journal.damaged", "mine/view/x.view", "notes.txt")


def lay(folder, names):
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("something")


def test_what_lies_beside_the_own_files_and_folders_is_another_s(tmp_path):
    lay(tmp_path, OWN + FOREIGN)
    (tmp_path / "empty").mkdir()
    assert {path.relative_to(tmp_path).as_posix() for path in own_files(tmp_path)} == {*OWN}
    assert {path.relative_to(tmp_path).as_posix() for path in others_in(tmp_path)} == {*FOREIGN}


def test_no_link_is_an_own_file_and_none_is_followed(tmp_path):
    lay(tmp_path / "outside", OWN)
    (tmp_path / "store").mkdir()
    for name in ("segments_0.lance", "view", "nowhere", "journal"):
        (tmp_path / "store" / name).symlink_to(tmp_path / "outside" / name)
        remove_folder(tmp_path / "store" / name)
    assert {path.relative_to(tmp_path / "outside").as_posix() for path in own_files(tmp_path / "outside")} == {*OWN}
    assert len(list((tmp_path / "store").iterdir())) == len(others_in(tmp_path / "store")) == 4


def test_half_a_file_of_a_process_that_died_goes_when_it_is_old_and_nobody_elses_does(tmp_path):
    names = (f"journal/.{8:020d}.0123abcd.part", ".forgotten.json.0123abcd.part", ".mine.1a.part")
    lay(tmp_path, names)
    remove_unfinished(tmp_path)
    assert all((tmp_path / name).exists() for name in names)
    for name in names:
        os.utime(tmp_path / name, (0, 0))
    remove_unfinished(tmp_path)
    assert [name for name in names if (tmp_path / name).exists()] == [".mine.1a.part"]
