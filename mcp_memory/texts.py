"""Finds the texts that ship with the project: prompts for models, and resources for clients.

In a wheel they lie inside the package, in a checkout beside it. ``importlib.resources`` is not used: it finds nothing
in an editable install, where the package's own folder has no such folders.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from string import Template

_PACKAGE = Path(__file__).resolve().parent


def _root(folder: str) -> Path:
    packed = _PACKAGE / folder
    return packed if packed.is_dir() else _PACKAGE.parent / folder


@cache
def resource(name: str) -> str:
    """Return the text of a file in ``resources/``, ``guide.md`` for one.

    Raises:
        FileNotFoundError: the installation is broken.
    """
    return (_root("resources") / name).read_text(encoding="utf-8")


@cache
def prompt(name: str) -> Template:
    """Return a prompt of ``prompts/``, ``mcp/recall.txt`` for one, ready for its ``$values``.

    Lines at the top that begin with ``#`` say where a prompt comes from and are left out.

    Raises:
        FileNotFoundError: the installation is broken.
    """
    lines = (_root("prompts") / name).read_text(encoding="utf-8").splitlines()
    while lines and lines[0].startswith("#"):
        lines.pop(0)
    return Template("\n".join(lines).strip() + "\n")
