"""Kill a real server at random moments while it writes, many times over one store, and check that no text is lost.

Run as ``python tests/crash/kill_server.py --rounds 30``. ``kill_rounds.py`` kills a process with the store alone, which
is faster and hits writes more often; here everything is as a user has it: ``mcp-memory serve`` over stdio, the real
model, single messages and batches, four calls in flight, and compaction. What must hold: the next server starts, every
acknowledged message is in its session and among the first five results for its own words, and no call is stored in
part. The test suite runs a few rounds.
"""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from crash.command import run
from stdio_client import Gone, StdioClient, serving

BATCH = 20
IN_FLIGHT = 4
SYLLABLES = ("ba", "do", "fi", "gu", "ke", "lo", "mi", "nu", "pa", "ro", "su", "ti", "vo", "we", "xa", "zu")


@dataclass
class Damage:
    """The damage that the rounds caused.

    Attributes:
        acknowledged: messages that a server acknowledged.
        lost: ids of those that are missing in their session.
        not_found: ids of those that are not among the first five results for their own words.
        halves: ids of messages of a call that is stored in part.
        refusals: error replies of a server.
    """

    acknowledged: int = 0
    lost: list[str] = field(default_factory=list)
    not_found: list[str] = field(default_factory=list)
    halves: list[str] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)

    @property
    def none(self) -> bool:
        """Whether nothing was lost."""
        return not (self.lost or self.not_found or self.halves or self.refusals)


def kill_rounds(store: Path, rounds: int, seed: int) -> Damage:
    """Start a server, check what the one before stored, let it write, and kill it; ``rounds`` times."""
    dice = random.Random(seed)
    damage = Damage()
    said: dict[str, str] = {}
    for number in range(rounds):
        with serving(store) as server:
            _look(server, f"r{number - 1}", said, damage)
            said = _write_and_kill(server, f"r{number}", dice, damage)
            damage.acknowledged += len(said)
    with serving(store) as server:
        _look(server, f"r{rounds - 1}", said, damage)
        status = server.structured("memory_status")
        if not status["healthy"]:
            damage.refusals += status["warnings"]
        if status["counts"]["messages"] < damage.acknowledged:
            damage.lost.append(f"{damage.acknowledged} were acknowledged, {status['counts']['messages']} are there")
    return damage


def _write_and_kill(server: StdioClient, session: str, dice: random.Random, damage: Damage) -> dict[str, str]:
    """Return the words of each message that was acknowledged before the server was killed, by its id."""
    until = dice.randrange(10)  # after so many acknowledged calls it is killed
    then_s = dice.uniform(0, 0.08)
    under_way: dict[int, dict[str, str]] = {}
    said: dict[str, str] = {}
    for call in range(until + IN_FLIGHT):
        if len(under_way) == IN_FLIGHT:
            _acknowledged(server, under_way, said, damage)
        size = BATCH if dice.random() < 0.4 else 1
        texts = {f"{session}-{call}-{place}of{size}": _words(dice) for place in range(size)}
        messages = [{"id": name, "speaker": "Ann", "text": f"I saw {words} today."} for name, words in texts.items()]
        under_way[server.begin("memory_write", session=session, messages=messages)] = texts
    time.sleep(then_s)
    server.process.kill()
    while under_way:  # replies sent before its end count
        try:
            _acknowledged(server, under_way, said, damage)
        except Gone:
            continue
    return said


def _acknowledged(
    server: StdioClient, under_way: dict[int, dict[str, str]], said: dict[str, str], damage: Damage
) -> None:
    number = next(iter(under_way))
    texts = under_way.pop(number)
    result = server.reply(number)["result"]
    if result.get("isError"):
        damage.refusals.append(result["content"][0]["text"])
    else:
        said |= texts


def _look(server: StdioClient, session: str, said: dict[str, str], damage: Damage) -> None:
    there = {turn["id"]: turn["text"] for turn in server.turns(session)}
    sizes = Counter(name.rpartition("-")[0] for name in there)
    damage.halves += [name for name in there if sizes[name.rpartition("-")[0]] != int(name.rpartition("of")[2])]
    damage.lost += [name for name, words in said.items() if words not in there.get(name, "")]
    for name, words in said.items():
        found = server.structured("memory_reconstruct", query=words, limit=5)["evidence"]
        if name not in {source["id"] for item in found for source in item["sources"]}:
            damage.not_found.append(name)


def _words(dice: random.Random) -> str:
    """Return two words that occur nowhere else."""
    return " ".join("".join(dice.choices(SYLLABLES, k=4)) for _ in range(2))


if __name__ == "__main__":
    run(kill_rounds, __doc__)
