"""Make data sets for ``bench.evidence`` of the files in which LoCoMo and BEAM are published, which only measure.

PYTHONPATH=tests python -m bench.published locomo10.json data/locomo

LoCoMo (arXiv 2402.17753), ``locomo10.json``: a list of ``{sample_id, conversation, qa}``. A conversation has
``session_N`` (turns ``{speaker, dia_id, text, blip_caption?}``) and ``session_N_date_time``; a question has
``evidence`` (ids of turns, now and then several in one string) and ``category``, 1 to 5.

BEAM (arXiv 2510.27246): its parquet file, a row a chat with ``conversation_id``, ``chat`` (sessions of messages ``{id,
role, content, time_anchor}``) and ``probing_questions`` (the text of a Python literal: questions by ability).
``source_chat_ids`` of a question is a list of ids, or such lists by name. A session has the date of its first message
that has one, like "March-15-2024".
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from pyarrow import parquet

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
_TURN = re.compile(r"D\d+:\d+")
_MARK = re.compile(r"\s*->->\s*[\d,]+\s*$")
"""What BEAM's writer left at the end of some messages: ``->-> 1,1``."""
Row = dict[str, Any]


def convert(source: Path, target: Path) -> None:
    """Write the conversations and questions of a file to files that begin with ``target``."""
    conversations: list[Row] = []
    questions: list[Row] = []
    for conversation, asked in _locomo(source) if source.suffix == ".json" else _beam(source):
        conversations.append(conversation)
        questions += [row for row in asked if row["evidence"]]
    for kind, rows in (("conversations", conversations), ("questions", questions)):
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        target.with_name(f"{target.name}.{kind}.jsonl").write_text(text, encoding="utf-8")


def _locomo(path: Path) -> Iterator[tuple[Row, list[Row]]]:
    for talk in json.loads(path.read_text(encoding="utf-8")):
        name, held = str(talk["sample_id"]), talk["conversation"]
        numbers = sorted(int(key[8:]) for key in held if re.fullmatch(r"session_\d+", key))
        sessions, questions = [], []
        for number in numbers:
            turns = [
                {"turn_id": turn["dia_id"], "speaker": turn["speaker"], "text": turn["text"]}
                | ({"caption": turn["blip_caption"]} if turn.get("blip_caption") else {})
                for turn in held[f"session_{number}"]
            ]
            date = held.get(f"session_{number}_date_time")
            sessions.append({"session_id": f"S{number}", "date": date, "turns": turns})
        for place, row in enumerate(talk["qa"]):
            found = dict.fromkeys(ref for text in row.get("evidence") or () for ref in _TURN.findall(text))
            asked = {"qid": f"{name}:{place}", "conv_id": name, "question": row["question"], "evidence": list(found)}
            kind = {"category": row["category"], "category_name": CATEGORIES[int(row["category"])]}
            questions.append(asked | kind)
        yield {"id": name, "sessions": sessions}, questions


def _beam(path: Path) -> Iterator[tuple[Row, list[Row]]]:
    for row in parquet.read_table(path, columns=["conversation_id", "chat", "probing_questions"]).to_pylist():
        name = f"beam-{row['conversation_id']}"
        sessions = []
        for number, messages in enumerate(row["chat"], 1):
            turns = [
                {"turn_id": str(one["id"]), "speaker": one["role"], "text": _MARK.sub("", one["content"])}
                for one in messages
            ]
            dated = next((one["time_anchor"] for one in messages if one.get("time_anchor")), None)
            sessions.append({"session_id": f"B{number}", "date": _day(dated), "turns": turns})
        questions = []
        for ability, rows in ast.literal_eval(row["probing_questions"]).items():
            for place, asked in enumerate(rows):
                found = dict.fromkeys(str(number) for number in _numbers(asked.get("source_chat_ids")))
                one = {"qid": f"{name}:{ability}:{place}", "conv_id": name, "question": asked["question"]}
                questions.append(one | {"evidence": list(found), "category_name": ability})
        yield {"id": name, "sessions": sessions}, questions


def _day(anchor: str | None) -> str | None:
    try:
        return datetime.strptime(anchor or "", "%B-%d-%Y").date().isoformat()
    except ValueError:
        return None


def _numbers(value: Any) -> Iterator[int]:
    """Yield the ids in lists and mappings, however deep."""
    if isinstance(value, int):
        yield value
    elif value is not None:
        for one in value.values() if isinstance(value, Mapping) else value:
            yield from _numbers(one)


if __name__ == "__main__":
    convert(Path(sys.argv[1]), Path(sys.argv[2]))
