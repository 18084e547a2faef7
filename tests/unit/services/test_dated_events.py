"""The dates of two events, and the days between them, for a question that asks for the time between them."""

import pytest
from learning_memory import memory, recalled, told

from mcp_memory.domain.times import DAY
from mcp_memory.language.stated import weekday_and_day
from mcp_memory.server.tools.reconstruct import recall_reply
from mcp_memory.view.pieces import Pieces

pytestmark = pytest.mark.anyio
TALK = (
    "@ 2024-03-15",
    "user: I got the key of the allotment on March 10, 2024. The gate squeaks.",
    "user: I finished painting the shed on March 12, and the party is by April 19.",
    "user: The harvest of the beans runs from June 3, 2024 to June 20, 2024.",
    "@ 2024-04-02",
    "user: My cousin visited the allotment.",
)


async def between(question):
    return (await recalled(await told(memory(), *TALK), question)).between


async def test_each_event_has_the_time_that_its_own_words_state():
    key, shed = await between("How many days passed between when I got the key and when I finished painting the shed?")
    assert [weekday_and_day(one.since) for one in (key, shed)] == ["Sun 10 Mar 2024", "Tue 12 Mar 2024"]
    assert key.source.quote == "I got the key of the allotment on March 10, 2024."
    assert (shed.since - key.since) // DAY == 2


async def test_of_a_stretch_of_time_the_last_day_counts_for_what_ends():
    begun = await between("How many days lie between the party and the start of the harvest of the beans?")
    ended = await between("How many days lie between the party and the end of the harvest of the beans?")
    assert [weekday_and_day(one[1].since) for one in (begun, ended)] == ["Mon 3 Jun 2024", "Thu 20 Jun 2024"]


async def test_where_no_time_is_stated_the_day_of_saying_is_shown_as_such():
    question = "How many days passed between when I got the key and when my cousin visited the allotment?"
    recall = await recalled(await told(memory(), *TALK), question)
    assert [one.said for one in recall.between] == [False, True]
    text = recall_reply(recall, 2000).text
    assert "my cousin visited the allotment: told of on Tue 2 Apr 2024" in text
    assert "From the one to the other, if each happened when it was told: 23 days (3 weeks and 2 days)." in text


async def test_other_questions_have_none():
    assert await between("When did I get the key?") == ()


async def test_a_time_that_the_same_speaker_told_shortly_before_counts():
    talk = ("@ 2024-05-14", "Ann: I adopted a puppy on May 3.", "Bob: What is it called?", "Ann: Her name is Bella.")
    one = await told(memory(), "@ 2024-01-09", "Ann: I adopted Rex, my cat, on January 2.", *talk)
    recall = await recalled(one, "How many weeks passed between Ann adopting Rex and Bella?")
    assert [weekday_and_day(one.since) for one in recall.between] == ["Tue 2 Jan 2024", "Fri 3 May 2024"]


async def test_only_the_parts_of_a_book_that_are_near_to_an_event_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """A book has 100,000 sentences, most of them on other things."""
    rows = [f"In row {number} grow turnips, and nothing else has ever grown there." for number in range(1000)]
    rows[250] = "The orchard was planted on March 3, 2020, beside the turnips."
    rows[750] = "The old mill burnt down on June 1, 2020, in the night."
    read, look_up = list[int](), Pieces.__getitem__
    one = await told(memory(), f"x: {' '.join(rows)}", kind="document")
    await recalled(one, "What grows in row 7?")  # indexes are extended by the first recall
    monkeypatch.setattr(Pieces, "__getitem__", lambda pieces, row: read.append(row) or look_up(pieces, row))
    question = "How many days passed between when the orchard was planted and when the old mill burnt down?"
    planted, burnt = (await recalled(one, question)).between
    assert [weekday_and_day(one.since) for one in (planted, burnt)] == ["Tue 3 Mar 2020", "Mon 1 Jun 2020"]
    assert planted.source.quote == rows[250]
    assert len(set(read)) < 500
