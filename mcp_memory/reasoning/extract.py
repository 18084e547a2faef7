"""Claude as a reader of texts: extract facts that rules miss, implied, passive or spread over clauses (DESIGN L1).

It sees some texts of one session as numbered sentences, and names for each fact (REAL §III-A) the line that states it.
The rest is decided by code, not by the model: the number gives the sentence, and names and times are resolved here. The
log counts the facts that are dropped: those whose words or times make no sense, and those whose head or tail stands
nowhere in the text, since a model may invent a name (DESIGN 1).

Names are kept as written, except "I" and "you", which the message resolves; other pronouns are dropped. Times are
parsed by our own calendar and treated as the embedded engine treats them: a stated time, otherwise the time of the
message.

**Departures.** In MRAgent a model returns sentences, cues and tags, too. Here these are derived from the
text alone, so that a memory with a key is built like one without, and one call reads twice as much.
"""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial

from mcp_memory.domain.facts import Assertion, Intent, Validity, new_assertion
from mcp_memory.domain.relations import relations
from mcp_memory.domain.times import BEGINNING, FOREVER, Millis
from mcp_memory.domain.turns import Excerpt, Turn, speaker
from mcp_memory.language import iso
from mcp_memory.language.tokens import words
from mcp_memory.reasoning.client import SENTENCE_CHARS, Budget, Claude, Form, delimit, prompt_line
from mcp_memory.texts import prompt

READING_CALLS, READING_TOKENS = 8, 20_000
"""Limits of one reading. It is asked once; only an overloaded server or a broken connection is asked again."""
MOST_FACTS = 120
"""Most facts of one reply that are read; a regular reply has room for less than half as many."""
LEAST_CONFIDENCE = 0.01
"""The lowest confidence of an assertion; 0 would mean that the text denies it."""
NAME_CHARS = 200
"""Characters in a head or a tail; a longer one is a clause, not a name."""

_log = logging.getLogger(__name__)


class FactsForm(Form):
    """What is stated."""

    facts: list[Fact]


@dataclass(frozen=True, slots=True)
class RenderedTexts:
    """What a model sees, and what its numbers mean.

    Attributes:
        text: the sentences, between two lines with the same mark.
        lines: for each number the text and the index of its sentence.
    """

    text: str
    lines: Mapping[int, tuple[Excerpt, int]]


@dataclass(frozen=True, slots=True)
class ClaudeTextReader:
    """Asks Claude; fulfils `ports.TextReader`."""

    claude: Claude

    @property
    def ready(self) -> bool:
        """See `ports.TextReader`."""
        return self.claude.ready

    async def read(self, excerpts: Sequence[Excerpt], before: Sequence[Excerpt]) -> list[Assertion]:
        """See `ports.TextReader`."""
        rendered = render_texts(excerpts, before)
        if not rendered.lines:
            return []
        asked, use = (
            prompt("temporal/asked.txt").substitute(texts=rendered.text),
            partial(to_assertions, rendered=rendered),
        )
        budget = Budget(READING_CALLS, READING_TOKENS)
        return await self.claude.ask(system_prompt(), asked, FactsForm, use, budget, sent_back=False)


def system_prompt() -> str:
    """Return the system prompt of every reading."""
    names = ", ".join(relation.name for relation in relations())
    return prompt("temporal/system.txt").substitute(relations=names).strip()


def render_texts(excerpts: Sequence[Excerpt], before: Sequence[Excerpt]) -> RenderedTexts:
    """Return sentences as numbered lines, under a line that says who speaks to whom and when."""
    shown: list[str] = []
    lines: dict[int, tuple[Excerpt, int]] = {}
    for excerpt in before:
        who = f"{prompt_line(name, 100)}: " if (name := speaker(excerpt.turn)) else ""
        shown += [f"[-] {who}{sentence}" for _, sentence in _sentences(excerpt)]
    for excerpt in excerpts:
        sentences = list(_sentences(excerpt))
        shown += [_heading(excerpt)] if sentences else []
        for index, sentence in sentences:
            lines[len(lines) + 1] = excerpt, index
            shown.append(f"[{len(lines)}] {sentence}")
    return RenderedTexts(delimit(shown), lines)


def to_assertions(reply: FactsForm, rendered: RenderedTexts) -> list[Assertion]:
    """Return the facts of a reply in the order of the texts; each of them is stated by its own text."""
    made = [to_assertion(fact, *place) for fact in reply.facts[:MOST_FACTS] if (place := rendered.lines.get(fact.line))]
    kept = {assertion.id: assertion for assertion in made if assertion is not None}
    if len(kept) < len(reply.facts):
        _log.info("Of %d facts that Claude read, %d are not kept.", len(reply.facts), len(reply.facts) - len(kept))
    return list(kept.values())


def _sentences(excerpt: Excerpt) -> Iterator[tuple[int, str]]:
    for index in range(excerpt.first, excerpt.stop):
        start, end = excerpt.sentences[index]
        if sentence := prompt_line(excerpt.turn.text[start:end], SENTENCE_CHARS):
            yield index, sentence


def _heading(excerpt: Excerpt) -> str:
    """Return speaker, addressee and time of a text, or the title of a document. It cannot pass for a numbered line."""
    turn = excerpt.turn
    if turn.kind == "document":
        parts = ["a document", *([f'"{turn.title}"'] if turn.title else ())]
        parts += [_day(turn.local_time)] if turn.said_at is not None else []
    else:
        to = f" to {excerpt.partner}" if excerpt.partner else ""
        parts = [f"{speaker(turn) or turn.role}{to}", _day(turn.local_time)]
    return f"From {prompt_line(', '.join(parts), 300)}:"


def _day(moment: Millis) -> str:
    try:
        return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=moment)).strftime("%A %Y-%m-%d")
    except OverflowError:
        return "an unknown day"


EARLIER = "earlier"
"""As the start of a fact: an unknown time before the message."""
ENDED = "over"
"""As the end of a fact: an unknown time before the message."""

_RELATION = re.compile(r"[^\W\d_]\w{0,49}")
_SPEAKER = frozenset(("i", "me", "myself", "my", "mine"))
_PARTNER = frozenset(("you", "yourself", "your", "yours"))
_UNRESOLVED = frozenset(
    words(
        "he him himself his she her herself hers it itself its they them themselves their theirs we us ourselves our"
        " ours this that these those here there who someone somebody something everyone everybody one"
    )
)


class Fact(Form):
    """A fact as Claude returns it. The prompt says what its fields mean; ranges are checked for each fact."""

    line: int
    head: str
    relation: str
    tail: str
    since: str = ""
    until: str = ""
    confidence: float = 0.95
    negated: bool = False
    change: bool = False
    intent: Intent = "FACT"


def to_assertion(fact: Fact, excerpt: Excerpt, index: int) -> Assertion | None:
    """Return a fact as an assertion of its sentence, or None if it makes no sense or is not in the text."""
    turn = excerpt.turn
    relation = relations().name(fact.relation[:NAME_CHARS])
    head, tail = (_resolved_name(name, turn, excerpt.partner) for name in (fact.head, fact.tail))
    validity = _validity(fact, relation, turn)
    if not (head and tail and validity and _RELATION.fullmatch(relation)) or head.casefold() == tail.casefold():
        return None
    if not (_is_written(head, excerpt) and _is_written(tail, excerpt) and math.isfinite(fact.confidence)):
        return None
    if tail == speaker(turn) and relations().get(relation).symmetric:  # the fact is about the speaker
        head, tail = tail, head
    since, until, stated = validity
    if since >= until:
        return None
    holds = Validity(since, until, stated, fact.negated, fact.change)
    confidence = min(max(fact.confidence, LEAST_CONFIDENCE), 1.0)
    return new_assertion(
        turn, index, excerpt.sentences[index], (head, relation, tail), holds,
        confidence=confidence, intent=fact.intent, extractor="anthropic",
    )  # fmt: skip


def _is_written(name: str, excerpt: Excerpt) -> bool:
    """Return whether a text holds a name, or is by, to or about it; of a relative, "Ann's sister", both parts."""
    turn, plain = excerpt.turn, name.casefold()
    known = [one.casefold() for one in (turn.speaker or "user", excerpt.partner, turn.title) if one]
    if plain in " ".join(turn.text.casefold().split()) or any(plain in one for one in known):
        return True
    if any(letter.isdigit() for letter in plain):  # "lithium 900 mg", of "my lithium to 900 mg"
        return {*words(turn.text), "of"}.issuperset(words(plain))
    owner, _, rest = plain.rpartition("'s ")
    return bool(owner) and rest in turn.text.casefold() and _is_written(owner, excerpt)


def _resolved_name(name: str, turn: Turn, partner: str | None) -> str | None:
    """Return a name as it is stored; None for an unresolved pronoun or text that is no name."""
    if len(name) > NAME_CHARS or not name.isprintable():
        return None
    text = " ".join(name.split()).replace("’s ", "'s ")
    word = text.casefold()
    if word in _UNRESOLVED:
        return None
    if word in _SPEAKER:
        return speaker(turn)
    return partner if word in _PARTNER else text


def _validity(fact: Fact, relation: str, turn: Turn) -> tuple[Millis, Millis, bool] | None:
    """Return when a fact holds (first instant, first instant after it) and whether that is stated; None for no time."""
    begins, ends = _time(fact.since, EARLIER), _time(fact.until, ENDED)
    if begins is None or ends is None:
        return None
    dated = begins is not _UNSAID
    if fact.negated:
        return (begins[0] if dated else turn.time), FOREVER, dated
    until = turn.time if fact.until.strip() == ENDED else ends[1]
    if dated:
        once = relations().get(relation).event and not fact.until.strip()
        return begins[0], (begins[1] if once else until), True
    timeless = turn.kind == "document" and turn.said_at is None
    earlier = timeless or fact.since.strip() == EARLIER or until <= turn.local_time
    return (BEGINNING if earlier else turn.time), until, ends is not _UNSAID


_UNSAID = (BEGINNING, FOREVER)


def _time(written: str, word: str) -> tuple[Millis, Millis] | None:
    """Return the first instant of a time and the first after it; `_UNSAID` for none or ``word``, None if invalid."""
    text = written.strip()
    if text in ("", word):
        return _UNSAID
    try:
        return iso.parse(text)
    except ValueError:
        return None
