"""Batches derived from names alone, without model and splitting, for tests of stores and views."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache

import asserting
import numpy as np

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.episodes import Belief, Episode, Lesson, ShownEvidence, Target
from mcp_memory.domain.facts import Assertion, Engine, ExtractorName
from mcp_memory.domain.ids import digest
from mcp_memory.domain.points import Point
from mcp_memory.domain.requests import ForgetTargets
from mcp_memory.domain.times import StatedTime
from mcp_memory.domain.turns import Segment, Sentence, Turn, assertion_id, segment_id, sentence_id
from mcp_memory.vectors import Matrix
from mcp_memory.view.erasure import Erasure, erasure_of
from mcp_memory.view.space import View

DIMENSION = 8
WRITTEN_AT = 1_700_000_000_000


def unit_vectors(names: Sequence[str], dimension: int = DIMENSION) -> Matrix:
    """Return a vector of length 1 for each name, always the same for the same name."""
    return np.array([_unit_vector(name, dimension) for name in names], dtype=np.float32).reshape(len(names), dimension)


@cache
def _unit_vector(name: str, dimension: int) -> Matrix:
    vector = np.random.default_rng(list(name.encode())).standard_normal(dimension).astype(np.float32)
    return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)


def turn(ref: str, space: str = "default", place: int = 0, session: str = "talk") -> Turn:
    """Return a message of two sentences."""
    text = f"{ref} came first. Then there was more."
    name = "t_" + digest(space, session, ref)
    return Turn(
        name, space, session, ref, "message", text, "Ann", "user", None, None, WRITTEN_AT, revision=0, place=place
    )


def derive(turns: Sequence[Turn], dimension: int = DIMENSION) -> Batch:
    """Return turns with one segment, two sentences and an assertion each; the second sentence states a time."""
    segments: list[Segment] = []
    sentences: list[Sentence] = []
    for one in turns:
        cut = one.text.index(".") + 1
        whole = len(one.text)
        first, second = one.text[:cut], one.text[cut + 1 :]
        stated = StatedTime(cut + 1, cut + 5, 0, 86_400_000, "day", relative=True)
        segments.append(Segment(segment_id(one.id, 0, one.text), one.space, one.id, 0, 0, whole, 0, 1))
        sentences.append(Sentence(sentence_id(one.id, 0, first), one.space, one.id, 0, 0, cut, ()))
        sentences.append(Sentence(sentence_id(one.id, 1, second), one.space, one.id, 1, cut + 1, whole, (stated,)))
    return Batch(
        tuple(turns),
        tuple(segments),
        tuple(sentences),
        unit_vectors([piece.id for piece in segments], dimension),
        unit_vectors([piece.id for piece in sentences], dimension),
        tuple(asserted(one) for one in turns),
    )


def batch(*refs: str, space: str = "default", dimension: int = DIMENSION) -> Batch:
    """Return a batch of messages with these refs; the caller asserts something about each as well."""
    rows = derive([turn(ref, space, place) for place, ref in enumerate(refs)], dimension)
    told = [asserted(one, extractor="caller") for one in rows.turns]
    return replace(rows, assertions=(*told, *rows.assertions))


def asserted(one: Turn, number: int = 0, extractor: ExtractorName = "embedded", **changes: object) -> Assertion:
    """Return an assertion of a turn; ``number`` distinguishes several of one extractor."""
    how = {"negated": number % 2 == 1, "confidence": 0.1 + (0.2 * number) % 0.9, "change": number % 3 == 1}
    how |= {"extractor": extractor, "said_at": WRITTEN_AT, "recorded_at": WRITTEN_AT, "stated": False}
    made = asserting.asserted(f"place {number}", WRITTEN_AT + number, turn=one.id, **how)
    own = assertion_id(one.id, 0, 10, "Ann", "lives_in", made.tail, extractor)
    return replace(made, **{"id": own, "space": one.space, "end": 10} | changes)


def lesson(
    name: str, labels: Mapping[str, Target] | None = None, space: str = "default", source: Engine = "caller"
) -> Lesson:
    """Return a lesson about an episode in which every field is filled."""
    labels = labels or {}
    named = tuple(labels)
    shown = ShownEvidence("g_1", 0.25, ("meaning", "words"), named, 'A "text".')
    found = {"shown": (shown,), "activated": named, "roots": ("Ann",), "paths": ("Ann said it.",), "rounds": 2}
    told = {"time": "in May", "engine": "anthropic", "answer": "Ann", "cited": named[:1]} | found
    episode = Episode(f"ep_{name}", space, f"Who said {name}?", WRITTEN_AT, **told)
    return Lesson.of(episode, source, labels, WRITTEN_AT + 1)


def belief(sentence: str, supported: int = 1, space: str = "default", dimension: int = DIMENSION) -> Belief:
    """Return a belief about a sentence after so many lessons; every other one has a time."""
    task, time = unit_vectors([f"{sentence} helped {supported}", f"{sentence} then {supported}"], dimension)
    return Belief(sentence, space, task, 0.5**supported, time if supported % 2 else None, 0.75, supported, 3)


def taught(*names: str, sentence: str = "s_1", supported: int = 1) -> Batch:
    """Return lessons that all label one sentence as supporting, and the belief about it after them."""
    return Batch(lessons=tuple(lesson(name, {sentence: 1}) for name in names), beliefs=(belief(sentence, supported),))


def known(one: Belief) -> tuple[object, ...]:
    """Return the contents of a belief, so that two can be compared."""
    time = None if one.time is None else one.time.tolist()
    counts = one.supported, one.unsupported
    return one.sentence_id, one.space, one.task.tolist(), one.task_doubt, time, one.time_doubt, counts


def point(name: str, entities: Sequence[str] = ("Ann", "Bob"), space: str = "default", scope: str = "") -> Point:
    """Return the first revision of a memory point without support."""
    return Point(
        f"h_{name}", space, tuple(entities), f"What {name} is.", scope, 0, "active", (), None, (), (), "caller", 1
    )


def merged(name: str, *parents: Point) -> tuple[Point, ...]:
    """Return a point merged from others, and the revisions of the others that record it."""
    union = tuple(dict.fromkeys(entity for one in parents for entity in one.entities))
    made = replace(point(name, union), parents=tuple(one.id for one in parents))
    gone = (replace(one, revision=one.revision + 1, status="merged", merged_into=made.id) for one in parents)
    return made, *gone


def pointed(*points: Point, dimension: int = DIMENSION) -> Batch:
    """Return a batch of revisions of points with their vectors."""
    return Batch(points=points, point_vectors=unit_vectors([one.description for one in points], dimension))


def erasing(targets: ForgetTargets) -> Callable[[View], Erasure]:
    """Return what chooses these for a forget."""
    return lambda view: erasure_of(view.space(targets.space), targets)
