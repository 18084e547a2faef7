"""Import LanceDB without the client of a remote catalogue, which is never used and takes half of the time.

LanceDB imports value classes from ``lance_namespace_urllib3_client.models``. Python first runs the package around a
module, and this one imports every request that a catalogue on another machine knows, with validators for each: .4 of
.9 s, and 14 MB, before the first write of every process. So the package is put in place without being run. It is run
when somebody asks it for a name of its own.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec, module_from_spec
from typing import Any

CLIENT = "lance_namespace_urllib3_client"
METADATA_BYTES = 16 << 20
"""Of manifests and descriptions of data files that a connection keeps in memory. Every commit makes new ones, most of
them are never asked for again, and LanceDB's own bound is a gigabyte."""


def import_lancedb() -> Any:
    """Return the module of LanceDB, which comes without types."""
    if "lancedb" not in sys.modules and CLIENT not in sys.modules:
        put_in_place(CLIENT)
    import lancedb

    return lancedb


def new_session() -> Any:
    """Return the caches of one connection. Another one has others: a store may have taken the place of this one."""
    return import_lancedb().Session(metadata_cache_size_bytes=METADATA_BYTES)


def put_in_place(name: str) -> None:
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
