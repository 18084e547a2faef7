"""Deterministic ids: digests of a row's content, so that a repeated write yields the same ids."""

from __future__ import annotations

from hashlib import blake2b

SEPARATOR = "\x1f"  # unit separator; escaped inside fields


def digest(*parts: str) -> str:
    """Return 20 hex digits for a sequence of texts; ("ab", "c") and ("a", "bc") differ."""
    whole = SEPARATOR.join(part.replace("\\", "\\\\").replace(SEPARATOR, "\\x1f") for part in parts)
    return blake2b(whole.encode("utf-8", "surrogatepass"), digest_size=10).hexdigest()


def turn_id(space: str, session: str, ref: str, text: str, revision: int) -> str:
    """Return the id of a turn; the first revision's does not depend on its text, a later one's does."""
    return "t_" + (digest(space, session, ref, str(revision), text) if revision else digest(space, session, ref))


def segment_id(turn: str, index: int, text: str) -> str:
    """Return the id of a segment of a turn."""
    return "g_" + digest(turn, str(index), text)


def sentence_id(turn: str, index: int, text: str) -> str:
    """Return the id of a sentence of a turn."""
    return "s_" + digest(turn, str(index), text)


def derived_ref(speaker: str | None, role: str | None, time: str | None, title: str | None, text: str, nth: int) -> str:
    """Return the ref of an item without one.

    Args:
        speaker: as given.
        role: as given.
        time: when it was said according to the caller, in milliseconds; never the time of writing, so that a repeated
            call yields the same ref.
        title: as given.
        text: verbatim.
        nth: number of equal items before it in the same call.
    """
    return digest(speaker or "", role or "", time or "", title or "", text, str(nth))


def assertion_id(turn: str, start: int, end: int, head: str, relation: str, tail: str, *rest: str) -> str:
    """Return the id of an assertion; ``rest`` distinguishes assertions of one span: polarity, times, extractor."""
    return "x_" + digest(turn, str(start), str(end), head, relation, tail, *rest)


def version_id(assertion: str) -> str:
    """Return the id of the version whose earliest recorded assertion is this one."""
    return "f_" + assertion.removeprefix("x_")
