"""The two events between which a question asks for the time: "How many days lie between my test and the trip?".

Each event is then looked for by itself, since one text seldom tells of both. The rules are English.
"""

from __future__ import annotations

import re

_ASKS = r"how (?:many (?:more )?(?:days?|weeks?|months?|years?|hours?)|long|much time)\b"
_BETWEEN = re.compile(r"\bbetween\s+(?P<both>.+)", re.IGNORECASE | re.DOTALL)
_FROM = re.compile(r"\bfrom\s+(?P<first>.+?)\s+(?:to|until|till)\s+(?P<second>\D.+)", re.IGNORECASE | re.DOTALL)
_AFTER = re.compile(
    rf"{_ASKS}.*?\b(?:after|since)\s+(?P<first>.+?)(?:,|\s+(?=did\b|was\b|were\b|until\b|before\b|till\b))\s*"
    r"(?:did|was|were|until|before|till)?\s*(?P<second>.+)",
    re.IGNORECASE | re.DOTALL,
)
_TOOK = re.compile(
    rf"{_ASKS}\s+(?:did|does|has|had|have|was|were|will)?\s*(?P<second>.+?)\s+(?P<order>after|before|since)\s+(?P<first>.+)",
    re.IGNORECASE | re.DOTALL,
)
_BEFORE = re.compile(
    rf"{_ASKS}\s+before\s+(?P<second>.+?)(?:,|\s+(?=did\b))\s*(?:did)?\s*(?P<first>.+)", re.IGNORECASE | re.DOTALL
)
_AND = re.compile(r",?\s+and\s+", re.IGNORECASE)
_BEGINS = re.compile(
    r"(?:when|the|my|our|his|her|their|your|its|an?|this|that|\w+ing|I|he|she|we|they|you)\b|(?-i:[A-Z])", re.IGNORECASE
)
_FRAME = re.compile(
    r"^(?:(?:it|that) (?:took|takes|take)|it|(?:me|us|him|her|them) to|take (?:\w+ )?to|take|when"
    r"|the time (?:when|that))\s+",
    re.IGNORECASE,
)
_SHORT = 2
"""Words up to which an event is completed by those of the other: "adopting Rex and Bella"."""
_LONGEST = 600


def events_between(question: str) -> tuple[str, str] | None:
    """Return the earlier and the later event, as the question words them, or None if it asks for no time between two.

    Which of them is in fact earlier is for what is found to say.
    """
    text = " ".join(question[:_LONGEST].split()).rstrip(" ?.!")
    asked = re.search(_ASKS, text, re.IGNORECASE)
    if asked is None:
        return None
    found: tuple[str, str] | None = None
    if (between := _BETWEEN.search(text)) is not None:
        found = _halves(between["both"])
    elif asked.start() == 0 or " from " not in text[: asked.start()]:
        for pattern in (_BEFORE, _AFTER, _TOOK, _FROM):
            if (match := pattern.search(text)) is not None:
                found = match["first"], match["second"]
                if match.groupdict().get("order", "").lower() == "before":
                    found = found[1], found[0]
                break
    if found is None:
        return None
    first, second = (_bare(event) for event in found)
    return (first, second) if len(first) > _SHORT and len(second) > _SHORT else None


def _halves(both: str) -> tuple[str, str] | None:
    """Return the two events of "A and B": divided where B begins as A does, or else like an event."""
    places = list(_AND.finditer(both))
    if not places:
        return None
    opening = both.split()[0].lower()
    alike = [one for one in places if both[one.end() :].lower().startswith(f"{opening} ")]
    begins = [one for one in places if _BEGINS.match(both, one.end())]
    place = (alike or begins or places)[0]
    first, second = both[: place.start()], both[place.end() :]
    count = len(second.split())
    if count <= _SHORT < len(first.split()):
        second = " ".join((*first.split()[:-count], second))
    return first, second


def _bare(event: str) -> str:
    event = event.strip(" ,;?.!")
    while (shorter := _FRAME.sub("", event)) != event:
        event = shorter
    return event
