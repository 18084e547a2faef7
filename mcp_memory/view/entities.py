"""Index which sentences name which entities: GAM-RAG's relation-free index (§3.1.1, eq. 1).

M_ES, which entity occurs in which sentence, is stored in both directions; M_SP, which passage a sentence belongs to, is
part of the space (`Space.segments_with`). The function that finds the names in a sentence is passed in. Each sentence
is indexed once, when it arrives.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from mcp_memory.domain.entities import entity_key
from mcp_memory.domain.turns import Turn
from mcp_memory.view.space import Space

FindNames = Callable[[Turn, str], Iterable[str]]
"""Returns the names, as written, of the entities that a sentence is about; given its turn and its text."""
NAME_WORDS = 6
"""Words of the longest name that is looked up in a text."""


class EntityIndex:
    """The entities of a space by number, and the rows of the sentences that name each.

    Args:
        find_names: returns the names in a sentence.
    """

    def __init__(self, find_names: FindNames) -> None:
        self._find_names = find_names
        self._numbers: dict[str, int] = {}
        self._keys: list[str] = []
        self._sentences: list[array[int]] = []  # of each entity, ascending
        self._entities: dict[int, tuple[int, ...]] = {}  # of each sentence that names any

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in vars(self).items() if name != "_find_names"}

    def __len__(self) -> int:
        return len(self._keys)

    def add_segments(self, space: Space, since: int) -> None:
        """Index the sentences of the segments of ``space`` from row ``since`` on."""
        keys: dict[str, str] = {}  # most names occur several times
        for row in range(since, len(space.segments)):
            segment, turn = space.segments[row], space.segment_turn[row]
            for sentence in space.sentences_within(segment):
                if segment.index and space.sentences[sentence].index == segment.first:
                    continue  # it ends the segment before this one as well
                in_sentence: dict[str, None] = {}
                for name in self._find_names(turn, space.text(space.sentences[sentence])):
                    if name not in keys:
                        keys[name] = entity_key(name)
                    in_sentence[keys[name]] = None
                numbers = tuple(self._number(key) for key in in_sentence if key)
                if numbers:
                    self._entities[sentence] = numbers
                for number in numbers:
                    self._sentences[number].append(sentence)

    def find(self, name: str) -> int | None:
        """Return the number of the entity that a name means (`entity_key`), or None."""
        return self._numbers.get(entity_key(name))

    def entities_in(self, words: Sequence[str]) -> list[int]:
        """Return the numbers of the entities that folded words name, in order; of overlapping names the longest."""
        found: dict[int, None] = {}
        place = 0
        while place < len(words):
            for end in range(min(place + NAME_WORDS, len(words)), place, -1):
                number = self.find(" ".join(words[place:end]))
                if number is not None:
                    found[number] = None
                    place = end - 1
                    break
            place += 1
        return list(found)

    def key(self, entity: int) -> str:
        """Return the key of an entity by its number."""
        return self._keys[entity]

    def spellings_in(self, space: Space, sentence: int) -> dict[int, str]:
        """Return the entities that a sentence of the space names, by number, with the spelling used there."""
        piece = space.sentences[sentence]
        found: dict[int, str] = {}
        for name in self._find_names(space.turns[piece.turn_id], space.text(piece)):
            if (number := self.find(name)) is not None:
                found.setdefault(number, name)
        return found

    def sentences(self, entity: int) -> NDArray[np.int64]:
        """Return the rows of the sentences that name an entity, ascending; use the array before the next write."""
        return np.frombuffer(self._sentences[entity], dtype=np.int64)

    def degree(self, entity: int) -> int:
        """Return how many sentences name an entity."""
        return len(self._sentences[entity])

    def entities(self, sentence: int) -> Sequence[int]:
        """Return the numbers of the entities that a sentence names, in its order; none for an unknown row."""
        return self._entities.get(sentence, ())

    def _number(self, key: str) -> int:
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._keys)
            self._keys.append(key)
            self._sentences.append(array("q"))
        return number
