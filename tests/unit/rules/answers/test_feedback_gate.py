"""What gates do to proposals: below 1 less confident and hedged, above 1 more confident, at 1 unchanged."""

import pytest

from mcp_memory.domain.answers import EvidenceSentence, KnownFacts, Proposal
from mcp_memory.domain.evidence import Citation, Source
from mcp_memory.domain.turns import Turn
from mcp_memory.language.questions import understand
from mcp_memory.rules.answers.settings import FeedbackGate, SpanSettings
from mcp_memory.rules.answers.span_answers import answer_from_spans
from mcp_memory.rules.answers.support import wanted_span, weigh_sentences

GATE = FeedbackGate()
PLAIN = Proposal("Oslo", 0.6, False, ())


def test_without_feedback_a_proposal_is_unchanged() -> None:
    assert GATE.apply(PLAIN, 1.0) is PLAIN


@pytest.mark.parametrize("gate", [0.0, 0.4, 0.999])
def test_a_gate_below_1_multiplies_the_confidence_and_hedges(gate: float) -> None:
    found = GATE.apply(PLAIN, gate)
    assert (found.confidence, found.hedged, found.gate) == (0.6 * gate, True, gate)


@pytest.mark.parametrize("before", [0.0, 0.2, 0.9, 1.0])
def test_a_gate_above_1_raises_the_confidence_and_keeps_it_below_1(before: float) -> None:
    found = [GATE.apply(Proposal("Oslo", before, False, ()), gate).confidence for gate in (1.0, 1.3, 1.7, 2.0)]
    assert found == sorted(found)
    assert found[-1] > before or before in (0.0, 1.0)
    assert 0 <= found[-1] <= 1


def test_feedback_decides_only_between_a_wrong_and_a_helpful_proposal() -> None:
    wrong, new, hinted, right = (GATE.apply(PLAIN, gate) for gate in (0.8, 1.0, 1.1, 1.5))
    assert GATE.preferred(right, wrong) is right
    assert GATE.preferred(wrong, right) is right
    assert [GATE.preferred(*two) for two in ((new, right), (wrong, new), (hinted, wrong))] == [None] * 3


def test_several_citations_have_the_lowest_gate_and_one_has_that_of_its_most_affected_sentence() -> None:
    turns = [Turn(name, "d", "s", name, "message", "One. Two. Three.", None, None, None, 0, 0, 0, 0) for name in "ab"]
    gates = {"a": [(0, 4, 1.2), (5, 9, 0.4)], "b": [(0, 4, 1.5)]}
    knowledge = KnownFacts(0, False, False, (), {}, {}, gates)
    first, both, third, other = (
        Citation("e", Source(turns[turn], start, end))
        for turn, start, end in ((0, 0, 4), (0, 0, 9), (0, 10, 16), (1, 0, 4))
    )
    assert [knowledge.gate([one]) for one in (first, both, third, other)] == [1.2, 0.4, 1.0, 1.5]
    assert knowledge.gate([first, other]) == 1.2
    assert knowledge.gate([]) == 1.0


def proposed(*lines: tuple[str, float, float], asked: str = "Where did the telescope come from?") -> Proposal | None:
    """Return the proposal from sentences, each given with the score of its evidence and its gate."""
    candidates = []
    for place, (text, score, gate) in enumerate(lines):
        turn = Turn(f"t{place}", "d", "s", f"{place}", "message", text, "Ann", None, None, 0, 0, 0, place)
        candidates.append(EvidenceSentence(f"s{place}", Source(turn, 0, len(text)), (), score, 0.5, gate))
    wanted = wanted_span(understand(asked, ["Ann"], 0))
    weighed = weigh_sentences(wanted, candidates, {}, SpanSettings().support)
    return answer_from_spans(wanted, weighed, {}, SpanSettings())


def read(*lines: tuple[str, float, float]) -> Proposal:
    found = proposed(*lines)
    assert found is not None
    return found


WEXHAM, DUNMORE = "The telescope came from a shop in Wexham.", "It is from a fair in Dunmore."


def test_a_wrong_answer_gives_way_to_a_helpful_sentence_of_lower_score() -> None:
    assert read((WEXHAM, 1.0, 0.9), (DUNMORE, 0.1, 1.0)).text == "Wexham"
    found = read((WEXHAM, 1.0, 0.9), (DUNMORE, 0.1, 1.3))
    assert (found.text, found.gate, found.hedged) == ("Dunmore", 1.3, False)


def test_a_wrong_answer_is_wrong_in_other_sentences_too() -> None:
    found = read((WEXHAM, 0.5, 0.7), ("I bought it in Wexham.", 1.0, 1.6))
    assert (found.text, found.gate, found.hedged) == ("Wexham", 0.7, True)


def test_a_helpful_sentence_is_relevant_without_a_word_of_the_question() -> None:
    assert proposed((DUNMORE, 1.0, 1.2)) is None
    assert read((DUNMORE, 1.0, 1.3)).confidence > 0
