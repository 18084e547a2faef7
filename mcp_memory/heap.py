"""Memory that was freed and is still ours: how to keep little of it.

The C library of most Linux systems keeps what a library has freed, in case it is asked for again, and pieces that are
still in use keep their surroundings from being handed back at all. A model's file, parsed and then converted, leaves
80 MB behind; its computations, done in threads that each have a heap of their own, another 60. A server that idles for
days would keep both. Elsewhere the system sees to it, and nothing is done.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import ctypes

LARGE: Final = 1 << 20
"""Bytes from which a block is handed back as soon as it is freed; left alone, the C library raises that to 32 MB."""
_MMAP_THRESHOLD: Final = -3
"""The C library's name for it, ``M_MMAP_THRESHOLD``."""


def keep_little() -> None:
    """From now on hand large blocks back as soon as they are freed; call it before something large is loaded."""
    if library := _glibc():
        library.mallopt(_MMAP_THRESHOLD, LARGE)


def give_back() -> None:
    """Hand freed memory back to the system. It takes some milliseconds: call it after something large, in a thread."""
    if library := _glibc():
        library.malloc_trim(0)


@cache
def _glibc() -> ctypes.CDLL | None:
    if sys.platform != "linux":
        return None
    import ctypes

    library = ctypes.CDLL(None)
    return library if hasattr(library, "malloc_trim") else None  # musl has not
