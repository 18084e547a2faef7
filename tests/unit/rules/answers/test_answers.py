"""What a small memory answers, what it must not answer, and that its citations are verbatim (DESIGN I38)."""

from __future__ import annotations

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_memory import ask, said

from mcp_memory.domain.evidence import AnswerResult
from mcp_memory.domain.requests import NewItem
from mcp_memory.language.iso import parse
from mcp_memory.services.settings import AnswerSettings

TALK = said(
    "Ann: Hi Bob! I went to the climbing gym yesterday and it was great.",
    "Bob: Nice, Ann! My band played a concert at the Blue Lantern last week.",
    "Ann: I adopted two kittens, and they sleep all day.",
    "Bob: I have been playing the cello for nine years.",
    "Ann: My sister gave me a telescope for my birthday.",
    "@ 2023-07-20T09:00:00",
    "Bob: I joined a small pottery class last Friday.",
    'Ann: I\'m reading "The Silent Orchard" at the moment, what a book.',
    "Bob: I swim three times a week before work.",
    "Ann: I sold my old bicycle because the brakes kept failing.",
    "Bob: Carla taught me how to bake rye bread.",
    "Ann: I flew to Lisbon for the robotics fair last month.",
    "Bob: I don't eat mushrooms with dinner.",
)

ANSWERED = [
    ("When did Ann go to the climbing gym?", "7 May 2023"),
    ("When did Bob's band play a concert?", "the week before 8 May 2023"),
    ("When did Bob join a pottery class?", "14 July 2023"),
    ("When did Ann fly to the robotics fair?", "June 2023"),
    ("How many kittens did Ann adopt?", "two kittens"),
    ("How long has Bob been playing the cello?", "nine years"),
    ("How often does Bob swim?", "three times a week"),
    ("Who gave Ann a telescope?", "Ann's sister"),
    ("Who taught Bob how to bake rye bread?", "Carla"),
    ("Where did Bob's band play a concert?", "Blue Lantern"),
    ("Where did Ann fly for the robotics fair?", "Lisbon"),
    ("What book is Ann reading?", "The Silent Orchard"),
    ("What kind of class did Bob join?", "small pottery class"),
    ("Why did Ann sell her old bicycle?", "the brakes kept failing"),
    ("Did Bob join a pottery class?", "Yes"),
    ("Does Bob eat mushrooms with dinner?", "No"),
]


@pytest.mark.anyio
@pytest.mark.parametrize(("question", "expected"), ANSWERED, ids=[question for question, _ in ANSWERED])
async def test_a_simple_question_is_answered_by_its_span(question: str, expected: str) -> None:
    found = await ask(TALK, question)
    assert found.text is not None, f"abstained at {found.confidence:.2f}"
    assert expected in found.text
    assert found.citations


NOT_ANSWERED = [
    "When did Dora go to the climbing gym?",  # nobody knows her
    "When did Bob go to the climbing gym?",  # the other one did
    "How many kittens did Bob adopt?",
    "How many dogs did Ann adopt?",  # kittens are counted, not dogs
    "How long has Ann been playing the cello?",
    "When did Ann get married?",  # the right person, another event
    "Did Ann join a pottery class?",
    "Would Ann adopt kittens again?",  # supposes
    "Does Bob like mushrooms with dinner?",  # not eating is not disliking
    "Is Bob older than Ann?",
    "Who is younger, Ann or Bob?",
    "",
    "?!",
    "the of and",
]


@pytest.mark.anyio
@pytest.mark.parametrize("question", NOT_ANSWERED)
async def test_a_question_that_no_text_answers_returns_the_evidence_without_an_answer(question: str) -> None:
    found = await ask(TALK, question)
    assert found.text is None
    assert found.citations == ()
    assert 0 <= found.confidence < 1


@pytest.mark.anyio
async def test_an_event_of_the_present_moment_gets_the_date_of_its_message_with_a_hedge() -> None:
    found = await ask(said("Ann: I just signed the lease for my bakery!", "Bob: Wow, congratulations."), _LEASE)
    assert (found.text, found.hedged) == ("8 May 2023", True)


@pytest.mark.anyio
async def test_a_plan_does_not_get_the_date_of_its_message() -> None:
    assert (await ask(said("Ann: I just hope to sign the lease for my bakery soon."), _LEASE)).text is None


@pytest.mark.anyio
async def test_where_is_answered_by_the_place_of_the_verb_not_by_the_town_around_it() -> None:
    found = await ask(said("Ann: Rui performs at the old aquarium in Porto."), "Where does Rui perform?")
    assert found.text == "the old aquarium in Porto"
    known = await ask(said("Ann: Rui works at the aquarium in Porto."), "Where does Rui work?", read=True)
    assert known.text == "aquarium"


@pytest.mark.anyio
async def test_two_candidates_in_one_clause_are_hedged() -> None:
    talk = said("Ann: Bob bakes rye bread with Carla and Dora.")
    alone = await ask(said("Ann: Bob bakes rye bread with Carla."), "Who bakes rye bread with Bob?")
    found = await ask(talk, "Who bakes rye bread with Bob?")
    assert (alone.text, found.hedged) == ("Carla", True)
    assert found.confidence < AnswerSettings().plain


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("I adopted a parrot called Kiwi.", None),
        ("I decided to adopt a parrot.", None),
        ("I have adopted a parrot since March 2021.", None),
        ("I adopted a parrot because of the mice.", "the mice"),
        ("I adopted a parrot in order to cheer up the kitchen.", "cheer up the kitchen"),
        ("I adopted a parrot to cheer up the kitchen.", None),  # "to" follows a verb for many reasons
        ("I wanted company, and adopted a parrot.", None),
    ],
)
async def test_why_is_answered_only_by_a_reason(line: str, reason: str | None) -> None:
    found = await ask(said(f"Ann: {line}", "Bob: How nice of you."), "Why did Ann adopt a parrot?")
    assert found.text == reason


_LEASE = "When did Ann sign the lease for her bakery?"


@pytest.mark.anyio
async def test_a_time_from_the_next_sentence_cites_both_sentences() -> None:
    talk = said("Ann: Guess what I did yesterday? I repainted the whole kitchen green.", "Bob: Looks good!")
    found = await ask(talk, "When did Ann repaint the kitchen?")
    assert (found.text, found.hedged, len(found.citations)) == ("7 May 2023", True, 2)


DOCUMENTS = [
    NewItem("Harlow Mill was founded by Edith Marsh in 1871. It made wool until 1930.", title="Harlow Mill"),
    NewItem(
        "The mayors were - Olaf Brandt ( 1990-1998 ) - Petra Lund ( 1998-2006 ) - Jon Aas ( 2006-2015 ) .",
        title="Norvik: Mayors",
    ),
    NewItem("Edith Marsh ( 4 March 1840 – 9 June 1912 ) was an English engineer.", title="Edith Marsh"),
]


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who founded Harlow Mill?", "Edith Marsh"),
        ("When was Harlow Mill founded?", "1871"),
        ("Who was the mayor of Norvik in May 2001?", "Petra Lund"),
        ("When was Edith Marsh born?", "4 March 1840"),
        ("When did Edith Marsh die?", "9 June 1912"),
    ],
)
async def test_a_document_answers_with_names_and_dates(question: str, expected: str) -> None:
    found = await ask(DOCUMENTS, question, "document")
    assert found.text is not None, f"abstained at {found.confidence:.2f}"
    assert expected in found.text


@pytest.mark.anyio
@pytest.mark.parametrize(
    "question", ["Wann ging Anna klettern?", "安什么时候去攀岩?", "متى ذهبت آن؟", "\U0001f469‍\U0001f680?"]
)
async def test_a_question_in_another_language_causes_no_error(question: str) -> None:
    talk = said("Anna: Gestern war ich klettern.", "Bo: 安昨天去攀岩了。我们很高兴。", "Cem: ذهبت آن أمس.")
    _assert_cited(await ask(talk, question), talk)


@pytest.mark.anyio
async def test_an_empty_memory_abstains_without_confidence() -> None:
    found = await ask([], "Who is Ann?")
    assert (found.text, found.confidence, found.recall.evidence) == (None, 0.0, ())


@pytest.mark.anyio
async def test_answers_work_without_vectors_in_memory() -> None:
    found = await ask(TALK, "How many kittens did Ann adopt?", vector_limit=0)
    assert found.text == "two kittens"


SENTENCES = (
    'I we Ann Bob Paris went adopted yesterday in at the a two dogs . ! ? , - ( ) [ ] " because not never 1990 2001',
    "– last week Friday \n 安 。 Straße I'm 'cause to for and of \u200b \u0301 \U0001f600 year years since May",
)
WORDS = st.sampled_from([word for line in SENTENCES for word in line.split(" ")])
TEXTS = st.one_of(st.lists(WORDS, min_size=1, max_size=60).map(" ".join), st.text(min_size=1, max_size=200)).filter(
    lambda text: bool(text.strip()) and _encodable(text)
)
QUESTIONS = st.sampled_from(
    [
        "Who went to Paris?",
        "When did Ann adopt two dogs?",
        "Where did Bob go in 1990?",
        "How many dogs does Ann have?",
        "How long has Bob been in Paris?",
        "How often does Ann go?",
        "Why did Bob go to Paris?",
        "What did Ann adopt last week?",
        "Did Ann adopt two dogs?",
    ]
)


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


@settings(max_examples=60, deadline=None)
@given(
    items=st.lists(st.tuples(st.sampled_from(["Ann", "Bob"]), TEXTS), min_size=1, max_size=5),
    question=QUESTIONS,
    documents=st.booleans(),
)
def test_every_citation_is_verbatim_in_its_turn(items: list[tuple[str, str]], question: str, documents: bool) -> None:
    stored = [
        NewItem(text, ref=str(number), speaker=None if documents else speaker, said_at=parse("2023-05-08")[0])
        for number, (speaker, text) in enumerate(items)
    ]
    found = anyio.run(ask, stored, question, "document" if documents else "message")
    _assert_cited(found, stored)


def _assert_cited(found: AnswerResult, stored: list[NewItem]) -> None:
    texts = {item.text for item in stored}
    assert (found.text is None) == (not found.citations)
    assert 0 <= found.confidence <= 1
    assert found.text is None or 0 < len(found.text.split()) <= 25
    known = {evidence.id for evidence in found.recall.evidence}
    for citation in found.citations:
        source = citation.source
        assert citation.evidence_id in known
        assert source.turn.text in texts
        assert 0 <= source.start < source.end <= len(source.turn.text)
        assert source.quote == source.turn.text[source.start : source.end]
