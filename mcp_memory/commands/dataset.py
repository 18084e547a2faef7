"""Load a data set for measuring recall: items to remember, and questions with their evidence.

``NAME.conversations.jsonl`` or ``NAME.corpus.jsonl``, and ``NAME.questions.jsonl``, one JSON object a line:

- a conversation: ``id``, ``sessions: [{session_id, date?, turns: [{turn_id, speaker, text, caption?}]}]``; each becomes
  a space, and its questions name it as ``conv_id`` and their turns as ``evidence``;
- a document: ``doc_id``, ``title?``, ``text``; all go into one space, and questions name them as ``supporting``.

A question has ``qid`` and ``question``, and may have a kind: ``category_name``, ``category`` or ``type``. Questions
without evidence are left out, and so are those marked as unanswerable (``category`` 5, as in LoCoMo) unless they are
asked for: their evidence is what tempts.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from mcp_memory.errors import ConfigurationError

DOCUMENTS = "docs"
"""The space of the documents."""
ADVERSARIAL = "5"
UNNAMED = "all"
"""The kind of a question whose kind the data set does not say."""
_NAMED = 200
"""Characters of ids that an error names."""
_FORMAT = "(see mcp_memory/commands/dataset.py for the format)"


@dataclass(frozen=True, slots=True)
class Call:
    """Items of one session, for one or more calls of memory_write.

    Attributes:
        space: the space of the items.
        session: the session of the items.
        kind: name of the tool's argument for them.
        items: in the form that the tool takes.
    """

    space: str
    session: str
    kind: str
    items: tuple[dict[str, str], ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question whose evidence is known.

    Attributes:
        id: unique in the data set.
        space: the space of its evidence.
        text: the question.
        gold: ids of the messages or documents that answer it; at least one.
        unknown: ids of ``gold`` that no message or document of its space has.
        kind: the kind of the question, as the data set calls it, or `UNNAMED`.
        answerable: whether the evidence answers it; if not, it only tempts.
    """

    id: str
    space: str
    text: str
    gold: tuple[str, ...]
    unknown: tuple[str, ...] = ()
    kind: str = UNNAMED
    answerable: bool = True


@dataclass(frozen=True, slots=True)
class Dataset:
    """Items to write, in order, and questions."""

    name: str
    calls: tuple[Call, ...]
    questions: tuple[Asked, ...]


def read(path: Path, questions: int | None = None, *, unanswerable: bool = False) -> Dataset:
    """Return a data set.

    Args:
        path: the path of its files, without the endings: ``data/NAME``.
        questions: maximum number, an even sample of all.
        unanswerable: with the questions that the data do not answer.

    Raises:
        ConfigurationError: a file is missing or malformed (names file and line), or no question has evidence in it.
    """
    talks, corpus = _file(path, "conversations"), _file(path, "corpus")
    if not talks.exists() and not corpus.exists():
        raise ConfigurationError(
            f"no {talks.name} and no {corpus.name} in {path.parent}: give the path without these endings"
        )
    calls = _each(talks, _talk) if talks.exists() else [_documents(path.name, corpus)]
    known: dict[str, set[str]] = {}
    for call in calls:
        known.setdefault(call.space, set()).update(item["id"] for item in call.items)
    asked = _questions(path, known)
    asked = [question for question in asked if question.answerable or unanswerable]
    source = _file(path, "questions")
    if not asked:
        raise ConfigurationError(f"{source}: no question with evidence")
    if all(len(question.unknown) == len(question.gold) for question in asked):
        some = ", ".join(dict.fromkeys(name for question in asked for name in question.unknown))[:_NAMED]
        raise ConfigurationError(f"{source}: none of the evidence is in the data: {some}")
    if questions is not None and len(asked) > questions:
        asked = [asked[i * len(asked) // questions] for i in range(questions)]
    return Dataset(path.name, tuple(calls), tuple(asked))


def _file(path: Path, kind: str) -> Path:
    return path.with_name(f"{path.name}.{kind}.jsonl")


RowT = TypeVar("RowT")


def _each(path: Path, read_line: Callable[[dict[str, Any]], Iterable[RowT]]) -> list[RowT]:
    """Return the rows of a file with one JSON object per line."""
    rows: list[RowT] = []
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path} cannot be read: {error}") from error
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                row = json.loads(line)
            except ValueError as error:
                raise ConfigurationError(f"{path}, line {number}, is no JSON: {error}") from error
            if not isinstance(row, dict):
                raise ConfigurationError(f"{path}, line {number}, is no JSON object {_FORMAT}")
            try:
                rows += read_line(row)
            except KeyError as error:
                raise ConfigurationError(f"{path}, line {number}, lacks {error} {_FORMAT}") from error
            except (AttributeError, TypeError) as error:
                raise ConfigurationError(f"{path}, line {number}, is of another form: {error} {_FORMAT}") from error
    return rows


def _talk(talk: dict[str, Any]) -> Iterable[Call]:
    for session in talk["sessions"]:
        when = iso(session.get("date"))
        items = [_message(turn, iso(turn.get("date")) or when) for turn in session["turns"]]
        kept = tuple(item for item in items if item["text"].strip())
        yield Call(str(talk["id"]), str(session["session_id"]), "messages", kept)


def _message(turn: dict[str, Any], when: str | None) -> dict[str, str]:
    caption = f" [shares a picture: {turn['caption']}]" if turn.get("caption") else ""
    message = {"id": str(turn["turn_id"]), "speaker": turn["speaker"], "text": turn["text"] + caption}
    return message | ({"time": when} if when else {})


def _documents(name: str, path: Path) -> Call:
    return Call(DOCUMENTS, f"corpus-{name}", "documents", tuple(_each(path, _document)))


def _document(row: dict[str, Any]) -> Iterable[dict[str, str]]:
    title = {"title": row["title"]} if row.get("title") else {}
    yield {"id": str(row["doc_id"]), "text": row["text"]} | title


def _questions(path: Path, known: Mapping[str, Collection[str]]) -> list[Asked]:
    """Return the questions with evidence in known spaces; ``known`` has the ids of the items of each space."""

    def question(row: dict[str, Any]) -> Iterable[Asked]:
        space = str(row["conv_id"]) if "conv_id" in row else DOCUMENTS
        gold = tuple(str(ref) for ref in row["evidence" if "conv_id" in row else "supporting"])
        if gold and space in known:
            name, category = str(row["qid"]), row.get("category")
            unknown = tuple(ref for ref in gold if ref not in known[space])
            kind = str(row.get("category_name") or category or row.get("type") or UNNAMED)
            yield Asked(name, space, row["question"], gold, unknown, kind, str(category) != ADVERSARIAL)

    return _each(_file(path, "questions"), question)


_DATES = ("%I:%M %p on %d %B, %Y", "%Y/%m/%d (%a) %H:%M", "%Y/%m/%d", "%d.%m.%Y, %H:%M")


def iso(date: str | None) -> str | None:
    """Return the date-time of a session in the form that the tools take; None if it cannot be read.

    Args:
        date: "1:56 pm on 8 May, 2023", "2023/05/08 (Mon) 13:56", "8.5.2023, 13:56", or ISO.
    """
    text = (date or "").strip()
    for form in _DATES:
        with suppress(ValueError):
            return datetime.strptime(text, form).isoformat()
    with suppress(ValueError):
        return datetime.fromisoformat(text).isoformat()
    return None
