"""The rows of the relation table: their form, their order, and that a relation is added by rows alone."""

import pytest
from reading import facts, read

from mcp_memory.domain.relations import Registry
from mcp_memory.rules.facts import claims, kinds, rows, statements, verbs
from mcp_memory.texts import resource

_CACHES = (rows.rows, rows.adjectives, verbs._inflections)


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


def test_every_row_that_ships_can_fire() -> None:
    assert rows.read_rows(Registry(resource("relations.toml")))
    assert set(rows.KINDS) == set(kinds._TESTS)
    words = [word for (sort, word) in rows.rows() if sort in ("verb", "passive") and word != "be"]
    inflected = [word for word in words if (form := verbs.inflection(word)) is None or form.lemma != word]
    assert {word for word in inflected if not word.startswith("can't")} == {
        "lay",
        "found",
    }  # forms of lie and find, too


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
    ("row", "reason"),
    [
        ("verb", "begins with one of"),
        ("gerund study | under | event | person", "begins with one of"),
        ("verb study | under | event", "its cells are"),
        ("verb study | beneath_ | event | person", "unknown slots: beneath_"),
        ("verb study | under | happens | person", "unknown effects: happens"),
        ("verb study | under | event | teacher", "unknown kinds: teacher"),
        ("verb study | under | event | person | sometimes", "unknown options: sometimes"),
        ("verb study | under | event | person | past present", "exclude one another"),
        ("verb study | under | event | person | 1.5", "one confidence"),
        ("verb study |  | event | person", "no slot"),
        ("verb studied | under | event | person", "plain form"),
        ("adj trained | under | state | person", "read as a passive"),
        ("verb live | in | state | place", "'lives_in' comes first"),
    ],
)
def test_a_row_that_can_never_fire_is_refused(row: str, reason: str) -> None:
    text = resource("relations.toml") + f'\n[studied_under]\nsaid = ["{row}"]\n'
    with pytest.raises(ValueError, match=reason) as refused:
        rows.read_rows(Registry(text))
    assert "studied_under" in str(refused.value)


def test_the_more_specific_kind_of_tail_comes_first() -> None:
    assert facts("I joined the Lunar Choir.") == ["Maria member_of Lunar Choir"]
    assert facts("I joined Orbix Robotics.") == ["Maria works_at Orbix Robotics"]


def test_a_row_gives_its_confidence(table) -> None:  # type: ignore[no-untyped-def]
    table('\n[mentored_by]\nsaid = ["passive mentor | by | event | person | .6"]\n')
    (found,) = [fact for fact in read("I was mentored by Ilse Brandt.") if fact.relation == "mentored_by"]
    assert found.confidence == 0.6


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("My car is blue.", "Maria's car has_colour blue"),
        ("The default page size is 50.", "default page size set_to 50"),
        ("The rate limit is 120 requests per minute.", "rate limit set_to 120 requests per minute"),
        ("The timeout was raised to 30 seconds.", "timeout set_to 30 seconds"),
        ("The billing service depends on Redis.", "billing service depends_on Redis"),
        ("We decided against Redis.", "the project decided_against Redis"),
        ("I'm on 20 mg of lisinopril.", "Maria takes 20 mg of lisinopril"),
        ("I'm on bilafenadine instead now.", "Maria takes bilafenadine"),
        ("Also I'm off the lisinopril.", "not Maria takes lisinopril"),
        ("Lenka and I moved in together in March.", "Maria lives_with Lenka"),
        ("I signed with a company called Quellwerk.", "Maria works_at Quellwerk"),
    ],
)
def test_things_and_settings_are_heads_of_their_own(text: str, fact: str) -> None:
    assert facts(text) == [fact]


@pytest.mark.parametrize(
    "text",
    [
        "I love the idea.",
        "I enjoyed the best part of it.",
        "I love your photos.",
        "We had some great competitions and shows.",
        "I work for a company.",
        "I bought some stuff.",
        "My first customer is my old boss.",
        "I'm so blue.",
    ],
)
def test_a_vague_tail_is_no_fact(text: str) -> None:
    assert facts(text) == []


def test_who_signs_with_a_company_plays_for_no_team_and_what_nearly_happened_did_not() -> None:
    assert not any("plays_for" in fact for fact in facts("We signed with Quellwerk."))
    assert facts("nearly bought a boat") == []
    assert facts("We're having the flat painted.") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("My tutor, Mrs Abbot, is patient.", ["Maria tutor Mrs Abbot"]),
        ("My biggest client, Holm Prints, wants a price.", ["Maria biggest_client Holm Prints"]),
        ("My former tutor Mr Grant called.", []),
    ],
)
def test_who_serves_somebody_is_named_beside_the_word_for_it(text: str, expected: list[str]) -> None:
    assert facts(text) == expected
