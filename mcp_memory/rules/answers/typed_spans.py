"""Spans with a type of their own: dates, amounts, and names of people, places and things.

"Yesterday", written on 8 May 2023, becomes 7 May 2023. "Last week" becomes "the week before" the day of the message,
since it may mean the calendar week or the last seven days. A sentence without a time borrows one from a neighbour in
the same turn, or takes the day of the message where it reports something that has just happened; both are hedged. A
document reports many events, and its first date often belongs to another: there the sentence has to hold the event
asked about, or be a lifespan, "(1863 – 1928)", of which the beginning or the end is wanted.

Amounts are numbers with what they count. They are English, with digits in any text.

Names are runs of capitalised words, kinship words, and places after "in". A person whom the speaker addresses
("Thanks, Ann!") is not the subject, and a name that the query or the document's title already holds answers nothing.
Names are recognised by English spelling: scripts without capitals give none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from mcp_memory.domain.times import BEGINNING, FOREVER, StatedTime
from mcp_memory.domain.turns import Turn
from mcp_memory.language.expressions import MONTH_NAME, WEEKDAY
from mcp_memory.language.stated import day_in_words, in_words
from mcp_memory.language.tokens import stems
from mcp_memory.language.vocabulary import COUNTRIES, EVERYDAY_KINSHIP, GREETINGS
from mcp_memory.rules.answers.modality import asks_deed, asks_return
from mcp_memory.rules.answers.spans import (
    Span,
    adjacent,
    name_runs,
    novelty,
    split_clauses,
    strip_edges,
    word_at,
    word_gap,
)
from mcp_memory.rules.answers.support import DAY, YEAR, WantedSpan, WeighedSentence
from mcp_memory.rules.facts.verbs import inflection, is_known_form

START_STEMS = frozenset(
    ["born", "birth", "start", "begin", "began", "found", "establish", "open", "debut", "launch", "join"]
)
END_STEMS = frozenset(["die", "death", "dead", "end", "close", "disband", "dissolv", "finish", "retir"])
_JUST = re.compile(
    r"\b(?:just|now|today|finally|at last|guess what|currently|this (?:morning|afternoon|evening))\b"
    r"|\bis (?:open|here)\b",
    re.I,
)
_FUTURE = re.compile(r"\b(?:will|going to|gonna|plan(?:s|ning)?|hop(?:e|ing)|soon|next|would|might|want)\b", re.I)
_CLOCK = re.compile(r"\bwhat\s+time\b(?!\s+of\s+(?:the\s+)?year)", re.I)
"""A question for the time of day, which a date does not answer."""
_DAY_OF_YEAR = re.compile(
    rf"\b(?:(\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?({MONTH_NAME})|({MONTH_NAME})\s+(\d{{1,2}})(?:st|nd|rd|th)?)\b(?!,?\s*\d{{4}})",
    re.I,
)
"""A day and month whose year nothing tells; the answer leaves it out."""
NEIGHBOUR_FIT = -0.9  # of a time that a neighbouring sentence states
SAID_FIT = -1.1  # of the day of the message
LIFESPAN = 15 * YEAR  # shortest interval that counts as a lifespan


def date_spans(wanted: WantedSpan, sentence: WeighedSentence, weighed: Sequence[WeighedSentence]) -> Iterator[Span]:
    """Yield the times that answer a "when" query by one sentence.

    Args:
        wanted: asks for a date.
        sentence: the sentence.
        weighed: all sentences of the evidence, among which neighbours are looked for.
    """
    if _CLOCK.search(wanted.query.text):
        return
    own_times: list[tuple[int, int, StatedTime | None]] = list(sentence.times)
    for start, end, stated in sentence.times:
        if sentence.is_document and not (_holds_event(wanted, sentence) or _is_lifespan(wanted, stated)):
            continue
        before = max((one[1] for one in sentence.times if one[1] <= start), default=0)
        returns = asks_return(sentence.text[before:start])
        if not sentence.is_document and len(sentence.times) > 1 and returns != asks_return(wanted.query.text):
            continue  # "we fly on 9 July and come back on 23 July"
        near = hit_proximity(sentence, start, end) + _second_time_clause(sentence, start)
        lifespan = sentence.is_document and _is_lifespan(wanted, stated)
        text = _date_text(wanted, stated, sentence)
        yield Span(start, end, near, text, hedged=_is_plan(wanted, sentence, stated), typed=lifespan)
    if sentence.is_document or not sentence.hits:
        return
    for found in _DAY_OF_YEAR.finditer(sentence.text):
        if not any(start < found.end() and found.start() < end for start, end, _ in own_times):
            day, month = (found[1], found[2]) if found[1] else (found[4], found[3])
            own_times.append((*found.span(), None))
            yield Span(*found.span(), hit_proximity(sentence, *found.span()), f"{int(day)} {month.capitalize()}")
    if own_times:
        return
    source = sentence.evidence.source
    for other in weighed:
        there = other.evidence.source
        apart = max(there.start - source.end, source.start - there.end)
        if there.turn.id != source.turn.id or not 0 <= apart <= 3:
            continue
        for _, _, stated in other.times:
            text = _date_text(wanted, stated, other)
            yield Span(0, len(sentence.text), NEIGHBOUR_FIT, text, other.evidence, hedged=True)
    said_at = source.turn.said_at
    if said_at is not None and _JUST.search(sentence.text) and not _FUTURE.search(sentence.text):
        yield Span(0, len(sentence.text), SAID_FIT, day_in_words(said_at), hedged=True)


def _is_plan(wanted: WantedSpan, sentence: WeighedSentence, stated: StatedTime) -> bool:
    """Return whether a message announced what a question asks of as past: whether it came to be is not known."""
    said_at = sentence.evidence.source.turn.said_at
    ahead = not sentence.is_document and said_at is not None and stated.since > said_at
    return ahead and asks_deed(wanted.query.text)


CLAUSE_FIT = 1.5
"""What a time gains if all of the query's words that a sentence of a message holds stand in its own clause."""


def _second_time_clause(sentence: WeighedSentence, start: int) -> float:
    """Return what the clause of a time adds: "we fly on 9 July and come back on 23 July" has a time in each."""
    if sentence.is_document or len(sentence.times) < 2 or not sentence.hits:
        return 0.0
    clauses = split_clauses(sentence.text)
    left, right = next((one for one in clauses if one[0] <= start < one[1]), (0, len(sentence.text)))
    inside = {
        stem for hit in sentence.hits if left <= sentence.words[hit].start < right for stem in sentence.words[hit].stems
    }
    return CLAUSE_FIT * len(inside & sentence.query_stems) / len(sentence.query_stems)


def _date_text(wanted: WantedSpan, stated: StatedTime, sentence: WeighedSentence) -> str:
    """Return a stated time as the answer writes it."""
    if text := relative_period_text(stated, sentence.evidence.source.turn):
        return text
    if _is_lifespan(wanted, stated):
        if not START_STEMS.isdisjoint(wanted.stems):
            return in_words(stated.since, stated.since + 1, stated.grain)
        return in_words(stated.until - 1, stated.until, stated.grain)
    return in_words(stated.since, stated.until, stated.grain)


def relative_period_text(stated: StatedTime, turn: Turn) -> str | None:
    """Return the words for a relative week or a weekend, which have no exact name; None for all other times."""
    said_at = turn.said_at
    if stated.relative and stated.grain == "week" and said_at is not None and 0 <= said_at - stated.until < 7 * DAY:
        return f"the week before {day_in_words(said_at)}"
    if "weekend" in turn.text[stated.start : stated.end].lower():
        return f"the weekend of {day_in_words(stated.since)}"
    return None


def _holds_event(wanted: WantedSpan, sentence: WeighedSentence) -> bool:
    """Return whether the sentence holds the event asked about: the last word of "when did … *die*"."""
    return wanted.event is None or any(wanted.event in sentence.words[hit].stems for hit in sentence.hits)


def _is_lifespan(wanted: WantedSpan, stated: StatedTime) -> bool:
    """Return whether a stated time is a beginning and an end, "(1863 – 1928)", one of which is wanted."""
    bounded = stated.since > BEGINNING and stated.until < FOREVER and stated.until - stated.since > LIFESPAN
    asked = wanted.stems & (START_STEMS | END_STEMS)
    return bounded and bool(asked) and stated.grain in ("day", "month", "year")


def hit_proximity(sentence: WeighedSentence, start: int, end: int) -> float:
    """Return how near a span stands to the query's words in the sentence, in (0, 1]."""
    first, last = word_at(sentence.words, start), word_at(sentence.words, end - 1)
    return 1 / (1 + word_gap(first, last, sentence.hits) / 4)


_NUMBER = (
    r"(?:\d+(?:[.,]\d+)*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty"
    r"|sixty|seventy|eighty|ninety|(?:a |one )?hundred|(?:a |one )?thousand|half a dozen|a dozen|dozens of"
    r"|(?:a )?couple(?: of)?|several|a few|few|many)"
)
_UNIT = r"(?:seconds?|minutes?|hours?|days?|nights?|weeks?|weekends?|months?|years?|decades?)"
_COUNT = re.compile(rf"(?<![\w.,])(?!many\b|few\b|a few\b|several\b)({_NUMBER})(?![\w])", re.I)
_DURATION = re.compile(
    rf"\b((?:{_NUMBER}|an?)(?:[ -]|\s+and\s+a\s+half\s+|\s+more\s+|\s+whole\s+){_UNIT})\b"
    r"(?!\s+(?:ago|old|later|before)\b)"
    rf"|\b(since\s+(?:i\s+was\s+[\w-]{{1,12}}|\d{{4}}|(?:high\s+)?school|childhood|{MONTH_NAME}(?:\s+\d{{4}})?))\b",
    re.I,
)
_AGE = re.compile(
    rf"\b((?:{_NUMBER})(?:[ -](?:years?|months?|weeks?))?)[ -]old\b|\b(?:aged?|turned|turning)\s+({_NUMBER})\b", re.I
)
_FREQUENCY = re.compile(
    rf"\b((?:once|twice|{_NUMBER}\s+times)(?:\s+or\s+(?:twice|{_NUMBER}(?:\s+times)?))?\s+(?:a|an|per|each|every)\s+\w+"
    rf"|every\s+(?:other\s+|single\s+|{_NUMBER}\s+)?\w+|daily|weekly|monthly|yearly"
    rf"|on\s+{WEEKDAY}s|once|twice)\b",
    re.I,
)
COUNTED_FIT = 0.6
"""Fit of a number that stands directly before the thing counted."""


def amount_spans(wanted: WantedSpan, sentence: WeighedSentence) -> Iterator[Span]:
    """Yield the amounts in the sentence that have the wanted form."""
    if wanted.form == "count":
        yield from _count_spans(wanted, sentence)
        return
    pattern = _FREQUENCY if wanted.form == "frequency" else _AGE if wanted.noun == "old" else _DURATION
    for found in pattern.finditer(sentence.text):
        start, end = next(found.span(group) for group in range(1, (found.lastindex or 1) + 1) if found[group])
        yield Span(start, end, 0.9 * hit_proximity(sentence, start, end))


def _count_spans(wanted: WantedSpan, sentence: WeighedSentence) -> Iterator[Span]:
    """Yield the counts of the wanted noun: "two dogs" or "two brown dogs" for dogs, no counts of other things."""
    if wanted.noun is None:
        return
    words = sentence.words
    for found in _COUNT.finditer(sentence.text):
        last = word_at(words, found.end() - 1)
        for index in range(last + 1, min(last + 4, len(words))):
            if not adjacent(sentence.text, words, index - 1):
                break
            if wanted.noun in words[index].stems:
                start, end = found.start(), words[index].end
                yield Span(start, end, COUNTED_FIT + 0.9 * hit_proximity(sentence, start, end))
                break


_INSIDE = re.compile(r"\b(?:in|at|into|near|around)\s+(?:the\s+)?$", re.I)
_IN = re.compile(r"\b(?:in|at|to|from|near|into|around|visit(?:ed|ing)?)\s+(?:the\s+)?$", re.I)
_BY = re.compile(r"\bby\s+(?:the\s+)?$", re.I)
_AS = re.compile(r"\b(?:as|of|for|with|joined|signed)\s+(?:an?\s+|the\s+)?$", re.I)
_WHERE = re.compile(
    r"\b(in|at|to|from|near|into|around|outside|on|across)\s+"
    r"((?:(?!(?:and|but|with|for|to|so|that|which|who|when|where|last|this|yesterday|today|next|because|i|we|it|once|now|again"
    r"|soon|just|too|since|while|as|if|every|each)\b)"
    r"\w[\w'’-]*\s*){1,5})",
    re.I,
)
_INNER = re.compile(r"(?<=\w)\s+(?:in|near|outside)\s+(?:the\s+)?(?=\w)", re.I)
"""Joins a place to the larger place that it lies in."""
_MOVED = re.compile(
    r"\b(?:go|goes|going|gone|went|mov(?:e|es|ed|ing)|fl(?:y|ies|ew|own|ying)|travel\w*|c[oa]m(?:e|es|ing)|dr[io]v(?:e|es|en|ing)"
    r"|walk\w*|trip|r[ui]de|riding|return\w*|head\w*|get|got|back|sail\w*|been|born|from|live[sd]?|living)\s*$",
    re.I,
)
"""Words after which "to", "from" and "on" lead to a place."""
_ANY = re.compile(r"(?:an?|some)\s", re.I)
_LEADING = ("in", "at", "to", "from")
_RELATIVES = "|".join(word for words in EVERYDAY_KINSHIP.values() for word in words if word not in ("granny", "auntie"))
_KIN = (
    rf"(?:{_RELATIVES}|parents?|sister|brother|kids?|child|children|son|daughter|husband|wife|partner|friends?|family"
    r"|uncle|cousin|colleagues?|boss|mentors?|teacher|coach|neighbou?rs?|group|team|organi[sz]ation)"
)
_SOMEBODY = re.compile(
    rf"\b(?:my|our|his|her|their|some|an?|the)\s+((?:[\w'’-]+\s+){{0,2}}?{_KIN}\b(?:(?:,|,? and)\s(?:my )?{_KIN}\b)*)",
    re.I,
)
_IS = re.compile(r"(?:\b(?:is|was|are|were)|['’]s)\s+$", re.I)
_THEN_IS = re.compile(r"\s+(?:is|was|are|were)\s+(?-i:[A-Z])", re.I)
_COUNTRIES = frozenset(stems("country countries"))
_CALENDAR = re.compile(
    rf"(?:{MONTH_NAME}|{WEEKDAY}s?)\b",
    re.I,
)
PLACE_FIT = 1.6
"""What a name gains after a preposition of place, "in" or "at"."""
NEW_SHARE = 0.6
"""Least share of a name's words that stand neither in the query nor in the title."""


def name_spans(wanted: WantedSpan, sentence: WeighedSentence, speakers: frozenset[str]) -> Iterator[Span]:
    """Yield the names in the sentence that the query does not already hold.

    Args:
        wanted: asks for a person, a place or a thing.
        sentence: the sentence.
        speakers: names of those who speak in the evidence, in lower case; they are addressed, not talked about.
    """
    text, words = sentence.text, sentence.words
    for first, last in name_runs(text, words):
        start, end = words[first].start, words[last].end
        if text[end - 2 : end] in ("'s", "’s"):
            end -= 2
        run = words[first : last + 1]
        if _CALENDAR.fullmatch(text[start:end]) or novelty(run, wanted.stems | sentence.title) < NEW_SHARE:
            continue
        said = words[first].lower_case
        if not sentence.is_document and (said in speakers or said in GREETINGS or _is_addressed(text, start, end)):
            continue
        if not sentence.is_document and (
            _is_elsewhere(sentence, first, last, start, end) or _is_command(text, first, last, start, end)
        ):
            continue
        before = text[max(0, start - 14) : start]
        fit = 0.9 * hit_proximity(sentence, start, end) + 0.9 * (last > first) - 0.2 * (first == last == 0)
        fit += 0.4 * bool(_BY.search(before)) + 0.2 * bool(_AS.search(before))
        placed = bool(_IN.search(before))
        if wanted.noun in _COUNTRIES and text[start:end].lower() not in COUNTRIES:
            continue
        if wanted.form == "place":
            if not sentence.is_document and _is_outer_place(text, start, end):
                continue
            fit += PLACE_FIT * placed
        elif wanted.form == "person":
            if not sentence.is_document and _INSIDE.search(before):
                continue  # "the dashboards in Grafana"
            fit -= 0.8 * placed
        if wanted.noun is not None and any(wanted.noun in word.stems for word in run):
            fit += 0.4  # "which party" … "the Labour Party"
        yield Span(start, end, fit, typed=placed == (wanted.form == "place"))


_NEXT_CLAUSE = re.compile(
    r",?\s(?:and|but|so|while|because)\s$|,\s(?:the|our|my|his|her|their|it|he|she|they|we|i)\b[^,;.]*$", re.I
)
_VERB_FOLLOWS = re.compile(r"\s(?:also\s|just\s|\w+ly\s)?(?P<verb>[a-z]+)\b")


def _is_elsewhere(sentence: WeighedSentence, first: int, last: int, start: int, end: int) -> bool:
    """Return whether a name is all of its sentence, or stands in a clause behind the one with the query's words.

    "Progress." names nobody, and "Ann does the wiring, and Bo wrote the tests" does not say that Bo does the wiring.
    """
    if not sentence.hits:
        return first == 0 and last == len(sentence.words) - 1
    held = sentence.words[max(sentence.hits)]
    if held.start >= start or _NEXT_CLAUSE.search(sentence.text[held.end : start]) is None:
        return False
    following = _VERB_FOLLOWS.match(sentence.text, end)
    form = inflection(following["verb"]) if following else None
    return form is not None and not form.forms.isdisjoint(("past", "third"))


def _is_command(text: str, first: int, last: int, start: int, end: int) -> bool:
    """Return whether a word is a verb that opens a sentence, "Check the list", and no name, "Mark wrote the list"."""
    if first or last or not is_known_form(text[start:end].lower()):
        return False
    opening, following = inflection(text[start:end].lower()), _VERB_FOLLOWS.match(text, end)
    form = inflection(following["verb"]) if following else None
    acts = form is not None and not form.forms.isdisjoint(("past", "third"))
    return opening is not None and "plain" in opening.forms and not acts


def person_phrases(wanted: WantedSpan, sentence: WeighedSentence) -> Iterator[Span]:
    """Yield people that a speaker mentions without a name: "my sister" as "Ann's sister", "a local organisation"."""
    for found in _SOMEBODY.finditer(sentence.text):
        words = sentence.words[word_at(sentence.words, found.start(1)) : word_at(sentence.words, found.end(1) - 1) + 1]
        if novelty(words, wanted.stems) < NEW_SHARE:
            continue
        told = {stem for word in sentence.words for stem in word.stems}
        equated = _IS.search(sentence.text[: found.start()]) or _THEN_IS.match(sentence.text, found.end())
        if equated and not wanted.stems <= told:
            continue  # "Ann is my sister" describes Ann, and says nothing about Ann's brother
        speaker = sentence.evidence.source.turn.speaker
        text = f"{speaker}'s {found[1]}" if speaker and found[0].lower().startswith("my ") else None
        yield Span(found.start(), found.end(), 0.9 * hit_proximity(sentence, *found.span()), text)


def place_phrases(wanted: WantedSpan, sentence: WeighedSentence) -> Iterator[Span]:
    """Yield places that a speaker mentions without a name: what follows "in", "at" or "to"."""
    if wanted.noun is not None:
        return  # "which city" wants a name
    for found in _WHERE.finditer(sentence.text):
        if found[1].lower() in ("to", "from", "into", "on", "across") and not _MOVED.search(
            sentence.text[: found.start()]
        ):
            continue
        start, end = strip_edges(sentence.text, *found.span(2))
        if any(first < end and start < last for first, last, _ in sentence.times):
            continue
        words = sentence.words[word_at(sentence.words, start) : word_at(sentence.words, end - 1) + 1]
        if novelty(words, wanted.stems) >= NEW_SHARE:
            leads = found[1].lower() in _LEADING
            fit = 0.9 * hit_proximity(sentence, start, end) + 0.6 * leads
            inner = _INNER.search(sentence.text, start, end) if leads and _is_specific_place(found) else None
            if inner and sentence.text[inner.end()].isupper():
                fit += PLACE_FIT  # a place with the larger place that it lies in
            yield Span(start, end, fit, typed=leads)


def _is_outer_place(text: str, start: int, end: int) -> bool:
    """Return whether a name is the place around the wanted one: Porto in "at the aquarium in Porto"."""
    for found in _WHERE.finditer(text):
        inner = _INNER.search(text, found.start(2), end) if _is_specific_place(found) else None
        if inner and found[1].lower() in _LEADING and inner.end() <= start and end <= found.end(2):
            return True
    return False


def _is_specific_place(found: re.Match[str]) -> bool:
    """Return whether a place is a particular one: "the shop", or a place after "at"; "from a shop" is not."""
    return found[1].lower() == "at" or not _ANY.match(found[2])


def _is_addressed(text: str, start: int, end: int) -> bool:
    """Return whether the speaker addresses this name: "Ann, …", "…, Ann!"."""
    if not text[:start].strip():
        return bool(re.match(r"\s*[,!]", text[end:]))
    return bool(re.search(r"[,!]\s*$", text[:start]) and re.match(r"\s*(?:[!.?,]|$)", text[end:]))
