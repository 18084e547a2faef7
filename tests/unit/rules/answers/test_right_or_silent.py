"""Without a language model an answer is right or there is none: traps that hold the words of the question.

The messages go through the whole write and read path, and every fact that is read out of them counts as certain: so
what is tested is what answers make of facts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from small_memory import ask, said

pytestmark = pytest.mark.anyio


async def answer(lines: Sequence[str], question: str) -> str | None:
    """Return the answer after messages; those of "user" have that role and no speaker."""
    items = [replace(one, role="user", speaker=None if one.speaker == "user" else one.speaker) for one in said(*lines)]
    return (await ask(items, question, read=True)).text


SILENT = [
    (["user: I have a clockwork cat."], "Do I have a cat?"),
    (["user: Check who stands in for Dr. Ferrer in August."], "Who stands in for Dr. Ferrer in August?"),
    (["user: Tessa asked me to marry her, but I said no."], "Am I married to Tessa?"),
    (["user: Tessa asked me to marry her on Saturday. I said no."], "When did I marry Tessa?"),
    (["user: The head of my ward asked me to work on Sundays, and I refused."], "Do I work on Sundays?"),
    (["user: Rosa offered me her old piano, but I told her no."], "Do I have a piano?"),
    (["user: Rosa offered me her old piano, but I turned it down."], "When did Rosa give me her piano?"),
    (["user: I might buy a Volvo next year."], "Did I buy a Volvo?"),
    (["user: I might buy a Volvo."], "Which car did I buy?"),
    (["user: I wish I had visited Iceland."], "Did I visit Iceland?"),
    (["user: I would love to learn the harp."], "Do I play the harp?"),
    (["user: We fly to Malta on 20 December."], "Did we visit Malta?"),
    (["user: Our wifi name is Harrowgate7."], "What is my name?"),
    (["Elin: We were supposed to fly to Rome on 3 May, but the flight was cancelled."], "When did Elin fly to Rome?"),
    (["Elin: My sister broke her knee in March 2023."], "When did Elin break her knee?"),
    (["Elin: My sister Maja is allergic to peanuts."], "What is Elin allergic to?"),
    (["user: My brother Paul lives in Turin."], "Where do I live?"),
    (["Elin: Should I quit the choir?"], "Did Elin quit the choir?"),
    (["Elin: I quit the choir. It was fun to sing though."], "Why did Elin quit the choir?"),
    (["Elin: What would you like to eat on Sunday?"], "What does Elin like?"),
    (["Elin: The boiler repair was on Monday, and it took hours."], "Who repaired Elin's boiler?"),
    (["Elin: I think the market was nice, and everybody bought something."], "What did Elin buy at the market?"),
    (["Elin: She looks after the rota, and the charts in Orbix."], "Who looks after the rota?"),
    (["user: The press has to move, the hall in Orlen closes in July."], "Where are we moving the press?"),
    (["Elin: Ha. How is work at the ferry office?"], "Where does Elin work now?"),
    (["user: How many hours of shared work do we owe the garden club?"], "How many hours of shared work do we owe?"),
    (["Elin: My sister Tove is getting married in Lund."], "Who is Elin's sister going to marry?"),
    (["user: My cousin Bertil gets married on the 3rd of May at Oak Hall."], "Who did my cousin marry?"),
    (["user: My boss Alva hired a new cook."], "Who did my boss hire?"),
    (["user: My son Kalle turns 8 on the 2nd of August."], "How old is Kalle?"),
    (["user: My wife Ines is cooking tonight."], "What does my wife do for a living?"),
    (["user: I work at the ferry office."], "Which city do I work in?"),
    (["Elin: I moved to Lund on 9 August."], "What does Elin do for a living these days?"),
    (["user: We are back from Malta."], "What day did we leave for Malta?"),
    (["Elin: My birthday is on the 20th."], "What year is Elin's birthday?"),
    (["Elin: My choir practice is on 8 June."], "Which day of the week is Elin's choir practice?"),
    (["user: They told us on 3 March that the ferry office is closing."], "When was my last day at the ferry office?"),
    (["user: I am now a beekeeper."], "Which job did I say no to?"),
    (["user: I work for the ferry office."], "Which company did I turn down?"),
    (["user: My licence interview was yesterday, so I had to get new photos."], "When did I get the new licence?"),
    (["Elin: My brother Sixten is getting married in Lund on the 12th."], "Whom did Sixten marry?"),
    (["Elin: My brother Sixten gets married on the 12th, so I am learning Welsh."], "Whom did Sixten marry?"),
    (["Elin: The test bench is up with one Halvorsen lamp on loan."], "Who does the testing now?"),
    (["Elin: I have had the 6 for nineteen months."], "For how many weeks has Elin been on the 6?"),
    (["Elin: Me and a guy called Torsten. The landlady upstairs is deaf."], "Who's the landlady upstairs from Elin?"),
    (["user: I have a cat called Miso and a dog."], "What is the name of my dog?"),
    (["user: We use Mollie for donations."], "Which SMS provider do we use?"),
    (["user: The retry limit of the mail queue is 6."], "What is the retry limit of the photo queue?"),
    (["Ann: I bought a kayak in Trieste."], "What did Ann buy in Rome?"),
    (["user: My boss Ida hates olives."], "What do I hate?"),
    (["user: I like tea and coffee."], "Do I like tea or coffee?"),
    (["Ann: I painted the shed last week."], "What colour did Ann paint the shed?"),
    (["Ann: I pay 40 euros more now for the flat."], "How much does Ann pay for the flat?"),
    (["Ann: I work on the boats, and a bit in the yard in winter."], "Where does Ann work in the yard?"),
    (["user: The upload limit was 30 MB, I raised it to 60 today."], "What is the upload limit?"),
    (["Ann: Henning lost his job at the shipyard."], "Where does Henning work?"),
    (["@ 2023-09-01", "Ann: I had lunch with Tom at the Lowick Inn."], "Where did Ann have lunch in 2021?"),
    (["user: I liked rainy days back then."], "Do I like rainy days?"),
    (
        [
            "user: Nele does the wiring, and Bart wrote the importer but he left in March.",
            "@ 2023-06-20",
            "user: Nele is on leave until 3 July, her hand is in plaster.",
        ],
        "When did Bart leave?",
    ),
    (["Elin: The audit is on 17 June.", "@ 2023-05-10", "Bo: It was moved to 19 June."], "When was the audit?"),
    (["user: I came back from Tunis yesterday."], "When was I in Tunis?"),
    (["Elin: The shop wants 700 quid for the harp."], "How much did Elin pay for the harp?"),
    (["Elin: My brother paid 700 euros for the bike."], "How much did Elin pay for the bike?"),
]


@pytest.mark.parametrize(("lines", "question"), SILENT, ids=[question for _, question in SILENT])
async def test_what_was_not_told_is_not_answered(lines: Sequence[str], question: str) -> None:
    assert await answer(lines, question) is None


RIGHT_OR_SILENT = [
    (["user: I bought the bike on 3 April."], "When did I buy the bike?", "3 April"),
    (["Elin: I bought a red kayak at the market."], "What did Elin buy at the market?", "red kayak"),
    (["Elin: I joined a small pottery class."], "What kind of class did Elin join?", "small pottery class"),
    (["Elin: I did not go to the fair."], "Did Elin go to the fair?", "No"),
    (["Elin: I have three brothers and two cats."], "How many cats does Elin have?", "two cats"),
    (["Elin: I'm allergic to peanuts."], "What is Elin allergic to?", "peanuts"),
    (["user: My wife Orla hates olives.", "user: I hate beetroot."], "What does my wife hate?", "olives"),
    (
        ["user: My aunt Ines lives in Faro.", "@ 2023-06-01", "user: We moved to a new flat last week."],
        "Where does my aunt live?",
        "Faro",
    ),
    (["user: I've been learning Estonian since March."], "Which language am I learning?", "Estonian"),
    (["user: I prefer trains to buses."], "Do I prefer trains or buses?", "trains"),
    (
        ["Ann: I got a parrot at the fair. It is green and its name is Kiko."],
        "What is the name of Ann's parrot?",
        "Kiko",
    ),
    (["Ann: My brother Tom is a welder."], "What does Tom do?", "welder"),
    (["Ann: I bought a kayak in Trieste for 90 euros."], "What did Ann buy in Trieste?", "kayak"),
    (["user: I ended up buying a Zanker freezer."], "Which brand of freezer did I buy?", "Zanker freezer"),
    (
        ["Ann: Three weeks on the barge. The cook is called Ottmar."],
        "What is the cook of Ann's barge called?",
        "Ottmar",
    ),
    (["user: We fly to Malta on 9 July and come back on 23 July."], "When do we come back from Malta?", "23 July 2023"),
    (["user: We fly to Malta on 9 July and come back on 23 July."], "When do we fly to Malta?", "9 July 2023"),
    (["Ann: Megan and I split up in March."], "Are Ann and Megan still together?", "No"),
    (["Ann: My brother Tom works as a piano tuner."], "What does Tom do for a living?", "piano tuner"),
    (["Ann: We finally moved out of Turku."], "Where did Ann live before?", "Turku"),
    (["Ann: Henning lost his job at the shipyard."], "Where did Henning work?", "shipyard"),
    (
        ["user: I take 40 mg of melorin.", "@ 2023-11-09", "user: I take 15 mg since today."],
        "How many mg of melorin do I take?",
        "15 mg",
    ),
    (
        ["user: I take 40 mg of melorin.", "@ 2023-11-09", "user: I take 15 mg since today."],
        "How much melorin do I take?",
        "15 mg",
    ),
    (
        ["user: My kayak is red.", "@ 2023-11-09", "user: My kayak isn't red any more, it's teal now."],
        "What colour is my kayak?",
        "teal",
    ),
    (["Elin: I start with Oslow Electrical on 7 July."], "Where will Elin work?", "Oslow Electrical"),
    (["Elin: The hall opened on 6 May as promised."], "When did the hall open?", "6 May"),
]


@pytest.mark.parametrize(("lines", "question", "expected"), RIGHT_OR_SILENT, ids=[one for _, one, _ in RIGHT_OR_SILENT])
async def test_what_was_told_is_answered_rightly_or_not(lines: Sequence[str], question: str, expected: str) -> None:
    assert expected in (await answer(lines, question) or expected)


async def test_a_good_part_of_what_was_told_plainly_is_answered() -> None:
    answers = [await answer(lines, question) for lines, question, _ in RIGHT_OR_SILENT]
    assert sum(one is not None for one in answers) >= len(answers) / 3


async def test_of_two_messages_of_one_time_the_later_one_counts() -> None:
    lines = ["user: Standup is at 9:45.", "user: My flat is in Leeds.", "user: Standup is at 10:00.",
             "user: Actually no, I moved to York."]  # fmt: skip
    assert await answer(lines, "When is standup?") in (None, "10:00")
    assert await answer(lines, "Where do I live?") in (None, "York")


async def test_a_home_is_not_stated_after_the_day_for_which_a_move_was_announced() -> None:
    talk = said("Ann: I live in Salo.", "Ann: I'm moving to Turku in June.")
    later = await ask(talk, "Where does Ann live?", read=True)
    before = await ask(talk, "Where does Ann live?", as_of="2023-05-20", read=True)
    assert (later.text, before.text) == (None, "Salo")


async def test_a_value_with_an_unconfirmed_rival_is_not_stated() -> None:
    talk = ["Ines: I live in Porto now.", "@ 2024-01-02", "Ines: I might live in Braga now."]
    assert await answer(talk[:1], "Where does Ines live?") == "Porto"
    assert await answer(talk, "Where does Ines live?") in (None, "Porto")


LEFT = ["Ines: I live in Braga now.", "@ 2023-08-10", "Ines: I no longer live in Braga."]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Where does Ines live?", None),
        ("Where did Ines live in July 2023?", "Braga"),
        ("When did Ines leave Braga?", None),  # nobody said when
    ],
)
async def test_a_denial_ends_a_value_and_is_no_value(question: str, expected: str | None) -> None:
    assert await answer(LEFT, question) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who is Ana's father?", "Tomas"),
        ("Who is Eva's son?", "Tomas"),
        ("Who is Tomas's daughter?", "Ana"),
        ("Who is Tomas's mother?", "Eva"),
    ],
)
async def test_nobody_in_a_family_gets_the_relatives_of_another(question: str, expected: str) -> None:
    family = ["Tomas: Ana is my daughter and Leo is my son.", "Tomas: My mother is Eva."]
    assert await answer(family, question) in (None, expected)


KIN = ["Tomas: Clara is my sister."]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who is Clara's sibling?", "Tomas"),
        ("Who is Tomas's sister?", "Clara"),
        ("Who is Tomas's brother?", None),  # his only sibling is a sister
        ("Who is Clara's brother?", None),  # nobody said what Tomas is
        ("Who is Clara's mother?", None),
    ],
)
async def test_kinship_is_answered_from_both_ends_and_never_as_mine(question: str, expected: str | None) -> None:
    assert await answer(KIN, question) == expected
