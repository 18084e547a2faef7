"""The bundle: the file is whole and the same each time, and what it holds starts as a host starts it."""

import json
import os
import sys
import tomllib
import zipfile
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import anyio
import pytest
from start_bundle import answer_of, parameters_of

SPEC = spec_from_file_location("bundle", Path(__file__).parents[2] / "packaging" / "bundle.py")
BUNDLE = module_from_spec(SPEC)
SPEC.loader.exec_module(BUNDLE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("bundle")
    BUNDLE.write_bundle(made / "one.mcpb")
    with zipfile.ZipFile(made / "one.mcpb") as archive:
        archive.extractall(made / "one")
    return made


def test_a_bundle_holds_the_package_and_names_its_dependencies(folder):
    BUNDLE.write_bundle(folder / "two.mcpb")
    assert (folder / "two.mcpb").read_bytes() == (folder / "one.mcpb").read_bytes()
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
def test_a_pipe_is_no_file_to_write_or_to_read(tmp_path, run):
    os.mkfifo(tmp_path / "pipe")
    for command in ("export", "import", "backup", "restore"):
        assert "is a device, a pipe or a socket; name a file" in run(command, tmp_path / "pipe", code=2).err
