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
from collections.abc import Iterable

from mcp_memory.language.segments import ends_with_question_mark
from mcp_memory.language.tokens import stems
from mcp_memory.language.vocabulary import EVERYDAY_KINSHIP, RELATIVES, word_set
from mcp_memory.rules.answers.spans import split_clauses
from mcp_memory.rules.answers.support import WantedSpan, WeighedSentence
from mcp_memory.rules.facts.unasserted import supposed_spans

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
    r"|supposed\s+to|(?:was|were)\s+(?:meant|due|scheduled|about)\s+to)\b",
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
    r"|if|unless|whether|imagin(?:e|ed|ing)|pretend(?:ed|ing)?|suppose|should(?!\s+(?:tell|say|mention|add))|almost|nearly|wanna|tempted"
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
LOOKS_BACK = re.compile(r"\b(?:did|was|were|has|have|had)\b", re.I)
_FIRST = re.compile(r"(?:^|[^\w'’])(?:i|we|i['’](?:m|ve|d|ll)|we['’](?:re|ve|d|ll)|im|ive)(?![\w'’])", re.I)
PEOPLE = frozenset(
    """
    friend boss neighbour neighbor colleague coworker partner girlfriend boyfriend fiance fiancee roommate flatmate
    housemate landlord teacher coach mentor doctor family parents team kids folks dog cat puppy kitten nephew
    character avatar
    """.split()  # noqa: SIM905 - a list of words is read as words
).union(word for word in RELATIVES if " " not in word)
_OTHER_SUBJECT = re.compile(
    r"^\W*(?:(?:so|and|but|also|then|oh|well|yeah|yes|hey|wow|because|when|while|after|before|plus|btw|guess what"
    r"|that)\b"
    r"[\s,!:-]*)*(?:(?P<kin>(?:my|our|his|her|their|your)\s+(?P<noun>(?:[\w'’-]+\s+){0,2}?"
    rf"(?:{'|'.join(sorted(PEOPLE))})s?))"
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
    return ends_with_question_mark(text) or _ASKS.match(text) is not None


def is_unreal(text: str) -> bool:
    """Return whether a sentence tells of something refused, offered, wished or planned."""
    return any(pattern.search(text) for pattern in (_REFUSED, _PROPOSED, _WISHED, _PLANNED))


def in_mode_asked(question: str, texts: Iterable[str]) -> bool:
    """Return whether texts refuse or offer something, if a question asks for that: "Which job did I say no to?"."""
    said = " ".join(texts)
    return all(mode.search(said) for mode in (_REFUSED, _PROPOSED) if mode.search(question))


def may_ask_ahead(question: str) -> bool:
    """Return whether a question asks for something planned, or for a date that may lie ahead."""
    return _AHEAD.search(question) is not None and (
        LOOKS_BACK.search(question) is None
        or re.search(r"\b(?:supposed|due|plan\w*|going)\b", question, re.I) is not None
    )


def asks_deed(question: str) -> bool:
    """Return whether a question asks of something as done, "when did she pass?"; what was announced need not be."""
    return re.search(r"\b(?:did|has|have|had)\b", question, re.I) is not None and not may_ask_ahead(question)


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
    source = sentence.evidence.source
    if any(start < source.end and source.start < end for start, end in supposed_spans(source.turn.text)):
        return False
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
    if wanted.form == "date" and _tells_of_its_event(wanted, sentence):
        return False
    if wanted.form in ("date", "duration") and len(sentence.times) < 2 and _mode(_RETURN, clause, wanted):
        return False  # the day of a return is not the day of the stay
    if wanted.form == "yes_no" and _PRESENT_QUESTION.match(wanted.query.text) and _BACK_THEN.search(clause):
        return False
    if wanted.form not in ("date", "yes_no") and _ASKS_NOW.match(wanted.query.text) and _NO_LONGER.search(clause):
        return False
    if not _may_tell_of_asked_time(wanted, sentence):
        return False
    asks_plan = _ASKS_PLAN.search(wanted.query.text) is not None
    if _mode(_PROPOSED, clause, wanted) or (not asks_plan and _mode(_WISHED, clause, wanted)):
        return False
    if not asks_plan and not may_ask_ahead(wanted.query.text) and _mode(_PLANNED, clause, wanted):
        return False
    return wanted.form == "person" or _persons_agree(wanted, sentence, clause)  # "My sister gave me one": who did?


_EVENTS_OF = word_set(
    "appointment application form interview photo photos office renewal meeting call fee lesson exam test inspection"
    " viewing survey check delivery party rehearsal fitting"
)
"""Nouns that make of the noun before them an event or thing of its own: the passport appointment is no passport."""


def _tells_of_its_event(wanted: WantedSpan, sentence: WeighedSentence) -> bool:
    """Return whether what is asked about only says of which kind another event is, "passport appointment"."""
    asked = frozenset(stems(wanted.query.text))
    for hit in sentence.hits:
        word, after = sentence.words[hit], sentence.words[hit + 1 : hit + 2]
        between = sentence.text[word.end : after[0].start] if after else ""
        if between == " " and after[0].lower_case in _EVENTS_OF and asked.isdisjoint(after[0].stems):
            return True
    return False


def _may_tell_of_asked_time(wanted: WantedSpan, sentence: WeighedSentence) -> bool:
    """Return whether a message may tell of the time asked about: one told after it has to state such a time."""
    said_at = sentence.evidence.source.turn.said_at
    if wanted.time is None or said_at is None or wanted.form == "date":
        return True
    since, until = wanted.time
    stated = [(one.since, one.until) for _, _, one in sentence.times]
    return said_at < until or any(begin < until and since < end for begin, end in stated)


def _after(sentence: WeighedSentence) -> str:
    """Return the next words of the message: "… to marry her. I said no"."""
    source = sentence.evidence.source
    return " " + source.turn.text[source.end : source.end + 60].split("?")[0]


def _mode(pattern: re.Pattern[str], text: str, wanted: WantedSpan) -> bool:
    """Return whether a text has words of a mode, such as planned, and the question has none of the same words.

    Args:
        pattern: finds the words of the mode.
        text: a clause.
        wanted: what is asked.
    """
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
