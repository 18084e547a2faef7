"""``mcp-memory bundle``: an ``.mcpb`` file, which Claude Desktop and other hosts install by a double click.

It holds the package itself and the names of its dependencies; the host's uv installs those at the first start
(manifest 0.4, server type ``uv``), since a bundle cannot carry compiled libraries for every system. It is the same to
the byte for the same files.

What the person leaves empty arrives as an empty variable or as the placeholder itself; the settings take both as not
given (`mcp_memory.settings.is_unset`).
"""

from __future__ import annotations

import argparse
import json
import zipfile
from collections.abc import Iterator
from hashlib import sha256
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from mcp_memory import __version__
from mcp_memory.commands.terminal import Terminal, confirmed
from mcp_memory.errors import InvalidInput
from mcp_memory.files import whole_file
from mcp_memory.texts import folder

PROJECT: Final = "mcp-memory"
TITLE: Final = "MCP Memory"
DESCRIPTION: Final = "Long-term memory with times, evidence and citations. Works offline, without a key."
LICENCE: Final = "Apache-2.0"
ENTRY_POINT: Final = "server/main.py"
_MANIFEST_SCHEMA: Final = "https://static.modelcontextprotocol.io/schemas/mcpb/mcpb-manifest-v0.4.schema.json"
_PYTHON: Final = ">=3.11"
_MOMENT: Final = (2026, 1, 1, 0, 0, 0)
"""Of every file in the bundle: the hash depends on nothing but the content."""
_MAIN: Final = '''\
"""Where the host starts the server; the package lies beside this file."""

import sys

from mcp_memory.cli import main

if __name__ == "__main__":
    sys.exit(main(["serve"]))
'''
_USER_CONFIG: Final[dict[str, dict[str, Any]]] = {
    "folder": {
        "type": "directory",
        "title": "Folder of the memory",
        "description": "Empty: the user's data folder, which other clients on this machine share.",
    },
    "space": {
        "type": "string",
        "title": "Space",
        "description": "Where calls go that name no space. Empty: default.",
    },
    "judge": {
        "type": "string",
        "title": "Who judges",
        "description": "Empty or embedded: nothing leaves this machine. auto: Claude judges, with the key below.",
    },
    "key": {
        "type": "string",
        "title": "Anthropic API key",
        "description": "Used only where Claude judges.",
        "sensitive": True,
    },
}
"""None is required, and each has an empty default: without one, hosts pass the placeholder on."""


def bundle(options: argparse.Namespace, terminal: Terminal) -> int:
    """Write the bundle; return 0.

    Raises:
        InvalidInput: a file cannot be written, or this is no installed package.
    """
    target: Path = options.file.expanduser().resolve()  # a link leads to the file that is written
    if target.is_dir() or (
        target.exists() and not _is_bundle(target) and not confirmed(f"{target} is no bundle. Write over it?")
    ):
        problem = f"{target} is a folder" if target.is_dir() else f"{target} exists and is no bundle"
        raise InvalidInput("FILE", problem, "Name another one, or move it away.")
    try:
        hashed = write_bundle(target)
        terminal.line(f"{target}: {target.stat().st_size / 1e6:.1f} MB, sha256 {hashed}")
    except OSError as error:
        raise InvalidInput(str(error.filename or target), f"cannot be written ({error.strerror})", "") from None
    terminal.line("Open it with Claude Desktop to install it. Its first start fetches 700 MB of libraries.")
    return 0


def write_bundle(target: Path) -> str:
    """Write the bundle to a file, whole or not at all; return its sha256 in hexadecimal digits.

    Raises:
        InvalidInput: the package is not installed, so that its dependencies are not known.
        OSError: the file cannot be written.
    """
    with whole_file(target, 0o666) as out, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in sorted(_contents()):
            entry = zipfile.ZipInfo(name, _MOMENT)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # the same on every system
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, content)
    return sha256(target.read_bytes()).hexdigest()


def _is_bundle(file: Path) -> bool:
    """Return whether a file is a bundle of this program."""
    try:
        with zipfile.ZipFile(file) as archive:
            return bool(json.loads(archive.read("manifest.json"))["name"] == PROJECT)
    except (OSError, zipfile.BadZipFile, RuntimeError, ValueError, KeyError, TypeError):  # RuntimeError: encrypted
        return False


def manifest() -> dict[str, Any]:
    """Return what a host reads first."""
    from mcp_memory.server.tools.catalogue import TOOLS

    return {
        "$schema": _MANIFEST_SCHEMA,
        "manifest_version": "0.4",
        "name": PROJECT,
        "display_name": TITLE,
        "version": __version__,
        "description": DESCRIPTION,
        "author": {"name": "The authors of mcp-memory"},
        "icon": "icon.png",
        "license": LICENCE,
        "keywords": ["memory", "knowledge-graph", "offline"],
        "server": {
            "type": "uv",
            "entry_point": ENTRY_POINT,
            "mcp_config": {
                "command": "uv",
                "args": ["run", "--directory", "${__dirname}", ENTRY_POINT],
                "env": {
                    "MCP_MEMORY_STORAGE_URI": "${user_config.folder}",
                    "MCP_MEMORY_SPACE": "${user_config.space}",
                    "MCP_MEMORY_ENGINE_JUDGE": "${user_config.judge}",
                    "ANTHROPIC_API_KEY": "${user_config.key}",
                },
            },
        },
        "tools": [{"name": name, "description": tool.title} for name, tool in TOOLS.items()],
        "prompts_generated": True,
        "user_config": {name: {**one, "required": False, "default": ""} for name, one in _USER_CONFIG.items()},
        "compatibility": {"platforms": ["darwin", "linux", "win32"], "runtimes": {"python": _PYTHON}},
    }


def _contents() -> Iterator[tuple[str, bytes]]:
    """Yield the path and the content of every file of the bundle."""
    yield "manifest.json", json.dumps(manifest(), indent=2).encode() + b"\n"
    yield "pyproject.toml", _project().encode()
    yield "icon.png", (folder("resources") / "icon.png").read_bytes()
    yield ENTRY_POINT, _MAIN.encode()
    package = Path(__file__).parents[1]
    places = {"mcp_memory": package, **{f"mcp_memory/{name}": folder(name) for name in ("prompts", "resources")}}
    found = {
        f"server/{inside}/{path.relative_to(place).as_posix()}": path
        for inside, place in places.items()
        for path in place.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    for name, path in found.items():
        yield name, path.read_bytes()


def _project() -> str:
    """Return the ``pyproject.toml`` from which uv makes the environment."""
    try:
        required = metadata.requires(PROJECT) or []
    except metadata.PackageNotFoundError:
        problem = "is not installed as a package, so its dependencies are not known"
        raise InvalidInput(PROJECT, problem, "Install it: python -m pip install .") from None
    needed = sorted(line for line in required if "extra ==" not in line)
    rows = "".join(f"  {json.dumps(line)},\n" for line in needed)
    return (
        f'[project]\nname = "{PROJECT}-bundle"\nversion = "{__version__}"\nrequires-python = "{_PYTHON}"\n'
        f"dependencies = [\n{rows}]\n\n[tool.uv]\npackage = false\n"
    )
