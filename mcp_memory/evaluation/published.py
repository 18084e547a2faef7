"""Read the files in which LoCoMo and BEAM are published, as data sets for measuring recall.

LoCoMo (arXiv 2402.17753), ``locomo10.json``: a list of ``{sample_id, conversation, qa}``. A conversation has
``session_N`` (turns ``{speaker, dia_id, text, blip_caption?}``) and ``session_N_date_time``; a question has
``evidence`` (ids of turns, now and then several in one string) and ``category``, 1 to 5.

BEAM (arXiv 2510.27246): its parquet file, a row a chat with ``conversation_id``, ``chat`` (sessions of messages ``{id,
role, content, time_anchor}``) and ``probing_questions`` (the text of a Python literal: questions by ability); or a
folder of its repository, in which every ``chat.json`` (``[{time_anchor?, turns: [[message]]}]``) has its
``probing_questions/probing_questions.json`` beside it. ``source_chat_ids`` of a question is a list of ids, or such
lists by name. A session has the date of its first message that has one, like "March-15-2024".

Both are for evaluation only, and are never shipped.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from mcp_memory.errors import ConfigurationError
from mcp_memory.evaluation.dataset import ADVERSARIAL, Asked, Call, Dataset, checked, is_taught, iso, read
from mcp_memory.language.iso import MONTHS

_CATEGORIES: Final = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
_TURN: Final = re.compile(r"D\d+:\d+")
_MARK: Final = re.compile(r"\s*->->\s*[\d,]+\s*$")
"""What BEAM's writer left at the end of some messages: ``->-> 1,1``."""
_DAY: Final = re.compile(r"([A-Z][a-z]+)-(\d{1,2})-(\d{4})")


def load(path: Path, questions: int | None) -> Dataset:
    """Return a data set with all its questions, answerable or not.

    Args:
        path: ``locomo10.json``, BEAM's parquet file, a folder with BEAM's chats, or the path of a set in our form
            without its endings.
        questions: maximum number, an even sample of all.

    Raises:
        ConfigurationError: there is no such file, or it is of another form.
    """
    if path.suffix not in (".json", ".parquet") and not path.is_dir():
        return read(path, questions, unanswerable=True)
    try:
        found = _locomo(path) if path.suffix == ".json" else _beam(path)
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path} cannot be read: {error}") from error
    except (ValueError, SyntaxError, KeyError, TypeError, AttributeError, IndexError) as error:
        form = "LoCoMo" if path.suffix == ".json" else "BEAM"
        problem = f"{path} is not of {form}'s form ({type(error).__name__}: {error})"
        raise ConfigurationError(f"{problem}; mcp_memory/evaluation/published.py has it") from error
    return checked(found, path, questions, unanswerable=True)


def _locomo(path: Path) -> Dataset:
    calls: list[Call] = []
    asked: list[Asked] = []
    for talk in json.loads(path.read_text(encoding="utf-8")):
        space, sessions = str(talk["sample_id"]), talk["conversation"]
        numbers = sorted(int(key[8:]) for key in sessions if re.fullmatch(r"session_\d+", key))
        for number in numbers:
            when = iso(sessions.get(f"session_{number}_date_time"))
            turns = (_locomo_message(turn, when) for turn in sessions[f"session_{number}"])
            calls.append(Call(space, f"S{number}", "messages", tuple(turn for turn in turns if turn["text"].strip())))
        known = {item["id"] for call in calls if call.space == space for item in call.items}
        for place, row in enumerate(talk["qa"]):
            gold = dict.fromkeys(ref for text in row.get("evidence") or () for ref in _TURN.findall(text))
            answerable = str(row["category"]) != ADVERSARIAL
            kind = _CATEGORIES[int(row["category"])]
            asked += _asked(path.stem, f"{space}:{place}", space, row["question"], gold, known, kind, answerable)
    return Dataset(path.stem, tuple(calls), tuple(asked))


def _locomo_message(turn: Mapping[str, Any], when: str | None) -> dict[str, str]:
    caption = f" [shares a picture: {turn['blip_caption']}]" if turn.get("blip_caption") else ""
    message = {"id": str(turn["dia_id"]), "speaker": turn["speaker"], "text": turn["text"] + caption}
    return message | ({"time": when} if when else {})


def _beam(path: Path) -> Dataset:
    calls: list[Call] = []
    asked: list[Asked] = []
    for space, sessions, probing in _beam_chats(path):
        known: set[str] = set()
        for number, (anchor, messages) in enumerate(sessions, 1):
            dated = next((text for text in (anchor, *(one.get("time_anchor") for one in messages)) if text), None)
            items = tuple(_beam_message(one, _day(dated)) for one in messages if one["content"].strip())
            known.update(item["id"] for item in items)
            calls.append(Call(space, f"B{number}", "messages", items))
        for ability, rows in probing.items():
            for place, row in enumerate(rows):
                gold = dict.fromkeys(str(number) for number in _numbers(row.get("source_chat_ids")))
                name = f"{space}:{ability}:{place}"
                asked += _asked(path.stem, name, space, row["question"], gold, known, ability, answerable=True)
    if not calls:
        raise ConfigurationError(f"{path}: no chat.json with probing_questions/probing_questions.json beside it")
    return Dataset(path.stem, tuple(calls), tuple(asked))


Sessions = list[tuple[str | None, list[dict[str, Any]]]]
"""The date and the messages of each session."""


def _beam_chats(path: Path) -> Iterator[tuple[str, Sessions, Mapping[str, Any]]]:
    """Yield the name, the sessions and the questions by ability of each chat."""
    if path.is_dir():
        for chat in sorted(path.rglob("chat.json")):
            probing = chat.parent / "probing_questions" / "probing_questions.json"
            if probing.is_file():
                batches = json.loads(chat.read_text(encoding="utf-8"))
                sessions: Sessions = [
                    (batch.get("time_anchor"), [one for group in batch["turns"] for one in group]) for batch in batches
                ]
                yield f"beam-{chat.parent.name}", sessions, json.loads(probing.read_text(encoding="utf-8"))
        return
    from pyarrow import parquet

    for row in parquet.read_table(path, columns=["conversation_id", "chat", "probing_questions"]).to_pylist():
        questions = row["probing_questions"]
        questions = ast.literal_eval(questions) if isinstance(questions, str) else questions
        yield f"beam-{row['conversation_id']}", [(None, messages) for messages in row["chat"]], questions


def _beam_message(message: Mapping[str, Any], when: str | None) -> dict[str, str]:
    text = _MARK.sub("", message["content"])
    return {"id": str(message["id"]), "speaker": message["role"], "text": text} | ({"time": when} if when else {})


def _day(anchor: str | None) -> str | None:
    found = _DAY.fullmatch(anchor or "")
    if found is None or found[1] not in MONTHS:
        return None
    return f"{found[3]}-{list(MONTHS).index(found[1]) + 1:02d}-{int(found[2]):02d}"


def _numbers(value: Any) -> Iterator[int]:
    """Yield the ids in lists and mappings, however deep."""
    if isinstance(value, int):
        yield value
    elif value is not None:
        for one in value.values() if isinstance(value, Mapping) else value:
            yield from _numbers(one)


def _asked(
    name: str, number: str, space: str, text: str, gold: Iterable[str], known: set[str], kind: str, answerable: bool
) -> list[Asked]:
    """Return a question, if it has evidence."""
    refs = tuple(gold)
    unknown = tuple(ref for ref in refs if ref not in known)
    return [Asked(number, space, text, refs, is_taught(name, number), unknown, kind, answerable)] if refs else []
