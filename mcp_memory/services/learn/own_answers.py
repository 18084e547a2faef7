"""What the memory learns from its own answers: which sentences support one, found by rules (GAM-RAG §3.3).

The judge is asked only about the sentences that were activated or cited; if none of them supports the answer, nothing
is learnt. Where a language model answered, its citations are taken.

**Departures.** The paper asks a language model for the sentences that state the answer or are a necessary bridge to it.
Here a sentence supports the answer if it holds the answer word for word and is about something that the query names or
that lies on the path to the answer; or if it states a fact of that path (DESIGN 2.6). This rule sees only what recall
found and shares recall's errors, so its labels count with doubled noise. "Yes", "no" and a bare number occur in many
sentences by chance: no sentence supports them by its words, only by the path. An abstention teaches nothing.

In the paper every answer is a lesson. Here a judgement of the memory's own judge is not recorded if it adds nothing: if
every sentence that it finds to support the answer has a confident gate for the question already, from any lesson.
Otherwise a repeated question would fill the store with one judgement, and an error of the rules would come to count as
much as repeated confirmations by callers.

A caller's judgement outranks the memory's own: the memory teaches itself nothing about a sentence that a caller called
wrong for such a question (its gate is below 1, which the memory's own lessons never cause). The memory's lesson weighs
less (DESIGN 2.6), but each repetition of the question would add it again, until it outweighed the caller's judgement.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from mcp_memory.domain.entities import entity_key
from mcp_memory.domain.episodes import Episode, Lesson
from mcp_memory.domain.evidence import AnswerResult, Source
from mcp_memory.domain.query import Query
from mcp_memory.gain.gates import confident_sentences
from mcp_memory.language.tokens import STOP_WORDS, mentions, words
from mcp_memory.view.evidence import known_sentences, source_of
from mcp_memory.view.space import NONE, Space

_BARE = frozenset(("yes", "no", "true", "false"))


def own_lesson(
    space: Space, query: Query, episode: Episode, answer: AnswerResult, gates: Mapping[int, float]
) -> Lesson | None:
    """Return the lesson that sentences support an answer, without those that a caller called wrong for the question.

    Args:
        space: the space of a view that does not change since the answer was found.
        query: understood.
        episode: the episode of the answer.
        answer: the answer with its recall. Only the paths over a fact that the answer cites count as having led to it.
        gates: the gates of the question, by row of the sentence.

    Returns:
        None for an abstention, an answer with a hedge, which only a caller's word confirms, and if all that supports
        the answer is known already.
    """
    if answer.text is None or answer.hedged:
        return None
    supporting: Sequence[str] = episode.cited
    if answer.engine == "embedded":
        facts = {citation.evidence_id for citation in answer.citations}
        paths = [path for path in answer.recall.paths if any(step.version.id in facts for step in path.steps)]
        steps = [step for path in paths for step in path.steps]
        assertions = [assertion for step in steps for assertion in (step.via or step.version.assertions)]
        rows = {space.sentence_row(assertion.turn_id, assertion.sentence) for assertion in assertions} - {NONE}
        names = [root.name for root in answer.recall.roots]
        names += [name for step in steps for name in (step.version.head, step.version.tail)]
        pieces = known_sentences(space, dict.fromkeys((*episode.activated, *episode.cited)))
        witnesses = {piece.id: source_of(space, piece) for piece in pieces}
        on_path = {space.sentences[row].id for row in rows}
        supporting = supporting_sentences(query, answer.text, names, witnesses, on_path)
    known = {space.sentences[row].id for row in confident_sentences(gates)}
    wrong = {space.sentences[row].id for row, gate in gates.items() if gate < 1}
    supporting = [name for name in supporting if name not in wrong]
    if known.issuperset(supporting):
        return None
    return Lesson.of(episode, answer.engine, dict.fromkeys(supporting, 1), episode.at)


def supporting_sentences(
    query: Query, answer: str, names: Sequence[str], witnesses: Mapping[str, Source], on_path: Collection[str]
) -> list[str]:
    """Return the ids of the sentences that support an answer, by words and paths.

    Args:
        query: understood.
        answer: its text.
        names: of the roots of navigation, and of the entities on the path to the answer.
        witnesses: the sentences that were activated or are cited, by id.
        on_path: ids of those that state a fact of a path that led to the answer.
    """
    answer_words = words(answer)
    is_specific = not all(word in STOP_WORDS or word in _BARE or word.isdecimal() for word in answer_words)
    keys = {key for name in (*names, *query.speakers, *query.names) if (key := entity_key(name))}
    return [
        sentence_id
        for sentence_id, witness in witnesses.items()
        if sentence_id in on_path
        or (is_specific and _contains_words(words(witness.quote), answer_words) and _is_about(witness, keys))
    ]


def _contains_words(text: Sequence[str], answer_words: Sequence[str]) -> bool:
    """Return whether a text holds the words one after the other."""
    return any(
        text[start : start + len(answer_words)] == answer_words for start in range(len(text) - len(answer_words) + 1)
    )


def _is_about(witness: Source, keys: set[str]) -> bool:
    """Return whether a sentence is about one of the entities; true of every sentence where none is known."""
    if not keys:
        return True
    if any(entity_key(name) in keys for name in mentions(witness.turn, witness.quote)):
        return True
    text = words(witness.quote)
    return any(_contains_words(text, key.split()) for key in keys)
