"""Read noun phrases and lists of them: "my sister Anna", "professor of astronomy", "French, Polish and some Dutch".

A phrase ends before a word that no phrase can hold: a preposition, a verb, an adverb, a time. Its last common noun is
its head, and the capitalised words behind that are its name. A comma and "and" join phrases to a list, unless the
second says who the first is: "my boss, Linda Farrow," is one phrase with an apposition.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import pairwise

from mcp_memory.language.vocabulary import RELATIVES
from mcp_memory.rules.facts import grammar
from mcp_memory.rules.facts.grammar import Form, inflection
from mcp_memory.rules.facts.tables import NATIONALITIES, OWNERS, closed, nouns
from mcp_memory.rules.facts.words import Word

OMITTED = "(left out)"
"""The ``common`` value of a subject that the clause leaves out, "moved to Oslo in May"."""


@dataclass(frozen=True, slots=True)
class NounPhrase:
    """A noun phrase.

    Attributes:
        start: first character of the whole phrase.
        end: first character after it.
        text: without determiner and owner, as written; with both parts of a name behind a common noun.
        head: the last common noun in lower case; the last word of a bare name.
        determiner: "the", "a", "two" …, in lower case.
        owner: the possessor.
        pronoun: "he", "i" … in lower case, if the phrase is a pronoun.
        common: the common words before a name, or all of them if there is no name.
        name: the proper name.
        of: the phrase behind "of".
        named: whether any of its words is capitalised like a name.
        appositions: phrases in apposition to it.
        uncertain: whether "or" leaves open what it is.
        times: the times in brackets behind it.
        next_index: index of the first word after it.
    """

    start: int
    end: int
    text: str
    head: str
    determiner: str = ""
    owner: NounPhrase | None = None
    pronoun: str = ""
    common: str = ""
    name: str = ""
    of: NounPhrase | None = None
    named: bool = False
    appositions: tuple[NounPhrase, ...] = ()
    uncertain: bool = False
    times: tuple[Word, ...] = ()
    next_index: int = field(default=0, compare=False)

    @property
    def plural(self) -> bool:
        """Whether the head looks like a plural."""
        return self.pronoun in ("we", "they") or (
            not self.name and self.head.endswith("s") and not self.head.endswith("ss")
        )


def pronoun_phrase(words: Sequence[Word], index: int, pronoun: str) -> NounPhrase:
    """Return a word as the phrase of a pronoun, "my" as that of "i"."""
    word = words[index]
    return NounPhrase(word.start, word.end, word.text, pronoun, pronoun=pronoun, next_index=index + 1)


MOST_WORDS = 9
"""Words in a phrase; a longer run of words is no phrase."""
_FINITE: frozenset[Form] = frozenset(("past", "third"))
_NAMING = frozenset(("called", "named", "nicknamed"))
_DESCRIBING = frozenset(("first", "early", "late", "daily", "weekly", "monthly", "full-time", "part-time", "online"))
"""Adverbs that are adjectives behind an owner or an article."""


def read_phrase(
    words: Sequence[Word], index: int, *, subject: bool = False, verb_seen: bool = False
) -> NounPhrase | None:
    """Return the phrase that begins at ``index``, or None.

    Args:
        words: the words of the sentence.
        index: the index of its first word.
        subject: whether the verb is expected after it, so that a verb ends it.
        verb_seen: whether the clause has its verb already.
    """
    first, owner, determiner = index, None, ""
    while index < len(words) and words[index].kind == "word" and not (words[index].capital and index):
        low = words[index].low
        if low in OWNERS and not (low == "her" and grammar.ends_phrase(words, index + 1)):
            owner = pronoun_phrase(words, index, OWNERS[low])
        elif low in closed.DETERMINERS:
            determiner = low
        else:
            break
        index += 1
    if index >= len(words):
        return None
    low = words[index].low
    if index == first and low in closed.NOMINATIVE | closed.OBJECTIVE:
        return pronoun_phrase(words, index, low)
    core = index
    last = min(len(words), index + 2 * MOST_WORDS)  # owners of owners end somewhere: "Ann's sister's dog's …"
    while index < last and index - core < MOST_WORDS and not _is_boundary(words, core, index, subject, verb_seen):
        if index > core and _is_possessive(words, index):
            owner = _make_phrase(words, first, core, index, determiner, owner)
            determiner, core = "", index + 1
        index += 1
    if index == core:
        return None
    phrase = _make_phrase(words, first, core, index, determiner, owner)
    naming = index + 1 < len(words) and words[index].low in _NAMING and words[index + 1].capital
    if naming and (called := read_phrase(words, index + 1, subject=True)):
        phrase = replace(phrase, name=called.text, named=True, end=called.end, next_index=called.next_index)
    index = phrase.next_index
    if index < len(words) and words[index].low == "of":
        inner = read_phrase(words, index + 1, subject=subject, verb_seen=verb_seen)
        if inner:
            article = words[index + 1].text + " " if words[index + 1].low in ("the", "a", "an") else ""
            of = f"{inner.owner.text}'s {inner.text}" if inner.owner and not inner.owner.pronoun else inner.text
            text = f"{phrase.text} of {article}{of}"
            phrase = replace(phrase, of=inner, end=inner.end, text=text, next_index=inner.next_index)
    return _with_brackets(words, phrase)


def _is_possessive(words: Sequence[Word], index: int) -> bool:
    """Return whether the word is an "'s", or the apostrophe behind a plural: "my parents' house"."""
    return words[index].low == "'s" or (words[index].text in "'’" and words[index - 1].low.endswith("s"))


def _is_boundary(words: Sequence[Word], core: int, index: int, subject: bool, verb_seen: bool) -> bool:
    """Return whether the phrase that began at ``core`` ends before the word at ``index``."""
    word = words[index]
    if index > core and _is_possessive(words, index):
        if word.low == "'s":
            return not grammar.is_genitive(words, index, verb_seen)
        return grammar.ends_phrase(words, index + 1)
    if index == core and word.low in _DESCRIBING and words[index - 1].low in OWNERS.keys() | closed.ARTICLES:
        return grammar.ends_phrase(words, index + 1)
    if grammar.ends_phrase(words, index):
        return True
    if index > core and word.low in ("last", "next") and not word.capital:
        return True  # "in Oslo last Easter"
    verb = inflection(word.low)
    if word.capital or verb is None:
        return False
    if index == core:
        if subject:
            return False
        following = words[index + 1].low if index + 1 < len(words) else ""
        if following in closed.OBJECTIVE | OWNERS.keys() | closed.ARTICLES and verb.forms & {"plain", "ing"}:
            return True  # "remind me", "running my own studio": a verb with its object
        # "used car": a verb form begins a phrase only if a noun follows
        return verb.forms <= {"past", "participle"} and grammar.ends_phrase(words, index + 1)
    if subject:
        followed = grammar.is_finite(words, index + 1, _FINITE)
        return not _FINITE.isdisjoint(verb.forms) or ("plain" in verb.forms and not followed)
    return verb.forms <= {"past", "participle"}


def _make_phrase(
    words: Sequence[Word], first: int, core: int, end: int, determiner: str, owner: NounPhrase | None
) -> NounPhrase:
    """Return the phrase of the words from ``core`` to ``end``, with determiners from ``first`` on."""
    inside = words[core:end]
    split = len(inside)
    while split and (
        inside[split - 1].capital or (inside[split - 1].kind == "number" and split > 1 and inside[split - 2].capital)
    ):
        split -= 1
    if core == 0 and split == 0 and len(inside) > 1 and inside[0].low in nouns.TITLE_ROLES | RELATIVES.keys():
        split = 1  # "Striker Tomas Quill scored": only the start of the sentence capitalises the role
    elif core == 0 and split == 0:
        alone = len(inside) == 1 and inside[0].low in _common_words()
        if alone or (len(inside) > 1 and not any(word.capital for word in inside[1:])):
            split = len(inside)  # only the start of the sentence capitalises it
    text = text_of(inside)
    common, name = text_of(inside[:split]), text_of(inside[split:])
    if split == len(inside):
        name = ""
    head = inside[split - 1].low if common else inside[-1].low
    named = any(word.capital for word in inside[core == 0 and split == len(inside) :])
    return NounPhrase(
        words[first].start, inside[-1].end, text, head, determiner, owner, common=common, name=name, named=named,
        next_index=end,
    )  # fmt: skip


@cache
def _common_words() -> frozenset[str]:
    """Return the words of the tables, which are no names when only the start of a sentence capitalises them."""
    return frozenset[str]().union(*vars(nouns).values(), NATIONALITIES, closed.EMPTY, RELATIVES)


def text_of(words: Sequence[Word]) -> str:
    """Return words as they were written, with single spaces."""
    if not words:
        return ""
    out = words[0].text
    for before, word in pairwise(words):
        out += " " * (word.start - before.end > 0) + word.text
    return out


def _with_brackets(words: Sequence[Word], phrase: NounPhrase) -> NounPhrase:
    """Return the phrase with the times and the name in the brackets behind it, "Winter Accounts (1941)"."""
    index = phrase.next_index
    if index < len(words) and words[index].text == "(":
        for close in range(index + 1, min(index + 14, len(words))):
            if words[close].text == ")":
                inside = words[index + 1 : close]
                also = read_phrase(words, index + 1) if len(inside) in (1, 2) and inside[0].kind == "word" else None
                times = tuple(word for word in inside if word.kind == "time")
                return replace(phrase, times=times, appositions=(also,) if also else (), next_index=close + 1)
    return phrase


_AND = frozenset(("and", "&", "plus"))
MOST_NOUN_PHRASES = 12
"""Phrases in one list."""


def read_phrases(
    words: Sequence[Word], index: int, *, subject: bool = False, verb_seen: bool = False
) -> tuple[tuple[NounPhrase, ...], int]:
    """Return the phrases that begin at ``index`` and the index after the last; ``((), index)`` if there are none."""
    first = read_phrase(words, index, subject=subject, verb_seen=verb_seen)
    if first is None:
        return (), index
    opening = inflection(words[index].low)
    gerund = opening is not None and opening.forms == {"ing"} and first.next_index - index > 1
    first = _with_appositions(words, first, subject, verb_seen)
    phrases, index, uncertain = [first], first.next_index, False
    while index < len(words) and len(phrases) < MOST_NOUN_PHRASES:
        word = words[index]
        if word.low == "or":
            uncertain = True
            following = read_phrase(words, index + 1, subject=subject, verb_seen=verb_seen)
            index = following.next_index if following else index
            break
        if word.text == "," and index + 1 < len(words):
            step = 2 if words[index + 1].low in _AND else 1
        elif word.low in _AND:
            step = 1
        else:
            break
        following_index = index + step
        if _list_ends(words, following_index, subject) or (
            word.text == "," and step == 1 and not _is_list_item(words, following_index, verb_seen)
        ):
            break
        following = read_phrase(words, following_index, subject=subject, verb_seen=verb_seen)
        if following is None or (following.pronoun and not subject):
            break
        phrases.append(_with_antecedent_owner(following, phrases[-1]))
        index = following.next_index
    if gerund:
        phrases = phrases[:1]  # "mending chairs and tables": who mends chairs need not be interested in tables
    if uncertain:
        phrases = [replace(item, uncertain=True) for item in phrases]
    return tuple(phrases), index


def _with_antecedent_owner(item: NounPhrase, before: NounPhrase) -> NounPhrase:
    """Return "his wife Ann" behind "Tom and" with Tom as the owner."""
    antecedent = before if before.of is None else before.of  # "the son of Tom and his wife"
    return replace(item, owner=antecedent) if item.owner and item.owner.pronoun in ("he", "she") else item


def _list_ends(words: Sequence[Word], index: int, subject: bool) -> bool:
    """Return whether no further item of the list begins at ``index``."""
    if index >= len(words):
        return True
    if subject:  # "Sven and Carla got married": the verb behind it belongs to both
        return grammar.is_finite(words, index) and not words[index].capital
    return opens_clause(words, index)


def _is_list_item(words: Sequence[Word], index: int, verb_seen: bool) -> bool:
    """Return whether the phrase behind a comma is a further item: "and", a comma or the end follows it."""
    following = read_phrase(words, index, verb_seen=verb_seen)
    if following is None:
        return False
    after = following.next_index
    return after >= len(words) or words[after].text in (",", ".", "!") or words[after].low in _AND


def _with_appositions(words: Sequence[Word], first: NounPhrase, subject: bool, verb_seen: bool) -> NounPhrase:
    """Return the phrase with the names behind it, "two cats, Salt and Pepper", past what describes it, "a vet,"."""
    index = first.next_index
    if _age_follows(words, index):
        index += 2 + (index + 3 < len(words))
    while index + 1 < len(words) and words[index].text == "," and not first.pronoun:
        beside = read_phrase(words, index + 1, verb_seen=True)
        if beside is None or beside.pronoun:
            break
        # It may say who or what the first is, "a member of …", "his neighbour".
        description = (beside.owner is not None and not beside.name) or beside.determiner in ("a", "an", "the")
        if description and first.name and not opens_clause(words, index + 1):
            index = beside.next_index
        elif named := _with_names(words, first, beside, subject, verb_seen):
            first, index = named, named.next_index
        else:
            break
        if index < len(words) and words[index].text == ",":
            index += 1 if subject or index + 1 >= len(words) else 0
            if not subject:
                break
    return replace(first, next_index=index)


def _with_names(
    words: Sequence[Word], first: NounPhrase, beside: NounPhrase, subject: bool, verb_seen: bool
) -> NounPhrase | None:
    """Return a phrase with the names behind its comma, "my boss, Linda Farrow,"; None without names.

    Args:
        words: the words of the sentence.
        first: the phrase before the comma, without a name.
        beside: the phrase behind the comma.
        subject: whether the verb is expected after it.
        verb_seen: whether the clause has its verb already.
    """
    after = beside.next_index
    can_be_named = not first.name and (first.owner or first.plural or (subject and first.determiner))
    if not can_be_named or not beside.name or beside.owner or beside.determiner:
        return None
    if after + 1 < len(words) and words[after].low in _AND:
        second = read_phrase(words, after + 1, subject=subject, verb_seen=verb_seen)
        if second and second.name and not second.determiner:
            return replace(first, appositions=(beside, second), next_index=second.next_index)
    return None if first.plural else replace(first, name=beside.name, named=True, next_index=after)


def _age_follows(words: Sequence[Word], index: int) -> bool:
    """Return whether ", 24" follows and then a comma or the end."""
    if index + 1 >= len(words) or words[index].text != "," or words[index + 1].kind != "number":
        return False
    return words[index + 1].text.isdecimal() and len(words[index + 1].text) < 4 and (
        index + 2 >= len(words) or words[index + 2].mark
    )  # fmt: skip


def opens_clause(words: Sequence[Word], index: int) -> bool:
    """Return whether a clause with its own or a shared subject begins here, behind a comma or "and"."""
    index = grammar.skip_adverbials(words, index)
    if index >= len(words):
        return False
    word = words[index]
    if word.low in closed.NOMINATIVE and word.low not in ("it", "you"):
        return True
    if word.low in ("it", "you", "there", "that", "this", "these"):
        return grammar.is_finite(words, grammar.skip_adverbials(words, index + 1))
    if word.low in closed.SUBORDINATORS or word.low in closed.CONDITIONS:
        return True
    if not word.capital and grammar.is_finite(words, index):
        return grammar.is_auxiliary(words, index) or index + 1 < len(words)
    subject = read_phrase(words, index, subject=True)
    if subject is None:
        return False
    after = grammar.skip_adverbials(words, subject.next_index)
    return grammar.is_finite(words, after, frozenset(("past", "third")))
