"""The default embedder refuses files other than those that it was written for."""

import anyio
import pytest

from mcp_memory.embedding import onnx
from mcp_memory.embedding.onnx import TOKENIZER, TOKENIZER_SHA256, OnnxEmbedder, read_checked
from mcp_memory.errors import EmbedderError


def test_one_changed_byte_is_detected_and_the_file_named(tmp_path):
    changed = tmp_path / "tokenizer.json"
    changed.write_bytes(TOKENIZER.read_bytes()[:-1] + b" ")
    with pytest.raises(EmbedderError, match=r"tokenizer\.json has been changed.*pip install --force-reinstall"):
        read_checked(changed, TOKENIZER_SHA256)


def test_no_vector_is_made_with_a_changed_tokenizer_and_the_next_call_tries_again(tmp_path, monkeypatch):
    changed = tmp_path / "tokenizer.json"
    changed.write_bytes(TOKENIZER.read_bytes().replace(b'"lowercase":true', b'"lowercase":false'))
    embedder = OnnxEmbedder()
    with monkeypatch.context() as patch:
        patch.setattr(onnx, "TOKENIZER", changed)
        with pytest.raises(EmbedderError, match="has been changed"):
            anyio.run(embedder.embed, ["a text"])
    assert anyio.run(embedder.embed, ["a text"]).shape == (1, 384)
