"""What new assertions did to the versions of the facts they are about (REAL §3.2).

Nothing is changed in place, so what happened is the difference between two folds: of what was recorded before, and of
what is recorded now.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from mcp_memory.domain.facts import Assertion, Version
from mcp_memory.domain.requests import Op
from mcp_memory.view.facts import Facts


@dataclass(frozen=True, slots=True)
class Change:
    """What happened to one version.

    Attributes:
        version: as it is now.
        op: what was done to it.
    """

    version: Version
    op: Op


def changes(facts: Facts, new: Sequence[Assertion], known: Collection[str]) -> list[Change]:
    """Return what became of the facts that a write asserts, in their order, then of the others that it ended.

    Args:
        facts: with the new assertions in them.
        new: what the write asserts.
        known: ids of those of them that were recorded before.

    A negation of what nobody asserted changes nothing and is not among them.
    """
    fresh = {assertion.id for assertion in new} - set(known)
    found: dict[str, Change] = {}
    for assertion in new:
        if assertion.negated:
            for ended in _ended_by(facts, assertion):
                found.setdefault(ended.id, Change(ended, "closed" if assertion.id in fresh else "unchanged"))
        elif version := facts.version_of(assertion):
            found.setdefault(version.id, Change(version, _op(version, assertion, fresh)))
    for key, relation in dict.fromkeys((facts.key(a.head), a.relation) for a in new if a.id in fresh):
        for version in facts.both(key, relation):
            if version.id not in found and any(ending.id in fresh for ending in version.ended_by):
                found[version.id] = Change(version, "closed")
            elif version.id not in found and _beaten(version, found):
                found[version.id] = Change(version, "contested")
    return list(found.values())


def _op(version: Version, assertion: Assertion, fresh: Collection[str]) -> Op:
    if assertion.id not in fresh:
        return "unchanged"
    if version.status == "contested":
        return "contested"
    return "merged" if any(support.id not in fresh for support in version.assertions) else "added"


def _ended_by(facts: Facts, negation: Assertion) -> list[Version]:
    found = facts.both(facts.key(negation.head), negation.relation)
    return [version for version in found if any(ending.id == negation.id for ending in version.ended_by)]


def _beaten(version: Version, found: dict[str, Change]) -> bool:
    """Return whether a version lost its start to one that this write brought."""
    return version.status == "contested" and any(
        change.op in ("added", "merged") and change.version.since == version.since
        for change in found.values()
        if (change.version.head, change.version.relation) == (version.head, version.relation)
    )
