"""An emoji is a word to search for, although an embedder cannot tell it from others."""

import pytest
from learning_memory import memory, recalled, told

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("query", "words"), [("🥁", "practice"), ("🧀?", "from Karla"), ("✈", "Lima"), ("who got 🥁", "practice")]
)
async def test_what_has_the_emoji_of_a_question_comes_first(query: str, words: str) -> None:
    texts = ("🚲 to the lake", "🧀 from Karla", "🎂 Olmo turned ten", "🥁 practice again", "✈️ Lima in May")
    one = await told(memory(), *(f"Ann: {text}" for text in texts))
    assert words in (await recalled(one, query)).evidence[0].text
