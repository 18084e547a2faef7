"""Claude names what is missing; memory is searched for it, and Claude is asked again with the new evidence."""

from judged_memory import asked, judged
from standin.replies import error, said

from mcp_memory.configurable import Switches

NOISE = tuple(f"Emil: On day {number} we talked about animals in the garden." for number in range(30))
TALK = ("Bob: My godfather is Emil.", *NOISE, "Emil: The hives behind my house were full of honey.")
QUESTION = "Which animals does the godfather of Bob have?"


def shown(request, words):
    return tuple(number for number, line in request.lines.items() if words in line)


def seeking(request):
    """Ask for Emil once it is known who that is, and answer once it is known what he keeps."""
    if found := shown(request, "The hives"):
        return said("Bees", (*found, *shown(request, "My godfather is Emil.")))
    kept = shown(request, "My godfather is Emil.")
    return said(missing=("what Emil has",), supports=kept, look_for=["The hives were full of honey."], names=["Emil"])


async def test_requested_searches_are_made_and_the_answer_cites_both_hops():
    async with judged(seeking, *TALK) as (memory, api):
        answer = await asked(memory, QUESTION, limit=2)
        assert (answer.text, answer.engine) == ("Bees", "anthropic")
        quotes = {citation.source.quote for citation in answer.citations}
        assert quotes >= {"My godfather is Emil.", "The hives behind my house were full of honey."}
        assert {citation.evidence_id for citation in answer.citations} <= {item.id for item in answer.recall.evidence}
        assert len(answer.recall.evidence) <= 4  # two that recall found, and what the answer rests on
        assert len(api.requests) == 2
        assert (answer.recall.spent.calls, answer.recall.spent.input_tokens) == (2, api.tokens)


async def test_a_short_message_is_whole_and_its_reply_follows_a_question():
    talk = ("Bob: Hello there. Which instrument do you play at school?", "Ann: The oboe. I began last year.", *NOISE)
    async with judged([said()], *talk) as (memory, api):
        await asked(memory, "Which instrument is played at school?", limit=1)
        lines = list(api.requests[0].lines.values())
        assert any("Hello there. Which instrument do you play at school?" in line for line in lines)
        assert any("The oboe. I began last year" in line for line in lines)


async def test_an_unsatisfied_judge_is_asked_three_times_at_most():
    count = iter(range(100))

    def script(request):
        return said(missing=("more",), look_for=[f"the garden on day {next(count)}"])

    async with judged(script, *TALK) as (memory, api):
        answer = await asked(memory, "Which flower is Ann's favourite?", limit=2)
        assert (answer.text, answer.engine) == (None, "anthropic")
        assert 2 <= len(api.requests) <= 3


async def test_a_step_that_was_taken_is_named_when_the_judge_is_asked_again():
    def steps(request):
        if shown(request, "The hives"):
            return said("Bees", shown(request, "The hives"))
        step = {"operator": "tag_events", "on": "hives", "tag": ""}
        return said(missing=("what he keeps",), supports=shown(request, "godfather"), steps=[step])

    async with judged(steps, *TALK) as (memory, api):
        answer = await asked(memory, QUESTION, limit=2)
        assert (answer.text, len(api.requests)) == ("Bees", 2)
        second = api.requests[1].text.splitlines()
        assert any(line.startswith("Searched already: tag_events hives") for line in second)
        assert "tag_events (on: a name or word, tag:" in api.requests[0].body["system"]
    async with judged(steps, *TALK, switches=Switches(loop=False)) as (memory, api):
        await asked(memory, QUESTION, limit=2)
        assert len(api.requests) == 1


async def test_of_several_steps_the_best_of_each_is_shown_where_the_room_ends():
    topics = ("radio", "roof", "shed")
    many = [f"Emil: On day {n} the {on} had {'rain and wind for hours ' * 24}." for on in topics for n in range(12)]

    def steps(request):
        found = shown(request, "The hives")
        if found or len(seen) > 1:
            return said("Bees", found or shown(request, "godfather"))
        taken = [{"operator": "tag_events", "on": on, "tag": ""} for on in ("radio", "roof", "shed")]
        return said(
            missing=("it",), supports=shown(request, "godfather"), steps=taken, look_for=["The hives were full"]
        )

    talk = ("Bob: My godfather is Emil.", *many, "Emil: The hives behind my house were full of honey.")
    async with judged(steps, *talk, effort="quick") as (memory, api):
        seen = api.requests
        await asked(memory, QUESTION, limit=2)
        assert shown(api.requests[1], "The hives")
        assert len(shown(api.requests[1], "rain and wind")) < 18


async def test_a_failed_second_call_leaves_the_first_judgement_with_a_warning():
    replies = [said(missing=("what he keeps",), look_for=["The hives were full of honey."]), error(400)]
    async with judged(replies, *TALK) as (memory, api):
        answer = await asked(memory, QUESTION, limit=2)
        assert (answer.text, answer.engine, len(api.requests)) == (None, "anthropic", 2)
        assert answer.recall.missing == ("what he keeps",)
        warning = "Claude did not judge what was found after its first word: it replied with HTTP status 400."
        assert answer.recall.warnings == (warning,)
