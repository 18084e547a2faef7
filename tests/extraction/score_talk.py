"""Score the fact reader on the labelled talks: two friends, a person with an assistant, developers (see README.md).

    python tests/extraction/score_talk.py tests/extraction/talk_*_open.jsonl

Each message is read as the write path reads it.

A predicted fact is right if its head, relation, tail and polarity agree with one label; each label is matched once.
A symmetric relation ("is a sibling of") may be told from either end, and one with an inverse under that name.
Kind and time are counted among the right ones, events called ``did`` apart. Optional labels count neither when they are
found nor when they are missed. Confidence is not compared with the label's hedge: the share of right facts is printed
by confidence instead, because what is hedged should be as doubtful as it says.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from score import extract_turn, load, same_name, same_relation, turn_of  # type: ignore[import-not-found]  # beside it

from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.relations import DATED, relations
from mcp_memory.domain.times import BEGINNING, FOREVER
from mcp_memory.language.iso import MONTHS, civil
from mcp_memory.language.tokens import words
from mcp_memory.rules.facts.extractor import RuleExtractor

_SMALL = frozenset(["a", "an", "the", "my", "our", "his", "her", "their", "its", "of", "in", "at", "for", "from", "to",
                    "and", "with", "on", "up", "some", "about", "by", "i", "we"])  # fmt: skip
_ENOUGH = 0.6
"""Share of the content words (of both phrases together) that the tails of two events must have in common."""


@dataclass
class TalkScore:
    """Counts over labelled messages.

    Attributes:
        right: predicted facts that match a required or an optional label, by whether they are ``did``.
        wrong: predicted facts that match no label, in words.
        missed: required labels that were not found, in words.
        required: number of required labels that were found.
        kinds: right facts whose kind is right.
        times: right facts whose time is right.
        times_wrong: the others, in words.
        by_relation: predicted facts by relation, right and all.
        by_confidence: predicted facts by tenth of confidence, right and all.
    """

    right: Counter[bool] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    wrong_did: int = 0
    missed: list[str] = field(default_factory=list)
    required: int = 0
    kinds: int = 0
    times: int = 0
    times_wrong: list[str] = field(default_factory=list)
    by_relation: dict[str, list[int]] = field(default_factory=dict)
    by_confidence: dict[str, list[int]] = field(default_factory=dict)
    messages: int = 0

    @property
    def precision(self) -> float:
        """Share of the predicted facts that match a label."""
        right = sum(self.right.values())
        return right / max(1, right + len(self.wrong))

    @property
    def recall(self) -> float:
        """Share of the required labels that were found."""
        return self.required / max(1, self.required + len(self.missed))

    def __str__(self) -> str:
        right, wrong = sum(self.right.values()), len(self.wrong)
        typed, typed_wrong = self.right[False], wrong - self.wrong_did
        return (
            f"precision {self.precision:.3f} ({right} of {right + wrong})  recall {self.recall:.3f}  "
            f"typed {typed / max(1, typed + typed_wrong):.3f} ({typed} of {typed + typed_wrong})  "
            f"did {self.right[True] / max(1, self.right[True] + self.wrong_did):.3f}"
            f" ({self.right[True]} of {self.right[True] + self.wrong_did})  "
            f"kind {self.kinds / max(1, right):.3f}  time {self.times / max(1, right):.3f}  "
            f"messages {self.messages}"
        )


def score_talk(messages: Iterable[tuple[dict[str, Any], Sequence[Assertion]]]) -> TalkScore:
    """Return the score of labelled messages with the facts that were read of them."""
    total = TalkScore()
    for item, found in messages:
        _score_message(total, item, found)
        total.messages += 1
    return total


def read_talk(path: Path) -> Iterator[tuple[dict[str, Any], Sequence[Assertion]]]:
    """Yield the labelled messages of a file, each with the facts that the rules read of it."""
    for item in load(path):
        turn = turn_of({**item, "speaker": item.get("speaker") or "user", "time": item["time"][:10]})
        yield item, extract_turn(RuleExtractor().extract, turn, item.get("partner"))


def _score_message(total: TalkScore, item: dict[str, Any], found: Sequence[Assertion]) -> None:
    labels = sorted(item["facts"], key=lambda label: bool(label.get("optional")))
    taken: set[int] = set()
    matched: set[int] = set()
    for fact in found:
        fits = [n for n, label in enumerate(labels) if _matches(fact, label)]
        free = sorted((n for n in fits if n not in taken), key=lambda n: not _time_right(fact, labels[n], item))
        _count(total.by_relation, fact.relation, bool(fits))
        _count(total.by_confidence, f"{fact.confidence:.1f}", bool(fits))
        is_did = fact.relation == "did"
        if not fits:
            total.wrong_did += is_did
            total.wrong.append(f"{item['id']} {shown(fact)}  <- {item['text'][:200]!r}")
            continue
        total.right[is_did] += 1
        label = labels[(free or fits)[0]]
        if free:
            taken.add(free[0])
            matched.add(free[0])
        total.kinds += getattr(fact, "kind", None) == label.get("kind")
        if _time_right(fact, label, item):
            total.times += 1
        else:
            said = f"{label['from']}..{label['to']} {label.get('precision')}"
            total.times_wrong.append(f"{item['id']} ({item['time'][:10]}) {shown(fact)} labelled {said}")
    for n, label in enumerate(labels):
        if label.get("optional"):
            continue
        if n in matched:
            total.required += 1
        else:
            sign = "NOT " * bool(label.get("negated"))
            total.missed.append(
                f"{item['id']} {sign}{label['head']} | {label['relation']} | {label['tail']}  <- {item['text'][:200]!r}"
            )


def _count(table: dict[str, list[int]], key: str, right: bool) -> None:
    entry = table.setdefault(key, [0, 0])
    entry[0] += right
    entry[1] += 1


def _as_list(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value


def _matches(fact: Assertion, label: dict[str, Any]) -> bool:
    names = _as_list(label["relation"])
    heads, tails = _as_list(label["head"]), _as_list(label["tail"])
    if fact.negated != bool(label.get("negated")):
        return False
    if fact.relation == "did":
        deed = "did" in names and any(_same_deed(fact.tail, tail) for tail in tails)
        return deed and any(same_name(fact.head, head) for head in heads)
    known = relations().get(fact.relation)
    inverse = known.name if known.symmetric else known.inverse
    readings = [(fact.relation, fact.head, fact.tail), *([(inverse, fact.tail, fact.head)] if inverse else [])]
    return any(
        any(same_relation(relation, name) for name in names)
        and any(same_name(head, other) for other in heads)
        and (any(same_name(tail, other) for other in tails) or (relation in DATED and _is_day_of(tail, label)))
        for relation, head, tail in readings
    )


def _is_day_of(tail: str, label: dict[str, Any]) -> bool:
    """Return whether a date in words is the labelled one: "9 May 2023" for "tomorrow"."""
    parts = str(label.get("from") or "").split("-")
    if len(parts) < 2:
        return False
    day = f"{int(parts[2])} " if len(parts) == 3 else ""
    return f"{day}{MONTHS[int(parts[1]) - 1]} {parts[0]}" in tail


def _same_deed(one: str, other: str) -> bool:
    left, right = (frozenset(word for word in words(text) if word not in _SMALL) for text in (one, other))
    return bool(left and right) and len(left & right) >= _ENOUGH * min(len(left | right), max(len(left), len(right)))


def _day(instant: int) -> str:
    year, month, day = civil(instant)
    return f"{year:04}-{month:02}-{day:02}"


def _time_right(fact: Assertion, label: dict[str, Any], item: dict[str, Any]) -> bool:
    since, until, precision = label.get("from"), label.get("to"), label.get("precision")
    said = item["time"][:10]
    if precision == "yearless":
        return getattr(fact, "precision", None) == "yearless" or not fact.stated
    if since is None and until is None:
        if precision == "before" or label.get("kind") == "event":
            return getattr(fact, "precision", None) == "before" or not fact.stated
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
    extra = f"{getattr(fact, 'kind', '')} {getattr(fact, 'precision', '')}".strip()
    sign = "NOT " * fact.negated
    return f"{sign}{fact.head} | {fact.relation} | {fact.tail} [{since}, {until}] {extra} {fact.confidence:.2f}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the score of the rules on files of labelled messages."""
    parser = argparse.ArgumentParser(description="Score the rules on labelled talks.")
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--show", action="store_true", help="also print what is wrong, missed, and wrong in time")
    parser.add_argument("--relations", action="store_true", help="also print the share right by relation")
    asked = parser.parse_args(arguments)
    for path in asked.files:
        result = score_talk(read_talk(path))
        if asked.show:
            for title, lines in (("WRONG", result.wrong), ("MISSED", result.missed), ("TIMES", result.times_wrong)):
                sys.stdout.write(f"{title}\n" + "".join(f"- {line}\n" for line in lines))
        if asked.relations:
            for name, (right, count) in sorted(result.by_relation.items(), key=lambda entry: -entry[1][1]):
                sys.stdout.write(f"  {name:24} {right:4} of {count}\n")
        for name, (right, count) in sorted(result.by_confidence.items()):
            sys.stdout.write(f"  confidence {name}: {right} of {count}\n")
        sys.stdout.write(f"{path.name}: {result}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
