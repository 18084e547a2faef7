"""A data file that was cut short anywhere is recognised as incomplete."""

from __future__ import annotations

from pathlib import Path

from batches import batch

from mcp_memory.storage.data_files import is_complete
from mcp_memory.storage.tables import Tables
from mcp_memory.storage.text_rows import sentence_rows


def test_a_file_is_complete_only_at_its_full_length(tmp_path: Path) -> None:
    """Cut at every byte, and with zeros in place of its end, as a file system may leave it."""
    rows = batch("a")
    Tables(str(tmp_path)).append("sentences_0", sentence_rows(rows.sentences, rows.sentence_vectors, [1, 1]))
    (file,) = tmp_path.rglob("*.lance/data/*.lance")
    full = file.read_bytes()
    assert is_complete(file)
    for length in range(len(full)):
        file.write_bytes(full[:length])
        assert not is_complete(file)
        file.write_bytes(full[:length] + b"\0" * (len(full) - length))
        assert not is_complete(file)
    assert not is_complete(tmp_path / "absent.lance")
