"""Every setting, read from one file and the environment (``configurable.py`` declares them).

``config.toml`` is read from ``--config``, else ``MCP_MEMORY_CONFIG``, else the user's configuration folder; without a
file the defaults hold. Each setting can be overridden by ``MCP_MEMORY_<SECTION>_<KEY>``. An unknown key, a value of the
wrong type and a number out of range are errors; they name the place, and the nearest known key or the allowed values.
An environment variable that is empty, or holds a placeholder such as ``${user_config.place}``, counts as not set.
``config.example.toml`` has every key with its default and its comment.

This module is imported before the server's first reply, so it uses the standard library only.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from math import inf
from pathlib import Path
from typing import Any, Final, Literal, get_args, get_origin, get_type_hints

from mcp_memory.bounds import SLOW_CHARS, BrokenText, parse_toml
from mcp_memory.configurable import (
    AccessSettings,
    EmbeddingSettings,
    EngineSettings,
    GainSettings,
    HttpSettings,
    LimitSettings,
    PrivacySettings,
    ReaderSettings,
    RecallLoopSettings,
    ServerSettings,
    StorageSettings,
    Switches,
    WriteSettings,
)
from mcp_memory.errors import ConfigurationError


@dataclass(frozen=True, slots=True)
class Settings:
    """Every setting, with its default; each field is a section of the file."""

    storage: StorageSettings = field(default_factory=StorageSettings)
    embedding: EmbeddingSettings = field(default_factory=EmbeddingSettings)
    reader: ReaderSettings = field(default_factory=ReaderSettings)
    server: ServerSettings = field(default_factory=ServerSettings)
    http: HttpSettings = field(default_factory=HttpSettings)
    access: AccessSettings = field(default_factory=AccessSettings)
    limits: LimitSettings = field(default_factory=LimitSettings)
    privacy: PrivacySettings = field(default_factory=PrivacySettings)
    write: WriteSettings = field(default_factory=WriteSettings)
    gain: GainSettings = field(default_factory=GainSettings)
    loop: RecallLoopSettings = field(default_factory=RecallLoopSettings)
    engine: EngineSettings = field(default_factory=EngineSettings)
    switches: Switches = field(default_factory=Switches)


@dataclass(frozen=True, slots=True)
class _Key:
    """One key of the file.

    Attributes:
        room: the field of `Settings` that has it.
        name: the field of these settings.
        kind: its type.
        default: its default.
        comment: one line for the example file.
        least: the smallest number that is allowed.
    """

    room: str
    name: str
    kind: Any
    default: Any
    comment: str
    least: int

    def checked(self, value: Any, where: str) -> Any:
        """Return a value as the type of the setting.

        Raises:
            ConfigurationError: it has another type or is out of range.
        """
        if self.kind is float and type(value) is int:
            value = float(value)
        if get_origin(self.kind) is Literal:
            if value not in get_args(self.kind):
                raise ConfigurationError(
                    f"{where}: {value!r} is not one of {', '.join(map(repr, get_args(self.kind)))}"
                )
        elif type(value) is not self.kind:
            raise ConfigurationError(f"{where}: {value!r} is not {_WORDS[self.kind]}")
        elif self.kind in (int, float) and not self.least <= value < inf:  # as NaN is not, either
            raise ConfigurationError(f"{where}: {value!r} is not {self.least:,} or more")
        return value


def load(file: Path | None = None, environment: Mapping[str, str] = os.environ) -> Settings:
    """Return the settings in force; a file that the command line gives must exist.

    Raises:
        ConfigurationError: a file that does not exist or is not TOML, an unknown section or key, a wrong type, a number
            out of range.
    """
    settings, path = Settings(), _file(file, environment)
    if path is not None:
        settings = replace(settings, storage=StorageSettings(noted_in=str(path.absolute().with_suffix(".places"))))
        settings = _with_file(settings, path) if path.is_file() else settings
    return _with_environment(settings, environment)


def _file(file: Path | None, environment: Mapping[str, str]) -> Path | None:
    """Return the file of the configuration, which need not exist where nobody names one."""
    text = environment.get(_PREFIX + "CONFIG", "")
    named = file or (None if is_unset(text) else Path(text))
    if named:
        if not named.is_file():
            raise ConfigurationError(f"{named}: there is no such file. Name an existing config.toml.")
        return named
    with suppress(ConfigurationError):  # there is no home folder, so there is no file either
        return configuration_folder() / "config.toml"
    return None


def configuration_folder() -> Path:
    """Return the folder of this program in the user's configuration folder; it need not exist.

    Raises:
        ConfigurationError: the user has no home folder.
    """
    from platformdirs import user_config_path

    try:
        return user_config_path("mcp-memory", appauthor=False)
    except (OSError, RuntimeError) as error:
        raise ConfigurationError("there is no home folder: name the file in access.tokens.") from error


def _with_file(settings: Settings, path: Path) -> Settings:
    try:
        with path.open("rb") as file:
            content = parse_toml(file.read(SLOW_CHARS * 4 + 1).decode("utf-8-sig"))
    except (OSError, UnicodeDecodeError, BrokenText) as error:
        raise ConfigurationError(f"{path}: cannot be read as TOML: {error}") from error
    for section, values in content.items():
        if section not in SECTIONS:
            raise ConfigurationError(f"{path}: unknown section [{section}].{_nearest(section, SECTIONS)}")
        if not isinstance(values, dict):
            raise ConfigurationError(f"{path}: {section} must be a section, written [{section}]")
        known = SECTIONS[section]
        for name, value in values.items():
            where = f"{path}: {section}.{name}"
            if name not in known:
                raise ConfigurationError(
                    f"{where}: unknown key.{_nearest(f'{section}.{name}', [f'{section}.{one}' for one in known])}"
                )
            settings = _with(settings, known[name], value, where)
    return settings


def _with_environment(settings: Settings, environment: Mapping[str, str]) -> Settings:
    known = {
        f"{_PREFIX}{section}_{name}".upper(): one for section, keys in SECTIONS.items() for name, one in keys.items()
    }
    known[_PREFIX + "SPACE"] = SECTIONS["server"]["space"]
    for variable, text in environment.items():
        if not variable.startswith(_PREFIX) or variable == _PREFIX + "CONFIG" or is_unset(text):
            continue
        if variable not in known:
            raise ConfigurationError(
                f"environment variable {variable}: no such setting.{_nearest(variable, known, _PREFIX)}"
            )
        value = _parse(text, known[variable].kind)
        settings = _with(settings, known[variable], value, f"environment variable {variable}")
    return settings


def is_unset(text: str) -> bool:
    """Return whether an environment variable says nothing: it is empty, or a placeholder that a client left in it.

    Clients that fill ``${user_config.place}`` in leave it as it is where the person gave nothing.
    """
    return not text.strip() or _PLACEHOLDER.fullmatch(text.strip()) is not None


def _with(settings: Settings, key: _Key, value: Any, where: str) -> Settings:
    room = replace(getattr(settings, key.room), **{key.name: key.checked(value, where)})
    return replace(settings, **{key.room: room})


def _parse(text: str, kind: Any) -> Any:
    """Return an environment variable's text as the type of its setting, or unchanged if it cannot be read as that."""
    if kind is bool:
        return {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}.get(text.lower(), text)
    if kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            return text
    return text


def _nearest(name: str, known: Iterable[str], prefix: str = "") -> str:
    """Return a hint at a known name that is spelt much like one; empty if there is none."""
    names = [one.removeprefix(prefix) for one in known]
    near = difflib.get_close_matches(name.removeprefix(prefix), names, n=1, cutoff=0.75)
    return f" The nearest known one is {prefix + near[0]!r}." if near else ""


def _sections() -> dict[str, dict[str, _Key]]:
    """Return every key by section, in the order of the file."""
    found: dict[str, dict[str, _Key]] = {}
    for room, kind in get_type_hints(Settings).items():
        kinds = get_type_hints(kind)
        for one in fields(kind):
            if one.metadata:
                found.setdefault(room, {})[one.name] = _Key(
                    room, one.name, kinds[one.name], one.default, **one.metadata
                )
    return found


_PREFIX: Final = "MCP_MEMORY_"
_PLACEHOLDER: Final = re.compile(r"\$\{[^{}]*\}")
_WORDS: Final[dict[Any, str]] = {str: "a text", bool: "true or false", int: "a whole number", float: "a number"}
SECTIONS: Final = _sections()
"""Every key by section."""
