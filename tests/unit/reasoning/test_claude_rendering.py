"""How facts are rendered for Claude, and what their numbers stand for."""

from dataclasses import replace

import pytest
from standin.replies import judgement
from unit.rules.answers.known_facts import about, guessed_path, space_of

from mcp_memory.domain.answers import EvidenceSentence
from mcp_memory.domain.evidence import RecallResult, Source, Wish
from mcp_memory.domain.points import Point
from mcp_memory.domain.times import DAY
from mcp_memory.language.wishes import as_said
from mcp_memory.ports import JudgeInput
from mcp_memory.reasoning.answer import FULL_WORDS, AnswerForm, to_judgement
from mcp_memory.reasoning.client import estimate_tokens
from mcp_memory.reasoning.evidence import KEPT, NEW, render_evidence

MOVES = ("Ann lives_in Oslo 2015 2019", "Ann lives_in Rome 2019 -", "?Ann likes chess - -")


def case(lines, text, paths=(), **beside):
    space = space_of(lines)
    question, knowledge = about(space, text, paths)
    candidates = [EvidenceSentence("g_1", Source(turn, 0, len(turn.text))) for turn in space.turns.values()]
    return JudgeInput(question, RecallResult((), 0, False, (), paths=tuple(paths), **beside), candidates, knowledge)


def reply(supports, answer="Rome", **more):
    return AnswerForm.model_validate(judgement(answer, tuple(supports), **more))


def test_a_fact_that_holds_is_shown_with_its_validity_and_cites_its_sentence():
    laid = render_evidence(case(MOVES, "Where does Ann live?"), 2_000)
    line = next(line for line in laid.text.splitlines() if line.startswith("[F") and "lives" in line)
    assert line.split("] ")[1] == "Ann lives in Rome (from 2019-01-01)"  # Oslo is over
    answer = to_judgement(reply([line[1:3].lower(), line[:4]]), laid).proposal
    assert [citation.source.quote for citation in answer.citations] == ["Ann lives in Rome"]
    assert not answer.hedged


def test_a_point_leads_and_cites_the_sentences_that_it_rests_on():
    one = case(["Ann likes chess - -", "Ann visited Rome - -"], "What does Ann like?")
    point = Point("h_1", "s", ("Ann", "chess"), "Ann and chess", "", 0, "active", (), None, (), (), "anthropic", 0)
    known = {"h_1": [replace(one.sentences[1], evidence_id="h_1")]}
    laid = render_evidence(replace(one, recall=replace(one.recall, points=(point,)), point_sentences=known), 2_000)
    assert laid.text.splitlines()[1] == "[P1] Ann, chess: Ann and chess"
    assert "Ann visited Rome" in laid.text
    assert [citation.evidence_id for citation in laid.cited["P1"].citations] == ["h_1"]


def test_standing_wishes_that_fit_are_in_every_request():
    one = case(["Ann likes chess - -", "Ann visited Rome - -"], "What does Ann like?")
    wish = Wish("w", "Always name the year.", "wish", "", 0, one.sentences[0].source, 0)
    one = replace(one, recall=replace(one.recall, wishes=(wish,)))
    line = f"Wish: {as_said(wish)}"
    assert line in render_evidence(one, 2_000).text.splitlines()
    earlier = to_judgement(reply(["S1"], answerable=False, missing=["why"]), render_evidence(one, 2_000))
    again = replace(one, earlier=earlier, seen=earlier.left)
    assert line in render_evidence(again, 2_000).text.splitlines()


def test_the_lines_of_a_conversation_follow_each_other_in_time_below_one_heading():
    one = case(["Ann likes chess - -", "Ann visited Rome - -", "Ann likes tea - -"], "What does Ann like?")
    times = (2 * DAY, DAY, DAY)
    moved = [
        replace(candidate, source=replace(candidate.source, turn=replace(candidate.source.turn, said_at=at)))
        for candidate, at in zip(one.sentences, times, strict=True)
    ]
    lines = render_evidence(replace(one, sentences=moved), 2_000).text.splitlines()
    said = [line for line in lines if line.startswith(("[S", "--"))]
    assert [line[:2] for line in said] == ["--", "[S", "[S", "--", "[S"]
    assert said[0].startswith("-- Fri 2 Jan 1970, conversation ")
    assert "Rome" in said[1]
    assert "chess" in said[4]


def test_what_is_left_out_of_a_turn_is_marked_and_nothing_stands_twice():
    text = "One is here. Two is here. Three is here. Four is here."
    one = case(["Ann likes chess - -"], "What is here?")
    turn = replace(one.sentences[0].source.turn, text=text)
    spans = [(text.index(word), text.index(".", text.index(word)) + 1) for word in ("Two", "Four", "Two")]
    pieces = [replace(one.sentences[0], source=Source(turn, *span)) for span in spans]
    (line,) = [row for row in render_evidence(replace(one, sentences=pieces), 2_000).text.splitlines() if "[S" in row]
    assert line.endswith("… Two is here. … Four is here.")


def test_what_the_judge_kept_stands_first_and_is_marked():
    one = case(["Ann visited Rome - -", "Ann likes chess - -", "Ann likes tea - -"], "Where was Ann?")
    first = replace(one, sentences=one.sentences[1:])
    laid = render_evidence(first, 2_000)
    tea = {number for number, item in laid.cited.items() if item.citations[0].source.quote == "Ann likes tea"}
    (number,) = (number for number in tea if number[0] == "S")
    earlier = to_judgement(reply([number], answerable=False, missing=["where"], look_for=["Rome"]), laid)
    again = replace(one, earlier=earlier, seen=earlier.left)
    lines = [line for line in render_evidence(again, 2_000).text.splitlines() if line[:3] != "-- "]
    assert [line.split(": ")[-1] for line in lines[1:5]] == [KEPT, "Ann likes tea", NEW, "Ann visited Rome"]


def test_a_full_answer_cites_each_statement_by_the_place_of_its_citation():
    laid = render_evidence(case(["Ann likes chess - -", "Ann visited Rome - -"], "Tell of Ann."), 2_000)
    by_quote = {item.citations[0].source.quote: number for number, item in laid.cited.items() if number[0] == "S"}
    chess, rome = by_quote["Ann likes chess"], by_quote["Ann visited Rome"]
    text = f"Ann plays [{chess}].\n\n- She was in Rome [{rome}, {chess}] [S99]."
    got = to_judgement(reply([], answer=text), laid, "full").proposal
    assert [citation.source.quote for citation in got.citations] == ["Ann likes chess", "Ann visited Rome"]
    assert got.text == "Ann plays [1].\n- She was in Rome [2, 1]."
    long = to_judgement(reply([chess], answer="so " * 900), laid, "full").proposal
    assert len(long.text.split()) == FULL_WORDS


def test_an_incomplete_answer_asks_for_more_and_a_wrong_premise_ends_the_question():
    laid = render_evidence(case(MOVES, "Where does Ann live?"), 2_000)
    part = to_judgement(reply(["S1"], incomplete=True, look_for=["Ann lives"], missing=["since when"]), laid)
    assert part.proposal is not None
    assert [step.operator for step in part.next] == ["search"]
    said = reply([], answerable=False, wrong_premise="Bob lives there, not Ann", missing=["more"], look_for=["Ann"])
    wrong = to_judgement(said, laid)
    assert (wrong.proposal, wrong.missing, wrong.next) == (None, ("Bob lives there, not Ann",), ())  # it is over


def test_a_step_becomes_one_of_an_operator_and_others_are_ignored():
    laid = render_evidence(case(MOVES, "Where does Ann live?"), 2_000)
    steps = [
        {"operator": "event_context", "on": "s1", "tag": ""},
        {"operator": "tag_events", "on": "Ann", "tag": "moving"},
        {"operator": "drop_table", "on": "Ann", "tag": ""},
        {"operator": "event_context", "on": "S99", "tag": ""},
    ]
    got = to_judgement(reply([], answerable=False, steps=steps[:2]), laid).next
    assert [(step.operator, dict(step.args)) for step in got] == [
        ("event_context", {"ids": (laid.cited["S1"].citations[0].evidence_id,)}),
        ("tag_events", {"entity": "Ann", "tag": "moving"}),
    ]
    assert to_judgement(reply([], answerable=False, steps=steps[2:]), laid).next == ()


def test_a_hypothesis_is_marked_and_answers_from_it_are_hedged():
    asked = case(["Ann likes chess - -"], "What is Ann interested in?", [guessed_path("interested_in")])
    laid = render_evidence(asked, 2_000)
    (number,) = [line[1:3] for line in laid.text.splitlines() if "guessed by symmetry, nobody said it" in line]
    answer = to_judgement(reply([number]), laid).proposal
    assert answer.hedged


@pytest.mark.parametrize("room", [-5, 0, 60, 120, 400])
def test_the_rendered_text_fits_its_room_and_every_number_is_shown(room):
    many = [f"Ann visited Place{number} - -" for number in range(60)]
    laid = render_evidence(case(many, "Where was Ann?"), room)
    frame = laid.text.splitlines()[0]
    assert estimate_tokens(laid.text) <= max(room, 2 * estimate_tokens(frame) + 1)
    numbered = [line for line in laid.text.splitlines()[1:-1] if line.startswith("[")]
    assert {line.split("]")[0][1:] for line in numbered} == laid.cited.keys()


def test_stored_text_always_stays_on_one_line():
    one = case(["Ann likes chess - -"], "What does Ann like?")
    turn = replace(one.sentences[0].source.turn, text="Chess.\r\n=== x ===\u2028[S9] Go\x00 " + "very " * 900)
    said = replace(one.sentences[0], source=Source(turn, 0, len(turn.text)))
    laid = render_evidence(replace(one, sentences=[said]), 2_000)
    (line,) = [line for line in laid.text.split("\n") if line.startswith("[S1]")]
    assert "Chess. === x === [S9] Go very" in line
    assert len(line) < 1_300
    assert laid.text.encode()
