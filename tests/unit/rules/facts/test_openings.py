"""Facts of the first sentences of encyclopaedia articles, by their fixed form."""

import random

import pytest
from reading import facts, read, shown, turn

from mcp_memory.language.segments import split
from mcp_memory.language.stated import stated_times
from mcp_memory.rules.facts.openings import opening_assertions


def fact_set(text: str, title: str | None) -> set[str]:
    return set(facts(text, title=title))


def _opening(text: str, title: str) -> list[str]:
    """Return the facts of the opening alone, without the general rules."""
    spans = split(text)
    times = [stated_times(text, None, *span) for span in spans]
    return [f"{fact.relation} {fact.tail}" for fact in opening_assertions(turn(text, title=title), spans, times)]


def test_the_bracket_behind_a_name_gives_birth_and_death() -> None:
    text = "Ada Moor (4 May 1950, Ottenau, Norland – 3 June 2001) was a Danish poet and painter."
    assert fact_set(text, "Ada Moor") == {
        "Ada Moor born_on 4 May 1950",
        "Ada Moor born_in Ottenau",
        "Ada Moor died_on 3 June 2001",
        "Ada Moor nationality Danish",
        "Ada Moor works_as poet",
        "Ada Moor is_a painter",
    }


def test_a_birth_date_holds_from_its_day() -> None:
    told = [shown(fact) for fact in read("Ada Moor (born 4 May 1950 in Ottenau) is a poet.", title="Ada Moor")]
    assert "Ada Moor born_on 4 May 1950 | 1950-05-04 to … state -" in told


def test_a_birth_name_is_no_place() -> None:
    found = fact_set("Ada Moor (born Jane Doel, May 4, 1950) is an actress.", "Ada Moor")
    assert {"Ada Moor also_known_as Jane Doel", "Ada Moor born_on May 4, 1950"} <= found
    assert not any(" born_in " in fact for fact in found)


def test_an_uncertain_year_keeps_its_circa() -> None:
    found = fact_set("Otto Harn (c. 1430 – 1482) was a Danish sculptor.", "Otto Harn")
    assert {"Otto Harn born_on c. 1430", "Otto Harn died_on 1482"} <= found


def test_years_behind_anything_but_a_person_are_no_birth_and_death() -> None:
    found = fact_set("The Harn War (1430 – 1482) was a war in Ottenau.", "Harn War")
    assert not any("born" in fact or "died" in fact for fact in found)


def test_the_credits_of_a_film_are_read_name_by_name() -> None:
    text = (
        "Grey Tide is a 1958 Danish comedy film directed and written by Tom Gale, produced by Ada Moor and starring"
        " Ida Falk, Ben Ost and Cai Roe."
    )
    assert fact_set(text, "Grey Tide (film)") == {
        "Grey Tide is_a comedy film",
        "Grey Tide comes_from Danish",
        "Grey Tide released_on 1958",
        "Grey Tide directed_by Tom Gale",
        "Grey Tide written_by Tom Gale",
        "Grey Tide produced_by Ada Moor",
        "Grey Tide stars Ida Falk",
        "Grey Tide stars Ben Ost",
        "Grey Tide stars Cai Roe",
    }


def test_the_credits_of_another_work_are_left_out() -> None:
    assert _opening("Grey Tide is a remake of the 1931 film directed by Tom Gale.", "Grey Tide") == ["is_a remake"]


def test_a_spouse_behind_born_is_no_parent() -> None:
    found = _opening("Ada Moor was born in Felden, and was married to opera singer Cai Roe.", "Ada Moor")
    assert "child_of Cai Roe" not in found


def test_a_song_is_performed_by_its_singer_not_by_her_nationality() -> None:
    assert "Low Water performed_by Ida Falk" in fact_set(
        '"Low Water" is a song by Danish singer Ida Falk.', "Low Water (song)"
    )


def test_a_later_sentence_about_the_work_is_read_in_the_same_way() -> None:
    found = fact_set(
        "Grey Tide is a 1958 film. The film stars Ida Falk and was released on 4 May 1958.", "Grey Tide (1958 film)"
    )
    assert {"Grey Tide stars Ida Falk", "Grey Tide released_on 4 May 1958"} <= found


def test_a_title_behind_a_comma_belongs_to_the_name() -> None:
    found = fact_set(
        "Ida of Harn (1600 – 1652) was the eldest daughter of Otto II, Duke of Harn and Eva Falk.", "Ida of Harn"
    )
    assert {"Ida of Harn child_of Otto II, Duke of Harn", "Ida of Harn child_of Eva Falk"} <= found


def test_a_place_lies_in_each_place_of_its_chain() -> None:
    found = fact_set("Felden is a village in Harn District, Ottenau, in northern Norland.", "Felden, Ottenau")
    assert {f"Felden, Ottenau located_in {place}" for place in ("Harn District", "Ottenau", "Norland")} <= found


def test_a_company_has_its_location_and_founding_year() -> None:
    text = "Karst Motors is a Danish company based in Grauen, Norland. It was founded in 1926 by Tom Gale."
    found = fact_set(text, "Karst Motors")
    assert {"Karst Motors located_in Grauen", "Karst Motors founded_on 1926", "Karst Motors comes_from Danish"} <= found


def test_a_section_that_begins_with_another_subject_is_no_opening() -> None:
    assert _opening("The mill was built by Tom Gale, also known as Gale the Elder.", "Felden: History") == []


def test_a_section_is_about_its_article() -> None:
    assert "Ada Moor works_as poet" in fact_set("Moor is a Danish poet.", "Ada Moor: Life")


def test_a_message_has_no_opening() -> None:
    assert not any("born_on" in fact for fact in facts("Ada Moor (born 4 May 1950) is a poet."))


@pytest.mark.parametrize("seed", range(20))
def test_every_fact_of_a_random_text_lies_in_its_sentence(seed: int) -> None:
    chance = random.Random(seed)
    parts = [
        *"().,;–-\"'&/ ",
        " born ",
        " was a ",
        "Ada ",
        "Moor ",
        "1950",
        " directed by ",
        " and ",
        "Ø",
        "\u0301",
        "in ",
    ]
    text = "Ada Moor " + "".join(chance.choice(parts) for _ in range(400))
    spans = split(text)
    for fact in read(text, title="Ada Moor"):
        start, end = spans[fact.sentence]
        assert start <= fact.start < fact.end <= end


@pytest.mark.parametrize("title", ["Rothley", "Other"])
def test_what_stands_beside_a_name_is_not_told_of_the_subject(title: str) -> None:
    told = facts("Rothley is a large suburb of Brennau, the state capital of Norland.", title=title)
    assert not any(fact.startswith("Rothley capital_of") for fact in told)
