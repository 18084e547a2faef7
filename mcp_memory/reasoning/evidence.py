"""The evidence of a question as Claude sees it: points, then conversations in the order of time, in numbered lines.

What Claude kept when it was asked before is always shown, and first. Then come the memory points with the sentences
that they rest on, since a point is the condensed view (HGMem §3.6), the facts about what is asked that hold then, and
the sentences by rank. Sentences of one turn share a line, and turns of one conversation follow each other in the order
of time below a heading with the date, so that a model sees what followed on what. A number stands for a point (``P``),
a fact (``F``) or a piece of a turn (``S``), each of which can be cited.

**Departures.** HGMem answers from points and the passages of their entities (§3.6), QRMeM shows segments by rank
(§2.2). A trial with 137 requests showed that lines by rank use half of the room for who said them when, and that facts
beside the sentence that states them were never needed by themselves: so only those are shown that say more. Of an event
its interval says within what it was, not how long it took: "on a day between Mon 26 Jun 2023 and Sun 2 Jul 2023".
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from mcp_memory.domain.answers import EvidenceSentence, KnownFacts
from mcp_memory.domain.evidence import Citation, Path, Rule, Source
from mcp_memory.domain.facts import STABLE, Precision, Version
from mcp_memory.domain.points import Point
from mcp_memory.domain.times import BEGINNING, DAY, FOREVER, Millis
from mcp_memory.domain.turns import Turn
from mcp_memory.language import iso
from mcp_memory.language.stated import weekday_and_day, with_dates
from mcp_memory.language.tokens import stems
from mcp_memory.language.wishes import as_said
from mcp_memory.navigation.paths import leads_back, serialise
from mcp_memory.ports import JudgeInput
from mcp_memory.reasoning.client import (
    DELIMITER_TOKENS,
    SENTENCE_CHARS,
    delimit,
    estimate_tokens,
    prompt_line,
)
from mcp_memory.visible import as_name

SHOWN_OF_EACH = 5
"""Most conflicts, paths, guesses and memory points that are shown, of each."""
CITED_SENTENCES = 2
"""Sentences that are cited for one fact."""
RELEVANT_PATH, TELLING_PATH = 0.5, 0.5
"""Least S_QR of a path that is shown, and least S_AS, as a share of its confidence, of one with a hypothesis. (A trial
showed what a person owns, and what is mentioned together, with questions about something else.)"""


@dataclass(frozen=True, slots=True)
class CitableItem:
    """What a number stands for.

    Attributes:
        keys: by which a judge that is asked again need not see it once more: the id of a point or fact, or the turn and
            the first character of each sentence.
        citations: where it is stated.
        certain: whether it is stated with certainty (no hypothesis, DESIGN I11) and not marked as wrong for this
            question.
        point: the memory point, if it is one; None for anything else.
    """

    keys: frozenset[Hashable]
    citations: tuple[Citation, ...]
    certain: bool = True
    point: Point | None = None


@dataclass(frozen=True, slots=True)
class RenderedEvidence:
    """What a model sees, and what its numbers mean.

    Attributes:
        text: points, facts, context and sentences, between two lines with the same mark.
        cited: by number, ``P1`` for a memory point, ``S1`` for a piece of a turn and ``F1`` for a fact.
    """

    text: str
    cited: dict[str, CitableItem]


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
    for path in judge_input.recall.paths[:SHOWN_OF_EACH]:
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
    enough = path.scores.sufficiency >= TELLING_PATH * path.confidence if path.inferred else True
    return path.scores.relevance >= RELEVANT_PATH and enough


def _holds(version: Version, moment: Millis) -> bool:
    return version.since <= moment < version.until


def _citable(version: Version, rule: Rule | None, knowledge: KnownFacts) -> CitableItem | None:
    places = [place for assertion in version.assertions if (place := knowledge.source(assertion))]
    citations = tuple(Citation(version.id, place) for place in places[:CITED_SENTENCES])
    if not citations:
        return None
    doubtless = version.confidence >= STABLE and version.status != "contested" and knowledge.gate(citations) >= 1
    return CitableItem(frozenset([version.id]), citations, certain=rule is None and doubtless)


def _version_line(version: Version, rule: Rule | None) -> str:
    """Return a fact with its times; an event without a stated one has only the day of its message, which is none."""
    parts = []
    timed = version.stated and version.precision != "before"
    if version.kind == "event":
        parts += [_happened(version.since, version.until, version.precision)] if timed else []
    else:
        start, end = iso.show(version.since // DAY * DAY), iso.show(version.until // DAY * DAY)
        parts += [f"from {start}"] if timed and start and version.since > BEGINNING else []
        parts += [f"until {end}"] if end and version.until < FOREVER else []
    parts += [f"guessed by {rule}, nobody said it"] if rule else []
    return f"{prompt_line(version.text)} ({', '.join(parts)})" if parts else prompt_line(version.text)


def _happened(since: Millis, until: Millis, precision: Precision | None) -> str:
    """Return when an event was: its interval says within what, not how long it took."""
    first, last = weekday_and_day(since), weekday_and_day(until - 1)
    if until - since <= DAY:
        return f"on {first}"
    if precision in ("month", "year") and len(words := first.split()) == 4:
        return f"in {' '.join(words[2:] if precision == 'month' else words[3:])}"
    return f"on a day between {first} and {last}"


SHOWN_WISHES = 3
"""Most standing wishes of the user that are shown."""
SHOWN_FACTS = 12
"""Most facts that are shown."""
POINT_SHARE = 0.4
"""Largest share of the room that points and the sentences they rest on take."""
PIECE_CHARS = 320
"""Characters of one line: a longer turn has several, so that a citation stays precise."""
KEPT, NEW = "What you kept:", "Found since:"
"""The lines above what a judge that is asked again kept, and above the rest."""
_PREFIX_CHARS = 24  # characters of a number and a speaker's name, about
_Place = tuple[str, int]  # the id of a turn, and the first character of a sentence of it


@dataclass(slots=True)
class _Shown:
    """What is shown, before it is put in order, and the room that is left.

    Attributes:
        left: tokens, by the estimate.
        sentences: by turn, each by its first character.
        headings: the lines above turns.
        points: lines with their items.
        facts: lines with their items.
    """

    left: int
    sentences: dict[str, dict[int, EvidenceSentence]] = field(default_factory=dict)
    headings: set[str] = field(default_factory=set)
    points: list[tuple[str, CitableItem]] = field(default_factory=list)
    facts: list[tuple[str, CitableItem]] = field(default_factory=list)

    def takes(self, text: str, more: int = 0, spare: int = 0) -> bool:
        """Return whether a line with ``more`` characters beside it leaves ``spare`` tokens, and take its room if so."""
        size = estimate_tokens(text + " " * more) + 1
        if size > self.left - spare:
            return False
        self.left -= size
        return True

    def add(self, sentence: EvidenceSentence, spare: int = 0) -> bool:
        """Show a sentence if it fits, and return whether it is shown."""
        turn = sentence.source.turn
        if sentence.source.start in self.sentences.get(turn.id, {}):
            return True
        heading = _heading(turn)
        more = 0 if turn.id in self.sentences else _PREFIX_CHARS + len(turn.speaker or "")
        more += _PREFIX_CHARS * (2 * len(sentence.source.quote) // PIECE_CHARS)
        more += 0 if heading in self.headings else len(heading) + 1
        if not self.takes(_words(sentence), more, spare):
            return False
        self.headings.add(heading)
        self.sentences.setdefault(turn.id, {})[sentence.source.start] = sentence
        return True


def render_evidence(judge_input: JudgeInput, tokens: int) -> RenderedEvidence:
    """Return the evidence as text of about ``tokens`` tokens at most.

    What does not fit is left out whole, the last by rank first. A judge that is asked again sees nothing twice except
    what it kept.
    """
    recall, earlier = judge_input.recall, judge_input.earlier
    kept = earlier.kept if earlier else ()
    kept_places = {(one.source.turn.id, one.source.start) for one in kept}
    kept_ids = {one.evidence_id for one in kept}
    shown = _Shown(tokens - DELIMITER_TOKENS)
    known = {_place(sentence): sentence for sentence in judge_input.shown}
    for one in kept:  # as it was shown, whatever recall cuts it to now
        sentence = known.get((one.source.turn.id, one.source.start))
        shown.add(
            replace(sentence, source=one.source)
            if sentence is not None
            else EvidenceSentence(one.evidence_id, one.source)
        )
    _render_points(judge_input, kept_ids, shown)
    # an answer follows the standing wishes that fit the question, so they are in every request
    context = [f"Wish: {prompt_line(as_said(wish), 350)}" for wish in recall.wishes[:SHOWN_WISHES]]
    if earlier is None:
        context += [f"Conflict: {prompt_line(conflict)}" for conflict in recall.conflicts[:SHOWN_OF_EACH]]
        paths = (path for path in recall.paths[:SHOWN_OF_EACH] if len(path.steps) > 1 and bears(path))
        context += [f"Path: {prompt_line(serialise(path))}" for path in paths]
    context = [line for line in context if shown.takes(line)]
    for line, item in fact_lines(judge_input):
        fact_id = item.citations[0].evidence_id
        new = fact_id not in judge_input.seen or fact_id in kept_ids
        if new and len(shown.facts) < SHOWN_FACTS and shown.takes(f"[F99] {line}"):
            shown.facts.append((line, item))
    for sentence in judge_input.shown:
        place = _place(sentence)
        if (place not in judge_input.seen or place in kept_places) and not shown.add(sentence):
            break
    return _lay_out(shown, context, kept_places)


def _render_points(judge_input: JudgeInput, kept_ids: set[str], shown: _Shown) -> None:
    """Show the points of the question and those that were kept, then others, with the sentences that they rest on.

    The first are always there; the others and all sentences have `POINT_SHARE` of the room.
    """
    always = kept_ids.union(point.id for point in judge_input.working)
    spare = int((1 - POINT_SHARE) * shown.left)
    chosen: list[Point] = []
    for point in sorted(judge_input.recall.points, key=lambda point: point.id not in always):
        first = point.id in always
        if not first and (point.id in judge_input.seen or len(chosen) >= SHOWN_OF_EACH):
            continue
        if not shown.takes(f"[P99] {_point_line(point)}", spare=0 if first else spare):
            break
        chosen.append(point)
    for point in chosen:
        rests_on = judge_input.point_sentences.get(point.id, ())
        for sentence in rests_on:
            shown.add(sentence, spare)
        citations = tuple(Citation(sentence.evidence_id, sentence.source) for sentence in rests_on)
        item = CitableItem(frozenset([point.id]), citations, certain=point.source != "embedded", point=point)
        shown.points.append((_point_line(point), item))


def _lay_out(shown: _Shown, context: Iterable[str], kept: Collection[_Place]) -> RenderedEvidence:
    """Return what is shown as text: points, context, facts, what the judge kept, and the rest.

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
    parts: dict[str, dict[str, dict[int, EvidenceSentence]]] = {KEPT: {}, NEW: {}}
    for turn_id, spans in shown.sentences.items():
        for start, sentence in spans.items():
            parts[KEPT if (turn_id, start) in kept else NEW].setdefault(turn_id, {})[start] = sentence
    for title, part in parts.items():
        lines += [title] if part and parts[KEPT] else []
        heading = ""
        turns = [next(iter(spans.values())).source.turn for spans in part.values()]
        turns.sort(key=lambda one: (one.kind != "document", one.said_at or 0, one.session, one.written_at, one.place))
        for turn in turns:
            if _heading(turn) != heading:
                heading = _heading(turn)
                lines.append(heading)
            for text, piece in _pieces_said(turn, part[turn.id]):
                citations = tuple(Citation(sentence.evidence_id, sentence.source) for sentence in piece)
                gate = piece[0].gate
                wrong = " (the user called this wrong for this question)" if gate < 1 else ""
                item = CitableItem(frozenset(map(_place, piece)), citations, certain=gate >= 1)
                add("S", f"{_speaker(turn)}{text}{wrong}", item)
    return RenderedEvidence(delimit(lines), cited)


def _pieces_said(turn: Turn, sentences: dict[int, EvidenceSentence]) -> Iterator[tuple[str, list[EvidenceSentence]]]:
    """Yield the pieces of a turn with their words, "…" wherever words of the turn are left out."""
    text, end = turn.text, 0
    pieces = list(_pieces(sentences))
    for piece in pieces:
        said = ""
        for sentence in piece:
            gap = text[end : sentence.source.start]
            apart = gap or text[end - 1 : end].isspace()
            said += (" … " if said else "… ") if gap.strip() else " " if said and apart else ""
            said += _words(sentence)
            end = sentence.source.end
        goes_on = piece is pieces[-1] and text[end:].strip() and not said.endswith("…")
        yield (f"{said} …" if goes_on else said), piece


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


def _words(sentence: EvidenceSentence) -> str:
    """Return a sentence as it is shown, with its dates."""
    said = with_dates(sentence.source.quote, sentence.source.turn.local_said_at)
    return prompt_line(said, SENTENCE_CHARS)


def _place(sentence: EvidenceSentence) -> _Place:
    return sentence.source.turn.id, sentence.source.start


def _heading(turn: Turn) -> str:
    """Return the line above the turns of a day of a conversation, or of a document."""
    day = weekday_and_day(turn.local_time) if turn.said_at is not None else ""
    what = "document" if turn.kind == "document" else "conversation"
    name = as_name(prompt_line((turn.title or turn.ref) if what == "document" else turn.session, 100))
    return f"-- {', '.join(part for part in (day, f'{what} {name}') if part)}"


def _speaker(turn: Turn) -> str:
    who = turn.speaker or turn.role or ""
    return f"{as_name(prompt_line(who, 60))}: " if who and turn.kind != "document" else ""


def _point_line(point: Point) -> str:
    by = "" if point.source != "caller" else " (the user's own words)"
    return f"{prompt_line(', '.join(point.entities), 200)}: {prompt_line(point.description)}{by}"
