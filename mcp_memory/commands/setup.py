"""Run a command that sets the program up: install, check, bundle, completion. None of them reads the settings."""

from __future__ import annotations

import argparse

from mcp_memory.commands.terminal import Terminal


def run_setup(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    """Run the command that the options name; return 0, or 1 if a check found a problem.

    Raises:
        InvalidInput: a client's file cannot be used.
    """
    terminal = Terminal()
    if options.command == "install":
        from mcp_memory.commands.install import install

        install(options, terminal)
        return 0
    if options.command == "check":
        from mcp_memory.commands.check import check

        return check(options, terminal)
    if options.command == "bundle":
        from mcp_memory.commands.bundle import bundle

        return bundle(options, terminal)
    import shtab

    print(shtab.complete(parser, shell=options.shell))
    return 0
