"""Write a trained model as the server loads it: ONNX with 8-bit weights, and its card with the digest.

    python -m training.export reader CROSS.pt resources/
    python -m training.export embedder EMBEDDER.pt resources/

The reader computes in 8 bits as well, which is twice as fast. The embedder computes in 32 bits, and only its weights
are stored in 8, so that a text has the same vector in every batch: vectors of one store are compared for years.

Needs the extra ``train``.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import tempfile
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic

from mcp_memory.embedding import onnx as embedder
from mcp_memory.embedding import reader
from training.models import Cross, Embedder, mean

INPUTS = ("input_ids", "attention_mask", "token_type_ids")
LARGE = 100_000
"""Numbers of a tensor from which on it is stored in 8 bits."""


class Traced(torch.nn.Module):
    """A model from tokens to what the server reads: the logit of its head, or the states that it averages."""

    def __init__(self, bert: torch.nn.Module, head: torch.nn.Module | None = None) -> None:
        super().__init__()
        self.bert, self.head = bert, head

    def forward(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor, token_type_ids: torch.Tensor
    ) -> torch.Tensor:
        """Return logits, shape ``(pairs, 1)``, or states, shape ``(texts, tokens, 384)``."""
        read = {"input_ids": input_ids, "attention_mask": attention_mask, "token_type_ids": token_type_ids}
        states = self.bert(**read).last_hidden_state
        return states if self.head is None else self.head(mean(states, attention_mask))


def to_onnx(model: torch.nn.Module, output: str, path: Path) -> None:
    """Write a model in 32 bits, with batches and lengths of any size."""
    axes = {name: {0: "texts", 1: "tokens"} for name in INPUTS}
    example = (torch.ones(2, 8, dtype=torch.long),) * 3
    torch.onnx.export(
        model.eval(),
        example,
        str(path),
        input_names=list(INPUTS),
        output_names=[output],
        dynamic_axes=axes,
        opset_version=17,
        dynamo=False,
    )


def store_in_8_bits(path: Path, out: Path) -> None:
    """Write a model with its large weights as whole numbers and a scale for each row or column; it widens them."""
    model = onnx.load(path)
    widened = []
    for weights in list(model.graph.initializer):
        values = numpy_helper.to_array(weights)
        if values.size < LARGE or values.dtype != np.float32:
            continue
        # A scale for each token of a table, and for each output of a matrix, whose columns they are.
        axis = 1 if len(values) > 30_000 else 0
        scale = np.maximum(np.abs(values).max(axis=axis, keepdims=True), 1e-12).astype(np.float32) / 127
        model.graph.initializer.remove(weights)
        whole = np.round(values / scale).astype(np.int8)
        model.graph.initializer.append(numpy_helper.from_array(whole, f"{weights.name}_q"))
        model.graph.initializer.append(numpy_helper.from_array(scale, f"{weights.name}_scale"))
        widened += [
            helper.make_node("Cast", [f"{weights.name}_q"], [f"{weights.name}_f"], to=onnx.TensorProto.FLOAT),
            helper.make_node("Mul", [f"{weights.name}_f", f"{weights.name}_scale"], [weights.name]),
        ]
    nodes = [*widened, *model.graph.node]
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    onnx.save(model, out)


def export(kind: str, weights: Path, folder: Path) -> None:
    """Write the reader or the embedder, and its card with the digest, which the server checks."""
    model = Cross() if kind == "reader" else Embedder()
    model.load_state_dict(torch.load(weights))
    with tempfile.TemporaryDirectory() as place:
        full = Path(place) / "full.onnx"
        if kind == "embedder":
            out, card = folder / embedder.WEIGHTS, folder / embedder.CARD
            to_onnx(Traced(model.bert), "last_hidden_state", full)
            store_in_8_bits(full, out)
        else:
            out, card = folder / reader.WEIGHTS, folder / reader.CARD
            to_onnx(Traced(model.bert, model.head), "logits", full)
            # By channel the chances differ by .02 from those in 32 bits, by tensor by .04; seven bits, since processors
            # without VNNI add two products in 16 bits.
            quantize_dynamic(full, out, weight_type=QuantType.QInt8, per_channel=True, reduce_range=True)
    digest = hashlib.sha256(out.read_bytes()).hexdigest()
    card.write_text(json.dumps({"sha256": digest}) + "\n", encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", choices=("reader", "embedder"))
    parser.add_argument("weights", type=Path)
    parser.add_argument("folder", type=Path)
    args = parser.parse_args()
    export(args.model, args.weights, args.folder)
