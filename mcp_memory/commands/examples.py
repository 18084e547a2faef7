"""What ``mcp-memory COMMAND --help`` shows below the options: examples, and what the exit codes mean."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Mapping
from typing import Any, Final

EXIT_CODES: Final = "exit codes: 0 success, 1 a problem was found, 2 wrong usage or settings, 130 interrupted"
WIDTH: Final = 78
"""Characters of a line of a description."""
PROGRAM: Final = """\
  mcp-memory install claude-desktop       put the server into a client
  mcp-memory check claude-desktop         start it as that client does, and see that it remembers
  mcp-memory status                       what is stored, where, and whether it is well
  mcp-memory search "Where does Ines live?"
  mcp-memory import chatgpt-export.zip --dry-run"""
COMMANDS: Final[Mapping[str, str]] = {
    "serve": """\
  mcp-memory serve
  MCP_MEMORY_SPACE=work mcp-memory serve""",
    "demo": "  mcp-memory demo",
    "status": """\
  mcp-memory status
  MCP_MEMORY_STORAGE_URI=/mnt/memory mcp-memory status""",
    "install": """\
  mcp-memory install claude-desktop
  mcp-memory install cursor --space workspace --dry-run
  mcp-memory install codex --uninstall""",
    "check": """\
  mcp-memory check
  mcp-memory check claude-desktop""",
    "bundle": """\
  mcp-memory bundle
  mcp-memory bundle out.mcpb --server-json server.json""",
    "completion": """\
  mcp-memory completion bash > ~/.local/share/bash-completion/completions/mcp-memory
  mcp-memory completion fish > ~/.config/fish/completions/mcp-memory.fish""",
    "show": """\
  mcp-memory show                         all spaces
  mcp-memory show Ines                    what is known of somebody, with its timeline
  mcp-memory show --space work --json""",
    "search": """\
  mcp-memory search "Where does Ines live?"
  mcp-memory search "octopus feeding" --space work --limit 5""",
    "list": """\
  mcp-memory list facts
  mcp-memory list sessions --space work --limit 10""",
    "export": """\
  mcp-memory export memory.jsonl
  mcp-memory export notes --markdown --space work
  mcp-memory export memory.html --html    a page that draws the default space""",
    "view": """\
  mcp-memory view                         the default space in the browser
  mcp-memory view --entity Ines --no-browser""",
    "import": """\
  mcp-memory import chatgpt-export.zip --dry-run
  mcp-memory import memory.jsonl --map work=archive""",
    "ingest": """\
  mcp-memory ingest corpus.csv --space archive
  mcp-memory ingest notes --from text --processes 8""",
    "backup": "  mcp-memory backup memory.backup",
    "restore": """\
  mcp-memory restore memory.backup
  mcp-memory restore memory.backup --replace""",
    "move": "  mcp-memory move /mnt/memory",
    "forget": """\
  mcp-memory forget --session letters             say what would go, and a token
  mcp-memory forget --session letters --token 3f9c2a1b
  mcp-memory forget m42 --yes""",
    "token": """\
  mcp-memory token add ann --space ann
  mcp-memory token list
  mcp-memory token revoke ann""",
    "tenant": """\
  mcp-memory tenant list
  mcp-memory tenant forget acme""",
    "doctor": """\
  mcp-memory doctor
  mcp-memory doctor --rebuild""",
    "bench": """\
  mcp-memory bench --only recall --json figures.json
  mcp-memory bench --learning data/NAME --plot curve.svg""",
    "eval": """\
  mcp-memory eval locomo10.json --questions 200 --json before.json
  mcp-memory eval locomo10.json --questions 200 --switch words=false --against before.json
  mcp-memory eval data/NAME --store kept --plot recall.svg""",
}
"""The examples of each command. Each line is a command; what follows several spaces is a remark."""


def add_examples(parser: argparse.ArgumentParser, commands: Any) -> None:
    """Add examples and exit codes to the help of the program and of each of its commands."""
    shown = {parser: PROGRAM, **{commands.choices[name]: text for name, text in COMMANDS.items()}}
    for one, examples in shown.items():
        one.formatter_class = argparse.RawDescriptionHelpFormatter
        one.description = textwrap.fill(one.description, WIDTH) if one.description else None
        one.epilog = f"examples:\n{examples}\n\n{EXIT_CODES}"
