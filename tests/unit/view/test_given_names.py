"""Which given names join a speaker or a described relative with a name, in any order of arrival."""

from itertools import permutations

import pytest
from asserting import asserted, shown

from mcp_memory.domain.facts import CERTAIN, Assertion
from mcp_memory.view.facts import Facts

INF = float("inf")


def named(name: str, since: int = 10, *, head: str = "user", relation: str = "named", **said: object) -> Assertion:
    return asserted(name, since, head=head, relation=relation, extractor="embedded", **said)  # type: ignore[arg-type]


def facts_of(*said: Assertion, speakers: tuple[str, ...] = ("user",)) -> Facts:
    facts = Facts()
    for speaker in speakers:
        facts.add_speaker(speaker)
    for one in said:
        facts.add([one])
        list(facts.all())  # cached results must not matter
    return facts


def joined(facts: Facts, name: str, entity: str = "user") -> bool:
    return facts.key(name) == entity


TOLD = (named("Torvi"), asserted("Oslo", 2010, head="user"), asserted("Lima", 2015, head="Torvi"))


@pytest.mark.parametrize("order", list(permutations(TOLD)))
def test_a_speaker_is_joined_with_the_name_that_they_gave(order: tuple[Assertion, ...]) -> None:
    facts = facts_of(*order)
    assert facts.resolve("Torvi") == facts.resolve("user") == "user"
    assert shown(facts.versions("user", "lives_in")) == [("Oslo", 2010, 2015), ("Lima", 2015, INF)]
    assert [version.tail for version in facts.versions("user", "named")] == ["Torvi"]
    (alias,) = facts.inferred_aliases("user")
    assert (alias.name, alias.alias, alias.source) == ("user", "Torvi", "embedded")


DOUBTS = {
    "a friend of the speaker": asserted("Torvi", head="user", relation="friend_of"),
    "the speaker's child": asserted("user", head="Torvi", relation="child_of"),
    "the wife of another speaker": asserted("Torvi", head="Ketil", relation="married_to"),
    "the pet of another speaker": asserted("Torvi", head="Ketil", relation="has_pet"),
    "a denial by the caller": asserted("Torvi", 20, head="user", relation="also_known_as", negated=True),
    "a denial of the name": named("Torvi", 20, negated=True),
    "a place of that name": asserted("Torvi", head="Ketil", relation="lives_in"),
}


@pytest.mark.parametrize("doubt", DOUBTS)
@pytest.mark.parametrize("late", [True, False])
def test_a_speaker_is_not_joined_with_a_stranger(doubt: str, late: bool) -> None:
    said = (*TOLD, DOUBTS[doubt]) if late else (DOUBTS[doubt], *TOLD)
    facts = facts_of(*said, speakers=("user", "Ketil"))
    assert not joined(facts, "Torvi")
    assert shown(facts.versions("user", "lives_in")) == [("Oslo", 2010, INF)]
    assert facts.inferred_aliases("user") == []


def test_a_name_that_is_not_certain_makes_nobody_the_speaker() -> None:
    """A message that says more ("I am Torvi from the bank; your card is locked") is a pasted mail as often as not."""
    assert not joined(facts_of(named("Torvi", confidence=CERTAIN - 0.1), *TOLD[1:]), "Torvi")
    assert joined(facts_of(named("Torvi", confidence=CERTAIN), *TOLD[1:]), "Torvi")


SECOND = (named("Torvi", 10), named("Skarde", 20))


@pytest.mark.parametrize("order", [SECOND, SECOND[::-1]])
def test_of_two_names_the_first_one_counts(order: tuple[Assertion, ...]) -> None:
    facts = facts_of(*order)
    assert (joined(facts, "Torvi"), joined(facts, "Skarde")) == (True, False)


def test_a_correction_joins_the_new_name() -> None:
    facts = facts_of(named("Torva", 10), named("Torvi", 20, change=True), named("Torva", 20, negated=True))
    assert (joined(facts, "Torvi"), joined(facts, "Torva")) == (True, False)


RELATIVE = (
    named("Runa", head="user's sister"),
    asserted("Tarn", 2010, head="Runa"),
    asserted("cello", 2011, head="user's sister", relation="plays"),
)


@pytest.mark.parametrize("order", list(permutations(RELATIVE)))
def test_a_described_relative_is_joined_with_the_name(order: tuple[Assertion, ...]) -> None:
    facts = facts_of(*order)
    assert facts.resolve("user's sister") == facts.resolve("Runa") == "runa"
    assert [version.text for version in facts.versions("runa", "plays")] == ["Runa plays cello"]


@pytest.mark.parametrize("first", [True, False])
def test_a_description_with_two_names_is_joined_with_neither(first: bool) -> None:
    other = named("Ida", head="user's sister")
    facts = facts_of(*((other, *RELATIVE) if first else (*RELATIVE, other)))
    assert facts.resolve("user's sister") == "user's sister"
    assert not list(facts.versions("runa", "plays"))


def told(*texts: str) -> Facts:
    by_turn = {f"t_{number}": text for number, text in enumerate(texts)}
    facts = Facts(text_of=lambda turn: by_turn.get(turn, ""))
    facts.add_speaker("user")
    for number, text in enumerate(texts):
        home = text.removesuffix(".").split()[-1]
        facts.add([asserted(home, 10 + number, head="Liv", turn=f"t_{number}", confidence=0.95)])
        list(facts.all())
    return facts


@pytest.mark.parametrize(
    "texts",
    [
        ("My sister Liv lives in Oslo.", "My new boss Liv lives in Lima."),
        ("Our nurse Liv lives in Oslo.", "Tom's aunt Liv lives in Lima."),
    ],
)
def test_people_of_one_name_who_are_told_apart_stay_two(texts: tuple[str, str]) -> None:
    for order in (texts, texts[::-1]):
        versions = told(*order).versions("liv", "lives_in")
        assert {version.tail for version in versions if version.current} == {"Oslo", "Lima"}
        assert all(version.confidence < CERTAIN for version in versions)


def test_the_user_is_nobody_whose_name_has_that_word() -> None:
    facts = facts_of(asserted("Lima", head="forum user"), speakers=("forum user",))
    assert facts.key("user") == "user"
    assert shown(facts.versions("forum user", "lives_in")) == [("Lima", 0, INF)]
