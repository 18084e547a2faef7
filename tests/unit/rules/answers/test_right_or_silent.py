"""Without a language model an answer is right or there is none: traps that hold the words of the question.

The messages go through the whole write and read path, with facts read out of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from small_memory import ask, said

from mcp_memory.domain.answers import EvidenceSentence
from mcp_memory.domain.evidence import Source
from mcp_memory.domain.turns import Turn
from mcp_memory.language.questions import understand
from mcp_memory.language.stated import stated_times
from mcp_memory.rules.answers.settings import SpanSettings
from mcp_memory.rules.answers.span_answers import answer_from_spans
from mcp_memory.rules.answers.support import wanted_span, weigh_sentences

pytestmark = pytest.mark.anyio


async def answer(lines: Sequence[str], question: str) -> str | None:
    """Return the answer after messages; those of "user" have that role and no speaker."""
    items = [replace(one, role="user", speaker=None if one.speaker == "user" else one.speaker) for one in said(*lines)]
    return (await ask(items, question, read=True)).text


SILENT = [
    ("user: Check who stands in for Dr. Ferrer in August.", "Who stands in for Dr. Ferrer in August?"),
    ("user: Tessa asked me to marry her, but I said no.", "Am I married to Tessa?"),
    ("user: Tessa asked me to marry her on Saturday. I said no.", "When did I marry Tessa?"),
    ("user: The head of my ward asked me to work on Sundays, and I refused.", "Do I work on Sundays?"),
    ("user: Rosa offered me her old piano, but I told her no.", "Do I have a piano?"),
    ("user: Rosa offered me her old piano, but I turned it down.", "When did Rosa give me her piano?"),
    ("user: I might buy a Volvo next year.", "Did I buy a Volvo?"),
    ("user: I might buy a Volvo.", "Which car did I buy?"),
    ("user: I wish I had visited Iceland.", "Did I visit Iceland?"),
    ("user: I would love to learn the harp.", "Do I play the harp?"),
    ("user: We fly to Malta on 20 December.", "Did we visit Malta?"),
    ("user: Our wifi name is Harrowgate7.", "What is my name?"),
    ("Elin: We were supposed to fly to Rome on 3 May, but the flight was cancelled.", "When did Elin fly to Rome?"),
    ("Elin: My sister broke her knee in March 2023.", "When did Elin break her knee?"),
    ("Elin: My sister Maja is allergic to peanuts.", "What is Elin allergic to?"),
    ("user: My brother Paul lives in Turin.", "Where do I live?"),
    ("Elin: Should I quit the choir?", "Did Elin quit the choir?"),
    ("Elin: I quit the choir. It was fun to sing though.", "Why did Elin quit the choir?"),
    ("Elin: What would you like to eat on Sunday?", "What does Elin like?"),
    ("Elin: The boiler repair was on Monday, and it took hours.", "Who repaired Elin's boiler?"),
    ("Elin: I think the market was nice, and everybody bought something.", "What did Elin buy at the market?"),
    ("Elin: She looks after the rota, and the charts in Orbix.", "Who looks after the rota?"),
    ("user: The press has to move, the hall in Orlen closes in July.", "Where are we moving the press?"),
    ("Elin: Ha. How is work at the ferry office?", "Where does Elin work now?"),
    ("user: How many hours of shared work do we owe the garden club?", "How many hours of shared work do we owe?"),
    ("Elin: My sister Tove is getting married in Lund.", "Who is Elin's sister going to marry?"),
    ("user: My cousin Bertil gets married on the 3rd of May at Oak Hall.", "Who did my cousin marry?"),
    ("user: My boss Alva hired a new cook.", "Who did my boss hire?"),
    ("user: My son Kalle turns 8 on the 2nd of August.", "How old is Kalle?"),
    ("user: My wife Ines is cooking tonight.", "What does my wife do for a living?"),
    ("user: I work at the ferry office.", "Which city do I work in?"),
    ("Elin: I moved to Lund on 9 August.", "What does Elin do for a living these days?"),
    ("user: We are back from Malta.", "What day did we leave for Malta?"),
    ("Elin: My birthday is on the 20th.", "What year is Elin's birthday?"),
    ("Elin: My choir practice is on 8 June.", "Which day of the week is Elin's choir practice?"),
    ("user: They told us on 3 March that the ferry office is closing.", "When was my last day at the ferry office?"),
    ("user: I am now a beekeeper.", "Which job did I say no to?"),
    ("user: I work for the ferry office.", "Which company did I turn down?"),
    ("user: My licence interview was yesterday, so I had to get new photos.", "When did I get the new licence?"),
    ("Elin: My brother Sixten is getting married in Lund on the 12th.", "Whom did Sixten marry?"),
    ("Elin: My brother Sixten gets married on the 12th, so I am learning Welsh.", "Whom did Sixten marry?"),
    ("Elin: The test bench is up with one Halvorsen lamp on loan.", "Who does the testing now?"),
    ("Elin: I have had the 6 for nineteen months.", "For how many weeks has Elin been on the 6?"),
    ("Elin: Me and a guy called Torsten. The landlady upstairs is deaf.", "Who's the landlady upstairs from Elin?"),
]


@pytest.mark.parametrize(("line", "question"), SILENT, ids=[question for _, question in SILENT])
async def test_words_of_the_question_alone_are_no_answer(line: str, question: str) -> None:
    assert await answer([line], question) is None


async def test_a_question_in_a_document_is_not_its_own_answer() -> None:
    items = said("x: How many hours of shared work are there? The board decides every spring.")
    items = [replace(one, speaker=None, title="Garden club: questions") for one in items]
    found = await ask(items, "How many hours of shared work are there?", "document", read=True)
    assert found.text is None


DATED = [
    ("user: My dentist appointment is on 8 June.", "When is my dentist appointment?", "8 June"),
    ("user: The rent is due on 3 June.", "When is the rent due?", "3 June"),
    ("user: School starts again on 4 September.", "When does school start again?", "4 September"),
    ("user: The lease ends on 31 August.", "When does the lease end?", "31 August"),
    ("user: Our flight to Oslo leaves on 21 July.", "When does our flight to Oslo leave?", "21 July"),
    ("user: The deadline for the report is 15 May.", "When is the deadline for the report?", "15 May"),
    ("user: I bought the bike on 3 April.", "When did I buy the bike?", "3 April"),
    ("user: The roof was repaired in March 2021.", "When was the roof repaired?", "March 2021"),
    ("Elin: I start at Brightwater on 20 May.", "When does Elin start at Brightwater?", "20 May"),
]


@pytest.mark.parametrize(("line", "question", "expected"), DATED, ids=[question for _, question, _ in DATED])
async def test_a_plain_sentence_with_a_date_answers_when(line: str, question: str, expected: str) -> None:
    assert expected in (await answer([line], question) or "nothing")


STATED = [
    ("Elin: I bought a red kayak at the market.", "What did Elin buy at the market?", "red kayak"),
    ("Elin: I joined a small pottery class.", "What kind of class did Elin join?", "small pottery class"),
    ("Elin: I quit the choir because the evenings were too late.", "Why did Elin quit the choir?",
     "the evenings were too late"),
    ("Elin: I did not go to the fair.", "Did Elin go to the fair?", "No"),
    ("Elin: I have three brothers and two cats.", "How many cats does Elin have?", "two cats"),
    ("Elin: I'm allergic to peanuts.", "What is Elin allergic to?", "peanuts"),
    ("user: My colleague Nele does the wiring, and Bart wrote the tests.", "Who does the wiring?", "Nele"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "question", "expected"), STATED, ids=[question for _, question, _ in STATED])
async def test_what_is_stated_is_answered(line: str, question: str, expected: str) -> None:
    assert await answer([line], question) == expected


async def test_what_a_later_message_changes_is_not_given_as_the_current_value() -> None:
    talk = ["Elin: My salary is 31k.", "@ 2023-11-09", "Elin: They raised my salary to 34k."]
    assert "31k" not in (await answer(talk, "What is Elin's salary?") or "")
    talk = [
        "user: The meeting is on 12 June.",
        "@ 2023-05-09",
        "user: Actually the meeting is on the 17th, not the 12th.",
    ]
    assert "12" not in (await answer(talk, "When is the meeting?") or "")


LEFT = [
    ("Elin: I have left the ferry office.", "Where does Elin work?"),
    ("Elin: Since Monday I work for a sailmaker in Orlen.", "Who does Elin work for now?"),
]


@pytest.mark.parametrize(("later", "question"), LEFT, ids=[later for later, _ in LEFT])
async def test_a_value_that_was_left_or_told_anew_is_not_the_current_one(later: str, question: str) -> None:
    talk = ["Elin: I work for the ferry office.", "@ 2023-11-09", later]
    assert "ferry office" not in (await answer(talk, question) or "")


async def test_what_may_come_leaves_the_current_value_standing() -> None:
    talk = ["Elin: I work for the ferry office.", "@ 2023-11-09", "Elin: I might work for a sailmaker one day."]
    assert await answer(talk, "Who does Elin work for now?") == "ferry office"


async def test_the_first_of_several_is_not_given_plainly_where_one_is_known() -> None:
    items = said("Elin: I take 15 mg of melorin now.")
    found = await ask(items, "What melorin dose did Elin start with?", read=True)
    assert found.text is None or found.hedged


async def test_a_weekday_is_answered_with_a_weekday() -> None:
    question = "Which day of the week does Elin have her choir practice?"
    assert await answer(["Elin: My choir practice has moved to Thursdays."], question) == "Thursdays"


CHANGED = [
    (["user: I take 40 mg of melorin.", "@ 2023-11-09", "user: I take 15 mg since today."],
     "How many mg of melorin do I take?", "15 mg"),
    (["user: I take 40 mg of melorin.", "@ 2023-11-09", "user: I take 15 mg since today."],
     "How much melorin do I take?", "15 mg"),
    (["user: My kayak is red.", "@ 2023-11-09", "user: My kayak isn't red any more, it's teal now."],
     "What colour is my kayak?", "teal"),
    (["Elin: I work at the tile works.", "@ 2023-11-09", "Elin: new job!! day shifts at the mill from 4 August"],
     "Where does Elin work?", None),
    (["Elin: We got a car, she's called Agnes.", "@ 2023-11-09", "Elin: we sold Agnes to a student for 700"],
     "Does Elin have a car?", None),
    (["user: I liked rainy days back then."], "Do I like rainy days?", None),
    (["Elin: I work at the tile works.", "@ 2023-11-09", "Elin: new job!! day shifts at the mill from 4 August"],
     "Where does Elin work now?", None),
    (["user: Nele does the wiring, and Bart wrote the importer but he left in March.", "@ 2023-06-20",
      "user: Nele is on leave until 3 July, her hand is in plaster."], "When did Bart leave?", None),
    (["user: The trial is due on 3 June.", "@ 2023-11-09", "user: The trial moves to 9 June, Bo broke his arm."],
     "When is the trial due?", None),
    (["Elin: The audit is on 17 June.", "@ 2023-05-10", "Bo: It was moved to 19 June."], "When was the audit?", None),
    (["Elin: The audit is on 17 December.", "@ 2023-05-10", "Bo: It was moved to the 19th."], "When is the audit?",
     "19 December"),
    (["Elin: The client timeout is 30 seconds, right?", "@ 2023-05-10", "Bo: We raised it to 45 seconds."],
     "What is the client timeout?", "45 seconds"),
    (["Elin: I start with Oslow Electrical on 7 July."], "Where will Elin work?", "Oslow Electrical"),
    (["user: I came back from Tunis yesterday."], "When was I in Tunis?", None),
]  # fmt: skip


@pytest.mark.parametrize(("lines", "question", "expected"), CHANGED, ids=[question for _, question, _ in CHANGED])
async def test_only_what_holds_now_is_given_as_current(
    lines: Sequence[str], question: str, expected: str | None
) -> None:
    assert await answer(lines, question) == expected


@pytest.mark.parametrize(
    ("lines", "question"),
    [
        (
            (
                "Elin: I teach six swimming courses this year.",
                "@ 2023-09-01",
                "Elin: It is only four courses from now.",
            ),
            "How many courses does Elin teach?",
        ),
        (
            ("user: I take nebivolol.", "@ 2023-09-01", "user: The doctor is moving me to bisoprolol."),
            "What do I take?",
        ),
        (
            ("Elin: The client timeout is 30 seconds.", "@ 2023-09-01", "Bo: Done, the new timeout is live."),
            "What is the client timeout?",
        ),
    ],
)
async def test_what_changed_to_a_value_that_was_not_read_is_not_answered(lines: Sequence[str], question: str) -> None:
    told = ("@ 2023-02-01", *lines)
    assert await answer(told[:2], question) is not None
    assert await answer(told, question) is None


async def test_the_day_of_a_return_answers_when_somebody_came_back() -> None:
    assert "7 May 2023" in (await answer(["user: I came back from Tunis yesterday."], "When did I come back?") or "")


async def test_an_answer_of_the_words_of_the_question_is_none() -> None:
    line = "user: We got a kitten, Pepper, and my neighbour Olga feeds her."
    assert "kitten" not in (await answer([line], "What is my kitten called?") or "")


NOT_OF_TODAY = [
    (["Ida: invoices go to Ledgerly these days.", "@ 2023-07-01", "Bo: Ledgerly is gone."],
     "Where do our invoices go now?", "Ledgerly"),
    (["Ida: fyi we keep 12 days of traces", "@ 2023-07-01", "Bo: the new box is in. 25 days of traces"],
     "How long do we keep traces?", "12 days"),
    (["Ida: The default export timeout is 20 s.", "@ 2023-07-01", "Bo: I dropped the export timeout to 6 s"],
     "What is the default export timeout?", "20 s"),
]  # fmt: skip


@pytest.mark.parametrize(("lines", "question", "former"), NOT_OF_TODAY)
async def test_a_value_that_a_later_message_takes_back_in_other_words_is_not_that_of_today(
    lines: Sequence[str], question: str, former: str
) -> None:
    assert await answer(lines, question) != former


async def test_what_was_only_announced_is_told_as_past_with_a_hedge() -> None:
    told = await ask(said("Elin: My sailing exam is on 3 June."), "When did Elin have her sailing exam?", read=True)
    assert (told.text, told.hedged) == ("3 June 2023", True)
    told = await ask(said("Elin: My sailing exam is on 3 June."), "When was Elin's sailing exam?", read=True)
    assert told.hedged is False


async def test_of_two_messages_of_one_time_the_later_one_counts() -> None:
    lines = ["user: Standup is at 9:45.", "user: My flat is in Leeds.", "user: Standup is at 10:00.",
             "user: Actually no, I moved to York."]  # fmt: skip
    assert await answer(lines, "When is standup?") == "10:00"
    assert await answer(lines, "Where do I live?") == "York"


PRICES = [
    ("Elin: I paid 700 quid for the harp.", "How much did Elin pay for the harp?", "700 quid"),
    ("Elin: I bought a harp for £700.", "How much was the harp?", "£700"),
    ("Elin: The shop wants 700 quid for the harp.", "How much did Elin pay for the harp?", None),
    ("Elin: My brother paid 700 euros for the bike.", "How much did Elin pay for the bike?", None),
    ("Elin: The hall opened on 6 May as promised.", "When did the hall open?", "6 May"),
    ("Elin: Graduation is on 15 October.", "What's the graduation date?", "15 October"),
    ("Elin: The API is on Python 3.13 now.", "Which Python does the API run on?", "Python 3.13"),
]


@pytest.mark.parametrize(("line", "question", "expected"), PRICES)
async def test_a_sum_a_date_and_a_version_are_answered_as_they_were_told(
    line: str, question: str, expected: str | None
) -> None:
    assert await answer([line], question) == expected


RESTATED = ("Elin: The login tokens last 12 hours.", "Otto: Make it 14 days, but with a button for admins.")


async def test_a_value_that_it_is_given_anew_without_its_name_is_no_answer_for_today() -> None:
    assert "12 hours" in (await answer(RESTATED[:1], "How long do login tokens last?") or "")
    assert await answer(RESTATED, "How long do login tokens last?") is None


async def test_what_is_due_beside_the_thing_asked_about_is_no_answer() -> None:
    lines = ("Elin: I'm writing the manual.", "Otto: The baby is due in January.")
    assert await answer(lines, "When is the manual due?") is None
    assert await answer(lines, "When is the baby due?") is not None


def proposed(question: str, *lines: tuple[str, str]):
    """Return what sentences, each given with its session, propose as the answer."""
    sentences = []
    for place, (session, text) in enumerate(lines):
        turn = Turn(f"t{place}", "d", session, f"{place}", "message", text, "Ann", None, None, 0, 0, 0, place)
        times = stated_times(text, 0)
        sentences.append(EvidenceSentence(f"s{place}", Source(turn, 0, len(text)), times, 1 - place / 10, 0.5, 1.0))
    wanted = wanted_span(understand(question, ["Ann"], 0))
    weighed = weigh_sentences(wanted, sentences, {}, SpanSettings().support)
    return answer_from_spans(wanted, weighed, {}, SpanSettings())


def test_a_date_is_hedged_where_nothing_of_its_talk_names_what_was_asked_about() -> None:
    starts = "They want the pilot to start on 30 April 1970."
    apart = proposed("When does the Lisbon pilot start?", ("s1", starts), ("s2", "Lisbon has asked for a demo too."))
    beside = proposed("When does the pilot start?", ("s1", starts), ("s1", "Lisbon is our first customer."))
    assert apart is None or apart.hedged
    assert beside is not None
    assert not beside.hedged


@pytest.mark.parametrize("verb", ["moves", "was postponed", "was delayed"])
def test_what_moves_from_a_day_to_another_is_on_the_new_one(verb: str) -> None:
    found = proposed("When is the start of the pilot?", ("s1", f"The pilot start {verb} from 30 April to 14 May 1970."))
    assert found is not None
    assert found.text == "14 May 1970"


@pytest.mark.parametrize(
    ("told", "question", "hedged"),
    [
        (
            "I had an interview for the archive course yesterday.",
            "When did Ann get accepted for the archive course?",
            True,
        ),
        ("Rufus and I had a lovely swim last summer.", "When did Ann get her dog Rufus?", True),
        ("I got my dog Rufus last summer.", "When did Ann get her dog Rufus?", False),
        ("I bought the cedar canoe last summer.", "When did Ann get the cedar canoe?", False),
        ("We drew the map on 4 May and printed the flyer a bit after.", "When did Ann print the flyer?", True),
        ("We drew the map and printed the flyer on 4 May.", "When did Ann print the flyer?", False),
        ("I sold the grey tent last Tuesday.", "When did Ann sell the green tent?", True),
        ("I sold the green tent last Tuesday.", "When did Ann sell the green tent?", False),
        ("I signed the lease with Ostby on 2 May.", "When did Ann sign the lease with Fell?", True),
    ],
)
async def test_the_time_of_another_deed_is_hedged(told: str, question: str, hedged: bool) -> None:
    found = await ask(said(f"Ann: {told}", "Bea: That is lovely."), question)
    assert (found.text is not None and not found.hedged) != hedged


@pytest.mark.parametrize(
    ("told", "later", "question"),
    [
        (
            "Kim: We use Redis for the queue.",
            "Lev: I ripped it out, the queue is on RabbitMQ.",
            "What do we use for the queue?",
        ),
        (
            "Ann: I work at the print shop.",
            "Ann: First day at the bakery, my feet hurt after work.",
            "Where does Ann work?",
        ),
        ("Ann: I live in Lowick.", "Ann: We have settled in, I love to live by the sea.", "Where does Ann live?"),
    ],
)
async def test_a_change_that_anybody_concerned_tells_is_no_answer_of_today(
    told: str, later: str, question: str
) -> None:
    former = await answer([told, "Bea: Nice."], question)
    found = await ask(said(told, "Bea: Nice.", "@ 2023-09-01", later), question, read=True)
    assert former is not None
    assert found.text is None or former not in found.text


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("said_so", "question"),
    [
        ("Ann: I own three canoes. Just kidding!", "How many canoes does Ann own?"),
        ("Ann: Please rephrase this: I have worked at Brightly for years.", "Where does Ann work?"),
        ("Ann: Proposal: the limit is 5 MB.", "What is the limit?"),
        ("Ann: My character in the campaign lives in Harrowgate.", "Where does Ann live?"),
    ],
)
async def test_what_is_only_supposed_taken_back_or_told_of_a_character_is_no_answer(
    said_so: str, question: str
) -> None:
    assert (await ask(said(said_so, "Bo: Ha."), question, read=True)).text is None


@pytest.mark.anyio
async def test_a_home_is_hedged_after_the_day_for_which_a_move_was_announced() -> None:
    talk = said("Ann: I live in Salo.", "Ann: I'm moving to Turku in June.")
    later = await ask(talk, "Where does Ann live?", read=True)
    before = await ask(talk, "Where does Ann live?", as_of="2023-05-20", read=True)
    assert (later.text, later.hedged) == ("Salo", True)
    assert (before.text, before.hedged) == ("Salo", False)


def test_a_person_of_a_sentence_that_has_the_deed_in_other_words_only_is_hedged() -> None:
    question = "Whom did Sixten marry?"
    other = proposed(question, ("s1", "Mother gave a vase to Sixten for the wedding."))
    same = proposed(question, ("s1", "Sixten married Tove in the end."))
    assert other is None or other.hedged
    assert same is not None
    assert not same.hedged


def test_a_date_is_hedged_where_its_sentence_states_another_one() -> None:
    two = proposed("When was the fix tagged?", ("s1", "The fix was tagged on 27 June 1970, a day after 25 May 1970."))
    one = proposed("When was the fix tagged?", ("s1", "The fix was tagged on 27 June 1970."))
    assert two is None or two.hedged
    assert one is not None
    assert not one.hedged


@pytest.mark.parametrize(
    ("told", "later", "question"),
    [
        ("Ann: My car is a grey Skoda.", "Ann: The Skoda went to the scrap yard.", "What car does Ann drive?"),
        ("Ann: I'm learning Finnish.", "Ann: I gave up on Finnish, too many cases.", "Which language is Ann learning?"),
        ("Ann: Max the cat is 9 years old.", "Ann: We buried Max on Sunday.", "How old is Max?"),
        ("Ann: We fly to Malta on 3 July.", "Ann: Malta is off, no passport.", "When does Ann fly to Malta?"),
        ("Kim: Our CI is CircleCI.", "Lev: The old CI is off.", "What CI do we use?"),
        ("Kim: Petra is on call this week.", "Kim: Lev is on call this week.", "Who is on call?"),
    ],
)
async def test_what_a_later_message_ends_is_no_plain_answer_of_today(told: str, later: str, question: str) -> None:
    assert await answer([told, "Bea: Nice."], question) is not None
    found = await ask(said(told, "Bea: Nice.", "@ 2023-06-01", later), question, read=True)
    assert found.text is None or found.hedged


async def test_what_was_meant_to_come_and_what_was_done_to_another_thing_have_no_date() -> None:
    lines = ["Ann: The plumber was meant to come on 4 May.", "Ann: Tom glazed the bowl on 5 May."]
    assert await answer(lines, "When did the plumber come?") is None
    found = await ask(said(*lines), "When was the vase glazed?")
    assert found.text is None or found.hedged


@pytest.mark.parametrize(
    ("text", "question", "plain"),
    [
        ("The urgent fix was tagged on 3 May 1970.", "When was the urgent fix tagged?", True),
        ("The fix was tagged on 3 May 1970.", "When was the urgent fix tagged?", False),
        ("The backup took nine minutes.", "How long did the backup take?", True),
        ("The backup takes nine minutes.", "How long does the backup take?", False),
        ("The backup costs 65 a month to run.", "How long did the backup take to run?", False),
        ("We got a 1968 Fjordling for the lake.", "When did we get the Fjordling for the lake?", False),
    ],
)
def test_a_value_out_of_a_message_is_plain_only_where_it_has_all_words_and_cannot_change(
    text: str, question: str, plain: bool
) -> None:
    found = proposed(question, ("s1", text))
    assert (found is not None and not found.hedged) == plain
