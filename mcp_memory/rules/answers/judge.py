"""The embedded judges: they answer from certain facts and find supporting sentences by rules, on this machine.

**Answers.** Without a language model nobody judges what sentences mean, so nothing is judged: a certain fact is stated
(``certain.py``), and so is the correction that a caller gave to the same question. Everything else is an abstention.

**Support** (GAM-RAG §3.3): the paper asks a language model for the sentences that state the answer or are a necessary
bridge to it. Here a sentence supports the answer if it holds the answer word for word and is about something that the
query names or that lies on the path to the answer; or if it states a fact of that path (DESIGN 2.6). This judge sees
only what recall found and shares recall's errors, so its labels count with doubled noise.

**Departures.** "Yes", "no" and a bare number occur in many sentences by chance. No sentence supports them by its words,
only by the path. An abstention of this judge teaches nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from mcp_memory.domain.answers import Judgement, Proposal
from mcp_memory.domain.entities import entity_key
from mcp_memory.domain.evidence import Citation, Correction, RecallResult, Source
from mcp_memory.domain.facts import CERTAIN
from mcp_memory.domain.language_model import Spending
from mcp_memory.domain.query import Query
from mcp_memory.language.tokens import STOP_WORDS, mentions, stems, words
from mcp_memory.ports import JudgeInput
from mcp_memory.rules.answers.certain import certain_answer


class EmbeddedQuestionJudge:
    """Proposes what certain facts say, and nothing else; fulfils `ports.QuestionJudge`. It keeps no state."""

    @property
    def follow_ups(self) -> int:
        """None: it asks for no steps."""
        return 0

    @property
    def warnings(self) -> tuple[str, ...]:
        """None."""
        return ()

    @property
    def spent(self) -> Spending | None:
        """Nothing."""
        return None

    def assesses(self, _recall: RecallResult) -> bool:
        """Return False: nobody judges."""
        return False

    async def judge(self, judge_input: JudgeInput) -> Judgement:
        """See `ports.QuestionJudge`. It takes a few milliseconds, so it does not run in a thread."""
        return Judgement(_propose(judge_input))


def _propose(judge_input: JudgeInput) -> Proposal | None:
    """Return what certain facts say, or the correction that a caller gave to this question; None for neither.

    The later of the two decides; of the correction of another question, what it states as a fact.
    """
    query, recall = judge_input.query, judge_input.recall
    if query.askers:
        return None  # it is not known who asks
    proposal = certain_answer(query, judge_input.known_facts)
    if recall.correction is None:
        return proposal
    given = recall.correction.sources[0].turn.time
    told = [one.source.turn.time for one in proposal.citations] if proposal is not None else []
    if any(time > given for time in told):
        return proposal
    return _from_correction(judge_input, recall.correction) or (proposal if given in told else None)


def _from_correction(judge_input: JudgeInput, correction: Correction) -> Proposal | None:
    """Return what a caller said is right of this very question, unless a later message has all of its words."""
    asked, given = frozenset(stems(judge_input.query.text)), correction.sources[0].turn
    later = [one.source.quote for one in judge_input.sentences if one.source.turn.time > given.time]
    if asked != frozenset(stems(correction.question)) or any(asked <= set(stems(said)) for said in later):
        return None
    item = next((one.evidence_id for one in judge_input.sentences if one.source.turn.id == given.id), "")
    return Proposal(correction.text, CERTAIN, False, tuple(Citation(item, one) for one in correction.sources))


def supporting_sentences(
    query: Query, answer: str, names: Sequence[str], witnesses: Mapping[str, Source], on_path: Collection[str]
) -> list[str]:
    """Return the ids of the sentences that support an answer, by words and paths; see `ports.Supporting`."""
    answer_words = words(answer)
    is_specific = not all(word in STOP_WORDS or word in _BARE or word.isdecimal() for word in answer_words)
    keys = {key for name in (*names, *query.speakers, *query.names) if (key := entity_key(name))}
    return [
        sentence_id
        for sentence_id, witness in witnesses.items()
        if sentence_id in on_path
        or (is_specific and _contains_words(words(witness.quote), answer_words) and _is_about(witness, keys))
    ]


_BARE = frozenset(("yes", "no", "true", "false"))


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
