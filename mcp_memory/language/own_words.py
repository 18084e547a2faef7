"""Say how much of a message its speaker says in words of their own, by the form of the text.

Messages carry mail, code, logs, chats, letters, lyrics and prompts, in which "I" is somebody else. So **own words end
where other text may begin**: at a line break, at any sign that plain prose does without (`_PROSE`), and behind a
sentence that speaks of a text, of saying or of playing ("Translate this.", "The song goes like this."). What follows is
never taken for the speaker's own, whatever closes a quotation: who pasted a text could have pasted the closing sign as
well. A last sentence that speaks of a text or is nothing but names ("That is what Anna wrote.", "Anna Holm") takes all
of it from the speaker.

Right or silent: own words behind such a place are lost too. All of it is stored and found; only facts are not read
there. What is certain is stricter still (``rules/facts/certainty.py``, ``language/wishes.py``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from mcp_memory.language.wishes import is_small_talk

Span = tuple[int, int]

_FIRST = r"(?:i|i['’]\w{1,3}|my|me|we|we['’]\w{1,3}|our|us)\b"
_SAYS = r"(?:say|says|said|writes|wrote|reads|goes|told|asked|answer(?:s|ed)|repl(?:ies|ied))"
_PROSE = re.compile(
    r"(?! {4}|\s*(?:[-–—$#]|\d{1,3}[.)])\s|\d{4}-\d\d-\d\d)"
    r"(?:[^\W_]|[ ,.!?;()%€£°’…½\U0001f300-\U0001faff]"
    r"|`\w[\w.-]*`|\$(?=\d)|(?<=\w)'|[:+]|&(?= )|(?<=\w)[-\u00ad\u200b-\u2011–—\u2060/](?=\w)| [-–—] (?=[a-z]))*"
)
"""Letters, digits and the signs of a plain sentence: no quotation, bracket, bullet or markup."""
_ABOUT_TEXTS = re.compile(
    r"\b(?:texts?|e?-?mails?|letters?|messages?|notes?|posts?|comments?|reviews?|lyrics|songs?|poems?|novels?|stor(?:y|ies)"
    r"|scripts?|prompts?|instructions?|articles?|chapters?|paragraphs?|drafts?|speech|diar(?:y|ies)"
    r"|grammar|spelling|wording|conversations?|games?|roles?|characters?"
    r"|sentences?|translat\w+|rewrit\w+|rephras\w+|reword\w+|proof-?read\w*|summari[sz]\w+|role-?play\w*|pretend\w*"
    r"|imagin\w+|suppos\w+|quot\w+|follow(?:s|ing)|below|above|correct)\b"
    r"|\byou(?:['’]re| are) (?:an?|the)\b|\b(?:this|these)\b\W*$|:\s"
    rf"|\b{_SAYS}\b(?:\s(?:me|us|him|her|them|to|in|on)\b(?:\s\w+){{0,2}})?(?:\W*$|[.!?]\s)",
    re.IGNORECASE,
)
"""Words for texts and for playing, and a verb of saying at the end; something is announced by a colon, too."""
_FOREIGN = re.compile(
    rf".*(?:: |\b(?:says?|said|wrote|goes),? ){_FIRST}"
    r"|(?-i:[A-Z]\w*(?: [A-Z]\w*)? [-–—] |[A-Z]{3,}\.$|(?:[Hh]i|[Hh]ello|[Hh]ey|[Dd]ear) [A-Z][^.!?]*,)",
    re.IGNORECASE,
)
"""A letter's greeting, and words that somebody is said to say."""
_OWN_LABEL = re.compile(
    r"(?:update|news|(?:please )?remember|correction|note|reminder|ps|fyi|btw|by the way)(?=: )", re.IGNORECASE
)
"""Labels by which people announce words of their own: "Update: I moved"."""
_FULL_STOP = re.compile(r"[.!?]\s")
_ASCRIBES = re.compile(r"(?:that|this|it|these)(?:['’]s| is| was| are| were)\b", re.IGNORECASE)
_NAMES = re.compile(r"(?:[-–—]\s?)?(?:[A-Z]\w{2,}[.,]?\s?){1,3}")


def own_sentences(text: str, sentences: Sequence[Span]) -> int:
    """Return how many of a message's sentences, from the first on, are its speaker's own words.

    Args:
        text: the text of the message.
        sentences: spans of its sentences, in characters.
    """
    if not sentences:
        return 0
    last = text[slice(*sentences[-1])].strip()
    if len(sentences) > 1 and (
        (_NAMES.fullmatch(last) and not is_small_talk(last)) or (_ASCRIBES.match(last) and _ABOUT_TEXTS.search(last))
    ):
        return 0
    prose = _PROSE.match(text)
    prose_end = prose.end() if prose else 0
    for number, (start, end) in enumerate(sentences):
        sentence = text[start:end]
        if label := _OWN_LABEL.match(sentence):
            sentence = sentence[label.end() + 2 :]
        if end > prose_end or _FOREIGN.match(sentence):
            return number
        if announced := _ABOUT_TEXTS.search(sentence):
            return number if _FULL_STOP.search(sentence, announced.start()) else number + 1
    return len(sentences)
