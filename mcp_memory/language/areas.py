"""Areas of life and work that a question asks for: "the user's health", "our stack", "money".

No word and hardly any similarity of meaning leads from "health" to "She put me on candesartan 8 mg" or from "money" to
"The mortgage is fixed until November". So a table (``resources/areas.toml``) says for each area by which words a
question asks for it, and which words tell of it.

Lists and overviews take in what tells of the area asked for (``services/recall/broad.py``). A question that asks for
nothing but an area ("What is our current stack?") wants a list, since no single text answers it.

Source: the tags of MRAgent (§3.1) stand between cues and what is told, and a topic leads to all of its episodes.
**Departures.** There a language model names tags and topics when a text is written; here the areas are given once, for
every space, and no text is read for them: the index of words is enough.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache

from mcp_memory.language.tokens import STOP_WORDS, stems, words
from mcp_memory.texts import resource

_ALONE = re.compile(
    r"^\W*(?:what(?:['’]s| is| are| do you know)|how(?:['’]s| is| are)|tell me|describe|remind me)\b", re.IGNORECASE
)
_BESIDE = frozenset(
    """
    current currently present now today whole overall general situation state status setup life matters issues things
    details information like user project team know remember tell describe remind tech
    """.split()  # noqa: SIM905 - a list of words is read as words
)
"""Words that a question for an area may have beside it, names and possessives apart."""
MOST_TOPIC_WORDS = 6
"""Words of a topic that asks for an area by one of them."""
_POSSESSIVE = re.compile(r"\b\w+['’]s?(?!\w)")
_BARE_CHARS = 120
"""Characters of a question that asks for nothing but an area."""


@dataclass(frozen=True, slots=True)
class Area:
    """An area of life or work.

    Attributes:
        name: the name for readers of the table.
        asked: stems of the words by which a question asks for it.
        told: stems of the words that tell of it.
        alone: words for the whole of it.
    """

    name: str
    asked: frozenset[str]
    told: frozenset[str]
    alone: frozenset[str]


@cache
def areas() -> tuple[Area, ...]:
    """Return the areas of the table."""
    table = tomllib.loads(resource("areas.toml"))
    return tuple(
        Area(
            name, frozenset(stems(row["asked"])), frozenset(stems(row["told"])), frozenset(row.get("alone", "").split())
        )
        for name, row in table.items()
    )


def areas_asked(topic: str) -> list[Area]:
    """Return the areas for which the topic of a question asks: one in `MOST_TOPIC_WORDS` of its words is for it.

    "The features and the security of my budget tracker" does not ask for money.
    """
    said = frozenset(stems(topic))
    return [area for area in areas() if len(area.asked & said) * MOST_TOPIC_WORDS >= len(said) > 0]


def asks_for_area(question: str) -> bool:
    """Return whether a question, in English, asks for nothing but a whole area: "How is Ann's health?"."""
    if len(question) > _BARE_CHARS or _ALONE.match(question) is None:
        return False
    own = _POSSESSIVE.sub(" ", question[:1].lower() + question[1:])
    names = {word.lower() for word in re.findall(r"\b[A-Z]\w+", own)}
    left = {word for word in words(own) if word not in _BESIDE and word not in STOP_WORDS and word not in names}
    return bool(left) and any(left <= area.alone for area in areas())
