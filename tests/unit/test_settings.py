"""Settings come from one file and the environment; an error states the place and the allowed values."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from mcp_memory.configurable import Switches
from mcp_memory.errors import ConfigurationError
from mcp_memory.settings import SECTIONS, Settings, load
from mcp_memory.wiring import place_of


def file(tmp_path, text):
    path = tmp_path / "config.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_example_file_is_up_to_date_and_holds_every_default():
    root = Path(__file__).parents[2]
    generator = root / "packaging" / "example_config.py"
    made = subprocess.run([sys.executable, str(generator)], capture_output=True, text=True, check=True).stdout
    example = root / "config.example.toml"
    assert example.read_text(encoding="utf-8") == made, f"run: python {generator} > {example}"
    assert replace(load(example, {}), storage=Settings().storage) == Settings()


def test_a_switch_and_the_space_can_be_set_by_a_variable():
    environment = {f"MCP_MEMORY_SWITCHES_{name}": "no" for name in ("LOOP", "POINTS", "REFLECTION", "LEARNING")}
    found = load(None, environment | {"MCP_MEMORY_SPACE": "work"})
    assert found.switches == Switches(loop=False, points=False, reflection=False, learning=False)
    assert found.server.space == "work"


def test_a_file_changes_what_it_names_and_nothing_else(tmp_path):
    config = load(file(tmp_path, "[engine]\ntimeout_s = 3\nday_tokens = 0\n[switches]\nwords = false\n"), {})
    assert (config.engine.timeout_s, config.engine.day_tokens) == (3.0, 0)  # where it has a meaning, 0 is allowed
    assert not config.switches.words
    assert config.limits == Settings().limits


def test_the_environment_overrides_the_file(tmp_path):
    path = file(tmp_path, "[limits]\nitems = 7\n")
    environment = {"MCP_MEMORY_CONFIG": str(path), "MCP_MEMORY_LIMITS_ITEMS": "9", "MCP_MEMORY_SWITCHES_WORDS": "no"}
    config = load(None, environment)
    assert config.limits.items == 9
    assert not config.switches.words


@pytest.mark.parametrize("text", ["", "  ", "${user_config.place}", "${HOME_OF_MEMORY}"])
def test_a_variable_that_is_empty_or_a_placeholder_counts_as_not_set(tmp_path, text):
    named = str(file(tmp_path, "[limits]\nitems = 7\n"))
    names = ("LIMITS_ITEMS", "STORAGE_URI", "ENGINE_JUDGE", "SWITCHES_WORDS", "SPACE", "NO_SUCH_SETTING")
    environment = {f"MCP_MEMORY_{name}": text for name in names}
    config = load(None, {"MCP_MEMORY_CONFIG": named} | environment)
    assert config == load(None, {"MCP_MEMORY_CONFIG": named})
    assert config.limits.items == 7
    assert load(None, {"MCP_MEMORY_CONFIG": text} | environment) == load(None, {})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[storage]\nurl = 'x'\n", ["storage.url", "unknown key", "'storage.uri'", "config.toml"]),
        ("[store]\nuri = 'x'\n", ["[store]", "unknown section", "'storage'"]),
        ("storage = 'x'\n", ["storage must be a section"]),
        ("[limits]\nitems = 'many'\n", ["limits.items", "'many'", "a whole number"]),
        ("[limits]\nitems = true\n", ["limits.items", "a whole number"]),
        ("[limits]\nitems = -1\n", ["limits.items", "-1 is not 1 or more"]),
        ("[loop]\ndeadline_s = 3\n", ["loop.deadline_s", "unknown key"]),
        ("[navigation]\nwidth = 5\n", ["[navigation]", "unknown section"]),
        ("[access]\naudit = 'x'\n", ["access.audit: unknown key."]),
        ("[points]\norder = 12\n", ["[points]", "unknown section"]),
        ("[switches]\nrule_symmetry = false\n", ["switches.rule_symmetry", "unknown key"]),
        ("[engine]\ntimeout_s = inf\n", ["engine.timeout_s", "inf is not 1 or more"]),
        ("[engine]\ntimeout_s = nan\n", ["engine.timeout_s", "nan is not 1 or more"]),
        ("[http]\ntls_key = 'x'\n", ["http.tls_key: unknown key"]),
        ("[facts]\nstable = 0.7\n", ["[facts]", "unknown section"]),
        ("[server]\nwarm_up = 'never'\n", ["server.warm_up", "'first_reply', 'first_call'"]),
        ("[server\n", ["cannot be read as TOML"]),
    ],
)
def test_an_error_in_a_file_is_explained(tmp_path, text, words):
    with pytest.raises(ConfigurationError) as error:
        load(file(tmp_path, text), {})
    for word in words:
        assert word in str(error.value)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("MCP_MEMORY_STORAGE_URL", "x", ["MCP_MEMORY_STORAGE_URL", "'MCP_MEMORY_STORAGE_URI'"]),
        ("MCP_MEMORY_LIMITS_ITEMS", "many", ["MCP_MEMORY_LIMITS_ITEMS", "'many'", "a whole number"]),
        ("MCP_MEMORY_SWITCHES_WORDS", "perhaps", ["'perhaps'", "true or false"]),
    ],
)
def test_an_error_in_a_variable_is_explained(tmp_path, name, value, words):
    with pytest.raises(ConfigurationError) as error:
        load(file(tmp_path, ""), {name: value})
    for word in words:
        assert word in str(error.value)


def test_a_named_file_must_exist(tmp_path):
    with pytest.raises(ConfigurationError, match="no such file"):
        load(tmp_path / "absent.toml", {})
    with pytest.raises(ConfigurationError, match="no such file"):
        load(None, {"MCP_MEMORY_CONFIG": str(tmp_path / "absent.toml")})


def test_every_default_is_in_the_range_of_its_setting():
    for keys in SECTIONS.values():
        for name, key in keys.items():
            assert key.checked(key.default, name) == key.default


def test_a_store_for_each_tenant_is_refused_since_all_would_share_it(tmp_path):
    settings = load(environment={"MCP_MEMORY_CONFIG": "", "MCP_MEMORY_STORAGE_URI": str(tmp_path / "{tenant}")})
    with pytest.raises(ConfigurationError, match="a process of its own"):
        place_of(settings)
