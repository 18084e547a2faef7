"""What the tuned embedder is worth on worlds that did not train it."""

import anyio
import numpy as np

from mcp_memory.embedding.onnx import OnnxEmbedder
from mcp_memory.search.rendering import message_text
from training.worlds import DATA, NOTHING, is_kept, read_worlds

FIRST = 5


def found_among_first(world):
    """Return for each question of a world the share of its evidence among the `FIRST` records nearest to it."""
    asked = [one for one in world["questions"] if one["gold"] and one["kind"] not in NOTHING]
    records = [one for one in world["records"] if one["role"] != "document"]
    shown = [message_text(one["speaker"], one["text"]) for one in records]
    vectors = anyio.run(OnnxEmbedder().embed, [*(one["q"] for one in asked), *shown])
    order = np.argsort(-(vectors[: len(asked)] @ vectors[len(asked) :].T), axis=1)[:, :FIRST]
    nearest = [{records[row]["id"] for row in rows} for rows in order.tolist()]
    return [len(near & set(one["gold"])) / len(one["gold"]) for near, one in zip(nearest, asked, strict=True)]


def test_alone_it_finds_most_evidence_of_worlds_that_did_not_train_it_among_the_nearest_five():
    worlds = [one for one in read_worlds(sorted((DATA / "worlds").iterdir())) if is_kept(one["id"])][::16]
    shares = [share for world in worlds for share in found_among_first(world)]
    assert len(shares) > 60
    assert np.mean(shares) > 0.57


def test_a_name_in_front_says_who_speaks():
    said = ["Ann: I moved to Porto.", "Bob: I moved to Porto.", "Ann: My tea is cold."]
    vectors = anyio.run(OnnxEmbedder().embed, ["Where does Ann live?", *said])
    assert np.argmax(vectors[1:] @ vectors[0]) == 0
