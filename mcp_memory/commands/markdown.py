"""``mcp-memory export --markdown``: a folder of Markdown, written to a temporary folder that is then renamed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from mcp_memory.errors import InvalidInput
from mcp_memory.services.transfer.markdown import SPACES, WHOLE

OURS = frozenset((WHOLE, "index.md", SPACES))


def check_folder(folder: Path) -> None:
    """Refuse a folder in which something else would be lost; hidden files, such as git's, may be there.

    Raises:
        InvalidInput: it holds other things, or lies nowhere.
    """
    if not folder.exists() and folder.parent.is_dir():
        return
    if not folder.is_dir():
        raise InvalidInput("FOLDER", f"{folder} is no folder, or lies in none that exists", "Name a folder to write.")
    others = sorted(path.name for path in folder.iterdir() if path.name not in OURS and not path.name.startswith("."))
    if others or ((folder / SPACES).exists() and not (folder / WHOLE).exists()):
        problem = f"{folder} holds other things ({', '.join(others[:3]) or SPACES})"
        raise InvalidInput("FOLDER", problem, "Name an empty folder, a new one, or one of an earlier export.")


def write_folder(folder: Path, files: Iterable[tuple[str, str]], whole: Iterable[bytes]) -> int:
    """Write the files of an export into a folder, in place of an earlier one, and return how many.

    Raises:
        InvalidInput: they cannot be written; the earlier export is as it was.
    """
    part = folder.parent / f".{folder.name}.{os.getpid()}.part"
    count = 0
    try:
        part.mkdir(mode=0o700)
        with (part / WHOLE).open("wb") as out:
            out.writelines(whole)
            out.flush()
            os.fsync(out.fileno())
        (part / SPACES).mkdir(mode=0o700)
        for name, text in files:
            path = part / name
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.write_text(text, "utf-8", errors="surrogatepass", newline="\n")
            count += 1
        for path in part.rglob("*"):
            path.chmod(0o700 if path.is_dir() else 0o600)
        folder.mkdir(mode=0o700, exist_ok=True)
        if (folder / SPACES).exists():
            (folder / SPACES).rename(part / "former")
        for name in (SPACES, "index.md", WHOLE):
            (part / name).replace(folder / name)
    except OSError as error:
        problem = f"{folder} cannot be written ({error.strerror or error})"
        raise InvalidInput("FOLDER", problem, "Make room, or name another place.") from None
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return count
