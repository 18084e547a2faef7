"""Tenants are listed and forgotten whole."""

import anyio
import pytest
from remembering import remember

from mcp_memory.access.tokens import TokenFile
from mcp_memory.cli import main
from mcp_memory.domain.access import RIGHTS, Grant, Permission


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("MCP_MEMORY_ACCESS_TOKENS", str(tmp_path / "tokens.json"))
    monkeypatch.setenv("MCP_MEMORY_STORAGE_URI", str(tmp_path / "stores" / "{tenant}"))
    for name in ("acme", "bolt"):
        (data := tmp_path / "stores" / name / "turns.lance" / "data").mkdir(parents=True)
        (data / f"{'01' * 12}{'9f' * 13}.lance").write_bytes(b"rows")
        everything = (Permission("*", RIGHTS),)
        TokenFile(tmp_path / "tokens.json").add(Grant(f"agent of {name}", everything, name))
    return tmp_path


def test_a_tenant_is_forgotten_with_its_tokens_and_no_other(place, capsys):
    assert main(["tenant", "list"]) == 0
    assert capsys.readouterr().out.split() == ["acme", "bolt"]
    assert main(["tenant", "forget", "acme"]) == 1
    assert (place / "stores" / "acme").is_dir()
    assert main(["tenant", "forget", "acme", "--yes"]) == 0
    assert [path.name for path in (place / "stores").iterdir()] == ["bolt"]
    assert [one.grant.tenant for one in TokenFile(place / "tokens.json").list()] == ["bolt"]
    assert main(["tenant", "forget", "acme", "--yes"]) == 1


@pytest.mark.parametrize("name", ["..", "../tokens.json", "nobody"])
def test_what_is_no_tenant_is_refused(name, place):
    assert main(["tenant", "forget", name, "--yes"]) == 1
    assert (place / "tokens.json").is_file()


def test_commands_for_one_store_refuse_that_of_many(place, capsys):
    assert main(["status"]) == 2
    assert "Name one of them in place of {tenant}" in capsys.readouterr().err


def test_what_somebody_else_put_among_the_tenants_stays(place, capsys):
    stores = place / "stores"
    (stores / "acme" / "notes.txt").write_text("mine")
    (stores / "photos").mkdir()
    (stores / "photos" / "one.jpg").write_bytes(b"jpg")
    for name in ("acme", "photos"):
        assert main(["tenant", "forget", name, "--yes"]) == 0
        assert "holds what this program did not write; that stays" in capsys.readouterr().out
    assert [path.name for path in (stores / "acme").iterdir()] == ["notes.txt"]
    assert (stores / "photos" / "one.jpg").exists()


def test_a_tenant_that_was_moved_is_forgotten_where_it_is_with_its_backups(place, monkeypatch, capsys):
    stores = place / "stores"
    monkeypatch.setenv("MCP_MEMORY_STORAGE_URI", str(stores / "corp"))
    anyio.run(remember, "My boat is called Curlew.")
    assert main(["doctor", "--rebuild"]) == 0
    assert main(["export", str(place / "out.jsonl")]) == 0
    assert main(["move", str(place / "elsewhere")]) == 0
    assert list((place / "elsewhere").glob("backups/*.backup"))
    monkeypatch.setenv("MCP_MEMORY_STORAGE_URI", str(stores / "{tenant}"))
    capsys.readouterr()
    assert main(["tenant", "forget", "corp", "--yes"]) == 0
    assert f"{place / 'out.jsonl'} was written for a person, and stays" in capsys.readouterr().out
    assert not list((stores / "corp").rglob("*"))
    assert [path for path in (place / "elsewhere").rglob("*") if path.is_file()] == []
