"""Facts of a paragraph with a title."""

from dataclasses import replace

from reading import facts, intervals, turn

from mcp_memory.domain.facts import told
from mcp_memory.domain.times import BEGINNING, FOREVER
from mcp_memory.rules.facts.extractor import RuleExtractor


def test_the_pronoun_at_the_start_of_a_paragraph_refers_to_its_title() -> None:
    assert facts("She studied law in Lund.", title="Ada Moor") == ["Ada Moor studies law"]


def test_an_apposition_states_role_and_origin() -> None:
    found = facts("Ada Moor, a botanist from Ottenau, won the Aga Prize.", title="Ada Moor")
    assert set(found) == {"Ada Moor won Aga Prize", "Ada Moor works_as botanist", "Ada Moor comes_from Ottenau"}


def test_a_passive_gives_the_fact_of_its_agent() -> None:
    assert facts("It was bought by the Karst Group.", title="Nord Freight") == ["Karst Group bought Nord Freight"]


def test_the_company_does_not_refer_to_a_person() -> None:
    assert facts("The company is based in Grauen, he said.", title="Ada Moor") == []


def test_a_surname_stands_for_the_whole_name_of_the_title() -> None:
    assert facts("Moor lives in Grauen.", title="Ada Moor") == ["Ada Moor lives_in Grauen"]


def test_an_office_keeps_start_and_end() -> None:
    found = intervals("He served as mayor of Ardell from 2006 to 2014.", title="Corin Hask")
    assert found == ["mayor of Ardell 2006-01-01 2015-01-01"]


def test_an_event_in_a_document_of_unknown_time_has_no_time() -> None:
    paper = replace(turn("Ada Moor visited Grauen.", title="Ada Moor"), said_at=None)
    (visit,) = RuleExtractor().extract(paper, None, [(0, len(paper.text))], [()])

    assert (visit.relation, visit.kind, visit.precision) == ("visited", "event", "before")
    assert (told(visit).since, told(visit).until, told(visit).before) == (BEGINNING, FOREVER, True)
