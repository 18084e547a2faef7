"""What gates do to proposals: less sure and hedged below 1, surer but never certain above, untouched at 1."""

import pytest

from mcp_memory.domain.answers import EvidenceSentence, KnownFacts, Proposal
from mcp_memory.domain.evidence import Citation, Source
from mcp_memory.domain.turns import Turn
from mcp_memory.language.questions import understand
from mcp_memory.rules.answers.settings import FeedbackGate, SpanSettings
from mcp_memory.rules.answers.span_answers import answer_from_spans

TAUGHT = FeedbackGate()
PLAIN = Proposal("Oslo", 0.6, False, ())


def test_where_nothing_was_learnt_a_proposal_is_the_very_same() -> None:
    assert TAUGHT.apply(PLAIN, 1.0) is PLAIN


@pytest.mark.parametrize("gate", [0.0, 0.4, 0.999])
def test_below_1_the_gate_multiplies_and_hedges(gate: float) -> None:
    found = TAUGHT.apply(PLAIN, gate)
    assert (found.confidence, found.hedged, found.gate) == (0.6 * gate, True, gate)


@pytest.mark.parametrize("before", [0.0, 0.2, 0.9, 1.0])
def test_above_1_it_is_surer_the_more_so_the_higher_the_gate_and_stays_between_0_and_1(before: float) -> None:
    found = [TAUGHT.apply(Proposal("Oslo", before, False, ()), gate).confidence for gate in (1.0, 1.3, 1.7, 2.0)]
    assert found == sorted(found)
    assert found[-1] > before or before in (0.0, 1.0)
    assert 0 <= found[-1] <= 1


def test_a_caller_decides_only_between_what_is_wrong_and_what_is_known_to_help() -> None:
    wrong, new, hinted, right = (TAUGHT.apply(PLAIN, gate) for gate in (0.8, 1.0, 1.1, 1.5))
    assert TAUGHT.preferred(right, wrong) is right
    assert TAUGHT.preferred(wrong, right) is right
    assert [TAUGHT.preferred(*two) for two in ((new, right), (wrong, new), (hinted, wrong))] == [None] * 3


def test_the_gate_of_several_citations_is_the_lowest_and_of_one_that_of_the_sentence_farthest_from_1() -> None:
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


def read(*told: tuple[str, float, float], asked: str = "Where did the telescope come from?") -> Proposal:
    """Return what is proposed of sentences, each with the score of its evidence and its gate."""
    candidates = []
    for place, (text, score, gate) in enumerate(told):
        turn = Turn(f"t{place}", "d", "s", f"{place}", "message", text, "Ann", None, None, 0, 0, 0, place)
        candidates.append(EvidenceSentence(f"s{place}", Source(turn, 0, len(text)), (), score, 0.5, gate))
    found = answer_from_spans(understand(asked, ["Ann"], 0), candidates, {}, SpanSettings())
    assert found is not None
    return found


WEXHAM, DUNMORE = "The telescope came from a shop in Wexham.", "It is from a fair in Dunmore."


def test_what_was_called_wrong_gives_way_to_what_is_known_to_help_however_well_it_is_found() -> None:
    assert read((WEXHAM, 1.0, 0.9), (DUNMORE, 0.1, 1.0)).text == "Wexham"
    found = read((WEXHAM, 1.0, 0.9), (DUNMORE, 0.1, 1.3))
    assert (found.text, found.gate, found.hedged) == ("Dunmore", 1.3, False)


def test_the_same_answer_out_of_another_sentence_is_as_wrong() -> None:
    found = read((WEXHAM, 0.5, 0.7), ("I bought it in Wexham.", 1.0, 1.6))
    assert (found.text, found.gate, found.hedged) == ("Wexham", 0.7, True)


def test_a_sentence_that_is_known_to_help_bears_on_the_question_without_a_word_of_it() -> None:
    assert read((DUNMORE, 1.0, 1.2)).confidence == 0
    assert read((DUNMORE, 1.0, 1.3)).confidence > 0
