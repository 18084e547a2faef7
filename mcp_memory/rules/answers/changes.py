"""Whether a later message changes what an answer says: a value told last year is no answer for today.

The new value may not have been read, or not be of the wanted form. So each answer is compared with what was told after
it: words of change or correction about the same matter, another amount in the same unit, the end of the value itself.
These are lists of words, English only, that err on the side of silence.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import cache

from mcp_memory.domain.answers import EvidenceSentence, Proposal
from mcp_memory.domain.entities import PROJECT
from mcp_memory.domain.evidence import Contrast
from mcp_memory.domain.query import Query
from mcp_memory.domain.relations import Relation
from mcp_memory.domain.times import FOREVER
from mcp_memory.domain.turns import USER, USERS, Turn
from mcp_memory.language.changes import deeds
from mcp_memory.language.expressions import NUMBER, number
from mcp_memory.language.tokens import stems, words
from mcp_memory.rules.answers.modality import LOOKS_BACK, asks_deed, is_question, is_unreal
from mcp_memory.rules.answers.support import WeighedSentence
from mcp_memory.rules.facts.rows import rows
from mcp_memory.rules.facts.verbs import inflection

_CHANGED = re.compile(
    r"\b(?:actually|correction|i\s+meant|no\s+longer|any\s?more|(?:since|from|as\s+of)\s+(?:today|now|tomorrow)|from\s+now\s+on"
    r"|chang(?:e|ed|es|ing)|mov(?:e|ed|es|ing)\s+(?:it|to|from|out|forward|back)|switch(?:ed|es|ing)|swapp?(?:ed|ing)?|instead"
    r"|postpone[ds]?|put\s+(?:back|off|forward|up|down)|brought\s+forward|reschedul\w*|rebook\w*|delay(?:ed|s)?|rais(?:e|ed|es)"
    r"|cut\s+(?:it|my|the)|(?:up|down)\s+to|increas\w*|reduc\w*|replac\w*|cancel\w*|call(?:ed)?\s+off|stopp?ed|quit|ditch(?:ed)?"
    r"|sold|broke\s+up|split\s+up|left|dropp?(?:ed|ing)|told\s+you\s+wrong|new|now)\b|\bnot\s+(?:on\s+|at\s+|in\s+)?(?:the\s+)?\d",
    re.I,
)
"""Words with which a message changes or corrects what was said before it."""
_CORRECTED = re.compile(
    r"\b(?:actually|correction|i\s+meant|told\s+you\s+wrong|tell\s+a\s+lie|in\s+the\s+end|after\s+all|instead)\b"
    r"|\bnot\s+(?:on\s+|at\s+|in\s+)?(?:the\s+)?\d",
    re.I,
)
"""Words with which a message corrects what it tells of as done: what was sold since was still bought for its price."""
_DEED = re.compile(r"\b(?:bought|paid|cost|sold|spent|got|met|won|finished|passed|made)\b", re.I)
_NOT_NUMBER = re.compile(
    r"\b(?:not|instead\s+of|rather\s+than)\s+(?:on\s+|at\s+|in\s+)?(?:the\s+)?(\d+(?:[.,]\d+)?)", re.I
)
_GONE = re.compile(
    r"\b(?:gone|binned|bin\s+it|deleted|retired|switched\s+off|shut\s+down|read-only|deprecated|dead|died|ended|no\s+longer"
    r"|any\s?more|replaced|dropped|quit|left)\b",
    re.I,
)
"""Words by which a later message tells of a value that it is none any more."""
_IT_IS_GONE = re.compile(
    r"\b(?:(?:ripped|threw|took|thrown|taken)\s+(?:it|them)\s+out|got\s+rid\s+of\s+(?:it|them)|(?:ditched|replaced|dropped|sold"
    r"|binned|returned|cancell?ed|deleted|retired)\s+(?:it|them))\b",
    re.I,
)
"""Words by which a later message with a word of the question tells that what was told of before is no more."""
_AMOUNT = re.compile(r"(\d+(?:[.,]\d+)?)\s?([a-z%€$£]\w*)", re.I)
_SET = re.compile(r"\b(?:set|now|went|goes|made)\b", re.I)
"""Words by which a later amount is a new value, whatever it is of."""
_LEFT = re.compile(r"\b(?:left|leaving|quit|retired\s+from|resigned\s+from|sold|gave\s+up|done\s+with|stopped)\b", re.I)
"""Words before what somebody has no more."""
SHARED = 0.6
"""A later message that has this share of the best message's coverage, and words of change, is about the same matter."""


def is_changed_later(answer: str, best: WeighedSentence, others: Sequence[WeighedSentence], question: str) -> bool:
    """Return whether a later message changes what a message said, or corrects the number that the answer gives.

    Of today, a later message also changes it that gives another amount in the same unit with a word of the question,
    or tells of the answer itself that it is gone.
    """
    said_at = best.evidence.source.turn.said_at
    if best.is_document or said_at is None:
        return False
    done = asks_deed(question) and not is_unreal(best.text) and _DEED.search(best.text) is not None
    numbers = frozenset(re.findall(r"\d+(?:[.,]\d+)?", answer))
    of_today = LOOKS_BACK.search(question) is None
    value, asked = frozenset(stems(answer)), frozenset(stems(question))
    amounts = {unit.lower(): number for number, unit in _AMOUNT.findall(answer)}
    for other in others:
        turn = other.evidence.source.turn
        if turn.said_at is None or turn.id == best.evidence.source.turn.id or turn.said_at <= said_at:
            continue
        if numbers.intersection(_NOT_NUMBER.findall(other.text)):
            return True
        if of_today and not is_question(other.text):
            told = frozenset(stems(other.text))
            if value and value <= told and _GONE.search(other.text):
                return True
            if not asked.isdisjoint(told) and _IT_IS_GONE.search(other.text):
                return True
            if (not asked.isdisjoint(told) or _SET.search(other.text)) and any(
                amounts.get(unit.lower(), number) != number for number, unit in _AMOUNT.findall(other.text)
            ):
                return True
            if turn.speaker == best.evidence.source.turn.speaker and _counts_otherwise(answer, other.text):
                return True
        changed = _CORRECTED if done else _CHANGED
        if other.coverage >= SHARED * best.coverage > 0 and changed.search(other.text) and not is_question(other.text):
            return True
    return False


_FORMER = re.compile(
    r"\b(?:first|original(?:ly)?|initial(?:ly)?|used\s+to|former(?:ly)?|previous(?:ly)?|before|at\s+the\s+start|(?<!how\s)old)\b",
    re.IGNORECASE,
)
"""Words with which a question asks for what no longer holds."""


def was_restated(question: str, proposal: Proposal, contrasts: Sequence[Contrast]) -> bool:
    """Return whether an answer rests on a statement that a later one perhaps changes, and the question is of today.

    What is told as done, and asked for as done, is not changed by what comes after it.
    """
    done = asks_deed(question) and all(any(deeds(one.source.quote)) for one in proposal.citations)
    if done or _FORMER.search(question):
        return False
    cited = {citation.source.turn.id for citation in proposal.citations}
    return any(one.kind == "changed" and one.one.turn.id in cited for one in contrasts)


_ENDED = re.compile(
    r"\b(?:g[ai]ve(?:n)?\s+up|moved\s+(?:away|out)|passed\s+away|died|buried|put\s+(?:down|to\s+sleep)|scrap(?:ped|\s+yard|\s+heap)"
    r"|(?:is|are|was|were)\s+(?:off|over|gone|cancell?ed|stolen|dead|closed)|called\s+off|fell\s+through|no\s+longer|any\s?more"
    r"|stopped|quit|retired|ditched|binned|dropped|replaced|without|not\s+had|haven['’]?t\s+had|broke\s+up|split\s+up)\b",
    re.I,
)
"""Words near a value, or near what a question names, by which a later message tells that it is over."""
_ENDED_NEAR = 40
"""Most characters between these words and what is over."""


def is_over(query: Query, proposal: Proposal, sentences: Sequence[EvidenceSentence]) -> bool:
    """Return whether a later message tells that the value of an answer of today, or what a question names, is over.

    "We buried Max", "the old CI is off", "two weeks without a cigarette" end "Max is 9", "our CI is CircleCI" and "I
    smoke ten cigarettes", in no words of theirs but one.
    """
    question = query.text
    if asks_deed(question) or LOOKS_BACK.search(question) or _FORMER.search(question) or not proposal.citations:
        return False
    told = max((one.source.turn for one in proposal.citations), key=lambda turn: turn.said_at or 0)
    if told.kind == "document" or told.said_at is None:
        return False
    until = FOREVER if query.as_of is None else query.as_of
    spoken = {stem for name in (*query.speakers, told.speaker or "") for stem in stems(name)}
    kind = _WHAT_KIND.search(question)
    named = {stem for name in query.names for stem in stems(name)} | set(stems(kind[1]) if kind else ())
    about = (frozenset(stems(proposal.text)) | named) - spoken
    return any(
        told.said_at < (one.source.turn.said_at or 0) <= until
        and one.source.turn.id != told.id
        and not is_question(one.source.quote)
        and not is_unreal(one.source.quote)
        and any(
            not about.isdisjoint(
                stems(one.source.quote[max(0, found.start() - _ENDED_NEAR) : found.end() + _ENDED_NEAR])
            )
            for found in _ENDED.finditer(one.source.quote)
        )
        for one in sentences
    )


_WHAT_KIND = re.compile(r"\b(?:what|which)\s+([\w'’-]+)\s+(?:do|does|am|is|are)\b(?!\s+(?:the|my|our)\b)", re.I)


_HAPPENS = {
    word: frozenset(stems(f"{asked} {told}"))
    for asked, told in (
        ("due", "deadline until by"),
        ("done finished finish complete completed ready", ""),
        ("start starts started begin begins", "began"),
        ("end ends ended", "finish finished over"),
        ("open opens opened", ""),
        ("close closes closed", "shut"),
        ("arrive arrives arrived", "came"),
        ("expire expires expired", "out"),
    )
    for word in asked.split()
}
"""What a question may ask of a thing, with the stems of the words that tell of it."""
_WHAT_HAPPENS = re.compile(
    rf"\b(?:is|was|are|were|does|did|do|has|have|will|would)\s+(?:the|my|our|your|this|that)\s+(?:[\w'’-]+\s+){{0,2}}?"
    rf"(?P<thing>[\w'’-]+)\s+(?:be\s+|been\s+)?(?P<what>{'|'.join(sorted(_HAPPENS))})\b",
    re.IGNORECASE,
)


def tells_of_what_happens(question: str, proposal: Proposal) -> bool:
    """Return whether an answer to "When is the manual due?" rests on a message with the manual and what is asked of it.

    "The baby is due in January" is of another thing, and "from today the manual is with Ida" of another matter.
    Questions of other forms and what documents tell, which names its subject in its title, are not looked at.
    """
    asked = _WHAT_HAPPENS.search(question)
    said = [one.source for one in proposal.citations if one.source.turn.kind == "message"]
    if asked is None or not said:
        return True
    thing, happens = frozenset(stems(asked["thing"])), _HAPPENS[asked["what"].lower()]
    return any(
        thing <= frozenset(stems(source.turn.text))
        and not happens.isdisjoint(words(source.quote) + stems(source.quote))
        for source in said
    )


def _counts_otherwise(answer: str, text: str) -> bool:
    """Return whether a text gives another number of what an answer counts: "three classes" for "five maths classes"."""
    counted = re.match(rf"\W*(?!an?\b)({NUMBER})\b(?:\s+[\w'’-]+){{0,2}}?\s+([\w'’-]+)\W*$", answer, re.I)
    if counted is None:
        return False
    told = re.findall(rf"\b(?!an?\b)({NUMBER})\s+(?:[\w'’-]+\s+){{0,2}}?{re.escape(counted[2])}\b", text, re.I)
    return bool(told) and number(counted[1]) not in map(number, told)


def set_since(answer: str, heads: Sequence[str], told: Turn, sentences: Sequence[EvidenceSentence]) -> bool:
    """Return whether a later message gives another number with all but one of the words of a setting's name."""
    numbers = frozenset(re.findall(r"\d+(?:[.,]\d+)?", answer))
    names = [frozenset(stems(name)) for name in heads]
    return any(
        (one.source.turn.said_at or 0) > (told.said_at or 0)
        and not is_question(one.source.quote)
        and bool(frozenset(re.findall(r"\d+(?:[.,]\d+)?", one.source.quote)) - numbers)
        and any(len(name & frozenset(stems(one.source.quote))) >= max(2, len(name) - 1) for name in names)
        for one in (sentences if numbers and told.kind != "document" else ())
    )


def changed_since(
    relation: Relation, answer: str, heads: Sequence[str], told: Turn, sentences: Sequence[EvidenceSentence]
) -> bool:
    """Return whether the one who told a value of a relation tells later that it changed: "new job!!", "we sold it".

    The new value may not have been read, so the old one is no answer for today. What tells a change is a list of the
    relation's own (``changed`` in ``resources/relations.toml``), the end of the value itself, "I've left the bakery",
    and, where there is one value at a time, another one, "I work for a baker". Of somebody else than the teller it has
    to name them; of a thing anybody may tell it, in words of which at least half of its name are, and of the project
    anybody of the team; "the new limit" tells it, too.
    """
    if told.kind == "document" or told.said_at is None:
        return False
    pattern = _change_words(relation.changed) if relation.changed else None
    own = {(told.speaker or USER).casefold(), *USERS, PROJECT}
    others = None if own.intersection(map(str.casefold, heads)) else {stem for name in heads for stem in stems(name)}
    of_thing = relation.head == "thing"
    of_team = PROJECT in map(str.casefold, heads)
    renewed = _renewed(tuple(heads)) if of_thing and heads and pattern else None
    least = (min(len(frozenset(stems(name))) for name in heads) + 1) // 2 if of_thing and heads else 1
    value = frozenset(stems(answer))
    return any(
        ((turn := one.source.turn).speaker == told.speaker or of_thing or of_team)
        and turn.said_at is not None
        and turn.said_at > told.said_at
        and not is_question(one.source.quote)
        and (
            (pattern and pattern.search(one.source.quote))
            or (renewed and renewed.search(one.source.quote))
            or (not of_thing and _ends_value(relation, value, one.source.quote))
        )
        and (others is None or len(others & frozenset(stems(turn.text))) >= least)
        for one in sentences
    )


def _ends_value(relation: Relation, value: frozenset[str], text: str) -> bool:
    """Return whether a text tells that a value is gone, or another one of a relation that has one at a time."""
    told = frozenset(stems(text))
    if not value.isdisjoint(told):
        return relation.changed != () and any(
            not value.isdisjoint(stems(text[found.end() : found.end() + 40])) for found in _LEFT.finditer(text)
        )
    if relation.cardinality != "single" or is_unreal(text):
        return False
    said = words(text)
    return any(
        (form := inflection(word)) is not None
        and _states(relation, form.lemma, said[place + 1 : place + 3])
        and not {"i", "we", "he", "she"}.isdisjoint(said[max(place - 3, 0) : place])
        for place, word in enumerate(said)
    )


def _states(relation: Relation, verb: str, behind: Collection[str]) -> bool:
    """Return whether a verb states a value now or from now on, by a preposition among the words behind it."""
    return any(
        not (row.slots - {"obj", "time", "each"}).isdisjoint(behind)
        for row in rows().get(("verb", verb), ())
        if row.relation == relation.name and row.effect in ("state", "begin") and not row.particles
    )


@cache
def _change_words(phrases: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(re.escape(phrase) for phrase in phrases)})\b", re.I)


def _renewed(names: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern of "the new limit", for the name "API limit"."""
    nouns = {re.escape(name.split()[-1]) for name in names if name.split()}
    return re.compile(rf"\b(?:the|our|a)\s+new\s+(?:[\w'’-]+\s+)?(?:{'|'.join(sorted(nouns))})\b", re.I)
