"""LanceDB, the library: how it is imported and connected to, and what it raises.

It is imported without the client of a remote catalogue, which is never used and takes half of the time. It imports
value classes from ``lance_namespace_urllib3_client.models``. Python first runs the package around a module, and this
one imports every request that a catalogue on another machine knows, with validators for each: .4 of .9 s, and 14 MB,
before the first write of every process. So the package is put in place without being run. It is run when somebody asks
it for a name of its own.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from typing import Any

from mcp_memory.errors import StoreError

Table = Any
"""A table of LanceDB, which comes without types."""
FAILURES = (OSError, RuntimeError, ValueError, LookupError, ArithmeticError)
"""What LanceDB raises when a file cannot be read or written; see also `no_panics`."""
PANICS = ("PanicException", "RustPanic")
"""Names of the classes by which libraries of Rust raise a panic, the second one in a task of theirs; each library has
classes of its own by these names, and the first is no `Exception`."""
CLIENT = "lance_namespace_urllib3_client"
METADATA_BYTES = 16 << 20
"""Of manifests and descriptions of data files that a connection keeps in memory. Every commit makes new ones, most of
them are never asked for again, and LanceDB's own bound is a gigabyte."""


def import_lancedb() -> Any:
    """Return the module of LanceDB, which comes without types."""
    if "lancedb" not in sys.modules and CLIENT not in sys.modules:
        _put_in_place(CLIENT)
    import lancedb

    return lancedb


def connect(uri: str, folder: Path | None, options: Mapping[str, str]) -> Any:
    """Return a connection to the tables of a store.

    Args:
        uri: of the store.
        folder: of the store; None on object storage.
        options: of object storage.

    Raises:
        StoreError: none can be opened with this uri.
    """
    os.environ.setdefault("LANCEDB_LOG", "error")
    lancedb, session = import_lancedb(), new_session()
    try:
        if folder is not None:
            return lancedb.connect(folder, session=session)
        return lancedb.connect(uri, storage_options=dict(options) or None, session=session)
    except FAILURES as error:
        raise StoreError(
            f"storage.uri {uri!r} cannot be opened: {error_text(error)}. "
            "Set storage.uri (or MCP_MEMORY_STORAGE_URI) to a folder, or to a URI that LanceDB opens."
        ) from error


def new_session() -> Any:
    """Return the caches of one connection. Another one has others: a store may have taken the place of this one."""
    return import_lancedb().Session(metadata_cache_size_bytes=METADATA_BYTES)


def _put_in_place(name: str) -> None:
    """Let the modules of a package be imported while the package itself is run only when it is asked for a name."""
    spec = find_spec(name)
    if spec is None or spec.loader is None:
        return
    package, loader = module_from_spec(spec), spec.loader

    def run(attribute: str) -> Any:
        if vars(package).pop("__getattr__", None) is not None:
            loader.exec_module(package)
        return getattr(package, attribute)

    vars(package)["__getattr__"] = run
    sys.modules[name] = package


@contextmanager
def no_panics() -> Iterator[None]:
    """Raise a panic inside LanceDB, which is no `Exception`, as one of `FAILURES`; damaged files cause it.

    Raises:
        RuntimeError: LanceDB panicked.
    """
    try:
        yield
    except BaseException as error:
        if type(error).__name__ not in PANICS:
            raise
        raise RuntimeError(f"a damaged file: {error}") from error


def error_text(error: object) -> str:
    """Return LanceDB's error message without the positions in its own source."""
    return re.sub(r",? ?\S+\.rs:\d+(:\d+)?", "", str(error)).strip().rstrip(".")
