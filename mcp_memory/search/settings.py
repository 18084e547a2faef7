"""Settings of the search through the raw text; the weight of each channel stands beside the channel."""

from __future__ import annotations

from dataclasses import dataclass

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
    user_first: bool = switch("user_first", True, "what the person says counts more, as far as the query wants it")
    wishes: bool = switch("wishes", True, "standing wishes of the user that apply come with every recall")
    heads: bool = switch("heads", True, "documents whose title, or subject of the first sentence, is in the query")
    links: bool = switch("links", True, "a text that was found leads to the documents whose titles it mentions")
    rare_entities: bool = switch("rare_entities", True, "and to the texts that name the same rare entities")
    residual: bool = switch("residual", True, "a second search for what the best texts leave open in the query")
    residual_always: bool = switch("residual_always", False, "the same even where they leave nothing open")
    time: bool = switch("time", True, 'times in the query ("in 2016", "before she moved")')
    alike: bool = switch("alike", True, "with loop, talk similar to the best evidence is ranked higher")
    questions: bool = switch("questions", False, "texts that answer pooled questions; memory_evolve fills that pool")
