"""Decide which stated names join a speaker, or the description of a relative, with a name (DESIGN 2.5).

"I'm Elin" is a fact: (user, named, Elin). From then on "Elin" and the speaker "user" mean one entity. "My sister Nele"
is one too, (user, sibling_of, Nele), and its words join "user's sister" with "Nele". A join is a function of all that
was recorded, like every other alias, so the order of arrival changes nothing: a later statement that makes it doubtful
undoes it, and a denied ``also_known_as`` revokes it. A speaker is not joined with

- the name of another speaker, but for the user, who writes under several labels;
- the name of somebody whom the speaker relates to ("my friend Elin"), or who is another speaker's relative or pet;
- a second name beside the first, unless the speaker corrected it ("actually I'm Elin"), or one contains the other.

A description with several names ("my sister Nele", "my sister Ida") is joined with none of them.

A name with several descriptions ("my brother Sam", "my boss Sam") may be that of several people. What is told of them
is folded apart by its description, so that nothing about the one ends what is told of the other, and none of it is
certain.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence

from mcp_memory.domain.entities import Alias
from mcp_memory.domain.facts import CERTAIN, Assertion
from mcp_memory.domain.relations import relations
from mcp_memory.domain.times import BEGINNING
from mcp_memory.domain.turns import USER
from mcp_memory.view.assertions import Assertions
from mcp_memory.view.names import Names

NAMED = "named"
"""The relation whose tail is the name of its head."""
ALIAS = "also_known_as"
"""The relation whose tails are other names of its head."""
_OWNING = "'s "
_AROUND = 60  # characters beside a statement in which the words that describe somebody are looked for
_CALLED = r"(?:(?:['’]s| is| was) (?:called|named)|['’]s name(?:['’]s| is| was)|,)?"
_OWNED = re.compile(
    r"(?:\b(?:[Mm]y|[Oo]ur|[Hh]is|[Hh]er|[Tt]heir)|\w['’]s)\s(?:[\w-]+\s){0,2}?(?P<what>[a-z][a-z-]+)\s$"
)
_NO_KIND = frozenset(("is", "was", "and", "or", "with", "to", "of", "not", "called", "named"))

Join = tuple[str, str]
"""The key of an entity and the key of another name of it."""


class GivenNames:
    """The names that were given to speakers and to described relatives in one space.

    Args:
        assertions: the assertions of the space.
        names: the names of the space.
        stable: the confidence below which a statement joins nothing.
        text_of: returns the text of a turn by its id, "" if it is not known.
        is_meant: returns whether a turn, by its id, is certain to be meant as it stands (``frames.py``).

    Attributes:
        speakers: the keys of the names of all speakers.
    """

    def __init__(
        self,
        assertions: Assertions,
        names: Names,
        stable: float,
        text_of: Callable[[str], str],
        is_meant: Callable[[str], bool],
    ) -> None:
        self.set_functions(text_of, is_meant)
        self._assertions = assertions
        self._names = names
        self._stable = stable
        self.speakers = {USER}
        self._naming: dict[str, list[tuple[int, str]]] = defaultdict(list)  # head → rows and the names that they give
        self._joins: dict[Join, Assertion] = {}
        self._found: dict[str, list[tuple[Join, Assertion]]] = {}  # by head
        self._left: set[str] = set()  # heads to decide on again
        self._descriptions: dict[str, set[str]] = defaultdict(set)  # of a head: "brother", "boss"
        self._description: dict[int, str] = {}  # row → that of its head
        self._shared: set[str] = set()  # heads with several

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in vars(self).items() if name not in ("_text_of", "_is_meant")}

    def set_functions(self, text_of: Callable[[str], str], is_meant: Callable[[str], bool]) -> None:
        """Give a saved one the functions that it was made with."""
        self._text_of, self._is_meant = text_of, is_meant

    def add_speaker(self, key: str) -> None:
        """Add a speaker by the key of their name."""
        if key not in self.speakers:
            self.speakers.add(key)
            # Whose name is a stranger's depends on the speakers; what names a described relative does not.
            self._left.update(one for one in self.speakers if one in self._naming)

    def add(self, row: int, head: str, tail: str) -> Sequence[str]:
        """Take note of a recorded assertion: its row, and the keys of its head and its tail.

        Returns the relations of the head, if the name turns out to be that of several people.
        """
        said = self._assertions.rows[row]
        shared = self._describe(row, said, head)
        if self.reads(said, head):
            self._naming[head].append((row, tail))
            self._left.add(head)
        elif relations().get(said.relation).family:
            for description, name in self._described(said, head, tail):
                self._naming[description].append((row, name))
                self._left.add(description)
        if self._naming and (head in self.speakers or tail in self.speakers) and _personal(said.relation):
            self._left.update(one for one in self.speakers if one in self._naming)
        return self._assertions.relations_of((head,)) if shared else ()

    def _describe(self, row: int, said: Assertion, head: str) -> bool:
        """Note by what an assertion describes its head, and return whether that is the second description."""
        text = self._text_of(said.turn_id) if said.head[:1].isupper() and head not in self.speakers else ""
        place = text.find(said.head, max(0, said.start - _AROUND), said.end + _AROUND)
        found = _OWNED.search(text, max(0, place - _AROUND), place) if place > 0 else None
        if found is None:
            return False
        self._description[row] = found["what"]
        self._descriptions[head].add(found["what"])
        if len(self._descriptions[head]) < 2 or head in self._shared:
            return False
        self._shared.add(head)
        return True

    def told_apart(self, rows: Sequence[int]) -> tuple[bool, list[list[int]]]:
        """Return whether the head of some rows may be several people, and the rows of each description together.

        Args:
            rows: the assertions of one entity and relation.
        """
        heads = {self._names.key(self._assertions.rows[row].head) for row in rows} if self._shared else set[str]()
        if self._shared.isdisjoint(heads):
            return False, [[*rows]]
        groups: dict[str, list[int]] = defaultdict(list)
        for row in rows:
            groups[self._description.get(row, "")].append(row)
        return True, [*groups.values()]

    def _described(self, said: Assertion, head: str, tail: str) -> Iterator[tuple[str, str]]:
        """Yield the keys of a description and of the name beside it: "my sister Nele", "Nele is my sister"."""
        text = self._text_of(said.turn_id)[max(0, said.start - _AROUND) : said.end + _AROUND]
        if said.negated or not text:
            return
        for owner, key, name in ((said.head, head, said.tail), (said.tail, tail, said.head)):
            owns = ("My", "my", "Our", "our") if key in self.speakers else (f"{owner}'s", f"{owner}’s")
            if name not in text or not any(one in text for one in owns):
                continue  # making a pattern takes many times longer
            own = "(?:[Mm]y|[Oo]ur)" if key in self.speakers else re.escape(owner) + "['’]s"
            what, who = "(?P<what>[a-z-]+(?: [a-z-]+)?)", re.escape(name)
            for form in (rf"\b{own} {what}{_CALLED} {who}(?!\w)", rf"(?<!\w){who} is {own} {what}(?=[\s.!,;]|$)"):
                if (found := re.search(form, text)) and found["what"].split()[-1] not in _NO_KIND:
                    described = self._names.key(f"{owner}'s {found['what']}")
                    yield described, self._names.key(name)

    def reads(self, assertion: Assertion, head: str) -> bool:
        """Return whether an assertion gives a name to a speaker or to a description.

        A caller's ``also_known_as`` is no matter of this class: it joins two names without any guard. What was told at
        no time, in an import, names nobody who speaks here.
        """
        if head in self.speakers and assertion.since <= BEGINNING:
            return False
        if assertion.relation == ALIAS:
            return head in self.speakers and assertion.extractor == "embedded"
        return assertion.relation == NAMED and (head in self.speakers or _OWNING in head)

    def recheck(self) -> None:
        """Note that other assertions count than before, or that more names are those of speakers."""
        self._left.update(self._naming)

    def update(self) -> list[Join]:
        """Decide again if anything may have changed, and return the joins that were made or undone."""
        changed = False
        for head in self._left:
            found = list(self._find(head))
            changed |= found != self._found.get(head, [])
            self._found[head] = found
        self._left.clear()
        if not changed:
            return []
        joins = (found for head in self._naming for found in self._found.get(head, ()))
        before, self._joins = self._joins, dict(joins)
        return [*(join for join in before if join not in self._joins), *(j for j in self._joins if j not in before)]

    def joined(self, entity: str, name: str) -> Assertion | None:
        """Return the statement that joins a name with an entity, both given by their keys, or None."""
        return self._joins.get((entity, name))

    def aliases(self) -> Iterator[tuple[Join, Alias]]:
        """Yield each join as an alias, in the order of recording."""
        for join, said in self._joins.items():
            name, alias = map(self._names.usual, join)
            yield join, Alias(said.space, name, alias, "the name was given", said.extractor, said.recorded_at)

    def _find(self, head: str) -> Iterator[tuple[Join, Assertion]]:
        said = [(self._assertions.rows[row], name) for row, name in self._naming[head] if self._assertions.counts(row)]
        denied = {name for one, name in said if one.negated}
        given = [(one, name) for one, name in said if not one.negated and one.confidence >= self._stable]
        given = [(one, name) for one, name in given if name != head and name not in denied]
        if head not in self.speakers:
            if _agree(given):
                yield from (((name, head), one) for one, name in given[:1])
            return
        given = [(one, name) for one, name in given if self._is_sure(one)]
        proper = [(one, name) for one, name in given if one.relation == NAMED]
        for one, name in (*_first_name(proper), *((one, name) for one, name in given if one.relation == ALIAS)):
            if not self._is_stranger(name, head):
                yield (head, name), one

    def _is_sure(self, said: Assertion) -> bool:
        """Return whether a name is certain to be that of its speaker: a pasted "I am Bob" makes nobody Bob."""
        return said.confidence >= CERTAIN and (said.extractor != "embedded" or self._is_meant(said.turn_id))

    def _is_stranger(self, name: str, speaker: str) -> bool:
        """Return whether a name is that of somebody other than the speaker who gave it."""
        if name in self.speakers:
            return speaker != USER
        linked = self._assertions
        related = [
            (one, head) for one in linked.relations_to((name,)) for head in linked.heads_leading_to((name,), one)
        ]
        for one in linked.relations_of((name,)):
            if _personal(one):
                tails = (self._names.key(linked.rows[row].tail) for row in linked.about((name,), one))
                related += [(one, tail) for tail in tails]
        return any(
            _personal(one) and (end == speaker or (end in self.speakers and relations().get(one).family))
            for one, end in related
        )


def _personal(relation: str) -> bool:
    """Return whether a relation joins two different people, or a person with a pet."""
    known = relations().get(relation)
    return known.family or (known.head == "person" and known.tail == "person")


_Given = tuple[Assertion, str]
"""A statement and the key of the name that it gives."""


def _first_name(given: Sequence[_Given]) -> list[_Given]:
    """Return the names that agree with the first one, or with the last correction; none if that one is unclear."""
    if not given:
        return []
    corrected = [one.said_at for one, _ in given if one.change]
    moment = max(corrected) if corrected else min(one.said_at for one, _ in given)
    chosen = [entry for entry in given if entry[0].said_at == moment and entry[0].change == bool(corrected)]
    return [entry for entry in given if _agree((entry, chosen[0]))] if _agree(chosen) else []


def _agree(given: Sequence[_Given]) -> bool:
    """Return whether all names may be one person's: the longest one holds the words of each."""
    words = [set(name.split()) for _, name in given]
    return all(one <= max(words, key=len) for one in words)
