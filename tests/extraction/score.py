"""Score the rules on labelled texts: sentences, and talks in three registers (see README.md).

    python tests/extraction/score.py --show tests/extraction/talk_*_open.jsonl

Each text is read as the write path reads it. A predicted fact is right if its head, relation, tail and polarity agree
with one label. A symmetric relation ("is a sibling of") may be told from either end, and one with an inverse under that
name. Names agree if they are equal, or share their head word while one has all content words of the other. Kind and
time are counted among the right ones. Optional labels count neither when they are found nor when they are missed.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from mcp_memory.domain.entities import entity_key
from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.relations import DATED, relations
from mcp_memory.domain.times import BEGINNING, FOREVER
from mcp_memory.domain.turns import Turn
from mcp_memory.language.iso import MONTHS, civil
from mcp_memory.language.segments import split
from mcp_memory.language.stated import stated_times
from mcp_memory.language.tokens import words
from mcp_memory.rules.facts.extractor import RuleExtractor

_SMALL = frozenset(["a", "an", "the", "my", "our", "his", "her", "their", "its", "of", "in", "at", "for", "to", "and"])


@dataclass
class Score:
    """Counts over labelled texts."""

    right: int = 0  # number of predicted facts that match a required or an optional label
    wrong: list[str] = field(default_factory=list)  # predicted facts that match no label, in words
    missed: list[str] = field(default_factory=list)  # required labels that were not found, in words
    required: int = 0  # number of required labels that were found
    kinds: int = 0  # right facts whose kind is right, of talks
    times: int = 0  # right facts whose time is right
    times_wrong: list[str] = field(default_factory=list)  # the others, in words
    texts: int = 0  # number of texts

    @property
    def precision(self) -> float:
        """Share of the predicted facts that match a label."""
        return self.right / max(1, self.right + len(self.wrong))

    @property
    def recall(self) -> float:
        """Share of the required labels that were found."""
        return self.required / max(1, self.required + len(self.missed))

    def __str__(self) -> str:
        return (
            f"precision {self.precision:.3f} ({self.right} of {self.right + len(self.wrong)})  recall {self.recall:.3f}"
            f"  kind {self.kinds / max(1, self.right):.3f}  time {self.times / max(1, self.right):.3f}"
            f"  texts {self.texts}"
        )


def score(texts: Iterable[tuple[dict[str, Any], Sequence[Assertion]]]) -> Score:
    """Return the score of labelled texts with the facts that were read of them."""
    total = Score()
    for item, found in texts:
        _score_text(total, item, found)
        total.texts += 1
    return total


def read(path: Path) -> Iterator[tuple[dict[str, Any], Sequence[Assertion]]]:
    """Yield the labelled texts of a file, each with the facts that the rules read of it."""
    for line in path.read_text(encoding="utf-8").splitlines():
        item = json.loads(line)
        said = int(datetime.fromisoformat(f"{item['time'][:10]}T00:00+00:00").timestamp() * 1000)
        turn = Turn(
            "t_x", "default", "s", "r", item["kind"], item["text"], item.get("speaker") or "user", None,
            item.get("title"), said, said, 0, 0,
        )  # fmt: skip
        yield item, extracted(turn, item.get("partner"))


def extracted(turn: Turn, partner: str | None = None) -> list[Assertion]:
    """Return what the rules read in a text."""
    spans = split(turn.text)
    times = [stated_times(turn.text, turn.said_at, *span) for span in spans]
    return RuleExtractor().extract(turn, partner, spans, times)


def _score_text(total: Score, item: dict[str, Any], found: Sequence[Assertion]) -> None:
    labels = sorted(item["facts"], key=lambda label: bool(label.get("optional")))
    matched: set[int] = set()
    for fact in found:
        fits = [n for n, label in enumerate(labels) if _matches(fact, label)]
        free = sorted((n for n in fits if n not in matched), key=lambda n: not _time_right(fact, labels[n], item))
        if not fits:
            total.wrong.append(f"{item['id']} {shown(fact)}  <- {item['text'][:200]!r}")
            continue
        total.right += 1
        label = labels[(free or fits)[0]]
        matched.update(free[:1])
        total.kinds += fact.kind == label.get("kind")
        if _time_right(fact, label, item):
            total.times += 1
        else:
            said = f"{label['from']}..{label['to']} {label.get('precision')}"
            total.times_wrong.append(f"{item['id']} ({item['time'][:10]}) {shown(fact)} labelled {said}")
    for n, label in enumerate(labels):
        if label.get("optional") or not _is_listed(label):
            continue
        if n in matched:
            total.required += 1
        else:
            sign = "NOT " * bool(label.get("negated"))
            total.missed.append(
                f"{item['id']} {sign}{label['head']} | {label['relation']} | {label['tail']}  <- {item['text'][:200]!r}"
            )


def _is_listed(label: dict[str, Any]) -> bool:
    """Return whether one of a label's relations is in the registry, or the favourite of some kind."""
    registry = relations()
    listed = {relation.name for relation in registry}
    return any(registry.name(name) in listed or name.startswith("favourite_") for name in _list(label["relation"]))


def _list(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value


def _matches(fact: Assertion, label: dict[str, Any]) -> bool:
    if fact.negated != bool(label.get("negated")):
        return False
    names, heads, tails = (_list(label[part]) for part in ("relation", "head", "tail"))
    known = relations().get(fact.relation)
    inverse = known.name if known.symmetric else known.inverse
    readings = [(fact.relation, fact.head, fact.tail), *([(inverse, fact.tail, fact.head)] if inverse else [])]
    return any(
        any(same_relation(relation, name) for name in names)
        and any(same_name(head, other) for other in heads)
        and (any(same_name(tail, other) for other in tails) or (relation in DATED and _is_day_of(tail, label)))
        for relation, head, tail in readings
    )


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


def _is_day_of(tail: str, label: dict[str, Any]) -> bool:
    """Return whether a date in words is the labelled one: "9 May 2023" for "tomorrow"."""
    parts = str(label.get("from") or "").split("-")
    if len(parts) < 2:
        return False
    day = f"{int(parts[2])} " if len(parts) == 3 else ""
    return f"{day}{MONTHS[int(parts[1]) - 1]} {parts[0]}" in tail


def _day(instant: int) -> str:
    year, month, day = civil(instant)
    return f"{year:04}-{month:02}-{day:02}"


def _time_right(fact: Assertion, label: dict[str, Any], item: dict[str, Any]) -> bool:
    since, until, precision = label.get("from"), label.get("to"), label.get("precision")
    said = item["time"][:10]
    if precision == "yearless":
        return fact.precision == "yearless" or not fact.stated
    if since is None and until is None:
        if precision == "before" or label.get("kind") == "event":
            return fact.precision == "before" or not fact.stated
        return not fact.stated or fact.since <= BEGINNING or _day(fact.since) == said
    right = True
    if since is not None:
        right = fact.since > BEGINNING and _day(fact.since)[: len(since)] == since
    if right and until is not None:
        right = fact.until < FOREVER and _day(fact.until - 1)[: len(until)] == until
    return right


def shown(fact: Assertion) -> str:
    """Return a fact with its time in one line."""
    since = "…" if fact.since <= BEGINNING else _day(fact.since)
    until = "∞" if fact.until >= FOREVER else _day(fact.until - 1)
    extra = f"{fact.kind} {fact.precision or ''}".strip()
    sign = "NOT " * fact.negated
    return f"{sign}{fact.head} | {fact.relation} | {fact.tail} [{since}, {until}] {extra} {fact.confidence:.2f}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the score of the rules on files of labelled texts."""
    parser = argparse.ArgumentParser(description="Score the rules on labelled texts.")
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--show", action="store_true", help="also print what is wrong, missed, and wrong in time")
    asked = parser.parse_args(arguments)
    for path in asked.files:
        result = score(read(path))
        if asked.show:
            for title, lines in (("WRONG", result.wrong), ("MISSED", result.missed), ("TIMES", result.times_wrong)):
                sys.stdout.write(f"{title}\n" + "".join(f"- {line}\n" for line in lines))
        sys.stdout.write(f"{path.name}: {result}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
