"""What commands print: nothing that a terminal obeys, colours only where they are wanted, JSON that is JSON."""

import json

import pytest

from mcp_memory.commands.terminal import Terminal
from mcp_memory.visible import escaped

HOSTILE = "a\x1b[2Jb\x07c\x9bd\u202ee\u2066f\r g\x7f h\u2028i\U000e0041j\ud800k\x00"


def test_control_characters_become_escapes():
    text = escaped(HOSTILE)
    assert text == (r"a\x1b[2Jb\x07c\x9bd\u202ee\u2066f\r g\x7f h\u2028i\U000e0041j\ud800k\x00")
    assert text.isprintable()


def test_words_emoji_and_line_feeds_stay_and_tabs_become_spaces():
    assert escaped("Zoë 👩\u200d🔬 میخواهم\nnext\tone") == "Zoë 👩\u200d🔬 میخواهم\nnext    one"


def test_colours_are_printed_only_if_they_are_on_and_stored_text_adds_none(capsys):
    Terminal(colours=True).line(("Ines\x1b[31m", "bold"), "plain", "")
    Terminal(colours=False).line(("Ines\x1b[31m", "bold"), "plain", "")
    assert capsys.readouterr().out == "\x1b[1mInes\\x1b[31m\x1b[0m plain\nInes\\x1b[31m plain\n"


@pytest.mark.parametrize(
    ("terminal", "variables", "coloured"),
    [
        (True, {}, True),
        (True, {"NO_COLOR": "1"}, False),
        (True, {"NO_COLOR": ""}, True),
        (True, {"TERM": "dumb"}, False),
        (False, {}, False),
    ],
)
def test_colours_need_a_terminal_and_respect_no_color(monkeypatch, terminal, variables, coloured):
    for name in ("NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.stdout.isatty", lambda: terminal)
    assert (Terminal().paint("x", "bold") != "x") == coloured


def test_json_holds_the_text_and_no_control_characters(capsys):
    Terminal().json({"text": HOSTILE, "name": "Zoë"})
    printed = capsys.readouterr().out
    assert all(line.isprintable() for line in printed.splitlines())
    assert json.loads(printed) == {"text": HOSTILE, "name": "Zoë"}
