"""What people tell of their work; everything is said on Monday 8 May 2023 by Maria."""

import pytest
from reading import facts, read


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the session timeout is 45 minutes", ["session timeout set_to 45 minutes"]),
        ("default upload limit's been 90 since Monday", ["default upload limit set_to 90"]),
        ("The budget is 400 euros for the quarter.", ["budget set_to 400 euros"]),
        ("Login tokens last 12 hours.", ["Login tokens set_to 12 hours"]),
        ("The timeout is 30 s, right?", []),
        ("Their limit is 100 calls a day.", []),
        ("the parser repo belongs to Tomke now", ["parser repo owned_by Tomke"]),
        ("We use Postgres and Redis.", ["the project uses Postgres", "the project uses Redis"]),
        ("I'm using Flask 3.0 and SQLite for the API", ["Maria uses Flask 3.0", "Maria uses SQLite"]),
        ("we no longer use Sentry", ["not the project uses Sentry"]),
        ("Correction on the API: Tuesday evening", []),
        ("The export is done except for the dates.", []),
    ],
)
def test_what_is_used_and_set_is_read_from_clauses(text: str, expected: list[str]) -> None:
    assert facts(text) == expected


@pytest.mark.parametrize("text", ["We moved from Jenkins to GitHub Actions.", "We moved to Kubernetes in May."])
def test_nobody_lives_in_software(text: str) -> None:
    assert not [fact for fact in read(text) if fact.relation == "lives_in"]


@pytest.mark.parametrize("text", ["I started with Rust.", "I worked with Orlen Ltd on this."])
def test_who_works_with_something_is_not_employed_there(text: str) -> None:
    assert not [fact for fact in read(text) if fact.relation == "works_at"]


@pytest.mark.parametrize(
    "text",
    [
        "Should we use Redis for that?",
        "maybe we could raise the timeout to 60 s",
        "Let's switch from Jest to Vitest",
        "If the limit is 50, we are fine",
        "Set the timeout to 30 s, please",
        "there is a bug in parser.py",
        "I'd love to use Rust one day",
        "Dance is just me",
        "the height is 6",
        "He'll cost us 380 a month for his room.",
        "We moved from the city to the coast",
        "I'm using the `repeat` function",
        "the bug is in useFetch.ts",
        "we dropped support for Python 3.8",
        "we're moving from REST to gRPC",
        "Fernbot's user agent is fernbot/2.1",
    ],
)
def test_talk_that_settles_nothing_gives_no_fact_of_work(text: str) -> None:
    relations = {"set_to", "uses", "located_at", "has_command", "replaced_by", "decided", "chose", "owned_by"}

    assert not [fact for fact in read(text) if fact.relation in relations]


@pytest.mark.parametrize(
    "text",
    [
        "The function is called twice.",
        "The queue is called often.",
        "the branch name is wrong",
        "my shop is called a lot",
        "the exit code is 137",
        "my old number is 0455 220 118",
        "is the bucket called blue-whale?",
    ],
)
def test_what_only_looks_like_a_name_or_a_number_gives_none(text: str) -> None:
    assert not [fact for fact in read(text) if fact.relation in ("named", "set_to", "phone") and fact.tail != "137"]
