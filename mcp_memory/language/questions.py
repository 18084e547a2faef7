"""Parse a question: its words, answer type, names, time constraint, and the speaker whom it is about.

Speakers are often roles. A question without a name but with "I", "my" or "we" asks about the user, otherwise about the
only person who speaks; one with "you" about the assistant, if such a speaker exists. Where several people speak, it is
not known whom "I" means.

Search and answering also ask whether a question wants several things (`asks_for_several`) or the past (`looks_back`:
only then what no longer holds counts), and whether a text has the kind of value that is asked for (`has_kind`). All of
them are judged by the words alone, in English.

**The time** (`constraint`). ``stated.py`` finds the times of a question; here is decided which of them constrain the
answer, and how. A year is often part of a name ("the 2010 Cup", "a film (1952)") and then constrains nothing. A time
counts only if a preposition ties it to the question, if it is relative to now, or if it starts or ends the question. A
constraint with a date takes precedence: "her first job after 2005" means after 2005. Without one, a time that depends
on other facts is ``unknown``: an event stands for it ("before she moved"), or a word of order ("first", "previous").
"By 1990" means any time up to the end of 1990, "as of 1990" within 1990; "today" is that day if the moment of asking is
known, otherwise now. In other languages than English only dates count that are written as in English.

**What an assistant said** (`asks_for_advice`). In talk with an assistant most words are the assistant's. "What did you
suggest?" wants these; "can you tell me where I parked?" and "which port do we use?" want what the person said. The
rules are English.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from mcp_memory.domain.query import AnswerType, Constraint, Order, Query
from mcp_memory.domain.times import BEGINNING, DAY, FOREVER, MINUTE, Millis, StatedTime
from mcp_memory.domain.turns import USERS, Speakers
from mcp_memory.language.expressions import S, compiled
from mcp_memory.language.stated import stated_times
from mcp_memory.language.tokens import PICTURES, STOP_WORDS, names, stems, words
from mcp_memory.visible import MARKS

ASSISTANTS = frozenset(("assistant", "ai", "bot", "you", "model", "chatbot"))
"""Speakers, in lower case, that "you" in a question means."""

_ASKED: tuple[tuple[AnswerType, re.Pattern[str]], ...] = (
    ("how_many", re.compile(r"\bhow (?:many|much)\b")),
    ("how_long", re.compile(r"\bhow (?:long|old)\b")),
    ("when", re.compile(r"\bwhen\b|\b(?:what|which)\s+(?:day|date|year|month|week|time|season|century|decade)\b")),
    ("where", re.compile(r"\bwhere\b|\b(?:what|which) (?:place|city|town|country|state|location)\b")),
    ("who", re.compile(r"\bwho(?:m|se)?\b")),
    ("why", re.compile(r"\bwhy\b")),
    ("how", re.compile(r"\bhow\b")),
    ("what", re.compile(r"\b(?:what|which)\b")),
)
_YES_NO = re.compile(
    r"^(?:is|are|am|was|were|do|does|did|has|have|had|can|could|will|would|should|might|may)\b.*\?", re.DOTALL
)
_FIRST = re.compile(r"\b(?:I|[Mm]y|[Mm]e|[Mm]ine|[Mm]yself|[Ww]e|[Oo]ur|[Oo]urs|[Oo]urselves)\b")
_SINGULAR = re.compile(r"\b(?:I|[Mm]y|[Mm]e|[Mm]ine|[Mm]yself)\b")
_ASIDE = re.compile(
    r"\b(?:tell|show|remind|give|help|let|ask|inform) me\b"
    r"|\bI(?:['’]d| would)? (?:wonder|think|guess|mean|believe|like|want|need)(?: to know)?\b",
    re.IGNORECASE,
)
"""First persons that are not what a question is about: "Can you tell me …"."""
_SECOND = re.compile(r"\b(?:you|your|yours|yourself)\b", re.IGNORECASE)
_WRITTEN = re.compile(rf"[\w{MARKS}]+(?:['’\-][\w{MARKS}]+)*|[{PICTURES}]")


def understand(question: str | Query, speakers: Collection[str], now: Millis | None = None) -> Query:
    """Parse a question, and return it as a query with everything that its words state.

    Args:
        question: any text in any language, or a query with this text and the caller's other arguments.
        speakers: those of the space it is asked in.
        now: when it is asked; None leaves out times that are relative to it ("last year").
    """
    query = Query(question) if isinstance(question, str) else question
    question = query.text
    whole = dict.fromkeys(stems(question))
    content: dict[str, tuple[str, ...]] = {}
    for word in _WRITTEN.findall(question):
        # What folding joins (an invisible sign within a word) is cut here, and the pieces are no words of the question.
        if found := tuple(stem for stem in dict.fromkeys(stems(word)) if stem in whole):
            content.setdefault(word, found)
    who = _named_speakers(question, speakers)
    found = names(question)
    if not who and (one := _called_speaker(found, speakers) or _role(question, speakers)):
        who = (one,)
    return replace(
        query,
        now=query.now if now is None else now,
        stems=tuple(whole),
        content_words=tuple(content.items()),
        answer_type=_answer_type(question),
        speakers=who,
        names=found,
        askers=() if who else _askers(question, speakers),
        time=constraint(question, None if now is None else now + query.offset * MINUTE),
    )


def _answer_type(question: str) -> AnswerType:
    text = " ".join(question.lower().split())
    if _YES_NO.match(text):
        return "yes_no"
    found = [
        (match.start(), order, kind) for order, (kind, pattern) in enumerate(_ASKED) if (match := pattern.search(text))
    ]
    return min(found)[2] if found else "other"


def _named_speakers(question: str, speakers: Collection[str]) -> tuple[str, ...]:
    """Return the speakers that the question names by their full name, otherwise by their first name.

    A whole name comes before the same word as a part of another: "Dalia" is not Dalia Barlsen where both speak.
    """
    folded = question.casefold()
    asked = f" {' '.join(words(question))} "
    found: dict[str, tuple[str, ...]] = {}  # speakers and the words by which they are named
    for speaker in speakers:
        first = speaker.split()[0].casefold() if speaker.split() else ""
        if not first or first not in folded or first in USERS or first in ASSISTANTS:
            continue
        full, given = tuple(words(speaker)), tuple(words(first))
        named = next((name for name in (full, given) if name and f" {' '.join(name)} " in asked), ())
        if named and not STOP_WORDS.issuperset(given):
            found[speaker] = named
    whole = [said for speaker, said in found.items() if len(said) == len(words(speaker))]
    return tuple(
        speaker
        for speaker, said in found.items()
        if not any(set(said) < set(other) and _only_in(asked, said, other) for other in whole)
        and (said not in whole or len(said) == len(words(speaker)))
    )


def _only_in(asked: str, part: Sequence[str], name: Sequence[str]) -> bool:
    """Return whether the words of one name stand in a text only as a part of another name."""
    rest = asked.replace(f" {' '.join(name)} ", "  ")
    return f" {' '.join(part)} " not in rest


def _called_speaker(found: Sequence[str], speakers: Collection[str]) -> str | None:
    """Return the one speaker whom a question calls by another name ("Elin" for the user), or None."""
    if not isinstance(speakers, Speakers):
        return None
    called = {who for name in found if (who := speakers.find(name))}
    return called.pop() if len(called) == 1 else None


def _askers(question: str, speakers: Collection[str]) -> tuple[str, ...]:
    """Return the people whom "I" in a question may mean, if there are several."""
    if not isinstance(speakers, Speakers) or not _SINGULAR.search(_ASIDE.sub(" ", question)) or speakers.asker:
        return ()
    people = speakers.people
    return tuple(people) if len(people) > 1 else ()


def _role(question: str, speakers: Collection[str]) -> str | None:
    """Return the speaker that "I" or "you" in a question means, or None.

    Where it asks for an assistant's words, "how did you suggest that I save my work?", it means the assistant. Where it
    asks an assistant for something, "can you show …", "you" says nothing of who told it.
    """
    if asks_for_advice(question) and (assistant := _assistant(speakers)) is not None:
        return assistant
    if _FIRST.search(question):
        if isinstance(speakers, Speakers):
            return speakers.asker
        return next((speaker for speaker in speakers if speaker.casefold() in USERS), None)
    return _assistant(speakers) if _SECOND.search(question) and not _REQUEST.search(question) else None


def _assistant(speakers: Collection[str]) -> str | None:
    """Return the speaker that "you" in a question means, or None."""
    if isinstance(speakers, Speakers) and len(found := speakers.assistants) == 1:
        return found[0]
    return next((speaker for speaker in speakers if speaker.casefold() in ASSISTANTS), None)


QUESTION_CHARS = 1_000
"""Characters of a question that are searched for times; a pasted page is not a question."""
NOW_WORDS = r"now|currently|presently|nowadays|today|these days|at the moment|at present|right now|current|present-day"

_QUOTED_OR_BRACKETED = re.compile(r"\([^()]*\)|\[[^\[\]]*\]|\"[^\"]*\"|“[^”]*”|«[^»]*»")
"""Text in brackets or quotation marks is part of a name."""
_TIE = compiled(
    rf"(?:^|[,;:–—]\s?|\b(?:in|on|at|during|by|of|from|between|since|until|till|through|throughout|within|around|about"
    rf"|circa|as{S}of|near|over|for|year|before|after){S}(?:the{S})?(?:year{S})?)$"
)
_ARTICLE = compiled(rf"\b(?:the|an?|this|that|his|her|its|their|my|our|your){S}$")
_BY = compiled(rf"\bby{S}(?:the{S})?(?:end{S}of{S})?(?:year{S})?$")
_YEARS = re.compile(r"\d+(?:/\d{2,4})?", re.ASCII)
"""A year, or two of a season, "2018/19"."""
_ENDS = re.compile(r"[\s?.!]*$")
_OPENS_APART = re.compile(r"\s?[,:]")
_NEAR_CHARS = 32
"""Characters before a time in which a word that belongs to it may stand."""

_NOW = compiled(rf"\b(?:{NOW_WORDS.replace(' ', S)})\b")
_OPEN = compiled(
    rf"\b(?:before|(?<!look\s)(?<!looks\s)(?<!looking\s)after|while|during|until|till|by{S}the{S}time|prior{S}to"
    rf"|(?<!know\s)(?<!me\s)when{S}(?!did|do|does|is|are|was|were|will|would|has|have|had|can|could|should|might|may)"
    rf"|(?:since|following|once){S}(?:I|we|he|she|they|it|the|my|our|his|her|their)\b"
    rf"|latest|most{S}recent(?:ly)?|newest|recently|lately|final(?:ly)?|earliest|initial(?:ly)?|original(?:ly)?"
    rf"|last(?!{S}(?:names?|night|week|month|year|weekend))|first(?!{S}names?)|previous(?:ly)?|former(?:ly)?"
    rf"|used{S}to|(?:where|who){S}did{S}[^?]{{1,60}}?\buse{S}to)\b"
)
"""Words by which an event, or a place in an order of times, stands for the time."""
AHEAD = compiled(
    rf"\b(?:coming{S}up(?!{S}with\b)|upcoming{S}\w+s|still{S}to{S}come"
    rf"|(?:next|coming){S}(?:few{S}|couple{S}of{S})?(?:days|weeks|months|years)"
    rf"|on{S}(?:my|our|his|her|the|their){S}(?:calendar|agenda|schedule|diary))\b"
)
"""How a question asks for what is still to come."""


def constraint(question: str, now: Millis | None) -> Constraint | None:
    """Return the time constraint of a question, or None.

    Args:
        question: any text in any language.
        now: when it is asked. None ignores times relative to it ("last year"), and "currently" then has no dates.

    Returns:
        The first of: a constraint by date (two open ends are intersected), ``unknown`` for what depends on other facts,
        "now", what is to come. Never raises.
    """
    text = _QUOTED_OR_BRACKETED.sub(lambda found: " " * len(found[0]), question[:QUESTION_CHARS])
    if found := _dated_constraint(text, now):
        return found
    if _occurs(_OPEN, text):
        return Constraint("unknown")
    if _occurs(_NOW, text):
        return Constraint("now") if now is None else Constraint("now", now, now + DAY, "day")
    return Constraint("after", now, FOREVER, "day") if now is not None and AHEAD.search(text) else None


def _dated_constraint(text: str, now: Millis | None) -> Constraint | None:
    best: tuple[int, Constraint] | None = None
    for time in stated_times(text, now, asked=True):
        if not _constrains(text, time):
            continue
        here = _constraint_of(text, time)
        if best is None:
            best = _rank(text, time), here
            continue
        since, until = max(best[1].since, here.since), min(best[1].until, here.until)
        if {best[1].order, here.order} == {"before", "after"} and since < until:
            return Constraint("within", since, until, here.grain)  # "after 1990 and before 1995"
        best = max(best, (_rank(text, time), here), key=lambda found: found[0])
    return best[1] if best else None


def _rank(text: str, time: StatedTime) -> int:
    """Rank how clearly a time belongs to the whole question, not to a clause in it ("the house built in 1794")."""
    if not text[: time.start].strip() or _TIE.fullmatch(text[: time.start].lstrip()):
        return 3 if _OPENS_APART.match(text, time.end) else 1
    return 2 if _ENDS.match(text, time.end) else 0


def _constrains(text: str, time: StatedTime) -> bool:
    """Whether a time constrains the question and is not part of a name."""
    if time.since == BEGINNING or time.until == FOREVER or time.relative:
        return True
    said = text[time.start : time.end]
    if not _YEARS.fullmatch(said):
        return True
    before = text[max(0, time.start - _NEAR_CHARS) : time.start]
    if _ARTICLE.search(before) and not _ENDS.match(text, time.end):
        return False  # "the 2010 cup"
    return bool(_TIE.search(before) or _ENDS.match(text, time.end))


def _constraint_of(text: str, time: StatedTime) -> Constraint:
    before, said = text[max(0, time.start - _NEAR_CHARS) : time.start], text[time.start : time.end].lower()
    if said.startswith(("before", "prior", "after")):
        order: Order = "after" if said.startswith("after") else "before"
        return Constraint(order, time.since, time.until, time.grain)
    since = BEGINNING if _BY.search(before) else time.since
    return Constraint("within", since, time.until, time.grain)


def _occurs(pattern: re.Pattern[str], text: str) -> bool:
    """Whether a pattern matches ordinary words, not a name ("Last Train Home")."""
    return any(not text[: found.start()].strip() or found[0][0].islower() for found in pattern.finditer(text))


_AUXILIARY = r"(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|might|may)"
_THING = re.compile(
    rf"^\W*(?:(?:in|on|at|from|to|with|for|about)\s+)?(?:what|which)\s+((?:[\w'’/-]+\s+){{1,7}}?){_AUXILIARY}\b",
    re.IGNORECASE,
)
_SIGNS = re.compile(
    r"\b(?:has|have)\b|\bhow (?:many|often)\b|\b(?:both|all|various|different)\b|\bsome of\b"
    r"|^\W*(?:what|who|where) (?:are|were)\b",
    re.IGNORECASE,
)
_NO_PLURAL = ("ss", "us", "is", "'s", "’s", "news")


def asks_for_several(question: str) -> bool:
    """Return whether a question, in English, wants more than one thing, or what happened more than once.

    It does if it asks for a plural ("Which of her friends", "What books"), for what a person has done, how many or how
    often, or if it says both, all, some of, various or different. This is a heuristic, not a parse: it recognises 70 of
    100 questions to long dialogues that need several messages, and 13 of 100 others.
    """
    return _SIGNS.search(question) is not None or asks_for_plural(question)


def asks_for_plural(question: str) -> bool:
    """Return whether a question, in English, begins by asking for several things: "Which of her friends", "What books".

    The plural is what is asked for only before an auxiliary verb: "What books has she read?".
    """
    thing = _THING.match(question)
    if thing is None:
        return False
    said = thing[1].lower().split()
    return _plural(said[-1]) or ("of" in said[1:] and _plural(said[said.index("of", 1) - 1]))


def _plural(word: str) -> bool:
    return len(word) > 3 and word.endswith("s") and not word.endswith(_NO_PLURAL)


_NO_VERB = (
    "need|indeed|hundred|speed|breed|seed|bed|red|naked|sacred|wicked|kindred"
    "|children|grandchildren|stepchildren|godchildren|women|men|kitchen|chicken|garden|citizen|teen|queen|screen|oxygen"
    "|seven|ten|eleven|dozen|open|golden|wooden|green|often|even|then|when|between|linen|specimen|omen|alien|heaven"
)
_BACK = re.compile(
    r"\b(?:did|was|were|had|used\s+to|been)\b"
    rf"|\b(?:has|have)\s(?:\S+\s){{1,3}}?(?!(?:{_NO_VERB})\b)\w+(?:ed|en)\b",
    re.I,
)
_READ_CHARS = 2_000  # characters of a question that are read


def looks_back(question: str) -> bool:
    """Return whether a question asks of the past: "did she", "used to", "where has she worked"."""
    return _BACK.search(question[:_READ_CHARS]) is not None


_NUMBER = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|hundred|thousand|million|once|twice"
    r"|several|couple|no)\b",
    re.IGNORECASE,
)


def has_kind(kind: AnswerType, question: str, text: str, speaker: str | None, *, dated: bool) -> bool:
    """Return whether a text has a value of a kind; true of the kinds that have no form of their own.

    Only the form is checked: a number, a date, a name that is not in the question.

    Args:
        kind: what the question asks for.
        question: the question whose own names are no answers to it.
        text: the text of the evidence.
        speaker: who said it, whose name is one too.
        dated: whether it states a time, or has the day on which it was said.
    """
    match kind:
        case "how_many":
            return _NUMBER.search(text) is not None
        case "when" | "how_long":
            return dated
        case "who":
            asked = set(words(question))
            named = (*names(text), *([speaker] if speaker else []))
            return any(not asked.issuperset(words(name)) for name in named)
    return True


_TOLD = (
    "advised|answered|claimed|called|came up with|described|drafted|explained|found|gave|listed|made|mentioned|named|"
    "offered|outlined|pointed out|promised|proposed|provided|recommended|replied|said|sent|showed|shown|suggested|"
    "summari[sz]ed|taught|told|translated|used|warned|wrote|given|written"
)
_MADE_THINGS = (
    "advice|answer|code|draft|example|explanation|instruction|list|opinion|outline|plan|proposal|recommendation|reply|"
    "replies|response|script|solution|suggestion|summary|summaries|table|template|tip|translation|version|words"
)
_ADVERB = r"(?:\w+ly\s+|just\s+|once\s+|first\s+|ever\s+)?"
_UP_TO_TWO_WORDS = r"(?:\w+\s+){0,2}?"
_ADVICE = re.compile(
    r"\b(?:did|had|were|have|has)\s+(?:you|the assistant)\b"
    rf"|\b(?:you|the assistant)(?:['’]ve|['’]d|\s+have|\s+had)?\s+{_ADVERB}(?:{_TOLD})\b"
    rf"|\b(?:your|the assistant['’]s)\s+{_UP_TO_TWO_WORDS}(?:{_MADE_THINGS})s?\b",
    re.IGNORECASE,
)
_REQUEST = re.compile(r"\b(?:can|could|would|will|do|should)\s+you\b", re.IGNORECASE)
"""Where "you" in a question is merely whom it asks: "can you show me …"."""


def asks_for_advice(question: str) -> bool:
    """Return whether a question wants what the assistant said or wrote: "what did you suggest", "your last draft"."""
    return _ADVICE.search(question) is not None
