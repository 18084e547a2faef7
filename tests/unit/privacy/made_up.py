"""Secrets that nobody ever had, put together when a test runs, so that no scanner of repositories trips on this file.

Each is made of a seeded stream of characters, behind the prefix that its issuer gives; prefixes are written in pieces.
"""

from __future__ import annotations

import base64
import json
import random
import string
from collections.abc import Callable
from typing import Any

LOWER, UPPER, DIGITS = string.ascii_lowercase, string.ascii_uppercase, string.digits
LETTERS = LOWER + UPPER
ALNUM = LETTERS + DIGITS
HEX = DIGITS + "abcdef"
URL_SAFE = ALNUM + "-_"
BASE64 = ALNUM + "+/"


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


def jwt(some: Stream) -> str:
    """Return a JSON web token with a made-up signature."""

    def part(value: object) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    claims = {"sub": some(12, DIGITS), "name": "Ines", "iat": 1700000000}
    return ".".join([part({"alg": "HS256", "typ": "JWT"}), part(claims), some(43, URL_SAFE)])


def pem(name: str, some: Stream, lines: int = 6) -> str:
    """Return a block as OpenSSL writes it."""
    dashes = "-" * 5
    body = "\n".join(some(64, BASE64) for _ in range(lines))
    return f"{dashes}BEGIN {name}{dashes}\n{body}\n{some(30, BASE64)}==\n{dashes}END {name}{dashes}"


def card(prefix: str, length: int, some: Stream, *, groups: str = "") -> str:
    """Return a number with the check digit of Luhn; ``groups`` separates its groups of four."""
    digits = prefix + some(length - len(prefix) - 1, DIGITS)
    total = 0
    for place, digit in enumerate(reversed(digits)):
        doubled = int(digit) * (2 - place % 2)
        total += doubled - 9 if doubled > 9 else doubled
    number = digits + str(-total % 10)
    return groups.join(number[start : start + 4] for start in range(0, length, 4)) if groups else number


Make = Callable[[Stream], str]

BARE: dict[str, Make] = {
    "AWS access key": lambda s: "AK" + "IA" + s(16, UPPER + "234567"),
    "AWS temporary key": lambda s: "AS" + "IA" + s(16, UPPER + "234567"),
    "GitHub token": lambda s: "gh" + "p_" + s(36),
    "GitHub server token": lambda s: "gh" + "s_" + s(36),
    "GitHub fine-grained token": lambda s: "github" + "_pat_" + s(22) + "_" + s(59),
    "GitLab token": lambda s: "gl" + "pat-" + s(20),
    "Slack bot token": lambda s: "xo" + "xb-" + s(12, DIGITS) + "-" + s(12, DIGITS) + "-" + s(24),
    "Slack webhook": lambda s: "https://hooks." + f"slack.com/services/T{s(9, UPPER)}/B{s(9, UPPER)}/{s(24)}",
    "Stripe key": lambda s: "sk" + "_live_" + s(24),
    "Stripe restricted key": lambda s: "rk" + "_live_" + s(99),
    "Google API key": lambda s: "AI" + "za" + s(35, URL_SAFE),
    "Google OAuth secret": lambda s: "GOC" + "SPX-" + s(28, URL_SAFE),
    "Anthropic key": lambda s: "sk" + "-ant-api03-" + s(93, URL_SAFE) + "AA",
    "OpenAI key": lambda s: "sk" + "-" + s(20) + "T3Blbk" + "FJ" + s(20),
    "OpenAI project key": lambda s: "sk" + "-proj-" + s(74, URL_SAFE) + "T3Blbk" + "FJ" + s(74, URL_SAFE),
    "Hugging Face token": lambda s: "h" + "f_" + s(34, LETTERS),
    "npm token": lambda s: "np" + "m_" + s(36),
    "PyPI token": lambda s: "py" + "pi-AgEIcHlwaS5vcmc" + s(150, URL_SAFE),
    "SendGrid key": lambda s: "S" + "G." + s(22) + "." + s(43),
    "Twilio key": lambda s: "S" + "K" + s(32, HEX),
    "Mailchimp key": lambda s: s(32, HEX) + "-us" + "14",
    "Mailgun key": lambda s: "ke" + "y-" + s(32, HEX),
    "DigitalOcean token": lambda s: "do" + "p_v1_" + s(64, HEX),
    "Shopify token": lambda s: "shp" + "at_" + s(32, HEX),
    "Square token": lambda s: "sq0" + "csp-" + s(43),
    "Telegram bot token": lambda s: s(9, "123456789") + ":AA" + s(33, URL_SAFE),
    "Discord bot token": lambda s: "M" + s(23) + "." + s(6) + "." + s(27),
    "JSON web token": jwt,
    "Databricks token": lambda s: "da" + "pi" + s(32, HEX),
    "Linear key": lambda s: "lin" + "_api_" + s(40),
    "Notion token": lambda s: "nt" + "n_" + s(46),
    "Atlassian token": lambda s: "ATA" + "TT3xFfGF0" + s(180, URL_SAFE),
    "HashiCorp Vault token": lambda s: "hv" + "s." + s(95, URL_SAFE),
    "Grafana token": lambda s: "gl" + "sa_" + s(32) + "_" + s(8, HEX),
    "New Relic key": lambda s: "NR" + "AK-" + s(27, UPPER + DIGITS),
    "Groq key": lambda s: "gs" + "k_" + s(52),
    "Replicate token": lambda s: "r" + "8_" + s(37),
    "Supabase token": lambda s: "sb" + "p_" + s(40, HEX),
    "Figma token": lambda s: "fi" + "gd_" + s(40, URL_SAFE),
    "Postman key": lambda s: "PM" + "AK-" + s(24, HEX) + "-" + s(34, HEX),
    "Docker token": lambda s: "dck" + "r_pat_" + s(27, URL_SAFE),
    "age secret key": lambda s: "AGE-SECRET" + "-KEY-1" + s(58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"),
    "RSA private key": lambda s: pem("RSA PRIVATE" + " KEY", s),
    "OpenSSH private key": lambda s: pem("OPENSSH PRIVATE" + " KEY", s, 24),
    "PGP private key": lambda s: pem("PGP PRIVATE" + " KEY BLOCK", s, 12),
    "Visa card": lambda s: card("4" + "539", 16, s),
    "Visa card in groups": lambda s: card("4" + "916", 16, s, groups=" "),
    "Mastercard with dashes": lambda s: card("5" + "31", 16, s, groups="-"),
    "American Express card": lambda s: card("37", 15, s),
}
"""Secrets that are known by their own form."""

SAID: dict[str, Make] = {
    "password=": lambda s: "password" + "=" + s(12),
    "password in JSON": lambda s: '{"user": "ines", "pass' + 'word": "' + s(14) + '"}',
    "password in YAML": lambda s: "db:\n  pass" + "word: " + s(14),
    "DB_PASSWORD": lambda s: "export DB_PASS" + "WORD='" + s(16) + "'",
    "password is": lambda s: "My wifi pass" + "word is " + s(10) + ", by the way.",
    "passphrase": lambda s: "The pass" + "phrase: " + s(18),
    "pwd": lambda s: "Server=db;Uid=sa;P" + "wd=" + s(11) + ";",
    "client_secret": lambda s: "client_" + 'secret: "' + s(32) + '"',
    "api_key": lambda s: "api" + "_key = '" + s(32, HEX) + "'",
    "X-Api-Key": lambda s: "X-Api" + "-Key: " + s(32),
    "AWS secret": lambda s: "aws_secret_access" + "_key = " + s(40, BASE64),
    "Azure": lambda s: "DefaultEndpointsProtocol=https;AccountName=x;Account" + "Key=" + s(86, BASE64) + "==",
    "Bearer": lambda s: "Authorization: Bear" + "er " + s(40),
    "Basic": lambda s: "Authorization: Bas" + "ic " + s(32),
    "URL": lambda s: "postgres://ines:" + s(13) + "@db.example.org:5432/shop",
    "PIN": lambda s: "The P" + "IN is " + s(4, DIGITS) + ".",
}
"""Secrets that are known by what stands beside them."""


def made_up(seed: int = 7) -> dict[str, tuple[str, str]]:
    """Return the secret of each kind and a text with it, by the name of the kind."""
    made: dict[str, tuple[str, str]] = {}
    for number, (kind, make) in enumerate(BARE.items()):
        secret = make(Stream(seed * 1000 + number))
        made[kind] = secret, f"For the record, the deploy uses {secret} since May."
    for number, (kind, make) in enumerate(SAID.items()):
        some: Any = Recorder(Stream(seed * 1000 + 500 + number))
        text = make(some)
        made[kind] = some.longest, text
    return made


class Recorder:
    """A stream that remembers the longest piece it gave."""

    def __init__(self, some: Stream) -> None:
        self._some = some
        self.longest = ""

    def __call__(self, count: int, alphabet: str = ALNUM) -> str:
        """See `Stream`."""
        piece = self._some(count, alphabet)
        self.longest = max(self.longest, piece, key=len)
        return piece
