"""The list of copies that commands wrote of a store."""

from __future__ import annotations

from pathlib import Path

from mcp_memory.storage.copies import COPIES, known_copies, note_copy, unfinished_near


def test_each_copy_is_known_once_where_it_lies_with_its_last_moment(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "out.jsonl")
    for moment, name in enumerate(("out.jsonl", "link", "old\ncopy\udcff"), 1):
        note_copy(tmp_path, tmp_path / name, moment)
    assert known_copies(tmp_path) == {(tmp_path / "out.jsonl").resolve(): 2, tmp_path / "old\ncopy\udcff": 3}
    note_copy(None, tmp_path / "a", 1)
    note_copy(tmp_path / "none", tmp_path / "a", 1)
    assert known_copies(None) == known_copies(tmp_path / "none") == {}


def test_half_a_line_of_a_process_that_died_hides_no_other(tmp_path: Path) -> None:
    note_copy(tmp_path, tmp_path / "a", 1)
    (tmp_path / COPIES).write_bytes((tmp_path / COPIES).read_bytes() + b'\n{"kind": "copy", "pa')
    note_copy(tmp_path, tmp_path / "b", 2)
    assert [path.name for path in known_copies(tmp_path)] == ["a", "b"]


def test_what_a_process_left_beside_a_path_is_known_by_its_form(tmp_path: Path) -> None:
    (tmp_path / ".out.jsonl.folder.part").mkdir()
    for name in (".out.jsonl.78.part", ".store.part", ".out.jsonl.part"):
        (tmp_path / name).touch()
    (tmp_path / ".out.jsonl.link.part").symlink_to(".out.jsonl.78.part")
    unfinished = [one.name for one in unfinished_near(tmp_path / "out.jsonl")]
    assert unfinished == [".out.jsonl.78.part", ".out.jsonl.folder.part"]
