"""The rows of the relation table: their form, their order, and that a relation is added by rows alone."""

from typing import get_args

import pytest
from reading import facts

from mcp_memory.domain.relations import Effect, Registry, Sort
from mcp_memory.rules.facts import assertions, grammar, kinds, statements, tables
from mcp_memory.texts import resource

_CACHES = (tables.rows, tables.adjectives, grammar._inflections)


@pytest.fixture
def table(monkeypatch):
    """Return a function that puts more text behind the relation table, for one test."""

    def extend(text):
        registry = Registry(resource("relations.toml") + text)
        for module in (tables, statements, assertions):
            monkeypatch.setattr(module, "relations", lambda: registry)
        _clear()

    yield extend
    monkeypatch.undo()
    _clear()


def _clear():
    for cached in _CACHES:
        cached.cache_clear()


def _shadows(earlier, later):
    """Return whether a later row of the same word can never fire because of an earlier one."""
    return (
        "also" not in earlier.options | later.options
        and earlier.particles == later.particles
        and earlier.slots >= later.slots
        and earlier.options & tables.CONDITIONS <= later.options & tables.CONDITIONS
        and (set(earlier.tail) >= set(later.tail) or "any" in earlier.tail)
    )


def test_every_row_that_ships_is_well_formed_and_can_fire():
    table = tables.read_rows(Registry(resource("relations.toml")))
    assert set(tables.KINDS) == set(kinds._TESTS)
    for row in (row for found in table.values() for row in found):
        assert row.sort in get_args(Sort)
        assert row.effect in get_args(Effect)
        assert row.slots <= tables.closed.PREPOSITIONS | {"obj", "time", "each"}
        assert row.options <= tables.CONDITIONS | {"swapped", "also", "loose"}
    of_verbs = [word for (sort, word) in table if sort in ("verb", "passive") and word != "be"]
    inflected = {word for word in of_verbs if (form := grammar.inflection(word)) is None or form.lemma != word}
    assert inflected == {"lay", "found"}  # of lie and find, too
    assert not [word for (sort, word) in table if sort == "adj" and len(word) > 4 and word.endswith("ed")]
    assert not [
        (key, later)
        for key, found in table.items()
        for number, later in enumerate(found)
        if any(_shadows(earlier, later) for earlier in found[:number])
    ]


STUDIED_UNDER = """
[studied_under]
label = "studied under"
cardinality = "multi"
kind = "event"
said = ["verb study/apprentice | under with | event | person | past", "noun pupil | of | state | person"]
"""


def test_a_relation_is_added_by_rows_alone(table):
    assert "Maria studied_under Ilse Brandt" not in facts("I studied under Ilse Brandt for two years.")
    table(STUDIED_UNDER)
    assert "Maria studied_under Ilse Brandt" in facts("I studied under Ilse Brandt for two years.")
    assert "Maria studied_under Ilse Brandt" in facts("I apprenticed with Ilse Brandt in 2019.")
    assert "Jost studied_under Ilse Brandt" in facts("Jost was a pupil of Ilse Brandt.")
