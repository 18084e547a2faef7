"""The reader reads what it was trained for, refuses other weights, and takes any text."""

from shutil import copytree

import anyio
import numpy as np
import pytest

from mcp_memory.embedding import onnx
from mcp_memory.embedding.onnx import OnnxReader
from mcp_memory.errors import EmbedderError
from mcp_memory.texts import folder


def test_a_pair_has_nearly_the_same_chance_alone_and_beside_others():
    pairs = [("Where do I live?", "user: I moved to Ghent in May."), ("Who cooked?", "Ann: The soup was Bo's.")]
    alone = np.concatenate([anyio.run(OnnxReader().read, [pair]) for pair in pairs])
    assert np.abs(anyio.run(OnnxReader().read, [*pairs, ("a " * 90, "b " * 90)])[:2] - alone).max() < 0.2


@pytest.mark.parametrize("text", ["", "x" * 1_000_000, "word " * 200_000, "\ud83d \x00", "日本語の長い文章。" * 9_000])
def test_any_text_can_be_read(text):
    chances = anyio.run(OnnxReader().read, [(text, "user: hello"), ("hello", text)])
    assert chances.shape == (2,)
    assert ((chances > 0) & (chances < 1)).all()


@pytest.mark.parametrize("harm", ["cut", "gone"])
def test_other_weights_are_refused_once_and_named(tmp_path, monkeypatch, harm):
    copytree(folder("resources"), tmp_path / "resources")
    weights = tmp_path / "resources" / "reader.onnx"
    weights.write_bytes(weights.read_bytes()[:-1]) if harm == "cut" else weights.unlink()
    monkeypatch.setattr(onnx, "folder", lambda name: tmp_path / name)
    model = OnnxReader()
    for _ in range(2):
        with pytest.raises(EmbedderError, match=r"not read again: .*reader\.onnx .*Install the package again"):
            anyio.run(model.read, [("a", "b")])
    assert model.problem.startswith("Records are not read again")
