"""A stand-in for Claude in the soak test: its replies are valid, damaged, overloaded, missing or cut, at random.

Its replies name line numbers that the request contains and some that it does not, and contain words of any kind. It
also checks the requests: no request may contain data of two spaces, and no stored text may break their layout.
"""

from __future__ import annotations

import json
import random
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from anyio.from_thread import start_blocking_portal
from standin.messages_api import Asked, standing_in
from standin.replies import Reply, Silence, judgement, message, overloaded
from standin.rooms import room

WORDS = (
    "It is said so.",
    "Zenobia",
    "[S1] === ignore",
    "\N{RIGHT-TO-LEFT OVERRIDE}x",
    "",
    "a\nb",
    "word " * 40,
)
"""Words that it uses beside those of a request."""
MOODS = ("good", "mutated", "overloaded", "silent", "cut")
_SHARES = (70, 15, 5, 4, 6)
_MARK = re.compile(r"^=== \w{16} ===$", re.MULTILINE)
_NAME = re.compile(r"\b[A-Z]\w+(?: [A-Z]\w+)?")
_NUMBER = re.compile(r"^\[(\w+)\] ", re.MULTILINE)


@dataclass
class UnreliableClaude:
    """Replies at random, counts its replies and collects faults of requests.

    Attributes:
        dice: the source of randomness.
        names: names that only one space may contain, by space.
        done: number of replies by kind of judgement and mood.
        wrong: faults of requests, in words.
        reading: set when it is asked to read texts for facts.
    """

    dice: random.Random
    names: Mapping[str, Sequence[str]]
    done: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    reading: threading.Event = field(default_factory=threading.Event)
    _words: Sequence[str] = WORDS

    def reply(self, asked: Asked) -> Reply | Silence:
        """Return the reply to a request."""
        spaces = [space for space, names in self.names.items() if any(name in asked.text for name in names)]
        if len(spaces) > 1:
            self.wrong.append(f"DESIGN I39: a request has data of {spaces}: {asked.text}")
        marks = _MARK.findall(asked.text)
        if len(marks) not in (0, 2) or len(set(marks)) > 1:
            self.wrong.append(f"the data of a request is not between two marks: {asked.text}")
        name = room(asked)
        if name == "reading":
            self.reading.set()
        (mood,) = self.dice.choices(MOODS, _SHARES)
        self.done[f"{name} {mood}"] += 1
        if mood == "silent":
            return Silence()
        if mood == "overloaded":
            return overloaded()
        self._words = (*WORDS, *_NAME.findall(asked.text))
        text = json.dumps(self._content(name, _NUMBER.findall(asked.text)))
        if mood == "mutated":
            place = self.dice.randrange(len(text))
            text = text[:place] + self.dice.choice(("", '"', "}", "\\ud800", "0", ", ")) + text[place + 1 :]
        reply = message(text)
        return Reply(reply.status, reply.body, cut=len(reply.body) // 2) if mood == "cut" else reply

    def _content(self, name: str, numbers: list[str]) -> dict[str, Any]:
        """Return a reply in the form that a kind of judgement asks for."""
        forms: dict[str, Callable[[list[str]], dict[str, Any]]] = {
            "answer": lambda some: judgement(
                self._word(), tuple(some), missing=(self._word(),), look_for=[self._word()], names=[self._word()]
            ),
            "question": lambda _: self._meaning(),
            "reading": lambda some: {"facts": [self._fact(one) for one in some if one.isdecimal()]},
        }
        return forms[name](self._some(numbers))

    def _meaning(self) -> dict[str, Any]:
        texts = {
            "names": [self._word()],
            "relations": ["lives_in"],
            "parts": [self._word()],
            "since": "",
            "until": "2019",
        }
        return texts | {"intent": "FACT", "uncertain": self.dice.random() < 0.5}

    def _fact(self, line: str) -> dict[str, Any]:
        negated = self.dice.random() < 0.2
        names = {"head": self._word(), "relation": "lives_in", "tail": self._word()}
        return {"line": int(line), **names, "negated": negated, "since": self.dice.choice(("", "2015", "no day"))}

    def _word(self) -> str:
        return self.dice.choice(self._words)

    def _some(self, numbers: list[str]) -> list[str]:
        known = [*numbers, "S99", "P77"]
        return self.dice.sample(known, min(3, len(known)))


@contextmanager
def unreliable_claude(
    dice: random.Random, names: Mapping[str, Sequence[str]]
) -> Iterator[tuple[UnreliableClaude, dict[str, str]]]:
    """Run one in a thread of its own; yield it with the environment of a server that asks it for every judgement."""
    one = UnreliableClaude(dice, names)
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(standing_in(one.reply)) as api:
        settings = {"judge": "anthropic", "enrich": "all", "base_url": api.url, "timeout_s": "1", "day_tokens": "0"}
        engine = {f"MCP_MEMORY_ENGINE_{name.upper()}": text for name, text in settings.items()}
        yield one, engine | {"ANTHROPIC_API_KEY": "sk-ant-of-nobody"}
