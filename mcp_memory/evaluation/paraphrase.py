"""Questions asked in other words, by rules and without a language model: does what was learnt carry over?

A question is opened otherwise (`openings`), clauses change places, "Ann's dog" becomes "the dog of Ann" or the other
way round, and everyday words are replaced by synonyms (`synonyms`). Never touched: names (what is written with a
capital, and what stands between two such words and belongs to them), quotations, numbers. Everything is decided by the
question and the seed. English only; a question in another language stays as it is.

How far a paraphrase went is told by two measures: the share of the question's words, names left out, whose lemma the
paraphrase does not have (`changed`), and ROUGE-L (Lin 2004, F measure with beta = 1) of the two.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from random import Random

from mcp_memory.evaluation.openings import NAME, opened
from mcp_memory.evaluation.synonyms import agents, reworded
from mcp_memory.language.tokens import stems
from mcp_memory.rules.facts.verbs import inflection

ENOUGH = 0.3
"""A paraphrase has at least this share of its question's words changed, names left out."""
DRAWS = 12
"""How many wordings are tried for one question; the first with enough changed is taken, else the most changed."""

# ruff: noqa: SIM905 - a list of words is read as words
_OPENERS = frozenset(
    "what which who whom whose when where why how is are was were do does did has have had can could will would should"
    " in on at for from to of by with during after before since until under the a an if according besides while as"
    " what's who's where's name tell and or through between upon my his her their its our your he she they it i"
    " both out about around over among within approximately".split()
)
_CAPITAL = r"[^\W\d_a-z][^\s,;:?!\"“”]*(?<!'s)(?<!’s)(?<!')"
_NUMBER = r"[^\s,;:?!\"“”]*\d[^\s,;:?!\"“”]*"
_LINK = r"(?:of|the|and|de|da|del|des|la|le|von|van|der|den|du|di|in|on|for|to|at|a|with|by|from|as|&|'s)"
_FIXED = re.compile(r"\"[^\"]+\"|“[^”]+”|‘[^’]+’|(?<!\w)'[^']+'(?!\w)|" + rf"(?<!\w)(?:{_CAPITAL}|{_NUMBER})")
_NO_RELATIVE = frozenset(
    "so it such case true fact idea say reason time way day date year moment and or than as if of in at by from with"
    " about for on to".split()
)
_END = re.compile(r"\s*[?.!]+\s*$")


@dataclass(frozen=True, slots=True)
class Paraphrase:
    """A question in other words.

    Attributes:
        question: as it was.
        text: in other words.
        changed: share of its words that are no names and have gone, in [0, 1].
        rouge: ROUGE-L of the two, in [0, 1].
    """

    question: str
    text: str
    changed: float
    rouge: float

    @property
    def enough(self) -> bool:
        """Whether it is far enough from the question to count as another wording."""
        return self.changed >= ENOUGH


def paraphrase(question: str, seed: int = 0) -> Paraphrase:
    """Return the question in other words: the same ones for the same seed."""
    drawn: list[Paraphrase] = []
    for draw in range(DRAWS):
        text = _drawn(question, Random(f"{seed}/{draw}/{question}"))
        drawn.append(Paraphrase(question, text, changed(question, text), rouge_l(question, text)))
        if drawn[-1].enough:
            break
    return max(drawn, key=lambda each: each.changed)


def changed(question: str, text: str) -> float:
    """Return the share of the question's words, names left out, whose lemma is not in the text, in [0, 1]."""
    have = {_lemma(word) for word in _words(text)}
    plain = [word for i, word in enumerate(_words(question)) if not _named(word, first=i == 0)]
    return sum(_lemma(word) not in have for word in plain) / len(plain) if plain else 0.0


def rouge_l(one: str, other: str) -> float:
    """Return the F measure of the longest common subsequence of the words of two texts, case folded, in [0, 1]."""
    first, second = ([word.lower() for word in _words(text)] for text in (one, other))
    if not first or not second:
        return 0.0
    row = [0] * (len(second) + 1)
    for word in first:
        above = row[:]
        for i, against in enumerate(second, 1):
            row[i] = above[i - 1] + 1 if word == against else max(above[i], row[i - 1])
    return 2 * row[-1] / (len(first) + len(second))


def _drawn(question: str, rng: Random) -> str:
    hidden, names = _hidden(_END.sub("", question.strip()).replace("’s ", "'s "))
    text = _possessed(_relative(_agents(_asked(hidden, rng), rng)))
    text = " ".join(reworded(text.split(), rng))
    asks = re.search(r"(?:^|, )(?:please |tell me |give me |name whoever )", text) is None
    for place, name in reversed(list(enumerate(names))):
        text = text.replace(chr(0xE000 + place), name)
    return text[:1].upper() + text[1:] + ("?" if asks else ".")


def _hidden(text: str) -> tuple[str, list[str]]:
    """Return the text with each name, quotation and number as one character, in lower case, and what they stand for."""
    names: list[str] = []

    def hide(found: re.Match[str]) -> str:
        word = found[0]
        if found.start() == 0 and word.lower() in _OPENERS:
            return word.lower()
        names.append(word)
        return chr(0xE000 + len(names) - 1)

    def join(found: re.Match[str]) -> str:
        names.append(found[0])
        return chr(0xE000 + len(names) - 1)

    text = _FIXED.sub(hide, text)
    return re.sub(rf"{NAME}(?:(?:'s)?(?: {_LINK}){{0,3}} {NAME})+", join, text), names


def _asked(text: str, rng: Random) -> str:
    """Open the question otherwise; a clause of time at its end may come first, where nothing else could own it."""
    found = re.fullmatch(r"([^,]+?),? ((?:after|before|during|while|when|since) [^,]+)", text)
    if not found or re.search(r"\b(?:who|which|that|whose|and|or|if)\b", found[1].partition(" ")[2]):
        return opened(text, rng)
    return f"{found[2]}, {opened(found[1], rng)}" if rng.random() < 0.6 else opened(text, rng)


def _relative(text: str) -> str:
    """Say the relative pronoun otherwise: "the person who" and "the person that", "the city that", "the city which"."""
    text = re.sub(r"(?<=[a-z]) (who) (?=[a-z])", " @that ", text)

    def which(found: re.Match[str]) -> str:
        return found[0] if inflection(found[1]) or found[1] in _NO_RELATIVE else f"{found[1]} which"

    text = re.sub(r"\b([a-z]+) that\b", which, text).replace("@that", "that")
    return re.sub(
        r"\b(place|city|town|country|state|county|region|area|continent|year|school) where\b", r"\1 in which", text
    )


def _agents(text: str, rng: Random) -> str:
    """Say by a deed what was said by a noun: "the author of X" and "the person who wrote X"."""
    nouns = "|".join(agents())
    for pattern in (
        rf"\bthe (?P<who>{nouns}) of (?=(?:[a-z]+ ){{0,2}}{NAME}(?!'))",
        rf"(?P<name>{NAME})'s? (?P<who>{nouns})\b(?!')",
    ):
        if (found := re.search(pattern, text)) and rng.random() < 0.75:
            deed = rng.choice(agents()[found["who"]])
            name = f" {found['name']}" if "name" in found.groupdict() else " "
            return text[: found.start()] + deed + name + text[found.end() :]
    return text


_OF = (
    "mother father parents wife husband son daughter brother sister sibling siblings child children grandfather"
    " grandmother uncle aunt cousin spouse nationality birthplace hometown director author writer composer performer"
    " singer producer publisher founder designer creator owner capital population mayor president headquarters employer"
    " birthday career job dog cat pet house home reaction attitude opinion hobby hobbies plan plans goal goals"
    " screenwriter editor manager coach manufacturer developer"
).split()


def _possessed(text: str) -> str:
    """Turn "Ann's dog" into "the dog of Ann" and back, for nouns that take either and names that nothing follows."""
    nouns = "|".join(_OF)
    if found := re.search(rf"\bthe ({nouns}) of (?:the )?({NAME})(?!'|\w| (?:and|or|of|in|,))", text):
        return f"{text[: found.start()]}{found[2]}'s {found[1]}{text[found.end() :]}"
    if found := re.search(rf"(?<!of )({NAME})'s? ({nouns})\b(?!'| (?:and|or|of)\b)", text):
        return f"{text[: found.start()]}the {found[2]} of {found[1]}{text[found.end() :]}"
    return text


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+(?:['’][^\W_]+)*", text)


def _named(word: str, *, first: bool) -> bool:
    if any(letter.isdigit() for letter in word):
        return True
    return word[0].isupper() and not (first and word.lower() in _OPENERS)


def _lemma(word: str) -> str:
    """Return what a word is a form of, so that "went" for "go" is no change."""
    folded = word.lower()
    if folded in ("is", "are", "was", "were", "be", "been", "being", "am"):
        return "be"
    if folded in ("does", "did", "done"):
        return "do"
    read = inflection(folded)
    found = stems(read.lemma if read else folded.removesuffix("'s"))
    return found[0] if found else folded
