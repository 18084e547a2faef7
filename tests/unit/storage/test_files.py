"""What of a store's folder is its own, rows in the order of recording, and LanceDB without a remote catalogue."""

import os
import subprocess
import sys

import numpy as np
import pytest
from batches import derive, turn

from mcp_memory.domain.batch import Batch
from mcp_memory.storage.place import others_in, own_files, remove_folder, remove_unfinished
from mcp_memory.storage.rows import rows_of, with_pieces

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


@pytest.mark.parametrize("seed", range(5))
def test_pieces_come_by_turn_and_place_and_those_of_no_turn_are_left_out(seed):
    """A line of the log may be lost, and with it the text of pieces that are still in their tables."""
    dice = np.random.default_rng(seed)
    rows = derive([turn(f"r{n}", ("left", "right")[n % 2], n) for n in range(12)])
    earlier, lost, *turns = rows.turns
    kept = {one.id for one in (earlier, *turns)}

    def table(kind, pieces, vectors):
        order = dice.permutation(len(pieces)).tolist()
        return rows_of(kind, [pieces[place] for place in order], [1] * len(order), None, vectors[order])

    read = with_pieces(
        Batch(tuple(turns)),
        table("segments", rows.segments, rows.segment_vectors),
        table("sentences", rows.sentences, rows.sentence_vectors),
        lambda _space, name: earlier if name == earlier.id else None,
    )
    assert lost.id not in kept
    for pieces, vectors, found, their in (
        (rows.segments, rows.segment_vectors, read.segments, read.segment_vectors),
        (rows.sentences, rows.sentence_vectors, read.sentences, read.sentence_vectors),
    ):
        there = [place for place, piece in enumerate(pieces) if piece.turn_id in kept]
        assert list(found) == [pieces[place] for place in there]
        assert np.array_equal(their, vectors[there])


API = "lance_namespace_urllib3_client.api"
LEFT_OUT = f"""
import sys, tempfile
from mcp_memory.storage.tables import import_lancedb
database = import_lancedb().connect(tempfile.mkdtemp())
database.create_table("one", [{{"tx": 1}}])
assert database.list_tables().tables == ["one"]
assert database.open_table("one").count_rows() == 1
assert {API!r} not in sys.modules
import lance_namespace_urllib3_client as client
assert client.TableApi.__name__ == "TableApi" and client.__version__
assert {API!r} in sys.modules
"""


def test_the_client_is_run_only_when_somebody_asks_for_it():
    subprocess.run([sys.executable, "-c", LEFT_OUT], check=True)
