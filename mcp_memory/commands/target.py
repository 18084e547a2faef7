"""Write a file for a user: never into a store, and over another file only if told to."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from mcp_memory.errors import InvalidInput
from mcp_memory.files import whole_file
from mcp_memory.storage.noted import holds_store


def refuse_in_store(path: Path) -> None:
    """Refuse a path in the folder of a store, where a file could take the name of one that the store needs.

    Raises:
        InvalidInput: it lies in one.
    """
    for folder in path.expanduser().resolve().parents:
        if holds_store(folder):
            problem = f"{path} lies in the folder of a memory ({folder})"
            raise InvalidInput("", problem, "Nothing was written. Name a place outside of it.")


def write_aside(file: Path, lines: Iterable[bytes]) -> None:
    """Write a file beside its place, readable for its owner alone, and move it there when it is complete.

    Raises:
        InvalidInput: it cannot be written; what stood in its place is as it was.
    """
    try:
        with whole_file(file.resolve()) as out:  # a link leads to the file that is written
            out.writelines(lines)
    except OSError as error:
        problem = f"{file} cannot be written ({error.strerror})"
        raise InvalidInput("", problem, "Nothing was exported; make room, or name another place.") from None


def check_target(file: Path, *, replace: bool) -> None:
    """Refuse a place where no file can be written, or where another one lies that may not be replaced."""
    if file.is_dir() or not file.resolve().parent.is_dir():
        problem = f"{file} " + ("is a folder" if file.is_dir() else "lies in no folder that exists")
        raise InvalidInput("", problem, "Name a file to write.")
    if file.exists() and not replace:
        raise InvalidInput("", f"{file} is there already", "Name another one, or add --replace.")
