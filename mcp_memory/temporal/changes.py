"""Find what new assertions changed in the versions of the facts that they are about (REAL §3.2).

Nothing is changed in place: the changes are the difference between the fold of the assertions that were recorded before
and the fold of those that are recorded now.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from mcp_memory.domain.facts import Assertion, Version
from mcp_memory.domain.requests import Op
from mcp_memory.view.facts import Facts


@dataclass(frozen=True, slots=True)
class Change:
    """A version as it is now, and the operation that made it so."""

    version: Version
    op: Op


def changes(facts: Facts, new: Sequence[Assertion], known: Collection[str]) -> list[Change]:
    """Return the changes of the facts that a write asserts, in their order, then of the others that it ended.

    Args:
        facts: with the new assertions in them.
        new: the assertions of the write.
        known: ids of the assertions among them that were recorded before.

    The negation of a fact that nobody asserted changes nothing and is not among them.
    """
    fresh = {assertion.id for assertion in new} - set(known)
    by_version: dict[str, Change] = {}
    for assertion in new:
        if assertion.negated:
            for ended in _versions_ended_by(facts, assertion) if assertion.id not in fresh else ():
                by_version.setdefault(ended.id, Change(ended, "unchanged"))
        elif version := facts.version_of(assertion):
            by_version.setdefault(version.id, Change(version, _operation(version, assertion, fresh)))
    for key, relation in dict.fromkeys((facts.key(a.head), a.relation) for a in new if a.id in fresh):
        for before in facts.versions_without(key, relation, fresh):
            now = facts.version(before.id)
            if now is None or now.id in by_version:
                continue
            if now.status == "contested" != before.status:
                by_version[now.id] = Change(now, "contested")
            elif now.until < before.until:
                by_version[now.id] = Change(now, "closed")
    return list(by_version.values())


def _operation(version: Version, assertion: Assertion, fresh: Collection[str]) -> Op:
    if assertion.id not in fresh:
        return "unchanged"
    if version.status == "contested":
        return "contested"
    return "merged" if any(support.id not in fresh for support in version.assertions) else "added"


def _versions_ended_by(facts: Facts, negation: Assertion) -> list[Version]:
    versions = facts.all_versions(facts.key(negation.head), negation.relation)
    return [version for version in versions if any(ending.id == negation.id for ending in version.ended_by)]
