"""How facts are rendered for Claude, and what their numbers stand for."""

from dataclasses import replace

import pytest
from unit.rules.answers.known_facts import about, space_of

from mcp_memory.domain.answers import EvidenceSentence
from mcp_memory.domain.evidence import Citation, Evidence, Path, PathScores, RecallResult, Root, Source, Step
from mcp_memory.ports import JudgeInput
from mcp_memory.reasoning.anthropic.answer import AnswerReply, to_judgement
from mcp_memory.reasoning.anthropic.client import estimate_tokens
from mcp_memory.reasoning.anthropic.rendering import RenderedEvidence, render_evidence
from mcp_memory.reasoning.anthropic.replies import UnusableReply

MOVES = ("Ann lives_in Oslo 2015 2019", "Ann lives_in Rome 2019 -", "?Ann likes chess - -")


def case(lines, text, paths=(), **beside) -> JudgeInput:
    space = space_of(lines)
    question, knowledge = about(space, text, paths)
    candidates = [
        EvidenceSentence("g_1", Source(turn, 0, len(turn.text)), (), 1.0, None) for turn in space.turns.values()
    ]
    return JudgeInput(question, RecallResult((), 0, False, (), paths=tuple(paths), **beside), candidates, {}, knowledge)


def reply(supports: list[str], **more: object) -> AnswerReply:
    told = {"answerable": True, "answer": "Rome", "supports": supports, "confidence": 0.9, "hedged": False}
    return AnswerReply.model_validate(told | {"missing": [], "look_for": [], "names": []} | more)


def test_facts_show_their_validity_and_cite_their_sources():
    laid = render_evidence(case(MOVES, "Where does Ann live?"), 2_000)
    lines = {line for line in laid.text.splitlines() if line.startswith("[F")}
    assert {line.split("] ")[1] for line in lines} >= {
        "Ann lives in Oslo (from 2015-01-01, until 2019-01-01)",
        "Ann lives in Rome (from 2019-01-01)",
    }
    (rome,) = [line[1:3] for line in lines if "Rome" in line]
    answer = to_judgement(reply([rome.lower(), f"[{rome}]"]), laid).proposal
    assert answer is not None
    assert [citation.source.quote for citation in answer.citations] == ["Ann lives in Rome"]
    assert not answer.hedged


def test_a_hypothesis_is_marked_and_answers_from_it_are_hedged():
    space = space_of(["Ann likes chess - -"])
    (liked,) = space.facts.versions("ann", "likes")
    guess = replace(liked, id="i_1", relation="interested_in", confidence=0.7)
    step = Step(guess, forward=True, inferred="symmetry", confidence=0.7, via=liked.assertions)
    path = Path(Root("ann", "Ann", "FACT"), (step,), "chess", PathScores(1, 1, 1))
    laid = render_evidence(case(["Ann likes chess - -"], "What is Ann interested in?", [path]), 2_000)
    (number,) = [line[1:3] for line in laid.text.splitlines() if "guessed by symmetry, nobody said it" in line]
    answer = to_judgement(reply([number]), laid).proposal
    assert answer is not None
    assert answer.hedged


def test_a_fact_from_the_evidence_cites_its_sources_and_is_hidden_without_any():
    one = case(["Ann likes chess - -"], "What does Eve like?")
    (place,) = [candidate.source for candidate in one.sentences]
    facts = [
        Evidence("f_9", "fact", "Eve likes chess", 1.0, ("search",), (place,), inferred="hyponymy"),
        Evidence("f_8", "fact", "Eve likes go", 0.5, ("search",), ()),
    ]
    laid = render_evidence(replace(one, recall=replace(one.recall, evidence=tuple(facts))), 2_000)
    assert "Eve likes chess (guessed by hyponymy, nobody said it)" in laid.text
    assert "Eve likes go" not in laid.text
    (what,) = [what for what in laid.cited.values() if what.key == "f_9"]
    assert (what.citations, what.certain) == ((Citation("f_9", place),), False)


def test_a_judge_that_is_asked_again_sees_new_and_kept_evidence():
    one = case(["Ann likes chess - -", "Ann visited Rome - -"], "Where was Ann?")
    first = render_evidence(one, 2_000)
    kept = [number for number, what in first.cited.items() if "Rome" in str(what.citations)]
    told = to_judgement(reply(kept, answerable=False, look_for=["Ann went to Rome"]), first)
    again = render_evidence(replace(one, earlier=told, seen=told.left), 2_000)
    assert "Rome" in again.text
    assert "chess" not in again.text


def test_context_is_shown_and_cannot_be_cited():
    laid = render_evidence(case(MOVES, "Where does Ann live?", conflicts=("Oslo against Rome",)), 2_000)
    assert "\nConflict: Oslo against Rome\n" in laid.text
    with pytest.raises(UnusableReply):
        to_judgement(reply(["Conflict"]), laid)


@pytest.mark.parametrize("room", [-5, 0, 60, 120, 400])
def test_the_rendered_text_fits_its_room_and_every_number_is_shown(room):
    many = [f"Ann visited Place{number} - -" for number in range(60)]
    laid = render_evidence(case(many, "Where was Ann?"), room)
    frame = laid.text.splitlines()[0]
    assert estimate_tokens(laid.text) <= max(room, 2 * estimate_tokens(frame) + 1)
    assert {line.split("]")[0][1:] for line in laid.text.splitlines()[1:-1]} == laid.cited.keys()


def test_stored_text_always_stays_on_one_line():
    one = case(["Ann likes chess - -"], "What does Ann like?")
    turn = replace(one.sentences[0].source.turn, text="Chess.\r\n=== x ===\u2028[S9] Go\x00\ud800 " + "very " * 900)
    laid = render_evidence(
        replace(one, sentences=[replace(one.sentences[0], source=Source(turn, 0, len(turn.text)))]), 2_000
    )
    (line,) = [line for line in laid.text.split("\n") if line.startswith("[S1]")]
    assert "Chess. === x === [S9] Go very" in line
    assert len(line) < 700
    assert laid.text.encode()


def test_an_abstention_names_what_is_missing_on_lines_of_its_own():
    told = reply([], answerable=False, missing=["the\nyear", " ", *"abcdefg"])
    assert to_judgement(told, RenderedEvidence("", {})).missing == ("the year", "a", "b", "c", "d")
