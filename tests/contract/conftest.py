"""The stores that the contract tests run on."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from batches import DIMENSION
from lance_at import make
from object_store import ObjectStore

from mcp_memory.storage.place import Place
from mcp_memory.storage.store import LanceStore

ON_OBJECTS = ("test_stores", "test_forget_contract", "test_store_rows")
"""Files whose tests run on object storage as well: these are slow, and cover each kind of commit."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "open_store" in metafunc.fixturenames:
        on_objects = metafunc.module.__name__.rpartition(".")[2] in ON_OBJECTS
        metafunc.parametrize("open_store", ["folder", *(["objects"] if on_objects else [])], indirect=True)


@pytest.fixture
async def folder(tmp_path: Path) -> Path:
    """Return the folder of a store with some commits, to be damaged."""
    return await make(tmp_path / "store")


@pytest.fixture
def open_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[..., LanceStore]]:
    """Return a function that opens another store over the same rows, as another process would."""
    served = ExitStack()
    options = ""
    uri = str(tmp_path / "store")
    if request.param == "objects":
        uri, options = "s3://bucket/store", served.enter_context(ObjectStore().serving()).options

    def open_(embedder: str = "fake", dimension: int = DIMENSION, **settings: object) -> LanceStore:
        return LanceStore(Place(uri, options), embedder=embedder, dimension=dimension, **settings)

    with served:
        yield open_


@pytest.fixture
def uri(tmp_path: Path) -> str:
    """The path of a store for one test."""
    return str(tmp_path / "store")
