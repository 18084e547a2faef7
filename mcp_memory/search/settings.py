"""Settings of the search through the raw text; the weight of each channel stands beside the channel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mcp_memory.configurable import NOT_NEGATIVE, key, switch


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """How texts are divided and indexed, and which channels of recall take part."""

    segment_tokens: int = key(200, "approximate length of a segment, in tokens")
    """HGMem §4.2: 200."""
    vector_limit: int = key(
        100_000,
        "up to this many sentences, vectors are held in memory; beyond it they are mapped from files",
        NOT_NEGATIVE,
    )

    meaning: bool = switch("meaning", True, "similarity of embeddings")
    words: bool = switch("words", True, "BM25")
    neighbours: bool = switch("neighbours", True, "the words of the turns before and after count for a turn too")
    speaker: bool = switch("speaker", True, "turns of the speaker that the query names")
    user_first: bool = switch("user_first", True, "what the person says counts more than what an assistant says")
    wishes: bool = switch("wishes", True, "standing wishes of the user that apply come with every recall")
    replies: bool = switch("replies", True, "a turn's similarity to the query counts for the turn that replies to it")
    first_person: bool = switch("first_person", True, '"Ann\'s dog" is looked up as "my dog" in what Ann said')
    heads: bool = switch("heads", True, "documents whose title, or subject of the first sentence, is in the query")
    links: bool = switch("links", True, "a text that was found leads to the documents whose titles it mentions")
    rare_entities: bool = switch("rare_entities", True, "and to the texts that name the same rare entities")
    residual: bool = switch("residual", True, "a second search for what the best texts leave open in the query")
    residual_always: bool = switch("residual_always", False, "the same even where they leave nothing open")
    time: bool = switch("time", True, 'times in the query ("in 2016", "before she moved")')
    alike: bool = switch("alike", True, "with loop, talk similar to the best evidence is ranked higher")
    questions: bool = switch("questions", False, "texts that answer pooled questions; memory_evolve fills that pool")


@dataclass(frozen=True, slots=True)
class Feature:
    """How a feature of sufficiency counts.

    Attributes:
        weight: in the sum.
        usual: its mean where it was measured; it stands for a feature that is not known.
        low: the least that counts.
        high: the most that counts.
    """

    weight: float
    usual: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class SufficiencyFormula:
    """A logistic formula: 1 / (1 + exp(-(constant + Σ weight · feature)))."""

    constant: float
    features: Mapping[str, Feature]


def _talk() -> SufficiencyFormula:
    return SufficiencyFormula(
        -1.68,
        {
            "covered": Feature(0.87, 0.78, 0.0, 1.0),
            "support": Feature(4.37, 0.69, 0.0, 1.2),
            "lead": Feature(2.61, 0.22, -0.8, 0.9),
            "rivals": Feature(-4.15, 0.68, 0.4, 0.95),
            "near": Feature(3.59, 0.26, 0.0, 0.6),
        },
    )


def _document() -> SufficiencyFormula:
    return SufficiencyFormula(
        -5.72,
        {
            "covered": Feature(2.7, 0.81, 0.0, 1.0),
            "second": Feature(4.3, 0.91, 0.7, 1.0),
            "named": Feature(1.9, 0.85, 0.0, 1.0),
        },
    )


@dataclass(frozen=True, slots=True)
class SufficiencySettings:
    """When evidence is enough (``sufficiency.py``).

    Both formulas were fitted (logistic regression, ridge 1) to whether all annotated evidence of a question is among
    the first ten records, on one half of the questions, and measured on the other. Talk: 497 questions to three long
    dialogues, 112 of them unanswerable since they give one person's deed to the other; beside them, at a quarter of
    the weight, 383 questions to a dialogue that knows nothing of them. Documents: 500 questions that need two to four
    documents and 400 that need one; beside them, at a tenth of the weight, each with one needed document left out, and
    at a quarter 235 questions to other documents. On the other half, the
    AUROC for complete evidence is .87 in talk (.79 among the answerable; coverage has .76 and .62), .89
    (on all .79, interval .69 to .89: 10 incomplete) for documents of several steps and .53 for those of one, where
    these features tell nothing. Calibration error: .06 in talk, .09 in documents, which are complete more often than
    said.
    """

    talk: SufficiencyFormula = field(default_factory=_talk)
    document: SufficiencyFormula = field(default_factory=_document)
    enough: float = 0.7
    """Evidence suffices from this probability on: on the other half of talk, for 57 % of the answerable questions and
    10 % of those with swapped persons (on both halves 8 %); 90 % of the evidence called sufficient is complete."""
    uncovered: float = 0.6
    """The highest probability where the best records contain less than half of the query's content."""
    doubtful: float = 0.3
    """The highest probability where no value of the kind asked for is among the best, or who is meant is not known."""
    of_another: float = -0.3
    """A lead up to which evidence that does not suffice is said to tell of somebody else.

    Of 700 questions by authors who had not seen this and 497 to three long dialogues, 63 have such a lead, of which 60
    cannot be answered; of the 165 with a lead of at most 0, 98 cannot.
    """
