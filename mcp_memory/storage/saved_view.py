"""Save the view of a large store beside its tables, so that the next process need not make it again.

Making a view of a million sentences takes two minutes of processor time, nearly all of it in Python. A saved one is
pickled: arrays lie as they are in the file and are mapped, turns and assertions are columns (``view/saved_rows.py``),
and only dicts are made. So all processes share what they do not change.

**Nothing rests on it.** It is one file of the folder "view", named by a digest of the program, the settings and the
embedder that made it, with a sum of all its bytes. It is used if the sum is right, if the store has the very commit
that it is as of, and if nothing is damaged; newer commits are read as ever. A forget or a rebuild leaves an older
generation behind, which is not used.

**Forgetting.** It holds texts. A forget removes the folder after its commit. Both it and the writing of a file hold a
lock, and nothing is written of a view that is not as of the last commit: so no file comes after the forget.

**Safety.** What a pickle names is looked up among a few classes that hold data, so a file that somebody else made runs
nothing.
"""

from __future__ import annotations

import importlib
import json
import logging
import mmap
import os
import pickle
import struct
import sys
import time
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from functools import cache, cached_property
from hashlib import blake2b
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from mcp_memory.storage.damage import problem_of_log, short_tables
from mcp_memory.storage.lock import take_if_free
from mcp_memory.storage.rows import FORMAT, Commit
from mcp_memory.storage.tables import Tables
from mcp_memory.texts import folder
from mcp_memory.view.space import View

FOLDER = "view"
LOCK = "view.lock"
LEAST_SENTENCES = 20_000
"""Sentences from which on a view is saved: below, reading the tables takes a second or two."""
SAVED_GROWTH = 1.03
"""A view is saved again when it has grown by this factor."""
COMMITS_AFTER = 1_000
"""Commits after the saved view, each 1.5 ms of opening, after which a view should be saved whatever it grew by."""
FORGET_WAIT_S = 120.0
"""How long a forget waits for a file that is just being written; then it goes on without the lock."""
SOON_S = 0.02
_MAGIC = b"mcpview1"
_END = struct.Struct("<II8s")  # the length of the description before it, the sum of all before the sum, the magic
_ALIGNED = 64
_ROOMS = tuple(f"mcp_memory.{room}." for room in ("domain", "language", "view", "search", "reconstruct"))
_OTHERS = frozenset(
    (
        *(("builtins", name) for name in ("dict", "list", "range", "set")),
        *(("collections", "Counter"), ("collections", "defaultdict")),
        *(("array", "array"), ("array", "_array_reconstructor")),
        *(("numpy", "dtype"), ("numpy", "ndarray")),
        *((f"numpy.{core}.numeric", "_frombuffer") for core in ("core", "_core")),
        *((f"numpy.{core}.multiarray", name) for core in ("core", "_core") for name in ("_reconstruct", "scalar")),
    )
)

_log = logging.getLogger(__name__)


class SavedViews:
    """The saved view of one store.

    Args:
        tables: the tables of the store, a local folder.
        made_by: what the content of a view depends on beside the store and this program.
        is_current: see `Refresher.is_current`.
    """

    def __init__(self, tables: Tables, made_by: str, is_current: Callable[[], bool]) -> None:
        assert tables.folder is not None
        self._tables = tables
        self._folder = tables.folder / FOLDER
        self._made_by = made_by
        self._is_current = is_current
        self._loaded = self._failed = False

    @cached_property
    def _path(self) -> Path:
        digest = blake2b(f"{_program()}\0{self._made_by}".encode(), digest_size=16).hexdigest()
        return self._folder / f"{digest}.view"

    def is_due(self, view: View) -> bool:
        """Return whether a view of `LEAST_SENTENCES` or more is so much larger than the saved one that it should be."""
        if self._failed:
            return False
        described = _description(self._path)
        if described is None or described["commit"]["generation"] != view.generation:
            return True
        return bool(
            view.size >= SAVED_GROWTH * described["size"] or view.tx >= described["commit"]["tx"] + COMMITS_AFTER
        )

    def load(self, like: View) -> tuple[View, Commit] | None:
        """Return the saved view, with the functions of an empty one, and its last commit; None if there is none to use.

        Not a second time: whoever drops a view may do so because something is wrong with it.
        """
        if self._loaded or not (self._folder.is_dir() and self._path.exists()):
            return None
        self._loaded, found = True, None
        try:
            found = self._read(like)
        except Exception as error:  # whatever is wrong with it, the tables have everything
            _log.warning("The saved view %s cannot be used (%s: %s); the tables are read instead.",
                         self._path, type(error).__name__, error)  # fmt: skip
        if found is None:
            with suppress(OSError):
                self._path.unlink()  # so that another one is due
        return found

    def save(self, view: View, last: Commit, stop: Callable[[], bool]) -> None:
        """Write the view, which must be whole and not change meanwhile, unless another process is at it.

        ``stop`` is asked now and then whether to give up, until another time.
        """
        place = self._path.with_name(f"{self._path.name}.{os.getpid()}")
        if (release := take_if_free(self._tables.place, LOCK)) is None:
            return
        try:
            if not self._is_current():
                return
            self._folder.mkdir(mode=0o700, exist_ok=True)
            self._tidy()
            file = os.open(place, os.O_RDWR | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0), 0o600)
            with os.fdopen(file, "w+b") as out:
                _write(out, view, {"commit": asdict(last), "size": view.size}, stop)
            place.replace(self._path)
        except _Stopped:
            place.unlink(missing_ok=True)
        except OSError as error:  # not again by this process
            self._failed = True
            _log.warning("%s cannot be written: %s", self._path, error)
            place.unlink(missing_ok=True)
        finally:
            release()

    def _tidy(self) -> None:
        """Remove what a process left that died, and all views of other programs and settings but the newest."""
        times: dict[Path, float] = {}
        for path in self._folder.glob("*.view"):
            with suppress(FileNotFoundError):  # another process could not use it
                times[path] = path.stat().st_mtime
        others = sorted(times.keys() - {self._path}, key=times.__getitem__)
        kept = {self._path, *others[-1:]}
        for path in self._folder.glob("*.view*"):
            if path not in kept:
                path.unlink(missing_ok=True)

    def _read(self, like: View) -> tuple[View, Commit] | None:
        described = _description(self._path)
        if described is None:
            return None
        commit = Commit(**described["commit"])
        if not self._is_known(commit):
            return None
        view = _read(self._path, described)
        view.set_functions(like)
        return view, commit

    def _is_known(self, commit: Commit) -> bool:
        """Return whether the store has a commit and the same tables still, and none of it is damaged."""
        tables = self._tables
        last = tables.log.last
        if last is None or commit.format != FORMAT or last.tables != commit.tables or problem_of_log(tables):
            return False
        if short_tables(tables, last) or tables.broken:
            return False
        return next(tables.log.commits(commit.tx - 1, commit.tx), None) == commit


def remove_views(tables: Tables) -> None:
    """Remove every saved view of a store, after a process that is just writing one has done so.

    Raises:
        StoreUnwritable: one of them may be there still.
    """
    if tables.folder is not None and (tables.folder / FOLDER).exists():
        until = time.monotonic() + FORGET_WAIT_S
        while (release := take_if_free(tables.place, LOCK)) is None and time.monotonic() < until:
            time.sleep(SOON_S)
        with tables.write_errors():
            try:
                for path in (tables.folder / FOLDER).glob("*.view*"):  # whatever else is there is somebody's
                    path.unlink(missing_ok=True)
            finally:
                if release is not None:
                    release()


@cache
def _program() -> str:
    """Return what tells this program from any other: versions, and name, size and time of each of its files."""
    files = [*Path(__file__).parents[1].rglob("*.py"), *folder("resources").iterdir()]
    state = [(path.name, (status := path.stat()).st_size, status.st_mtime_ns) for path in sorted(files)]
    return repr((_MAGIC, sys.version, np.__version__, state))


# The file: the pickle, its buffers, a description, and the end


class _Stopped(Exception):
    """Somebody waits for the view."""


def _write(file: BinaryIO, view: View, described: dict[str, Any], stop: Callable[[], bool]) -> None:
    buffers: list[pickle.PickleBuffer] = []
    pickler = _Pickler(file, protocol=5, buffer_callback=buffers.append)
    pickler.stop = stop
    pickler.dump(view)
    places = []
    for buffer in buffers:
        file.write(bytes(-file.tell() % _ALIGNED))
        start = file.tell()
        file.write(buffer.raw())
        places.append((start, file.tell()))
    end = json.dumps(described | {"buffers": places}).encode()
    file.write(end)
    file.write(struct.pack("<I", len(end)))
    file.seek(0)
    sum_ = 0
    while piece := file.read(_ALIGNED << 14):
        sum_ = zlib.crc32(piece, sum_)
    file.write(struct.pack("<I", sum_) + _MAGIC)


def _description(path: Path) -> Any:
    """Return what a file says about itself, unchecked; None if it is no whole file."""
    try:
        with path.open("rb") as file:
            file.seek(-_END.size, os.SEEK_END)
            length, _, magic = _END.unpack(file.read(_END.size))
            if magic != _MAGIC:
                return None
            file.seek(-_END.size - length, os.SEEK_END)
            return json.loads(file.read(length))
    except (OSError, ValueError, struct.error):
        return None


def _read(path: Path, described: Any) -> View:
    """Return the view in a file, whose bytes may be changed in memory alone.

    Raises:
        ValueError: they are not what was written.
    """
    with path.open("rb") as file:
        posix = os.name == "posix"  # elsewhere nobody could remove a file that is mapped
        mapped: Any = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY) if posix else BytesIO(file.read())
    content = memoryview(mapped if posix else mapped.getbuffer())
    _, known, _ = _END.unpack(content[-_END.size :])
    if zlib.crc32(content[: -_END.size + 4]) != known:
        raise ValueError("it is not what was written")
    view = _Unpickler(mapped, buffers=[content[start:end] for start, end in described["buffers"]]).load()
    if not isinstance(view, View):
        raise TypeError(type(view).__name__)
    return view


class _Pickler(pickle.Pickler):
    stop: Callable[[], bool]

    def reducer_override(self, _value: Any) -> Any:
        """Pickle a value as ever.

        Raises:
            _Stopped: there is no time for more.
        """
        if self.stop():
            raise _Stopped
        return NotImplemented


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        """Return a class that holds data, or a function that makes an array.

        Raises:
            pickle.UnpicklingError: it is anything else.
        """
        if (module, name) in _OTHERS:
            return getattr(importlib.import_module(module), name)
        if module.startswith(_ROOMS) or module == "mcp_memory.vectors":
            found = getattr(importlib.import_module(module), name)
            if isinstance(found, type):
                return found
        raise pickle.UnpicklingError(f"{module}.{name}")
