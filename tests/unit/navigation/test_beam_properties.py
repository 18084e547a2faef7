"""Invariants of navigation over random graphs: DESIGN I11, I32, I33 and I34."""

from hypothesis import given, settings
from hypothesis import strategies as st
from small_graph import TODAY, ask, graph, said, year

from mcp_memory.domain.evidence import Path, PathScores, Root, Step
from mcp_memory.language.questions import understand
from mcp_memory.navigation.beam import BEAM_WIDTH, PATH_STEPS, continuations
from mcp_memory.navigation.counterfactual import counterfactual_budget
from mcp_memory.navigation.fact_query import FactQuery, is_time_valid
from mcp_memory.navigation.paths import EXPANDED_NEIGHBOURS, ends, entities_on

NAMES = ("Ann", "Bob", "Cleo", "Dan", "Oslo", "Rome", "Acme", "jazz", "music")
RELATIONS = (
    *("lives_in", "friend_of", "likes", "works_at", "employs", "is_a", "causes", "visited", "after", "happened_on"),
    *("allergic_to", "knows"),
)
QUESTIONS = (
    *("Where does Ann live?", "Who are Bob's friends?", "Why did Ann like jazz?", "How did Ann's home change?"),
    *("What is Cleo interested in?", "When did Dan visit Oslo?", "Does Ann like music?", "Anything at all?"),
)

statements = st.builds(
    said,
    st.sampled_from(NAMES),
    st.sampled_from(RELATIONS),
    st.sampled_from(NAMES),
    st.integers(2000, 2020),
    st.one_of(st.none(), st.integers(2021, 2030)),
    confidence=st.sampled_from((0.95, 0.95, 0.95, 0.45)),
    intent=st.sampled_from(("FACT", "CAUSAL", "TEMPORAL")),
    turn=st.one_of(st.none(), st.sampled_from(("t_1", "t_2", "t_3"))),
    sentence=st.integers(-1, 1),
)
graphs = st.lists(statements, min_size=1, max_size=30).map(lambda rows: graph(*rows))
moments = st.sampled_from((TODAY, None, (year(2005), year(2008))))
some = settings(max_examples=60)


def near(assertions):
    """Return similarities that do not depend on the words and are the same each time."""
    return [(sum(map(ord, assertion.id)) % 50) / 100 for assertion in assertions]


scores = st.builds(PathScores, *(st.sampled_from((0.0, 0.3, 0.5, 0.6, 1.0)) for _ in range(3)))


@some
@given(scores, st.lists(scores, max_size=5), st.lists(scores, max_size=9))
def test_a_path_goes_on_in_at_most_m_ways_and_in_as_many_guesses_as_reliable_ones_leave_places(
    own, expansions, guesses
):  # DESIGN I32
    def paths(group, rule):
        return [
            Path(root, (Step(version, True, rule, 1.0),), f"{rule} {place}", one) for place, one in enumerate(group)
        ]

    root, (version,) = Root("ann", "Ann", "FACT"), graph(said("Ann", "likes", "tea")).all()
    (path,) = paths([own], None)
    kept = continuations(path, paths(expansions, None), paths(guesses, "symmetry"))
    assert len(kept) <= EXPANDED_NEIGHBOURS
    assert sum(bool(one.inferred) for one in kept) <= counterfactual_budget(expansions)
    assert all(one.scores.sufficiency > own.sufficiency for one in kept)


@some
@given(graphs, st.sampled_from(QUESTIONS), moments)
def test_paths_are_simple_start_at_their_root_and_stay_within_the_limits(facts, question, at):  # DESIGN I32
    found = ask(facts, question, at=at, near=near)
    walked = [(path.root, tuple((step.version.id, step.forward) for step in path.steps)) for path in found.paths]
    assert len(set(walked)) == len(walked)
    for path in found.paths:
        assert path.root in found.roots
        assert 1 <= len(path.steps) <= PATH_STEPS
        assert len(entities_on(path, facts)) == len(path.steps) + 1
        here = path.root.key
        for step, end in zip(path.steps, ends(path, facts), strict=True):
            assert facts.key(step.version.head if step.forward else step.version.tail) == here
            here = end
        assert here == path.end
    assert all(sum(path.root == root for path in found.paths) <= BEAM_WIDTH * PATH_STEPS for root in found.roots)


@some
@given(graphs, st.sampled_from(QUESTIONS), moments)
def test_every_step_that_is_not_inferred_holds_at_the_time_in_question(facts, question, at):  # DESIGN I32
    asking = FactQuery(understand(question, ()))
    for path in ask(facts, question, at=at, near=near).paths:
        for step in path.steps:
            assert step.inferred or is_time_valid(step.version, at, path.root.intent, past=asking.past)


@some
@given(graphs, st.sampled_from(QUESTIONS), moments)
def test_a_root_with_a_valid_neighbour_leads_to_a_path(facts, question, at):
    # DESIGN I33
    found = ask(facts, question, at=at, near=near)
    reached = {path.root for path in found.paths}
    for root in found.roots:
        around = (*facts.from_(root.key), *facts.to(root.key))
        past = FactQuery(understand(question, ())).past
        if any(
            is_time_valid(version, at, root.intent, past=past) and facts.key(version.head) != facts.key(version.tail)
            for version in around
        ):
            assert root in reached


@some
@given(graphs, st.sampled_from(QUESTIONS), moments)
def test_without_uncertainty_facts_below_the_threshold_are_neither_followed_nor_premises(
    facts, question, at
):  # DESIGN I34
    stable = {version.id for version in facts.all()}
    statements = {assertion for version in facts.all() for assertion in version.assertions}
    for path in ask(facts, question, at=at, near=near).paths:
        for step in path.steps:
            if step.version.id.startswith("i_"):
                assert statements.issuperset(step.via)
            else:
                assert step.version.id in stable
                assert step.version.confidence >= facts.stable


@some
@given(graphs, st.sampled_from(QUESTIONS), moments)
def test_an_inferred_step_has_its_rule_and_is_never_stored(facts, question, at):  # DESIGN I11
    before = list(facts.rows)
    versions = {version.id for version in facts.all(suspected=True)}
    found = ask(facts, question, at=at, near=near, include_uncertain=True)
    assert facts.rows == before
    assert {version.id for version in facts.all(suspected=True)} == versions
    for path in found.paths:
        for step in path.steps:
            assert step.version.id in versions or (step.inferred and step.version.id.startswith("i_"))
            if step.inferred:
                assert step.via
                assert step.confidence <= min(1.0, step.version.confidence)
                assert path.inferred
            else:
                assert step.confidence == step.version.confidence


@some
@given(st.lists(statements, min_size=1, max_size=20, unique_by=lambda row: row.id), st.sampled_from(QUESTIONS))
def test_the_same_question_over_the_same_facts_gives_the_same_paths(rows, question):
    once, again = (ask(graph(*rows), question, near=near) for _ in range(2))
    assert once == again
