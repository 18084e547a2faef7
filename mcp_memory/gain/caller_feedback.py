"""What callers said of a question: evidence that they confirmed comes first, and their correction decides.

**Confirmed evidence.** Evidence that had to be explored for shares few words with the query, and would stay behind for
ever. So where what is found does not cover the query (``services/recall/loop.py``), the feedback of callers decides, as
a language model's judgement does (``services/answer.py``): what a caller named comes first, with scores from .5 to 1,
and the others have scores from 0 to .5. In GAM-RAG (§4.2) a confident memory ends the search; here the evidence
suffices by the caller's word as well, if there is room for everything that is known as surely to help. (Measured over
taught questions: +4 points of R@1 in dialogues, +1.5 of R@2 in documents; nothing changes for others.)

**Departures.** In GAM-RAG similarity alone says what a memory is good for, and two questions that differ in a name or a
year are very similar. So feedback counts here only for queries with the same names and times.

**Corrections** (`find_correction`). A caller who says that an answer was wrong may say what is right. That is the last
word on the question: it comes first, however much older evidence fits, until somebody corrects it again or a later
message answers the question (``rules/answers/judge.py``). Where other questions find the sentence that the wrong answer
rested on, the reply says that it was corrected (`corrected_statements`), and nothing is answered from it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set

import numpy as np

from mcp_memory.domain.entities import entity_key
from mcp_memory.domain.episodes import Target
from mcp_memory.domain.evidence import Correction, Evidence, RecallResult
from mcp_memory.domain.query import Query
from mcp_memory.domain.times import Millis
from mcp_memory.domain.turns import FEEDBACK, Turn
from mcp_memory.gain.gates import confident_sentences
from mcp_memory.language.questions import understand
from mcp_memory.language.stated import time_words, weekday_and_day
from mcp_memory.view.evidence import known_sentences, source_of
from mcp_memory.view.space import NONE, Space

DENIED = 0.8
"""Highest gate, in answers, of a sentence that a caller denied for the same question: what one lesson leaves."""


def confirmed_sentences(
    space: Space, query: Query, gates: Mapping[int, float], said: Callable[[str], bool]
) -> set[int]:
    """Return the rows of the sentences of which a caller said that they help with such a query.

    Args:
        space: the space of a view that does not change meanwhile.
        query: understood with the speakers of the space.
        gates: the gates of the query, by row of the sentence.
        said: tells of a turn, by its id, whether it is of the role that the query asks for.
    """
    rows = np.array(confident_sentences(gates), dtype=np.intp)
    rows = rows[space.visible(rows, query.window)]
    in_role = (row for row in rows.tolist() if said(space.sentences[row].turn_id))
    return {row for row in in_role if _question_helped(space, query, row)}


def find_correction(space: Space, query: Query, confirmed: Set[int]) -> tuple[Correction | None, set[int]]:
    """Return the newest correction that a caller gave to such a query, and the rows of its sentences.

    Args:
        space: the space of a view that does not change meanwhile.
        query: understood with the speakers of the space; one for an earlier time (``as_of``) has no correction.
        confirmed: from `confirmed_sentences`.
    """
    turns = {row: space.turns[space.sentences[row].turn_id] for row in confirmed if query.as_of is None}
    given = {row: turn for row, turn in turns.items() if _corrects(turn)}
    if not given:
        return None, set()
    newest = given[max(given, key=lambda row: (given[row].time, row))]
    rows = sorted(row for row, turn in given.items() if turn.id == newest.id)
    sources = tuple(source_of(space, space.sentences[row]) for row in rows)
    return Correction(_question_helped(space, query, rows[0]), sources), set(rows)


def corrected_statements(space: Space, evidence: Iterable[Evidence]) -> tuple[Correction, ...]:
    """Return the corrections of answers that rested on sentences of the evidence, each sentence once.

    What a caller last said of a sentence counts; one who says that it helps takes the word back.
    """
    found: dict[str, Correction] = {}
    sources = (source for item in evidence for source in item.sources)
    for source in sources if len(space.beliefs) else ():
        for row in space.sentences.overlapping(source.turn.id, source.start, source.end):
            sentence = space.sentences[row]
            spoken = [lesson for lesson in space.beliefs.lessons_about(sentence.id) if lesson.source == "caller"]
            if not spoken or spoken[-1].labels[sentence.id] != -1 or sentence.id in found:
                continue
            right = [space.sentence(name) for name, target in spoken[-1].labels.items() if target == 1]
            said = tuple(source_of(space, one) for one in right if one and _corrects(space.turns[one.turn_id]))
            if said:
                found[sentence.id] = Correction(spoken[-1].query, said, source_of(space, sentence))
    return tuple(found.values())


def correction_in_words(correction: Correction) -> str:
    """Return what a caller corrected, and when."""
    said = f"corrected on {weekday_and_day(correction.sources[0].turn.local_time)}: “{correction.text}”"
    if correction.wrong is None:
        return f"{said} Older records that say otherwise are wrong or out of date."
    return f"{said} This was said of the answer to “{correction.question}” from “{correction.wrong.quote}”"


def _corrects(turn: Turn) -> bool:
    return turn.session == FEEDBACK and turn.kind == "message"


def _question_helped(space: Space, query: Query, row: int) -> str:
    """Return the last question of the same names and time with which a caller said that a sentence helps, or ""."""
    wanted = _names_and_time(query, query.local_now)
    for lesson in reversed(space.beliefs.lessons_about(space.sentences[row].id)):
        if lesson.source == "caller" and lesson.labels[space.sentences[row].id] == 1:
            asked = understand(Query(lesson.query, query.space), space.speakers, lesson.asked_at)
            if _names_and_time(asked, lesson.asked_at) == wanted:
                return lesson.query
    return ""


def _names_and_time(query: Query, now: Millis) -> tuple[frozenset[str], str | None]:
    return frozenset(map(entity_key, (*query.names, *query.speakers))), time_words(query, now)


def gates_for_judge(
    space: Space, query: Query, result: RecallResult, gates: Mapping[int, float], *, learning: bool
) -> dict[int, float]:
    """Return the gates of a query, by row, as an answer is judged with them: what a caller denied counts less.

    Args:
        space: the space of a view that does not change since the gates were computed.
        query: the query with its text as given.
        result: the result of the query; says what of its evidence was corrected.
        gates: the gates of the query, from `gain.gates.sentence_gates`.
        learning: whether what callers denied counts.
    """
    if not learning:
        return dict(gates)
    wrong = [one.wrong for one in result.corrected if one.wrong is not None]
    rows = {row for one in wrong for row in space.sentences.overlapping(one.turn.id, one.start, one.end)}
    corrected = {row: min(gates.get(row, 1.0), DENIED) for row in rows}
    return {**gates, **corrected, **_cap_denied(space, query.text, gates)}


def _cap_denied(space: Space, query: str, gates: Mapping[int, float]) -> dict[int, float]:
    """Return gates, at most `DENIED`, by row, of the sentences that a caller's last judgement of the question denies.

    The memory learns from an answer that it gives without a hedge before any caller can call it wrong, and other
    callers may have confirmed it. One denial then brings its gate back to 1 only, and the answer would be given again.
    The same holds if a caller called the answer wrong and named no evidence, which makes the gate neutral (y = 0). For
    recall, a neutral gate is right.

    Args:
        space: the space of the question.
        query: as given.
        gates: the gates of the question, from `gain.gates.sentence_gates`; a lower one stays.
    """
    labels: dict[str, Target] = {}
    for lesson in space.beliefs.lessons_for(query):
        if lesson.source == "caller":
            labels |= lesson.labels
    pieces = known_sentences(space, (name for name, target in labels.items() if target < 1))
    rows = [space.sentence_row(piece.turn_id, piece.index) for piece in pieces]
    return {row: min(gates.get(row, 1.0), DENIED) for row in rows if row != NONE}
