"""Files of a store: one that was cut short is recognised, and a table that is dropped meanwhile stops no listing."""

from __future__ import annotations

import shutil
from pathlib import Path

from batches import batch

from mcp_memory.files import files_below, size_in_bytes
from mcp_memory.storage.rows import rows_of
from mcp_memory.storage.sums import is_complete
from mcp_memory.storage.tables import Tables


def test_a_file_is_complete_only_at_its_full_length(tmp_path: Path) -> None:
    """Cut at every byte, and with zeros in place of its end, as a file system may leave it."""
    rows = batch("a")
    Tables(str(tmp_path)).append(
        "sentences_0", rows_of("sentences", rows.sentences, [1, 1], None, rows.sentence_vectors)
    )
    (file,) = tmp_path.rglob("*.lance/data/*.lance")
    full = file.read_bytes()
    assert is_complete(file)
    for length in range(len(full)):
        file.write_bytes(full[:length])
        assert not is_complete(file)
        file.write_bytes(full[:length] + b"\0" * (len(full) - length))
        assert not is_complete(file)
    assert not is_complete(tmp_path / "absent.lance")


def test_files_are_listed_while_another_process_drops_a_table(tmp_path: Path) -> None:
    tables = [tmp_path / f"{name}.lance" for name in "ab"]
    for table in tables:
        table.mkdir()
        (table / "rows").write_bytes(b"1234")
    assert size_in_bytes(tmp_path) == 8
    files = files_below(tmp_path)
    seen = next(files)
    (other,) = (table for table in tables if table != seen.parent)
    shutil.rmtree(other)
    assert list(files) == []
    assert size_in_bytes(tmp_path) == 4


def test_a_copy_of_a_manifest_under_another_name_is_no_version(tmp_path: Path) -> None:
    """Programs that keep folders in step make such copies, and so do people."""
    rows = batch("a")
    Tables(str(tmp_path)).append(
        "sentences_0", rows_of("sentences", rows.sentences, [1, 1], None, rows.sentence_vectors)
    )
    (first,) = (tmp_path / "sentences_0.lance" / "_versions").glob("*.manifest")
    for name in (f"{first.stem} (conflicted copy)", f"{first.stem}~", "copy", ""):
        shutil.copy(first, first.with_name(f"{name}.manifest"))
    tables = Tables(str(tmp_path))
    assert tables.sums.wrong(["sentences_0"]) == set()
    assert tables.count("sentences_0") == 2
