"""The rows that one transaction appends, or that a refresh of the view reads, and how secrets in them are masked.

A mask has the length of what it masks until it is shown (`FILL` in ``visible.py``), so spans within a text are right
for both, whatever rules found the secret and whenever. The log keeps what was said; everything that is derived from it,
shown, exported or sent rests on masked values: they are masked where a store's view takes them in (`masked`), and where
a call brings them.

What is asked or edited (questions, goals, memory points, feedback) is masked before anything is done with it, so of
these nothing is kept. Secrets in what is to be stored are told to the caller, or refused (`check_secrets`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np

from mcp_memory.domain.entities import Alias
from mcp_memory.domain.episodes import Belief, Lesson, encode_trace
from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.language_model import Job, Reservation
from mcp_memory.domain.points import Point
from mcp_memory.domain.requests import EvolveRequest, ExploreRequest, NewFact, WriteRequest
from mcp_memory.domain.turns import PooledQuestion, Segment, Sentence, Turn
from mcp_memory.errors import InvalidInput
from mcp_memory.vectors import Matrix
from mcp_memory.visible import FILL, each_text


def _no_vectors() -> Matrix:
    return np.empty((0, 0), dtype=np.float32)


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows in the order in which they are recorded.

    Attributes:
        segments: the segments of these turns, or of turns that were stored without, by turn and then by index.
        sentences: their sentences in the same way.
        segment_vectors: shape ``(len(segments), d)``, each row of length 1.
        sentence_vectors: shape ``(len(sentences), d)``, each row of length 1, or zeros where a sentence has the vector
            of its segment (`domain.turns.shares_vectors`).
        assertions: the assertions of these turns, or by the caller about earlier ones.
        beliefs: sentence memories after these lessons; the last one of a sentence counts.
        point_vectors: the vectors of their descriptions, shape ``(len(points), d)``, each row of length 1.
        question_vectors: the vectors of their texts, shape ``(len(questions), d)``, each row of length 1.
        outlays: tokens spent on a language model, all on one day.
        jobs: progress of the enrichment of texts by a language model.
    """

    turns: tuple[Turn, ...] = ()
    segments: tuple[Segment, ...] = ()
    sentences: tuple[Sentence, ...] = ()
    segment_vectors: Matrix = field(default_factory=_no_vectors)
    sentence_vectors: Matrix = field(default_factory=_no_vectors)
    assertions: tuple[Assertion, ...] = ()
    lessons: tuple[Lesson, ...] = ()
    beliefs: tuple[Belief, ...] = ()
    points: tuple[Point, ...] = ()
    point_vectors: Matrix = field(default_factory=_no_vectors)
    aliases: tuple[Alias, ...] = ()
    questions: tuple[PooledQuestion, ...] = ()
    question_vectors: Matrix = field(default_factory=_no_vectors)
    outlays: tuple[Reservation, ...] = ()
    jobs: tuple[Job, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether a commit would record nothing.

        Beliefs come with the lessons that changed them.
        """
        rows = self.turns or self.segments or self.sentences or self.assertions or self.lessons or self.points
        return not (rows or self.aliases or self.questions or self.outlays or self.jobs)

    def only(self, kept: Callable[[str, Any], bool]) -> Batch:
        """Return the batch without the rows of which ``kept``, given kind and row, is false; itself for none."""
        changes: dict[str, Any] = {}
        for kind in ROWS:
            rows = getattr(self, kind)
            places = [place for place, row in enumerate(rows) if kept(kind, row)]
            if len(places) < len(rows):
                changes[kind] = tuple(rows[place] for place in places)
                if vectors := VECTORS.get(kind):
                    changes[vectors] = getattr(self, vectors)[places]
        return replace(self, **changes) if changes else self


VECTORS = {f"{kind}s": f"{kind}_vectors" for kind in ("segment", "sentence", "point", "question")}
"""The fields with the vectors of rows, by that with the rows."""
ROWS = [one.name for one in fields(Batch) if one.name not in (*VECTORS.values(), "outlays")]
"""The fields with rows of spaces."""


Found = tuple[int, int, str]
"""Start, end (exclusive) and kind of a secret."""


def _none(_text: str, *, statement: bool = False) -> Sequence[Found]:  # noqa: ARG001
    return ()


@dataclass(frozen=True, slots=True)
class Masking:
    """Masks secrets in texts; by default there are none.

    Attributes:
        find: returns the secrets of a text, in order. ``statement``: it is a caller's fact in words, where a name may
            stand before its value without a sign.
        keeps: returns whether a turn stays readable, since the user told it to have it remembered.
        refuses: whether what holds a secret is not to be stored at all.
    """

    find: Callable[..., Sequence[Found]] = _none
    keeps: Callable[[Turn], bool] = lambda _turn: False
    refuses: bool = False

    def mask(self, text: str, *, statement: bool = False) -> str:
        """Return a text of the same length without its secrets; masking it again changes nothing."""
        parts, done = [], 0
        for start, end, _ in self.find(text, statement=statement):
            parts += [text[done:start], FILL * (end - start)]
            done = end
        return "".join([*parts, text[done:]]) if done else text

    def kinds(self, text: str, *, statement: bool = False) -> tuple[str, ...]:
        """Return what kinds of secrets a text holds, each once."""
        return tuple(dict.fromkeys(kind for *_, kind in self.find(text, statement=statement)))


KEEP = Masking()


FindTurn = Callable[[str, str], Turn | None]
"""Returns the turn of a space with an id, if it is there."""


def masked_turn(turn: Turn, masking: Masking) -> Turn:
    """Return a turn as it is shown; what the log keeps of it stays in ``original``."""
    if masking.keeps(turn):
        return turn
    text = masking.mask(turn.text, statement=turn.kind == "statement")
    title = turn.title and masking.mask(turn.title)
    if text == turn.text and title == turn.title:
        return turn
    return replace(turn, text=text, title=title, original=turn.original or (turn.text, turn.title))


def masked_assertion(fact: Assertion, masking: Masking) -> Assertion:
    """Return an assertion as it is shown: its head and relation may say that its tail is a secret."""
    head, tail = masked_ends(fact.head, fact.relation, fact.tail, masking)
    return (
        fact
        if (head, tail) == (fact.head, fact.tail)
        else replace(fact, head=head, tail=tail, original=fact.original or (fact.head, fact.tail))
    )


def masked_ends(head: str, relation: str, tail: str, masking: Masking) -> tuple[str, str]:
    """Return the head and the tail of a fact as they are shown."""
    stated = masking.mask(f"{head} {relation.replace('_', ' ')} {tail}", statement=True)
    return masking.mask(stated[: len(head)]), masking.mask(stated[len(stated) - len(tail) :])


RowT = TypeVar("RowT", Point, Lesson, Alias, PooledQuestion, ExploreRequest, EvolveRequest)


def masked_texts(row: RowT, masking: Masking, *names: str) -> RowT:
    """Return a row with these fields as they are shown, with all texts in them; the row itself if they are the same."""
    values: dict[str, Any] = {name: getattr(row, name) for name in names}
    shown: dict[str, Any] = {name: _masked(value, masking) for name, value in values.items()}
    return row if shown == values else replace(row, **shown)


def _masked(value: Any, masking: Masking) -> Any:
    if isinstance(value, str):
        return masking.mask(value)
    if isinstance(value, tuple):
        return tuple(_masked(one, masking) for one in value)
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{one.name: _masked(getattr(value, one.name), masking) for one in fields(value)})
    return value


def masked_lesson(lesson: Lesson, masking: Masking) -> Lesson:
    """Return a lesson as it is shown; if a secret was shown to it, without names and paths, which may be its value."""
    said = lesson.read_trace()
    hidden = each_text(said, partial(masking.mask, statement=True))
    if hidden != said:
        lesson = replace(lesson, trace=encode_trace(hidden | {"roots": [], "paths": [], "calls": []}))
    return masked_texts(lesson, masking, "query")


def masked(batch: Batch, masking: Masking, find: FindTurn) -> Batch:
    """Return a batch with its secrets masked, as it is shown and exported; the batch itself if it holds none.

    What a readable turn states is readable, too; ``find`` looks up those that are not in the batch.
    """
    if masking is KEEP:
        return batch
    own = {turn.id: turn for turn in batch.turns}

    def shown(fact: Assertion) -> Assertion:
        hidden = masked_assertion(fact, masking)
        turn = None if hidden is fact else own.get(fact.turn_id) or find(fact.space, fact.turn_id)
        return fact if turn is not None and masking.keeps(turn) else hidden

    turns = tuple(masked_turn(turn, masking) for turn in batch.turns)
    facts = tuple(map(shown, batch.assertions))
    rest = {
        "lessons": tuple(masked_lesson(lesson, masking) for lesson in batch.lessons),
        "points": tuple(masked_texts(one, masking, "description", "scope", "entities") for one in batch.points),
        "aliases": tuple(masked_texts(one, masking, "name", "alias", "reason") for one in batch.aliases),
        "questions": tuple(masked_texts(one, masking, "text") for one in batch.questions),
    }
    hidden = {"turns": turns, "assertions": facts, **rest}
    changed = any(rows != getattr(batch, name) for name, rows in hidden.items())
    return replace(batch, **hidden) if changed else batch  # type: ignore[arg-type]


MOST_PLACES = 5
"""Places that one warning names."""


def masked_fact(fact: NewFact, masking: Masking, turn: Turn | None = None) -> NewFact:
    """Return a caller's fact as it is shown; the fact itself where it holds no secret, or its turn stays readable."""
    if turn is not None and masking.keeps(turn):
        return fact
    head, tail = masked_ends(fact.head, fact.relation, fact.tail, masking)
    return fact if (head, tail) == (fact.head, fact.tail) else replace(fact, head=head, tail=tail)


def check_secrets(
    request: WriteRequest, turns: Sequence[Turn], masking: Masking, find: Callable[[str], Turn | None]
) -> list[str]:
    """Return what to tell the caller about the secrets in a call, in words; nothing where there are none.

    ``find`` looks up a turn of its session, from before the call, by the caller's id.

    Raises:
        InvalidInput: there are some, and none are to be stored.
    """
    found: list[tuple[str, str]] = []
    kept: list[tuple[str, str]] = []
    for place, turn in enumerate(turns):
        readable = masking.keeps(turn)
        said = (turn.text,) if readable else turn.original or ()
        if kinds := [kind for text in said if text for kind in masking.kinds(text)]:
            (kept if readable else found).append((f"{turn.kind}s[{place}]", ", ".join(dict.fromkeys(kinds))))
    own = {turn.ref: turn for turn in turns}
    for place, fact in enumerate(request.facts):
        if masked_fact(fact, masking) is not fact:
            source = None if fact.source is None else own.get(fact.source) or find(fact.source)
            stated = masking.kinds(f"{fact.head} {fact.relation.replace('_', ' ')} {fact.tail}", statement=True)
            readable = source is not None and masking.keeps(source)
            (kept if readable else found).append((f"facts[{place}]", ", ".join(stated) or "secret"))
    told = [
        f"The secrets in {_places(kept)} stay readable, as the user asks to remember them. Tell the user so; "
        "with privacy.told = 'mask' they are masked like others."
    ]
    if not found:
        return told[: len(kept)]
    if masking.refuses:
        problem = f"it holds a secret ({found[0][1]}), and privacy.secrets is 'refuse'"
        raise InvalidInput(found[0][0], problem, "Leave the secret out. Nothing of this call was stored.")
    more = f" and {len(found) - MOST_PLACES} more" if len(found) > MOST_PLACES else ""
    return [
        f"Secrets in {_places(found)}{more}: they stay in this memory's log and are masked wherever they are shown, "
        "searched, exported or sent. If the user wants to read one again, write it as one line that asks for it: "
        "'Remember: …'.",
        *told[: len(kept)],
    ]


def _places(found: Sequence[tuple[str, str]]) -> str:
    return ", ".join(f"{where} ({kinds})" for where, kinds in found[:MOST_PLACES])
