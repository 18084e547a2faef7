"""What the tables are called.

Commits and the log (what was said, what callers assert and what was paid for, what judges say of episodes, memory
points, aliases, and how far texts were read by a language model) have one table each for good; what is derived has one
for each generation, since a rebuild makes it anew beside the old ones.
"""

from __future__ import annotations

COMMITS = "commits"
TURNS = "turns"
FACTS = "facts"
EPISODES = "episodes"
POINTS = "points"
ALIASES = "aliases"
JOBS = "jobs"


def segments_table(generation: int) -> str:
    """Return the name of the table of segments."""
    return f"segments_{generation}"


def sentences_table(generation: int) -> str:
    """Return the name of the table of sentences."""
    return f"sentences_{generation}"


def assertions_table(generation: int) -> str:
    """Return the name of the table of assertions that the embedded engine read; those of others are in `FACTS`."""
    return f"assertions_{generation}"


def beliefs_table(generation: int) -> str:
    """Return the name of the table of what the lessons in `EPISODES` have taught about sentences."""
    return f"beliefs_{generation}"


def point_vectors_table(generation: int) -> str:
    """Return the name of the table of the vectors of what the points in `POINTS` say."""
    return f"point_vectors_{generation}"


def questions_table(generation: int) -> str:
    """Return the name of the table of questions, which a rebuild takes over with vectors of its own."""
    return f"questions_{generation}"


def tables_of(generation: int) -> tuple[str, ...]:
    """Return the names of all tables in which commits of a generation have rows: the log, and what is derived."""
    derived = segments_table, sentences_table, assertions_table, beliefs_table, point_vectors_table, questions_table
    return (TURNS, FACTS, EPISODES, POINTS, ALIASES, JOBS, *(table(generation) for table in derived))


def generation_of(table: str) -> int | None:
    """Return which generation a table belongs to; None for commits and the log."""
    number = table.rpartition("_")[2]
    return int(number) if number.isdigit() else None
