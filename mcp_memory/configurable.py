"""All that can be set, by section of ``config.toml``: where, by which models, for whom, within which limits.

A field made by `key` can be set in the file and by the environment, any other is a constant that only code changes.
``mcp_memory/settings.py`` reads these declarations to load a file and to write ``config.example.toml``.

Last stands what can be set of the mechanisms of recall and learning: switches, forms of formulas, bounds of the loop.
docs/ARCHITECTURE.md names the paper and the place of each switch. Every other number of a mechanism is a constant
beside the formula that it belongs to.

This module is imported before the server's first reply, so it uses the standard library only.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeVar

T = TypeVar("T")


def key(default: T, comment: str, least: int = 1) -> T:
    """Return a dataclass field that its section of the file sets; a number to ``least`` or more.

    The comment is a line of the example file.
    """
    made: Any = field(default=default, metadata={"comment": comment, "least": least})
    return made  # type: ignore[no-any-return]  # as `dataclasses.field` is typed: by its default


@dataclass(frozen=True, slots=True)
class StorageSettings:
    """Where the memory is kept."""

    uri: str = key("", 'a local folder or any URI that LanceDB opens; "" = the user\'s data folder')
    options: str = key("", 'of object storage: "name=value name=value" as LanceDB names them (region, endpoint, …)')
    lock_timeout_s: float = 30.0
    """Seconds that a write waits for the write of another process."""
    compact_after: int = 64
    """Commits of one process between two compactions."""
    noted_in: str = field(default="", compare=False)
    """The folder beside the configuration in which places of stores are noted (``place.py``); it is no setting."""


@dataclass(frozen=True, slots=True)
class EmbeddingSettings:
    """The model that turns text into vectors."""

    adapter: Literal["onnx", "sentence-transformers"] = key(
        "onnx", '"onnx" (part of the install) or "sentence-transformers" (the extra of that name)'
    )
    model: str = key("", "sentence-transformers only: the folder of a model")
    device: str = key("", 'sentence-transformers only: "cpu", "cuda", "mps"; "" lets it choose')
    batch_size: int = 32
    """sentence-transformers only: texts in one batch."""
    threads: int = key(0, "onnx only: threads of one inference; 0 lets the runtime choose", least=0)


@dataclass(frozen=True, slots=True)
class ReaderSettings:
    """The model that reads query and record together."""

    use: Literal["auto", "always", "off"] = key(
        "auto",
        'a small model reads what a search found once more and ranks it: "auto" not where one record is far ahead, '
        '"always", or "off"',
    )
    threads: int = key(2, "threads of one inference")


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """How the server behaves."""

    warm_up: Literal["first_reply", "first_call"] = key(
        "first_reply", 'load model and store after the "first_reply", or at the "first_call" that needs them'
    )
    """The second uses less memory while idle."""
    max_line: int = key(
        16_000_000, "bytes of one line of a client; a longer one is refused before it is parsed", least=1_000
    )
    space: str = key(
        "default",
        'the space of a call that names none; "workspace": one for each project, that of the folder which the client '
        "names, else of the one it starts the server in",
    )
    """Also set by ``MCP_MEMORY_SPACE``."""
    time_zone: str = key(
        "", 'the zone of days where a time says no offset, such as "Europe/Lisbon"; "" = that of this machine'
    )
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = key(
        "WARNING", '"DEBUG", "INFO", "WARNING" or "ERROR"; the log goes to stderr'
    )


@dataclass(frozen=True, slots=True)
class HttpSettings:
    """How `mcp-memory serve --http` listens, and what it bears."""

    url: str = key("", 'the address that clients use, such as "https://memory.example/mcp"; "" = where it listens')
    hosts: str = key("", "further names of this server in the header Host, with commas between")
    proxies: str = key("", "addresses of proxies that are believed about the client's address, with commas between")
    stateless: bool = key(False, "older clients get no session, so any replica answers any request")
    body_bytes: int = key(16_000_000, "bytes of a request")
    sessions: int = 1_000
    """Of older clients at a time."""
    session_idle_s: float = 1_800.0
    """Seconds after which an unused session ends."""
    connections: int = 1_000
    """Open at a time; requests on more of them are answered by 503."""
    drain_s: int = 5
    """Seconds for running calls to end when the server stops."""


@dataclass(frozen=True, slots=True)
class LimitSettings:
    """A call with more than this is refused as a whole, before anything is stored."""

    message_bytes: int = key(1_000_000, "bytes of one message's text in UTF-8")
    document_bytes: int = key(8_000_000, "bytes of one document's text in UTF-8")
    items: int = key(5_000, "messages or documents in one call")
    name_chars: int = key(256, "characters of an id, session, speaker, role or title")


@dataclass(frozen=True, slots=True)
class AccessSettings:
    """Who may call `mcp-memory serve --http`."""

    tokens: str = key("", 'file of the tokens, hashed; "" = tokens.json in the user\'s configuration folder')
    issuer: str = key("", "URL of an OAuth 2.1 server whose tokens are trusted as well")
    audience: str = key("", 'what its tokens have to be meant for; "" = http.url')
    jwks: str = key("", 'URL of its public keys; "" = as its metadata say')


@dataclass(frozen=True, slots=True)
class PrivacySettings:
    """What happens to keys, tokens, passwords, private keys and card numbers in what is written."""

    secrets: Literal["mask", "refuse", "keep"] = key(
        "mask",
        "mask: kept in the log, and masked wherever a text is embedded, shown, exported or sent; refuse: not stored "
        "at all; keep: nothing is masked",
    )
    told: Literal["keep", "mask"] = key(
        "keep",
        'a secret that the user asks to remember ("Remember that the door code is …"); keep: it stays readable, and '
        "the reply to the write says so; mask: it is masked like others",
    )


@dataclass(frozen=True, slots=True)
class WriteSettings:
    """How writes and the indexing of what they bring go together."""

    wait: bool = key(False, "true: every memory_write returns only when all that it brought is indexed")
    recall_wait_s: float = 1.0
    """Seconds that a recall waits for messages of its space that are just being indexed. A message is indexed in a
    fraction of a second, and what was just said is asked about most. Longer, and a recall during a large import would
    seem to hang; it uses what is there, and says that the rest is to come."""


class Effort(NamedTuple):
    """What Claude may spend on one query or goal.

    Attributes:
        calls: requests.
        input_tokens: uncached.
        follow_ups: times that it is asked again.
    """

    calls: int
    input_tokens: int
    follow_ups: int


EFFORTS = {"quick": Effort(3, 6_000, 1), "normal": Effort(8, 8_000, 2), "deep": Effort(16, 30_000, 6)}


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """Who judges; the API key comes only from the environment (ANTHROPIC_API_KEY)."""

    judge: Literal["embedded", "auto", "anthropic"] = key(
        "embedded", 'nothing leaves the machine; "auto": Claude where that judge is unsure; "anthropic": always'
    )
    """``auto`` asks Claude where the embedded judgement of an answer or a recall is unsure, ``anthropic`` about each
    that has evidence. The query and its evidence are sent, and what ``understand``, ``points`` and ``enrich`` say."""
    model: str = key(
        "claude-haiku-5-5", "it is sent the query and the evidence found for it; see understand, points and enrich, too"
    )
    timeout_s: float = key(20.0, "seconds for all requests of one query or goal; then the embedded engine goes on")
    """Retries and pauses included; the same for one reading of texts."""
    base_url: str = key("", 'of the Messages API, to which all of it is sent; "" = Anthropic\'s own')
    """The environment's ANTHROPIC_BASE_URL does not count."""
    effort: Literal["quick", "normal", "deep"] = key(
        "normal",
        'what Claude may spend on one query or goal: 3 requests and 6,000 tokens with "quick", '
        '8 and 8,000 with "normal", 16 and 30,000 with "deep"',
    )
    """With ``quick`` it is asked once more about what it had searched for, with ``normal`` twice, with ``deep`` six
    times (MRAgent §3.2 stops after a bound too). ``quick`` goes without its interpretation of the question, which
    would take what the judgement needs."""
    day_tokens: int = key(500_000, "the same for a day of UTC, over all processes on the store; 0 = no limit", least=0)
    """A reply has at most 2,048 tokens."""
    retries: int = 3
    """Further tries after one that failed or was not usable."""
    at_once: int = 4
    """Requests of this process that run at the same time."""
    understand: bool = key(
        True, 'with "anthropic", Claude interprets the query; the names of up to 12 speakers are sent'
    )
    """Entities, relations and time that the query means, and what has to be found on the way."""
    points: bool = key(
        True, 'with "anthropic", it makes and merges memory points of a goal; these and evidence are sent'
    )
    enrich: Literal["off", "all"] = key(
        "off", 'with "anthropic", it reads "all" that was ever written for facts, in the background'
    )
    """Until half of ``day_tokens`` is spent: the rest is left to queries."""


Gate = Literal["sharp", "published"]
Update = Literal["exact", "additive"]


@dataclass(frozen=True, slots=True)
class Switches:
    """Mechanisms that can be turned off, to measure what they do."""

    late_chunking: bool = key(True, "onnx only: sentences of talk are embedded with their segment; off: each by itself")
    meaning: bool = key(True, "similarity of embeddings")
    words: bool = key(True, "BM25")
    wishes: bool = key(True, "standing wishes of the user that apply come with every recall")
    alike: bool = key(True, "with loop, talk similar to the best evidence is ranked higher")
    questions: bool = key(False, "texts that answer pooled questions; memory_evolve fills that pool")
    extraction: bool = key(True, "facts are read from what is written; off: only a caller's facts")
    facts: bool = key(True, "facts support the texts that state them, can be answers, and are shown")
    beam: bool = key(True, "facts are followed over several steps; off: one step")
    counterfactual: bool = key(True, "where facts are missing, hypotheses fill the gap")
    propagation: bool = key(True, "from the entities of a query to sentences, and on to more entities")
    learning: bool = key(True, "answers and feedback teach which sentences help with which queries")
    points: bool = key(True, "memory points are made, kept, and listed with what recall finds")
    merge: bool = key(True, "similar points become one, for goals that relate things to each other")
    reflection: bool = key(True, "memory_explore's step reflect goes on from entity to entity")
    loop: bool = key(True, "where the first search is not enough, recall goes on from what it found")
    tags: bool = key(True, "it also goes from text to text by the rare names in them")


@dataclass(frozen=True, slots=True)
class GainSettings:
    """What is learnt from answers and feedback, and how far it reaches (GAM-RAG)."""

    gate: Gate = key("sharp", '"sharp": lessons count for similar queries only; "published": as GAM-RAG prints it')
    """Which form of eq. 4 opens gates; ``gain/gates.py`` has both."""
    update: Update = key("exact", '"exact" follows the recursion of the paper, "additive" its equation 12')
    """``gain/kalman.py`` says why and what was measured."""


@dataclass(frozen=True, slots=True)
class RecallLoopSettings:
    """How far recall goes on where the first search is not enough (MRAgent §3.2)."""

    max_turns: int = key(8, "turns, unless the call states a number")
    """The paper's."""
    k_ops: int = key(10, "calls of operators in one turn")
    """The paper's."""
