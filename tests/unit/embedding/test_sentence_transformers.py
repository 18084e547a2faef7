"""How the embedder for any model finds the model; these tests need no extra."""

import sys

import anyio
import pytest

from mcp_memory.embedding.sentence_transformers import SentenceTransformersEmbedder
from mcp_memory.errors import EmbedderError


@pytest.mark.parametrize("model", ["", "./gone", "~/gone/model", "BAAI/bge-m3"])
def test_what_is_no_folder_is_refused_with_the_way_to_get_one(model):
    with pytest.raises(EmbedderError, match=r"there is no folder .*hf download"):
        SentenceTransformersEmbedder(model)


def _model(folder, weights=b"weights", pooling="1_Pooling"):
    (folder / pooling).mkdir(parents=True)
    (folder / "README.md").write_text(f"In {folder}.")
    (folder / "model.safetensors").write_bytes(weights)
    (folder / pooling / "config.json").write_text("{}")
    return str(folder)


def test_a_folder_keeps_its_name_when_it_is_moved_and_loses_it_when_its_model_changes(tmp_path):
    here, there, trained, other = (
        SentenceTransformersEmbedder(_model(tmp_path / place / "mine", **model)).name
        for place, model in (
            ("here", {}),
            ("there", {}),
            ("trained", {"weights": b"others!"}),
            ("other", {"pooling": "2_Pooling"}),
        )
    )
    assert here.startswith("mine/sentence-transformers@")
    assert here == there
    assert here not in (trained, other)


def test_without_the_extra_the_error_says_how_to_install_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    embedder = SentenceTransformersEmbedder(_model(tmp_path / "mine"))
    with pytest.raises(EmbedderError, match=r"pip install '\.\[sentence-transformers\]' in the checkout"):
        anyio.run(embedder.embed, ["a text"])
