"""Write a trained cross-encoder as the server loads it: ONNX with 8-bit weights, and its card with the digest.

    python -m training.export CROSS.pt resources/

Needs the extra ``train``.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import tempfile
from pathlib import Path

import torch
from onnxruntime.quantization import QuantType, quantize_dynamic

from mcp_memory.embedding.reader import CARD, WEIGHTS
from training.models import Cross, mean

INPUTS = ("input_ids", "attention_mask", "token_type_ids")


class Flat(torch.nn.Module):
    """The cross-encoder from tokens to logits."""

    def __init__(self, cross: Cross) -> None:
        super().__init__()
        self.cross = cross

    def forward(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor, token_type_ids: torch.Tensor
    ) -> torch.Tensor:
        """Return the logits of a batch of pairs, shape ``(pairs, heads)``."""
        read = {"input_ids": input_ids, "attention_mask": attention_mask, "token_type_ids": token_type_ids}
        return self.cross.head(mean(self.cross.bert(**read).last_hidden_state, attention_mask))


def export(weights: Path, folder: Path) -> None:
    """Write the weights and the card."""
    cross = Cross()
    cross.load_state_dict(torch.load(weights))
    example = (torch.ones(2, 8, dtype=torch.long),) * 3
    axes = {name: {0: "pairs", 1: "tokens"} for name in INPUTS}
    with tempfile.TemporaryDirectory() as place:
        full = str(Path(place) / "full.onnx")
        torch.onnx.export(
            Flat(cross).eval(),
            example,
            full,
            input_names=list(INPUTS),
            output_names=["logits"],
            dynamic_axes=axes,
            opset_version=17,
            dynamo=False,
        )
        # By channel the chances differ by .02 from those in 32 bits, by tensor by .04; seven bits, since processors
        # without VNNI add two products in 16 bits.
        quantize_dynamic(full, str(folder / WEIGHTS), weight_type=QuantType.QInt8, per_channel=True, reduce_range=True)
    digest = hashlib.sha256((folder / WEIGHTS).read_bytes()).hexdigest()
    (folder / CARD).write_text(json.dumps({"sha256": digest}) + "\n", encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weights", type=Path)
    parser.add_argument("folder", type=Path)
    args = parser.parse_args()
    export(args.weights, args.folder)
