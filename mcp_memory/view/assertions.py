"""Index the assertions of one space by head, tail and turn, and decide which of them count.

Of one sentence the assertions of the best extractor count; of a document's old revision none do. This is a function of
all that was recorded, so that the order of arrival changes nothing.

Heads and tails are keys of names as written (``names.py``). Which of them mean the same entity is not known here, so
callers pass all keys of an entity.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import chain

from mcp_memory.domain.facts import WHOLE, Assertion, ExtractorName
from mcp_memory.view.saved_rows import SavedRows

_RANK: dict[ExtractorName, int] = {"embedded": 0, "anthropic": 1, "caller": 2}


class Assertions:
    """The assertions of one space.

    Attributes:
        rows: every assertion, in the order of recording; only appended to.
    """

    def __init__(self) -> None:
        self.rows: list[Assertion] | SavedRows[Assertion] = []
        self._row: dict[str, int] = {}
        self._groups: dict[tuple[str, str], list[int]] = defaultdict(list)
        self._from: dict[str, dict[str, None]] = defaultdict(dict)  # head → relations
        self._to: dict[str, dict[str, dict[str, None]]] = defaultdict(dict)  # tail → relation → heads
        self._by_turn: dict[str, list[int]] = defaultdict(list)
        self._best: dict[tuple[str, int], int] = {}  # (turn, sentence) → rank of its best extractor, if above 0
        self._retired: set[str] = set()

    def __getstate__(self) -> dict[str, object]:
        return vars(self) | {"rows": SavedRows.of(Assertion, self.rows)}

    def add(self, assertion: Assertion, head: str, tail: str) -> bool:
        """Add an assertion that is not there yet.

        Returns:
            Whether earlier assertions of the same sentence no longer count.
        """
        better = self._is_better(assertion)
        row = self._row[assertion.id] = len(self.rows)
        self.rows.append(assertion)
        self._groups[head, assertion.relation].append(row)
        self._from[head][assertion.relation] = None
        self._to[tail].setdefault(assertion.relation, {})[head] = None
        self._by_turn[assertion.turn_id].append(row)
        return better

    def _is_better(self, assertion: Assertion) -> bool:
        """Note the extractor of a new assertion; return whether those of the same sentence before had a lesser one."""
        place, rank = (assertion.turn_id, assertion.sentence), _RANK[assertion.extractor]
        if not rank:
            return False
        before = self._by_turn.get(assertion.turn_id, ())
        alone = not any(self.rows[row].sentence == assertion.sentence for row in before)
        best = self._best.get(place, rank if alone else 0)
        self._best[place] = max(best, rank)
        return best < rank

    def retire(self, turn_id: str) -> None:
        """Exclude the assertions of an old revision of a document."""
        self._retired.add(turn_id)

    def __contains__(self, assertion_id: str) -> bool:
        return assertion_id in self._row

    def get(self, assertion_id: str) -> Assertion | None:
        """Return an assertion by its id, or None."""
        row = self._row.get(assertion_id)
        return None if row is None else self.rows[row]

    def counts(self, row: int, known: Callable[[int], bool] | None = None) -> bool:
        """Return whether an assertion counts, among all rows or only among the ``known`` ones."""
        assertion = self.rows[row]
        if assertion.turn_id in self._retired:
            return False
        if assertion.sentence == WHOLE:
            return True
        rank = _RANK[assertion.extractor]
        if known is None:
            return self._best.get((assertion.turn_id, assertion.sentence), 0) == rank
        others = (self.rows[other] for other in self._by_turn[assertion.turn_id] if known(other))
        return not any(other.sentence == assertion.sentence and _RANK[other.extractor] > rank for other in others)

    def of_turn(self, turn_id: str) -> Sequence[int]:
        """Return the rows of a turn, in the order of recording."""
        return self._by_turn.get(turn_id, ())

    def about(self, heads: Sequence[str], relation: str) -> list[int]:
        """Return the rows of one relation from any of some heads, in the order of recording."""
        return sorted(row for head in heads for row in self._groups.get((head, relation), ()))

    def mention(self, key: str) -> bool:
        """Return whether something is a head or a tail."""
        return key in self._from or key in self._to

    def relations_of(self, heads: Sequence[str]) -> list[str]:
        """Return the relations of some heads, each once, in the order of first mention."""
        return list(dict.fromkeys(chain.from_iterable(self._from.get(head, ()) for head in heads)))

    def relations_to(self, tails: Sequence[str]) -> list[str]:
        """Return the relations that lead to some tails, each once, in the order of first mention."""
        return list(dict.fromkeys(chain.from_iterable(self._to.get(tail, ()) for tail in tails)))

    def heads_leading_to(self, tails: Sequence[str], relation: str) -> Iterator[str]:
        """Return the heads from which a relation leads to some tails, once for each tail that it leads to."""
        return chain.from_iterable(self._to.get(tail, {}).get(relation, ()) for tail in tails)

    def degree(self, keys: Sequence[str]) -> int:
        """Return in how many (head, relation) some keys take part."""
        out = sum(len(self._from.get(key, ())) for key in keys)
        return out + sum(len(heads) for key in keys for heads in self._to.get(key, {}).values())
