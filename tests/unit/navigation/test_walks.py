"""What a question finds in a graph of facts, one question a line in ``walks.jsonl``.

``facts`` are head, relation, tail, and perhaps the years in which they begin and end, and more as `said` takes it; or
the name of a graph that a line with ``graph`` gives. ``ask`` is asked as ``asked`` says, with the ``switches`` that are
not the usual ones; ``year`` is the year in question, null for any time, else it is now. What else stands in a line is
what is found, by the names of `FOUND`: ``guesses`` are those by its ``rule``. ``lacks`` are ends of no path. Paths are
in the form of REAL's eq. 9.
"""

import pytest
from beside import table_beside
from hypothesis import given
from hypothesis import strategies as st
from small_graph import TODAY, ask, cosine_by_relation, graph, said, year

from mcp_memory.configurable import Switches
from mcp_memory.language.questions import understand
from mcp_memory.language.tokens import names
from mcp_memory.navigation.fact_query import MOST_ROOTS, FactQuery, mentioned_entities, select_roots
from mcp_memory.navigation.paths import serialise

LINES = table_beside(__file__, "walks.jsonl")
GRAPHS = {line["graph"]: line["facts"] for line in LINES if "graph" in line}
ASKED = [line for line in LINES if "ask" in line]
GUESSING = [line for line in ASKED if line.get("guesses")]


def facts_of(line):
    rows = GRAPHS[line["facts"]] if isinstance(line["facts"], str) else line["facts"]
    made = []
    for row in rows:
        more = row[-1] if isinstance(row[-1], dict) else {}
        made.append(said(*(part for part in row if part is not more), **more))
    return graph(*made)


def moment(line):
    if "year" not in line:
        return TODAY
    return None if line["year"] is None else (year(line["year"]), year(line["year"] + 1))


def found(line, **switches):
    chosen = Switches(**{**line.get("switches", {}), **switches})
    near = cosine_by_relation(**line.get("near", {}))
    return ask(facts_of(line), line["ask"], at=moment(line), near=near, switches=chosen, **line.get("asked", {}))


def guesses(line, paths):
    """Return the paths with a step that the rule of a line inferred."""
    return [serialise(path) for path in paths.paths if any(step.inferred == line["rule"] for step in path.steps)]


FOUND = {
    "roots": lambda _line, _facts, paths: [root.key for root in paths.roots],
    "intent": lambda _line, _facts, paths: next(root.intent for root in paths.roots),
    "ends": lambda _line, _facts, paths: [path.end for path in paths.paths],
    "best": lambda _line, _facts, paths: serialise(paths.paths[0]),
    "guesses": lambda line, _facts, paths: guesses(line, paths),
    "common": lambda line, facts, _paths: sorted(mentioned_entities(facts, line["ask"], names(line["ask"]))[2]),
    "demand": lambda line, _facts, _paths: {
        relation: FactQuery(understand(line["ask"], ())).demand(relation) for relation in line["demand"]
    },
}


@pytest.mark.parametrize("line", ASKED, ids=[f"{line.get('what', '')} {line['ask']}" for line in ASKED])
def test_this_is_found(line):
    facts, paths = facts_of(line), found(line)
    assert {name: FOUND[name](line, facts, paths) for name in line if name in FOUND} == {
        name: line[name] for name in line if name in FOUND
    }
    assert not {path.end for path in paths.paths} & set(line.get("lacks", ()))


@pytest.mark.parametrize("line", GUESSING, ids=[f"{line['rule']} {line['ask']}" for line in GUESSING])
def test_nothing_is_inferred_where_repair_is_switched_off(line):
    assert not any(path.inferred for path in found(line, counterfactual=False).paths)


@given(st.text(max_size=80))
def test_any_text_mentions_only_known_entities_each_once(text):
    facts = facts_of({"facts": "many"})
    named, _, common = mentioned_entities(facts, f"{text} Ann Lee {text}", names(f"{text} Ann Lee {text}"))
    for keys in (named, common):
        assert len(set(keys)) == len(keys)
        assert all(facts.degree(key) for key in keys)
    assert len(select_roots(facts, understand(text, ()))) <= MOST_ROOTS


@pytest.mark.parametrize(
    "question", ["", " ", "?", "\u202e\u0000", "a" * 50_000, "Ann " * 20_000, "🦉" * 99, "\ud800 Ann"]
)
def test_hostile_questions_break_nothing(question):
    ask(facts_of({"facts": "ann"}), question)
