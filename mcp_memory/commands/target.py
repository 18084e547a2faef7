"""Write a file for a user: never into a store, nor over an export of another memory, and nothing that was forgotten."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import TypeVar

from mcp_memory.errors import InvalidInput
from mcp_memory.files import whole_file
from mcp_memory.ports import Store
from mcp_memory.services.transfer.exporting import FORMAT
from mcp_memory.settings import Settings
from mcp_memory.storage.copies import known_copies
from mcp_memory.storage.noted import id_of
from mcp_memory.storage.place import Place
from mcp_memory.wiring import place_of

Written = TypeVar("Written")


def refuse_in_store(path: Path) -> None:
    """Refuse a path in the folder of a store, where a file could take the name of one that the store needs.

    Raises:
        InvalidInput: it lies in one.
    """
    for folder in path.expanduser().resolve().parents:
        if id_of(folder) is not None:
            problem = f"{path} lies in the folder of a memory ({folder})"
            raise InvalidInput("FILE", problem, "Nothing was written. Name a place outside of it.")


def refuse_other_export(settings: Settings, path: Path, *, replace: bool) -> None:
    """Refuse to write an export where one is that this memory has not written, unless it may be replaced.

    Args:
        settings: of the memory that is exported.
        path: the file to write.
        replace: whether the user said so.

    Raises:
        InvalidInput: another memory has written it, or nobody knows who.
        StoreUnwritable: the memory is not where it was.
    """
    if replace or not path.exists() or not path.stat().st_size:
        return
    chosen = settings.storage
    written = known_copies(Place(place_of(settings), chosen.options, chosen.noted_in).folder)
    if path.resolve() not in written:
        problem = f"{path} is there already, and this memory has not written it"
        raise InvalidInput("FILE", problem, "Name another one, or add --replace.")


async def without_forgotten(store: Store, file: Path, write: Callable[[], Awaitable[Written]]) -> Written:
    """Write what is in a store; write it again if something was forgotten meanwhile, which it may have.

    A forget that begins later finds what was written, since its place is noted.

    Args:
        store: the store.
        file: the file or folder to write.
        write: reads the store, notes the place and writes; a forget removes what is half written, so this may fail.

    Raises:
        InvalidInput: it cannot be written; where it was and cannot be again, it has to be deleted.
    """
    stale = False
    while True:
        before = await store.forgotten()
        try:
            done = await write()
        except InvalidInput as error:
            if await store.forgotten() == before:
                problem = f"{file} may hold what was forgotten while it was written ({error})"
                raise InvalidInput("FILE", problem, "Delete it.") if stale else error from None
            continue
        if await store.forgotten() == before:
            return done
        stale = True


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
        raise InvalidInput("FILE", problem, "Nothing was exported; make room, or name another place.") from None


def _is_export(first: bytes) -> bool:
    return first.startswith(b'{"') and f'"{FORMAT}"'.encode() in first


def check_target(
    file: Path, what: str = "export", is_one: Callable[[bytes], bool] = _is_export, *, replace: bool = True
) -> None:
    """Refuse a place where no file can be written, or where something else would be lost.

    Args:
        file: the file to be written.
        what: it is.
        is_one: returns whether a file that begins so is an earlier one.
        replace: whether an earlier one may be replaced.
    """
    if file.is_dir() or not file.resolve().parent.is_dir():
        problem = f"{file} " + ("is a folder" if file.is_dir() else "lies in no folder that exists")
        raise InvalidInput("FILE", problem, "Name a file to write.")
    try:
        with file.open("rb") as there:
            first = there.read(2048)
    except FileNotFoundError:
        return
    except OSError as error:
        raise InvalidInput("FILE", f"{file} cannot be read ({error.strerror})", "Name another one.") from None
    if first and not is_one(first):
        raise InvalidInput("FILE", f"{file} exists and is no {what}", "Name another one, or move it away.")
    if not replace:
        raise InvalidInput("FILE", f"{file} is there already", "Name another one, or add --replace.")
