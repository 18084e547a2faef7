"""Tenants are listed and forgotten whole."""

import pytest

from mcp_memory.access.tokens import TokenFile
from mcp_memory.cli import main
from mcp_memory.domain.access import RIGHTS, Grant, Permission


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("MCP_MEMORY_ACCESS_TOKENS", str(tmp_path / "tokens.json"))
    monkeypatch.setenv("MCP_MEMORY_STORAGE_URI", str(tmp_path / "stores" / "{tenant}"))
    for name in ("acme", "bolt"):
        (tmp_path / "stores" / name / "turns.lance").mkdir(parents=True)
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
