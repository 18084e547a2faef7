"""Write a trained model as the server loads it: ONNX with 8-bit weights, and its card with the digest.

    python -m training.export reader CROSS.pt resources/
    python -m training.export embedder EMBEDDER.pt resources/

Both compute in 8 bits. The reader has one scale for all activations of a batch, which takes two thirds of the time. The
embedder has one for each block of a token's, so that a text has the same vector in every batch: vectors of one store
are compared for years. It takes two thirds of the time that 32 bits take, with a cosine of .9994 to their vectors.

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
from numpy.typing import NDArray
from onnx import helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic

from training.models import Cross, Embedder, mean

INPUTS = ("input_ids", "attention_mask", "token_type_ids")
LARGE = 100_000
"""Numbers of a tensor from which on it is stored in 8 bits."""
BLOCK = 128
"""Inputs of a matrix that have one scale. With 32 the cosine is .9997, and a third more time."""


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
    """Write a model whose large weights stay whole numbers: those of a matrix in blocks, those of a table by row.

    A block of a matrix has one scale, and so has a block of what it is multiplied with, when it is (``MatMulNBits``).
    So the states of a token depend on no other text of the batch, and nothing is widened in memory.
    """
    model = onnx.load(path)
    graph = model.graph
    large = {one.name: one for one in graph.initializer if np.prod(one.dims) >= LARGE}
    nodes = []
    for node in graph.node:
        if node.op_type == "MatMul" and node.input[1] in large:
            nodes.append(_in_blocks(graph, node, large[node.input[1]]))
        elif node.op_type == "Gather" and node.input[0] in large:
            nodes += _by_row(graph, node, large[node.input[0]])
        else:
            nodes.append(node)
    for weights in large.values():
        graph.initializer.remove(weights)
    del graph.node[:]
    graph.node.extend(nodes)
    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    onnx.save(model, out)


def _in_blocks(graph: onnx.GraphProto, node: onnx.NodeProto, weights: onnx.TensorProto) -> onnx.NodeProto:
    """Return a product with a matrix, shape ``(inputs, outputs)``, that is stored in blocks of `BLOCK` inputs."""
    matrix = numpy_helper.to_array(weights)
    inputs, outputs = matrix.shape
    whole, scale = _whole(matrix.T.reshape(outputs, -1, BLOCK), axis=2)
    graph.initializer.append(numpy_helper.from_array((whole + 128).astype(np.uint8), f"{weights.name}_q"))
    graph.initializer.append(numpy_helper.from_array(scale[..., 0], f"{weights.name}_scale"))
    names = [node.input[0], f"{weights.name}_q", f"{weights.name}_scale"]
    options = {"K": inputs, "N": outputs, "bits": 8, "block_size": BLOCK, "accuracy_level": 4}  # 4: products in 8 bits
    return helper.make_node("MatMulNBits", names, node.output, domain="com.microsoft", **options)


def _by_row(graph: onnx.GraphProto, node: onnx.NodeProto, weights: onnx.TensorProto) -> list[onnx.NodeProto]:
    """Return what takes rows of a table, and widens these alone."""
    whole, scale = _whole(numpy_helper.to_array(weights), axis=1)
    name, row, (output,) = weights.name, node.input[1], node.output
    graph.initializer.append(numpy_helper.from_array(whole.astype(np.int8), f"{name}_q"))
    graph.initializer.append(numpy_helper.from_array(scale, f"{name}_scale"))
    return [
        helper.make_node("Gather", [f"{name}_q", row], [f"{output}_q"]),
        helper.make_node("Gather", [f"{name}_scale", row], [f"{output}_scale"]),
        helper.make_node("Cast", [f"{output}_q"], [f"{output}_f"], to=onnx.TensorProto.FLOAT),
        helper.make_node("Mul", [f"{output}_f", f"{output}_scale"], [output]),
    ]


def _whole(values: NDArray[np.float32], axis: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return values as whole numbers from -127 to 127, and the scale of all that lie along an axis."""
    scale = np.maximum(np.abs(values).max(axis=axis, keepdims=True), 1e-12) / 127
    return np.round(values / scale), scale


def export(kind: str, weights: Path, folder: Path) -> None:
    """Write the reader or the embedder, and its card with the digest, which the server checks."""
    model = Cross() if kind == "reader" else Embedder()
    model.load_state_dict(torch.load(weights))
    out, card = folder / f"{kind}.onnx", folder / f"{kind}.json"
    with tempfile.TemporaryDirectory() as place:
        full = Path(place) / "full.onnx"
        if kind == "embedder":
            to_onnx(Traced(model.bert), "last_hidden_state", full)
            store_in_8_bits(full, out)
        else:
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
