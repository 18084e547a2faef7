"""What holds after a few assertions, in whatever order they arrive: one history a line in ``histories.jsonl``.

An assertion is written ``head | relation | tail | options``; the options are those of `asserted`, a word alone is
true, and times are numbers, days, or "ever". ``keys`` says whom a name means, ``names`` what somebody is called,
``counts`` how often a relation's values replaced each other and stood together. ``holds`` has every version: its text,
from when until when it holds, and what else is to be said of it; a "?" stands before what is not certain, "??" before
what is only suspected.
"""

import json
import random
from itertools import islice, permutations

import pytest
from asserting import asserted
from beside import table_beside

from mcp_memory.domain.facts import CERTAIN, STABLE
from mcp_memory.domain.times import BEGINNING, DAY, FOREVER
from mcp_memory.language.iso import parse, show
from mcp_memory.view.facts import Facts

LINES = table_beside(__file__, "histories.jsonl")
TIMES = ("since", "until", "said_at")


def told(line):
    """Return the assertion of a line."""
    head, relation, tail, *more = (part.strip() for part in line.split(" | "))
    options = {}
    for option in " ".join(more).split():
        name, _, value = option.partition("=")
        options[name] = instant(value) if name in TIMES else plain(value)
    return asserted(tail, head=head, relation=relation, **options)


def plain(value):
    try:
        return json.loads(value or "true")
    except ValueError:
        return value


def instant(written):
    if written == "ever":
        return BEGINNING
    return int(written) if written.isdigit() else parse(written)[0]


def shown(version):
    """Return a version as a line has it."""
    doubt = "??" if version.confidence < STABLE else "?" if version.confidence < CERTAIN else ""
    until = "" if version.until >= FOREVER else moment(version.until)
    words = [version.status] * (version.status == "contested") + [version.kind] * (version.kind != "state")
    return " ".join(
        (f"{doubt}{version.text}", f"{moment(version.since)}..{until}", *words, version.precision or "")
    ).strip()


def moment(time):
    if time <= BEGINNING:
        return "ever"
    return str(time) if time < DAY else str(show(time))[:10]


def read(line, said):
    """Return what a line says, after its assertions came in an order."""
    texts = line.get("texts", {})
    facts = Facts(text_of=lambda turn: str(texts.get(turn, "")))
    for speaker in line.get("speakers", ()):
        facts.add_speaker(speaker)
    for one in map(told, said):
        facts.add([one])
        list(facts.all())  # cached results must not matter
    found = {
        "holds": sorted(shown(version) for version in facts.all(suspected=True)),
        "keys": {name: facts.resolve(name) for name in line.get("keys", ())},
        "names": {key: list(facts.names(key)) for key in line.get("names", ())},
        "counts": {relation: list(facts.counts(relation)) for relation in line.get("counts", ())},
    }
    return {name: what for name, what in found.items() if name in line or name == "holds"}


@pytest.mark.parametrize("line", LINES, ids=[line["what"] for line in LINES])
def test_what_holds_depends_on_what_was_said_and_on_no_order(line):
    orders = islice(permutations(line["said"]), 24)
    mixed = (random.Random(seed).sample(line["said"], len(line["said"])) for seed in range(6))
    for said in (*orders, *mixed):
        found = read(line, said)
        assert found == {name: line[name] for name in found}, said
