"""Briefs: what a long message says in some 150 characters, in its own words.

Whoever writes to an assistant often says in one breath what they want, what they have, and what they ask ("I'm trying
to plan the harbour festival for 3 June, I've booked 12 stalls, so can you help me with …"). Cut after so many
characters, the figures are lost; cut around one sentence, the matter is.

A brief is the beginning, without words that only lead to it ("I'm trying to"), and of the following clauses those that
have figures, names or words of the topic, as far as there is room, in order; "…" stands for what is left out. Code, and
clauses that only ask for help, give way. The rules are English; of another language it is the beginning, and what has
figures.

Source: MRAgent §3.1 and HGMem §3.5 have a language model word what a text says. **Departures.** Here it is the words
themselves, so that nothing is said that was not.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection

from mcp_memory.language.segments import without_code
from mcp_memory.language.tokens import stems

LEAD = re.compile(
    r"(?:(?:hmm+|ok(?:ay)?|so|and|but|well|hi|hello|hey|sure|yeah|yes|got it|thanks)[,!. ]+)*"
    r"(?:(?:I['’]?m|I am|we['’]?re|we are) (?:currently |now |also )?(?:trying|looking|working|going|hoping|planning) "
    r"(?:to|on|for) "
    r"|I (?:want|need|would like|['’]d like) (?:your help )?to |I['’]d like to "
    r"|(?:can|could|would|will) you (?:please )?(?:help me )?(?:to |with |understand |figure out |find )?)?",
    re.IGNORECASE,
)
BREAK = re.compile(
    r"(?<=[.!?;:])(?<!\d\.)(?<!\b\w\.)\s+|\n+"  # not behind "9." and "e.g."
    r"|,\s+(?=(?:(?:and|but|so|or) (?:also |then |maybe )?)?(?:because|since|considering|given|which|where|while"
    r"|specifically|especially|including|using|with|here|can|could|like|such|I|my|what|how|it|we)\b"
    r"|(?:but|so) )|\s+[-–—]\s+"
)
_FILLER = re.compile(
    r"(?:(?:and|but|so) )?(?:(?:can|could|would) you\b|please\b|here(?:['’]s| is| are)\b"
    r"|I(?:['’]m| am) (?:not sure|having)|I want to make sure|I was wondering|is (?:this|that|it) "
    r"|what (?:do|would) you|thanks|thank you|let me know)",
    re.IGNORECASE,
)
_FIGURE = re.compile(r"\d")
_NAME = re.compile(r"`[^`\s]+`|(?<=[a-z,] )[A-Z][\w.+#-]+|\b[a-z]+[A-Z_]\w+")
_SPACES, _ENDS = re.compile(r"\s+"), " \n\t.,;:-…"
GAP = " … "
LEAST_CHARS = 55
"""Characters of the beginning and of another clause that a brief has room for at least."""


def brief(text: str, chars: int, topic: Collection[str] = ()) -> str:
    """Return a text of at most about ``chars`` characters in its own words.

    Args:
        text: the text of a message, its code included.
        chars: above 40; a text that is no longer is returned as it is, on one line.
        topic: stems that count for a clause.
    """
    whole = " ".join(text.split())
    if len(whole) <= chars:
        return whole
    spans = _clauses(text)
    if not spans:
        return _first_words(whole, chars)
    pieces = [" ".join(text[start:end].split()) for start, end in spans]
    lead = LEAD.match(pieces[0])
    opening = pieces[0][lead.end() :] if lead and lead.end() < len(pieces[0]) // 2 else pieces[0]
    ranked = sorted(range(1, len(pieces)), key=lambda place: (-worth_of(pieces[place], topic), place))
    telling = bool(ranked) and worth_of(pieces[ranked[0]], topic) > 0
    chosen = {0: _first_words(opening, max(LEAST_CHARS, chars // 2) if telling else chars)}
    room = chars - len(chosen[0])
    for place in ranked:
        if worth_of(pieces[place], topic) < 0 or room < 25:
            break
        said = _first_words(pieces[place], max(LEAST_CHARS, room - len(GAP)))
        if len(said) + len(GAP) <= room:
            chosen[place] = said
            room -= len(said) + len(GAP)
    said, last = chosen.pop(0), 0
    for place in sorted(chosen):
        between = text[spans[place - 1][1] : spans[place][0]]
        if said.endswith("…") or place > last + 1 or any(map(str.isalnum, between)):  # that is code
            between = GAP
        between = _SPACES.sub(lambda spaces: "\n" if "\n" in spaces[0] else " ", between)
        said = f"{said.rstrip(' …') if between == GAP else said}{between}{chosen[place]}"
        last = place
    return said if not text[spans[last][1] :].strip(_ENDS) or said.endswith("…") else f"{said} …"


def _clauses(text: str) -> list[tuple[int, int]]:
    """Return the spans of the clauses of a text, without its code and the marks at their ends."""
    cut = without_code(text)
    breaks = [(0, 0), *(found.span() for found in BREAK.finditer(cut)), (len(cut), len(cut))]
    whole = [(start, end) for (_, start), (end, _) in itertools.pairwise(breaks)]
    spans = [(end - len(cut[start:end].lstrip()), start + len(cut[start:end].rstrip(_ENDS))) for start, end in whole]
    return [(start, end) for start, end in spans if any(map(str.isalnum, cut[start:end]))]


def worth_of(piece: str, topic: Collection[str]) -> float:
    """Return what a clause is worth in a brief; at most 0 for one that tells nothing.

    Args:
        piece: the clause.
        topic: stems that count for it.
    """
    said = set(stems(piece))
    common = len(said.intersection(topic)) / max(1, min(4, len(topic)))
    worth = 1.0 * bool(_FIGURE.search(piece)) + common + 0.4 * min(2, len(_NAME.findall(piece)))
    return worth - (0.5 if _FILLER.match(piece) else 0.0)


def _first_words(text: str, chars: int) -> str:
    """Return the beginning of a text, cut at a word with a sign where something is left out."""
    if len(text) <= chars:
        return text
    return f"{text[: chars - 1].rsplit(' ', 1)[0].rstrip(',;:')} …"
