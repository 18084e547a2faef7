"""Find secrets in a text, and mask them."""

from __future__ import annotations

from itertools import chain

from mcp_memory.domain.masking import KEEP, Masking
from mcp_memory.privacy.issued import issued_secrets, private_keys
from mcp_memory.privacy.settings import OnSecrets
from mcp_memory.privacy.stated import cards, stated_secrets

Found = tuple[int, int, str]
"""Start, end (exclusive) and kind of a secret."""


def masking_of(chosen: OnSecrets) -> Masking:
    """Return the masking that a setting asks for."""
    return KEEP if chosen == "keep" else SecretMasking(refuses=chosen == "refuse")


def find_secrets(text: str, *, statement: bool = False) -> list[Found]:
    """Return the secrets of a text, in order; where several rules find one, the widest span and the first kind."""
    found = chain(private_keys(text), issued_secrets(text), stated_secrets(text, statement=statement), cards(text))
    merged: list[Found] = []
    for start, end, kind in sorted(found, key=lambda one: (one[0], -one[1])):
        if merged and start < merged[-1][1]:
            first, last, known = merged[-1]
            merged[-1] = first, max(last, end), known
        else:
            merged.append((start, end, kind))
    return merged


class SecretMasking:
    """Masks secrets by rules, see `Masking`.

    Attributes:
        refuses: whether what holds a secret is not to be stored.
    """

    def __init__(self, *, refuses: bool = False) -> None:
        self._refuses = refuses

    @property
    def refuses(self) -> bool:  # noqa: D102
        return self._refuses

    def mask(self, text: str, *, statement: bool = False) -> str:
        """Return a text with the kind of each secret in its place, "[AWS access key]", and spaces up to its length.

        Of a secret that is shorter than that, asterisks are left.
        """
        parts, done = [], 0
        for start, end, kind in find_secrets(text, statement=statement):
            parts += [text[done:start], _mask(kind, end - start)]
            done = end
        return "".join([*parts, text[done:]]) if done else text

    def kinds(self, text: str, *, statement: bool = False) -> tuple[str, ...]:
        """Return what kinds of secrets a text holds, each once."""
        return tuple(dict.fromkeys(kind for *_, kind in find_secrets(text, statement=statement)))


def _mask(kind: str, length: int) -> str:
    label = next((label for label in (f"[{kind}]", "[secret]") if len(label) <= length), "*" * length)
    return label.ljust(length)
