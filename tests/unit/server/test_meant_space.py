"""Which space a call means that names none: the setting, the client's folder, the folder of the process."""

from pathlib import Path
from types import SimpleNamespace

import anyio
import pytest

from mcp_memory.domain.access import SPACE_NAME
from mcp_memory.errors import ConfigurationError
from mcp_memory.server.opening import MeantSpace, configured_space, space_of_folder


class Session:
    """The part of the SDK's session that is asked."""

    def __init__(self, *uris, roots=True, fails=False):
        self.client_params = SimpleNamespace(capabilities=SimpleNamespace(roots=object() if roots else None))
        self.asked, self.begun = 0, anyio.Event()
        self._uris, self._fails = uris, fails

    async def list_roots(self):
        self.asked += 1
        self.begun.set()
        await anyio.sleep(0.01)
        if self._fails:
            raise RuntimeError("no back channel")
        return SimpleNamespace(roots=[SimpleNamespace(uri=uri) for uri in self._uris])


def folder(tmp_path, *parts):
    path = tmp_path.joinpath(*parts)
    path.mkdir(parents=True)
    return path


@pytest.mark.parametrize("name", ["größe und maß", "-dash", ".hidden", "x" * 200, "日本", "a:b?c", "@scope", "..."])
def test_every_folder_has_a_name_that_a_space_may_have(tmp_path, name):
    assert SPACE_NAME.fullmatch(space_of_folder(folder(tmp_path, name)))


def test_a_workspace_is_the_top_of_the_repository_that_holds_the_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    project = folder(tmp_path, "boats")
    inside, module, tree = (folder(project, name) for name in ("hull/planks", "vendor/sails", "trees/old"))
    alone = space_of_folder(inside)
    folder(project, ".git")
    assert space_of_folder(inside) == alone  # no repository yet
    (project / ".git" / "HEAD").write_text("ref: refs/heads/main")
    assert space_of_folder(inside) == space_of_folder(project) != alone
    assert space_of_folder(project).startswith("boats-")
    for place in (module, tree):
        (place / ".git").write_text("gitdir: elsewhere")
        assert space_of_folder(folder(place, "deep")) == space_of_folder(place) != space_of_folder(project)


def test_a_home_folder_that_is_a_repository_makes_no_project_of_what_is_in_it(tmp_path, monkeypatch):
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    folder(tmp_path, ".git")
    (tmp_path / ".git" / "HEAD").touch()
    assert space_of_folder(tmp_path) == "default"
    assert space_of_folder(folder(tmp_path, "a")) != space_of_folder(folder(tmp_path, "b"))


def test_a_setting_that_is_no_name_is_refused():
    assert configured_space("work") == "work"
    with pytest.raises(ConfigurationError, match="MCP_MEMORY_SPACE"):
        configured_space("not a name")


async def test_a_client_that_names_its_folder_is_asked_once(tmp_path, monkeypatch):
    monkeypatch.chdir(folder(tmp_path, "started"))
    project = folder(tmp_path, "my project")
    session, meant = Session("https://elsewhere/x", project.as_uri()), MeantSpace("workspace")
    assert await meant.get(session) == space_of_folder(project)
    assert await meant.get(session) == space_of_folder(project)
    assert session.asked == 1


async def test_a_call_that_comes_while_the_client_is_asked_means_the_folder_that_it_names(tmp_path, monkeypatch):
    monkeypatch.chdir(folder(tmp_path, "started"))
    project = folder(tmp_path, "my project")
    session, meant, spaces = Session(project.as_uri()), MeantSpace("workspace"), []

    async def call():
        spaces.append(await meant.get(session))

    async with anyio.create_task_group() as calls:
        calls.start_soon(call)
        await session.begun.wait()
        calls.start_soon(call)
    assert (spaces, session.asked) == ([space_of_folder(project)] * 2, 1)


async def test_a_client_is_asked_again_if_the_call_that_asked_was_cancelled(tmp_path, monkeypatch):
    monkeypatch.chdir(folder(tmp_path, "started"))
    project = folder(tmp_path, "my project")
    session, meant = Session(project.as_uri()), MeantSpace("workspace")
    async with anyio.create_task_group() as call:
        call.start_soon(meant.get, session)
        await session.begun.wait()
        call.cancel_scope.cancel()
    assert await meant.get(session) == space_of_folder(project)


@pytest.mark.parametrize(
    "session", [Session(), Session(roots=False), Session(fails=True), SimpleNamespace(client_params=None)]
)
async def test_without_a_named_folder_it_is_that_of_the_process(tmp_path, monkeypatch, session):
    started = folder(tmp_path, "started")
    monkeypatch.chdir(started)
    assert await MeantSpace("workspace").get(session) == space_of_folder(started)
