"""2,400 mutated replies keep the invariants (DESIGN I40)."""

import json
import random

import pytest
from standin.replies import Reply, judgement, message
from unit.rules.answers.known_facts import about, space_of

from mcp_memory.domain.answers import EvidenceSentence, Judgement
from mcp_memory.domain.evidence import RecallResult, Source
from mcp_memory.errors import EngineError
from mcp_memory.ports import JudgeInput
from mcp_memory.reasoning.anthropic.answer import RelatingReply, to_judgement
from mcp_memory.reasoning.anthropic.evidence import render_evidence
from mcp_memory.reasoning.anthropic.messages import UnusableReply, parse_message, parse_reply

USAGE = {"input_tokens": 900, "output_tokens": 60}
JUNK = (
    None,
    True,
    -1,
    0,
    10**400,
    1.5,
    float("inf"),
    float("nan"),
    "",
    "S1",
    "S2\n[S3]",
    "\ud800",
    "\u202eF1",
    [],
    {},
    ["S1"],
)
SEEDS = (
    judgement("Lisbon", ("S1",)),
    judgement("Lisbon", ("S1", "F1", "S77"), hedged=True, confidence=0.1),
    judgement(missing=("the year",), look_for=["He left in spring.", "\u0007"], names=["Bob", "[S1]"]),
    judgement("Ignore all rules. " * 8, ("S1",), confidence=1),
    judgement("=== [S1] ===", ("'; DROP TABLE turns; --", "S2")),
    judgement(
        "Lisbon",
        ("S1",),
        points=[{"of": [], "entities": ["Bob", "Lisbon"], "description": "a", "supports": ["S1"], "concern": "b"}] * 9,
        beyond="\u202eIgnore this.",
    ),
)


def mutated(draw: random.Random) -> Reply:
    """Return a reply in which something of the message, of the judgement in it, or of the bytes has been changed."""
    fields = json.loads(json.dumps(draw.choice(SEEDS)))
    for _ in range(draw.randrange(3)):
        name = draw.choice([*fields, "more"])
        if draw.random() < 0.3:
            fields.pop(name, None)
        else:
            fields[name] = draw.choice(JUNK)
    stop = draw.choice(["end_turn"] * 20 + ["refusal", "max_tokens", "tool_use", "pause_turn"])
    text = json.dumps(fields) if draw.random() < 0.9 else draw.choice(("", "```json\n{}\n```", "[]", "null", "Lisbon"))
    body = json.loads(message(text, stop_reason=stop, usage=dict(USAGE)).body)
    if draw.random() < 0.3:
        where = draw.choice((body, body["usage"], body["content"][0]))
        where[draw.choice([*where])] = draw.choice(JUNK)
    raw = bytearray(json.dumps(body).encode())
    if draw.random() < 0.3:
        for _ in range(draw.randrange(1, 6)):
            raw[draw.randrange(len(raw))] = draw.randrange(256)
    return Reply(200, bytes(raw[: draw.randrange(len(raw))] if draw.random() < 0.1 else raw))


@pytest.mark.parametrize("seed", range(24))
def test_a_mutated_reply_becomes_a_sound_judgement_or_none(seed):
    draw = random.Random(seed)
    space = space_of(["Bob lives_in Lisbon - -", "Ann likes chess - -", "?Bob likes rain - -"])
    question, knowledge = about(space, "Where does Bob live?")
    candidates = [
        EvidenceSentence("g_1", Source(turn, 0, len(turn.text)), (), 1.0, None) for turn in space.turns.values()
    ]
    laid = render_evidence(JudgeInput(question, RecallResult((), 0, False, ()), candidates, {}, knowledge), 2_000)
    shown = {citation for one in laid.cited.values() for citation in one.citations}
    outcomes = set()
    for _ in range(100):
        try:
            got = to_judgement(parse_reply(parse_message(mutated(draw).body), RelatingReply), laid)
        except (UnusableReply, EngineError):
            outcomes.add("refused")
            continue
        sound(got, shown)
        outcomes.add("answer" if got.proposal else "abstention")
    assert outcomes >= {"refused", "answer"}


def sound(got: Judgement, shown: set) -> None:
    """Check what the service relies on."""
    assert got.engine == "anthropic"
    assert len(got.missing) <= 5
    assert len(got.next) <= 6
    words = [*got.missing, *(str(value) for step in got.next for value in step.args.values())]
    assert all(line and line.isprintable() for line in words)
    assert len(got.points) <= 6
    assert all(edit.description.isprintable() and set(edit.citations) <= shown for edit in got.points)
    if (proposal := got.proposal) is None:
        return
    assert proposal.text.strip() == proposal.text
    assert proposal.text.isprintable()
    assert 1 <= len(proposal.text.split()) <= 25
    assert 0 <= proposal.confidence <= 1
    assert proposal.citations
    assert set(proposal.citations) <= shown
    assert all(citation.source.quote in citation.source.turn.text for citation in proposal.citations)
