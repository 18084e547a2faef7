"""Recognise standing wishes: what a person asks of an assistant once and for all.

"Always answer in metric units", "never suggest coriander", "from now on write to me in Norwegian", "keep your answers
short", "call me Dr. Wexler". A request for one time is none ("say that again"), nor is a notice ("never leave children
unattended"), a report ("never use emojis, my boss said"), a taste ("I prefer tea") or a title ("Call Me by Your Name").

A caller that understands what it reads puts a wish into the session `WISHES`: there each message of the user is one, in
any words and any language. Everywhere else rules have to find it.

A wish is shown with every answer, so the rules (``resources/wishes.toml``), which are English, prefer missing one to
inventing one. They are one small grammar, and a message states wishes only if **every word of it** has a place there:
each sentence is a wish, or thanks and greetings. What says that the words are somebody else's, a signature, a quotation
mark, a question, a label, has no place, and so leaves no wish. Words of any kind may stand in few places: a name behind
"call me", what is never to be suggested, and the matter in "when I ask about …".
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from mcp_memory.domain.evidence import Wish
from mcp_memory.domain.turns import WISHES, Turn, by_user
from mcp_memory.language import iso
from mcp_memory.language.expressions import written_out
from mcp_memory.language.tokens import stem, stems
from mcp_memory.texts import resource

WishKind = Literal["wish", "withdrawn"]
"""A withdrawal permits what was not wished ("you can use emojis again"), or says that what was wished is not needed."""
WISH_CHARS = 300
"""Characters of a message that states wishes."""
_MOST_SMALL = 60
"""Characters of small talk."""
_TABLE = tomllib.loads(resource("wishes.toml"))
ENDING = frozenset(map(stem, _TABLE["ending"].split()))
"""Stems of words that end or deny something, beside words with "n't"."""
VALUES = {matter: frozenset(stems(written_out(words, _TABLE["parts"]))) for matter, words in _TABLE["matters"].items()}
"""The matters that have one value at a time, such as units, with the stems of their values."""


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


def wishes_of(turn: Turn, spans: Sequence[tuple[int, int]]) -> list[WishSpan]:
    """Return the standing wishes of a message, in order, with the spans of its sentences: see `find_wishes`.

    One in the session `WISHES` that no rule reads is a wish as a whole.
    """
    found = list(find_wishes(turn.text, spans))
    if not found and turn.session == WISHES and by_user(turn) and spans and len(turn.text) <= WISH_CHARS:
        return [WishSpan("wish", 0, spans[0][0], spans[-1][1], "")]
    return found


def find_wishes(text: str, spans: Sequence[tuple[int, int]]) -> Iterator[WishSpan]:
    """Yield the standing wishes of a message, in order.

    A message that says anything else, but for thanks and greetings, has none: it may say that the words are somebody
    else's, by a comment, a question or a signature.

    Args:
        text: the text of the message.
        spans: the spans of its sentences, in characters.
    """
    if len(text) > WISH_CHARS or text.rstrip() != " ".join(text.split()) or text.isupper() or text.istitle():
        return  # lines, an indented block, a heading
    found: list[WishSpan] = []
    for number, (start, end) in enumerate(spans):
        sentence = text[start:end].replace("’", "'")
        wish = _wish(" ".join(sentence.split()))
        if wish is not None:
            found.append(WishSpan(wish[0], number, start, end, wish[1]))
        elif not is_small_talk(sentence):
            return
    yield from found


def is_small_talk(text: str) -> bool:
    """Return whether a message is nothing but thanks and greetings, which say nothing to anybody who asks later."""
    return len(text) <= _MOST_SMALL and _pattern("@greetings@").fullmatch(text.strip()) is not None


@cache
def _pattern(form: str) -> re.Pattern[str]:
    """Return a form or part of the table, compiled when a message first needs it: all together take a while."""
    return re.compile(written_out(form, _TABLE["parts"]), re.IGNORECASE)


def _wish(sentence: str) -> tuple[WishKind, str] | None:
    """Return what wish a sentence states, with its scope."""
    opening = _pattern("@opening@").match(sentence)
    if opening is None or (sentence.endswith("?") and not opening["asked"]):
        return None
    for kind, form in _TABLE["forms"]:
        match = _pattern(form).match(sentence, opening.end())
        rest = _pattern("@rest@").fullmatch(sentence, match.end()) if match else None
        if match and rest and (kind != "stands" or _pattern("@standing@").search(sentence)):
            return "withdrawn" if kind == "withdrawn" else "wish", next(
                filter(None, match.groups() + rest.groups()), ""
            )
    return None


def matters_of(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the matters of which a wish settles the one value, such as units, and the stems of its other words."""
    found = set[str]()
    for matter, form in _TABLE["matter_patterns"].items():
        rest = _pattern(form).sub(" ", text)
        if rest != text:
            found.add(matter)
            text = rest
    said = frozenset(stems(text))
    found |= {matter for matter, values in VALUES.items() if not values.isdisjoint(said)}
    return frozenset(found), said.difference(*VALUES.values())


def as_said(wish: Wish) -> str:
    """Return a wish as what it is, words of the user with their day: never as an order of ours.

    What they said of it since may change it in any words, so its newest words stand beside it.
    """
    told = [wish.source] if wish.later is None else [wish.source, wish.later]
    days = [(iso.show(one.turn.local_time) or "")[:10] for one in told]
    said = [f'on {day}: "{" ".join(one.quote.split())}"' for day, one in zip(days, told, strict=True)]
    return f"the user said {', and later '.join(said)}"
