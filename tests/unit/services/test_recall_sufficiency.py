"""What a recall says of itself: a probability, what is missing, and why it stopped."""

import pytest
from learning_memory import memory, recalled, told

pytestmark = pytest.mark.anyio
TALK = ("Ann: I painted a red kayak at the lake.", "Bob: That sounds great, good for you!")


async def test_evidence_of_somebody_else_is_named_and_does_not_suffice_though_it_covers_the_question():
    one = await told(memory(), *TALK)
    own, swapped = [await recalled(one, f"Where did {who} paint a red kayak?") for who in ("Ann", "Bob")]
    assert (own.sufficient, own.missing, own.stop) == (True, (), "sufficient")
    assert not swapped.sufficient
    assert swapped.missing == ("told of Ann, not of Bob: “I painted a red kayak at the lake.”",)
    assert swapped.stop != "sufficient"
    assert own.sufficiency > 0.7 > swapped.sufficiency
