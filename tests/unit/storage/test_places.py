"""The list of places where the program wrote something of a store."""

from __future__ import annotations

from pathlib import Path

from mcp_memory.storage.place import Place
from mcp_memory.storage.places import (
    PLACES,
    KnownPlace,
    carry_places,
    known_places,
    lost_places,
    note_place,
    unfinished_near,
)


def test_each_place_is_known_once_with_its_last_moment(tmp_path: Path) -> None:
    for moment in (1, 2):
        note_place(tmp_path, "copy", tmp_path / "out.jsonl", moment)
    note_place(tmp_path, "home", tmp_path / "old\nhome\udcff", 3)
    assert known_places(tmp_path) == [
        KnownPlace("copy", tmp_path / "out.jsonl", 2),
        KnownPlace("home", tmp_path / "old\nhome\udcff", 3),
    ]


def test_a_copy_that_was_written_through_a_link_is_known_where_it_lies(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "out.jsonl")
    note_place(tmp_path, "copy", tmp_path / "link", 1)
    assert known_places(tmp_path) == [KnownPlace("copy", (tmp_path / "out.jsonl").resolve(), 1)]


def test_half_a_line_of_a_process_that_died_hides_no_other(tmp_path: Path) -> None:
    note_place(tmp_path, "home", tmp_path / "a", 1)
    (tmp_path / PLACES).write_bytes((tmp_path / PLACES).read_bytes() + b'\n{"kind": "home", "pa')
    note_place(tmp_path, "home", tmp_path / "b", 2)
    assert [one.path.name for one in known_places(tmp_path)] == ["a", "b"]


def test_the_list_goes_along_and_no_store_has_none(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    old.mkdir()
    new.mkdir()
    note_place(new, "home", tmp_path / "a", 1)
    note_place(old, "copy", tmp_path / "b", 2)
    carry_places(old, new)
    assert [one.kind for one in known_places(new)] == ["home", "copy"]
    note_place(None, "home", tmp_path / "a", 1)
    note_place(tmp_path / "none", "home", tmp_path / "a", 1)
    assert known_places(None) == known_places(tmp_path / "none") == []


def test_what_a_process_left_beside_a_path_is_known_by_its_form(tmp_path: Path) -> None:
    (tmp_path / ".out.jsonl.folder.part").mkdir()
    for name in (".out.jsonl.78.part", ".store.part", ".out.jsonl.part"):
        (tmp_path / name).touch()
    (tmp_path / ".out.jsonl.link.part").symlink_to(".out.jsonl.78.part")
    unfinished = [one.name for one in unfinished_near(tmp_path / "out.jsonl")]
    assert unfinished == [".out.jsonl.78.part", ".out.jsonl.folder.part"]


def test_lines_that_cannot_be_read_are_said(tmp_path: Path) -> None:
    note_place(tmp_path, "home", tmp_path / "a", 1)
    assert lost_places(tmp_path) == lost_places(None) == ()
    (tmp_path / PLACES).write_bytes(b"\x00\xff\n" + (tmp_path / PLACES).read_bytes())
    (said,) = lost_places(tmp_path)
    assert "Look for them yourself" in said
    assert Place(str(tmp_path)).notes == (said,)
