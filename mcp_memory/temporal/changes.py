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
            for ended in _ended_by(facts, assertion) if assertion.id not in fresh else ():
                found.setdefault(ended.id, Change(ended, "unchanged"))
        elif version := facts.version_of(assertion):
            found.setdefault(version.id, Change(version, _op(version, assertion, fresh)))
    for key, relation in dict.fromkeys((facts.key(a.head), a.relation) for a in new if a.id in fresh):
        for before in facts.versions_without(key, relation, fresh):
            now = facts.version(before.id)
            if now is None or now.id in found:
                continue
            if now.status == "contested" != before.status:
                found[now.id] = Change(now, "contested")
            elif now.until < before.until:
                found[now.id] = Change(now, "closed")
    return list(found.values())


def _op(version: Version, assertion: Assertion, fresh: Collection[str]) -> Op:
    if assertion.id not in fresh:
        return "unchanged"
    if version.status == "contested":
        return "contested"
    return "merged" if any(support.id not in fresh for support in version.assertions) else "added"


def _ended_by(facts: Facts, negation: Assertion) -> list[Version]:
    found = facts.all_versions(facts.key(negation.head), negation.relation)
    return [version for version in found if any(ending.id == negation.id for ending in version.ended_by)]
