"""Say how much of a message its speaker says in words of their own, by the form of the text.

Messages carry mail, code, logs, chats, letters, lyrics and prompts, in which "I" is somebody else and "always answer in
verse" is nobody's wish. So **own words end where other text may begin**: at a line break, a quotation, markup, a log, a
label ("Anna: …"), a letter's greeting, a sentence that announces a text ("Translate this."). What follows is never
taken for the speaker's own, whatever closes the quotation: who pasted a text could have pasted the closing sign as
well. A signature at the end, or words that ascribe what stands before ("… That is what Anna wrote"), take all of it
from the speaker.

Right or silent: own words behind such a place are lost too. All of it is stored and found; only facts are not read
there. Wishes are stricter still (``language/wishes.py``).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from mcp_memory.heap import text_cache
from mcp_memory.language.segments import split
from mcp_memory.language.wishes import find_wishes, is_greeting

Span = tuple[int, int]

_KEPT = "’…·•¡¿–—−×°§€£"
_READ_AS = {"。": ".", "、": ",", "\u2028": "\n", "\u2029": "\n", "\x85": "\n", "\r": "\n", "\x0b": "\n", "\x0c": "\n"}


class _Folded(dict[int, str]):
    """Characters by how they are read here, each as one: quotation marks and colons of all scripts, full width."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        folded = unicodedata.normalize("NFKC", char)
        category = unicodedata.category(char)
        if char in _READ_AS:
            folded = _READ_AS[char]
        elif char in _KEPT or char == "\t" or char == "\n":
            folded = char
        elif char == "\u2018":
            folded = "'"
        elif unicodedata.bidirectional(char) in ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"):
            folded = "`"  # what is shown is not what is read: like a quotation that is never closed
        elif category in ("Cf", "Cc", "Co", "Cn", "Zs"):
            folded = " "
        elif len(folded) == 1 and (folded.isascii() or folded.isalnum()) and not (char != folded and folded == "."):
            pass
        elif category in ("Pi", "Pf", "Ps", "Pe") or "QUOTATION" in unicodedata.name(char, "") or char in "″´":
            folded = '"'
        elif category in ("Po", "Pd", "Lm", "Sk", "Sm"):
            folded = ":"
        else:
            folded = char
        self[code] = folded
        return folded


_FOLDED = _Folded()

_FIRST = re.compile(r"\b(?:i|i['’]\w{1,3}|my|me|mine|myself|we|we['’]\w{1,3}|our|ours|us)\b", re.IGNORECASE)
_LINE = re.compile(  # what a line begins with that is no prose
    r"\s*+(?:`{3}|~{3}|\"{3}|'{3}|``|>|&gt;|<|\||\{|\[(?=[\d/])|\\\w|//|/\*|@\w|#|(?:[-=*_~#+]\s?){3,}"
    r"|sent\sfrom\smy\b|(?:fwd?|re|aw|wg|q|a)\d{0,3}\s?[:.)]|\$\s|>>>\s|(?:[\w.]+(?:Error|Exception)|Traceback)\b"
    r"|\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\(?\[?\d{1,2}:\d\d(?::\d\d)?(?:\s?[ap]m)?[\]).,]?\s+[A-Z][\w ]{0,30}:"
    r"|\[?(?-i:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|CRITICAL|FATAL|INSERT|SELECT|UPDATE)\b"
    r"|(?-i:def|class|import|const|let|var|function)\s[\w{}\[\], ]{1,60}(?:[=(:{;]|$)|[^.!?]*(?:;|=>|->|[{}])\s*$"
    r"|[\w.]{1,60}\s?[+:]?=\s?[\"'\[{(])",
    re.IGNORECASE,
)
_INSIDE = re.compile(r"</?[a-z!|?]|&lt;|\{\{|\[/?\w+\]|\s(?:#|//|--)\s|\|.*\||\t.*\t|\[INST|\\\w+\{", re.IGNORECASE)
_ITEM = re.compile(r"(?: {4}|\t)|\s*(?:[-*+•‣◦–—]|\(?\d{1,3}[.)]|\(?[a-z]\))\s")
_NUMBER = re.compile(r"\W*(?:\d{1,3}|[a-z])[.)]\W*", re.IGNORECASE)
_FULL_STOP = re.compile(r"(?<=[.!?…])\s+")
_COLON = re.compile(r":(?!\d|//)")
_SPEAKS = re.compile(rf"\W*(?:[\w'’]+\W+){{0,3}}?{_FIRST.pattern}", re.IGNORECASE)
"""How somebody begins to speak in the first person: "well, I live here"."""
_OWN_LABEL = re.compile(
    r"\W*(?:(?:and|also|so|oh|ok|okay|well|hi|hey|hello|thanks)[ ,]+)*"
    r"(?:(?:(?:quick|small|short|just an?|another|one more|one|important|my)\s)*"
    r"(?:update|(?:\w+ )?news(?: from me)?|for the record|forgot"
    r"|ps|p\.s\.|note|note to self|fyi|btw|by the way|fact|fun fact|about me"
    r"|mine|ours|correction|reminder|thing"
    r"|important|remember|save this|please note|please remember|confession|background|context)"
    r"|(?:an?|one|two|first|another)\s(?:\w+\s){0,2}(?:rule|request|wish|thing)s?"
    r"(?:\s(?:for|to)\s(?:\w+\s){0,4}?(?:you|me|us|my|our|good)\b[^:.]{0,30})?):",
    re.IGNORECASE,
)
"""Labels by which people announce words of their own: "Update: I moved"."""
_DEAR = re.compile(r"\W*(?:dear\s|to whom it may)", re.IGNORECASE)
_SIGNED = re.compile(
    r"(?:(?:^|[\n.!?]\s*)(?i:(?:all|with|my|kind|best|warm|many|yours|love|kisses|cheers|regards|sincerely|greetings|thanks"
    r"|xx?o?)\b[ \w]{0,20})[,\n]\s*|(?:^|\s)[-–—~]{1,2}\s?|[,;]\s(?:signed|by)\s)"
    r"[A-Z][\w.]*(?:\s[A-Z][\w.]*){0,3}\W*$|\bregards\b",
)
_SAYS = (
    r"(?:says|said|wr(?:ote|ites)|reads?|goes|text(?:ed|s)|e?-?mail(?:ed|s)|messaged|posted|tweeted|quoted?|sang|sings?"
    r"|repl(?:ied|ies)|shout(?:ed|s)|add(?:ed|s)|claim(?:ed|s)|stat(?:es|ed))"
)
_TEXT = re.compile(
    r"\b(?:texts?|e?-?mails?|letters?|messages?|notes?|notices?|posts?|tweets?|comments?|reviews?|lyrics|songs?|poems?|novels?"
    r"|stor(?:y|ies)|scripts?|scenes?|prompts?|instructions?|rules?|guidelines|polic(?:y|ies)|terms|readme|manuals?|articles?"
    r"|websites?|blogs?|ads?|adverts?|flyers?|leaflets?|signs?|banners?|posters?|captions?|headlines?|transcripts?"
    r"|logs?|diar(?:y|ies)|journals?|quot(?:es?|ations?)|chapters?|paragraphs?|passages?|drafts?|essays?|profiles?|bios?"
    r"|biograph(?:y|ies)|cvs?|r[ée]sum[ée]s?|documents?|templates?|samples?|examples?|output"
    r"|snippets?|speech|jokes?|sayings?|proverbs?|mottos?|testimonials?|verses?|chats?|conversations?"
    r"|games?|plays?|roles?|characters?|lies?|slogans?|grammar|spelling|wording|translations?|sentences?|excerpts?|extracts?|quotes)\b",
    re.IGNORECASE,
)
"""Nouns for what is written or said."""
_FINITE = re.compile(r"['’]s\s|\b(?:is|are|was|were|has|have|had|will|can|do|does|did|always|never)\b", re.IGNORECASE)
_POINTS = re.compile(r"\b(?:this|these|that|those|here|below|above|following|follow(?:s|ing)?|it|so)\b", re.IGNORECASE)
_POINTS_ON = re.compile(
    r"\b(?:this|these|below|following|follows|like so)\W*$|\b(?:this|these)\b[^?]{0,40}\?\W*$"
    r"|^\W*here(?:['’]s|\s(?:is|are|comes?))\b",
    re.IGNORECASE,
)
_WORKED = re.compile(
    r"\W*(?:(?:please|pls|can|could|would|will|you|now|ok|okay|and|then|so|just|kindly|to|help|me|us|let['’]?s|let|should|i|i['’]d"
    r"|we|need|want|like)\W+){0,6}(?:translat|proof-?read|rephras|reword|re-?writ|paraphras|polish|summari[sz]|shorten|edit\b"
    r"|correct\b|improve\b|transcrib|role-?play|pretend|imagin|suppos|act\s(?:as|like)|impersonat|dictat|quot|forwarding|fwd)"
    r"|.*\b(?:translated|proof-?read|reworded|rewritten|summari[sz]ed|forwarded|copied|pasted)\W*$",
    re.IGNORECASE,
)
"""What is done with a text that is somebody's, or what opens a play."""
_PLAYED = re.compile(r"\W*(?:(?:so|now|ok|okay)[, ]+)?you(?:['’]re|\sare)\s(?:an?|the|my|playing)\b", re.IGNORECASE)
_SPOKEN = re.compile(
    rf"\b(?<!\bi )(?<!\bi['’]ve )(?<!\bhave ){_SAYS}\b"
    r"(?:\s(?:me|us|him|her|them|back|aloud)|\s(?:to|in|on|at|for)(?:\s\w+){1,2})?\W*$",
    re.IGNORECASE,
)
"""Ends in a verb of saying: what was said may follow."""
_DIRECT = re.compile(
    rf"(?<!\bi )\b(?:(?:{_SAYS}|told|tells|asked|asks|answer(?:ed|s))(?:\s(?:me|us|him|her|them|to\s\w+))?"
    r"|(?:is|was|were|be|['’]s)\s(?:all\s|just\s)?like)\s?"
    r"[:,;–—-]?\s?[\"']?(?-i:I|I['’]\w{1,3}|[Mm]y|[Ww]e|[Oo]ur)\b"
    rf"|\b(?:begins?|starts?|opens?|goes)(?:\swith|\slike)?\s[\"']?(?-i:I|I['’]\w{{1,3}}|My|We|Our)\b",
    re.IGNORECASE,
)
_ASCRIBED = re.compile(
    rf"[,;…\"–—-]\s*(?:(?!i\b|we\b)[\w'’]{{1,30}}\s){{0,3}}(?<!\bi ){_SAYS}\b"
    r"(?:\s+(?!that\b|about\b|to\b|so\b)[\w'’]{1,30}){0,2}\W*$|\bso\s(?:goes|says|said|wrote)\b",
    re.IGNORECASE,
)
"""Ends a sentence by saying whose it is: ", Anna wrote"."""
_ASCRIBES = re.compile(
    r"\W*(?:that|this|it|these|those|all)(?:['’]s|\s(?:is|was|are|were|comes?|came))\s(?:\w+\s){0,2}"
    rf"(?:(?:what|how|from|by|as)\b.*(?:\b{_SAYS}\b|{_TEXT.pattern})"
    rf"|(?:an?|the|his|her|their|\w+['’]s)\s(?:\w+\s){{0,2}}{_TEXT.pattern})",
    re.IGNORECASE,
)
"""Says that what stands before is somebody else's: "That is what Anna wrote"."""
_TAIL = 120
"""Characters of a sentence or text in which its end is looked at."""
_CAPITALS = re.compile(r"(?:.*[,:–—-]\s)?[A-Z][A-Z -]{2,}\.")
_SIGNATURE = re.compile(r"[-–—~]{1,2}\s?[A-Z][\w.]*(?:\s[A-Z][\w.]*){0,2}\W*")
_BEFORE = re.compile(rf"\W*[A-Z]\w+\s[-–—>~|]\s|.*(?<!\bi )\b{_SAYS},\s(?-i:[A-Z])", re.IGNORECASE)
"""Whose words follow, without a colon: "Anna - Always knock", "she said, Always knock"."""
_SINGLE = re.compile(r"(?<!\w)'(?=[^\W\d])((?:[^'\n]|(?<=\w)'(?=\w))*)'(?!\w)")
_UNCLOSED = re.compile(
    r"(?<!\w)'(?!(?:cause|til|em|n|twas|tis|bout|round)\b)(?=[^\W\d])(?:[^'\n]|(?<=\w)'(?=\w))*$|\s'$",
    re.IGNORECASE,
)
_MOST_QUOTED = 6
"""Words of a quotation that may be a title or a term."""
_FRAGMENT = 6
"""Words of a sentence up to which it may be a heading: "Diary of Anne, page 3."."""


def own_sentences(text: str, sentences: Sequence[Span]) -> int:
    """Return how many of a message's sentences, from the first on, are its speaker's own words.

    Args:
        text: the text of the message.
        sentences: spans of its sentences, in characters.
    """
    return _own_sentences(text, tuple(sentences))


@text_cache(1_024)
def _own_sentences(text: str, sentences: tuple[Span, ...]) -> int:
    folded = text.translate(_FOLDED)
    if _SIGNED.search(folded[-_TAIL:]) or _ITEM.match(folded):
        return 0
    first, count = sentences[0][0] if sentences else 0, None
    for number, (start, end) in enumerate(sentences):
        sentence = folded[start:end]
        ascribed = _ASCRIBED.search(sentence, max(0, len(sentence) - _TAIL))
        if (
            _SIGNATURE.fullmatch(sentence)
            or _ASCRIBES.match(sentence)
            or (ascribed and _FIRST.search(sentence, 0, ascribed.start()))
        ):
            return 0
        if count is not None:
            continue
        if "\n" in folded[first:end] or _is_foreign(sentence):
            count = number
        elif _announces(sentence):
            count = number + 1
    return len(sentences) if count is None else count


def _is_foreign(sentence: str) -> bool:
    """Return whether other text begins in a sentence."""
    if any(_announces(part) for part in _FULL_STOP.split(sentence)[:-1]) or _NUMBER.fullmatch(sentence):
        return True
    if _LINE.match(sentence[:400]) or _INSIDE.search(sentence) or _DEAR.match(sentence):
        return True
    if not _OWN_LABEL.match(sentence) and any(
        _SPEAKS.match(sentence, place.end()) for place in _COLON.finditer(sentence)
    ):
        return True
    return bool(_BEFORE.match(sentence) or _DIRECT.search(sentence) or _quotes(sentence))


def _quotes(sentence: str) -> bool:
    """Return whether a sentence holds a quotation that is more than a title, or is not closed within it."""
    marks = [found.span() for found in re.finditer(r"(?:`|(?<!\d)\")+", sentence)]
    if len(marks) % 2 or _UNCLOSED.search(sentence):
        return True
    quoted = [sentence[first[1] : last[0]] for first, last in zip(marks[::2], marks[1::2], strict=True)]
    quoted += [found[1] for found in _SINGLE.finditer(sentence)]
    speech = any(len(words.split()) > _MOST_QUOTED or _FIRST.search(words) for words in quoted)
    return speech or re.search(r":\s*[\"']", sentence) is not None


def _announces(sentence: str) -> bool:
    """Return whether what follows a sentence may be a text that it speaks of."""
    if _COLON.search(sentence) and not _OWN_LABEL.match(sentence):
        return True
    if _WORKED.match(sentence) or _PLAYED.match(sentence):
        return True
    if _POINTS_ON.search(sentence) or _SPOKEN.search(sentence) or _CAPITALS.fullmatch(sentence):
        return True
    if not _TEXT.search(sentence):
        return False
    bare = len(sentence.split()) <= _FRAGMENT and not (_FIRST.search(sentence) or _FINITE.search(sentence))
    return bare or sentence.rstrip().endswith("?") or _POINTS.search(sentence) is not None


_QUESTION = re.compile(
    r"\W*(?:(?:and|so|ok|okay|hi|hey|hello|thanks|well)\W+)*(?:what|where|when|who|whom|how|why|which|is|are|was|were|do|does|did"
    r"|has|have)\b(?!.*\b(?:am|was) i\b)[^?.!:]{1,120}\?",
    re.IGNORECASE,
)
_SAYING = re.compile(rf"\b(?:say|{_SAYS})\b", re.IGNORECASE)
_BACK = re.compile(r"(?:\W*[\w'’]+\W+){0,4}(?:that|it|those)\b", re.IGNORECASE)
_MOST_PLAIN = 300
"""Characters up to which a message can be plain talk, and of the end of one that asks for something."""
_MOST_BARE = 3
"""Words of a message that may be nothing but a judgement."""
_MOST_BACK = 120
"""Characters of a message that takes another one back."""


def is_plain_talk(text: str) -> bool:
    """Return whether a message is nothing but standing wishes, thanks and greetings, and plain questions.

    So it says nothing of what follows: it begins no game, and neither announces a text nor asks for one.
    """
    spans = split(text) if len(text) <= _MOST_PLAIN else []
    if any(find_wishes(text, spans)):
        return True
    asked = (text[start:end].translate(_FOLDED) for start, end in spans)
    return bool(spans) and all(
        is_greeting(one) or (_QUESTION.fullmatch(one) and not _is_of_texts(one)) for one in asked
    )


def asks_for_words(text: str) -> bool:
    """Return whether a reply to an assistant's message may be in words of somebody else.

    A question that the message ends with has to ask the user of themselves, not "what would Anna say?".
    """
    text = text[-_MOST_PLAIN:]
    last = "".join(text[start:end] for start, end in split(text)[-1:]).translate(_FOLDED)
    asks_others = "?" in last and not re.search(r"\byou(?:r|['’]\w+)?\b", last, re.IGNORECASE)
    return asks_others or _TEXT.search(last) is not None or _SAYING.search(last) is not None


def points_back(text: str) -> bool:
    """Return whether a message may judge the one before it or ask for something to be done with it: "Just kidding"."""
    words = text.split()
    return len(text) <= _MOST_BACK and (
        _BACK.match(text) is not None
        or (len(words) <= _MOST_BARE and not _FIRST.search(text) and not is_greeting(text))
    )


def _is_of_texts(sentence: str) -> bool:
    return any(pattern.search(sentence) for pattern in (_TEXT, _POINTS, _SAYING))
