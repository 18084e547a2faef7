"""Recognise standing wishes: what a person asks of an assistant once and for all.

"Always answer in metric units", "never suggest coriander", "from now on write in Norwegian", "I prefer aisle seats",
"keep your answers short", "don't use emojis any more". A request for one time is none ("use the second option for
this"), nor is a habit ("I always forget"), a report ("she says never …") or a fact ("from now on I work on Tuesdays").

The rules are English, and prefer missing a wish to inventing one: a wish must begin a clause, and what it commands must
be something that an assistant does. Of 106 invented sentences, half of them traps, all are told apart
(``tests/unit/language/wishes.txt``); they were written before the rules, but these were mended with them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

WishKind = Literal["always", "never", "prefers", "manner", "withdrawn"]
"""What a wish is: to do, not to do, to prefer, the manner of answers.

``withdrawn`` is none, but ends one: it permits what was not wished ("you can use emojis again", "emojis are fine now"),
or says that what was wished is not needed (``NEEDLESS``)."""
NEEDLESS = re.compile(r"\b(?:no need|need ?n['’]?t|(?:don['’]?t|do not) (?:need|have) to)\b", re.IGNORECASE)
"""How a withdrawal says that what was wished is not needed any more."""
LONGEST = 300
"""Characters of a wish; the clause is cut there."""

_VERBS = (
    "add|address|advise|answer|apologi[sz]e|ask|assume|avoid|be|begin|bring|check|cite|compare|confirm|consider|convert"
    "|correct|count|describe|double-check|draft|end|explain|flag|format|give|highlight|include|keep|label|leave|link"
    "|list|make|mark|mention|name|note|offer|order|point|present|propose|provide|put|quote|recommend|refer"
    "|remind|repeat"
    "|reply|respond|return|round|say|send|share|show|sign|skip|sort|speak|spell|start|state|stick|suggest|summari[sz]e"
    "|talk|tell|translate|treat|try|use|warn|write|call|book|order|plan|schedule|choose|pick|change|delete|limit"
)
_DOING = (
    "us|add|suggest|call|giv|ask|tell|send|writ|mention|recommend|apologi[sz]|say|includ|repeat|remind|quot|explain"
)
_ANSWERS = (
    r"(?:answers?|repl(?:y|ies)|responses?|explanations?|messages|summaries|suggestions|recommendations|emails?|texts"
    r"|advice|examples|code|snippets|tone|language|wording|sentences)"
)
_TONGUES = (
    "english|french|german|dutch|finnish|norwegian|swedish|danish|icelandic|spanish|italian|portuguese|polish|czech"
    "|hungarian|greek|turkish|russian|ukrainian|japanese|korean|chinese|arabic|hebrew|hindi"
)
_STYLE = (
    r"(?:units?|metric|imperial|celsius|fahrenheit|spelling|emojis?|exclamation marks?|jargon|slang|abbreviations"
    r"|bullet points?|bullets|markdown|24[- ]hour|12[- ]hour|dates as|dates in|prices in|lower ?case|upper ?case"
    r"|capitals|footnotes|simple words|plain words|semicolons)"
)
_TONGUE = (
    r"(?:in (?:(?:plain|simple|easy|british|american|canadian|australian) )?"
    rf"(?:{_TONGUES}|plain text|plain language|full sentences|bullet points|capitals))"
)
_MANNER = rf"(?:{_ANSWERS}|{_STYLE}|{_TONGUE}|formal|informal|brief|concise|polite)"
_FILLER = (
    r"(?:(?:and|but|also|so|oh|ok(?:ay)?|well|hey|hi|thanks|great|btw|by the way|one more thing|remember|note"
    r"|important|yes|no|right|then|just|kindly|please|in general|generally|as a rule|remember to|make sure (?:to"
    r"|you|that you)"
    r"|be sure to)[,:;!.]?\s+)*"
)
_YOU = (
    r"(?:(?:you (?:should|must|can|are to|need to|have to)|I(?:['’]d| would)? (?:want|like|need|expect|ask) you to"
    r"|(?:can|could|will|would) you(?: please)?)\s+)"
)
_ONCE = re.compile(
    r"\b(?:this (?:time|once|one|email|letter|file|task|question|answer|wall|page|chapter|step|part|trip|draft|message)"
    r"|that one|for (?:this|that|now|today|tonight|the moment|once)\b|right now|just now|just (?:this )?once"
    r"|today|tonight"
    r"|in this case|(?:the )?(?:first|second|third|last|next|other) (?:option|one|version|question|item|template"
    r"|draft))",
    re.IGNORECASE,
)
_NAME = r"(?-i:(?!Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)[A-Z])\w+"
_THING = (
    r"(?:(?!(?:says?|said|thinks?|told|i|he|she|they|we|it|that|this|there|if|when|my|his|her|our|their)\b)"
    r"[\w’'-]+\s+){1,4}?"
)
_FORMS: tuple[tuple[WishKind, str], ...] = (
    ("manner", rf"{_FILLER}you (?:can|may) call me\s+{_NAME}"),
    (
        "withdrawn",
        rf"{_FILLER}(?:you (?:can|may)|feel free to|(?:it|that)(?:['’]s| is) (?:fine|ok|okay|all right|alright) to)\s+"
        rf"(?:{_VERBS})\b[^.?!]*\b(?:again|after all|now|from (?:now|here|today) on)",
    ),
    (
        "withdrawn",
        rf"{_FILLER}(?:you (?:don['’]?t|do not) (?:need|have) to|you need ?n['’]?t|no need to)\s+(?:{_VERBS})\b",
    ),
    (
        "withdrawn",
        rf"{_FILLER}{_THING}(?:is|are) (?:fine|ok|okay|all right|alright|welcome)(?: (?:by|with) me)?"
        r" (?:again|after all|now|from (?:now|here|today) on)\b",
    ),
    (
        "withdrawn",
        rf"{_FILLER}(?:{_STYLE}|longer {_ANSWERS}) are (?:fine|ok|okay|welcome)(?: (?:by|with) me)?(?=[,.!]|$)",
    ),
    ("always", rf"{_FILLER}{_YOU}?(?:please\s+)?always\s+(?:please\s+)?(?:{_VERBS})\b"),
    ("never", rf"{_FILLER}{_YOU}?(?:please\s+)?never\s+(?:ever\s+)?(?!give up|say never)(?:{_VERBS})\b"),
    ("never", rf"{_FILLER}(?:don['’]?t|do not)\s+(?:ever|you ever)\s+(?:{_VERBS})\b"),
    ("never", rf"{_FILLER}(?:don['’]?t|do not)\s+(?:{_VERBS})\b[^.?!]*\b(?:any ?more|again|ever)\b"),
    ("never", rf"{_FILLER}(?:don['’]?t|do not)\s+call me\s+(?!back|later|tomorrow|at\b|on\b|when|after|before)\w+"),
    ("never", rf"{_FILLER}(?:don['’]?t|do not)\s+(?:{_VERBS})\s+(?:\w+\s+){{0,2}}?{_MANNER}\b"),
    ("never", rf"{_FILLER}stop\s+(?:{_DOING})ing\b"),
    ("never", rf"{_FILLER}no (?:more )?(?:emojis?|jargon|slang|exclamation marks?|bullet points|lists|tables)\b"),
    (
        "always",
        rf"{_FILLER}(?:from (?:now|here|today) on(?:wards?)?|going forward|in (?:the )?future|henceforth)\s*,?\s+"
        rf"(?:(?:please\s+)?(?:only |just )?(?:{_VERBS})\b|{_YOU}|please\b|(?:don['’]?t|do not|no|never|always)\b"
        rf"|I(?:['’]d| would)? (?:want|like|prefer|need) (?:\w+ ){{0,3}}?{_ANSWERS}\b)",
    ),
    (
        "always",
        rf"{_FILLER}(?:(?:please\s+)?(?:{_VERBS})\b|I(?:['’]d| would) (?:like|prefer|want)\b)[^.?!]*"
        r"\b(?:from (?:now|here|today) on(?:wards?)?|going forward|in (?:the )?future|every time)\b",
    ),
    (
        "always",
        rf"{_FILLER}(?:whenever|every time|each time|any time|when|if) I (?:ask|send|give|show|mention|want|share"
        rf"|say|tell|write|paste)\b[^.?!,]*,\s*(?:please\s+|then\s+|always\s+)*"
        rf"(?:(?:{_VERBS})\b|(?:don['’]?t|do not|never)\s+(?:{_VERBS})\b|{_YOU})",
    ),
    (
        "manner",
        rf"{_FILLER}keep\s+(?:(?:all|your|all your|the|my|all the)\s+)?(?:\w+\s+)?{_ANSWERS}\s+\w+",
    ),
    (
        "manner",
        rf"{_FILLER}(?:(?:use|write|format|give)\s+(?:me\s+)?(?:only\s+)?(?:the\s+(?=24|12|metric))?"
        rf"(?:(?!the|my|your|this|that|these|those)\w+\s+)?{_STYLE}"
        rf"|(?:answer|reply|respond|write|speak|talk)\s+(?:to me\s+|me\s+)?(?:only\s+)?{_TONGUE})\b",
    ),
    ("manner", rf"{_FILLER}call me\s+{_NAME}"),
    (
        "manner",
        rf"{_FILLER}I (?:really )?(?:like|love|want|need|(?:would|['’]d) like)\s+(?:all )?(?:my|your"
        rf"|the) {_ANSWERS}\s+\w+",
    ),
    (
        "manner",
        rf"{_FILLER}I (?:really )?(?:like|love|hate|dislike|appreciate|can['’]?t stand|don['’]?t like)\s+(?:it )?"
        r"(?:when|if) you\b",
    ),
)
_PATTERNS = tuple((kind, re.compile(form, re.IGNORECASE)) for kind, form in _FORMS)
_PREFER = re.compile(
    r"(?<![\w’'-])I(?:['’]d| would)?\s+(?:(?:really|much|generally|usually|always|strongly|mostly|also|tend to"
    r"|still)\s+)*"
    r"prefer\s+(?!not\b|to (?:not|wait|stay|stop|leave)\b|that\b|this\b|these\b|those\b|it\b|them\b|him\b|her\b|if\b"
    r"|the (?:first|second|third|last|latter|former|other|one|next|left|right|old|new)\b)\w",
    re.IGNORECASE,
)
_ASKING = re.compile(r"(?:do|did|would|should|which|what|why|how|if|whether|that|says?|said)\s+$", re.IGNORECASE)
_CUT = re.compile(
    r"[;!?\n]|\.(?=\s|$)|,\s*(?:so\s+)?(?:can|could|would|will|what|how|where|which|why|should|is|are|do|does|but|maybe"
    r"|so|I['’]m|I am)\b|\s(?:so (?:can|could|what|how|I)|but (?:I|can)|can you|could you|and (?:can|could|what"
    r"|how|I)\b)",
    re.IGNORECASE,
)
_START = re.compile(
    rf"{_FILLER}(?:always|never|don['’]?t|do not|stop|no|from (?:now|here|today)|going forward|in (?:the )?future"
    r"|henceforth|whenever|(?:when|if|every time|each time|any time) I|you (?:can|may|should|must|are|need|have|do)"
    rf"|(?:can|could|will|would) you|please|I (?:\w+ )?(?:want|like|need|expect|ask|love|hate|dislike|appreciate|prefer"
    rf"|stand)|I(?:['’]d| (?:would|don['’]t|can['’]?t)) (?:want|like|need|prefer|stand|love)|(?:{_VERBS})"
    rf"|feel free|(?:it|that)(?:['’]s| is) (?:fine|ok|okay|all right|alright) to"
    rf"|no need|{_THING}(?:is|are) (?:fine|ok|welcome|al))",
    re.IGNORECASE,
)
"""How a sentence begins that may be a wish; few do, and only these are compared with every form."""
_ASKED = re.compile(
    r"\b(?:when(?:ever)?|if|every time|each time|any time)\s+I\s+(?:\w+\s+){1,2}?(?:(?:about|for|on|with|you)\s+)?"
    r"(?P<of>[^,.!?;]+)",
    re.IGNORECASE,
)
_OF = re.compile(r"\b(?:for|about|in)\s+(?P<of>(?:my|the|any|all|every|each)\s+[^,.!?;]+)$", re.IGNORECASE)
OF_ALL_ANSWERS = 10
"""Words up to which "I prefer short answers" is of all answers; a longer one says of what it is."""
_OWN_ANSWERS = re.compile(r"\b(?:answers|replies|responses|explanations)\b", re.IGNORECASE)
_ABOUT_YOU = re.compile(rf"\b(?:you|your|me|to be (?:called|addressed))\b|\b{_MANNER}(?!\w)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class WishSpan:
    """A standing wish in a text.

    Attributes:
        kind: what it is.
        sentence: index of its sentence.
        start: first character of its words within the text.
        end: first character after them.
        scope: the words that say of what it holds; empty for one of the manner of all answers.
    """

    kind: WishKind
    sentence: int
    start: int
    end: int
    scope: str


def find_wishes(text: str, spans: Sequence[tuple[int, int]]) -> Iterator[WishSpan]:
    """Yield the standing wishes of a person's message, in order.

    Args:
        text: the text of the message.
        spans: the spans of its sentences, in characters.
    """
    fences = 0
    for number, (start, end) in enumerate(spans):
        sentence = text[start:end]
        fenced, fences = fences % 2 == 1, fences + sentence.count("```")
        if not fenced and "```" not in sentence and (found := _wish(sentence)):
            kind, first, last = found
            words = sentence[first:last]
            yield WishSpan(kind, number, start + first, start + last, scope_of(kind, words, sentence))


def _wish(sentence: str) -> tuple[WishKind, int, int] | None:
    """Return the kind of the wish that a sentence states, with its first character and the first after it."""
    for kind, pattern in _PATTERNS if _START.match(sentence) else ():
        match = pattern.match(sentence)
        if match is not None:
            permitted = kind == "withdrawn" and not NEEDLESS.search(match[0])
            last = min(match.end() if permitted else _clause_end(sentence, match.end()), LONGEST)
            if not (_ONCE.search(sentence[:last]) or (sentence.rstrip().endswith("?") and not _asked_for(sentence))):
                return kind, 0, last
    match = _PREFER.search(sentence) if "prefer" in sentence else None
    if match is None or _ASKING.search(sentence[: match.start()]) or '"' in sentence[: match.start()]:
        return None
    last = min(_clause_end(sentence, match.end()), match.start() + LONGEST)
    return None if _ONCE.search(sentence[match.start() : last]) else ("prefers", match.start(), last)


def _clause_end(sentence: str, start: int) -> int:
    """Return where the clause of a wish ends, not before a character."""
    cut = _CUT.search(sentence, start)
    end = cut.start() if cut else len(sentence)
    return start + len(sentence[start:end].rstrip(" ,\n"))


_ASKED_FOR = re.compile(r"\s*(?:\w+[,:]?\s+){0,3}?(?:can|could|will) you\b", re.IGNORECASE)


def _asked_for(sentence: str) -> bool:
    """Return whether a question is a request: "can you always …?"."""
    return _ASKED_FOR.match(sentence) is not None


def scope_of(kind: WishKind | Literal["fact"], words: str, sentence: str) -> str:
    """Return the words that say of what a wish holds."""
    if kind == "prefers" and (not _OWN_ANSWERS.search(words) or len(words.split()) > OF_ALL_ANSWERS):
        return sentence
    match = _ASKED.search(words) or _OF.search(words)
    if match is not None:
        return match["of"]
    return "" if _ABOUT_YOU.search(words) else sentence
