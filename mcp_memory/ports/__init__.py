"""Ports: the Protocols that services and rooms need of an embedder, a store, judges and operators, and their values.

Each is as small as its callers need. ``wiring`` chooses which adapter stands behind a port.
"""

from __future__ import annotations

from mcp_memory.ports.judges import (
    BeliefUpdate,
    JudgeInput,
    Operator,
    OperatorInput,
    OperatorResult,
    QuestionJudge,
    Supporting,
)
from mcp_memory.ports.storage import (
    Embedder,
    Extractor,
    LanguageModel,
    Ledger,
    PairReader,
    Progress,
    Store,
    Stored,
    TextReader,
    Transaction,
)

__all__ = [
    "BeliefUpdate",
    "Embedder",
    "Extractor",
    "JudgeInput",
    "LanguageModel",
    "Ledger",
    "Operator",
    "OperatorInput",
    "OperatorResult",
    "PairReader",
    "Progress",
    "QuestionJudge",
    "Store",
    "Stored",
    "Supporting",
    "TextReader",
    "Transaction",
]
