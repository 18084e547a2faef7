"""Tokens of the server itself, and the command that makes, lists and revokes them."""

import json

import pytest

from mcp_memory.access.tokens import TokenFile
from mcp_memory.domain.access import OWNER, RIGHTS, Grant, Permission
from mcp_memory.errors import ConfigurationError, InvalidInput

TEAM = Grant("ann", (Permission("team-*", frozenset(("read",))), Permission("ann", RIGHTS)), expires=100.0)


def test_a_grant_allows_what_it_says_by_space():
    assert TEAM.may(("read",), "team-a")
    assert not TEAM.may(("read", "write"), "team-a")
    assert TEAM.may(("read", "write", "forget"), "ann")
    assert not TEAM.may(("read",), "anna")
    assert not TEAM.may(("read",), "team")
    assert TEAM.visible(["ann", "bob", "team-b"]) == ["ann", "team-b"]
    assert (TEAM.meant("default"), TEAM.meant("team-z"), OWNER.meant("default")) == ("ann", "team-z", "default")
    assert OWNER.sees_all
    assert not TEAM.sees_all


def test_a_token_is_known_by_its_digest_until_it_expires_or_is_revoked(tmp_path):
    now = [0.0]
    file, other_process = (TokenFile(tmp_path / "tokens.json", lambda: now[0]) for _ in range(2))
    assert not file.exists()
    made = file.add(TEAM)
    assert other_process.grant_of(made) == TEAM
    assert other_process.valid(TEAM)
    assert made not in file.path.read_text()
    assert file.path.stat().st_mode & 0o077 == 0
    with pytest.raises(InvalidInput, match="there is a token 'ann' already"):
        file.add(TEAM)
    now[0] = 100.0
    assert file.grant_of(made) is None
    now[0] = 0.0
    file.revoke("ann")
    assert other_process.grant_of(made) is None
    assert not other_process.valid(TEAM)
    assert file.exists()
    with pytest.raises(InvalidInput, match="there is no token 'ann'"):
        file.revoke("ann")


@pytest.mark.parametrize("change", [{"rights": ["all"]}, {"spaces": "../x"}, {"spaces": "a*b"}])
def test_a_file_that_is_none_is_refused_and_not_taken_for_empty(change, tmp_path):
    file = TokenFile(tmp_path / "tokens.json")
    file.add(TEAM)
    content = json.loads(file.path.read_text())
    content["tokens"][0]["permissions"][0] |= change
    file.path.write_text(json.dumps(content))
    for text in (json.dumps(content), "{", "[]"):
        file.path.write_text(text)
        with pytest.raises(ConfigurationError, match=r"access\.tokens"):
            TokenFile(file.path).list()


def test_the_command_makes_lists_and_revokes(run, tmp_path, monkeypatch):
    monkeypatch.setenv("MCP_MEMORY_ACCESS_TOKENS", str(tmp_path / "tokens.json"))
    printed = run("token", "add", "ann", "--space", "ann", "--space", "team-*", "--rights", "read", "--days", "30")
    made, told = (text.strip() for text in printed)
    assert "first token" in told
    grant = TokenFile(tmp_path / "tokens.json").grant_of(made)
    assert [one.spaces for one in grant.permissions] == ["ann", "team-*"]
    shown = run("token", "list").out
    assert shown.startswith("ann | ann (read), team-* (read) | made ")
    assert made not in shown
    for wrong in (["--space", "a b"], ["--space", "a", "--rights", "all"], ["--space", "a", "--rights", "write"]):
        run("token", "add", "bob", *wrong, code=1)
    assert "first token" not in run("token", "add", "bob", "--space", "bob").err
    run("token", "revoke", "ann")
    assert TokenFile(tmp_path / "tokens.json").grant_of(made) is None
