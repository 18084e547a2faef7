"""What is asked to be kept, and short notes: "remember that …", "new phone number for Ann: 555 0142", "blood type: O".

Such lines have no verb, or one that commands: what follows it is told all the same.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_LEAD_IN = re.compile(
    r"\s*(?:(?:please|pls|so|and|also|ok|okay|hey)[, ]{1,2})?(?:(?:(?:do not|don['’]t|never) forget|remember"
    r"|keep in mind|bear in mind|(?:make|take) a note|note to self|just so you know|fyi|for the record|nota bene"
    r"|note|reminder|save this|to remember|guess what)(?:\s*[:,–—]\s*|\s+that\s+(?=\S)))",
    re.IGNORECASE,
)
_NOTE = re.compile(
    r"\s*(?:my\s|our\s|the\s|new\s|(?P<owner>[A-Z][\w.-]{1,30}(?:\s[A-Z][\w.-]{1,30})?)['’]s\s){0,3}"
    r"(?P<what>[a-z][a-z-]{1,20}(?:\s[a-z][a-z-]{1,20}){0,2}?)"
    r"(?:\s(?:for|of)\s(?P<who>[A-Z][\w.-]{1,30}(?:\s[A-Z][\w.-]{1,30})?))?\s?:\s(?P<value>[^\s:;,][^:;,]{0,50}?)[.!]?\s*$"
)
_NO_ITEM = re.compile(
    r"^(?:update|news|question|ps|note|reminder|remember|edit|fact|tip|warning|verdict|result|conclusion|plan|todo|thing"
    r"|funny|true|spoiler|thought|problem|answer|one|here|this|that|it|so|and|but|only|last thing|next|first)\b"
)
_VALUE = re.compile(r"[\d@]|^[A-Z]")
_RELATIONS = {"phone number": "phone", "phone": "phone", "number": "phone", "mobile": "phone", "mail": "email",
              "email": "email", "e-mail": "email", "email address": "email", "birthday": "born_on"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Note:
    """A line that says what something is.

    Attributes:
        who: whose it is by name; "" for who writes.
        relation: what it is, as the name of a relation.
        value: as written.
        start: first character within the text.
        end: first character after it.
    """

    who: str
    relation: str
    value: str
    start: int
    end: int


def after_lead_in(text: str, start: int, end: int) -> int:
    """Return where what is to be kept begins: behind "remember that", or at the start of the sentence."""
    found = _LEAD_IN.match(text, start, end)
    return found.end() if found and found.end() < end else start


def note(text: str, start: int, end: int) -> Note | None:
    """Return what a line says that is one item and its value, or None."""
    found = _NOTE.match(text, start, min(end, start + 160))
    if found is None or found.end() != end or _NO_ITEM.match(found["what"]) or not _VALUE.search(found["value"]):
        return None
    what = found["what"].lower()
    who = found["owner"] or found["who"] or ""
    relation = _RELATIONS.get(what, what.replace(" ", "_").replace("-", "_"))
    return Note(who, relation, found["value"], found.start("what"), found.end("value"))
