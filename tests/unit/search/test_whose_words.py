"""What it counts for a query who said something, as it was learnt, and the data that it was learnt from."""

import json
from collections import Counter
from statistics import fmean

import anyio
import numpy as np
import pytest

from mcp_memory.embedding.onnx import OnnxEmbedder
from mcp_memory.search.channels import whose_words
from training.worlds import DATA, faults, is_kept, read_worlds

WORLDS = read_worlds(sorted((DATA / "worlds").iterdir()))


def test_for_another_embedder_everybody_counts_as_a_rule():
    assert whose_words("Where?", np.ones(384, np.float32), "another") == (1.0, 1.0)


def test_for_prompts_of_worlds_that_did_not_train_the_user_counts_less_than_for_questions():
    kept = [one for world in WORLDS if is_kept(world["id"]) for one in world["questions"]]
    prompts = [one["q"] for one in kept if one["kind"] == "prompt"][::3]
    questions = [one["q"] for one in kept if one["kind"] in ("single", "update", "preference")][::8]
    vectors = anyio.run(OnnxEmbedder().embed, [*prompts, *questions])
    asked = zip([*prompts, *questions], vectors, strict=True)
    counts = [whose_words(text, vector, OnnxEmbedder().name)[0] for text, vector in asked]
    assert fmean(counts[: len(prompts)]) < 0.5
    assert fmean(counts[len(prompts) :]) > 1
    assert fmean(count < 0.6 for count in counts[: len(prompts)]) > 0.8


def test_the_worlds_have_no_faults():
    assert len(WORLDS) > 100
    assert [(world["id"], fault) for world in WORLDS for fault in faults(world)] == []
    assert max(Counter(world["id"] for world in WORLDS).values()) == 1


@pytest.mark.parametrize("name", ["labels", "changes"])
def test_the_hard_pairs_have_no_faults(name):
    rows = [json.loads(line) for line in (DATA / f"{name}.jsonl").read_text("utf-8").splitlines()]
    assert len(rows) >= 300
    assert all(row["sentence"] in row["message"]["text"] for row in rows if name == "labels")
