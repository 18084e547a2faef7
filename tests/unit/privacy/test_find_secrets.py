"""Which secrets are found, what is none, and how long a search takes.

``told.txt`` has forms in which people and programs tell secrets, each between « and », which are taken out, and
``harmless.txt`` what looks alike and tells none; all are invented. Those of ``made_up.txt`` are put together when a
test runs, so that no scanner of repositories trips on them: a line has a kind and its form, in which `{36}` stands for
so many letters and digits of a seeded stream, `{32:HEX}` for those of an alphabet, and the secret is all of it, or what
« and » enclose. Where · stands is nothing.
"""

import hashlib
import random
import re
import string
import time
import uuid

import pytest
from beside import lines_beside

from mcp_memory.domain.batch import Masking
from mcp_memory.privacy.secrets import find_secrets
from mcp_memory.visible import FILL, with_masks

DIGITS, HEX = string.digits, string.digits + "abcdef"
ALNUM = string.ascii_letters + DIGITS
ALPHABETS = {
    "": ALNUM, "DIGITS": DIGITS, "NO_ZERO": DIGITS[1:], "HEX": HEX, "LETTERS": string.ascii_letters,
    "UPPER": string.ascii_uppercase, "UPPER_DIGITS": string.ascii_uppercase + DIGITS, "URL_SAFE": ALNUM + "-_",
    "BASE64": ALNUM + "+/", "BASE32": string.ascii_uppercase + "234567", "BECH32": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
}  # fmt: skip
FORMS = dict(
    line.replace("·", "").replace("\\n", "\n").split(" = ", 1) for line in lines_beside(__file__, "made_up.txt")
)
_PIECE = re.compile(r"\{(\d+|pem|card):?([^{}\"]*)\}")


class Stream:
    """Characters of a seeded random stream."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def __call__(self, count: int, alphabet: str = ALNUM) -> str:
        """Return so many characters; mixed ones hold at least a digit, a small and a capital letter."""
        made = [self._random.choice(alphabet) for _ in range(count)]
        if len(alphabet) >= len(ALNUM) and count >= 6:
            made[1], made[count // 2], made[-2] = "k", "7", "Q"
        return "".join(made)

    def piece(self, what: str, of: str) -> str:
        """Return what a piece of a form stands for."""
        if what == "pem":  # as OpenSSL writes a key
            body = "\n".join(self(64, ALPHABETS["BASE64"]) for _ in range(6))
            return f"-----BEGIN {of}-----\n{body}\n{self(30)}==\n-----END {of}-----"
        if what == "card":
            prefix, length, groups = of.split(",")
            return card(prefix, int(length), self, groups)
        return self(int(what), ALPHABETS[of])


def card(prefix: str, length: int, some: Stream, groups: str) -> str:
    """Return a number with the check digit of Luhn; ``groups`` separates its groups of four."""
    digits = prefix + some(length - len(prefix) - 1, DIGITS)
    total = 0
    for place, digit in enumerate(reversed(digits)):
        doubled = int(digit) * (2 - place % 2)
        total += doubled - 9 if doubled > 9 else doubled
    number = digits + str(-total % 10)
    return groups.join(number[start : start + 4] for start in range(0, length, 4)) if groups else number


def made_up(kind: str, seed: int = 7) -> tuple[str, str]:
    """Return a secret of a kind, and a text with it."""
    some, form = Stream(seed), FORMS[kind]
    text = _PIECE.sub(lambda found: some.piece(found[1], found[2]), form)
    if "«" not in form:
        text = f"For the record, the deploy uses «{text}» since May."
    before, secret, behind = re.split("[«»]", text)
    return secret, before + secret + behind


MASKING = Masking(find_secrets)
TOLD, HARMLESS = lines_beside(__file__, "told.txt"), lines_beside(__file__, "harmless.txt")


@pytest.mark.parametrize("kind", FORMS)
def test_a_secret_of_each_kind_is_masked_whole(kind):
    for seed in (1, 2, 3):
        secret, text = made_up(kind, seed)
        masked = MASKING.mask(text)
        assert len(masked) == len(text)
        assert secret not in masked
        assert not any(secret[start : start + 10] in masked for start in range(max(1, len(secret) - 10)))
        assert MASKING.mask(masked) == masked
        assert MASKING.kinds(text)


def test_what_stands_around_a_secret_stays():
    secret, _ = made_up("GitHub token")
    masked = MASKING.mask(f"Ann's key ({secret}) works.")
    assert masked == f"Ann's key ({FILL * len(secret)}) works."
    assert with_masks(masked) == "Ann's key ([secret]) works."
    assert with_masks(MASKING.mask("password=" + "ab1" + "cde!")) == "password=[secret]"


@pytest.mark.parametrize("form", TOLD)
def test_whatever_form_a_secret_is_told_in_it_is_masked(form):
    secrets = [part.split("»")[0] for part in form.split("«")[1:]]
    text = form.replace("«", "").replace("»", "").replace("\\n", "\n")
    masked = MASKING.mask(text)
    assert [secret for secret in secrets if secret in masked] == []
    assert len(masked) == len(text)
    for again in (masked, with_masks(masked)):
        assert MASKING.mask(again) == again


@pytest.mark.parametrize("form", HARMLESS)
def test_what_looks_like_a_secret_and_tells_none_stays(form):
    text = form.replace("\\n", "\n")
    assert MASKING.mask(text) == text


@pytest.mark.parametrize("sign", ["\u200b", "\u00ad", "\u2060"])
def test_invisible_signs_hide_no_secret(sign):
    secret, _ = made_up("GitHub token")
    for text in (
        f"It is {secret[:9]}{sign}{secret[9:]}.",
        f"My pass{sign}word is hunter2xZ9!{sign}",
        f"{sign}{secret}",
    ):
        masked = MASKING.mask(text)
        assert len(masked) == len(text)
        assert secret[9:] not in masked
        assert "hunter2" not in masked


@pytest.mark.parametrize("by", ["\u00a0", "\u2011", "  ", ".", "\t", "\n"])
def test_a_card_number_is_known_with_whatever_stands_between_its_groups(by):
    assert "1111" not in MASKING.mask(f"It is {by.join(('4111', *['1111'] * 3))} until 12/29.")


def test_a_key_that_was_cut_goes_with_its_headers():
    lines = ["-----BEGIN RSA PRIVATE " + "KEY-----", "Proc-Type: 4,ENCRYPTED", "", "MIIEpAIBAAKCAQEA" * 4, "Qk9v" * 16]
    assert set(MASKING.mask("\n".join(lines))) == {FILL}
    assert "Qk9v" not in MASKING.mask("\n".join(f"> {line}" for line in lines))


def test_hashes_and_ids_are_no_secrets():
    some = random.Random(5)
    ids = [str(uuid.UUID(int=some.getrandbits(128), version=4)) for _ in range(500)]
    hashes = [
        getattr(hashlib, name)(one.encode()).hexdigest() for one in ids[:100] for name in ("md5", "sha1", "sha256")
    ]
    stream = Stream(9)
    ids += [f"t_{stream(26)}" for _ in range(200)] + [f"msg-{stream(20, HEX)}" for _ in range(200)]
    ids += [str(some.randrange(10**17, 10**19)) for _ in range(500)]  # as snowflakes are
    numbers = ["1" + stream(12, DIGITS) for _ in range(200)] + [f"0.{stream(16, DIGITS)}" for _ in range(200)]
    lines = [f"commit {one} is id {two}" for one, two in zip(hashes, ids, strict=False)] + ids[300:] + numbers
    found = [line[start:end] for line in lines for start, end, _ in find_secrets(line)]
    assert [one for one in found if not one.isdigit()] == []
    assert len(found) <= 2  # of 1,300 numbers, two may pass for a card


def test_a_search_takes_linear_time():
    """Texts made against each pattern: four times the length takes at most some four times as long."""
    pieces = (
        *("eyJ", "sk-", "://a:", "-----BEGIN " + "PRIVATE KEY-----", "1", "4111 ", "password is ", "password = '", "="),
        *("key_", "bearer ", "a" * 40 + ".", "xoxb-1-", "M" * 24 + ".", "T3Blbk" + "FJ", "token:", '"', "pin ", "pat"),
        *("password|a\n", "mysql -u ", "is my pin ", "creds a ", "<password>", "phrase: a bc ", "pin 1 ", "a,token\n"),
        *("AKIA", "password for a ", "://" + "x" * 30, "ghp_" + "a" * 35 + " ", ":AA", "glagent-", "a.atlasv1.", "SK"),
        *("my key ", "密码пароль "),
    )

    def seconds(text):
        taken = []
        for _ in range(2):
            began = time.process_time()
            find_secrets(text)
            taken.append(time.process_time() - began)
        return min(taken)

    for piece in pieces:
        short, long = (seconds(piece * (size // len(piece))) for size in (20_000, 80_000))
        assert long < 7 * short + 0.02, piece
        assert long < 3, piece
