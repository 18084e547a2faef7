"""How the embedder for any model finds the model; these tests need no extra."""

from __future__ import annotations

import sys
from pathlib import Path

import anyio
import pytest

from mcp_memory.embedding.sentence_transformers import SentenceTransformersEmbedder
from mcp_memory.errors import EmbedderError


@pytest.mark.parametrize("model", ["./gone", "~/gone/model", "a/b/c", "C:\\models\\gone", "/gone/model"])
def test_a_path_is_never_looked_up_on_the_hub(model: str) -> None:
    with pytest.raises(EmbedderError, match="There is no folder"):
        SentenceTransformersEmbedder(model)


def test_a_hub_model_is_named_with_owner_and_revision() -> None:
    assert SentenceTransformersEmbedder("BAAI/bge-m3").name == "BAAI/bge-m3/sentence-transformers@main"
    short = SentenceTransformersEmbedder("all-mpnet-base-v2@84f2bcc")
    assert short.name == "sentence-transformers/all-mpnet-base-v2/sentence-transformers@84f2bcc"


def _model(folder: Path, weights: bytes) -> Path:
    (folder / "1_Pooling").mkdir(parents=True)
    (folder / "model.safetensors").write_bytes(weights)
    (folder / "1_Pooling" / "config.json").write_text("{}")
    return folder


def test_a_folder_keeps_its_name_when_it_is_moved_and_loses_it_when_its_weights_change(tmp_path: Path) -> None:
    here = SentenceTransformersEmbedder(str(_model(tmp_path / "here" / "mine", b"weights")))
    there = SentenceTransformersEmbedder(str(_model(tmp_path / "there" / "mine", b"weights")))
    trained = SentenceTransformersEmbedder(str(_model(tmp_path / "trained" / "mine", b"others!")))
    assert here.name.startswith("mine/sentence-transformers@")
    assert here.name == there.name != trained.name


def test_without_the_extra_the_error_says_how_to_install_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    embedder = SentenceTransformersEmbedder(str(_model(tmp_path / "mine", b"weights")))
    with pytest.raises(EmbedderError, match=r"pip install '\.\[sentence-transformers\]' in the checkout"):
        anyio.run(embedder.embed, ["a text"])
