"""Where the project is published, and what is written from that: install links, registry entry, plugin, marketplace.

`OWNER` is the one setting. After a change of it, or of the version, ``python -m mcp_memory.commands.publication`` in a
checkout writes the files again, and a test compares them. Links start the server from the repository and not from the
package index, where the name ``mcp-memory`` belongs to somebody else's program.

**The bundle** (``mcp-memory bundle``) is an ``.mcpb`` file, which Claude Desktop and other hosts install by a double
click. It holds the package itself and the names of its dependencies; the host's uv installs those at the first start
(manifest 0.4, server type ``uv``), since a bundle cannot carry compiled libraries for every system. It is the same to
the byte for the same files, so that the registry's hash can be made again.

What the person leaves empty arrives as an empty variable or as the placeholder itself; the settings take both as not
given (`mcp_memory.settings.is_unset`).
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import re
import sys
import zipfile
from collections.abc import Iterator, Mapping
from hashlib import sha256
from importlib import metadata
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urlencode

from mcp_memory import __version__
from mcp_memory.commands.clients import NAME
from mcp_memory.commands.terminal import Terminal
from mcp_memory.errors import InvalidInput
from mcp_memory.texts import folder

OWNER: Final = "OWNER"
"""The account or organisation on GitHub that publishes the project."""
PROJECT: Final = "mcp-memory"
TITLE: Final = "MCP Memory"
REPOSITORY: Final = f"https://github.com/{OWNER}/{PROJECT}"
SERVER_NAME: Final = f"io.github.{OWNER}/{PROJECT}"
"""The name in the registry of servers; README has it in a line ``mcp-name: …``, as the registry demands."""
DESCRIPTION: Final = "Long-term memory with times, evidence and citations. Works offline, without a key."
"""At most 100 characters, as the registry demands."""
LICENCE: Final = "Apache-2.0"
START: Final[Mapping[str, Any]] = {"command": "uvx", "args": ["--from", f"git+{REPOSITORY}", PROJECT]}
"""How a client starts the server where nothing is installed but uv."""
_SCHEMA: Final = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
_BLOCK: Final = re.compile(r"(<!-- install links.*?-->\n).*?(\n<!-- end -->)", re.DOTALL)


def install_links() -> dict[str, str]:
    """Return an https link for each client that installs a server from one."""
    compact = json.dumps(START, separators=(",", ":"))
    encoded = base64.b64encode(compact.encode()).decode()
    goose = [("cmd", START["command"]), *(("arg", argument) for argument in START["args"])]
    goose += [("id", PROJECT), ("name", TITLE), ("description", DESCRIPTION)]
    return {
        "Cursor": f"https://cursor.com/en/install-mcp?name={NAME}&config={quote(encoded, safe='')}",
        "VS Code": f"https://insiders.vscode.dev/redirect/mcp/install?name={NAME}&config={quote(compact, safe='')}",
        "Goose": f"https://block.github.io/goose/extension?{urlencode(goose, quote_via=quote)}",
    }


def registry_entry(bundle_sha256: str) -> dict[str, Any]:
    """Return ``server.json``, which says to the registry of servers where the bundle of this version lies.

    Args:
        bundle_sha256: of the bundle, 64 hexadecimal digits.
    """
    return {
        "$schema": _SCHEMA,
        "name": SERVER_NAME,
        "title": TITLE,
        "description": DESCRIPTION,
        "version": __version__,
        "repository": {"url": REPOSITORY, "source": "github"},
        "packages": [
            {
                "registryType": "mcpb",
                "identifier": f"{REPOSITORY}/releases/download/v{__version__}/{PROJECT}.mcpb",
                "version": __version__,
                "fileSha256": bundle_sha256,
                "transport": {"type": "stdio"},
            }
        ],
    }


def written_files(readme: str) -> dict[str, str]:
    """Return the text of each file of the repository that is written from `OWNER` and the version, by its path.

    Args:
        readme: its text; the links and the line for the registry in it are replaced.

    Raises:
        ValueError: the README has no place for them.
    """
    links = " · ".join(f"[{client}]({link})" for client, link in install_links().items())
    readme, found = _BLOCK.subn(lambda block: f"{block[1]}{links}{block[2]}", readme)
    readme, named = re.subn(r"(?<=mcp-name: )\S+", SERVER_NAME, readme)
    if found != 1 or named != 1:
        raise ValueError("README.md has to have the lines <!-- install links … -->, <!-- end --> and mcp-name: once")
    about = {"name": PROJECT, "description": DESCRIPTION, "version": __version__}
    plugin = {**about, "author": {"name": OWNER}, "homepage": REPOSITORY, "license": LICENCE}
    marketplace = {
        "name": PROJECT,
        "owner": {"name": OWNER},
        "metadata": {"description": DESCRIPTION, "version": __version__},
        "plugins": [{**about, "source": "./packaging/plugin"}],
    }
    return {
        "README.md": readme,
        "packaging/plugin/.claude-plugin/plugin.json": json.dumps(plugin, indent=2) + "\n",
        ".claude-plugin/marketplace.json": json.dumps(marketplace, indent=2) + "\n",
    }


def main() -> int:
    """Write the files of the checkout that this file lies in; return 0."""
    root = Path(__file__).parents[2]
    for name, text in written_files((root / "README.md").read_text(encoding="utf-8")).items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8", newline="\n")
    return 0


# The bundle

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
    """Write the bundle, and the registry's entry if asked; return 0.

    Raises:
        InvalidInput: a file cannot be written, or this is no installed package.
    """
    target: Path = options.file
    try:
        hashed = write_bundle(target)
        terminal.line(f"{target}: {target.stat().st_size / 1e6:.1f} MB, sha256 {hashed}")
        if options.server_json is not None:
            entry = json.dumps(registry_entry(hashed), indent=2) + "\n"
            options.server_json.write_text(entry, encoding="utf-8", newline="\n")
            terminal.line(f"{options.server_json}: the entry for the registry of servers")
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
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in sorted(_contents()):
                entry = zipfile.ZipInfo(name, _MOMENT)
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.create_system = 3  # the same on every system
                entry.external_attr = 0o100644 << 16
                archive.writestr(entry, content)
        hashed = sha256(part.read_bytes()).hexdigest()
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
    return hashed


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
        "author": {"name": OWNER},
        "repository": {"type": "git", "url": REPOSITORY},
        "documentation": f"{REPOSITORY}#readme",
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


if __name__ == "__main__":
    sys.exit(main())
