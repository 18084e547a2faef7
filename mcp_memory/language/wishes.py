"""Recognise standing wishes: what a person asks of an assistant once and for all.

"Always answer in metric units", "never suggest coriander", "from now on write in Norwegian", "keep your answers short",
"call me Dr. Wexler at work". A request for one time is none ("use the second option for this"), nor is a habit ("I
always forget"), a report ("she says never …"), a taste ("I prefer tea") or a fact ("from now on I work on Tuesdays").

The rules are English (``resources/wishes.toml``), and prefer missing a wish to inventing one, since a wish is shown
with every answer. Three things have to hold. The message is wholly its speaker's own (`is_all_own`): one line of plain
sentences, none of which speaks of a text. The sentence commands the assistant something that an assistant does, and
says so from its first word on. And the message says nothing else but other wishes, thanks and greetings. The wish is
its whole sentence.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from mcp_memory.domain.evidence import Wish
from mcp_memory.language import iso
from mcp_memory.language.own_words import OWN_LABEL, is_all_own, is_ascribed
from mcp_memory.texts import resource

WishKind = Literal["wish", "withdrawn"]
"""A withdrawn wish is none, but ends one: it permits what was not wished ("you can use emojis again"), or says that
what was wished is not needed (`NEEDLESS`)."""
NEEDLESS = re.compile(r"\b(?:no need|need ?n['’]?t|(?:don['’]?t|do not) (?:need|have) to)\b", re.IGNORECASE)
"""How a withdrawal says that what was wished is not needed any more."""
LONGEST = 300
"""Characters of a wish; a longer sentence is none."""

_ONCE = re.compile(
    r"\b(?:this (?:time|once|one|email|letter|file|task|question|answer|wall|page|chapter|step|part|trip|draft"
    r"|message)|that one|for (?:this|that|now|today|tonight|the moment|once)\b|right now|just now|just (?:this )?once"
    r"|today(?! on)|tonight|tomorrow|in this case|(?:the )?(?:first|second|third|last|next|other)"
    r" (?:option|one|version|question|item|template|draft))",
    re.IGNORECASE,
)
_TABLE = tomllib.loads(resource("wishes.toml"))
_PART = re.compile(r"@(\w+)@")


def _written_out(pattern: str) -> str:
    """Return a pattern of the table on one line, its parts put in."""
    return _PART.sub(lambda name: _written_out(_TABLE["parts"][name[1]]), pattern.replace("\n", ""))


_FILLER = _written_out("@filler@")
_PATTERNS: tuple[tuple[WishKind, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(f"{_FILLER}(?:{_written_out(form)})", re.IGNORECASE)) for kind, form in _TABLE["forms"]
)
_ASKED_FOR = re.compile(r"\W*(?:\w+[,:]?\s+){0,3}?(?:can|could|will) you\b", re.IGNORECASE)
_SAID_OF = re.compile(
    r"(?:(?!\b(?:when|if|that|what|who|which|where|whether|because|since|as|unless|how|fine|ok|okay|welcome)\b)[^,;])+\s"
    r"(?:is|was|were|are)\b(?! (?:fine|ok|okay|all right|alright|welcome))",
    re.IGNORECASE,
)
"""A command of which something is said: "Never use emojis is his motto"."""
_GREETS = re.compile(
    r"\W*(?:(?:hi|hello|hey|hiya|ok(?:ay)?|thanks?|thank you|thx|cheers|great|perfect|cool|nice|good|morning|evening"
    r"|afternoon|day|right|well|yes|no|sure|please|there|again|so much|a lot|lovely|wonderful|super|claude)\W*)+",
    re.IGNORECASE,
)
_SHORTENED = re.compile(
    r"\b(?:max|min|incl|excl|approx|avg|misc|est|resp|vol|tel|attn|qty|abbr|temp)\.$", re.IGNORECASE
)
"""Abbreviations that `split` takes for the end of a sentence."""
_STOP = re.compile(r"[^\W\d]{5}[.!](?=\s)")
"""A stop behind a word that is too long for most abbreviations: "… in French. lol" are two sentences."""
_ASKED = re.compile(
    r"\b(?:when(?:ever)?|if|every time|each time|any time)\s+I\s+(?:\w+\s+){1,2}?(?:(?:about|for|on|with|you)\s+)?"
    r"(?P<of>[^,.!?;]+)",
    re.IGNORECASE,
)
_OF = re.compile(r"\b(?:for|about|in)\s+(?P<of>(?:my|the|any|all|every|each)\s+[^,.!?;]+)\W*$", re.IGNORECASE)
_MANNER = _written_out("@manner@")
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

    A message that says anything else, but for thanks and greetings, has none: it may
    say that the words are somebody else's, by a comment, a question or a signature.

    Args:
        text: the text of the message.
        spans: the spans of its sentences, in characters.
    """
    if not is_all_own(text, spans):
        return
    whole = list(_whole_sentences(text, spans))
    found = [_wish(text[start:end]) for _, start, end in whole]
    if any(one is None and not _GREETS.fullmatch(text, *span) for one, (_, *span) in zip(found, whole, strict=True)):
        return
    for wish, (number, start, end) in zip(found, whole, strict=True):
        if wish is not None:
            yield WishSpan(wish[0], number, start, start + wish[1], _scope(text[start:end]))


def _whole_sentences(text: str, spans: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int, int]]:
    """Yield the index and the span of each sentence, joined with the next where an abbreviation ends it."""
    first = 0
    for number, (_, end) in enumerate(spans):
        behind = text[slice(*spans[number + 1])] if number + 1 < len(spans) else ""
        cut = text[end - 1] == "." and (behind[:1].islower() or behind[:1].isdigit() or _SHORTENED.search(text, 0, end))
        if behind and cut:
            continue
        yield first, spans[first][0], end
        first = number + 1


def _wish(sentence: str) -> tuple[WishKind, int] | None:
    """Return what wish a sentence states, with its length: a withdrawal ends with what it permits, a wish never."""
    if len(sentence) > LONGEST or _ONCE.search(sentence) or is_ascribed(sentence):
        return None
    if sentence.rstrip().endswith("?") and not _ASKED_FOR.match(sentence):
        return None
    if any(not _SHORTENED.search(sentence, 0, stop.end()) for stop in _STOP.finditer(sentence)):
        return None
    label = OWN_LABEL.match(sentence)
    for kind, pattern in _PATTERNS:
        if match := pattern.match(sentence, label.end() if label else 0):
            if kind == "withdrawn" and not NEEDLESS.search(match[0]):
                return kind, match.end()
            return None if kind == "wish" and _SAID_OF.match(sentence) else (kind, len(sentence))
    return None


def _scope(words: str) -> str:
    """Return the words that say of what a wish holds."""
    match = _ASKED.search(words) or _OF.search(words)
    if match is not None:
        return match["of"]
    return "" if _ABOUT_YOU.search(words) else words


def as_said(wish: Wish) -> str:
    """Return a wish as what it is, words of the user with their day: never as an order of ours."""
    day = (iso.show(wish.source.turn.local_time) or "")[:10]
    return f'the user said on {day}: "{" ".join(wish.text.split())}"'
