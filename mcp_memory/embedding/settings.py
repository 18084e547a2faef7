"""Settings of the models that are part of the install: the embedder and the reader."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mcp_memory.configurable import key


@dataclass(frozen=True, slots=True)
class EmbeddingSettings:
    """The model that turns text into vectors."""

    adapter: Literal["onnx", "sentence-transformers"] = key(
        "onnx", '"onnx" (part of the install) or "sentence-transformers" (the extra of that name)'
    )
    model: str = key("", "sentence-transformers only: the folder of a model")
    device: str = key("", 'sentence-transformers only: "cpu", "cuda", "mps"; "" lets it choose')
    batch_size: int = 32
    """sentence-transformers only: texts in one batch."""
    threads: int = key(0, "onnx only: threads of one inference; 0 lets the runtime choose", least=0)


@dataclass(frozen=True, slots=True)
class ReaderSettings:
    """The model that reads query and record together."""

    use: Literal["auto", "always", "off"] = key(
        "auto",
        'a small model reads what a search found once more and ranks it: "auto" not where one record is far ahead, '
        '"always", or "off"',
    )
    threads: int = key(2, "threads of one inference")
