"""``mcp-memory import`` of an export of another program: what it says, exit codes, a dry run, the bar on a terminal."""

import sys

import pytest
from foreign_files import chatgpt_chat, write_json

from mcp_memory.commands.arguments import KINDS
from mcp_memory.commands.terminal import ProgressBar
from mcp_memory.services.transfer.kinds import READERS

pytestmark = pytest.mark.usefixtures("here")


def test_every_kind_that_the_command_offers_has_a_reader():
    assert set(KINDS) == set(READERS)


def test_a_chatgpt_export_is_counted_stored_and_stored_once(tmp_path, run):
    chats = [chatgpt_chat(0), 7, chatgpt_chat(1)]
    file = str(write_json(tmp_path / "conversations.json", chats))
    said = run("import", file, "--dry-run")
    assert said.out.splitlines() == [
        f"{file} (chatgpt) holds 6 messages, 2 documents in 2 sessions.",
        "1 bad record skipped.",
        "Not read: 2 messages of tools, thoughts, or hidden.",
        "Not read: 4 messages on branches that were abandoned.",
        "Nothing was stored; without --dry-run it goes into space 'default', as far as it is new there.",
    ]
    assert said.err == "skipped: conversations.json, record 2 (line 1) is no JSON object\n"
    assert "Stored 6 messages, 2 documents in space 'chats'." in run("import", file, "--space", "chats").out
    assert run("import", file, "--space", "chats").out.splitlines()[-1] == "Nothing of it is new: nothing was stored."
    assert "I moved to Porto in March, note 1 0." in run("show", "chatgpt:chat-1", "--space", "chats").out


def test_a_secret_in_an_import_is_masked(tmp_path, run):
    chat = chatgpt_chat(0)
    key = "AKIA" + "IOSFODNN7" + "ABCDEFG"
    chat["mapping"]["c0-u0"]["message"]["content"]["parts"] = [f"My key is {key}."]
    file = str(write_json(tmp_path / "conversations.json", [chat]))
    assert "Secrets in 1 text (the first: chatgpt:c0-u0) are masked" in run("import", file).out
    shown = run("show", "chatgpt:chat-0").out
    assert "My key is " in shown
    assert key not in shown
    assert run("import", file).out.splitlines()[-1] == "Nothing of it is new: nothing was stored."


def test_what_cannot_be_imported_is_said_with_a_remedy(tmp_path, run):
    assert run("import", tmp_path / "missing.json", code=1).err.startswith(
        f"mcp-memory import: {tmp_path / 'missing.json'} cannot be read"
    )
    file = str(write_json(tmp_path / "conversations.json", [chatgpt_chat()]))
    assert "nothing in it can be imported; 1 bad records" in run("import", file, "--from", "mem0", code=1).err


def test_notes_of_two_folders_lie_side_by_side_and_what_takes_a_place_or_is_not_read_is_said(run, tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    for folder, text in ((one, "Bread needs salt."), (two, "The pump leaks.")):
        folder.mkdir()
        (folder / "a.md").write_text(text, "utf-8")
        run("import", folder)
    assert "Bread needs salt." in run("show", "notes:one").out
    assert "The pump leaks." in run("show", "notes:two").out
    (one / "a.md").write_text("Bread needs yeast.", "utf-8")
    (one / "b.md").write_text("---\ndate: 05/06/2024\n---\nSold.", "utf-8")
    for options in (["--dry-run"], []):
        said = run("import", one, *options).out
        assert "New text for 1 document that had another one (the first: notes:one/a.md)." in said
        assert "1 date in front matter that cannot be read; the file's own counts (the first: b.md)." in said
    alone = run("import", one / "a.md").out  # a file alone is that of its folder
    assert alone.splitlines()[-1] == "Nothing of it is new: nothing was stored."


def test_a_dry_run_tells_what_stays_away_since_it_was_forgotten(run, tmp_path):
    (tmp_path / "a.md").write_text("Bread needs salt.", "utf-8")
    run("import", tmp_path / "a.md")
    run("forget", f"notes:{tmp_path.name}/a.md", "--yes")
    for options in (["--dry-run"], []):
        said = run("import", tmp_path / "a.md", *options).out
        assert "1 item left out, forgotten in this space before; --space names another." in said


async def test_the_bar_is_drawn_on_a_terminal_only(monkeypatch, capsys):
    with ProgressBar() as bar:
        await bar.show(1, 2, "importing")
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with ProgressBar("items") as bar:
        bar._last -= 1
        await bar.show(1, 2, "importing")
    assert capsys.readouterr().err == f"\rimporting [{'#' * 12}{'-' * 12}] 1 of 2 items\n"
