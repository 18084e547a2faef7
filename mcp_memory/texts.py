"""Load the texts that ship with the project: prompts for models, and resources for clients.

A wheel has them inside the package, a checkout beside it. ``importlib.resources`` would find neither folder in an
editable install, so it is not used.
"""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from pathlib import Path
from string import Template

_PACKAGE = Path(__file__).resolve().parent


def folder(name: str) -> Path:
    """Return the folder ``prompts`` or ``resources``."""
    packed = _PACKAGE / name
    return packed if packed.is_dir() else _PACKAGE.parent / name


@cache
def resource(name: str) -> str:
    """Return the text of a file in ``resources/``, for example ``guide.md``.

    Raises:
        FileNotFoundError: the installation is broken.
    """
    return (folder("resources") / name).read_text(encoding="utf-8")


@cache
def data_uri(name: str, mime_type: str) -> str:
    """Return a text of ``resources/`` as a URI that holds it."""
    return f"data:{mime_type};base64,{b64encode(resource(name).encode()).decode()}"


@cache
def prompt(name: str) -> Template:
    """Return a prompt of ``prompts/``, for example ``mcp/recall.txt``, as a template with ``$values``.

    Leading lines that begin with ``#`` state the source of the prompt; they are removed.

    Raises:
        FileNotFoundError: the installation is broken.
    """
    lines = (folder("prompts") / name).read_text(encoding="utf-8").splitlines()
    while lines and lines[0].startswith("#"):
        lines.pop(0)
    return Template("\n".join(lines).strip() + "\n")
