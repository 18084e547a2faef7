r"""Rules of Windows' file system, enforced on another system, so that calls that would fail there fail here.

- ``fsync`` needs a file that is open for writing.
- A file that this process has open can be neither renamed, replaced nor removed, and a folder with one below it cannot
  be renamed. (Python opens files so; LanceDB's library allows others to remove its files, but not to rename a folder.)
- ``rename`` does not replace; ``replace`` replaces no folder.
- What is written by `os.write` to a file that was opened without ``O_BINARY`` gets ``\r\n`` for ``\n``.
- Names have none of ``<>:"|?*``, no blank or dot at their end, and are no device's.

What is open is read from ``/proc/self/fd``, so they can be enforced on Linux only.
"""

import errno
import fcntl
import io
import os
import re
import sys
from pathlib import Path

import pytest

FORBIDDEN = re.compile(r'[<>:"|?*\x00-\x1f]|[ .]$')
DEVICE = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)", re.IGNORECASE)


def enforce(monkeypatch: pytest.MonkeyPatch, below: Path) -> None:
    """Enforce the rules on every path below a folder until the test ends."""
    root = str(below.resolve())

    def place(path, folder=None):
        if isinstance(path, int):
            return ""
        if folder is not None:
            path = Path(os.readlink(f"/proc/self/fd/{folder}"), os.fsdecode(path))
        return os.path.abspath(os.fsdecode(path))

    def checked_name(path):
        if path.startswith(root + os.sep):
            for part in path[len(root) + 1 :].split(os.sep):
                if FORBIDDEN.search(part) or DEVICE.match(part):
                    raise OSError(errno.EINVAL, "no name on Windows", path)

    def refuse_open(path, *, inside=False):
        if not path.startswith(root + os.sep):
            return
        for descriptor in os.listdir("/proc/self/fd"):
            try:
                target = os.readlink(f"/proc/self/fd/{descriptor}")
            except OSError:
                continue
            same = target == path and not os.path.isdir(path)
            if same or (inside and target.startswith(path + os.sep)):
                raise PermissionError(errno.EACCES, "open in this process (Windows)", target)

    def replaced(name, check):
        original = getattr(os, name)

        def call(*arguments, **options):
            check(*arguments, **options)
            return original(*arguments, **options)

        monkeypatch.setattr(os, name, call)

    def fsync(descriptor):
        if sys._getframe(2).f_code.co_name == "flush":  # of `storage.compaction`, which does nothing on Windows
            return
        if fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
            raise OSError(errno.EBADF, "open for reading alone (Windows)")

    def rename(old, new, **_):
        checked_name(place(new))
        refuse_open(place(old), inside=os.path.isdir(old))
        if place(new).startswith(root) and os.path.exists(new):
            raise FileExistsError(errno.EEXIST, "rename does not replace (Windows)", place(new))

    def replace(old, new, **_):
        checked_name(place(new))
        refuse_open(place(old), inside=os.path.isdir(old))
        refuse_open(place(new))
        if place(new).startswith(root) and os.path.isdir(new):
            raise PermissionError(errno.EACCES, "replaces no folder (Windows)", place(new))

    def remove(path, *, dir_fd=None):
        refuse_open(place(path, dir_fd))

    replaced("fsync", fsync)
    replaced("rename", rename)
    replaced("replace", replace)
    replaced("unlink", remove)
    replaced("remove", remove)
    replaced("mkdir", lambda path, *_, dir_fd=None, **__: checked_name(place(path, dir_fd)))
    monkeypatch.setattr(os, "O_BINARY", 1 << 30, raising=False)
    textual: set[int] = set()
    open_descriptor, write, fdopen = os.open, os.write, os.fdopen

    def opened_file(path, flags, mode=0o777, *, dir_fd=None):
        checked_name(place(path, dir_fd))
        descriptor = open_descriptor(path, flags & ~os.O_BINARY, mode, dir_fd=dir_fd)
        (textual.discard if flags & os.O_BINARY else textual.add)(descriptor)
        return descriptor

    def as_file(descriptor, *arguments, **options):
        textual.discard(descriptor)  # Python sets the mode of a descriptor that it wraps
        return fdopen(descriptor, *arguments, **options)

    def written(descriptor, content):
        ours = descriptor in textual and os.readlink(f"/proc/self/fd/{descriptor}").startswith(root + os.sep)
        return write(descriptor, bytes(content).replace(b"\n", b"\r\n") if ours else content)

    monkeypatch.setattr(os, "open", opened_file)
    monkeypatch.setattr(os, "fdopen", as_file)
    monkeypatch.setattr(os, "write", written)
    opened = io.open

    def open_file(file, *arguments, **options):
        checked_name(place(file))
        return opened(file, *arguments, **options)

    monkeypatch.setattr(io, "open", open_file)
    monkeypatch.setattr("builtins.open", open_file)
