"""How paths are rendered for Claude, and how its scores are used."""

from dataclasses import replace

import pytest
from unit.navigation.small_graph import ask, graph, said

from mcp_memory.domain.paths import PathScores
from mcp_memory.navigation.paths import serialise
from mcp_memory.reasoning.anthropic.messages import UnusableReply, estimate_tokens
from mcp_memory.reasoning.anthropic.paths import PATHS, ROOM, PathsReply, render_paths, to_scores

BOB = (
    *(said("Ann", "sibling_of", "Bob", 2000), said("Bob", "lives_in", "Rome", 2011, 2015)),
    *(said("Bob", "works_at", "Acme", 2012), said("Ann", "likes", "jazz", 2011)),
)


def last(*rows, question="Where did Ann's brother live?"):
    """Return the paths of which a search names some for a judge, else those that it ends with and how they begin."""
    found = ask(graph(*rows), question)
    begun = {serialise(path): path for path in (replace(one, steps=one.steps[:1]) for one in found.paths)}
    return found.fork or (*begun.values(), *(path for path in found.paths if len(path.steps) > 1))


def reply(**sufficiency):
    return PathsReply.model_validate(
        {"scores": [{"id": n, "qr": 0.5, "lc": 0.5, "sa": s} for n, s in sufficiency.items()]}
    )


def lines(text):
    return text.splitlines()[1:-1]


def test_an_extension_of_a_shown_path_shows_only_its_new_steps():
    text, numbers = render_paths(last(*BOB))
    assert lines(text) == [
        "[P1] Ann -sibling_of[2000-01-01,now) c=.95-> Bob",
        "[P2] Ann -likes[2011-01-01,now) c=.95-> jazz",
        "[P3] [P1] -lives_in[2011-01-01,2015-01-01) c=.95-> Rome",
        "[P4] [P1] -works_at[2012-01-01,now) c=.95-> Acme",
    ]
    assert numbers == {"P1": 0, "P2": 1, "P3": 2, "P4": 3}


def test_the_best_paths_are_shown_and_those_without_room_keep_their_scores():
    rows = [said("Ann", "knows", f"{'friend ' * size}{number}") for number in range(9) for size in (1, 9)]
    paths = last(*rows, *(said(row.tail, "likes", f"music {row.tail}") for row in rows), question="Whom does Ann know?")
    many = [*paths, *(replace(path, scores=PathScores(0.1, 0.1, 0.1)) for path in paths if len(path.steps) > 1)] * 4
    text, numbers = render_paths(many)
    assert estimate_tokens(text) <= ROOM
    assert 1 < len(numbers) <= PATHS
    hidden = set(range(len(many))) - set(numbers.values())
    longest = max(len(many[place].steps) for place in numbers.values())
    least = min(many[place].scores.mean for place in numbers.values() if len(many[place].steps) == longest)
    assert all(many[place].scores.mean <= least for place in hidden if len(many[place].steps) == longest)
    scores = to_scores(reply(P1=1.0), many, numbers)
    assert scores[numbers["P1"]].sufficiency == 1.0
    assert all(scores[place] == many[place].scores for place in hidden)


def test_a_hypothesis_suffices_no_further_than_its_confidence():  # DESIGN I11
    stated, other, *_ = last(*BOB)
    (step,) = other.steps
    guess = replace(other, steps=(replace(step, inferred="causality", confidence=0.3),))
    paths = (stated, guess)
    text, numbers = render_paths(paths)
    assert "by causality" in lines(text)[1]
    first, second = to_scores(reply(P1=1.0, P2=1.0), paths, numbers)
    assert (first.sufficiency, second.sufficiency) == (1.0, 0.3)


@pytest.mark.parametrize("scores", [{}, {"P5": 0.5}, {"S1": 0.5}])
def test_a_reply_that_scores_no_shown_path_is_unusable(scores):
    paths = last(*BOB)
    with pytest.raises(UnusableReply):
        to_scores(reply(**scores), paths, render_paths(paths)[1])
