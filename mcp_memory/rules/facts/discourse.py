"""Resolve references: "I" is the speaker, "you" the addressee, "she" the last person mentioned, "her brother" hers.

The discourse is a single text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from mcp_memory.domain.turns import Turn, speaker
from mcp_memory.language.vocabulary import COUNTRIES, RELATIVES, kinship_words, word_set
from mcp_memory.rules.facts.clauses import Clause
from mcp_memory.rules.facts.kinds import is_company, last_word
from mcp_memory.rules.facts.noun_phrases import NounPhrase
from mcp_memory.rules.facts.tables import closed, nouns

_BRACKETS = re.compile(r"\s*[(\[][^)\]]{0,200}[)\]]")
_LEAD = r"(?:\s*#.*\n)*\W*(?:The )?"
"""Stands before the first words of a text: headings, signs, an article."""
_OPENING = 400
"""Characters of a text that say what it is about."""
_HE_OR_SHE = re.compile(r"\b(?:he|she|his|her)\b", re.IGNORECASE)
_NAME_PARTICLES = word_set("of the and de del la le von van der den du & for in")
_TOPIC_NOUNS = (
    nouns.COMPANIES
    | nouns.CLUBS
    | nouns.PLACES
    | word_set("club team workshop bridge castle tower paper film book novel album building")
)
_ELDERS = kinship_words("child_of", "grandchild_of") - word_set("parent parents mama ma papa dada pa nana gran")
_STRANGERS = RELATIVES.keys() | word_set("man guy boy bloke chap lad woman girl lady lass person")
"""Nouns for somebody without a name."""
_BESIDE_IN_TALK = frozenset(("with", "except", "", "for", "by", "about"))
"""In talk, a name behind these is more often a person's than a place's."""


@dataclass(slots=True)
class Discourse:
    """The people and things that a text has mentioned so far.

    Attributes:
        speaker: "I"; None in a document.
        partner: "you", if known.
        topic: what a document is about, if that is a name and its first words.
        person: whether the topic is a person, by the pronouns of the text; then "the company" does not refer to it.
    """

    speaker: str | None
    partner: str | None
    topic: str | None
    person: bool = False
    _last: dict[str, str] = field(default_factory=dict)
    _full: dict[str, str] = field(default_factory=dict)

    def entity(self, noun: NounPhrase) -> str | None:
        """Return the name of the entity that a phrase refers to, or None if it is unknown."""
        if noun.pronoun:
            return self._pronoun(noun.pronoun)
        if noun.name:
            return self._name(noun.name)
        if noun.owner:
            owner = self.entity(noun.owner)
            said = noun.text if noun.named else noun.text[0].lower() + noun.text[1:]
            return f"{owner}'s {said}" if owner else None
        if noun.head in _ELDERS and self.speaker and not noun.determiner and " " not in noun.text:
            return f"{self.speaker}'s {noun.text}"  # "Mum called"
        if self._is_topic(noun):
            return self.topic
        return self._name(noun.text) if noun.named else None

    def thing(self, noun: NounPhrase) -> str | None:
        """Return the text of a phrase as the tail of a fact."""
        if noun.pronoun:
            return self._pronoun(noun.pronoun) if noun.pronoun not in ("it", "they", "them") else None
        if noun.owner:
            owner = self.entity(noun.owner)
            if noun.name:
                return self._name(noun.name)
            if owner is None:
                return f"{noun.owner.text}'s {noun.text}" if not noun.owner.pronoun else None
            described = noun.head in RELATIVES or not noun.owner.pronoun
            return f"{owner}'s {noun.text}" if described else noun.text.removeprefix("own ")
        if noun.name and noun.common and not noun.common.isdecimal():  # not "14 Mill Lane"
            named = noun.determiner in ("the", "") or noun.name not in noun.text
            return self._name(noun.name) if named else noun.text
        if self._is_topic(noun):
            return self.topic
        return self._name(noun.text) if noun.named else noun.text

    def mention(self, noun: NounPhrase) -> None:
        """Remember a subject, which pronouns may refer to from now on."""
        name = self.entity(noun)
        if name is None or noun.pronoun in closed.FIRST | closed.SECOND:
            return
        if noun.pronoun:
            self._last[_nominative(noun.pronoun)] = name
            return
        if noun.owner and noun.owner.named and noun.head not in RELATIVES:
            self.mention(noun.owner)  # "Tom's birthday is …, he likes …"
        pronoun = RELATIVES[noun.head][1] if noun.head in RELATIVES and not (noun.name and noun.common == "") else ""
        is_thing = noun.head in nouns.PETS or is_company(noun) or (not noun.named and noun.head not in RELATIVES)
        if pronoun in ("he", "she"):
            self._last[pronoun] = name
        elif is_thing or noun.name.casefold() in COUNTRIES or (self.speaker is None and _is_no_person(noun)):
            self._last["it"] = name
        elif noun.name or not (noun.plural or pronoun == "they"):
            self._last["he"] = self._last["she"] = name
        if noun.name and " " in noun.name:
            self._full.setdefault(noun.name.split()[-1], noun.name)

    def mention_others(self, clause: Clause) -> None:
        """Remember the people that a clause names beside its subject; after "a man" or "a friend", "he" is nobody."""
        others = [noun for slot in clause.slots for noun in slot.nouns]
        if any(noun.determiner in ("a", "an") and not noun.name and noun.head in _STRANGERS for noun in others):
            self._last.pop("he", None)
            self._last.pop("she", None)
            return
        met = _BESIDE_IN_TALK if self.speaker else ("with", "except")
        taken = {noun.pronoun for noun in clause.subject}  # "she taught Ann": who she is, she is not Ann
        for noun in (noun for slot in clause.slots if slot.preposition in met for noun in slot.nouns):
            if noun.name and " " not in noun.name and not noun.determiner:
                for pronoun in {"he", "she"} - taken:
                    self._last.setdefault(pronoun, self._name(noun.name))

    def _is_topic(self, noun: NounPhrase) -> bool:
        """Return whether "the company" and the like refers to the topic."""
        common = noun.determiner == "the" and noun.head in _TOPIC_NOUNS and " " not in noun.text
        return bool(self.topic) and not self.person and common

    def _pronoun(self, pronoun: str) -> str | None:
        if pronoun in closed.FIRST:
            return self.speaker
        if pronoun in closed.SECOND:
            return self.partner
        return self._last.get(_nominative(pronoun)) or self.topic

    def _name(self, name: str) -> str:
        name = name.removesuffix("'s").removesuffix("’s")
        if self.topic and " " not in name and " " in self.topic and name == self.topic.split()[-1]:
            return self.topic
        return self._full.get(name, name)


def open_discourse(turn: Turn, partner: str | None) -> Discourse:
    """Return the discourse at the start of a turn."""
    if turn.kind == "document":
        topic = _topic(turn.title, turn.text)
        kind = topic.split()[-1].lower() if topic else ""
        return Discourse(None, None, topic, kind not in _TOPIC_NOUNS and bool(_HE_OR_SHE.search(turn.text)))
    return Discourse(speaker(turn), partner, None)


def _topic(title: str | None, text: str) -> str | None:
    """Return a title if it is a name, all its words capitalised except particles, and the text begins with it.

    So does an article, which may put more names between the first word and the last. "He" in a note that is called
    "Rust" or "2024-03-02" is somebody else.
    """
    if not title:
        return None
    name = _BRACKETS.sub("", title).split(":")[0].strip()
    parts = name.split()
    is_name = parts and all(part[0].isupper() or part in _NAME_PARTICLES or part[0].isdigit() for part in parts)
    if not is_name or len(parts) > 6:
        return None
    begins = rf"{_LEAD}{re.escape(parts[0])}(?!\w)" + rf".{{0,40}}\b{re.escape(parts[-1])}(?!\w)" * (len(parts) > 1)
    return name if re.match(begins, text[:_OPENING]) else None


def _is_no_person(noun: NounPhrase) -> bool:
    """Return whether a name in a document is no person's: it has an article, a number, or a common noun at its end."""
    odd = any(letter.isdigit() for letter in noun.text) or noun.text.isupper() or noun.of is not None
    has_article = noun.determiner == "the" and not noun.common
    return odd or has_article or last_word(noun) in nouns.EVENTS | nouns.VENUES | nouns.CLUBS


def _nominative(pronoun: str) -> str:
    return {"him": "he", "himself": "he", "her": "she", "herself": "she", "them": "they", "themselves": "they",
            "itself": "it"}.get(pronoun, pronoun)  # fmt: skip
