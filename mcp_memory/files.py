"""Write a file whole or not at all, and list and measure the files of a folder."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


@contextmanager
def whole_file(path: Path, mode: int = 0o600, *, lasting: bool = True) -> Iterator[BinaryIO]:
    """Yield a file that takes the place of a path once the body has written it.

    It is written beside the path, under a name that nothing else has. What stands in its place is replaced, so the
    caller has made sure that it may be; it stays as it was where the body or the disk fails.

    A link is replaced, not followed. If it is ``lasting``, it is on the disk before, and so survives a power loss.

    Raises:
        OSError: it cannot be written.
    """
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    made = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)
    try:
        with os.fdopen(made, "wb") as out:
            yield out
            out.flush()
            if lasting:
                os.fsync(out.fileno())
        part.replace(path)
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def files_below(folder: Path) -> Iterator[Path]:
    """Return all files in a folder and below it, but for what another process removes meanwhile.

    Another process may drop a table at any moment; `Path.rglob` would raise then.
    """
    for place, _, names in os.walk(folder):
        yield from (Path(place, name) for name in names)


def size_in_bytes(folder: Path) -> int:
    """Return how many bytes the files in a folder and below it take."""
    total = 0
    for path in files_below(folder):
        with suppress(OSError):  # removed meanwhile
            total += path.stat().st_size
    return total
