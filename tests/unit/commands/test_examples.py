"""The help of every command has examples that the command line takes, and the exit codes."""

import re
import shlex

import pytest

from mcp_memory.cli import build_parser
from mcp_memory.commands.examples import COMMANDS, EXIT_CODES, PROGRAM


def commands():
    (action,) = (one for one in build_parser()._actions if hasattr(one, "choices") and isinstance(one.choices, dict))
    return action.choices


def test_every_command_has_examples_and_every_help_the_exit_codes():
    assert commands().keys() == COMMANDS.keys()
    for name, parser in commands().items():
        shown = parser.format_help()
        assert f"mcp-memory {name}" in shown.split("examples:")[1]
        assert EXIT_CODES in shown
    assert EXIT_CODES in build_parser().format_help()


@pytest.mark.parametrize("line", [line for text in (PROGRAM, *COMMANDS.values()) for line in text.splitlines()])
def test_an_example_is_a_command_that_can_be_typed(line):
    command = re.split(r" {2,}(?=[a-z])|\s>\s", line.strip())[0]
    words = shlex.split(re.sub(r"^\w+=\S+ ", "", command))
    assert words[0] == "mcp-memory"
    assert build_parser().parse_args(words[1:]).command == words[1]
