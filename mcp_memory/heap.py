"""Return freed memory to the operating system, and spare the garbage collector what stays.

glibc keeps freed memory for later allocations, and blocks still in use keep the pages around them from being returned.
Loading a model (parsing its file and converting it) leaves 80 MB behind, and its computations, in threads with heaps of
their own, another 60; a server that idles for days would keep both. On other systems these functions do nothing.
"""

from __future__ import annotations

import gc
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final, ParamSpec, TypeVar

if TYPE_CHECKING:
    import ctypes

LARGE_BYTES: Final = 1 << 20
"""Blocks of at least this many bytes are returned as soon as they are freed; glibc would raise the limit to 32 MB."""
SPARED_OBJECTS: Final = 100_000
"""Objects from which on `made_to_stay` spares them."""
_MMAP_THRESHOLD: Final = -3
"""``M_MMAP_THRESHOLD`` of glibc's ``mallopt``."""

P = ParamSpec("P")
R = TypeVar("R")
_drops: list[Callable[[], None]] = [re.purge]  # a pattern may have the name of somebody in it


def text_cache(size: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Cache the results for the last ``size`` texts or words of memories, or of questions, until `drop_texts`."""

    def cached(function: Callable[P, R]) -> Callable[P, R]:
        caching = lru_cache(maxsize=size)(function)
        _drops.append(caching.cache_clear)
        return caching  # type: ignore[return-value]

    return cached


def dropped_with_texts(drop: Callable[[], None]) -> Callable[[], None]:
    """Let `drop_texts` call a function that drops what else a module keeps of texts; a decorator."""
    _drops.append(drop)
    return drop


def drop_texts() -> None:
    """Drop every cache of texts: when a view is replaced, after a forget for example, nothing may keep its words."""
    for drop in _drops:
        drop()


def keep_little() -> None:
    """Make glibc return large blocks as soon as they are freed; call it before loading something large."""
    if library := _glibc():
        library.mallopt(_MMAP_THRESHOLD, LARGE_BYTES)


@contextmanager
def made_to_stay() -> Iterator[None]:
    """Make objects that stay: no garbage is collected meanwhile, and of many, none later.

    Each full collection looks at every object, which took a sixth of the time of loading 30,000 sentences. `may_go`
    lets a collection free them again.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        many = gc.get_count()[0] > SPARED_OBJECTS
        if collects:
            gc.enable()
        if many:
            gc.freeze()


def may_go() -> None:
    """Let the next full collection free what was made to stay and is not used any more."""
    gc.unfreeze()


def give_back() -> None:
    """Return freed memory to the system. It takes milliseconds: call it in a thread, after freeing something large."""
    if library := _glibc():
        library.malloc_trim(0)


@cache
def _glibc() -> ctypes.CDLL | None:
    if sys.platform != "linux":
        return None
    import ctypes

    library = ctypes.CDLL(None)
    return library if hasattr(library, "malloc_trim") else None  # musl does not have it
