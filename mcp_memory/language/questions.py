"""Parse a question: its words, answer type, names, time constraint, and the wording that a speaker would use.

In talk, people say "I" where a question about them says their name. In an embedding a name outweighs everything else,
so it is removed from both sides: a turn is embedded without its speaker, and a question in its *first-person form*:
"Where did Ann take her dog?" becomes "Where did I take my dog?".

Speakers are often roles. A question without a name but with "I", "my" or "we" asks about the user, otherwise about the
only person who speaks; one with "you" about the assistant, if such a speaker exists. Where several people speak, it is
not known whom "I" means. The rules for the first person are English. A text in another language loses the name and is
otherwise unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from mcp_memory.domain.query import AnswerType, Query
from mcp_memory.domain.times import Millis
from mcp_memory.domain.turns import USERS, Speakers
from mcp_memory.language.constraints import constraint
from mcp_memory.language.names import names
from mcp_memory.language.tokens import MARKS, STOP_WORDS, stems, words

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
_WRITTEN = re.compile(rf"[\w{MARKS}]+(?:['’\-][\w{MARKS}]+)*")


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
    who = _named(question, speakers)
    first_person = None
    found = names(question)
    if len(who) == 1:
        first_person = _first_person(question, _spelling(question, who[0]))
    elif not who and (called := _called(found, speakers)):
        who, first_person = (called[0],), _first_person(question, called[1])
    elif not who and (role := _role(question, speakers)):
        who = (role,)
        if role.casefold() in ASSISTANTS and not _FIRST.search(question):
            first_person = _first_person(_SECOND.sub(_second_to_name, question), _YOU)
    return replace(
        query,
        now=query.now if now is None else now,
        stems=tuple(whole),
        content_words=tuple(content.items()),
        answer_type=_answer_type(question),
        speakers=who,
        names=found,
        askers=() if who else _askers(question, speakers),
        first_person=None if first_person == question else first_person,
        time=constraint(question, now),
    )


def _answer_type(question: str) -> AnswerType:
    text = " ".join(question.lower().split())
    if _YES_NO.match(text):
        return "yes_no"
    found = [(match.start(), order, kind) for order, (kind, sign) in enumerate(_ASKED) if (match := sign.search(text))]
    return min(found)[2] if found else "other"


def _named(question: str, speakers: Collection[str]) -> tuple[str, ...]:
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


def _called(found: Sequence[str], speakers: Collection[str]) -> tuple[str, str] | None:
    """Return the one speaker whom a question calls by another name ("Elin" for the user), with this name, or None."""
    if not isinstance(speakers, Speakers):
        return None
    called = {who: name for name in found if (who := speakers.find(name))}
    return next(iter(called.items())) if len(called) == 1 else None


def _askers(question: str, speakers: Collection[str]) -> tuple[str, ...]:
    """Return the people whom "I" in a question may mean, if there are several."""
    if not isinstance(speakers, Speakers) or not _SINGULAR.search(_ASIDE.sub(" ", question)) or speakers.asker:
        return ()
    people = speakers.people
    return tuple(people) if len(people) > 1 else ()


def _role(question: str, speakers: Collection[str]) -> str | None:
    """Return the speaker that "I" or "you" in a question means, or None."""
    for sign, roles in ((_FIRST, USERS), (_SECOND, ASSISTANTS)):
        if sign.search(question):
            if sign is _FIRST and isinstance(speakers, Speakers):
                return speakers.asker
            return next((speaker for speaker in speakers if speaker.casefold() in roles), None)
    return None


def _spelling(question: str, speaker: str) -> str:
    """Return the name by which the question calls a speaker: the whole of it, or the first."""
    return speaker if speaker.casefold() in question.casefold() else speaker.split()[0]


_YOU = "\ue000"  # stands for "you" while it is a name; a private character that no question needs


def _second_to_name(found: re.Match[str]) -> str:
    return {"you": _YOU, "yourself": "myself"}.get(found[0].lower(), f"{_YOU}'s")


_WHO = "\ue001"  # stands for whoever the question names while it is turned to the first person; as private
_ENDING = {"does": "do", "is": "am", "are": "am", "has": "have", "were": "was"}
_BEFORE_ME = "|".join(
    [
        "about",
        "above",
        "after",
        "against",
        "around",
        "at",
        "before",
        "behind",
        "by",
        "for",
        "from",
        "in",
        "inside",
        "into",
        "like",
        "of",
        "off",
        "on",
        "onto",
        "over",
        "to",
        "toward",
        "towards",
        "under",
        "with",
        "without",
        "than",
        "between",
        "through",
        "give",
        "gave",
        "tell",
        "told",
        "make",
        "made",
        "help",
        "helped",
        "let",
        "asked",
        "ask",
        "show",
        "showed",
        "remind",
        "motivate",
        "inspire",
        "inspired",
    ]
)
_OWN = re.compile(rf"{_WHO}['’]s(?!\w)", re.IGNORECASE)
_OWNING = re.compile(rf"{_WHO}(?:['’]s|['’])(?!\w)", re.IGNORECASE)
_AFTER_VERB = re.compile(rf"\b(does|is|was|were|has|are)\s+{_WHO}", re.IGNORECASE)
_BEFORE_VERB = re.compile(rf"{_WHO}\s+(does|is|has|are)\b", re.IGNORECASE)
_AS_OBJECT = re.compile(rf"\b({_BEFORE_ME})\s+{_WHO}", re.IGNORECASE)
_AT_THE_END = re.compile(rf"{_WHO}(?=[\s?.!]*$)")
_PRONOUNS = (
    (re.compile(r"\b(?:his|her|their)\b(?=\s+\w)"), "my"),
    (re.compile(r"\b(?:he|she|they)\b"), "I"),
    (re.compile(r"\b(?:himself|herself|themselves)\b"), "myself"),
    (re.compile(r"\bhim\b"), "me"),
)


def _first_person(question: str, name: str) -> str | None:
    """Return the question as the named person would ask it about themselves; None if only the name is left."""
    text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", _WHO, question, flags=re.IGNORECASE)
    if len({word for word in words(question) if word in STOP_WORDS}) < 2:  # keywords, or another language
        left = _OWN.sub("", text).replace(_WHO, "")
        return " ".join(left.split()) if stems(left) else None
    text = _OWNING.sub("my", text)
    text = _AFTER_VERB.sub(lambda found: f"{_ENDING.get(found[1].lower(), found[1])} I", text)
    text = _BEFORE_VERB.sub(lambda found: f"I {_ENDING[found[1].lower()]}", text)
    text = _AS_OBJECT.sub(r"\1 me", text)
    text = _AT_THE_END.sub("me", text)
    text = text.replace(_WHO, "I")
    for sign, mine in _PRONOUNS:
        text = sign.sub(mine, text)
    return text
