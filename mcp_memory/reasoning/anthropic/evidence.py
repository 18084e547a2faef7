"""The evidence of a question as Claude sees it: points, then conversations in the order of time, in numbered lines.

Three things are decided here, in this order:

1. **What is shown.** What Claude kept when it was asked before comes first, and is always there. Then come the memory
   points with the sentences that they rest on, since a point is the condensed view (HGMem §3.3.4), the facts about
   what is asked that hold then, and the sentences by rank. A hypothesis says by which rule it was guessed.
2. **Where it stands.** Sentences of one turn share a line, turns of one conversation follow each other in the order of
   time below one heading with the weekday and the date. So a model sees what followed on what, and no line repeats
   who said it when. A relative time is followed by the date that it means.
3. **What a number means.** ``P`` is a point, ``F`` a fact, ``S`` a piece of a turn. Each can be cited.

**Departures.** HGMem answers from points and the passages of their entities (§3.3.4), QRMeM shows segments by rank
(§2.2). A trial with 137 requests showed that lines by rank use half of the room for who said them when, and that facts
beside the sentence that states them were never needed by themselves: so only those are shown that say more. Of an event
its interval says within what it was, not how long it took: "on a day between Mon 26 Jun 2023 and Sun 2 Jul 2023".
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from mcp_memory.domain.answers import EvidenceSentence, Frontier, KnownFacts
from mcp_memory.domain.evidence import Citation, Source
from mcp_memory.domain.facts import STABLE, Precision, Version
from mcp_memory.domain.paths import Path, Rule
from mcp_memory.domain.points import Point
from mcp_memory.domain.times import BEGINNING, FOREVER, Millis
from mcp_memory.domain.turns import Turn
from mcp_memory.language import iso
from mcp_memory.language.stated import weekday_and_day, with_dates
from mcp_memory.language.tokens import stems
from mcp_memory.language.wishes import as_said
from mcp_memory.navigation.paths import leads_back, serialise
from mcp_memory.ports import JudgeInput
from mcp_memory.reasoning.anthropic.messages import (
    FRAME_TOKENS,
    SENTENCE_CHARS,
    CitableItem,
    RenderedEvidence,
    estimate_tokens,
    frame,
    prompt_line,
)
from mcp_memory.visible import as_name

BESIDE = 5
"""Most conflicts, paths, guesses and memory points that are shown, of each."""
PLACES = 2
"""Sentences that are cited for one fact."""
RELEVANT, TELLING = 0.5, 0.5
"""Least S_QR of a path that is shown, and least S_AS, as a share of its confidence, of one with a hypothesis. (A trial
showed what a person owns, and what is mentioned together, with questions about something else.)"""


def fact_lines(judge_input: JudgeInput) -> Iterator[tuple[str, CitableItem]]:
    """Yield the facts on what is asked that hold then, and hypotheses, each once as a line with what it cites."""
    used: set[str] = set()
    for version, rule in _relevant(judge_input):
        if version.id not in used and (item := _citable(version, rule, judge_input.known_facts)):
            used.add(version.id)
            if rule or _says_more(version, item.citations[0].source):
                yield _version_line(version, rule), item


def _says_more(version: Version, source: Source) -> bool:
    """Return whether a fact says more than its sentence: a time, an end, a doubt, or whom a pronoun means."""
    told = {*stems(source.quote), *stems(source.turn.speaker or "")}
    plain = not version.stated and version.current and version.confidence >= STABLE
    return not (plain and told.issuperset(stems(f"{version.head} {version.tail}")))


def _relevant(judge_input: JudgeInput) -> Iterator[tuple[Version, Rule | None]]:
    """Yield the facts of the evidence and the paths, and of the entities asked about those of the relations asked for.

    A fact that does not hold at the moment that is asked about is left out, unless recall found it as evidence.
    """
    knowledge = judge_input.known_facts
    for item in judge_input.recall.evidence:
        if item.kind == "fact" and item.inferred != "cooccurrence" and (known := knowledge.fact(item.id)):
            yield known
    asked = judge_input.query.relations
    for path in judge_input.recall.paths[:BESIDE]:
        for step in path.steps:
            if _holds(step.version, knowledge.moment) and (not step.inferred or bears(path)):
                yield step.version, step.inferred
    for group in knowledge.groups:
        if group.relation in asked or (not asked and group.inferred is None):
            yield from ((one, group.inferred) for one in group.versions if _holds(one, knowledge.moment))


def bears(path: Path) -> bool:
    """Return whether a path has enough to do with what is asked; a hypothesis has to tell some of it, too."""
    if any(leads_back(replace(path, steps=path.steps[: place + 1])) for place in range(len(path.steps))):
        return False
    enough = path.scores.sufficiency >= TELLING * path.confidence if path.inferred else True
    return path.scores.relevance >= RELEVANT and enough


def _holds(version: Version, moment: Millis) -> bool:
    return version.since <= moment < version.until


def _citable(version: Version, rule: Rule | None, knowledge: KnownFacts) -> CitableItem | None:
    places = [place for assertion in version.assertions if (place := knowledge.source(assertion))]
    citations = tuple(Citation(version.id, place) for place in places[:PLACES])
    if not citations:
        return None
    gate = knowledge.gate(citations)
    certain = rule is None and version.confidence >= STABLE and version.status != "contested" and gate >= 1
    return CitableItem(version.id, citations, certain, gate)


def _version_line(version: Version, rule: Rule | None) -> str:
    """Return a fact with its times; an event without a stated one has only the day of its message, which is none."""
    parts = []
    timed = version.stated and version.precision != "before"
    if version.kind == "event":
        parts += [_happened(version.since, version.until, version.precision)] if timed else []
    else:
        start, end = iso.show(version.since // iso.DAY * iso.DAY), iso.show(version.until // iso.DAY * iso.DAY)
        parts += [f"from {start}"] if timed and start and version.since > BEGINNING else []
        parts += [f"until {end}"] if end and version.until < FOREVER else []
    parts += [f"guessed by {rule}, nobody said it"] if rule else []
    return f"{prompt_line(version.text)} ({', '.join(parts)})" if parts else prompt_line(version.text)


def _happened(since: Millis, until: Millis, precision: Precision | None) -> str:
    """Return when an event was: its interval says within what, not how long it took."""
    first, last = weekday_and_day(since), weekday_and_day(until - 1)
    if until - since <= iso.DAY:
        return f"on {first}"
    if precision in ("month", "year") and len(words := first.split()) == 4:
        return f"in {' '.join(words[2:] if precision == 'month' else words[3:])}"
    return f"on a day between {first} and {last}"


WISHES = 3
"""Most standing wishes of the user that are shown."""
FACTS = 12
"""Most facts that are shown."""
POINT_SHARE = 0.4
"""Largest share of the room that points and the sentences they rest on take."""
LEADS_SHARE = 0.15
"""Largest share of the lines that say where the evidence leads."""
PIECE_CHARS = 320
"""Characters of one line: a longer turn has several, so that a citation stays precise."""
KEPT, NEW = "What you kept:", "Found since:"
"""The lines above what a judge that is asked again kept, and above the rest."""
_PREFIX = 24  # characters of a number and a speaker's name, about


@dataclass(slots=True)
class _Room:
    """The characters that are left, by the estimate of tokens."""

    left: int

    def takes(self, text: str, more: int = 0) -> bool:
        """Return whether a line with ``more`` characters beside it fits, and take its room if so."""
        size = estimate_tokens(text + " " * more) + 1
        if size > self.left:
            return False
        self.left -= size
        return True


@dataclass(slots=True)
class _Shown:
    """What is shown, before it is put in order.

    Attributes:
        kept: places of what the judge kept.
        sentences: by turn, each by its first character.
        points: lines with their items.
        facts: lines with their items.
        headings: the lines above turns.
    """

    kept: Collection[tuple[str, int]]
    sentences: dict[str, dict[int, EvidenceSentence]] = field(default_factory=dict)
    points: list[tuple[str, CitableItem]] = field(default_factory=list)
    facts: list[tuple[str, CitableItem]] = field(default_factory=list)
    headings: set[str] = field(default_factory=set)

    def has(self, place: tuple[str, int]) -> bool:
        return place[1] in self.sentences.get(place[0], {})

    def words(self, sentence: EvidenceSentence) -> str:
        """Return a sentence as it is shown, with its dates."""
        said = with_dates(sentence.source.quote, sentence.source.turn.local_said_at)
        return prompt_line(said, SENTENCE_CHARS)

    def said(self, piece: Sequence[EvidenceSentence], end: int, *, last: bool) -> str:
        """Return sentences of a turn as they are shown, "…" wherever words of the turn are left out.

        Args:
            piece: the sentences, in their order.
            end: the end of what was shown of the turn before them.
            last: whether nothing of the turn is shown behind them.
        """
        text = piece[0].source.turn.text
        said = ""
        for sentence in piece:
            gap = text[end : sentence.source.start]
            apart = gap or text[end - 1 : end].isspace()
            said += (" … " if said else "… ") if gap.strip() else " " if said and apart else ""
            said += self.words(sentence)
            end = sentence.source.end
        return f"{said} …" if last and text[end:].strip() and not said.endswith("…") else said


def render_evidence(judge_input: JudgeInput, tokens: int, *, last: bool = False) -> RenderedEvidence:
    """Return the evidence as text of about ``tokens`` tokens at most; for the last look without where it leads.

    What does not fit is left out whole, the last by rank first. A judge that is asked again sees nothing twice except
    what it kept.
    """
    kept_places, kept_ids = _kept_by_judge(judge_input)
    room = _Room(tokens - FRAME_TOKENS)
    shown = _Shown(kept_places)
    share = _Room(int(LEADS_SHARE * room.left))
    leads = [] if last else [line for line in _leads(judge_input.frontier) if share.takes(line)]
    room.left -= max(0, sum(estimate_tokens(line) + 1 for line in leads))
    for sentence in _kept_sentences(judge_input):
        _show(sentence, shown, room)
    _show_points(judge_input, kept_ids, shown, room)
    # an answer follows the standing wishes that fit the question, so they are in every request
    wishes = (f"Wish: {prompt_line(as_said(wish), 350)}" for wish in judge_input.recall.wishes[:WISHES])
    context = [line for line in wishes if room.takes(line)]
    context += [line for line in _context_lines(judge_input) if room.takes(line)] if not judge_input.earlier else []
    for line, item in fact_lines(judge_input):
        new = item.key not in judge_input.seen or item.key in kept_ids
        if new and len(shown.facts) < FACTS and room.takes(f"[F99] {line}"):
            shown.facts.append((line, item))
    for sentence in judge_input.shown:
        place = _place(sentence)
        if place in judge_input.seen and place not in kept_places:
            continue
        if not shown.has(place) and not _show(sentence, shown, room):
            break
    return _lay_out(shown, context, leads)


def _show_points(judge_input: JudgeInput, kept_ids: set[str], shown: _Shown, room: _Room) -> None:
    """Show the points of the question and those that were kept, then others, with the sentences that they rest on.

    The first are always there; the others and all sentences have `POINT_SHARE` of the room.
    """
    always = kept_ids.union(judge_input.working)
    points = sorted(judge_input.recall.points, key=lambda point: point.id not in always)
    share = _Room(int(POINT_SHARE * room.left))
    chosen: list[Point] = []
    for point in points:
        line, first = f"[P99] {_point_line(point)}", point.id in always
        if not first and (point.id in judge_input.seen or len(chosen) >= BESIDE):
            continue
        if not (room if first else share).takes(line):
            break
        room.left -= 0 if first else estimate_tokens(line) + 1
        chosen.append(point)
    before = share.left = min(share.left, room.left)
    for point in chosen:
        rests_on = judge_input.point_sentences.get(point.id, ())
        for sentence in rests_on:
            if not shown.has(_place(sentence)):
                _show(sentence, shown, share)
        citations = tuple(Citation(sentence.evidence_id, sentence.source) for sentence in rests_on)
        item = CitableItem(point.id, citations, certain=point.source != "embedded", point=point)
        shown.points.append((_point_line(point), item))
    room.left -= before - share.left


def _show(sentence: EvidenceSentence, shown: _Shown, room: _Room) -> bool:
    """Show a sentence if it fits, and return whether it does."""
    turn = sentence.source.turn
    heading = _heading(turn)
    more = 0 if turn.id in shown.sentences else _PREFIX + len(turn.speaker or "")
    more += _PREFIX * (2 * len(sentence.source.quote) // PIECE_CHARS)
    if heading not in shown.headings:
        more += len(heading) + 1
    if not room.takes(shown.words(sentence), more):
        return False
    shown.headings.add(heading)
    shown.sentences.setdefault(turn.id, {})[sentence.source.start] = sentence
    return True


def _lay_out(shown: _Shown, context: Iterable[str], leads: Iterable[str]) -> RenderedEvidence:
    """Return what is shown as text: points, context, facts, what the judge kept, the rest, and where it leads.

    What was kept and the rest stand in the order of time each.
    """
    cited: dict[str, CitableItem] = {}
    lines: list[str] = []

    def add(letter: str, line: str, item: CitableItem) -> None:
        number = f"{letter}{sum(1 for known in cited if known[0] == letter) + 1}"
        cited[number] = item
        lines.append(f"[{number}] {line}")

    for line, item in shown.points:
        add("P", line, item)
    lines += context
    for line, item in shown.facts:
        add("F", line, item)
    for title, chosen in _parts(shown):
        lines += [title] if title else []
        turns = [next(iter(sentences.values())).source.turn for sentences in chosen.values()]
        heading = ""
        for turn in sorted(turns, key=_order):
            if _heading(turn) != heading:
                heading = _heading(turn)
                lines.append(heading)
            end = 0
            for piece in (pieces := list(_pieces(chosen[turn.id]))):
                text, end = shown.said(piece, end, last=piece is pieces[-1]), piece[-1].source.end
                citations = tuple(Citation(sentence.evidence_id, sentence.source) for sentence in piece)
                gate = min(sentence.gate for sentence in piece)
                wrong = " (the user called this wrong for this question)" if gate < 1 else ""
                places = frozenset(map(_place, piece))
                item = CitableItem(_place(piece[0]), citations, certain=gate >= 1, gate=gate, places=places)
                add("S", f"{_speaker(turn)}{text}{wrong}", item)
    return RenderedEvidence(frame([*lines, *leads]), cited)


def _parts(shown: _Shown) -> Iterator[tuple[str, dict[str, dict[int, EvidenceSentence]]]]:
    """Yield what the judge kept and what is new, each with the line above it; none where it kept nothing."""
    parts: dict[str, dict[str, dict[int, EvidenceSentence]]] = {KEPT: {}, NEW: {}}
    for turn, spans in shown.sentences.items():
        for start, sentence in spans.items():
            parts[KEPT if (turn, start) in shown.kept else NEW].setdefault(turn, {})[start] = sentence
    titled = bool(parts[KEPT])
    yield from ((title if titled else "", part) for title, part in parts.items() if part)


def _pieces(sentences: dict[int, EvidenceSentence]) -> Iterator[list[EvidenceSentence]]:
    """Yield the sentences of a turn in order, as many to a piece as a line may have, of one gate each."""
    piece: list[EvidenceSentence] = []
    for _, sentence in sorted(sentences.items()):
        size = sum(len(one.source.quote) for one in (*piece, sentence))
        if piece and (size > PIECE_CHARS or sentence.gate != piece[0].gate):
            yield piece
            piece = []
        piece.append(sentence)
    yield piece


def _place(sentence: EvidenceSentence) -> tuple[str, int]:
    return sentence.source.turn.id, sentence.source.start


def _order(turn: Turn) -> tuple[bool, Millis, str, Millis, int]:
    """Return the place of a turn: documents first, then conversations by time, their turns in order."""
    return turn.kind != "document", turn.said_at or 0, turn.session, turn.written_at, turn.place


def _heading(turn: Turn) -> str:
    """Return the line above the turns of a day of a conversation, or of a document."""
    day = weekday_and_day(turn.local_time) if turn.said_at is not None else ""
    what = "document" if turn.kind == "document" else "conversation"
    name = as_name(prompt_line((turn.title or turn.ref) if what == "document" else turn.session, 100))
    return f"-- {', '.join(part for part in (day, f'{what} {name}') if part)}"


def _speaker(turn: Turn) -> str:
    who = turn.speaker or turn.role or ""
    return f"{as_name(prompt_line(who, 60))}: " if who and turn.kind != "document" else ""


def _kept_by_judge(judge_input: JudgeInput) -> tuple[set[tuple[str, int]], set[str]]:
    """Return the places of the sentences and the ids of facts and points that the judge kept when it was asked."""
    kept = judge_input.earlier.kept if judge_input.earlier else ()
    return {(one.source.turn.id, one.source.start) for one in kept}, {one.evidence_id for one in kept}


def _kept_sentences(judge_input: JudgeInput) -> Iterator[EvidenceSentence]:
    """Yield what the judge kept as it was shown, whatever recall cuts it to now."""
    kept = judge_input.earlier.kept if judge_input.earlier else ()
    known = {_place(sentence): sentence for sentence in judge_input.shown}
    for one in kept:
        if (sentence := known.get((one.source.turn.id, one.source.start))) is not None:
            yield replace(sentence, source=one.source)
        else:
            yield EvidenceSentence(one.evidence_id, one.source, (), 0.0, None)


def _point_line(point: Point) -> str:
    by = "" if point.source != "caller" else " (the user's own words)"
    return f"{prompt_line(', '.join(point.entities), 200)}: {prompt_line(point.description)}{by}"


def _leads(frontier: Frontier) -> Iterator[str]:
    """Yield where the evidence leads, each way with how much is there (MRAgent's Z)."""
    cues = []
    for cue, count, tags in frontier.cues:
        themes = f" ({prompt_line(', '.join(tags), 60)})" if tags else ""
        cues.append(f"{prompt_line(cue, 60)} {count}{themes}")
    if cues:
        yield f"In further pieces: {'; '.join(cues)}"
    aspects: dict[str, list[str]] = {}
    for name, kind, count in frontier.aspects:
        aspects.setdefault(name, []).append(f"{kind} {count}")
    for name, kinds in aspects.items():
        yield f"Facts of {prompt_line(name, 60)}: {prompt_line(', '.join(kinds), 200)}"
    if frontier.topics:
        topics = (f"{prompt_line(terms, 100)} {count}" for terms, count in frontier.topics)
        yield f"Topics: {'; '.join(topics)}"


def _context_lines(judge_input: JudgeInput) -> Iterable[str]:
    recall = judge_input.recall
    yield from (f"Conflict: {prompt_line(conflict)}" for conflict in recall.conflicts[:BESIDE])
    paths = (path for path in recall.paths[:BESIDE] if len(path.steps) > 1 and bears(path))
    yield from (f"Path: {prompt_line(serialise(path))}" for path in paths)
