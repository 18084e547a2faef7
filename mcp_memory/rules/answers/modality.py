"""Whether a message asserts what a question asks about, and of whom.

Matching words do not make a statement true. "Anna asked me to marry her but I said no" holds the words of "Am I married
to Anna?", and of "When did I marry Anna?" too. So before anything is read out of a message, the clause that holds the
question's words has to assert them: a question, a refusal, an offer or request, a wish, a condition or a plan does not,
unless the question asks for just that ("When is she *planning* to …?"). And its subject has to be the person asked
about: "My sister broke her knee" says nothing of the speaker's knee.

These are lists of words, English only, that err on the side of silence. Documents report in other ways, and are not
judged by them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from mcp_memory.domain.answers import EvidenceSentence
from mcp_memory.domain.entities import PROJECT
from mcp_memory.domain.relations import Relation
from mcp_memory.domain.turns import USER, USERS, Turn
from mcp_memory.language.expressions import NUMBER, number
from mcp_memory.language.segments import QUESTION_MARKS
from mcp_memory.language.tokens import stems
from mcp_memory.language.vocabulary import EVERYDAY_KINSHIP, RELATIVES
from mcp_memory.rules.answers.spans import split_clauses
from mcp_memory.rules.answers.support import WantedSpan, WeighedSentence

_ASKS = re.compile(
    r"^\W*(?:(?:so|and|but|or|also|hey|hi|ok(?:ay)?|well|wow|oh)\b[\s,!]*)*"
    r"(?:(?:what|which|who|whom|whose|when|where|why|how)(?:['’]s|\s+(?:many|much|often|long|old|far|is|are|was|were|do"
    r"|does|did|can|could|will|would|should|about|have|has|to|kind|sort|type))\b"
    r"|(?:is|are|was|were|do|does|did|can|could|will|would|should|have|has)\s+(?:i|you|we|he|she|it|they|there|your|the)\b)",
    re.I,
)
"""The opening of a question, also where its question mark is missing."""
_REFUSED = re.compile(
    r"\b(?:refus(?:e|ed|es|ing)|declin(?:e|ed|es|ing)|turn(?:ed|ing|s)?\s+(?:\w+\s+){0,2}down|sa(?:id|y|ys)\s+no"
    r"|told\s+(?:\w+\s+){1,3}no\b|reject(?:ed|s|ing)?|cancel(?:l?ed|s|l?ing)?|call(?:ed|ing)?\s+(?:it\s+)?off"
    r"|fell\s+through|decided\s+(?:not\s+to|against)|chickened\s+out|backed\s+out|pulled\s+out|opted\s+out"
    r"|(?:that['’]?s|it['’]?s|was|is)\s+a\s+no\b|(?:never|didn['’]?t|did\s+not)\s+(?:happen|work\s+out|go\s+ahead)"
    r"|supposed\s+to)\b",
    re.I,
)
_PROPOSED = re.compile(
    r"\b(?:offer(?:ed|s|ing)?|ask(?:ed|s|ing)?\s+(?:me|him|her|us|them|if|whether|[A-Z]\w+)|invit(?:e|ed|es|ing)"
    r"|propos(?:e|ed|es|ing)|suggest(?:ed|s|ing)?|request(?:ed|s|ing)?|beg(?:ged|s|ging)?"
    r"|want(?:ed|s)?\s+(?:me|him|her|us|them|you)\s+to)\b",
    re.I,
)
_WISHED = re.compile(
    r"\b(?:wish(?:ed|es|ing)?|hop(?:e|ed|ing)|dream(?:ed|s|ing|t)?|would|could|might|maybe|perhaps|possibly|probably"
    r"|if|unless|whether|imagin(?:e|ed|ing)|pretend(?:ed|ing)?|suppose|should|almost|nearly|wanna|tempted"
    r"|want(?:ed|s|ing)?\s+to(?!\s+(?:tell|say|share|ask|let|mention|show))|(?:love|like)\s+to|need(?:ed|s)?\s+to|(?:thinking|thought)\s+(?:of|about)"
    r"|consider(?:ed|s|ing)?|not\s+sure|unsure|someday|one\s+day)\b|['’]d\s+(?:love|like|rather|prefer)\b"
    r"|(?<!\d\s)(?<!\d(?:st|nd|rd|th)\s)(?<!\bof\s)(?<!\bin\s)\bmay\s+(?!\d)[a-z]",
    re.I,
)
_PLANNED = re.compile(
    r"\b(?:will|(?<!been\s)(?<!started\s)(?<!began\s)going\s+to|gonna|plan(?:s|ned|ning)?|about\s+to|intend(?:s|ed|ing)?|aim(?:s|ed|ing)?\s+to|soon|tomorrow"
    r"|looking\s+forward|prepar(?:e|es|ed|ing)|trying\s+to|upcoming|coming\s+up|next\s+\w+|can['’]?t\s+wait"
    r"|getting\s+ready)\b|['’]ll\b",
    re.I,
)
_AHEAD = re.compile(
    r"\b(?:will|going|plan(?:s|ned|ning)?|intend(?:s|ed|ing)?|upcoming|next|due|supposed|aim(?:s|ing)?|goal)\b"
    r"|\b(?:when|what\s+(?:day|date|time)|where|who)\s+(?:is|are|does|do|am)\b",
    re.I,
)
"""A question that a plan answers."""
_ASKS_PLAN = re.compile(
    r"\b(?:plan(?:s|ned|ning)?|intend(?:s|ed|ing)?|hop(?:e|es|ed|ing)|want(?:s|ed|ing)?|consider\w*|thinking)\b", re.I
)
_LOOKS_BACK = re.compile(r"\b(?:did|was|were|has|have|had)\b", re.I)
_FIRST = re.compile(r"(?:^|[^\w'’])(?:i|we|i['’](?:m|ve|d|ll)|we['’](?:re|ve|d|ll)|im|ive)(?![\w'’])", re.I)
_PEOPLE = frozenset(
    """
    friend boss neighbour neighbor colleague coworker partner girlfriend boyfriend fiance fiancee roommate flatmate
    housemate landlord teacher coach mentor doctor family parents team kids folks dog cat puppy kitten nephew
    """.split()  # noqa: SIM905 - a list of words is read as words
).union(word for word in RELATIVES if " " not in word)
_OTHER_SUBJECT = re.compile(
    r"^\W*(?:(?:so|and|but|also|then|oh|well|yeah|yes|hey|wow|because|when|while|after|before|plus|btw|guess what"
    r"|that)\b"
    r"[\s,!:-]*)*(?:(?P<kin>(?:my|our|his|her|their|your)\s+(?P<noun>(?:[\w'’-]+\s+){0,2}?"
    rf"(?:{'|'.join(sorted(_PEOPLE))})s?))"
    r"|(?P<pronoun>he|she|they|you|your)|(?P<name>(?-i:[A-Z])[\w'’-]+))\s+"
    r"(?:just\s+|also\s+|really\s+|finally\s+|recently\s+|has\s+|have\s+|had\s+|is\s+|was\s+|are\s+|were\s+|once\s+)*"
    r"(?=(?P<verb>[\w'’-]+))",
    re.I,
)
_NO_NAME = re.compile(
    r"\w+(?:ed|ing|ly|day)|the|this|that|these|those|it|there|here|went|got|had|has|have|took|saw|made|did|just|been|last|next|first"
    r"|one|some|lots?|both|all|every\w*|met|found|left|bought|sold|won|felt|ran|sent|wrote|read|heard|set|in|on|at|for|with"
    r"|as|since|after|before|during|not|no|a|an|is|was|are|were|by|from|to|of|today|tomorrow|tonight|now",
    re.I,
)
"""Words that open a sentence with a capital and are no names."""


_CHANGED = re.compile(
    r"\b(?:actually|correction|i\s+meant|no\s+longer|any\s?more|(?:since|from|as\s+of)\s+(?:today|now|tomorrow)|from\s+now\s+on"
    r"|chang(?:e|ed|es|ing)|mov(?:e|ed|es|ing)\s+(?:it|to|from|out|forward|back)|switch(?:ed|es|ing)|swapp?(?:ed|ing)?|instead"
    r"|postpone[ds]?|put\s+(?:back|off|forward|up|down)|brought\s+forward|reschedul\w*|rebook\w*|delay(?:ed|s)?|rais(?:e|ed|es)"
    r"|cut\s+(?:it|my|the)|(?:up|down)\s+to|increas\w*|reduc\w*|replac\w*|cancel\w*|call(?:ed)?\s+off|stopp?ed|quit|ditch(?:ed)?"
    r"|sold|broke\s+up|split\s+up|left|dropp?(?:ed|ing)|told\s+you\s+wrong|new|now)\b|\bnot\s+(?:on\s+|at\s+|in\s+)?(?:the\s+)?\d",
    re.I,
)
"""Words with which a message changes or corrects what was said before it."""
_NOT_NUMBER = re.compile(
    r"\b(?:not|instead\s+of|rather\s+than)\s+(?:on\s+|at\s+|in\s+)?(?:the\s+)?(\d+(?:[.,]\d+)?)", re.I
)
_GONE = re.compile(
    r"\b(?:gone|binned|bin\s+it|deleted|retired|switched\s+off|shut\s+down|read-only|deprecated|dead|died|ended|no\s+longer"
    r"|any\s?more|replaced|dropped|quit|left)\b",
    re.I,
)
"""Words by which a later message tells of a value that it is none any more."""
_AMOUNT = re.compile(r"(\d+(?:[.,]\d+)?)\s?([a-z%€$£]\w*)", re.I)
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
    numbers = frozenset(re.findall(r"\d+(?:[.,]\d+)?", answer))
    of_today = _LOOKS_BACK.search(question) is None
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
            if not asked.isdisjoint(told) and any(
                amounts.get(unit.lower(), number) != number for number, unit in _AMOUNT.findall(other.text)
            ):
                return True
            if turn.speaker == best.evidence.source.turn.speaker and _counts_otherwise(answer, other.text):
                return True
        if other.coverage >= SHARED * best.coverage > 0 and _CHANGED.search(other.text) and not is_question(other.text):
            return True
    return False


def _counts_otherwise(answer: str, text: str) -> bool:
    """Return whether a text gives another number of what an answer counts: "three classes" for "five maths classes"."""
    counted = re.match(rf"\W*(?!an?\b)({NUMBER})\b(?:\s+[\w'’-]+){{0,2}}?\s+([\w'’-]+)\W*$", answer, re.I)
    if counted is None:
        return False
    told = re.findall(rf"\b(?!an?\b)({NUMBER})\s+(?:[\w'’-]+\s+){{0,2}}?{re.escape(counted[2])}\b", text, re.I)
    return bool(told) and number(counted[1]) not in map(number, told)


_RETURN = re.compile(
    r"\b(?:back|return(?:ed|s|ing)?|(?:got|get|came|come|coming|going)\s+home|left|leav(?:e|es|ing))\b", re.I
)
_PRESENT_QUESTION = re.compile(r"^\W*(?:do|does|am|is|are)\b", re.I)
_ASKS_NOW = re.compile(
    r"^\W*(?:what|which|how\s(?:much|many|long|often|big|high))\b.{0,60}?\b(?:is|are|am|do|does)\b", re.I
)
_EDGE = re.compile(
    r"\b(first|last|final)\s+(?:day|night|week|shift|lesson|class|session|appointment|exam|match|game)s?\b", re.I
)
"""What is the first or last of its kind: a text that tells of its date says so."""
_NO_LONGER = re.compile(r"\b(?:was|were|used\s+to)\b(?!.*\b(?:is|are)\b)", re.I)
"""A value told in the past, which need not be that of today: "the limit was 30, I raised it to 60"."""
_BACK_THEN = re.compile(
    r"\b(?:back\s+then|in\s+those\s+days|at\s+the\s+time|once|formerly|previously|before|when\s+i\s+was|as\s+a\s+(?:kid|child|teen\w*)"
    r"|used\s+to|liked|loved|enjoyed|hated|preferred|lived|worked|owned|belonged|wanted|had)\b",
    re.I,
)
"""A state that is told of in the past, which says nothing of today."""


def is_question(text: str) -> bool:
    """Return whether a sentence asks something, by its mark or its opening words."""
    return text.rstrip().endswith(QUESTION_MARKS) or _ASKS.match(text) is not None


def asks_ahead(question: str) -> bool:
    """Return whether a question asks for something planned, or for a date that may lie ahead."""
    return _AHEAD.search(question) is not None and (
        _LOOKS_BACK.search(question) is None
        or re.search(r"\b(?:supposed|due|plan\w*|going)\b", question, re.I) is not None
    )


def asks_deed(question: str) -> bool:
    """Return whether a question asks of something as done, "when did she pass?"; what was announced need not be."""
    return re.search(r"\b(?:did|has|have|had)\b", question, re.I) is not None and not asks_ahead(question)


def asks_return(text: str) -> bool:
    """Return whether a text speaks of coming back."""
    return _RETURN.search(text) is not None


def hit_clause(sentence: WeighedSentence) -> tuple[int, int]:
    """Return the part of a sentence, as (first character, first one after it), that holds the question's words.

    It reaches from the first clause with one of them to the last one; the whole sentence where none is found.
    """
    held = [sentence.words[hit].start for hit in sentence.hits]
    if not held:
        return 0, len(sentence.text)
    clauses = split_clauses(sentence.text)
    first = max((start for start, _ in clauses if start <= held[0]), default=0)
    last = min((end for _, end in clauses if end > held[-1]), default=len(sentence.text))
    return first, last


def asserts(wanted: WantedSpan, sentence: WeighedSentence) -> bool:
    """Return whether a message states what the question asks about, of the person it asks about.

    True of every sentence of a document that is no question.
    """
    text = sentence.text
    if is_question(text):
        return False
    if sentence.is_document:
        return True
    if _mode(_REFUSED, text + _after(sentence), wanted):
        return False
    start, end = hit_clause(sentence)
    clause = text[start:end]
    if (
        wanted.form == "date"
        and (edge := _EDGE.search(wanted.query.text))
        and edge[1].casefold() not in text.casefold()
    ):
        return False
    if wanted.form in ("date", "duration") and len(sentence.times) < 2 and _mode(_RETURN, clause, wanted):
        return False  # the day of a return is not the day of the stay
    if wanted.form == "yes_no" and _PRESENT_QUESTION.match(wanted.query.text) and _BACK_THEN.search(clause):
        return False
    if wanted.form not in ("date", "yes_no") and _ASKS_NOW.match(wanted.query.text) and _NO_LONGER.search(clause):
        return False
    if not _of_that_time(wanted, sentence):
        return False
    asks_plan = _ASKS_PLAN.search(wanted.query.text) is not None
    if _mode(_PROPOSED, clause, wanted) or (not asks_plan and _mode(_WISHED, clause, wanted)):
        return False
    if not asks_plan and not asks_ahead(wanted.query.text) and _mode(_PLANNED, clause, wanted):
        return False
    return wanted.form == "person" or _persons_agree(wanted, sentence, clause)  # "My sister gave me one": who did?


def _of_that_time(wanted: WantedSpan, sentence: WeighedSentence) -> bool:
    """Return whether a message may tell of the time asked about: one told after it has to state such a time."""
    said_at = sentence.evidence.source.turn.said_at
    if wanted.time is None or said_at is None or wanted.form == "date":
        return True
    since, until = wanted.time
    stated = [(one.since, one.until) for _, _, one in sentence.times]
    return said_at < until or any(begin < until and since < end for begin, end in stated)


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


def changed_since(relation: Relation, heads: Sequence[str], told: Turn, sentences: Sequence[EvidenceSentence]) -> bool:
    """Return whether the one who told a value of a relation tells later that it changed: "new job!!", "we sold it".

    The new value may not have been read, so the old one is no answer for today. What tells a change is a list of the
    relation's own (``changed`` in ``resources/relations.toml``). Of somebody else than the teller it has to name them;
    of a thing anybody may tell it, in words of which at least half of its name are; "the new limit" tells it, too.
    """
    if not relation.changed or told.kind == "document" or told.said_at is None:
        return False
    pattern = _change_words(relation.changed)
    own = {(told.speaker or USER).casefold(), *USERS, PROJECT}
    others = None if own.intersection(map(str.casefold, heads)) else {stem for name in heads for stem in stems(name)}
    of_thing = relation.head == "thing"
    renewed = _renewed(tuple(heads)) if of_thing and heads else None
    least = (min(len(frozenset(stems(name))) for name in heads) + 1) // 2 if of_thing and heads else 1
    return any(
        ((turn := one.source.turn).speaker == told.speaker or of_thing)
        and turn.said_at is not None
        and turn.said_at > told.said_at
        and not is_question(one.source.quote)
        and (pattern.search(one.source.quote) or (renewed and renewed.search(one.source.quote)))
        and (others is None or len(others & frozenset(stems(turn.text))) >= least)
        for one in sentences
    )


@cache
def _change_words(phrases: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(re.escape(phrase) for phrase in phrases)})\b", re.I)


def _renewed(names: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern of "the new limit", for the name "API limit"."""
    nouns = {re.escape(name.split()[-1]) for name in names if name.split()}
    return re.compile(rf"\b(?:the|our|a)\s+new\s+(?:[\w'’-]+\s+)?(?:{'|'.join(sorted(nouns))})\b", re.I)


def _after(sentence: WeighedSentence) -> str:
    """Return the next words of the message: "… to marry her. I said no"."""
    source = sentence.evidence.source
    return " " + source.turn.text[source.end : source.end + 60].split("?")[0]


def _mode(pattern: re.Pattern[str], text: str, wanted: WantedSpan) -> bool:
    """Return whether a text is in this mode, and the question does not ask for the mode itself."""
    asked = frozenset(stems(wanted.query.text))
    return any(asked.isdisjoint(stems(found[0])) for found in pattern.finditer(text))


def _is_of_another(wanted: WantedSpan, clause: str) -> bool:
    """Return whether a clause is about somebody by name, and the question names only others: "Halina is on leave"."""
    found = _OTHER_SUBJECT.match(clause)
    if not wanted.query.names or found is None or not found["name"] or _NO_NAME.fullmatch(found["name"]):
        return False
    asked = frozenset(stem for name in wanted.query.names for stem in stems(name))
    return asked.isdisjoint(stems(clause)) and frozenset(stems(wanted.query.text)).isdisjoint(stems(found["name"]))


def _persons_agree(wanted: WantedSpan, sentence: WeighedSentence, clause: str) -> bool:
    """Return whether the subject of a clause is the person asked about, or what is asked about.

    A speaker's own clause with "I" or "we", or without a subject, is about the speaker. Another subject has to be named
    by the question.
    """
    if len(wanted.query.speakers) != 1:
        return bool(wanted.query.speakers) or not _is_of_another(wanted, clause)
    name = wanted.query.speakers[0].casefold()
    if sentence.speaker_match < 1:
        return name in clause.casefold()
    found = _OTHER_SUBJECT.match(clause)
    if found is None or _FIRST.search(clause[: found.end("verb")]):
        return True
    if found["pronoun"]:
        return found["pronoun"].lower() not in ("you", "your")
    if found["name"] and _NO_NAME.fullmatch(found["name"]):
        return True
    told = frozenset(found["noun"].split() if found["noun"] else [found["name"]])
    told |= {same for words in EVERYDAY_KINSHIP.values() if not told.isdisjoint(words) for same in words}
    named = frozenset(stem for word in told for stem in stems(word))
    return not named or not frozenset(stems(wanted.query.text)).isdisjoint(named)
