"""Coverage: how far the candidates hold the words and the speaker of the query, by which the loop goes on."""

from unit.search.small_space import ask, message, space_of

from mcp_memory.domain.evidence import Coverage
from mcp_memory.language.questions import understand
from mcp_memory.search.candidates import Candidate
from mcp_memory.services.recall.loop import judge_coverage
from mcp_memory.view.space import Space


def judged(space: Space, question: str, ranked: list[Candidate] | None = None) -> Coverage:
    return judge_coverage(
        space, understand(question, space.speakers), ask(space, question) if ranked is None else ranked
    )


def test_uncovered_words_are_missing_as_they_were_written() -> None:
    space = space_of(message("1", "Ann", "I painted my bicycle."), message("2", "Bob", "Nice."))
    assert judged(space, "When did Ann paint the Zeppelin's bicycles?").missing == ("Zeppelin's",)


def test_a_run_of_chinese_is_covered_when_half_of_its_stems_are() -> None:
    space = space_of(message("1", None, "我的狗叫小白"))
    assert judged(space, "我的狗叫什么?").missing == ()
    assert judged(space, "火车几点开?").missing == ("火车几点开",)


def test_a_query_without_content_words_is_judged_without_an_error() -> None:
    space = space_of(message("1", "Ann", "Hello."))
    for question in ("", "?", "Who was it?", "Ann", "🎉"):
        candidate = Candidate(0, 1.0, ("meaning",), {"meaning": 0.5})
        assert not judged(space, question, [candidate]).whole
