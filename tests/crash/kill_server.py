"""Kill a real server at random moments while it writes, many times over one store, and look whether a word was lost.

Run as ``python tests/crash/kill_server.py --rounds 30``. Beside it, ``kill_rounds.py`` kills the bare store, which is
quicker and hits closer; here everything is as a user has it: ``mcp-memory serve`` over stdio, the real model, single
messages and batches, four calls in flight, and compaction on the way. What must hold: the next server starts, every
acknowledged message stands in its session and is among the first five that its own words recall, and of no call only
a part is there. The suite runs a few rounds of it.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from stdio_client import Gone, StdioClient, serving

BATCH = 20
IN_FLIGHT = 4
SYLLABLES = ("ba", "do", "fi", "gu", "ke", "lo", "mi", "nu", "pa", "ro", "su", "ti", "vo", "we", "xa", "zu")


@dataclass
class Harm:
    """What came of the rounds.

    Attributes:
        acknowledged: messages that a server said were stored.
        lost: ids of those that do not stand in their session.
        not_found: ids of those that their own words do not recall among the first five.
        halves: ids of messages of a call of which only a part is there.
        refusals: what a server said where it did not do what it was asked.
    """

    acknowledged: int = 0
    lost: list[str] = field(default_factory=list)
    not_found: list[str] = field(default_factory=list)
    halves: list[str] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)

    @property
    def none(self) -> bool:
        """Whether all is well."""
        return not (self.lost or self.not_found or self.halves or self.refusals)


def kill_rounds(store: Path, rounds: int, seed: int) -> Harm:
    """Start a server, look after what the one before was told, let it write, and kill it; ``rounds`` times."""
    dice = random.Random(seed)
    harm = Harm()
    said: dict[str, str] = {}
    for number in range(rounds):
        with serving(store) as server:
            _look(server, f"r{number - 1}", said, harm)
            said = _write_and_kill(server, f"r{number}", dice, harm)
            harm.acknowledged += len(said)
    with serving(store) as server:
        _look(server, f"r{rounds - 1}", said, harm)
        status = server.structured("memory_status")
        if not status["healthy"]:
            harm.refusals += status["warnings"]
        if status["counts"]["messages"] < harm.acknowledged:
            harm.lost.append(f"{harm.acknowledged} were acknowledged, {status['counts']['messages']} are there")
    return harm


def _write_and_kill(server: StdioClient, session: str, dice: random.Random, harm: Harm) -> dict[str, str]:
    """Return the words of each message that was acknowledged before the server was killed, by its id."""
    until = dice.randrange(10)  # so many calls are acknowledged, and a moment later it is killed
    then_s = dice.uniform(0, 0.08)
    under_way: dict[int, dict[str, str]] = {}
    said: dict[str, str] = {}
    for call in range(until + IN_FLIGHT):
        if len(under_way) == IN_FLIGHT:
            _acknowledged(server, under_way, said, harm)
        size = BATCH if dice.random() < 0.4 else 1
        texts = {f"{session}-{call}-{place}of{size}": _words(dice) for place in range(size)}
        messages = [{"id": name, "speaker": "Ann", "text": f"I saw {words} today."} for name, words in texts.items()]
        under_way[server.begin("memory_write", session=session, messages=messages)] = texts
    time.sleep(then_s)
    server.process.kill()
    while under_way:  # what it said before it died counts
        try:
            _acknowledged(server, under_way, said, harm)
        except Gone:
            continue
    return said


def _acknowledged(server: StdioClient, under_way: dict[int, dict[str, str]], said: dict[str, str], harm: Harm) -> None:
    number = next(iter(under_way))
    texts = under_way.pop(number)
    result = server.reply(number)["result"]
    if result.get("isError"):
        harm.refusals.append(result["content"][0]["text"])
    else:
        said |= texts


def _look(server: StdioClient, session: str, said: dict[str, str], harm: Harm) -> None:
    there = {turn["id"]: turn["text"] for turn in server.turns(session)}
    sizes = Counter(name.rpartition("-")[0] for name in there)
    harm.halves += [name for name in there if sizes[name.rpartition("-")[0]] != int(name.rpartition("of")[2])]
    harm.lost += [name for name, words in said.items() if words not in there.get(name, "")]
    for name, words in said.items():
        found = server.structured("memory_reconstruct", query=words, limit=5)["evidence"]
        if name not in {source["id"] for item in found for source in item["sources"]}:
            harm.not_found.append(name)


def _words(dice: random.Random) -> str:
    """Return two words that nobody ever said."""
    return " ".join("".join(dice.choices(SYLLABLES, k=4)) for _ in range(2))


def main() -> None:
    """Say what came of it, and fail if anything came to harm."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        harm = kill_rounds(Path(folder) / "store", asked.rounds, asked.seed)
    sys.stdout.write(f"{asked.rounds} rounds: {harm}\n")
    sys.exit(not harm.none)


if __name__ == "__main__":
    main()
