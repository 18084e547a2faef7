"""What the messages before a message complete: answers to questions, and whom "she" means."""

import pytest
from unit.rules.facts.reading import turn

from mcp_memory.language.segments import split
from mcp_memory.language.stated import stated_times
from mcp_memory.rules.facts.extractor import RESOLVED, RuleExtractor


def told(*talk, context=True):
    """Return the facts of the last message; speakers take turns, and "Maria" says the last."""
    names = ["Tom", "Maria"] if len(talk) % 2 == 0 else ["Maria", "Tom"]
    turns = [turn(text, speaker=names[place % 2]) for place, text in enumerate(talk)]
    *before, last = turns
    spans = split(last.text)
    times = [stated_times(last.text, last.said_at, *span) for span in spans]
    return RuleExtractor(context=context).extract(last, "Tom", spans, times, before[-2:])


def shown(*talk, context=True):
    return [f"{'not ' * one.negated}{one.head} {one.relation} {one.tail}" for one in told(*talk, context=context)]


@pytest.mark.parametrize(
    ("question", "answer", "fact"),
    [
        ("Where do you live these days?", "In Turku, since March.", "Maria lives_in Turku"),
        ("And what do you do for a living?", "A plumber!", "Maria works_as plumber"),
        ("Do you still work at the dairy?", "Yes, since 2016.", "Maria works_at dairy"),
        ("Cute! What's your cat's name?", "Biscuit.", "Maria has_pet Biscuit"),
        ("When is your appointment?", "On 4 June.", "Maria's appointment scheduled_for 4 June"),
        ("When's the viva?", "The 4th of June.", "viva scheduled_for 4th of June"),
        ("When are you moving to Turku?", "On 4 June.", "Maria lives_in Turku"),
        ("When did you buy the boat?", "In 2019.", "Maria bought boat"),
        ("What are you allergic to?", "Walnuts.", "Maria allergic_to walnuts"),
        ("How old is your nephew Ole?", "Nine, I think.", "Ole age nine"),
        ("What instrument do you play?", "The oboe, for ten years now.", "Maria plays oboe"),
        ("So where are you from?", "Faro.", "Maria comes_from Faro"),
        ("Who's your dentist?", "Dr Okoro, on Mill Lane.", "Maria dentist Dr Okoro"),
        ("What's your favourite soup?", "Borscht, easily", "Maria favourite_soup Borscht"),
        ("What's your cat called?", "Biscuit", "Maria has_pet Biscuit"),
        ("Got any siblings?", "a brother, Al", "Maria sibling_of Al"),
        ("How much is your rent??", "540 a month", "Maria's rent set_to 540 a month"),
        ("Where did you go on holiday?", "Malta, it was lovely", "Maria visited Malta"),
        ("What did you buy?", "a tent", "Maria bought tent"),
        ("What are you learning?", "Greek", "Maria studies Greek"),
        ("What are we using for the queue?", "RabbitMQ, mostly because I know it", "the project uses RabbitMQ"),
        ("Who owns the parser?", "me, since May", "parser owned_by Maria"),
        ("Who's Nele?", "My cousin.", "Maria cousin_of Nele"),
    ],
)
def test_an_answer_is_read_together_with_its_question(question, answer, fact) -> None:
    assert fact in shown(question, answer)
    assert fact not in shown(question, answer, context=False)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Do you still work at the dairy?", "No, not any more."),
        ("Would you like to live in Turku?", "Yes!"),
        ("Do you live in Turku or in Faro?", "Yes."),
        ("Are you thinking of moving to Turku?", "Yes, soon."),
        ("Where do you live?", "Guess!"),
        ("Where do you live?", "Not in Turku."),
        ("What do you do for a living?", "This and that."),
        ("You live in Turku.", "Yes, since March."),
        ("What's your fave?", "Yeah, me too!"),
        ("Who does the dishes?", "me"),
    ],
)
def test_an_answer_that_says_no_more_than_itself_yields_nothing(question, answer) -> None:
    assert shown(question, answer) == []


def test_the_time_of_an_answer_is_that_of_the_fact_and_it_is_stated_by_the_answer() -> None:
    (fact,) = told("Where do you live?", "Hey! In Turku, since March 2021.")

    assert (fact.sentence, fact.precision, fact.confidence) == (1, "month", RESOLVED)
    assert "Hey! In Turku, since March 2021."[fact.start : fact.end] == "In Turku, since March 2021."


@pytest.mark.parametrize(
    ("before", "text", "fact"),
    [
        (["How is your sister?"], "Fine, she moved to Turku in March.", "Maria's sister lives_in Turku"),
        (["I saw my uncle Olaf.", "Lovely! Is he well?"], "He works as a baker now.", "Olaf works_as baker"),
    ],
)
def test_she_is_the_one_woman_of_the_messages_before(before, text, fact) -> None:
    assert fact in shown(*before, text)
    assert fact not in shown(*before, text, context=False)


@pytest.mark.parametrize(
    ("before", "text"),
    [
        (["I saw my aunt Rosa and my cousin Lea.", "Lovely!"], "She lives in Turku."),
        (["How is your sister?"], "Fine, but my colleague is ill. She lives in Turku."),
        (["How is your brother?"], "She lives in Turku."),
        (["You know my sister."], "He lives in Turku."),
    ],
)
def test_she_is_nobody_where_the_messages_before_leave_it_open(before, text) -> None:
    assert "lives_in" not in " ".join(fact for fact in shown(*before, text) if "colleague" not in fact)


def test_she_is_the_sister_whom_the_speaker_has_just_introduced() -> None:
    assert "Maria's sister lives_in Turku" in shown("I have a sister. She lives in Turku.")
    assert "Maria's sister lives_in Turku" not in shown("I wish I had a sister. She lives in Turku.")


@pytest.mark.parametrize(
    ("said", "change", "fact"),
    [
        ("The audit is on 17 June.", "It was moved to the 24th.", "audit scheduled_for 24 June"),
        ("The client timeout is 30 seconds, right?", "We raised it to 45 seconds.", "client timeout set_to 45 seconds"),
        ("The recital is on 3 June.", "No, it's now on 5 June.", "recital scheduled_for 5 June"),
        ("The audit is on Wednesday.", "Actually it's Thursday, not Wednesday.", "audit scheduled_for 11 May 2023"),
        ("The audit is on Monday.", "Sorry, it's on Friday, not Monday!", "audit scheduled_for 19 May 2023"),
        ("The audit is on Monday.", "Sorry, it is Sunday, not Monday.", "audit scheduled_for 14 May 2023"),
    ],
)
def test_what_was_told_of_a_thing_before_is_changed_by_what_is_told_of_it(said, change, fact) -> None:
    assert shown(said, change) == [fact]
    assert shown(said, change, context=False) == []


def test_a_later_sentence_changes_what_an_earlier_one_told_of_the_thing() -> None:
    assert shown("Hi!", "The page size is 20. It's now 50.")[-1] == "page size set_to 50"


@pytest.mark.parametrize(
    ("said", "change"),
    [
        ("The page size is 20 and the limit is 5.", "We raised it to 45."),
        ("I like tea.", "It was moved to the 24th."),
        ("The audit is on 17 May.", "I moved it to the left."),
        ("The audit is on 17 May.", "Was it moved to the 24th?"),
        ("The audit is on 17 May.", "It's Thursday, finally."),
        ("The audit is on 17 May.", "Is it Thursday, not Wednesday?"),
    ],
)
def test_nothing_is_told_of_it_where_it_is_not_one_thing_with_a_date_or_a_value(said, change) -> None:
    assert shown(said, change) == []


def test_what_is_told_without_a_subject_is_of_whom_the_message_before_asks() -> None:
    assert shown("what's she in for", "crashed into a bakery. she can go in a week") == []
    assert shown("what have you done", "crashed into a bakery.") == ["Maria did crashed into a bakery"]
