"""The fold of states, events and plans (DESIGN 1.2): what was told without a time, and what is only announced."""

from itertools import permutations

from asserting import asserted, shown

from mcp_memory.domain.facts import Assertion, Version
from mcp_memory.domain.times import BEGINNING, DAY, FOREVER
from mcp_memory.domain.versions import fold

INF = float("inf")


def folded(*assertions: Assertion, single: bool = False) -> tuple[Version, ...]:
    """Return the fold, which is the same in every order of arrival."""
    orders = [fold(order, single=single, key=str.casefold) for order in permutations(assertions)]
    assert len({tuple((v.tail, v.since, v.until, v.kind, v.precision) for v in order) for order in orders}) == 1
    return orders[0]


def went(day: int, *, told: int, dated: bool = True) -> Assertion:
    """Return that Ann visited Rio on a day, told on another; or told on that day without a time."""
    return asserted(
        "Rio", day * DAY, (day + 1) * DAY, relation="visited", said_at=told * DAY + 5, stated=dated, kind="event",
        precision="day" if dated else "before",
    )  # fmt: skip


def planned(tail: str, day: int, until: int = FOREVER, *, told: int, relation: str = "works_at") -> Assertion:
    return asserted(tail, day * DAY, until, relation=relation, said_at=told * DAY, kind="planned", precision="day")


def test_an_event_told_again_without_a_time_is_the_one_whose_day_is_known() -> None:
    (version,) = folded(went(3, told=4), went(9, told=9, dated=False))
    assert (version.since, version.until, version.precision) == (3 * DAY, 4 * DAY, "day")
    assert len(version.assertions) == 2


def test_an_event_told_twice_without_a_time_happened_before_the_first_telling() -> None:
    (version,) = folded(went(9, told=9, dated=False), went(5, told=5, dated=False))
    assert (version.since, version.until, version.kind, version.precision) == (5 * DAY, 6 * DAY, "event", "before")


def test_an_event_that_was_stored_without_an_end_is_over() -> None:
    """As a caller states it, and as stores of format 6 have it."""
    stated, untold = (asserted("Rio", 5, relation="visited", kind="event", stated=said) for said in (True, False))
    assert [(v.until, v.precision, v.current) for v in folded(stated)] == [(DAY, None, False)]
    assert [(v.until, v.precision, v.current) for v in folded(untold)] == [(DAY, "before", False)]


def test_a_past_remark_about_a_former_value_leaves_the_present_one() -> None:
    lived = asserted("Oslo", BEGINNING, 9, stated=False, precision="before", said_at=9)
    assert shown(folded(asserted("Bergen", 4), lived, single=True)) == [("Oslo", BEGINNING, 4), ("Bergen", 4, INF)]


def test_a_plan_does_not_hold_and_ends_nothing() -> None:
    first, plan = folded(asserted("Orbix", 0, relation="works_at"), planned("Halden", 9, told=2), single=True)
    assert (first.tail, first.current) == ("Orbix", True)
    assert (plan.kind, plan.current, plan.holds(20 * DAY, 21 * DAY)) == ("planned", False, False)


def test_a_plan_that_is_confirmed_holds_from_its_own_start() -> None:
    now = asserted("Halden", 12 * DAY, relation="works_at", stated=False)
    before = asserted("Orbix", 0, relation="works_at")
    versions = folded(before, planned("Halden", 9, told=2), now, single=True)
    assert shown(versions) == [("Orbix", 0, 9 * DAY), ("Halden", 9 * DAY, INF)]
    assert versions[1].kind == "state"


def test_what_was_said_before_the_time_of_a_plan_confirms_nothing() -> None:
    plan = planned("Halden", 9, told=2)
    early = asserted("Halden", BEGINNING, DAY, relation="works_at", stated=False, precision="before", said_at=DAY)
    assert [version.kind for version in folded(plan, early)] == ["state", "planned"]


def test_of_two_plans_for_one_start_the_later_telling_counts() -> None:
    versions = folded(planned("Orbix", 9, told=2), planned("Halden", 9, told=3), single=True)
    assert {version.tail: version.status for version in versions} == {"Orbix": "contested", "Halden": "active"}


def due(day: int, *, told: int) -> Assertion:
    """Return when the report is due, told on a day."""
    return planned(f"day {day}", day, (day + 1) * DAY, told=told, relation="due_on")


def test_of_an_appointment_the_last_telling_counts_even_if_it_is_earlier() -> None:
    versions = folded(due(20, told=1), due(12, told=3), single=True)
    assert [(v.tail, v.status) for v in versions] == [("day 12", "closed"), ("day 20", "contested")]
    assert versions[1].superseded_by == versions[0].id


def test_an_appointment_that_had_passed_is_not_replaced_by_the_next_one() -> None:
    assert [v.status for v in folded(due(5, told=1), due(12, told=8), single=True)] == ["closed", "closed"]
