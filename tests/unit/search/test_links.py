"""From what was found to what it mentions and names: links, rare entities, and what a question still asks."""

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
from mcp_memory.search.titles import TITLE, TitleIndex
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


def seen_by(space: Space, question: str) -> CandidateSet:
    cosines = np.zeros((2, len(space.segments)), np.float32)
    found = find_candidates(space, understand(question, space.speakers), cosines, SearchSettings())
    assert found is not None
    return found


def still_asked(space: Space, query: Query, seen: CandidateSet, *, always: bool) -> list[ResidualQuery]:
    return residual_queries(space, query, seen.seeds, seen.title_in_query, always=always)


def test_what_was_found_leads_to_the_document_that_it_mentions() -> None:
    space = read(*mill())
    assert refs(space, ask(space, MILL)) == ["mill", "jane"]
    assert "links" in ask(space, MILL)[1].via
    assert refs(space, ask(space, MILL, switches=OFF)) == ["mill"]


def test_a_document_that_arrives_later_is_linked_to() -> None:
    first, later, other = mill()
    view = View(INDEXES)
    view.add(reading(first, other), 1)
    assert "jane" not in refs(view.space("x"), ask(view.space("x"), MILL))
    view.add(reading(later), 2)
    assert refs(view.space("x"), ask(view.space("x"), MILL)) == ["mill", "jane"]


def test_without_titles_the_subjects_of_first_sentences_are_linked_to() -> None:
    space = read(
        document("mill", None, "Red Mill is a theatre. Its founder was Jane Roe."),
        document("jane", None, "Jane Ann Roe (1850) was a singer. She came into this world near Turku."),
    )
    assert refs(space, ask(space, MILL)) == ["mill", "jane"]


def test_the_more_documents_share_a_head_the_less_each_gets() -> None:
    def passed_on(count: int) -> float:
        namesakes = [document(f"j{n}", "Jane Roe", f"Number {n} sang.") for n in range(count)]
        hits = ask((space := read(mill()[0], *namesakes)), MILL, switches=SearchSettings(words=False))
        return next(hit.scores["links"] for hit in hits if space.segment_turn[hit.row].ref == "j0")

    assert passed_on(4) == pytest.approx(passed_on(1) / 2)


def test_a_document_whose_head_stands_in_the_question_is_not_linked_to() -> None:
    space = read(*mill())
    hits = ask(space, "Did the founder of Red Mill know Jane Roe?")
    jane = next(hit for hit in hits if space.segment_turn[hit.row].ref == "jane")
    assert "head" in jane.via
    assert not {"links", "entities"} & set(jane.via)


def test_where_two_things_are_compared_less_is_passed_on() -> None:
    space = read(*mill(), document("oak", "Golden Oak", "Golden Oak is an inn. Its founder was Ann Doe."))

    def passed_on(question: str) -> float:
        hits = ask(space, question, switches=SearchSettings(words=False))
        return next(hit.scores["links"] for hit in hits if space.segment_turn[hit.row].ref == "jane")

    assert passed_on("Red Mill or Golden Oak?") == pytest.approx(passed_on("Red Mill?") / 2**0.5)


def test_what_two_compared_things_lead_to_comes_after_both() -> None:
    space = read(*mill(), document("oak", "Golden Oak", "An inn."))
    cosines = np.array([[0.6, 0.3, 0.0, 0.1]], np.float32)
    linked = SearchSettings(rare_entities=False)
    hits = ask(space, "Is Red Mill or Golden Oak older?", cosines, switches=linked)
    assert refs(space, hits)[:3] == ["mill", "oak", "jane"]
    assert hits[2].scores["links"] + hits[2].scores["meaning"] > 0.1 + TITLE.document  # else it were no wonder
    plain = ask(space, "Is Red Mill older, or golden oak?", cosines, switches=linked)
    assert refs(space, plain)[:3] == ["mill", "jane", "oak"]  # not called by name


def test_a_common_word_that_is_a_head_is_no_mention() -> None:
    space = read(document("mill", "Red Mill", "Red Mill is a theatre by a river."), document("r", "River", "It flows."))
    assert refs(space, ask(space, MILL)) == ["mill"]


def test_of_heads_within_one_another_the_longest_is_mentioned() -> None:
    space = read(
        document("a", "York", "Old."), document("b", "New York", "New."), document("c", "New York City", "Big.")
    )
    index = space.index(TitleIndex)
    assert index.mentioned("In New York City and York.") == [("new", "york", "city"), ("york",)]
    assert index.mentioned("in New") == []


def test_of_a_long_document_the_best_segment_is_linked_to() -> None:
    text = "She sang. " * 3
    view = View(INDEXES)
    view.add(reading(mill()[0]), 1)
    view.add(reading(document("jane", "Jane Roe", text + "She was born near Turku.")), 2)
    space = view.space("x")
    assert [hit.row for hit in ask(space, MILL) if "links" in hit.via] == [1]


def test_a_rare_name_leads_to_the_others_that_name_it() -> None:
    space = read(
        document("mill", "Red Mill", "Red Mill is a theatre. Its founder was Jane Roe."),
        document("prize", "Golden Oak", "In 1901 it went to Jane Roe."),
        document("farm", "Green Hill", "The family was rich."),
    )
    hits = ask(space, MILL)
    assert refs(space, hits) == ["mill", "prize"]
    assert hits[1].via == ("entities",)
    assert refs(space, ask(space, MILL, switches=SearchSettings(rare_entities=False))) == ["mill"]


def test_a_name_leads_nowhere_among_documents_about_the_same() -> None:
    space = read(
        document("mill 1", "Red Mill: Beginnings", "Its founder was Jane Roe."),
        document("mill 2", "Red Mill: Later years", "Jane Roe stayed."),
    )
    assert not any("entities" in hit.via for hit in ask(space, MILL))


def test_talk_leads_to_the_document_that_it_mentions() -> None:
    space = read(message("1", "Ann", "My boat has a leak, says Jane Roe."), mill()[1])
    assert refs(space, ask(space, "What is wrong with the boat?")) == ["1", "jane"]


def test_talk_alone_is_ranked_as_if_nothing_led_on() -> None:
    space = read(
        message("1", "Ann", "Jane Roe mended my boat."),
        message("2", "Bob", "I met Jane Roe in Turku.", session="other"),
        message("3", "Ann", "It rains again.", session="third"),
    )
    for question in ("Who mended the boat?", "What did Bob do in Turku?"):
        assert ask(space, question) == ask(space, question, switches=OFF)
    assert still_asked(space, understand(MILL, ()), seen_by(space, "boat"), always=True) == []


@pytest.mark.parametrize("switch", ["links", "rare_entities"])
def test_a_way_on_that_is_switched_off_gives_nothing(switch: str) -> None:
    space = read(*mill(), document("prize", "Golden Oak", "It went to Jane Roe."))
    channel = switch.removeprefix("rare_")
    assert any(channel in hit.via for hit in ask(space, MILL))
    assert not any(channel in hit.scores for hit in ask(space, MILL, switches=SearchSettings(**{switch: False})))


def test_equal_ways_on_are_ordered_by_id() -> None:
    namesakes = [document(ref, "Jane Roe", "She sang.") for ref in "dacb"]
    space = read(mill()[0], *namesakes)
    assert refs(space, ask(space, MILL)) == ["mill", "a", "b", "c", "d"]
    assert ask(space, MILL) == ask(space, MILL)


def test_what_was_learnt_decides_from_where_it_goes_on() -> None:
    space = read(*mill())
    cosines = np.array([[0.5, 0.0, 0.4]], np.float32)
    learnt = {replace(EXPERIENCE, document=2.0): np.array([-1.0, 0.0, 1.0], np.float32)}
    hits = ask(space, MILL, cosines, external=learnt)
    assert refs(space, hits) == ["farm"]


def test_an_old_revision_neither_leads_on_nor_is_led_to() -> None:
    old, new = document("jane", "Jane Roe", "Once."), document("jane", "Jane Roe", "Twice.", revision=1)
    space = read(mill()[0], old, new)
    assert [hit.row for hit in ask(space, MILL)] == [0, 2]


def test_what_is_still_asked_leaves_out_what_the_head_explains_and_names_something_new() -> None:
    assert (
        remove_title("Where was the founder of the Red Mill born?", ("red", "mill"))
        == "Where was the founder of the born?"
    )
    assert remove_title("What is the Isle of Dogs?", ("isle", "of", "dogs")) == "What is the of"
    space = read(*mill(), document("prize", "Golden Oak", "It went to Jane Roe."))
    found = still_asked(space, understand(MILL, ()), seen_by(space, MILL), always=False)
    assert found[0].text == "Where was the founder of born? jane roe"


def test_nothing_is_still_asked_where_one_text_says_it_all() -> None:
    space = read(*mill(), document("prize", "Golden Oak", "It went to Jane Roe."))
    question = "Who was the founder of Red Mill?"
    seen = seen_by(space, question)
    assert still_asked(space, understand(question, ()), seen, always=False) == []
    assert still_asked(space, understand(question, ()), seen, always=True)


def test_nothing_is_still_asked_where_the_question_compares_what_was_found() -> None:
    space = read(*mill(), document("prize", "Golden Oak", "It went to Ann Doe."), document("ann", "Ann Doe", "A poet."))
    question = "Who is older, the founder of Red Mill or the winner of Golden Oak?"
    seen = seen_by(space, question)
    assert still_asked(space, understand(question, ()), seen, always=False) == []
    assert still_asked(space, understand(question, ()), seen, always=True)


def test_nothing_is_still_asked_of_a_dated_question() -> None:
    space = read(*mill())
    question = understand("Where was the founder of Red Mill in 1901?", ())
    seen = seen_by(space, MILL)
    assert still_asked(space, question, seen, always=False) == []
    assert still_asked(space, question, seen, always=True)


def test_only_so_many_texts_are_embedded() -> None:
    names = [f"{first} {last}" for first in ("Jane", "Joan", "June") for last in ("Roe", "Doe")]
    text = f"Red Mill was founded by {', '.join(names)}."
    space = read(document("mill", "Red Mill", text), *(document(name, name, "A singer.") for name in names))
    assert len(still_asked(space, understand(MILL, ()), seen_by(space, MILL), always=True)) == MOST


def test_a_text_that_is_like_what_is_still_asked_rises() -> None:
    space = read(*mill())
    seen = seen_by(space, MILL)
    given = residual_scores([ResidualQuery("", 1.0)], np.array([[0.2, 0.1, 0.9]], np.float32))
    assert given == pytest.approx([0, 0, 0.6])
    hits = rank_candidates(space, seen.add_residual(space, given))
    assert "residual" in next(hit for hit in hits if space.segment_turn[hit.row].ref == "farm").via
    assert "farm" not in refs(space, rank_candidates(space, seen))
