"""Names of people, places and things, and people and places that are told without a name.

Names are runs of capitalised words, kinship words, and places after "in". A person whom the speaker addresses
("Thanks, Ann!") is not the subject, and a name that the query or the document's title already holds answers nothing.
Names are recognised by English spelling: scripts without capitals give none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mcp_memory.language.expressions import MONTH_NAME, WEEKDAY
from mcp_memory.language.tokens import STOP_WORDS, stems
from mcp_memory.language.vocabulary import COUNTRIES, EVERYDAY_KINSHIP, GREETINGS
from mcp_memory.rules.answers.spans import Span, name_runs, novelty, strip_edges, word_at
from mcp_memory.rules.answers.support import WantedSpan, WeighedSentence
from mcp_memory.rules.answers.typed_spans import hit_proximity
from mcp_memory.rules.facts.tables.nouns import LANGUAGES, NATIONALITIES
from mcp_memory.rules.facts.verbs import inflection, is_known_form

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
_NO_PLACE = re.compile(
    r"(?:the\s+)?(?:winter|spring|summer|autumn|morning|afternoon|evening|night|end|meantime|past|future|beginning)\b",
    re.I,
)
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
_BIRTH_NAME = re.compile(r"\b(?:born|n[ée]e)\s+(?:as\s+)?$", re.I)
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
        if (
            _CALENDAR.fullmatch(text[words[first + (first == 0 < last)].start : end])
            or novelty(run, wanted.stems | sentence.title) < NEW_SHARE
        ):
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
            if (not sentence.is_document and _is_outer_place(text, start, end)) or _BIRTH_NAME.search(before):
                continue
            fit += PLACE_FIT * placed
        elif wanted.form == "person":
            if text[start:end].lower() in LANGUAGES | NATIONALITIES or (
                not sentence.is_document and _is_modifier(text, end)
            ):
                continue  # "who did he marry?" is not answered by "so I learn Estonian"
            if not sentence.is_document and (_INSIDE.search(before) or _is_of_other_kind(wanted, text[:start])):
                continue  # "the dashboards in Grafana"
            fit -= 0.8 * placed
        if wanted.noun is not None and any(wanted.noun in word.stems for word in run):
            fit += 0.4  # "which party" … "the Labour Party"
        yield Span(start, end, fit, typed=placed == (wanted.form == "place"))


_INTRODUCED = re.compile(r"\b(?:an?|some|this|another)\s+(?:[\w-]+\s+){0,2}?([\w-]+)\s+(?:called|named)\s+$", re.I)
_ASKS_ROLE = re.compile(r"^\W*who(?:['’]s|\s(?:is|was|are|were))\s(?:the|my|our|his|her|their|\w+['’]s)\b", re.I)


def _is_of_other_kind(wanted: WantedSpan, before: str) -> bool:
    """Return whether a name is introduced as somebody else, "a guy called Bo" for "Who's the landlady?"."""
    found = _INTRODUCED.search(before)
    return bool(found and _ASKS_ROLE.match(wanted.query.text) and wanted.stems.isdisjoint(stems(found[1])))


_NEXT_WORD = re.compile(r"[ ]([a-z]{3,})\b")


def _is_modifier(text: str, end: int) -> bool:
    """Return whether a noun follows a name, which then names the thing and nobody: "one Larkhollow dimmer"."""
    following = _NEXT_WORD.match(text, end)
    return following is not None and following[1] not in STOP_WORDS and inflection(following[1]) is None


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
        if _describes_asked(wanted, sentence.text, *found.span()):
            continue
        speaker = sentence.evidence.source.turn.speaker
        text = f"{speaker}'s {found[1]}" if speaker and found[0].lower().startswith("my ") else None
        yield Span(found.start(), found.end(), 0.9 * hit_proximity(sentence, *found.span()), text)


_NAME_BEHIND = re.compile(r",?\s([A-Z][\w'’-]+)")
_NAME_BEFORE = re.compile(r"\b([A-Z][\w'’-]+),?\s$")


def _describes_asked(wanted: WantedSpan, text: str, start: int, end: int) -> bool:
    """Return whether a phrase says who somebody named in the query is: "my brother Bo" is not whom Bo married."""
    beside = (_NAME_BEHIND.match(text, end), _NAME_BEFORE.search(text, 0, start))
    asked = frozenset(stems(wanted.query.text))
    return any(name and not asked.isdisjoint(stems(name[1])) for name in beside)


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
        if any(first < end and start < last for first, last, _ in sentence.times) or _NO_PLACE.match(found[2]):
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
