"""A chain of memories that only a search step by step can find (MRAgent Theorem 4.1, Lemma C.9).

The memories are the nodes of a binary tree. Each names itself and one of its two children, so the child that it does
not name begins a chain that looks like the right one. The leaf shares no word with the question.
"""

from random import Random

from integration.client_calls import connected, structured

DEPTH = 5
QUALITIES = ["amber", "broken", "copper", "distant", "folded", "gentle", "hollow", "narrow"]
THINGS = ["anchor", "basket", "cradle", "fiddle", "ladder", "mirror", "saddle", "trumpet"]
STEPS = (
    "Whoever has seen {0} should look for {1} afterwards.",
    "Behind {0} there is a door, and the door opens on {1}.",
    "They handed me {0} with a warning: from now on only {1} matters.",
    "The clerk stamped {0} and wrote {1} beneath the stamp.",
)


async def reaches_its_leaf(seed):
    chance = Random(seed)
    names = [f"the {quality} {thing}" for quality in QUALITIES for thing in THINGS]
    chance.shuffle(names)
    following = {node: 2 * node + chance.randrange(2) for node in range(1, 2**DEPTH)}
    texts = {node: chance.choice(STEPS).format(names[node], names[child]) for node, child in following.items()}
    texts |= {leaf: f"Inside {names[leaf]} lay forty buttons." for leaf in range(2**DEPTH, 2 ** (DEPTH + 1))}
    leaf = 1
    while leaf in following:
        leaf = following[leaf]
    messages = [{"id": str(node), "speaker": "Ann", "text": text} for node, text in texts.items()]
    chance.shuffle(messages)
    async with connected() as client:
        await structured(client, "memory_write", messages=messages, wait=True)
        query = f"Which discovery concludes the journey that {names[1]} begins?"
        recall = await structured(client, "memory_reconstruct", query=query, limit=DEPTH + 6)
    return str(leaf) in {source["id"] for item in recall["evidence"] for source in item["sources"]}


async def test_the_loop_follows_things_without_a_capital_to_the_end_of_their_chain():
    """Guessing would find 11 of 32 leaves; by names with a capital alone it finds 2 of 12."""
    reached = [await reaches_its_leaf(seed) for seed in range(12)]
    assert sum(reached) >= 9
