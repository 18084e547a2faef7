"""A noun phrase: what it is called, by whom it is owned, what stands beside it."""

from __future__ import annotations

from dataclasses import dataclass, field

from mcp_memory.rules.facts.words import Word

LEFT_OUT = "(left out)"
"""The common words of a subject that is not there, "moved to Oslo in May"."""


@dataclass(frozen=True, slots=True)
class Noun:
    """A noun phrase.

    Attributes:
        start: first character of the whole phrase.
        end: first character after it.
        text: without determiner and owner, as written; of a name after a common noun, both.
        head: the last common word in lower case, or of a mere name its last word.
        determiner: "the", "a", "two" …, in lower case.
        owner: whose it is.
        pronoun: "he", "i" … in lower case, where it is one.
        common: the common words before a name, or all of them where there is no name.
        name: the proper name.
        of: what it is of.
        named: whether any of its words is written like a name.
        also: what stands beside it in apposition.
        uncertain: whether "or" leaves open what it is.
    quoted: whether it stands in quotation marks.
        words: the place of its first word and of the first after it.
    times: those in brackets behind it.
    """

    start: int
    end: int
    text: str
    head: str
    determiner: str = ""
    owner: Noun | None = None
    pronoun: str = ""
    common: str = ""
    name: str = ""
    of: Noun | None = None
    named: bool = False
    also: tuple[Noun, ...] = ()
    uncertain: bool = False
    quoted: bool = False
    words: tuple[int, int] = field(default=(0, 0), compare=False)
    times: tuple[Word, ...] = ()
    within: tuple[tuple[str, Noun], ...] = ()

    @property
    def plural(self) -> bool:
        """Whether the head looks like a plural."""
        return (
            self.pronoun in ("we", "they")
            or (not self.name and self.head.endswith("s") and not self.head.endswith("ss"))
            or self.head in ("people", "children", "men", "women")
        )


def pronoun(word: Word, place: int) -> Noun:
    """Return a phrase that is nothing but a pronoun."""
    return Noun(word.start, word.end, word.text, word.low, pronoun=word.low, words=(place, place + 1))
