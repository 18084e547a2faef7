"""Score an extractor on labelled texts (see README.md): precision, recall, and the share of right dates.

    python tests/extraction/score.py tests/extraction/sentences_open.jsonl
    python tests/extraction/score.py --wordings tests/extraction/wordings_open.jsonl

A predicted fact is matched with at most one label. Polarity and stratum (plain or hedged) must agree, and its relation
must be among the label's. Head and tail must be equal names, or share their head word while one has all content words
of the other. Optional labels count neither when they are found nor when they are missed. A label without a relation of
the registry (the verb itself, "brewed") is optional; ``did`` matches a label if its tail has the words of the label's.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from mcp_memory.domain.entities import entity_key
from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.relations import DID, relations
from mcp_memory.domain.times import BEGINNING, FOREVER, Millis
from mcp_memory.domain.turns import Turn
from mcp_memory.language.iso import MONTHS
from mcp_memory.language.segments import split
from mcp_memory.language.stated import stated_times
from mcp_memory.language.tokens import words
from mcp_memory.rules.facts.extractor import RuleExtractor

Extract = Callable[..., list[Assertion]]
PLAIN = 0.8
"""From this confidence on a fact is not hedged (θ_stable)."""
_SMALL = frozenset(["a", "an", "the", "my", "our", "his", "her", "their", "its", "of", "in", "at", "for", "to", "and"])


@dataclass
class Score:
    """Counts of right facts and dates, with the wrong and the missed ones."""

    right: int = 0
    wrong: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    optional: int = 0
    dated: int = 0
    dates_right: int = 0
    dates_wrong: list[str] = field(default_factory=list)

    @property
    def precision(self) -> float:
        """Share of the predicted facts without an optional label that are right."""
        return self.right / max(1, self.right + len(self.wrong))

    @property
    def recall(self) -> float:
        """Share of the required labels that were found."""
        return self.right / max(1, self.right + len(self.missed))

    def __str__(self) -> str:
        return (
            f"precision {self.precision:.3f}  recall {self.recall:.3f}  right {self.right}  wrong {len(self.wrong)}"
            f"  missed {len(self.missed)}  optional {self.optional}  dates {self.dates_right}/{self.dated}"
        )


def millis(day: str) -> Millis:
    """Return the first instant of a date as the labels write it: "2016", "2016-05", "2016-05-03"."""
    parts = [int(part) for part in day.split("-")]
    year, month, number = (*parts, 1, 1)[:3]
    return int(datetime(year, month, number, tzinfo=UTC).timestamp() * 1000)


def turn_of(item: dict[str, Any], text: str | None = None) -> Turn:
    """Return a labelled text as a turn."""
    said = millis(item["time"])
    return Turn(
        "t_x", "default", "s", "r", item["kind"], text or item["text"], item.get("speaker"), None, item.get("title"),
        said, said, 0, 0,
    )  # fmt: skip


def extract_turn(extract: Extract, turn: Turn, partner: str | None) -> list[Assertion]:
    """Return the assertions of a turn, with the arguments that a write passes to the extractor."""
    spans = split(turn.text)
    return extract(turn, partner, spans, [stated_times(turn.text, turn.said_at, *span) for span in spans])


def score(extract: Extract, items: Iterable[dict[str, Any]]) -> Score:
    """Return the score of an extractor on labelled texts."""
    total = Score()
    for item in items:
        _score_one(total, item, extract_turn(extract, turn_of(item), item.get("partner")))
    return total


def _score_one(total: Score, item: dict[str, Any], found: Sequence[Assertion]) -> None:
    labels = [{**label, "optional": label["optional"] or not _is_listed(label)} for label in item["facts"]]
    labels.sort(key=lambda label: label["optional"])
    taken: set[int] = set()
    for fact in found:
        fits = [n for n, label in enumerate(labels) if _matches(fact, label)]
        free = [n for n in fits if n not in taken]
        # of several events of one kind, the one of this date comes first
        free.sort(key=lambda n: (labels[n]["optional"], not _dated_right(fact, labels[n])))
        if free:
            taken.add(free[0])
            label = labels[free[0]]
            if label["optional"]:
                total.optional += 1
                continue
            total.right += 1
            total.dated += 1
            if _dated_right(fact, label):
                total.dates_right += 1
            else:
                total.dates_wrong.append(f"{item['id']} {_shown(fact)} labelled {label['from']}..{label['to']}")
        elif not fits:
            total.wrong.append(f"{item['id']} {_shown(fact)}  <- {item['text'][:140]}")
    for n, label in enumerate(labels):
        if n not in taken and not label["optional"]:
            sign = "NOT " * label["negated"] + "~" * label["hedged"]
            total.missed.append(
                f"{item['id']} {sign}{label['head']} | {label['relation']} | {label['tail']}  <- {item['text'][:140]}"
            )


def _shown(fact: Assertion) -> str:
    since, until = _day(fact.since), _day(fact.until)
    return (
        f"{'NOT ' * fact.negated}{fact.head} | {fact.relation} | {fact.tail} [{since}, {until}) {fact.confidence:.2f}"
    )


def _day(instant: Millis) -> str:
    if instant <= BEGINNING:
        return "…"
    return "∞" if instant >= FOREVER else str(datetime.fromtimestamp(instant / 1000, UTC).date())


def _is_listed(label: dict[str, Any]) -> bool:
    """Return whether one of a label's relations is in the registry, or the favourite of some kind."""
    registry = relations()
    listed = {relation.name for relation in registry}
    return any(registry.name(name) in listed or name.startswith("favourite_") for name in label["relation"])


def _matches(fact: Assertion, label: dict[str, Any]) -> bool:
    if fact.negated != label["negated"] or (fact.confidence < PLAIN) != label["hedged"]:
        return False
    if fact.relation == DID:
        told = set(_content(fact.tail))
        heads = any(same_name(fact.head, name) for name in _list(label["head"]))
        return heads and any(set(_content(name)) <= told for name in _list(label["tail"]))
    return (
        any(same_relation(fact.relation, name) for name in label["relation"])
        and any(same_name(fact.head, name) for name in _list(label["head"]))
        and any(same_name(fact.tail, name) for name in _list(label["tail"]))
    )


def _list(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value


def same_relation(one: str, other: str) -> bool:
    """Return whether two relations are equal: by the registry, or by the stems of their words."""
    registry = relations()
    return registry.name(one) == registry.name(other) or _stems(one) == _stems(other)


def _stems(relation: str) -> tuple[str, ...]:
    from Stemmer import Stemmer

    return tuple(Stemmer("english").stemWords(relation.split("_")))


def same_name(one: str, other: str) -> bool:
    """Return whether two names agree: equal, or with one head word and all content words of one in the other."""
    if entity_key(one) == entity_key(other):
        return True
    left, right = (_content(name) for name in (one, other))
    return bool(left and right) and (set(left) <= set(right) or set(right) <= set(left)) and _head(one) == _head(other)


def _content(name: str) -> list[str]:
    return [word for word in words(name) if word not in _SMALL]


def _head(name: str) -> str:
    """Return the last content word before "of", "in", "at" and the like."""
    before = re.split(r"\s(?:of|in|at|for|from|near|called|on|behind|above)\s", name, maxsplit=1)[0]
    content = _content(before) or _content(name)
    return content[-1].rstrip("s") if content else ""


def _dated_right(fact: Assertion, label: dict[str, Any]) -> bool:
    said = not fact.stated
    since = label["from"]
    if since is None:
        start_right = said or fact.since <= BEGINNING or label["to"] is not None
    else:
        start_right = fact.since > BEGINNING and _day(fact.since)[: len(since)] == since
    until = label["to"]
    if until is None:
        return start_right
    return start_right and fact.until < FOREVER and _day(fact.until - 1)[: len(until)] == until


def load(path: Path) -> list[dict[str, Any]]:
    """Return the lines of a labelled file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


_DATES = {"year": ("2016", "2019"), "month": ("2016-05", "2019-03"), "day": ("2016-05-03", "2019-03-21")}


def _in_words(day: str) -> str:
    parts = day.split("-")
    if len(parts) == 1:
        return day
    named = f"{MONTHS[int(parts[1]) - 1]} {parts[0]}"
    return named if len(parts) == 2 else f"{int(parts[2])} {named}"


def wordings(
    extract: Extract, lines: Iterable[dict[str, Any]], values: dict[str, list[str]]
) -> tuple[int, int, list[str]]:
    """Return the number of right wordings (relation, value, date), the number of all, and the wrong ones.

    Args:
        extract: of the extractor.
        lines: the wordings.
        values: the values to fill in, by relation, and ``person_names``.
    """
    right, total, wrong = 0, 0, []
    for number, line in enumerate(lines):
        since, until = _DATES[line["date"]]
        for step in range(3):
            name = values["person_names"][(number + step * 7) % len(values["person_names"])]
            value = values[line["relation"]][(number * 3 + step * 5) % len(values[line["relation"]])]
            filled = {"name": name, "value": value, "date": _in_words(since), "end": _in_words(until)}
            text = _fill(line["text"], filled)
            said = str(date(2021, 6, 1))
            turn = turn_of({"kind": "message", "time": said, "speaker": "Robin"}, text)
            found = extract_turn(extract, turn, "Sam")
            total += 1
            who = "Robin" if line["person"] == "first" else name
            if any(_tells(fact, line, who, value, since, until) for fact in found):
                right += 1
            else:
                wrong.append(f"{line['id']} {text}  -> {[_shown(fact) for fact in found]}")
    return right, total, wrong


def _fill(text: str, values: dict[str, str]) -> str:
    return re.sub(r"\{(\w+)\}", lambda found: values[found[1]], text)


def _tells(fact: Assertion, line: dict[str, Any], who: str, value: str, since: str, until: str) -> bool:
    names = (entity_key(fact.head), entity_key(fact.tail))
    wanted = (entity_key(who), entity_key(value))
    if names != wanted and not (line["relation"] == "married_to" and names[::-1] == wanted):
        return False
    if not same_relation(fact.relation, line["relation"]) or fact.confidence < PLAIN:
        return False
    match line["tells"]:
        case "start":
            return not fact.negated and _day(fact.since)[: len(since)] == since and fact.until >= FOREVER
        case "end":
            if fact.negated:
                return _day(fact.since)[: len(since)] == since or _day(fact.since - 1)[: len(since)] == since
            return fact.until < FOREVER and _day(fact.until - 1)[: len(since)] == since
    return (
        not fact.negated
        and _day(fact.since)[: len(since)] == since
        and fact.until < FOREVER
        and _day(fact.until - 1)[: len(until)] == until
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the score of an extractor on a file."""
    parser = argparse.ArgumentParser(description="Score an extractor on labelled texts.")
    parser.add_argument("file", type=Path)
    parser.add_argument("--wordings", action="store_true", help="the file holds wordings; values.json lies beside it")
    parser.add_argument("--quiet", action="store_true", help="figures only")
    asked = parser.parse_args(arguments)
    extract = RuleExtractor().extract
    out = sys.stdout
    if asked.wordings:
        values = json.loads((asked.file.parent / "values.json").read_text(encoding="utf-8"))
        right, total, wrong = wordings(extract, load(asked.file), values)
        out.write("" if asked.quiet else "".join(f"- {line}\n" for line in wrong))
        out.write(f"right {right} of {total} ({right / max(1, total):.3f})\n")
        return 0
    result = score(extract, load(asked.file))
    if not asked.quiet:
        for title, lines in (("WRONG", result.wrong), ("MISSED", result.missed), ("DATES", result.dates_wrong)):
            out.write(f"{title}\n" + "".join(f"- {line}\n" for line in lines))
    out.write(f"{result}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
