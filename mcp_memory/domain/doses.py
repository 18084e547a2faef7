"""Tell which values state another amount of one thing: "20 mg of lisinopril" and later "10 mg of lisinopril".

A person takes several medicines at a time, but each in one dose: a new dose replaces the old one of the same medicine
(DESIGN 1.3). A dose that names no medicine ("I take 10 mg since today") is that of the medicine that the person
took in a dose until then; if there was none, or several, nothing is replaced.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.relations import relations

_AMOUNT = (
    r"(?:\d+(?:[.,/]\d+)?|half\sa|an?|one|two|three|four)\s?"
    r"(?:mg|mcg|µg|μg|ug|iu|ml|milligrams?|micrograms?|units?|tablets?|pills?|capsules?|drops?|puffs?|sprays?|sachets?)"
)
_OFTEN = r"(?:\s(?:a|per|every|each|once|twice|daily|in\sthe)\b.{0,30})?"
_BEFORE = re.compile(
    rf"{_AMOUNT}\b(?:\sof\b)?(?P<thing>\s(?!a\b|per\b|every\b|daily\b|once\b|twice\b)\S.*?)?{_OFTEN}", re.IGNORECASE
)
_BEHIND = re.compile(rf"(?P<thing>\S.{{0,80}}?)[,\s(]+{_AMOUNT}\b{_OFTEN}\)?", re.IGNORECASE)
_LONGEST = 120
"""Characters of a dose with its medicine."""


def medicine(tail: str) -> str | None:
    """Return the thing of which a value states a dose, "" for a dose alone, or None if the value is no dose."""
    tail = " ".join(tail.split())
    if len(tail) > _LONGEST:
        return None
    before = _BEFORE.fullmatch(tail)
    if before is not None:
        return (before["thing"] or "").strip()
    behind = _BEHIND.fullmatch(tail)
    return behind["thing"] if behind is not None else None


def doses_together(assertions: Iterable[Assertion], key: Callable[[str], str]) -> Mapping[str, tuple[str, ...]]:
    """Return by an assertion's id the keys under which it is folded: one for each value, one for all doses of a thing.

    A denial of the thing ("I don't take lisinopril any more") counts for the thing and for its doses. Events are apart:
    who bought 20 mg and later 10 mg bought both.

    Args:
        assertions: of one head and one relation with several values at a time.
        key: of a tail, equal for all its spellings.
    """
    keys: dict[str, tuple[str, ...]] = {}
    begun: dict[str, int] = {}
    alone: list[Assertion] = []
    denied: list[Assertion] = []
    for assertion in assertions:
        thing = None if relations().get(assertion.relation).event else medicine(assertion.tail)
        keys[assertion.id] = (_dose_key(key(thing)) if thing else key(assertion.tail),)
        if thing == "":
            alone.append(assertion)
        elif thing is None and assertion.negated:
            denied.append(assertion)
        elif thing is not None and not assertion.negated:
            name = _dose_key(key(thing))
            begun[name] = min(assertion.since, begun.get(name, assertion.since))
    for assertion in alone:
        known = [name for name, since in begun.items() if since <= assertion.since]
        if len(known) == 1:
            keys[assertion.id] = (known[0],)
    for assertion in denied:
        if (name := _dose_key(key(assertion.tail))) in begun:
            keys[assertion.id] += (name,)
    return keys


def _dose_key(thing: str) -> str:
    return f"doses of {thing}"


def is_dose_of(dose: str, thing: str, key: Callable[[str], str]) -> bool:
    """Return whether the first value states a dose of the second: who stops taking that takes no dose of it."""
    of = medicine(dose)
    return bool(of) and key(of or "") == key(thing)
