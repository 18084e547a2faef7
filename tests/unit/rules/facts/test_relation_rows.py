"""The rows of the relation table: their form, their order, and that a relation is added by rows alone."""

import pytest
from reading import facts

from mcp_memory.domain.relations import Registry
from mcp_memory.rules.facts import claims, grammar, kinds, rows, statements
from mcp_memory.texts import resource

_CACHES = (rows.rows, rows.adjectives, grammar._inflections)


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    """Return a function that puts more text behind the relation table, for one test."""

    def extend(text: str) -> None:
        registry = Registry(resource("relations.toml") + text)
        for module in (rows, statements, claims):
            monkeypatch.setattr(module, "relations", lambda: registry)
        _clear()

    yield extend
    monkeypatch.undo()
    _clear()


def _clear() -> None:
    for cached in _CACHES:
        cached.cache_clear()


def _shadows(earlier: rows.Row, later: rows.Row) -> bool:
    """Return whether a later row of the same word can never fire because of an earlier one."""
    return (
        not (earlier.also or later.also)
        and earlier.particles == later.particles
        and earlier.slots >= later.slots
        and earlier.conditions <= later.conditions
        and (set(earlier.tail) >= set(later.tail) or "any" in earlier.tail)
    )


def test_every_row_that_ships_can_fire() -> None:
    table = rows.read_rows(Registry(resource("relations.toml")))
    assert set(rows.KINDS) == set(kinds._TESTS)
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


def test_a_relation_is_added_by_rows_alone(table) -> None:  # type: ignore[no-untyped-def]
    assert "Maria studied_under Ilse Brandt" not in facts("I studied under Ilse Brandt for two years.")
    table(STUDIED_UNDER)
    assert "Maria studied_under Ilse Brandt" in facts("I studied under Ilse Brandt for two years.")
    assert "Maria studied_under Ilse Brandt" in facts("I apprenticed with Ilse Brandt in 2019.")
    assert "Jost studied_under Ilse Brandt" in facts("Jost was a pupil of Ilse Brandt.")


@pytest.mark.parametrize(
    "row",
    [
        "verb",
        "gerund study | under | event | person",
        "verb study | under | event",
        "verb study | beneath_ | event | person",
        "verb study | under | happens | person",
        "verb study | under | event | teacher",
        "verb study | under | event | person | sometimes",
    ],
)
def test_a_row_of_another_form_is_refused(row: str) -> None:
    text = resource("relations.toml") + f'\n[studied_under]\nsaid = ["{row}"]\n'
    with pytest.raises(ValueError, match="studied_under"):
        rows.read_rows(Registry(text))
