"""Links, rare entities and residual queries: from the best candidates to other texts."""

from dataclasses import replace

import numpy as np
import pytest
from small_space import ask, document, message, read, reading, refs

from mcp_memory.domain.query import Query
from mcp_memory.domain.turns import Turn
from mcp_memory.language.questions import understand
from mcp_memory.search.candidates import INDEXES, CandidateSet, find_candidates, rank_candidates
from mcp_memory.search.channels import EXPERIENCE
from mcp_memory.search.residual import MOST, ResidualQuery, remove_title, residual_queries, residual_scores
from mcp_memory.search.settings import SearchSettings
from mcp_memory.search.words import TITLE, TitleIndex
from mcp_memory.view.space import Space
from mcp_memory.view.view import View

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


def test_a_document_that_arrives_later_is_linked() -> None:
    first, later, other = mill()
    view = View(INDEXES)
    view.add(reading(first, other), 1)
    assert "jane" not in refs(view.space("x"), ask(view.space("x"), MILL))
    view.add(reading(later), 2)
    assert refs(view.space("x"), ask(view.space("x"), MILL)) == ["mill", "jane"]


def test_without_titles_the_subjects_of_first_sentences_are_linked() -> None:
    space = read(
        document("mill", None, "Red Mill is a theatre. Its founder was Jane Roe."),
        document("jane", None, "Jane Ann Roe (1850) was a singer. She came into this world near Turku."),
    )
    assert refs(space, ask(space, MILL)) == ["mill", "jane"]


def test_the_more_documents_share_a_title_the_less_each_gets() -> None:
    def passed_on(count: int) -> float:
        namesakes = [document(f"j{n}", "Jane Roe", f"Number {n} sang.") for n in range(count)]
        ranked = ask((space := read(mill()[0], *namesakes)), MILL, switches=SearchSettings(words=False))
        return next(candidate.scores["links"] for candidate in ranked if space.segment_turn[candidate.row].ref == "j0")

    assert passed_on(4) == pytest.approx(passed_on(1) / 2)


def test_a_document_whose_title_is_in_the_query_is_not_linked() -> None:
    space = read(*mill())
    ranked = ask(space, "Did the founder of Red Mill know Jane Roe?")
    jane = next(candidate for candidate in ranked if space.segment_turn[candidate.row].ref == "jane")
    assert "head" in jane.via
    assert not {"links", "entities"} & set(jane.via)


def test_less_is_passed_on_where_the_query_compares_two_things() -> None:
    space = read(*mill(), document("oak", "Golden Oak", "Golden Oak is an inn. Its founder was Ann Doe."))

    def passed_on(question: str) -> float:
        ranked = ask(space, question, switches=SearchSettings(words=False))
        return next(
            candidate.scores["links"] for candidate in ranked if space.segment_turn[candidate.row].ref == "jane"
        )

    assert passed_on("Red Mill or Golden Oak?") == pytest.approx(passed_on("Red Mill?") / 2**0.5)


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


def test_a_common_word_that_is_a_title_is_no_mention() -> None:
    space = read(document("mill", "Red Mill", "Red Mill is a theatre by a river."), document("r", "River", "It flows."))
    assert refs(space, ask(space, MILL)) == ["mill"]


def test_of_overlapping_titles_the_longest_is_mentioned() -> None:
    space = read(
        document("a", "York", "Old."), document("b", "New York", "New."), document("c", "New York City", "Big.")
    )
    index = space.index(TitleIndex)
    assert index.mentioned("In New York City and York.") == [("new", "york", "city"), ("york",)]
    assert index.mentioned("in New") == []


def test_the_best_segment_of_a_long_document_is_linked() -> None:
    text = "She sang. " * 3
    view = View(INDEXES)
    view.add(reading(mill()[0]), 1)
    view.add(reading(document("jane", "Jane Roe", text + "She was born near Turku.")), 2)
    space = view.space("x")
    assert [candidate.row for candidate in ask(space, MILL) if "links" in candidate.via] == [1]


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


def test_a_name_leads_nowhere_among_documents_with_one_subject() -> None:
    space = read(
        document("mill 1", "Red Mill: Beginnings", "Its founder was Jane Roe."),
        document("mill 2", "Red Mill: Later years", "Jane Roe stayed."),
    )
    assert not any("entities" in candidate.via for candidate in ask(space, MILL))


def test_a_message_leads_to_the_document_that_it_mentions() -> None:
    space = read(message("1", "Ann", "My boat has a leak, says Jane Roe."), mill()[1])
    assert refs(space, ask(space, "What is wrong with the boat?")) == ["1", "jane"]


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


def test_equally_linked_documents_are_ordered_by_id() -> None:
    namesakes = [document(ref, "Jane Roe", "She sang.") for ref in "dacb"]
    space = read(mill()[0], *namesakes)
    assert refs(space, ask(space, MILL)) == ["mill", "a", "b", "c", "d"]
    assert ask(space, MILL) == ask(space, MILL)


def test_scores_of_feedback_decide_which_seeds_are_followed() -> None:
    space = read(*mill())
    cosines = np.array([0.5, 0.0, 0.4], np.float32)
    learnt = {replace(EXPERIENCE, document=2.0): np.array([-1.0, 0.0, 1.0], np.float32)}
    ranked = ask(space, MILL, cosines, external=learnt)
    assert refs(space, ranked) == ["farm"]


def test_an_old_revision_has_no_links_in_either_direction() -> None:
    old, new = document("jane", "Jane Roe", "Once."), document("jane", "Jane Roe", "Twice.", revision=1)
    space = read(mill()[0], old, new)
    assert [candidate.row for candidate in ask(space, MILL)] == [0, 2]


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


def test_there_are_no_residual_queries_where_the_query_compares_the_seeds() -> None:
    space = read(*mill(), document("prize", "Golden Oak", "It went to Ann Doe."), document("ann", "Ann Doe", "A poet."))
    question = "Who is older, the founder of Red Mill or the winner of Golden Oak?"
    candidates = candidates_of(space, question)
    assert residuals_of(space, understand(question, ()), candidates) == []


def test_there_are_no_residual_queries_of_a_dated_query() -> None:
    space = read(*mill())
    question = understand("Where was the founder of Red Mill in 1901?", ())
    candidates = candidates_of(space, MILL)
    assert residuals_of(space, question, candidates) == []


def test_the_number_of_residual_queries_is_limited() -> None:
    names = [f"{first} {last}" for first in ("Jane", "Joan", "June") for last in ("Roe", "Doe")]
    text = f"Red Mill was founded by {', '.join(names)}."
    space = read(document("mill", "Red Mill", text), *(document(name, name, "A singer.") for name in names))
    assert len(residuals_of(space, understand(MILL, ()), candidates_of(space, MILL))) == MOST


def test_a_text_similar_to_a_residual_query_rises() -> None:
    space = read(*mill())
    candidates = candidates_of(space, MILL)
    given = residual_scores([ResidualQuery("", 1.0)], np.array([[0.2, 0.1, 0.9]], np.float32))
    assert given == pytest.approx([0, 0, 0.6])
    ranked = rank_candidates(space, candidates.add_residual(space, given))
    assert "residual" in next(candidate for candidate in ranked if space.segment_turn[candidate.row].ref == "farm").via
    assert "farm" not in refs(space, rank_candidates(space, candidates))
