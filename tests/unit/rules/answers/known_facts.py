"""Facts written as lines, and the answer that they give to a question."""

from collections.abc import Sequence
from dataclasses import replace

from asserting import asserted

from mcp_memory.domain.answers import KnownFacts, Proposal
from mcp_memory.domain.batch import Batch
from mcp_memory.domain.evidence import Path, PathScores, Root, Step
from mcp_memory.domain.facts import WHOLE
from mcp_memory.domain.query import Query
from mcp_memory.domain.times import BEGINNING, FOREVER, Millis
from mcp_memory.domain.turns import Turn
from mcp_memory.language.iso import parse
from mcp_memory.language.questions import understand
from mcp_memory.navigation.known_facts import known_facts
from mcp_memory.rules.answers.judge import certain_answer
from mcp_memory.view.space import Space

NOW = parse("2024-06-01")[0]
SAID = parse("2023-01-05")[0]


def instant(written: str, unstated: Millis) -> Millis:
    """Return the instant of "2015", "2015-03" or "2015-03-01"; of "-" the given default."""
    return unstated if written == "-" else parse(f"{written}-01-01"[:10] if len(written) < 10 else written)[0]


def guessed_path(relation: str) -> Path:
    """Return a path to "chess" that a rule made of "Ann likes chess - -"."""
    (liked,) = space_of(["Ann likes chess - -"]).facts.versions("ann", "likes")
    guess = replace(liked, id="i_1", relation=relation, confidence=0.7)
    step = Step(guess, forward=True, inferred="symmetry", confidence=0.7, via=liked.assertions)
    return Path(Root("ann", "Ann", "FACT"), (step,), "chess", PathScores(1, 1, 1))


def space_of(lines: Sequence[str]) -> Space:
    """Return a space with one statement for each line, such as "Ann lives_in Oslo 2015 2019".

    "-" is an unstated time. A "!" before the head denies the fact, a "?" makes it a guess, "Ann_Lee" is a
    name of two words.
    """
    space = Space("default")
    turns, rows = [], []
    for place, line in enumerate(lines):
        who, relation, tail, since, until = line.split()
        head, tail = who.lstrip("!?").replace("_", " "), tail.replace("_", " ")
        text = f"{head} {relation.replace('_', ' ')} {tail}"
        turn = Turn(f"t_{place}", "default", "s", f"m{place}", "message", text, "Eve", None, None, SAID, SAID, 0, place)
        turns.append(turn)
        times = BEGINNING if since == "ever" else instant(since, SAID), instant(until, FOREVER)
        one = asserted(
            tail, *times, head=head, relation=relation, turn=turn.id, sentence=WHOLE, negated=who.startswith("!"),
            stated=(since, until) != ("-", "-"), confidence=0.5 if who.startswith("?") else 0.95, said_at=SAID,
            recorded_at=SAID + place,
        )  # fmt: skip
        rows.append(replace(one, id=f"x_{place:03}", end=len(text)))
    space.add(Batch(tuple(turns), assertions=tuple(rows)))
    return space


def about(space: Space, text: str, paths: Sequence[Path] = (), *, now: Millis = NOW) -> tuple[Query, KnownFacts]:
    """Return a query and the facts about it, with the entities that it names as roots."""
    question = understand(text, space.speakers, now)
    keys = dict.fromkeys(key for name in question.names if (key := space.facts.resolve(name)))
    roots = [Root(key, space.facts.name(key), "FACT") for key in keys]
    turns = list(space.turns)
    return question, known_facts(space, question, roots, paths, turns)


def ask(lines: Sequence[str], text: str, paths: Sequence[Path] = (), *, now: Millis = NOW) -> Proposal | None:
    """Return the answer of the facts, or None."""
    space = space_of(lines)
    query, knowledge = about(space, text, paths, now=now)
    return certain_answer(query, knowledge)
