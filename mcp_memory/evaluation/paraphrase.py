"""Paraphrase questions by rules, without a language model, to measure whether lessons carry over to other wordings.

The opening of a question is replaced (`openings`), clauses change places, "Ann's dog" becomes "the dog of Ann" or the
reverse, and everyday words are replaced by synonyms (`synonyms`). Names (capitalised words, and what stands between two
of them and belongs to them), quotations and numbers stay as they are. The result depends on the question and the seed
only. English only: a question in another language stays as it is.

Two measures say how far a paraphrase differs from its question: the share of the question's words, names left out,
whose lemma the paraphrase lacks (`changed`), and ROUGE-L of the two (Lin 2004, F measure with beta = 1).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from random import Random

from mcp_memory.evaluation.openings import NAME, replace_opening
from mcp_memory.evaluation.synonyms import agents, replace_synonyms
from mcp_memory.language.tokens import stems
from mcp_memory.rules.facts.verbs import inflection

ENOUGH = 0.3
"""Least share of changed words, names left out, for a question to count as paraphrased."""
DRAWS = 12
"""Wordings that are tried for one question; the first with enough changes is taken, else the one with the most."""

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
    """The paraphrase of a question.

    Attributes:
        text: the paraphrase.
        changed: share of the question's words, names left out, that the paraphrase lacks, in [0, 1].
    """

    text: str
    changed: float

    @property
    def enough(self) -> bool:
        """Whether it differs enough from the question to count as another wording."""
        return self.changed >= ENOUGH


def paraphrase(question: str, seed: int = 0) -> Paraphrase:
    """Return a paraphrase of the question; the seed determines it."""
    drawn: list[Paraphrase] = []
    for draw in range(DRAWS):
        text = _draw(question, Random(f"{seed}/{draw}/{question}"))
        drawn.append(Paraphrase(text, changed(question, text)))
        if drawn[-1].enough:
            break
    return max(drawn, key=lambda each: each.changed)


def changed(question: str, text: str) -> float:
    """Return the share of the question's words, names left out, whose lemma the text lacks, in [0, 1]."""
    have = {_lemma(word) for word in _words(text)}
    plain = [word for i, word in enumerate(_words(question)) if not _is_name(word, first=i == 0)]
    return sum(_lemma(word) not in have for word in plain) / len(plain) if plain else 0.0


def _draw(question: str, rng: Random) -> str:
    hidden, names = _hide_names(_END.sub("", question.strip()).replace("’s ", "'s "))
    text = _swap_possessives(_swap_relatives(_swap_agents(_reopen(hidden, rng), rng)))
    text = " ".join(replace_synonyms(text.split(), rng))
    asks = re.search(r"(?:^|, )(?:please |tell me |give me |name whoever )", text) is None
    for place, name in reversed(list(enumerate(names))):
        text = text.replace(chr(0xE000 + place), name)
    return text[:1].upper() + text[1:] + ("?" if asks else ".")


def _hide_names(text: str) -> tuple[str, list[str]]:
    """Return the text in lower case, each name, quotation and number replaced by one character, and the originals."""
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


def _reopen(text: str, rng: Random) -> str:
    """Replace the opening; a final clause of time may move to the front, if it can only belong to the main clause."""
    found = re.fullmatch(r"([^,]+?),? ((?:after|before|during|while|when|since) [^,]+)", text)
    if not found or re.search(r"\b(?:who|which|that|whose|and|or|if)\b", found[1].partition(" ")[2]):
        return replace_opening(text, rng)
    return f"{found[2]}, {replace_opening(found[1], rng)}" if rng.random() < 0.6 else replace_opening(text, rng)


def _swap_relatives(text: str) -> str:
    """Swap relative pronouns: "the person who" and "the person that", "the city that" and "the city which"."""
    text = re.sub(r"(?<=[a-z]) (who) (?=[a-z])", " @that ", text)

    def which(found: re.Match[str]) -> str:
        return found[0] if inflection(found[1]) or found[1] in _NO_RELATIVE else f"{found[1]} which"

    text = re.sub(r"\b([a-z]+) that\b", which, text).replace("@that", "that")
    return re.sub(
        r"\b(place|city|town|country|state|county|region|area|continent|year|school) where\b", r"\1 in which", text
    )


def _swap_agents(text: str, rng: Random) -> str:
    """Replace an agent noun by its action: "the author of X" becomes "the person who wrote X"."""
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


def _swap_possessives(text: str) -> str:
    """Swap "Ann's dog" and "the dog of Ann", for nouns that allow both and names that nothing follows."""
    nouns = "|".join(_OF)
    if found := re.search(rf"\bthe ({nouns}) of (?:the )?({NAME})(?!'|\w| (?:and|or|of|in|,))", text):
        return f"{text[: found.start()]}{found[2]}'s {found[1]}{text[found.end() :]}"
    if found := re.search(rf"(?<!of )({NAME})'s? ({nouns})\b(?!'| (?:and|or|of)\b)", text):
        return f"{text[: found.start()]}the {found[2]} of {found[1]}{text[found.end() :]}"
    return text


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+(?:['’][^\W_]+)*", text)


def _is_name(word: str, *, first: bool) -> bool:
    if any(letter.isdigit() for letter in word):
        return True
    return word[0].isupper() and not (first and word.lower() in _OPENERS)


def _lemma(word: str) -> str:
    """Return the lemma of a word, so that "went" instead of "go" is no change."""
    folded = word.lower()
    if folded in ("is", "are", "was", "were", "be", "been", "being", "am"):
        return "be"
    if folded in ("does", "did", "done"):
        return "do"
    read = inflection(folded)
    found = stems(read.lemma if read else folded.removesuffix("'s"))
    return found[0] if found else folded
