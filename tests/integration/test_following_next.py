"""A client that explores memory by following `next` alone, as a model would, connected in memory."""

import json

from integration.client_calls import connected, parsed, structured

CHAIN = (
    "We keep the spare key inside a green box.",
    "A green box went home with Rita Quill.",
    "I heard that Rita Quill moved to Larch Hall.",
    "They say Larch Hall opens with the word zebra.",
)
NOISE = tuple(
    f"On walk {n} I counted {n} {bird} by a river." for n in range(6) for bird in ("herons", "gulls", "terns")
)


def told(texts):
    return [{"id": f"m{n}", "speaker": "Ann", "text": text} for n, text in enumerate(texts)]


async def walk(client, leaf, most, **step):
    """Return the texts that were seen on the way to the leaf, going wherever `next` says, in its order."""
    ways, taken = [(step, ())], []
    while ways and len(taken) < most:
        step, before = ways.pop(0)
        if json.dumps(step, sort_keys=True) in taken:
            continue
        taken.append(json.dumps(step, sort_keys=True))
        found = await structured(client, "memory_explore", **step)
        here = [item["text"] for item in found["items"]]
        if any(leaf in text for text in here):
            return (*before, *(text for text in here if leaf in text))
        ways += [({"operator": one["operator"], **one["args"]}, (*before, *here)) for one in found["next"]]
    return ()


async def test_following_next_leads_from_a_question_to_a_sentence_three_steps_away():
    async with connected() as ours:
        texts = [line for n, clue in enumerate(CHAIN) for line in (*NOISE[n * 4 : n * 4 + 4], clue)]
        await structured(ours, "memory_write", messages=told(texts))
        step = {"operator": "tag_events", "query": "Where is the spare key?"}
        first = await structured(ours, "memory_explore", **step)
        assert CHAIN[0] == first["items"][0]["text"]
        assert not any("zebra" in item["text"] for item in first["items"])
        assert set(CHAIN) <= set(await walk(ours, "zebra", 60, **step))  # each clue had to be found to get to the next


async def test_a_step_can_start_at_a_topic_of_the_topics_resource():
    async with connected() as ours:
        uri = "memory://default/topics"
        assert await parsed(ours, uri) == {"space": "default", "topics": [], "total": 0}
        await structured(ours, "memory_write", messages=told(NOISE))
        listed = await parsed(ours, uri)
        assert listed["total"] == len(listed["topics"]) > 0
        largest = listed["topics"][0]
        assert largest["passages"] >= 2
        assert largest["source"]["speaker"] == "Ann"
        begun = await structured(ours, "memory_explore", operator="topic_events", topic=largest["id"], limit=200)
        assert len(begun["items"]) == largest["passages"]
        assert largest["summary"] in [item["text"] for item in begun["items"]]
