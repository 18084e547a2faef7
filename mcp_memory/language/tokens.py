"""Words and names by spelling: words and stems for comparison, an embedder's token count, ROUGE-L, names in texts.

Words are normalised so that a query matches in any language: case, width and compatibility forms (NFKC), Arabic vowel
signs and stretched letters, accents of Latin letters, invisible joiners. Scripts without spaces (Thai, Japanese,
Chinese, Korean …) cannot be split into words without a dictionary, so their runs become overlapping pairs of
characters; for Chinese characters and Hangul, where one character can be a word, also single characters. Stems and
stop words are English. Other languages pass through the stemmer almost unchanged, and alike on both sides of a
comparison.

A name is a run of capitalised words ("Newton Baker House", "Bank of England") or a text in quotation marks. The title
of a document is the given one, otherwise the subject of its first sentence. In scripts without capitals only quotation
marks and given titles count.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from mcp_memory.domain.relations import verbs
from mcp_memory.domain.turns import Turn
from mcp_memory.heap import dropped_with_texts, text_cache
from mcp_memory.language.expressions import WEEKDAY
from mcp_memory.language.iso import MONTHS
from mcp_memory.visible import MARKS, UNSPACED, readable, without_accents

if TYPE_CHECKING:
    from Stemmer import Stemmer

STOP_WORDS = frozenset(
    """
    a about above after again against all also am an and any are aren't as at be because been before being below
    between both but by can can't cannot could couldn't did didn't do does doesn't doing don't done down during each
    else ever every few for from further get gets getting got had hadn't has hasn't have haven't having he her here
    hers herself him himself his how i if in into is isn't it its itself just let me might more most much
    must mustn't my myself no nor not now of off oh ok okay on once one only or other our ours ourselves out over own
    per quite rather really same shall shan't she should shouldn't so some such than that the their theirs them
    themselves then there these they this those through to too under until up upon us very was wasn't we were weren't
    what when where which while who whom whose why will with within without won't would wouldn't yeah yes yet you your
    yours yourself yourselves
    """.split()  # noqa: SIM905 - a list of words is read as words
)
"""English words that carry too little meaning to search for, as `words` returns them."""

PICTURES = r"\u2600-\u27bf\u2b00-\u2bff\U0001f1e6-\U0001f1ff\U0001f300-\U0001f3fa\U0001f400-\U0001faff"
"""Emoji without skin tones; each is a word."""
_SINGLE = re.compile(r"[\u3007\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff]")
_ASCII_WORD = re.compile(r"[a-z0-9]+(?:'[a-z0-9]+)*")
_WORD = re.compile(
    rf"[{UNSPACED}]+|(?:(?![{UNSPACED}])[^\W_][{MARKS}]*)+(?:'(?:(?![{UNSPACED}])[^\W_][{MARKS}]*)+)*"
    rf"|[{PICTURES}]"
)
_UNSPACED_START = re.compile(rf"[{UNSPACED}]")
_NORMALISED = {
    **dict.fromkeys([0x00AD, 0x0307, 0x0640, 0x0670, *range(0x064B, 0x0660), *range(0x200B, 0x2010)]),  # removed
    **dict.fromkeys([*range(0x202A, 0x202F), *range(0x2060, 0x206A), 0xFEFF, *range(0xFE00, 0xFE10)]),
    **{ord(form): "ا" for form in "أإآٱ"},
    ord("ى"): "ي",
    ord("ة"): "ه",
    **{ord(form): "'" for form in "’ʼ＇‘"},
}
_ENGLISH_ENDING = re.compile(r"'(?:s|ll|re|ve|d|m)$")
_FRENCH_OPENING = re.compile(r"^(?:l|d|j|qu|n|c)'(?=\w{2})")


def words(text: str) -> list[str]:
    """Return the words of a text in order, normalised for comparison; each emoji is a word of its own."""
    text = text.lower() if text.isascii() else _normalise(text)
    if text.isascii():
        found: list[str] = _ASCII_WORD.findall(text)
    else:
        found = []
        for word in _WORD.findall(text):
            if _UNSPACED_START.match(word):
                found.extend(_character_pairs(word))
            else:
                found.append(word)
    if "'" in text:
        found = [_FRENCH_OPENING.sub("", _ENGLISH_ENDING.sub("", word)) if "'" in word else word for word in found]
    return found


def stems(text: str) -> list[str]:
    """Return the English Snowball stems of a text's words in order, without English stop words."""
    kept = [word for word in words(text) if word not in STOP_WORDS]
    stemmed: list[str] = _stemmer().stemWords(kept)
    return stemmed


def _normalise(text: str) -> str:
    # casefold() can decompose characters; the second NFKC composes them again.
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return without_accents(text).translate(_NORMALISED)


def _character_pairs(run: str) -> list[str]:
    """Return the overlapping character pairs of a run without spaces, preceded by characters that can be words."""
    if len(run) == 1:
        return [run]
    return _SINGLE.findall(run) + [run[place : place + 2] for place in range(len(run) - 1)]


_thread_local = threading.local()


@dropped_with_texts
def _new_stemmers() -> None:
    """Let each thread make a new stemmer, since a stemmer keeps the words that it has read."""
    global _thread_local
    _thread_local = threading.local()


def _stemmer() -> Stemmer:
    """Return this thread's stemmer; the object is not thread-safe."""
    stemmer: Stemmer | None = getattr(_thread_local, "stemmer", None)
    if stemmer is None:
        from Stemmer import Stemmer

        stemmer = _thread_local.stemmer = Stemmer("english")
    return stemmer


# Approximates a word piece of MiniLM's vocabulary: most English words, pieces of long ones, each other character.
_PIECE = re.compile(r"[A-Za-z]{1,9}|[0-9]{1,3}|[^\sA-Za-z0-9]")


def count_tokens(text: str) -> int:
    """Estimate the number of word pieces that MiniLM's tokenizer makes of a text, without its start and end marks.

    On English prose the estimate is within a few percent on average; an exact count needs the vocabulary.
    """
    return len(_PIECE.findall(text))


_AUXILIARIES = ("be", "do", "have")
_BASE_FORMS = {form: plain for plain, *forms in verbs().irregular if plain not in _AUXILIARIES for form in forms} | {
    "owned": "own", "owns": "own", "wed": "marry", "wedding": "marry", "died": "die", "dead": "die",
    "quitting": "quit", "favorite": "favourite", "favorites": "favourite", "favourites": "favourite",
    "color": "colour", "colors": "colour", "neighbor": "neighbour", "neighbors": "neighbour",
    "wives": "wife", "kids": "kid", "children": "child",
}  # fmt: skip


@text_cache(32_768)
def stem(word: str) -> str:
    """Return the stem of a word's base form: of "spoke" that of "speak"; a stop word is its own stem.

    A stemmer removes endings. Irregular verbs are looked up, and some other forms of one word ("wedding", "kids"). Both
    sides of a comparison need this, the words of a question and the words of the relation registry.
    """
    base = _BASE_FORMS.get(word, word)
    return next(iter(stems(base)), base)


def indexed_forms(found: str) -> frozenset[str]:
    """Return what `stems` gives of the words that have a stem (`stem`): "leav" and "left" for that of "leave"."""
    return frozenset((found, *_irregular().get(found, ())))


@cache
def _irregular() -> Mapping[str, Sequence[str]]:
    """Return the stems of irregular forms by the stem of their base form."""
    found: dict[str, list[str]] = defaultdict(list)
    for form in _BASE_FORMS:
        found[stem(form)] += stems(form)
    return found


def ending_removed(word: str) -> str:
    """Return the Snowball stem of a word alone, of a stop word as well: of "moving" and "moved" that of "move"."""
    found: str = _stemmer().stemWord(word)
    return found


def rouge_l(one: Sequence[str], other: Sequence[str]) -> float:
    """Return ROUGE-L of two texts (Lin 2004): the F-measure of their longest common subsequence of words, in [0, 1].

    It is 0 if one of them has no words.

    Args:
        one: words, as `words` returns them.
        other: likewise.
    """
    if not one or not other:
        return 0.0
    lengths = [0] * (len(other) + 1)
    for word in one:
        diagonal = 0
        for place, against in enumerate(other, start=1):
            above = lengths[place]
            lengths[place] = diagonal + 1 if word == against else max(above, lengths[place - 1])
            diagonal = above
    return 2 * lengths[-1] / (len(one) + len(other))


# Names

_QUOTED = re.compile(
    r'"([^"\n]{1,120})"|“([^”\n]{1,120})”|„([^“”\n]{1,120})[“”]|«([^»\n]{1,120})»|「([^」\n]{1,120})」'
)
_NAME_WORD = re.compile(r"\w[\w'’&.-]*")
_JOINING = frozenset(("of", "the", "de", "del", "la", "von", "van", "der", "den", "du", "&"))
_OPENERS = frozenset(
    words(
        "across along amid among around behind beside besides beyond despite inside like near nearby outside since"
        " toward towards unlike anybody anyone anything everybody everyone everything nobody none nothing somebody"
        " someone something whatever whenever wherever whoever please hi hello hey thanks thank sorry correction"
    )
)
"""Words beside the stop words that often start a sentence, capitalised, before a name ("Behind Ann")."""
_OPENING_WORDS = STOP_WORDS | _OPENERS
_POSSESSIVE = re.compile(r"['’]s?$")
_BRACKETS = re.compile(r"\s*[(（\[][^)）\]]{0,200}[)）\]]")
_ARTICLE = re.compile(r"^(?:the|an?)\s+", re.IGNORECASE)
_VERB = re.compile(r"[,;:]|\s(?:is|are|was|were|has|had|refers|began|became|consists?|contains?)\s", re.IGNORECASE)
_WORK = re.compile(r"(?:\"[^\"\n]{1,80}\"|“[^”\n]{1,80}”|«[^»\n]{1,80}»)(?=,|\s+(?:is|are|was|were)\s)")
_WITHIN = _JOINING | {"and", "for"}
_COLON = re.compile(r"\s*:\s|：")
_SENTENCE_END = re.compile(r"\w{4,}[.!?]\s")
_READ_CHARS = 400  # characters of a title or text that are read
HEAD_LENGTH = 10
"""Most words of a title; a longer one is a sentence."""


def names(text: str) -> tuple[str, ...]:
    """Return the names in a text as `readable` spells it, each once: the quoted ones, then the capitalised, in order.

    A name never starts with an English stop word, nor with one of some other words at the start of the text, where any
    word is capitalised.
    """
    text = readable(text)
    quoted = [next(group for group in found.groups() if group) for found in _QUOTED.finditer(text)]
    found = list(_NAME_WORD.finditer(text))
    capitalised: list[str] = []
    place = 0
    while place < len(found):
        opens = place == 0 and found[0][0].lower() in _OPENERS
        if found[place][0][0].isupper() and not opens and not STOP_WORDS.issuperset(words(found[place][0])):
            last = place
            while following := _following(text, found, last):
                last = following
            capitalised.append(_POSSESSIVE.sub("", text[found[place].start() : found[last].end()]).rstrip(".-'’&"))
            place = last
        place += 1
    return tuple(dict.fromkeys(name for name in (*(name.strip() for name in quoted), *capitalised) if name))


def head(title: str | None, text: str) -> tuple[str, ...]:
    """Return the words of the topic of a document, folded as `words` folds them; empty if it is unknown.

    Args:
        title: the title of the document. Words in brackets only distinguish it from others of the same name, and words
            after a colon name a part of it ("Blue Mill: History" is about the Blue Mill).
        text: the document, if there is no title: a work in quotation marks at its start, otherwise a name, otherwise
            the words before the first verb or comma.
    """
    if title and title.strip():
        whole = _BRACKETS.sub(" ", title[:_READ_CHARS]).strip()
        said = _COLON.split(whole)[0] or whole
    else:
        said = _subject(text)
    found = words(_ARTICLE.sub("", said.strip()))
    return tuple(found) if len(found) <= HEAD_LENGTH and not STOP_WORDS.issuperset(found) else ()


def short(title: str | None, about: Sequence[str]) -> tuple[str, ...]:
    """Return the title of a document as it is mostly mentioned, if that is shorter; otherwise nothing.

    First sentences write a name out ("Jane Ann Roe was a judge") that others cut to its first and last word. A title
    is the usual name already.
    """
    if (title and title.strip()) or not 3 <= len(about) <= 4 or not all(word.isalpha() for word in about):
        return ()
    return () if STOP_WORDS.intersection(about) or _JOINING.intersection(about) else (about[0], about[-1])


def _subject(text: str) -> str:
    """Return the work or the name with which a text opens, up to its first verb; empty if it opens with neither."""
    opening = _BRACKETS.sub(" ", text[:_READ_CHARS].lstrip())
    if work := _WORK.match(opening):
        return work[0].strip('"“”„«» ,')
    verb = _VERB.search(opening)
    subject = _ARTICLE.sub("", opening[: verb.start()] if verb else "")
    said = subject.split()
    # Only a name is a head: "in those years" opens many texts, as "In the spring" does, and so do whole sentences.
    if (
        not said
        or not _begins_name(said[0])
        or _OPENING_WORDS.issuperset(words(said[0]))
        or _SENTENCE_END.search(subject)
    ):
        return ""
    length = next((n for n, word in enumerate(said) if not _begins_name(word) and word not in _WITHIN), len(said))
    while length and said[length - 1] in _WITHIN:
        length -= 1
    if sum(map(_begins_name, said[:length])) > 1:
        return " ".join(said[:length])  # "Red Mill may refer to"
    return "" if said[0][0].isdigit() else subject  # "Red squirrels": one capital alone opens any sentence


def _begins_name(word: str) -> bool:
    return word.lstrip("\"“„«'")[:1].isupper() or word[:1].isdigit()


def _following(text: str, found: list[re.Match[str]], last: int) -> int:
    """Return the place of the next capitalised word of a name, after at most two joining words; 0 for none."""
    for place in range(last + 1, min(last + 4, len(found))):
        if text[found[place - 1].end() : found[place].start()] != " ":
            return 0
        if found[place][0][0].isupper() and not _POSSESSIVE.search(found[place - 1][0]):
            return place
        if found[place][0].lower() not in _JOINING:
            return 0
    return 0


_TIME = re.compile(rf"(?:{'|'.join(MONTHS)}|{WEEKDAY})s?", re.IGNORECASE)


def mentions(turn: Turn, sentence: str) -> tuple[str, ...]:
    """Return the entities that a sentence of a turn mentions, as written, each once (GAM-RAG's index, §3.1.1).

    The paper uses spaCy's named entities. Here they are the capitalised and quoted names of the sentence, preceded by
    the usual referent of its pronouns: the title of a document, the speaker of a message. A month or day of the week is
    a time and not an entity.
    """
    named = (name for name in names(sentence) if not _TIME.fullmatch(name))
    return tuple(dict.fromkeys(name for name in (_about(turn), *named) if name))


def _about(turn: Turn) -> str:
    if turn.kind == "document":
        return _head(turn.title, turn.text)
    return turn.speaker or turn.role or ""


@text_cache(1)  # the sentences of a document come one after another
def _head(title: str | None, text: str) -> str:
    return " ".join(head(title, text))
