"""Settings of the search through the raw text; the weight of each channel stands beside the channel."""

from __future__ import annotations

from dataclasses import dataclass

from mcp_memory.configurable import switch


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """How texts are divided and indexed, and which channels of recall take part."""

    segment_tokens: int = 200
    """Approximate length of a segment, in tokens. HGMem §4.2: 200."""

    meaning: bool = switch("meaning", True, "similarity of embeddings")
    words: bool = switch("words", True, "BM25")
    wishes: bool = switch("wishes", True, "standing wishes of the user that apply come with every recall")
    alike: bool = switch("alike", True, "with loop, talk similar to the best evidence is ranked higher")
    questions: bool = switch("questions", False, "texts that answer pooled questions; memory_evolve fills that pool")
