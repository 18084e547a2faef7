"""The operators of the episodic layer: what each returns, and what it suggests next."""

from talk_space import DAY, new_space, say, steps, texts, walked

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.query import Window
from mcp_memory.domain.times import StatedTime
from mcp_memory.domain.turns import Segment, Sentence, Turn
from mcp_memory.ports import OperatorResult
from mcp_memory.reconstruct.operators import event_context, event_keywords, event_time, tag_events

TALK = (
    "Ann: I planned the Oslo trip with Bob.",
    "Bob: The garden needs water.",
    "Ann: The Oslo trip was cold.",
    "Bob: My garden has a pond. A heron lives at the pond.",
    "Cid: I paint herons.",
)


def test_a_cue_returns_its_sentences_newest_first_and_suggests_its_tags() -> None:
    found = walked(say(new_space(), *TALK), tag_events, entity="Ann")
    assert texts(found) == ["The Oslo trip was cold.", "I planned the Oslo trip with Bob."]
    assert all((item.kind, item.via, item.score) == ("sentence", ("tag_events",), 1.0) for item in found.items)
    assert steps(found)[-1] == ("event_context", {"ids": ("s_2.0", "s_0.0")})
    assert steps(found)[-2][0] == "event_keywords"


def test_a_tag_in_any_form_restricts_a_cue() -> None:
    space = say(new_space(), *TALK)
    for tag in ("garden", "Gardens", "GARDEN"):
        assert texts(walked(space, tag_events, entity="bob", tag=tag)) == [
            "My garden has a pond.",
            "The garden needs water.",
        ]
    nothing = walked(space, tag_events, entity="bob", tag="money")
    assert nothing.items == ()
    assert {"entity": "Bob", "tag": "garden"} in [args for _, args in steps(nothing)]


def test_sentences_with_all_cues_of_a_query_come_first_and_those_with_one_of_several_are_not_found() -> None:
    space = say(new_space(), *TALK)
    assert texts(walked(space, tag_events, "Was Ann's trip to Oslo cold?")) == [
        "The Oslo trip was cold.",
        "I planned the Oslo trip with Bob.",
    ]
    assert texts(walked(space, tag_events, "Who has a pond?")) == [
        "My garden has a pond.",
        "A heron lives at the pond.",
    ]
    assert texts(walked(space, tag_events, "Is a pond in the garden?")) == ["My garden has a pond."]
    assert walked(space, tag_events, "What does Zoe cook?") == OperatorResult(())
    assert walked(space, tag_events, entity="Zoe") == OperatorResult(())


def test_the_window_the_limit_and_a_new_revision_hide_sentences() -> None:
    space = say(new_space(), *TALK)
    assert texts(walked(space, tag_events, entity="Ann", window=Window(DAY, 9 * DAY))) == ["The Oslo trip was cold."]
    assert texts(walked(space, tag_events, entity="Ann", limit=1)) == ["The Oslo trip was cold."]
    assert walked(space, event_keywords, ids=("s_0.0",), window=Window(DAY, 9 * DAY)) == OperatorResult(())
    mill = say(new_space(), "Red Mill: It grinds corn.", kind="document")
    anew = Turn("t_b", "x", "s", "0", "document", "It grinds rye.", None, None, "Red Mill", 9, 9, 1, 0)
    segment, sentence = Segment("g_b", "x", "t_b", 0, 0, 14, 0, 0), Sentence("s_b", "x", "t_b", 0, 0, 14, ())
    mill.add(Batch((anew,), (segment,), (sentence,)))
    assert texts(walked(mill, tag_events, entity="grinding")) == ["It grinds rye."]


def test_a_sentence_suggests_its_cues_names_first_and_those_of_the_query_last() -> None:
    space = say(new_space(), *TALK)
    found = walked(space, event_keywords, "What about the trip?", ids=("s_0.0",))
    assert texts(found) == ["I planned the Oslo trip with Bob."]
    assert [args["entity"] for _, args in steps(found)] == ["Oslo", "Bob", "Ann", "trip"]
    assert all(operator == "tag_events" for operator, _ in steps(found))
    assert found.next[0].why == "1 sentence more; here it stands for trip"


def test_events_are_in_the_order_of_the_times_that_they_state() -> None:
    last = StatedTime(0, 3, -9 * DAY, -8 * DAY, "day", relative=True)
    space = say(new_space(), *TALK, times={2: last})
    found = walked(space, event_time, ids=("s_1.0", "s_0.0", "s_2.0"))
    assert texts(found) == ["The Oslo trip was cold.", "I planned the Oslo trip with Bob.", "The garden needs water."]
    assert [(item.valid_from, item.valid_to) for item in found.items] == [
        (-9 * DAY, -8 * DAY),
        (None, None),
        (None, None),
    ]
    operator, args = steps(found)[0]
    assert (operator, args) == ("timeline", {"since": "1969-12-23", "until": "1970-01-02"})


def test_the_context_of_a_sentence_is_three_turns_on_either_side_in_order() -> None:
    lines = [f"Ann: Line {word}." for word in ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight"]]
    found = walked(say(new_space(), *lines), event_context, ids=("s_4.0",))
    assert texts(found)[:6] == [f"Line {word}." for word in ("one", "two", "three", "five", "six", "seven")]
    assert [round(item.score, 2) for item in found.items[:6]] == [0.33, 0.5, 1.0, 1.0, 0.5, 0.33]
