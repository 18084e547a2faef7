"""The operators of the episodic layer: what each returns, and what it suggests next."""

import numpy as np
from talk_space import DAY, new_space, say, steps, texts, walked

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.query import Window
from mcp_memory.domain.times import StatedTime
from mcp_memory.domain.turns import Segment, Sentence, Turn
from mcp_memory.ports import OperatorResult
from mcp_memory.reconstruct.episodic_operators import EventContext, EventKeywords, EventTime, TagEvents

TALK = (
    "Ann: I planned the Oslo trip with Bob.",
    "Bob: The garden needs water.",
    "Ann: The Oslo trip was cold.",
    "Bob: My garden has a pond. A heron lives at the pond.",
    "Cid: I paint herons.",
)


def test_a_cue_returns_its_sentences_newest_first_and_suggests_its_tags() -> None:
    found = walked(say(new_space(), *TALK), TagEvents(), entity="Ann")
    assert texts(found) == ["The Oslo trip was cold.", "I planned the Oslo trip with Bob."]
    assert all((item.kind, item.via, item.score) == ("sentence", ("tag_events",), 1.0) for item in found.items)
    assert steps(found)[-1] == ("event_context", {"ids": ("s_2.0", "s_0.0")})
    assert steps(found)[-2][0] == "event_keywords"


def test_a_tag_in_any_form_restricts_a_cue() -> None:
    space = say(new_space(), *TALK)
    for tag in ("garden", "Gardens", "GARDEN"):
        assert texts(walked(space, TagEvents(), entity="bob", tag=tag)) == [
            "My garden has a pond.",
            "The garden needs water.",
        ]
    nothing = walked(space, TagEvents(), entity="bob", tag="money")
    assert nothing.items == ()
    assert {"entity": "Bob", "tag": "garden"} in [args for _, args in steps(nothing)]


def test_sentences_with_all_cues_of_a_query_come_first_and_those_with_one_of_several_are_not_found() -> None:
    space = say(new_space(), *TALK)
    assert texts(walked(space, TagEvents(), "Was Ann's trip to Oslo cold?")) == [
        "The Oslo trip was cold.",
        "I planned the Oslo trip with Bob.",
    ]
    assert texts(walked(space, TagEvents(), "Who has a pond?")) == [
        "My garden has a pond.",
        "A heron lives at the pond.",
    ]
    assert texts(walked(space, TagEvents(), "Is a pond in the garden?")) == ["My garden has a pond."]
    assert walked(space, TagEvents(), "What does Zoe cook?") == OperatorResult(())
    assert walked(space, TagEvents(), entity="Zoe") == OperatorResult(())


def test_the_weight_of_a_sentence_for_the_query_orders_the_sentences_of_a_cue() -> None:
    space = say(new_space(), *TALK)
    weights = np.float32([0.9, 0, 0.1, 0, 0, 0])
    found = walked(space, TagEvents(), "Who came along?", entity="Ann", weigh=lambda rows: weights[rows])
    assert texts(found)[0] == "I planned the Oslo trip with Bob."
    assert found.items[0].score == 1.0 > found.items[1].score


def test_the_window_the_limit_and_a_new_revision_hide_sentences() -> None:
    space = say(new_space(), *TALK)
    assert texts(walked(space, TagEvents(), entity="Ann", window=Window(DAY, 9 * DAY))) == ["The Oslo trip was cold."]
    assert texts(walked(space, TagEvents(), entity="Ann", limit=1)) == ["The Oslo trip was cold."]
    assert walked(space, EventKeywords(), ids=("s_0.0",), window=Window(DAY, 9 * DAY)) == OperatorResult(())
    mill = say(new_space(), "Red Mill: It grinds corn.", kind="document")
    anew = Turn("t_b", "x", "s", "0", "document", "It grinds rye.", None, None, "Red Mill", 9, 9, 1, 0)
    segment, sentence = Segment("g_b", "x", "t_b", 0, 0, 14, 0, 0), Sentence("s_b", "x", "t_b", 0, 0, 14, ())
    mill.add(Batch((anew,), (segment,), (sentence,)), vectors=False)
    assert texts(walked(mill, TagEvents(), entity="grinding")) == ["It grinds rye."]


def test_tags_of_several_sentences_are_suggested_before_those_of_one() -> None:
    space = say(new_space(), "Ann: The pond froze.", "Ann: A pond thawed.", "Ann: Some bread rose.")
    found = walked(space, TagEvents(), entity="Ann", limit=1)
    assert [args["tag"] for operator, args in steps(found) if operator == "tag_events"] == ["pond", "bread"]
    assert found.next[0].why == "2 sentences under this tag"


def test_a_phrase_replaces_its_words_where_they_lead_to_no_other_sentences() -> None:
    space = say(new_space(), "Ann: A board game began.", "Bob: That board game ended.", "Bob: No game today.")
    assert [args["entity"] for _, args in steps(walked(space, EventKeywords(), ids=("s_0.0",)))] == [
        "board game",
        "game",
    ]


def test_a_sentence_suggests_its_cues_names_first_and_those_of_the_query_last() -> None:
    space = say(new_space(), *TALK)
    found = walked(space, EventKeywords(), "What about the trip?", ids=("s_0.0",))
    assert texts(found) == ["I planned the Oslo trip with Bob."]
    assert [args["entity"] for _, args in steps(found)] == ["Oslo", "Bob", "Ann", "trip"]
    assert all(operator == "tag_events" for operator, _ in steps(found))
    assert found.next[0].why == "1 sentence more; here it stands for trip"


def test_ids_of_segments_and_unknown_ids_are_accepted() -> None:
    space = say(new_space(), *TALK)
    assert texts(walked(space, EventKeywords(), ids=("g_3", "s_9.9", "f_1", "x"))) == [
        "My garden has a pond.",
        "A heron lives at the pond.",
    ]
    for step in (EventKeywords(), EventTime(), EventContext()):
        assert walked(space, step, ids=("s_9.9",)) == OperatorResult(())


def test_events_are_in_the_order_of_the_times_that_they_state() -> None:
    last = StatedTime(0, 3, -9 * DAY, -8 * DAY, "day", relative=True)
    space = say(new_space(), *TALK, times={2: last})
    found = walked(space, EventTime(), ids=("s_1.0", "s_0.0", "s_2.0"))
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
    found = walked(say(new_space(), *lines), EventContext(), ids=("s_4.0",))
    assert texts(found)[:6] == [f"Line {word}." for word in ("one", "two", "three", "five", "six", "seven")]
    assert [round(item.score, 2) for item in found.items[:6]] == [0.33, 0.5, 1.0, 1.0, 0.5, 0.33]


def test_what_shares_a_rare_cue_follows_the_turns_around_and_takes_a_quarter_at_most() -> None:
    space = say(new_space(), *TALK, "Ann: Tea?", "Bob: Yes.", "Dan: A pond freezes.")
    found = walked(space, EventContext(), ids=("s_3.1",))
    assert texts(found)[-2:] == ["Yes.", "A pond freezes."]
    assert steps(found)[0] == ("event_keywords", {"ids": ("s_7.0",)})
    assert texts(walked(space, EventContext(), ids=("s_3.1",), limit=2)) == [
        "The Oslo trip was cold.",
        "I paint herons.",
    ]


def test_a_long_message_around_a_sentence_counts_once_by_its_beginning() -> None:
    space = say(new_space(), "Ann: Zero.", "Ann: One.", "Ann: Two.")
    late = 2_000_000_000_000
    turn = Turn("t_long", "x", "s", "9", "message", "Three a. Three b. Three c.", "Bob", None, None, late, late, 0, 0)
    spans = [(0, 8), (9, 17), (18, 26)]
    segments = [Segment(f"g_l{n}", "x", "t_long", n, *span, n, n) for n, span in enumerate(spans)]
    sentences = [Sentence(f"s_l{n}", "x", "t_long", n, *span, ()) for n, span in enumerate(spans)]
    space.add(Batch((turn,), tuple(segments), tuple(sentences)), vectors=False)
    assert texts(walked(space, EventContext(), ids=("s_2.0",))) == ["Zero.", "One.", "Three a."]
    around = texts(walked(space, EventContext(), ids=("s_l2",)))
    assert around[:4] == ["Zero.", "One.", "Two.", "Three b."]


def test_a_message_with_code_comes_whole() -> None:
    space = say(new_space(), "Ann: Zero.", "Ann: One.", "Ann: Two.")
    text, late = "Look:\n```\nstep(1)\n```\nDone.", 2_000_000_000_000
    turn = Turn("t_code", "x", "s", "9", "message", text, "Bob", None, None, late, late, 0, 0)
    spans = [(0, 5), (6, 21), (22, 27)]
    segments = [Segment(f"g_c{n}", "x", "t_code", n, *span, n, n) for n, span in enumerate(spans)]
    sentences = [Sentence(f"s_c{n}", "x", "t_code", n, *span, ()) for n, span in enumerate(spans)]
    space.add(Batch((turn,), tuple(segments), tuple(sentences)), vectors=False)
    around = texts(walked(space, EventContext(), ids=("s_c0",)))
    assert around[-3:] == ["Look:", "```\nstep(1)\n```", "Done."]


def test_the_context_in_a_document_is_the_passages_before_and_after() -> None:
    space, lines = new_space(), ("It grinds corn.", "Its wheel broke.", "Nobody mended that.")
    turn = Turn("t", "x", "s", "1", "document", " ".join(lines), None, None, "Red Mill", 0, 0, 0, 0)
    spans = [(turn.text.index(line), turn.text.index(line) + len(line)) for line in lines]
    segments = [Segment(f"g_{n}", "x", "t", n, *span, n, n) for n, span in enumerate(spans)]
    sentences = [Sentence(f"s_{n}", "x", "t", n, *span, ()) for n, span in enumerate(spans)]
    space.add(Batch((turn,), tuple(segments), tuple(sentences)), vectors=False)
    assert texts(walked(space, EventContext(), ids=("s_1",))) == [lines[0], lines[2]]
    assert texts(walked(space, EventContext(), ids=("s_0",)))[0] == lines[1]


def test_the_context_of_a_sentence_suggests_its_topic() -> None:
    tea, pond = (1.0, 0.0), (0.0, 1.0)
    space = say(new_space(), "Ann: Tea.", "Bob: The pond froze.", "Cid: The pond thawed.", vectors=[tea, pond, pond])
    found = walked(space, EventContext(), ids=("s_1.0",))
    assert steps(found)[-1][0] == "topic_events"
