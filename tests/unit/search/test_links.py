"""Links, rare entities and residual queries: from the best candidates to other texts."""

import numpy as np
import pytest
from small_space import ask, document, message, read, refs

from mcp_memory.domain.query import Query
from mcp_memory.domain.turns import Turn
from mcp_memory.language.questions import understand
from mcp_memory.search.candidates import CandidateSet, find_candidates, rank_candidates
from mcp_memory.search.links import ResidualQuery, remove_title, residual_queries, residual_scores
from mcp_memory.search.settings import SearchSettings
from mcp_memory.search.words import TITLE
from mcp_memory.view.space import Space

MILL = "Where was the founder of Red Mill born?"
OFF = SearchSettings(links=False, rare_entities=False, residual=False)


def mill() -> list[Turn]:
    return [
        document("mill", "Red Mill", "Red Mill is a theatre. Its founder was Jane Roe."),
        document("jane", "Jane Roe", "She came into this world on a farm near Turku."),
        document("farm", "Green Hill", "The farm of the family was sold."),
    ]


def candidates_of(space: Space, question: str) -> CandidateSet:
    cosines = np.zeros(len(space.segments), np.float32)
    found = find_candidates(space, understand(question, space.speakers), cosines, SearchSettings())
    assert found is not None
    return found


def residuals_of(space: Space, query: Query, candidates: CandidateSet) -> list[ResidualQuery]:
    return residual_queries(space, query, candidates.seeds, candidates.title_in_query)


def test_a_candidate_leads_to_the_document_that_it_mentions() -> None:
    space = read(*mill())
    assert refs(space, ask(space, MILL)) == ["mill", "jane"]
    assert "links" in ask(space, MILL)[1].via
    assert refs(space, ask(space, MILL, switches=OFF)) == ["mill"]


def test_the_more_documents_share_a_title_the_less_each_gets() -> None:
    def passed_on(count: int) -> float:
        namesakes = [document(f"j{n}", "Jane Roe", f"Number {n} sang.") for n in range(count)]
        ranked = ask((space := read(mill()[0], *namesakes)), MILL, switches=SearchSettings(words=False))
        return next(candidate.scores["links"] for candidate in ranked if space.segment_turn[candidate.row].ref == "j0")

    assert passed_on(4) == pytest.approx(passed_on(1) / 2)


def test_two_compared_documents_come_before_what_they_lead_to() -> None:
    space = read(*mill(), document("oak", "Golden Oak", "An inn."))
    cosines = np.array([0.6, 0.3, 0.0, 0.1], np.float32)
    linked = SearchSettings(rare_entities=False)
    ranked = ask(space, "Is Red Mill or Golden Oak older?", cosines, switches=linked)
    assert refs(space, ranked)[:3] == ["mill", "oak", "jane"]
    assert (
        ranked[2].scores["links"] + ranked[2].scores["meaning"] > 0.1 + TITLE.document
    )  # else the order would not need raising
    plain = ask(space, "Is Red Mill older, or golden oak?", cosines, switches=linked)
    assert refs(space, plain)[:3] == ["mill", "jane", "oak"]  # not called by name


def test_a_rare_name_leads_to_the_other_texts_that_contain_it() -> None:
    space = read(
        document("mill", "Red Mill", "Red Mill is a theatre. Its founder was Jane Roe."),
        document("prize", "Golden Oak", "In 1901 it went to Jane Roe."),
        document("farm", "Green Hill", "The family was rich."),
    )
    ranked = ask(space, MILL)
    assert refs(space, ranked) == ["mill", "prize"]
    assert ranked[1].via == ("entities",)
    assert refs(space, ask(space, MILL, switches=SearchSettings(rare_entities=False))) == ["mill"]


def test_a_space_without_documents_is_ranked_as_if_there_were_no_links() -> None:
    space = read(
        message("1", "Ann", "Jane Roe mended my boat."),
        message("2", "Bob", "I met Jane Roe in Turku.", session="other"),
        message("3", "Ann", "It rains again.", session="third"),
    )
    for question in ("Who mended the boat?", "What did Bob do in Turku?"):
        assert ask(space, question) == ask(space, question, switches=OFF)
    assert residuals_of(space, understand(MILL, ()), candidates_of(space, "boat")) == []


@pytest.mark.parametrize("switch", ["links", "rare_entities"])
def test_links_or_entities_that_are_switched_off_give_nothing(switch: str) -> None:
    space = read(*mill(), document("prize", "Golden Oak", "It went to Jane Roe."))
    channel = switch.removeprefix("rare_")
    assert any(channel in candidate.via for candidate in ask(space, MILL))
    assert not any(
        channel in candidate.scores for candidate in ask(space, MILL, switches=SearchSettings(**{switch: False}))
    )


def test_a_residual_query_drops_the_words_of_the_title_and_adds_a_new_name() -> None:
    assert (
        remove_title("Where was the founder of the Red Mill born?", ("red", "mill"))
        == "Where was the founder of the born?"
    )
    assert remove_title("What is the Isle of Dogs?", ("isle", "of", "dogs")) == "What is the of"
    space = read(*mill(), document("prize", "Golden Oak", "It went to Jane Roe."))
    found = residuals_of(space, understand(MILL, ()), candidates_of(space, MILL))
    assert found[0].text == "Where was the founder of born? jane roe"


def test_there_are_no_residual_queries_where_one_text_contains_most_of_the_query() -> None:
    space = read(*mill(), document("prize", "Golden Oak", "It went to Jane Roe."))
    question = "Who was the founder of Red Mill?"
    candidates = candidates_of(space, question)
    assert residuals_of(space, understand(question, ()), candidates) == []


def test_a_text_similar_to_a_residual_query_rises() -> None:
    space = read(*mill())
    candidates = candidates_of(space, MILL)
    given = residual_scores([ResidualQuery("", 1.0)], np.array([[0.2, 0.1, 0.9]], np.float32))
    assert given == pytest.approx([0, 0, 0.6])
    ranked = rank_candidates(space, candidates.add_residual(space, given))
    assert "residual" in next(candidate for candidate in ranked if space.segment_turn[candidate.row].ref == "farm").via
    assert "farm" not in refs(space, rank_candidates(space, candidates))
