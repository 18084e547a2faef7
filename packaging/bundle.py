"""Make the bundle: an ``.mcpb`` file, which Claude Desktop and other hosts install by a double click.

python packaging/bundle.py mcp-memory.mcpb

It holds the package itself and the names of its dependencies; the host's uv installs those at the first start
(manifest 0.4, server type ``uv``), since a bundle cannot carry compiled libraries for every system. It is the same to
the byte for the same files.

What the person leaves empty arrives as an empty variable or as the placeholder itself; the settings take both as not
given (`mcp_memory.settings.is_unset`).
"""

from __future__ import annotations

import json
import sys
import zipfile
from collections.abc import Iterator
from hashlib import sha256
from importlib import metadata
from pathlib import Path
from typing import Any, Final

import mcp_memory
from mcp_memory import __version__
from mcp_memory.files import whole_file
from mcp_memory.server.app import DEFINITIONS
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
    "space": {"type": "string", "title": "Space", "description": "Where calls go that name no space. Empty: default."},
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


def write_bundle(target: Path) -> str:
    """Write the bundle to a file, whole or not at all; return its sha256 in hexadecimal digits.

    Raises:
        OSError: the file cannot be written.
        PackageNotFoundError: the package is not installed, so that its dependencies are not known.
    """
    with whole_file(target, 0o666) as out, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in sorted(_contents()):
            entry = zipfile.ZipInfo(name, _MOMENT)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # the same on every system
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, content)
    return sha256(target.read_bytes()).hexdigest()


def manifest() -> dict[str, Any]:
    """Return what a host reads first."""
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
        "tools": [{"name": name, "description": tool.title} for name, tool in DEFINITIONS.items()],
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
    package = Path(mcp_memory.__file__).parent
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
    required = metadata.requires(PROJECT) or []
    needed = sorted(line for line in required if "extra ==" not in line)
    rows = "".join(f"  {json.dumps(line)},\n" for line in needed)
    return (
        f'[project]\nname = "{PROJECT}-bundle"\nversion = "{__version__}"\nrequires-python = "{_PYTHON}"\n'
        f"dependencies = [\n{rows}]\n\n[tool.uv]\npackage = false\n"
    )


if __name__ == "__main__":
    made = Path(sys.argv[1])
    sys.stdout.write(f"{made}: sha256 {write_bundle(made)}, {made.stat().st_size / 1e6:.1f} MB\n")
