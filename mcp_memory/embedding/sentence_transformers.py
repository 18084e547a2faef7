"""The embedder for any other model, in a folder, on any device: with the extra ``sentence-transformers``.

A model is downloaded by its user (``hf download BAAI/bge-m3 --local-dir FOLDER``): nothing here asks the network, and
code that a model brings along is never run.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread
import numpy as np

from mcp_memory.embedding.onnx import Parts, clip, embed_alone
from mcp_memory.errors import EmbedderError
from mcp_memory.vectors import Matrix

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

logger = logging.getLogger(__name__)


class SentenceTransformersEmbedder:
    """A model of sentence-transformers; an ``Embedder``.

    Nothing is imported or loaded before the first ``embed``, or the first read of ``dimension``, which only the loaded
    model knows. Either can take many seconds, and ``name`` reads a folder's weights once: ``await embed([])`` loads in
    a thread. The instance serves one event loop at a time.
    """

    def __init__(self, folder: str, *, device: str | None = None, batch_size: int = 32) -> None:
        """Prepare an embedder.

        Args:
            folder: holds the model.
            device: as torch names it, "cpu", "cuda:1", "mps"; None for the fastest one.
            batch_size: how many texts are computed together, at least 1; the peak of memory grows with it.

        Raises:
            EmbedderError: the folder does not exist.
        """
        self._folder = Path(folder).expanduser().resolve()
        if not folder or not self._folder.is_dir():
            raise EmbedderError(
                f"embedding.model: there is no folder {folder!r}. Download a model into one, for example with "
                "`hf download BAAI/bge-m3 --local-dir FOLDER`, and name that"
            )
        self._device = device
        self._batch_size = batch_size
        self._turn = anyio.Lock()

    @cached_property
    def name(self) -> str:
        """The model and its revision: the folder's name, and a hash over what decides the vectors."""
        return f"{self._folder.name}/sentence-transformers@{_fingerprint(self._folder)}"

    @cached_property
    def dimension(self) -> int:
        """``d`` of the vectors; loads the model if need be."""
        # Taken from a vector: models that end in a projection report the width before it.
        return int(self._encode([""]).shape[1])

    async def embed(self, texts: Sequence[str]) -> Matrix:
        """Return one vector of length 1 for each text, shape ``(len(texts), dimension)``, in their order.

        Args:
            texts: of any content and length; text beyond the model's longest input is ignored. Equal texts are computed
                once.

        Raises:
            EmbedderError: the extra is not installed, or the model cannot be loaded. The next call tries again.
        """
        distinct = list(dict.fromkeys(texts))
        async with self._turn:
            dimension = await anyio.to_thread.run_sync(lambda: self.dimension)
        parts = [np.empty((0, dimension), dtype=np.float32)]
        for start in range(0, len(distinct), self._batch_size):
            # As in onnx.py: each batch queues separately, so that batches of another call can come between.
            async with self._turn:
                batch = distinct[start : start + self._batch_size]
                parts.append(await anyio.to_thread.run_sync(self._encode, batch))
        places = {text: place for place, text in enumerate(distinct)}
        vectors: Matrix = np.concatenate(parts)[[places[text] for text in texts]]
        return vectors

    async def embed_parts(self, texts: Sequence[str], parts: Sequence[Parts]) -> tuple[Matrix, Matrix]:
        """Return the vectors of texts, and of their parts by themselves: not every model has vectors of tokens."""
        return await embed_alone(self.embed, texts, parts)

    def _encode(self, texts: list[str]) -> Matrix:
        longest = self._model.max_seq_length
        clipped = [
            clip(text, longest) if longest else text.encode("utf-8", "replace").decode("utf-8") for text in texts
        ]
        vectors = self._model.encode(
            clipped, batch_size=len(clipped), normalize_embeddings=True, convert_to_numpy=True, show_progress_bar=False
        )
        return np.asarray(vectors, dtype=np.float32)

    @cached_property
    def _model(self) -> SentenceTransformer:
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise EmbedderError(
                f"The model {self._folder.name} needs sentence-transformers ({error}). Install the extra: pip install "
                "'.[sentence-transformers]' in the checkout, or mcp-memory[sentence-transformers] where you installed "
                "it from"
            ) from error
        try:
            model = SentenceTransformer(
                str(self._folder), device=self._device, local_files_only=True, trust_remote_code=False
            )
        # Not a model, no such device; torch without CUDA raises an AssertionError for the last.
        except (OSError, ValueError, RuntimeError, AssertionError) as error:
            raise EmbedderError(
                f"The model {self._folder} cannot be loaded: {error}. Check embedding.model and embedding.device"
            ) from error
        logger.info("loaded %s on %s", self.name, model.device)
        return model


def _fingerprint(folder: Path) -> str:
    """Return 12 hexadecimal digits of a hash over all files that decide a model's vectors, independent of the path."""
    digest = hashlib.sha256()
    files = [path for path in folder.rglob("*") if path.is_file()]
    for path in sorted(files, key=lambda path: path.relative_to(folder).as_posix()):
        place = path.relative_to(folder)
        if path.suffix == ".md" or any(part.startswith(".") for part in place.parts):
            continue  # notes and version control are not part of the model
        with path.open("rb") as file:
            digest.update(f"{place.as_posix()}\n{hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
    return digest.hexdigest()[:12]
