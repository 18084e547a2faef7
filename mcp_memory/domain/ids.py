"""Ids that give nothing away, made with the key of the store.

An id that follows from content lets a repeated call find what it stored before. Made without a key, it would also let
whoever holds an export or a reply test what a masked text says, by making the ids of all it may say. So every store has
a random key, which its commits carry (``storage/rows.py``): it goes wherever the tables go, and nowhere else.

The id of a text is never shown, and those of its sentences, segments and facts are digests of it and of their content,
so they give nothing away, either. A text without an id of the caller's gets one (`Ids.ref`) in place of the digest of
its content, which no one outside may see and which is marked by `UNKEYED` until then.
"""

from __future__ import annotations

import re
from hashlib import blake2b

SEPARATOR = "\x1f"  # unit separator; escaped inside fields
UNKEYED = "\0"
"""What stands before the digest of a text's content in a ref that is not keyed yet; no ref of a caller's has it."""
_KEYED = re.compile(r"(?:^|:)k([0-9a-f]{4})[0-9a-f]{16}$")


def _joined(parts: tuple[str, ...]) -> bytes:
    whole = SEPARATOR.join(part.replace("\\", "\\\\").replace(SEPARATOR, "\\x1f") for part in parts)
    return whole.encode("utf-8", "surrogatepass")


def digest(*parts: str) -> str:
    """Return 20 hex digits for a sequence of texts; ("ab", "c") and ("a", "bc") differ."""
    return blake2b(_joined(parts), digest_size=10).hexdigest()


def keyed_digest(key: bytes, *parts: str) -> str:
    """Return the same that tells nobody without the key what the texts were."""
    return blake2b(_joined(parts), key=key, digest_size=10).hexdigest()


class Ids:
    """Makes the ids of one store.

    Attributes:
        key: the key of the store; of a store that has no commit yet, the one that its first commit will have.
        mark: four hex digits that the refs made in this store have in common.
    """

    def __init__(self, key: bytes = b"") -> None:
        self.use(key)

    def use(self, key: bytes) -> None:
        """Use the key of the store, which was read."""
        self.key = key
        self.mark = keyed_digest(key)[:4]

    def of(self, *parts: str) -> str:
        """Return 20 hex digits for a sequence of texts."""
        return keyed_digest(self.key, *parts)

    def ref(self, ref: str) -> str:
        """Return the ref of a text that may have none of the caller's: keyed, if it is marked as `UNKEYED`."""
        prefix, unkeyed, content = ref.partition(UNKEYED)
        return f"{prefix}k{self.mark}{self.of('ref', content)[:16]}" if unkeyed else ref

    def foreign_prefix(self, ref: str) -> str | None:
        """Return what stands before the part of a ref that another store made with its key; None for any other ref."""
        made = _KEYED.search(ref)
        return ref[: made.start(1) - 1] if made and made[1] != self.mark else None

    def turn(self, space: str, session: str, ref: str, text: str, revision: int) -> str:
        """Return the id of a turn; the first revision's does not depend on its text, a later one's does."""
        return "t_" + (self.of(space, session, ref, str(revision), text) if revision else self.of(space, session, ref))
