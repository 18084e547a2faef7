"""Memory that was freed and is still ours: how to hand it back.

The C library of most Linux systems keeps what a library has freed, in case it is asked for again. After a model was
loaded (its file, parsed and then converted) that is some 80 MB, after a long document was embedded more, and a server
that idles for days would keep it. Elsewhere the system sees to it, and nothing is done.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def give_back() -> None:
    """Hand freed memory back to the system. It takes some milliseconds: call it after something large, in a thread."""
    if trim := _trim():
        trim(0)


@cache
def _trim() -> Callable[[int], int] | None:
    if sys.platform != "linux":
        return None
    import ctypes

    try:
        trim: Callable[[int], int] = ctypes.CDLL(None).malloc_trim  # glibc has it, musl has not
    except AttributeError:
        return None
    return trim
