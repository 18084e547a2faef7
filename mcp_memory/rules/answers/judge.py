"""The embedded judge: it states what certain facts say, a value at a known time, or when it began or ended.

Without a language model nobody judges what sentences mean, so nothing is judged: a certain fact is stated, and so is
the correction that a caller gave to the same question. Everything else is an abstention.

A fact is *certain* that nothing contests, that is no hypothesis, and whose confidence is at least `CERTAIN`. It is
stated plainly; whatever else is known answers nothing, and what was said is quoted instead (``services/answer.py``).
A fact that was certain when it was told, after which something was said that may take it back (``view/frames.py``), is
hedged, with the day of its last telling: "Halifax, as told on 12 March 2024".

The query has to ask for exactly one relation of one entity (``asked.py``), at a time that it names itself or now, and
every value of that time has to be certain, and so has every step of a path to the entity ("Ann's sister's town").

A start or an end that nobody stated is derived, and is no answer. One that was told by the month says nothing of a day
within it. Nothing is counted, added or compared, and facts hold only what was stated: "how many" and what asks for yes
or no get the quotes alone.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from mcp_memory.domain.answers import Judgement, KnownFacts, Proposal, RelationFacts
from mcp_memory.domain.entities import entity_key
from mcp_memory.domain.evidence import Citation, Correction, RecallResult
from mcp_memory.domain.facts import CERTAIN, Assertion, Version
from mcp_memory.domain.language_model import Spending
from mcp_memory.domain.query import Constraint, Query
from mcp_memory.domain.relations import relations
from mcp_memory.domain.times import BEGINNING, FOREVER, Millis
from mcp_memory.language.questions import asks_for_several, looks_back
from mcp_memory.language.stated import day_in_words
from mcp_memory.language.tokens import stems
from mcp_memory.ports import JudgeInput
from mcp_memory.rules.answers.asked import RelationMatch, change_positions, match_relation, mentions_end, query_tokens
from mcp_memory.rules.answers.values import (
    ValidValue,
    assertion_rank,
    end_text,
    join_values,
    known_time,
    may_begin_later,
    planned_values,
    select_values,
    start_text,
    validity_text,
)

MOST_CITED = 3
AS_TOLD = 0.6
"""Confidence that what was certain when it was told still holds: of ten invented lives 20 of 24 did, of twelve made of
changes told in passing 14 of 42."""
_NOT_FACTUAL = re.compile(
    r"\b(?:would|could|should|or|if|not|never|why|no|than|both|same)\b|n['’]t\b|^\W*(?:Would|Could|Should|Why)\b"
)
"""Questions that suppose, compare or deny: a fact alone answers none of them."""
_ANSWERED = ("who", "what", "where", "when")


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

    async def understand(
        self, query: Query, _speakers: Collection[str], _held: Collection[str], _span: tuple[Millis, Millis] | None
    ) -> Query:
        """Return the query unchanged: the same rules have already parsed it."""
        return query

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


def certain_answer(query: Query, knowledge: KnownFacts) -> Proposal | None:
    """Return what certain facts answer to a query; None where they do not."""
    if query.answer_type not in _ANSWERED or _NOT_FACTUAL.search(query.text) or knowledge.meanings:
        return None
    try:
        time = known_time(query.time, knowledge)
    except LookupError:
        return None
    match = match_relation(query, knowledge)
    if match is None or match.group.doubtful or not all(_is_certain(step.version) for step in match.group.through):
        return None
    of_time = relations().get(match.group.relation).tail == "time" and match.group.forward
    if query.answer_type == "when" and not of_time:
        return _time(query, knowledge, match, time)
    return _value(query, knowledge, match, time)


def _is_certain(version: Version) -> bool:
    return version.status != "contested" and version.told_certain


def _value(query: Query, knowledge: KnownFacts, match: RelationMatch, time: Constraint | None) -> Proposal | None:
    """Return the values that hold, or happened, at the time that is asked about."""
    group, relation = match.group, relations().get(match.group.relation)
    past = not knowledge.chosen and looks_back(query.text)
    moment = FOREVER - 1 if all(one.version.kind == "planned" for one in match.values) else knowledge.moment
    meant = select_values(match.values, time, event=relation.event, past=past, moment=moment)
    different = list(dict.fromkeys(" ".join(one.value.split()) for one in meant))
    single = relation.cardinality == "single" and (group.forward or relation.symmetric)
    until = knowledge.moment + 1 if time is None else time.until
    if any(may_begin_later(one, until, knowledge) for one in meant):
        return None
    if single and ((time is None and len(different) > 1) or _is_overdue(group, different, knowledge)):
        return None  # it is not known which of them is meant
    read = any(one.extractor != "caller" for value in meant for one in value.assertions)
    if read and not single and asks_for_several(query.text):
        return None  # what was read is seldom all
    text = ", then ".join(different) if single else join_values(different)
    if set(stems(text)) <= set(stems(query.text)):
        return None  # "dog" is no answer to "What is my dog called?"
    as_told = AS_TOLD if until > knowledge.moment else CERTAIN
    return _proposal(text, meant, match, knowledge, as_told=as_told)


def _is_overdue(group: RelationFacts, told: Sequence[str], knowledge: KnownFacts) -> bool:
    """Return whether another value was announced for a time that has come: it may hold though nobody said so."""
    plans = planned_values(group)
    return any(one.since <= knowledge.moment and " ".join(one.value.split()) not in told for one in plans)


def _time(query: Query, knowledge: KnownFacts, match: RelationMatch, time: Constraint | None) -> Proposal | None:
    """Return when the one value began or ended, or from when to when it held, as far as it was stated."""
    event = relations().get(match.group.relation).event
    values: Sequence[ValidValue] = match.named_values or match.values
    if time is not None:
        values = select_values(values, time, event=event, past=True, moment=knowledge.moment)
    if len(values) != 1:
        return None
    value, ended_by = values[0], values[0].version.ended_by
    end_stated = not ended_by or any(one.stated and one.negated for one in ended_by)
    if looks_back(query.text) and value.version.kind == "planned":
        return None  # what was announced need not have happened
    if mentions_end(query.text):
        text = end_text(value, knowledge) if end_stated and not event else None
        return _proposal(text or "", values, match, knowledge, ended_by)
    if not value.stated:
        return None
    of_start = event or bool(change_positions(query_tokens(query.text)))
    if of_start or relations().get(match.group.relation).cardinality == "unknown":  # which may be an event
        return _proposal(start_text(value, knowledge) or "", values, match, knowledge)
    return _proposal((validity_text(value, knowledge) if end_stated else None) or "", values, match, knowledge)


def _proposal(
    text: str,
    values: Sequence[ValidValue],
    match: RelationMatch,
    knowledge: KnownFacts,
    assertions: Sequence[Assertion] = (),
    as_told: float = CERTAIN,
) -> Proposal | None:
    """Return an answer; None for one without words or a text to cite, or where anything speaks against a value.

    Args:
        text: the words of the answer.
        values: the values that it states.
        match: what the query asks for.
        knowledge: has the texts of the assertions.
        assertions: further ones that it rests on.
        as_told: its highest confidence, if it is known only as of its telling.
    """
    citations = tuple(_citations(values, assertions, match.group, knowledge))[:MOST_CITED]
    if not (text and values and citations) or any(_is_doubted(value, match.group) for value in values):
        return None
    if knowledge.gate(citations) < 1:
        return None  # a caller called it wrong
    meant, passed = [one.version for one in values], [step.version for step in match.group.through]
    confidence = min(one.confidence for one in (*meant, *passed))
    told = [one for one in meant if one.as_of is not None] or [one for one in passed if one.as_of is not None]
    if not told:
        return Proposal(text, confidence, False, citations)
    first = min(told, key=lambda one: one.as_of or BEGINNING)
    text = f"{text}, as told on {_day_told(first, knowledge)}"
    return Proposal(text, min(confidence, as_told), True, citations)


def _day_told(version: Version, knowledge: KnownFacts) -> str:
    """Return the day of the last telling of a fact, as the clock showed it where that was said."""
    said_at = version.as_of or BEGINNING
    turns = (knowledge.turns.get(one.turn_id) for one in version.assertions if one.said_at == said_at)
    return day_in_words(next((turn.local_time for turn in turns if turn), said_at))


def _is_doubted(value: ValidValue, group: RelationFacts) -> bool:
    """Return whether a value is not certain: another claims its time, or it was denied for it."""
    known = relations().get(group.relation)
    rivals = [one for one in group.versions if entity_key(group.value(one)) != entity_key(value.value)]
    rivals = [one for one in rivals if not _is_certain(one) and one.kind != "planned" and one.since < one.until]
    rivals = rivals if known.cardinality == "single" and group.forward else []
    rivals += [one for one in group.versions if one.lost]
    lost = any(value.since <= one.since < value.until for one in rivals)
    denied = any(
        entity_key(group.value(denial)) == entity_key(value.value) and value.since <= denial.since < value.until
        for denial in group.denials
    )
    return lost or denied or not _is_certain(value.version)


def _citations(
    values: Sequence[ValidValue], assertions: Sequence[Assertion], group: RelationFacts, knowledge: KnownFacts
) -> Iterator[Citation]:
    """Yield the citations of an answer: one assertion of each value, what ended it, and the steps to the entity."""
    wanted = [(value.version.id, max(value.assertions, key=assertion_rank)) for value in values]
    wanted += [(value.version.id, one) for value in values[:1] for one in assertions]
    wanted += [(step.version.id, step.version.assertions[0]) for step in group.through if step.version.assertions]
    seen: set[str] = set()
    for fact, assertion in wanted:
        source = knowledge.source(assertion)
        if source is not None and assertion.id not in seen:
            seen.add(assertion.id)
            yield Citation(fact, source)
