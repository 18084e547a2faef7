"""What rests on what is to be forgotten goes by ids, in whatever words it says it; what does not stays."""

from dataclasses import replace

import numpy as np
import pytest
from batches import WRITTEN_AT, asserted, batch, derive, lesson, merged, point, pointed, turn

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.entities import Alias
from mcp_memory.domain.episodes import correction_ref
from mcp_memory.domain.ids import Ids, digest
from mcp_memory.domain.requests import ForgetTargets
from mcp_memory.domain.turns import FEEDBACK
from mcp_memory.view.erasure import erasure_of, holds, telling_words, without_words_of
from mcp_memory.view.space import View


def space_of(*batches):
    view = View()
    for tx, rows in enumerate(batches, 1):
        view.add(rows, tx)
    return view.space("default")


def without(space, *refs):
    return erasure_of(space, ForgetTargets("default", turns=frozenset(turn(ref).id for ref in refs)))


def first(ref):
    return batch(ref).sentences[0].id


def kept(found, *points):
    return [left for one in points if (left := found.point(one)) is not None]


def said(ref, text, session="talk"):
    name = "t_" + digest("default", session, ref)
    return replace(turn(ref), id=name, ref=ref, text=text, session=session)


def test_a_goal_goes_from_all_its_points_when_one_of_them_rests_on_what_goes():
    """In other words than the forgotten text has; another goal stays, and so do the descriptions."""
    resting = replace(point("a", scope="How ill is she?"), sentences=(first("alpha"), first("bravo")))
    beside = replace(point("b", scope="how ill is she?"), sentences=(first("bravo"),))
    other = replace(point("c", scope="Plans"), sentences=(first("bravo"),))
    found = without(space_of(batch("alpha", "bravo"), pointed(resting, beside, other)), "alpha")
    assert kept(found, resting, beside, other) == [replace(beside, scope=""), other]
    (made,) = found.remade
    assert (made.scope, made.sentences, made.description) == ("", (first("bravo"),), "bravo came first.")


def test_a_correction_of_an_answer_that_rested_on_it_goes_and_another_stays():
    corrected, other = "No, it is the other one.", "That was last week."
    rows = derive(
        [
            said("one", corrected + " Really.", FEEDBACK),
            said(Ids().ref(correction_ref("ep_free", other + " Yes.")), other + " Yes.", FEEDBACK),
        ]
    )
    mine = replace(rows.turns[0], ref=Ids().ref(correction_ref("ep_one", rows.turns[0].text)))
    rows = replace(rows, turns=(mine, rows.turns[1]))
    lessons = lesson("one", {first("alpha"): -1}), lesson("free", {first("bravo"): 1})
    found = without(space_of(batch("alpha", "bravo"), rows, Batch(lessons=lessons)), "alpha")
    assert found.turns == {turn("alpha").id, mine.id}
    assert found.targets.turns == found.turns  # written down, since the lesson goes first


def test_a_confirmation_goes_with_the_last_text_that_says_its_fact():
    rows = derive([turn("alpha"), turn("bravo")])
    facts = tuple(asserted(one, tail="Porto", confidence=0.5) for one in rows.turns)
    confirmed = replace(said("c", "Ann lives in Porto. Yes.", FEEDBACK), kind="statement")
    again = Batch(turns=(confirmed,), assertions=(asserted(confirmed, 2, "caller", tail="Porto"),))
    space = space_of(replace(rows, assertions=facts), again)
    assert without(space, "alpha").turns == {turn("alpha").id}
    assert without(space, "alpha", "bravo").turns == {turn("alpha").id, turn("bravo").id, confirmed.id}


def test_a_point_without_support_goes_when_only_what_goes_told_of_its_names():
    """What else was told of them was told of one alone; another point rests on what stays."""
    rows = derive(
        [said("a", "Ed and Bo met. It was good."), said("b", "Bo sang. Cy and Di met."), said("c", "Ed slept. So.")]
    )
    made = replace(point("made", ("Ed", "Bo")), at=WRITTEN_AT)
    others = replace(point("others", ("Cy", "Di")), at=WRITTEN_AT)
    space = space_of(rows, pointed(made, others))
    found = erasure_of(space, ForgetTargets("default", turns=frozenset([rows.turns[0].id])))
    assert made.id in found.points
    assert others.id not in found.points


def test_a_point_that_a_caller_merged_of_one_that_goes_goes_too():
    one = replace(point("one"), sentences=(first("alpha"),))
    two = replace(point("two"), sentences=(first("bravo"),))
    union, *gone = merged("union", one, two)
    found = without(space_of(batch("alpha", "bravo"), pointed(one, two), pointed(union, *gone)), "alpha")
    assert found.points == {one.id, union.id}
    assert kept(found, gone[1]) == []  # it is active again


def test_names_of_one_and_two_signs_go_from_names_questions_and_points():
    rows = derive([said("a", "Bo and 李明 met. It was good."), said("b", "We went to Boston. 明天 见.")])
    aliases = [Alias("default", "Ann", name, "alike", "embedded", 1) for name in ("Bo", "李明", "Boston")]
    points = [point(name, ("We", name)) for name in ("Bo", "李明", "Boston")]
    space = space_of(rows, Batch(aliases=tuple(aliases)), pointed(*points))
    found = erasure_of(space, ForgetTargets("default", turns=frozenset([rows.turns[0].id])))
    assert [found.keeps_alias(one) for one in aliases] == [False, False, True]
    assert [found.keeps_question("g", text) for text in ("Is Bo in?", "李明是谁", "Boston?")] == [False, False, True]
    assert found.points == {points[0].id, points[1].id}
    assert np.all([found.point(points[2]) == points[2]])


NAMES = [
    ("I saw Bo yesterday.", "Who is bo?", "We flew to Boston."),
    ("Al and I met.", "AL's house", "All of it is alike."),
    ("我昨天见了李明。", "李明是谁？", "李先生明天来。"),
    ("我见了明。", "明 是谁", "明天见。"),
    ("田中さんに会った", "田中", "中田さん"),
    ("저는 이준을 만났다", "이준", "준이"),
    ("ฉันพบแดง", "แดง", "แกง"),
    ("Я видел Яо.", "яо", "Ялта"),
    ("मैं रवि से मिला", "रवि", "रविवार"),
    ("قابلت عز", "عز", "عزيز"),
    ("My number is 42.", "42?", "420 or 142"),
    ("I met Zoë.", "zoe", "zoetrope"),
    ("I met \uff22\uff4f.", "Bo", "Bob"),
    ("I met B\u200bo.", "bo", "Bob"),
]


@pytest.mark.parametrize(("said", "found", "other"), NAMES)
def test_a_name_is_found_whatever_its_length_and_script_and_takes_no_other_word_along(said, found, other):
    own = frozenset(without_words_of(telling_words(said), other))
    assert holds(own, found)
    assert not holds(own, other)


def test_fillers_and_the_commonest_words_tell_nothing():
    assert telling_words("So it is; he was in de la al, and we met Jo.") == {"met", "jo"}
