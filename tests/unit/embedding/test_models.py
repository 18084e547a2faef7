"""The models: which files they refuse, what of a text they read, and where the embedder for any model finds its own."""

import sys
from shutil import copytree

import anyio
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_memory.embedding import onnx
from mcp_memory.embedding.onnx import (
    CHARACTERS_PER_TOKEN,
    TOKENIZER,
    TOKENIZER_SHA256,
    OnnxEmbedder,
    OnnxReader,
    clip,
    read_checked,
)
from mcp_memory.embedding.sentence_transformers import SentenceTransformersEmbedder
from mcp_memory.errors import EmbedderError
from mcp_memory.texts import folder


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


@given(st.text())
def test_ordinary_text_stays_as_it_is(text):
    assert clip(text, 256) == text


def test_lone_surrogates_become_question_marks():
    assert clip("before \ud83d after", 256) == "before ? after"


@pytest.mark.parametrize("length", [0, 1, 255, 256, 257, 1_000_000])
def test_a_text_is_cut_well_after_the_last_token_that_the_model_reads(length):
    assert len(clip("é" * length, 4)) == min(length, 4 * CHARACTERS_PER_TOKEN)


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
    trained_more, pooled_otherwise = {"weights": b"others!"}, {"pooling": "2_Pooling"}
    here, there, trained, other = (
        SentenceTransformersEmbedder(_model(tmp_path / place / "mine", **model)).name
        for place, model in (("here", {}), ("there", {}), ("trained", trained_more), ("other", pooled_otherwise))
    )
    assert here.startswith("mine/sentence-transformers@")
    assert here == there
    assert here not in (trained, other)


def test_without_the_extra_the_error_says_how_to_install_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    embedder = SentenceTransformersEmbedder(_model(tmp_path / "mine"))
    with pytest.raises(EmbedderError, match=r"pip install '\.\[sentence-transformers\]' in the checkout"):
        anyio.run(embedder.embed, ["a text"])
