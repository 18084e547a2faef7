"""The example of three replicas: its files name settings, services and paths that exist. It is not started here."""

import re
from pathlib import Path

import pytest
import yaml

from mcp_memory.server.http import check_safe, host_and_port
from mcp_memory.settings import load

FOLDER = Path(__file__).parents[2] / "packaging" / "compose"
COMPOSE = yaml.safe_load((FOLDER / "docker-compose.yml").read_text(encoding="utf-8"))
REPLICAS = [name for name in COMPOSE["services"] if name.startswith("memory-")]


def filled(text):
    return re.sub(r"\$\{(\w+)(?::-([^}]*)|:\?)?\}", lambda found: found[2] or "given", text)


@pytest.mark.parametrize("name", REPLICAS)
def test_each_replica_has_settings_that_load_and_may_listen(name):
    environment = {key: filled(value) for key, value in COMPOSE["services"][name]["environment"].items()}
    settings = load(environment=environment | {"MCP_MEMORY_CONFIG": ""})
    assert settings.http.stateless
    assert settings.storage.uri == "s3://memory/store"
    (command,) = re.findall(r'"--http", "([^"]+)"', (FOLDER / "Dockerfile").read_text(encoding="utf-8"))
    check_safe(settings, host_and_port(command), asks_token=True)


def test_the_proxy_knows_every_replica_and_files_that_are_mounted_exist():
    proxy = (FOLDER / "nginx.conf").read_text(encoding="utf-8")
    assert re.findall(r"server (memory-\d+):8765", proxy) == REPLICAS
    assert proxy.count("{") == proxy.count("}")
    for service in COMPOSE["services"].values():
        for needed in service.get("depends_on", {}):
            assert needed in COMPOSE["services"]
    assert (FOLDER / COMPOSE["services"]["memory-1"]["build"]["context"] / "pyproject.toml").is_file()
