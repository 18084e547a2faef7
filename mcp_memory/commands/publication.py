"""Where the project is published, and what is written from that: install links, registry entry, plugin, marketplace.

`OWNER` is the one setting. After a change of it, or of the version, ``python -m mcp_memory.commands.publication`` in a
checkout writes the files anew, and a test compares them. Links start the server from the repository and not from the
package index, where the name ``mcp-memory`` belongs to somebody else's program.
"""

from __future__ import annotations

import base64
import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urlencode

from mcp_memory import __version__
from mcp_memory.commands.clients import NAME

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


if __name__ == "__main__":
    sys.exit(main())
