"""Where settings come from: one file, one environment, one place that says what is known.

``config.toml`` is read from ``--config``, else ``MCP_MEMORY_CONFIG``, else the user's configuration folder; without a
file the defaults hold. Each setting can be overridden by ``MCP_MEMORY_<SECTION>_<KEY>``. A key that nobody knows or a
value of the wrong type or out of range is an error that names where it stands, and the nearest key there is or what
would be right.

This module is imported before the server's first reply, so it uses the standard library only.
"""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

from mcp_memory.config import Config
from mcp_memory.errors import ConfigurationError

PREFIX = "MCP_MEMORY_"


def load(file: Path | None = None, environment: Mapping[str, str] = os.environ) -> Config:
    """Return the settings in force.

    Args:
        file: as given on the command line; it must exist. None looks where the module says.
        environment: of the process.

    Raises:
        ConfigurationError: a file that is not there or not TOML, an unknown section or key, a wrong type, a number
            out of range.
    """
    config = Config()
    if path := _file(file, environment):
        config = _with_file(config, path)
    return _with_environment(config, environment)


def _file(file: Path | None, environment: Mapping[str, str]) -> Path | None:
    named = file or (Path(text) if (text := environment.get(PREFIX + "CONFIG")) else None)
    if named:
        if not named.is_file():
            raise ConfigurationError(f"{named}: there is no such file. Name an existing config.toml.")
        return named
    from platformdirs import user_config_path

    try:
        usual = user_config_path("mcp-memory", appauthor=False) / "config.toml"
        return usual if usual.is_file() else None
    except (OSError, RuntimeError):  # no home folder to look in: then there is no file
        return None


def _with_file(config: Config, path: Path) -> Config:
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigurationError(f"{path}: cannot be read as TOML: {error}") from error
    for section, values in content.items():
        if section not in _SECTIONS:
            raise ConfigurationError(f"{path}: unknown section [{section}].{_nearest(section, _SECTIONS)}")
        if not isinstance(values, dict):
            raise ConfigurationError(f"{path}: {section} must be a section, written [{section}]")
        for key, value in values.items():
            config = _with(config, section, key, value, where=f"{path}: {section}.{key}")
    return config


def _with_environment(config: Config, environment: Mapping[str, str]) -> Config:
    known = {f"{PREFIX}{s}_{f.name}".upper(): (s, f.name) for s, kind in _SECTIONS.items() for f in fields(kind)}
    for name, text in environment.items():
        if not name.startswith(PREFIX) or name == PREFIX + "CONFIG":
            continue
        if name not in known:
            raise ConfigurationError(f"environment variable {name}: no such setting.{_nearest(name, known)}")
        section, key = known[name]
        kind = get_type_hints(_SECTIONS[section])[key]
        config = _with(config, section, key, _parsed(text, kind), where=f"environment variable {name}")
    return config


def _with(config: Config, section: str, key: str, value: Any, where: str) -> Config:
    kinds = get_type_hints(_SECTIONS[section])
    if key not in kinds:
        raise ConfigurationError(f"{where}: unknown key.{_nearest(key, kinds)}")
    kind = kinds[key]
    if kind is float and type(value) is int:
        value = float(value)
    if get_origin(kind) is Literal:
        if value not in get_args(kind):
            raise ConfigurationError(f"{where}: {value!r} is not one of {', '.join(map(repr, get_args(kind)))}")
    elif type(value) is not kind:
        raise ConfigurationError(f"{where}: {value!r} is not {_WORDS[kind]}")
    elif kind is float and (bounds := _BOUNDS.get(f"{section}.{key}")):
        if not bounds.hold(value):
            raise ConfigurationError(f"{where}: {value!r} is not {bounds}")
    elif kind in (int, float):
        least = 1 if kind is int and key not in _MAY_BE_0 else 0
        if not value >= least:  # which is so for NaN as well
            raise ConfigurationError(f"{where}: {value!r} is not {least} or more")
    return replace(config, **{section: replace(getattr(config, section), **{key: value})})


def _parsed(text: str, kind: Any) -> Any:
    """Return an environment variable's text as the type of its setting, or as it is where it does not fit."""
    if kind is bool:
        return {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}.get(text.lower(), text)
    if kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            return text
    return text


def _nearest(name: str, known: Mapping[str, Any]) -> str:
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.0)
    return f" The nearest known one is {near[0]!r}." if near else ""


@dataclass(frozen=True, slots=True)
class _Bounds:
    """Between which numbers a setting lies; infinity is never a number that would do."""

    above: float
    below: float
    least: bool = False
    most: bool = False

    def hold(self, value: float) -> bool:
        lower = value >= self.above if self.least else value > self.above
        return lower and (value <= self.below if self.most else value < self.below)

    def __str__(self) -> str:
        lower = f"{self.above:g} or more" if self.least else f"above {self.above:g}"
        if self.below == float("inf"):
            return lower
        return f"{lower} and {'at most' if self.most else 'below'} {self.below:g}"


_NOISE = _Bounds(0, float("inf"))
_COSINE = _Bounds(0, 1, least=True)
_CONFIDENCE = _Bounds(0, 1, least=True, most=True)
_BOUNDS = {
    "facts.stable": _Bounds(0, 1, most=True),
    "navigation.relevance": _CONFIDENCE,
    "navigation.coherence": _CONFIDENCE,
    "gain.talk": _COSINE,
    "gain.document": _COSINE,
    "gain.against": _COSINE,
    "gain.positive": _NOISE,
    "gain.negative": _NOISE,
    "gain.process": _Bounds(0, float("inf"), least=True),
    "gain.caller": _NOISE,
    "gain.anthropic": _NOISE,
    "gain.embedded": _NOISE,
    "engine.timeout_s": _Bounds(0, float("inf")),
    "answer.talk": _CONFIDENCE,
    "answer.document": _CONFIDENCE,
    "answer.plain": _CONFIDENCE,
}
"""Of the settings that are no number at all beyond these; any other number is 0 or more."""
_MAY_BE_0 = frozenset(("threads", "vector_limit", "retries", "day_tokens"))
"""Whole numbers of which none is a sensible number."""
_WORDS: dict[Any, str] = {str: "a text", bool: "true or false", int: "a whole number", float: "a number"}
_SECTIONS: dict[str, Any] = get_type_hints(Config)
