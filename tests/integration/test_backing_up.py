"""``mcp-memory backup`` and ``restore``: what they say, and what comes back."""

from __future__ import annotations

import shutil
from pathlib import Path

import anyio
import pytest
from store_contents import holding

from mcp_memory.cli import main
from mcp_memory.domain.forgetting import ForgetRequest
from mcp_memory.domain.requests import NewItem, WriteRequest
from mcp_memory.memory import Memory
from mcp_memory.settings import load
from mcp_memory.wiring import new_memory

TEXTS = {"m1": "The Quincefield clinic rang.", "m2": "Tomas waters the ferns.", "m3": "The Oakvessel leaks."}


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "config.toml").touch()
    monkeypatch.setenv("MCP_MEMORY_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("MCP_MEMORY_STORAGE_URI", str(tmp_path / "store"))


async def with_memory(work: object) -> object:
    memory = new_memory(load(None))
    try:
        return await work(memory)  # type: ignore[operator]
    finally:
        await memory.aclose()


async def tell(memory: Memory) -> None:
    items = tuple(NewItem(text, ref=ref, speaker="Ines") for ref, text in TEXTS.items())
    await memory.write(WriteRequest("default", "letters", "message", items))


async def forget_first(memory: Memory) -> None:
    await memory.forget(ForgetRequest("default", ids=("m1",), session="letters", dry_run=False))


async def told(memory: Memory) -> set[str]:
    async with memory.store.reading() as view:
        return {one.ref for one in view.space("default").turns.values()}


def test_a_backup_comes_back_without_what_was_forgotten_unless_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    anyio.run(with_memory, tell)
    file = str(tmp_path / "memory.backup")
    assert main(["backup", file]) == 0
    assert "Backed up 1 commit" in capsys.readouterr().out
    anyio.run(with_memory, forget_first)
    assert main(["restore", file]) == 1
    assert "--replace" in capsys.readouterr().err
    assert main(["restore", file, "--replace"]) == 0
    out = capsys.readouterr().out
    assert "1 text left out" in out
    assert "What was there is in" in out
    assert anyio.run(with_memory, told) == {"m2", "m3"}
    assert holding(tmp_path / "store", ["Quincefield", "Oakvessel"]) == {"Oakvessel"}
    assert main(["restore", file, "--replace"]) == 0  # it is still known what was forgotten
    assert "1 text left out" in capsys.readouterr().out
    assert main(["restore", file, "--replace", "--again"]) == 0
    assert anyio.run(with_memory, told) == {"m1", "m2", "m3"}
    capsys.readouterr()
    assert main(["doctor"]) == 0  # what a repair would need is there
    assert "doctor --repair" not in capsys.readouterr().out


def test_what_was_told_again_after_a_forget_comes_back_with_a_later_backup(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    anyio.run(with_memory, tell)
    anyio.run(with_memory, forget_first)
    anyio.run(with_memory, tell)
    file = str(tmp_path / "memory.backup")
    assert main(["backup", file]) == 0
    assert main(["restore", file, "--replace"]) == 0
    assert "left out" not in capsys.readouterr().out
    assert anyio.run(with_memory, told) == {"m1", "m2", "m3"}


def test_files_and_folders_of_others_are_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["backup", str(tmp_path / "none.backup")]) == 1
    assert "nothing is stored" in capsys.readouterr().err
    anyio.run(with_memory, tell)
    file = tmp_path / "memory.backup"
    assert main(["backup", str(file)]) == 0
    made = file.read_bytes()
    assert main(["backup", str(file)]) == 1
    assert "add --replace" in capsys.readouterr().err
    assert file.read_bytes() == made
    assert main(["backup", str(file), "--replace"]) == 0
    letter = tmp_path / "letter.txt"
    letter.write_text("Dear Ines")
    assert main(["backup", str(letter)]) == 1
    assert main(["restore", str(letter), "--replace"]) == 1
    assert main(["restore", str(tmp_path / "missing"), "--replace"]) == 1
    err = capsys.readouterr().err
    assert "is no backup" in err
    assert "cannot be read" in err
    assert letter.read_text() == "Dear Ines"
    assert anyio.run(with_memory, told) == {"m1", "m2", "m3"}


def test_what_doctor_says_after_the_log_was_damaged_helps(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    anyio.run(with_memory, tell)
    log = min((tmp_path / "store" / "journal").iterdir())
    content = log.read_bytes()
    log.write_bytes(content[:100])
    assert main(["doctor"]) == 1
    said = capsys.readouterr().out.splitlines()[-1]
    assert said.startswith("to do: mcp-memory doctor --repair, which asks before it gives anything up. If it would: ")
    log.write_bytes(content)
    assert main(["doctor", "--rebuild"]) == 0
    assert main(["backup", str(backup := tmp_path / "memory.backup")]) == 0
    for name in ("journal", "log"):
        shutil.rmtree(tmp_path / "store" / name)
    capsys.readouterr()
    assert main(["doctor", "--repair"]) == 1
    said = capsys.readouterr().out.splitlines()[-1]
    assert said.startswith("to do: mcp-memory restore --replace FILE, a backup of yours, or put the damaged files back")
    assert main(["restore", str(backup)]) == 1
    assert "--replace; it is set aside" in capsys.readouterr().err
    assert main(["restore", "--replace", str(backup)]) == 0
    aside = Path(capsys.readouterr().out.splitlines()[-1].removeprefix("What was there is in ").partition(";")[0])
    assert any(aside.glob("segments_*.lance"))
    assert anyio.run(with_memory, told) == set(TEXTS)
    assert main(["doctor"]) == 0


def test_a_restore_takes_away_nothing_but_the_former_memory(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    anyio.run(with_memory, tell)
    store = tmp_path / "store"
    assert main(["backup", str(tmp_path / "memory.backup")]) == 0
    anyio.run(with_memory, forget_first)
    (tmp_path / "memory.backup").rename(store / "memory.backup")  # by hand: the command writes none there
    (photo := next(store.glob("segments_*.lance")) / "photo.jpg").write_text("mine")
    (store / "photos").mkdir()
    (store / "notes").symlink_to(tmp_path / "nowhere")
    assert main(["restore", str(store / "memory.backup"), "--replace"]) == 0
    assert "1 text left out" in capsys.readouterr().out
    assert (store / "memory.backup").is_file()
    assert photo.read_text() == "mine"
    assert (store / "photos").is_dir()
    assert (store / "notes").is_symlink()
    assert anyio.run(with_memory, told) == {"m2", "m3"}
