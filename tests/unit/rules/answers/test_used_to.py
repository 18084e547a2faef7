"""Former states without a date: they answer questions about the past, never about the present."""

from __future__ import annotations

import pytest
from known_facts import ask

LEFT = ("Ann lives_in Paris ever 2019", "Ann lives_in Rome ever 2019")
MOVED = (*LEFT, "Ann lives_in Oslo 2020 -")


@pytest.mark.parametrize("facts", [LEFT, MOVED], ids=["nowhere now", "elsewhere now"])
@pytest.mark.parametrize(
    "question",
    ["Where did Ann use to live?", "Which city is it that Ann used to live in?", "Where did Ann previously live?"],
)
def test_where_somebody_used_to_live_is_answered_by_all_such_places(facts: tuple[str, ...], question: str) -> None:
    found = ask(facts, question)
    assert found is not None
    assert found.text == "Paris and Rome"
    assert len(found.citations) == 2


@pytest.mark.parametrize("question", ["Where does Ann live?", "Where does Ann live now?"])
def test_where_somebody_lives_is_not_answered_by_former_places(question: str) -> None:
    found = ask(LEFT, question)
    assert found is None or found.text.startswith("not any more")
    now = ask(MOVED, question)
    assert now is not None
    assert now.text == "Oslo"
