"""``mcp-memory bundle``: the file is whole and the same each time, and what it holds starts as a host starts it."""

import json
import os
import sys
import tomllib
import zipfile
from hashlib import sha256

import anyio
import pytest
from start_bundle import answer_of, parameters_of

from mcp_memory.cli import main


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("bundle")
    assert main(["bundle", str(made / "one.mcpb")]) == 0
    with zipfile.ZipFile(made / "one.mcpb") as archive:
        archive.extractall(made / "one")
    return made


def test_a_bundle_holds_the_package_and_names_its_dependencies(folder, capsys):
    assert main(["bundle", str(folder / "two.mcpb")]) == 0
    assert (folder / "two.mcpb").read_bytes() == (folder / "one.mcpb").read_bytes()
    assert f"sha256 {sha256((folder / 'one.mcpb').read_bytes()).hexdigest()}" in capsys.readouterr().out
    files = {path.relative_to(folder / "one").as_posix() for path in (folder / "one").rglob("*") if path.is_file()}
    assert {"manifest.json", "icon.png", "server/main.py", "server/mcp_memory/resources/guide.md"} <= files
    assert not [name for name in files if "__pycache__" in name or name.endswith((".pyc", ".part"))]
    project = tomllib.loads((folder / "one" / "pyproject.toml").read_text())
    assert any(line.startswith("lancedb") for line in project["project"]["dependencies"])
    assert not any("extra" in line for line in project["project"]["dependencies"])
    assert (folder / "one.mcpb").stat().st_size < 45_000_000


def test_a_key_is_sensitive_and_nothing_is_required(folder):
    settings = json.loads((folder / "one" / "manifest.json").read_text())["user_config"]
    assert settings["key"]["sensitive"] is True
    assert all(one["default"] == "" and not one["required"] for one in settings.values())


@pytest.mark.parametrize("given", ["", None], ids=["empty", "placeholders left as they are"])
def test_what_is_extracted_starts_and_answers_where_the_person_set_nothing(folder, tmp_path, given):
    parameters = parameters_of(folder / "one", sys.executable, tmp_path, given)
    assert (folder / "one" / parameters.args[0]).is_file()
    answer, status = anyio.run(answer_of, parameters)
    assert answer["answer"] == "Porto"
    assert answer["engine"] == "embedded"
    assert status["space"] == "default"
    assert status["storage"]["uri"].startswith(str(tmp_path))


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pipes in folders")
def test_a_pipe_is_no_file_to_write_or_to_read(tmp_path, capsys):
    os.mkfifo(tmp_path / "pipe")
    for command in ("export", "import", "backup", "restore", "bundle", "move"):
        with pytest.raises(SystemExit):
            main([command, str(tmp_path / "pipe")])
        assert "is a device, a pipe or a socket; name a file" in capsys.readouterr().err


def test_an_archive_that_needs_a_password_is_no_bundle(tmp_path):
    mine = tmp_path / "thesis.mcpb"
    with zipfile.ZipFile(mine, "w") as archive:
        archive.writestr("manifest.json", "{}")
    content = bytearray(mine.read_bytes())
    content[6] |= 1  # encrypted
    content[content.index(b"PK\x01\x02") + 8] |= 1
    mine.write_bytes(content)
    assert main(["bundle", str(mine)]) == 1
    assert mine.read_bytes() == content


def test_a_file_that_is_no_bundle_is_written_over_only_where_somebody_says_so(tmp_path, capsys, monkeypatch):
    mine = tmp_path / "thesis.mcpb"
    mine.write_text("my thesis")
    assert main(["bundle", str(mine)]) == 1
    assert "exists and is no bundle. Name another one" in capsys.readouterr().err
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    for answer, code in (("n", 1), ("", 1), ("y", 0)):
        assert mine.read_text() == "my thesis"
        monkeypatch.setattr("builtins.input", lambda _question, answer=answer: answer)
        assert main(["bundle", str(mine)]) == code
    assert main(["bundle", str(tmp_path)]) == 1
    assert main(["bundle", str(mine)]) == 0  # it is a bundle now
