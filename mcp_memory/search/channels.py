"""Channels of recall: the ways to find a segment, each with its name, its score, and the measurement of its weights.

``ranking.py`` lists them and says in which order they are added. Here are those that read the query and the text alone,
each with its `Channel.score`, and those that other rooms compute. ``time`` and ``siblings`` are in ``times.py``,
``links`` and ``entities`` in ``links.py``, ``parts`` and ``reader`` in ``ranking.py``.

**Whose words count** (`whose_words`). A question about the past ("where do I live?") is mostly answered by what its
user said, and one about Ann by what Ann said. A prompt in a running project ("done with week one, what's next?") needs
the plan, and an assistant wrote that. No word tells the one from the other in all languages and moods, but the embedder
does. So these two channels count for a query twice the logistic function of a linear function of its vector and of its
form (`form_of`): between not at all and twice, and once where nothing speaks for either.

The 778 numbers were fitted by ``training/whose_words.py`` on invented worlds alone, and hold for the embedder that they
were fitted with; with another one both count once.

**Measured** where nothing was fitted, R@10: prompts of kept worlds 70 → 83, of people at their projects with an
assistant 25 → 51; questions of any kind within a point. For documents it changes nothing.

The names in ``via`` are public, so that of ``TITLE`` is still "head" and that of ``USER_FIRST`` "user".

All scores are in units of the cosine, so that talk and documents can be compared (``ranking.py``). "Measured" means:
on dialogues and passages that are not part of this package.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from mcp_memory.configurable import Switches
from mcp_memory.domain.query import Constraint, Query
from mcp_memory.domain.turns import Role, by_assistant, by_user, label
from mcp_memory.search.words import WordIndex
from mcp_memory.texts import resource
from mcp_memory.vectors import Column, Matrix, Rows, Scores, Vector
from mcp_memory.view.space import Space

TYPICAL_COSINE = 0.5
"""Stands for the best cosine of talk where there is none, with meaning switched off."""
_UNKNOWN = -1


@dataclass(frozen=True, slots=True)
class ChannelInput:
    """What the channels read when they score the messages, or the document segments, of a space for one query.

    Attributes:
        space: its view keeps ``ranking.INDEXES``.
        query: understood with the speakers of this space.
        switches: which channels take part.
        rows: the rows of the segments to score: messages only, or documents only.
        talk: whether they are messages.
        similarity: of every segment of the space to the query, shape ``(len(space.segments),)``: for messages the
            cosine with the query, at least 0; for documents the cosine as it is.
        unit: scale factor for channels whose scores lie between 0 and 1: the best similarity of any of these
            messages; 1 for documents.
        title_in_query: which segments are of documents whose title stands in the query, shape
            ``(len(space.segments),)``.
    """

    space: Space
    query: Query
    switches: Switches
    rows: Rows
    talk: bool
    similarity: Scores
    unit: float
    title_in_query: NDArray[np.bool_]

    @property
    def time(self) -> Constraint | None:
        """When the query asks about, if it gives dates."""
        time = self.query.time
        return time if time is not None and time.dated else None


@dataclass(frozen=True, slots=True)
class Channel:
    """One channel.

    Attributes:
        name: in ``via``.
        talk: its weight for messages.
        document: its weight for documents.
        score: from the input and the weight, the weighted scores of ``inputs.rows``, or None where the channel has
            nothing to say or is switched off; None as a whole for a channel that is computed elsewhere.
        finds: whether a segment may be found by this channel alone; else it only orders what others found.
    """

    name: str
    talk: float = 0.0
    document: float = 0.0
    score: Callable[[ChannelInput, float], Scores | None] | None = None
    finds: bool = True

    def weight(self, talk: bool) -> float:
        """Return its weight for messages or for documents."""
        return self.talk if talk else self.document


def sum_scores(scores: Mapping[str, Scores], length: int) -> Scores:
    """Return the sum over channels, in their order."""
    total = np.zeros(length, dtype=np.float32)
    for part in scores.values():
        total += part
    return total


def best_first(space: Space, rows: Rows, total: Scores, most: int) -> list[int]:
    """Return the positions of the best scores above 0, best first, ties by id, with all that tie with the last."""
    places = np.flatnonzero(total > 0)
    if len(places) > most:
        places = places[total[places] >= np.partition(total[places], -most)[-most]]
    return sorted(places.tolist(), key=lambda place: (-total[place], space.segments[rows[place]].id))


def similarity(space: Space, vector: Vector) -> Scores:
    """Return the cosine of a vector with each segment; zeros where there are no vectors."""
    if space.segment_vectors is None:
        return np.zeros(len(space.segments), dtype=np.float32)
    cosines: Scores = space.segment_vectors.dot(vector[np.newaxis])[0]
    return cosines


def estimate_cosines(space: Space, query_stems: Iterable[str], cosines: Scores) -> Scores:
    """Return the cosines of a query with the segments, those without a vector estimated by the words they share.

    A cosine of 0 would say that such a segment is about something else, and outweigh its words. So the segment with the
    highest BM25 gets the best cosine of those that have a vector, and another one its share of it. ``cosines`` are
    changed in place.
    """
    missing = [
        row
        for name, indexes in space.unindexed.items()
        for row in space.segments.of_turn(name)
        if space.segments[row].index in indexes
    ]
    if not missing:
        return cosines
    rows = np.array(missing, dtype=np.intp)
    index = space.index(WordIndex)
    words = np.zeros(len(space.segments), dtype=np.float32)
    for talk in (True, False):
        scores = index.score(space, query_stems, talk=talk, neighbours=False)
        words = np.maximum(words, scores / (scores.max() or 1.0)) if len(scores) else words
    best = float(np.delete(cosines, rows).max(initial=0.0))
    cosines[rows] = (best if best > 0 else TYPICAL_COSINE) * words[rows]
    return cosines


def _meaning(inputs: ChannelInput, _: float) -> Scores | None:
    if not inputs.switches.meaning or not any(map(str.isalnum, inputs.query.text)):
        return None  # to an embedder all emoji are alike
    return inputs.similarity[inputs.rows]


MEANING = Channel("meaning", talk=1.0, document=1.0, score=_meaning)
"""Similarity of embeddings: the unit that all other weights are relative to."""


def _words(inputs: ChannelInput, weight: float) -> Scores | None:
    if not inputs.switches.words:
        return None
    index = inputs.space.index(WordIndex)
    scores = index.score(inputs.space, inputs.query.stems, talk=inputs.talk)[inputs.rows]
    if inputs.talk:
        return scores * (weight * inputs.unit / (float(scores.max()) or 1.0))
    return scores * np.float32(weight)


WORDS = Channel("words", talk=0.7, document=0.015, score=_words)
"""BM25: for messages relative to the best of them, beside meaning relative to its best; for documents as it is, beside
the cosine as it is.

Measured: talk +10 points of R@10, values from .5 to 1 lie within 2 points; documents +1 to +6 points of R@5, values
from .01 to .02 lie within 1 point.
"""


def _title_score(inputs: ChannelInput, weight: float) -> Scores | None:
    return None if inputs.talk else inputs.title_in_query[inputs.rows] * np.float32(weight)


TITLE = Channel("head", document=0.3, score=_title_score)
"""Added to documents whose title stands in the query.

Measured: +0 to +1 point of R@5, +1 to +4 of R@2; beside links .3 is better than .2 by 1 to 2 points of R@2 and 0 to .5
of R@5.
"""
FACTS = Channel("facts", talk=0.4, document=0.4)
"""Facts on the paths that answer the query, for the segments that state them (REAL); its switch belongs to navigation,
which finds no paths where it is off.

Chosen on half of the questions. On the other half: talk +1.5 points of R@2, +.6 of R@5, 0 of R@10; documents +.4 to +.9
points of R@2, 0 to +.4 of R@5, and with facts that miss nothing +17 on questions of two hops.
"""
EXPERIENCE = Channel("experience", talk=0.6, document=0.4)
"""What feedback taught about a segment: its gate less 1, in units of the best cosine (GAM-RAG).

Measured over five passes of teaching. Talk: +9 points of R@10 on the questions that were taught, 0 on the others; with
30 % wrong feedback +8 and 0; values from .4 to .6 lie within 1 point. Documents: +8 to +17 points of R@5, and 0 to +2.
"""
PROPAGATION = Channel("propagation", document=0.2)
"""What propagation over entities and sentences activates (GAM-RAG §3.2).

Measured on dialogues: no effect, so it is off for talk. On documents, beside links: +.5 points of R@5 and +1.6 of R@10
where the second text is hard to find, 0 to +.3 of R@5 elsewhere; .4 costs 1 to 2 of R@2.
"""
QUESTIONS = Channel("questions", talk=0.15)
"""The pool of questions that segments answer; ``reflection/questions.py`` has the measurements. It loses on documents,
so it is off there.
"""


class SpeakerIndex:
    """The speaker and the role of each segment."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._speakers: Column[np.int32] = Column(np.int32)
        self._assistants: Column[np.bool_] = Column(np.bool_)
        self._users: Column[np.bool_] = Column(np.bool_)

    def add_segments(self, space: Space, since: int) -> None:
        """Add the segments of ``space`` from row ``since`` on."""
        for row in range(since, len(space.segments)):
            turn = space.segment_turn[row]
            speaker = label(turn) if turn.kind != "document" else None
            self._speakers.append(self._numbers.setdefault(speaker, len(self._numbers)) if speaker else _UNKNOWN)
            self._assistants.append(by_assistant(turn))
            self._users.append(by_user(turn))

    def said_by(self, speakers: Sequence[str]) -> NDArray[np.bool_]:
        """Return which segments one of these speakers said, shape ``(segments,)``; documents have no speaker."""
        return np.isin(self._speakers.values, [self._numbers[name] for name in speakers if name in self._numbers])

    @property
    def assistants(self) -> NDArray[np.bool_]:
        """Which segments an assistant said, shape ``(segments,)``."""
        return self._assistants.values

    def in_role(self, space: Space, role: Role) -> NDArray[np.bool_]:
        """Return which segments an assistant said, or the user, shape ``(segments,)``.

        The user is who has that role or such a name (`domain.turns.USERS`), and the one person whom "I" means in a
        question where nobody has either.
        """
        if role == "assistant":
            return self.assistants
        asker = space.speakers.asker
        return self._users.values | (self.said_by([asker] if asker else []) & ~self.assistants)


def said_in_role(space: Space, role: Role | None) -> Callable[[str], bool]:
    """Return a test of whether a turn, by its id, is of a role."""
    if role is None:
        return lambda _: True
    rows = space.index(SpeakerIndex).in_role(space, role)
    return lambda turn: any(bool(rows[row]) for row in space.segments.of_turn(turn))


def _speaker(inputs: ChannelInput, weight: float) -> Scores | None:
    if not inputs.talk or len(inputs.query.speakers) != 1:
        return None
    said = inputs.space.index(SpeakerIndex).said_by(inputs.query.speakers)
    return said[inputs.rows] * np.float32(weight * inputs.query.speaker_words * inputs.unit)


def _user(inputs: ChannelInput, weight: float) -> Scores | None:
    if not inputs.talk:
        return None
    assistants = inputs.space.index(SpeakerIndex).assistants
    if not assistants.any() or any(who in inputs.space.speakers.assistants for who in inputs.query.speakers):
        return None
    return (~assistants)[inputs.rows] * np.float32(weight * inputs.query.user_words * inputs.unit)


SPEAKER = Channel("speaker", talk=0.4, score=_speaker)
"""Added to messages by the one speaker that the query names.

Measured: +3.5 points of R@10; values from .3 to .5 lie within half a point.
"""
USER_FIRST = Channel("user", talk=0.5, score=_user, finds=False)
"""Added to what a person said where an assistant speaks, too, and the question does not want the assistant's words.

An assistant's replies are long, and say more of any topic than the person who asks: advice, drafts, code. What is asked
for later is mostly what the person told, decided and wants. Chosen on half of 90 questions to five long chats with an
assistant: R@2 +4.8 ± 5.5, R@10 +1.8 ± 2.6, R@20 +4.4 ± 4.8; on the other half +1.0 ± 2.0, +1.8 ± 3.9 and +.1 ± 3.4
(orderings +17 of R@20, times +10 of R@10, summaries, which need the replies as well, -5). With .2 half of it, with .7
and 1 no more at rank 2. Where nobody is an assistant it changes nothing.
"""
SENTENCE = re.compile(r"(?<=[.!?])\s+")
SHARE = 0.3
"""How much the form of a query counts beside its vector, whose numbers are small."""
LONG_WORDS, LONG_SENTENCES = 60, 5
"""Words and sentences from which on a query is as long as can be."""


def form_of(text: str) -> Vector:
    """Return the form of a query, shape ``(4,)``: its words, its sentences, the questions among them, and if it is one.

    A question is one sentence with a question mark; a prompt tells first, then asks or orders.
    """
    sentences = [one for one in SENTENCE.split(text.strip()) if one]
    asked = sum(one.endswith("?") for one in sentences) / max(1, len(sentences))
    words, many = min(len(text.split()), LONG_WORDS) / LONG_WORDS, min(len(sentences), LONG_SENTENCES) / LONG_SENTENCES
    form = (2 * words - 0.5, 2.5 * many - 0.7, asked - 0.5, float(len(sentences) == 1 and asked == 1) - 0.5)
    return np.array(form, dtype=np.float32) * np.float32(SHARE)


def whose_words(text: str, vector: Vector, embedder: str) -> tuple[float, float]:
    """Return what it counts that a message is the user's, and that it is the named speaker's, each in (0, 2).

    ``vector`` is that of the text, of length 1, by the embedder of this name.
    """
    learnt_with, weights, biases = _learnt()
    if embedder != learnt_with:
        return 1.0, 1.0
    user, speaker = 2 / (1 + np.exp(-(weights @ np.concatenate([vector, form_of(text)]) + biases)))
    return float(user), float(speaker)


@cache
def _learnt() -> tuple[str, Matrix, Vector]:
    """Return the embedder's name, weights of shape ``(2, d + 4)``, and biases of shape ``(2,)``."""
    found = json.loads(resource("whose_words.json"))
    rows = [found["user"], found["speaker"]]
    weights = np.array([row["weights"] for row in rows], dtype=np.float32)
    return found["embedder"], weights, np.array([row["bias"] for row in rows], dtype=np.float32)
