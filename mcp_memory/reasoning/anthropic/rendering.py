"""Prompt rendering: evidence for a model as numbered lines between two marks that cannot be guessed.

Stored text is data. Each text is one line, without invisible characters, behind a number of ours, between two lines
with the same random mark: it can neither pass for another line nor end the data. The numbers are valid for this one
call; the model's citations are looked up among them, and an unknown number is ignored. Everything that Claude sees is
rendered like this: the evidence of a question here, other data in the modules that ask about them.
"""

from __future__ import annotations

import secrets
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass

from mcp_memory.domain.answers import EvidenceSentence, KnownFacts
from mcp_memory.domain.confidence import STABLE
from mcp_memory.domain.evidence import Citation, Evidence, Rule
from mcp_memory.domain.facts import Version
from mcp_memory.domain.times import BEGINNING, FOREVER, Millis
from mcp_memory.domain.turns import Turn
from mcp_memory.language import iso
from mcp_memory.navigation.paths import serialise
from mcp_memory.ports import JudgeInput
from mcp_memory.reasoning.anthropic.client import estimate_tokens

FACTS = 12
"""Most facts that are shown, those of the best paths first."""
PLACES = 2
"""Sentences that are cited for one fact."""
BESIDE = 5
"""Most conflicts, paths and memory points that are shown, of each."""
LINE_CHARS = 600
"""Length of a line; a longer sentence is cut."""
MARK_BYTES = 8
FRAME_TOKENS = 2 * estimate_tokens(f"=== {'0' * 2 * MARK_BYTES} ===")


@dataclass(frozen=True, slots=True)
class CitableItem:
    """What a number stands for.

    Attributes:
        key: identifies the item, so that a judge that is asked again need not see it twice; see `Judgement`.
        citations: where it is stated.
        certain: whether it is stated with certainty (no hypothesis, DESIGN I11) and not marked as wrong for this
            question.
        gate: how helpful it is known to be for the question; see `EvidenceSentence`.
    """

    key: Hashable
    citations: tuple[Citation, ...]
    certain: bool = True
    gate: float = 1.0


@dataclass(frozen=True, slots=True)
class RenderedEvidence:
    """What a model sees, and what its numbers mean.

    Attributes:
        text: facts, context and sentences, between two lines with the same mark.
        cited: by number, ``S1`` for a sentence and ``F1`` for a fact.
    """

    text: str
    cited: dict[str, CitableItem]


def render_evidence(judge_input: JudgeInput, tokens: int) -> RenderedEvidence:
    """Return the evidence as text of about ``tokens`` tokens at most, best first.

    If not all fits, half of the room is for sentences and the context comes last; what does not fit is left out whole.
    A judge that is asked again sees nothing twice except what it kept.
    """
    left = tokens - FRAME_TOKENS
    half = left // 2
    citable: dict[str, CitableItem] = {}
    facts: list[str] = []
    sentences: list[str] = []

    def fits(line: str, kept: int = 0) -> bool:
        nonlocal left
        size = estimate_tokens(line) + 1
        if size > left - kept:
            return False
        left -= size
        return True

    for number, (line, item_cited) in enumerate(_fact_lines(judge_input), 1):
        if item_cited.key not in judge_input.seen and fits(said := f"[F{number}] {line}", half):
            facts.append(said)
            citable[f"F{number}"] = item_cited
    for number, candidate in enumerate(judge_input.sentences, 1):
        key = (candidate.source.turn.id, candidate.source.start)
        if key in judge_input.seen:
            continue
        if not fits(said := f"[S{number}] {_sentence_line(candidate)}"):
            break
        sentences.append(said)
        citation = Citation(candidate.evidence_id, candidate.source)
        citable[f"S{number}"] = CitableItem(key, (citation,), certain=candidate.gate >= 1, gate=candidate.gate)
    beside = [line for line in _context_lines(judge_input) if fits(line)] if judge_input.earlier is None else []
    return RenderedEvidence(frame((*facts, *beside, *sentences)), citable)


def frame(lines: Iterable[str]) -> str:
    """Return lines of data between two lines with the same mark, which takes `FRAME_TOKENS`."""
    frame = f"=== {secrets.token_hex(MARK_BYTES)} ==="
    return "\n".join((frame, *lines, frame))


def normalise_number(number: str) -> str:
    """Return a line number in our form, such as ``S1``, however the model writes it."""
    return number.strip("[] \n").upper()


def one_line(text: str, most: int = LINE_CHARS) -> str:
    """Return a text on one line, without invisible characters, cut after ``most`` characters."""
    shown = "".join(sign if sign.isprintable() else " " if sign.isspace() else "" for sign in text)
    line = " ".join(shown.split())
    return line if len(line) <= most else f"{line[:most]} …"


def _fact_lines(judge_input: JudgeInput) -> Iterator[tuple[str, CitableItem]]:
    """Yield facts in words with their items: those of the evidence, of the best paths, then of the roots."""
    seen: set[str] = set()
    for item in (item for item in judge_input.recall.evidence if item.kind == "fact"):
        seen.add(item.id)
        known = judge_input.known_facts.fact(item.id)
        if item_cited := (_citable_version(*known, judge_input.known_facts) if known else None) or _citable_item(
            item, judge_input.known_facts
        ):
            yield _fact_line(item.text, item.valid_from, item.valid_to, item.inferred), item_cited
    steps = [step.version.id for path in judge_input.recall.paths for step in path.steps]
    groups = [version.id for group in judge_input.known_facts.groups for version in group.versions]
    for name in dict.fromkeys((*steps, *groups)):
        if len(seen) >= FACTS:
            return
        found = judge_input.known_facts.fact(name)
        if name in seen or found is None:
            continue
        version, rule = found
        if item_cited := _citable_version(version, rule, judge_input.known_facts):
            seen.add(name)
            yield _fact_line(version.text, version.since, version.until, rule), item_cited


def _citable_version(version: Version, rule: Rule | None, knowledge: KnownFacts) -> CitableItem | None:
    places = [place for assertion in version.assertions if (place := knowledge.source(assertion))]
    citations = tuple(Citation(version.id, place) for place in places[:PLACES])
    if not citations:
        return None
    gate = knowledge.gate(citations)
    certain = rule is None and version.confidence >= STABLE and version.status != "contested" and gate >= 1
    return CitableItem(version.id, citations, certain, gate)


def _citable_item(item: Evidence, knowledge: KnownFacts) -> CitableItem | None:
    citations = tuple(Citation(item.id, place) for place in item.sources[:PLACES])
    if not citations:
        return None
    gate = knowledge.gate(citations)
    certain = item.inferred is None and (item.confidence or 1) >= STABLE and gate >= 1
    return CitableItem(item.id, citations, certain, gate)


def _fact_line(text: str, since: Millis | None, until: Millis | None, rule: Rule | None) -> str:
    parts = []
    if since is not None and since > BEGINNING and (start := iso.show(since)):
        parts.append(f"from {start}")
    if until is not None and until < FOREVER and (end := iso.show(until)):
        parts.append(f"until {end}")
    if rule is not None:
        parts.append(f"guessed by {rule}, nobody said it")
    return f"{one_line(text)} ({', '.join(parts)})" if parts else one_line(text)


def _sentence_line(candidate: EvidenceSentence) -> str:
    wrong = " (the user called this wrong for this question)" if candidate.gate < 1 else ""
    return f"{_heading(candidate.source.turn)}: {one_line(candidate.source.quote)}{wrong}"


def _heading(turn: Turn) -> str:
    """Return time and speaker of a turn; of a document without a date its title."""
    when = iso.show(turn.said_at) if turn.said_at is not None else None
    parts = [part for part in (when, turn.speaker or turn.title or turn.role) if part]
    return one_line(", ".join(parts), 100) or turn.kind


def _context_lines(judge_input: JudgeInput) -> Iterable[str]:
    recall = judge_input.recall
    yield from (f"Conflict: {one_line(conflict)}" for conflict in recall.conflicts[:BESIDE])
    yield from (f"Path: {one_line(serialise(path))}" for path in recall.paths[:BESIDE] if len(path.steps) > 1)
    yield from (f"Memory point: {one_line(one.description)}" for one in recall.points[:BESIDE])
