"""What a paragraph with a title tells."""

from telling import facts, held


def test_the_pronoun_that_opens_a_paragraph_is_what_its_title_names() -> None:
    assert facts("She studied law in Lund.", title="Ada Moor") == ["Ada Moor studies law"]


def test_an_apposition_tells_role_and_origin() -> None:
    told = facts("Ada Moor, a botanist from Ottenau, won the Aga Prize.", title="Ada Moor")
    assert set(told) == {"Ada Moor won Aga Prize", "Ada Moor works_as botanist", "Ada Moor comes_from Ottenau"}


def test_a_passive_gives_the_fact_of_who_did_it() -> None:
    assert facts("It was bought by the Karst Group.", title="Nord Freight") == ["Karst Group bought Nord Freight"]


def test_the_company_is_no_name_for_a_person() -> None:
    assert facts("The company is based in Grauen, he said.", title="Ada Moor") == []


def test_a_surname_stands_for_the_whole_name_of_the_title() -> None:
    assert facts("Moor lives in Grauen.", title="Ada Moor") == ["Ada Moor lives_in Grauen"]


def test_a_career_keeps_both_its_ends() -> None:
    told = held("He served as mayor of Ardell from 2006 to 2014.", title="Corin Hask")
    assert told == ["mayor of Ardell 2006-01-01 2015-01-01"]
