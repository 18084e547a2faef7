"""Links and rare entities: from the best candidates to other texts."""

import numpy as np
import pytest
from small_space import ask, document, message, read, refs

from mcp_memory.domain.turns import Turn
from mcp_memory.search import links
from mcp_memory.search.words import TITLE

MILL = "Where was the founder of Red Mill born?"


def mill() -> list[Turn]:
    return [
        document("mill", "Red Mill", "Red Mill is a theatre. Its founder was Jane Roe."),
        document("jane", "Jane Roe", "She came into this world on a farm near Turku."),
        document("farm", "Green Hill", "The farm of the family was sold."),
    ]


def test_a_candidate_leads_to_the_document_that_it_mentions(monkeypatch: pytest.MonkeyPatch) -> None:
    space = read(*mill())
    assert refs(space, ask(space, MILL)) == ["mill", "jane"]
    assert "links" in ask(space, MILL)[1].via
    monkeypatch.setattr(links, "SEEDS", 0)
    assert refs(space, ask(space, MILL)) == ["mill"]


def test_two_compared_documents_come_before_what_they_lead_to() -> None:
    space = read(*mill(), document("oak", "Golden Oak", "An inn."))
    cosines = np.array([0.6, 0.3, 0.0, 0.1], np.float32)
    ranked = ask(space, "Is Red Mill or Golden Oak older?", cosines)
    assert refs(space, ranked)[:3] == ["mill", "oak", "jane"]
    led_to = ranked[2].scores["links"] + ranked[2].scores["meaning"]
    assert led_to > 0.1 + TITLE.document  # else the order would not need raising
    plain = ask(space, "Is Red Mill older, or golden oak?", cosines)
    assert refs(space, plain)[:3] == ["mill", "jane", "oak"]  # not called by name


def test_a_rare_name_leads_to_the_other_texts_that_contain_it(monkeypatch: pytest.MonkeyPatch) -> None:
    space = read(
        document("mill", "Red Mill", "Red Mill is a theatre. Its founder was Jane Roe."),
        document("prize", "Golden Oak", "In 1901 it went to Jane Roe."),
        document("farm", "Green Hill", "The family was rich."),
    )
    ranked = ask(space, MILL)
    assert refs(space, ranked) == ["mill", "prize"]
    assert ranked[1].via == ("entities",)
    monkeypatch.setattr(links, "RARE", 1)
    assert refs(space, ask(space, MILL)) == ["mill"]


def test_talk_leads_to_no_other_talk() -> None:
    space = read(
        message("1", "Ann", "Jane Roe mended my boat."),
        message("2", "Bob", "I met Jane Roe in Turku.", session="other"),
    )
    assert refs(space, ask(space, "Who mended the boat?")) == ["1"]
