"""Find secrets in a text, and mask them; those that a text states as one are found by ``stated.py``.

The others are known by their own form: keys and tokens with the prefix that their issuer gives them. Eighteen kinds are
the rules of detect-secrets (Yelp, Apache-2.0), the rest is written after the issuers' documentation. Every rule has
literal hints: it is tried only in a text that holds one of them, so a text without any costs a few microseconds.

**Departures from detect-secrets.** It looks for lines to report; here the whole secret is to be masked. So a match is
continued to the end of its word, and of private keys the block is taken, not the first line. Its rules for passwords
in URLs and for JSON web tokens take quadratic time or leave the signature out, and its entropy and keyword plugins
take hashes, ids and plain code for secrets: these are rules of our own. Nothing is verified: no request is ever sent.

**What the user tells to have it remembered** ("Remember that the door code is 4711#") stays readable
(``privacy.told``): who asks for it wants to read it again. It has to be the user's own and nothing else: one short line
that begins with the request, with no quotation in it, written here and not imported. So neither a stranger's words nor
a pasted text keep a secret readable.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module

from mcp_memory.domain.batch import KEEP, Masking
from mcp_memory.domain.spelling import readable, readable_places
from mcp_memory.domain.turns import IMPORTED, Turn, by_user
from mcp_memory.privacy.fixed import Found, cards
from mcp_memory.privacy.settings import PrivacySettings
from mcp_memory.privacy.shapes import PLACEHOLDER
from mcp_memory.privacy.stated import stated_secrets
from mcp_memory.visible import FILL

_LONGEST = 300
_ASKED = re.compile(
    r"\W*(?:(?:ok|okay|hi|hey|so|and|also|please|pls|kindly|can|could|will|would|you|i|want|need|would like|to|always"
    r"|bitte|kannst|du|por favor|s'il te plaît)[\s,]+){0,5}"
    r"(?:remember|memori[sz]e|don['’]?t forget|do not forget|keep in mind|save|note|merk(?:e)? dir|vergiss nicht"
    r"|erinnere? dich|recuerda|no olvides|retiens|n['’]oublie pas|souviens-toi|ricorda|lembre|onthoud)\b",
    re.IGNORECASE,
)
_NOT_OWN = re.compile('[\n\r\u2028\u2029\x85"“”„«»`<>]')


def is_told(turn: Turn) -> bool:
    """Return whether a message is the user's own and asks to remember what it says."""
    text = turn.text.strip()
    if turn.kind != "message" or len(text) > _LONGEST or not _ASKED.match(text) or _NOT_OWN.search(text):
        return False
    return by_user(turn) and turn.ref.partition(":")[0] not in IMPORTED


WORD_END = re.compile(r"[A-Za-z0-9_\-]*")
SHORTEST = 20
"""Characters of the shortest word with a token, an AWS access key. Most messages have no word of that length."""
BLOCK = 20_000
"""Most characters of a private key's block; the largest in use, PGP's, have some thousand."""


@dataclass(frozen=True, slots=True)
class Rule:
    """How one kind of secret looks.

    Attributes:
        kind: in words, as the caller is told it.
        hints: of which a text must hold one.
        pattern: of the secret; the group "secret" of it, where there is one.
    """

    kind: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield where such secrets stand."""
        group = "secret" if "secret" in self.pattern.groupindex else 0
        for match in self.pattern.finditer(text):
            start, end = match.span(group)
            if start and text[start - 1].isalnum() and text[start].isalnum():
                continue  # the middle of a longer word
            longer = WORD_END.match(text, end)
            yield start, longer.end() if longer else end


_PLUGINS: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    ("aws", "AWSKeyDetector", "AWS access key", ("AKIA", "ASIA", "ABIA", "ACCA", "A3T")),
    ("artifactory", "ArtifactoryDetector", "Artifactory token", ("AKC",)),
    ("azure_storage_key", "AzureStorageKeyDetector", "Azure storage key", ("AccountKey=",)),
    ("discord", "DiscordBotTokenDetector", "Discord token", ("M", "N", "O")),
    ("github_token", "GitHubTokenDetector", "GitHub token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_")),
    ("gitlab_token", "GitLabTokenDetector", "GitLab token", ("glpat-", "gldt-", "glft-",
     "glsoat-", "glrt-", "GR1348941", "glcbt-", "glimt-", "glptt-", "glagent-", "gloas-")),
    ("mailchimp", "MailchimpDetector", "Mailchimp key", ("-us",)),
    ("pypi_token", "PypiTokenDetector", "PyPI token", ("pypi-AgE",)),
    ("sendgrid", "SendGridDetector", "SendGrid key", ("SG.",)),
    ("slack", "SlackDetector", "Slack token", ("hooks.slack.com",)),
    ("square_oauth", "SquareOAuthDetector", "Square secret", ("sq0csp-",)),
    ("stripe", "StripeDetector", "Stripe key", ("k_live_",)),
    ("telegram_token", "TelegramBotTokenDetector", "Telegram token", (":AA",)),
    ("twilio", "TwilioKeyDetector", "Twilio key", ("AC", "SK")),
)  # fmt: skip
"""Of detect-secrets: the plugin, its class, what we call its secrets, and their hints."""
_TAKEN = {"AWS access key": slice(1), "Artifactory token": slice(1), "Slack token": slice(1, None)}
"""Which patterns of a plugin are taken, where not all: the others take words for secrets, or quadratic time."""
_OWN: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("GitHub token", ("github_pat_",), r"github_pat_[A-Za-z0-9_]{36,}"),
    ("Slack token", ("xapp-", "xox"), r"(?:xapp-\d|xox[abeoprs]|xoxe\.xox[bp])-[A-Za-z0-9-]{20,}"),
    ("Stripe key", ("k_test_", "whsec_"), r"(?:[rs]k_test_|whsec_)[A-Za-z0-9]{24,}"),
    ("Google key", ("AIza",), r"AIza[\w-]{35}"),
    ("Google secret", ("GOCSPX-",), r"GOCSPX-[\w-]{20,}"),
    ("Google token", ("ya29.",), r"ya29\.[\w-]{30,}"),
    ("Anthropic key", ("sk-ant-",), r"sk-ant-[\w-]{20,}"),
    ("API key", ("sk-",), r"(?<![\w-])sk-(?:(?:proj|svcacct|admin|or-v1|lf)-[\w-]{20,}|[A-Za-z0-9]{32,})"),
    ("Hugging Face token", ("hf_",), r"hf_[A-Za-z]{30,}"),
    ("Twilio token", ("AC",), r"AC[0-9a-f]{32}\b[\s\S]{0,120}?\b(?P<secret>[0-9a-f]{32})\b"),
    ("npm token", ("npm_",), r"npm_[A-Za-z0-9]{36}"),
    ("Mailgun key", ("key-",), r"key-[0-9a-f]{32}"),
    ("DigitalOcean token", ("_v1_",), r"do[opr]_v1_[0-9a-f]{64}"),
    ("Shopify token", ("shp",), r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"),
    ("Databricks token", ("dapi",), r"dapi[0-9a-f]{32}"),
    ("Linear key", ("lin_",), r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}"),
    ("Notion token", ("ntn_", "secret_"), r"ntn_[A-Za-z0-9]{40,}|secret_[A-Za-z0-9]{43}"),
    ("Atlassian token", ("ATATT3", "ATBB", "ATCTT3"), r"(?:ATATT3|ATCTT3)[\w=-]{20,}|ATBB[A-Za-z0-9]{28,}"),
    ("Vault token", ("hvs.", "hvb.", "hvr."), r"hv[sbr]\.[\w-]{20,}"),
    ("Grafana token", ("glsa_", "glc_"), r"glsa_[A-Za-z0-9]{32}_[0-9a-fA-F]{8}|glc_[A-Za-z0-9+/]{32,}={0,2}"),
    ("New Relic key", ("NRAK-", "NRJS-"), r"NR(?:AK-[A-Z0-9]{27}|JS-[0-9a-f]{19})"),
    ("Groq key", ("gsk_",), r"gsk_[A-Za-z0-9]{40,}"),
    ("xAI key", ("xai-",), r"xai-[A-Za-z0-9]{60,}"),
    ("Perplexity key", ("pplx-",), r"pplx-[A-Za-z0-9]{40,}"),
    ("Replicate token", ("r8_",), r"r8_[A-Za-z0-9]{37}"),
    ("Supabase token", ("sbp_", "sb_secret_"), r"sbp_[0-9a-f]{40}|sb_secret_[\w-]{20,}"),
    ("Figma token", ("figd_", "figo_", "figu_"), r"fig[dou]_[\w-]{36,}"),
    ("Postman key", ("PMAK-",), r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    ("Docker token", ("dckr_",), r"dckr_[po]at_[\w-]{27,}"),
    ("Doppler token", ("dp.",), r"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,}"),
    ("PlanetScale token", ("pscale_",), r"pscale_(?:tkn|pw|oauth)_[\w.=-]{32,}"),
    ("Sentry token", ("sntrys_", "sntryu_"), r"sntry(?:s_eyJ[\w+/=-]{60,}|u_[0-9a-f]{64})"),
    ("Pulumi token", ("pul-",), r"pul-[0-9a-f]{40}"),
    ("RubyGems key", ("rubygems_",), r"rubygems_[0-9a-f]{48}"),
    ("Airtable token", ("pat",), r"(?<!\w)pat[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    ("Terraform token", (".atlasv1.",), r"(?<!\w)[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,}"),
    ("Heroku key", ("HRKU-",), r"HRKU-[\w-]{36,}"),
    ("age key", ("AGE-SECRET-KEY-1",), r"AGE-SECRET-KEY-1[A-Z0-9]{58}"),
    ("JSON web token", ("eyJ",), r"(?<![\w-])eyJ[\w=-]{10,}\.eyJ[\w=-]{10,}(?:\.[\w=-]*)?"),
)  # fmt: skip


@cache
def rules() -> tuple[Rule, ...]:
    """Return all rules; this imports detect-secrets (.15 s), so it happens with the first text."""
    made = [(kind, hints, re.compile(pattern, re.ASCII)) for kind, hints, pattern in _OWN]
    for module, name, kind, hints in _PLUGINS:
        plugin = getattr(import_module(f"detect_secrets.plugins.{module}"), name)
        for pattern in plugin.denylist[_TAKEN.get(kind, slice(None))]:
            plain = pattern.pattern.replace("\\", "")
            own = tuple(hint for hint in hints if hint.rstrip("-_") in plain)
            made.append((kind, own or hints, pattern))
    return tuple(Rule(kind, hints, pattern) for kind, hints, pattern in made)


_IN_URL = Rule("password", (), re.compile(r"://[^\s/:@?#'\"<>]{0,64}:(?P<secret>[^\s/@'\"<>{}$\[*]{3,128})@"))


def issued_secrets(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and kind of each key and token with an issuer's prefix, and of passwords in URLs."""
    if "://" in text:
        for start, end in _IN_URL.spans(text):
            if not PLACEHOLDER.fullmatch(text[start:end]):
                yield start, end, _IN_URL.kind
    searched = " ".join(word for word in text.split() if len(word) >= SHORTEST)
    for rule in rules() if searched else ():
        if any(hint in searched for hint in rule.hints):
            for start, end in rule.spans(text):
                yield start, end, rule.kind


_BEGIN = re.compile(r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_END = re.compile(r"-----END (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_REST = re.compile(r"(?:[\s>]{0,6}(?:[A-Z][A-Za-z-]{2,16}: [^\n]{1,80}|[A-Za-z0-9+/=:,\\-]{16,}))*")


def private_keys(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and kind of each block of a private key; of one that was cut, what is left of it."""
    done = 0
    for match in _BEGIN.finditer(text):
        if match.start() < done:
            continue
        ended = _END.search(text, match.end(), match.end() + BLOCK)
        rest = _REST.match(text, match.end(), match.end() + BLOCK)
        done = ended.end() if ended else rest.end() if rest else match.end()
        yield match.start(), done, "private key"


_NO_FIGURE = bytes(set(range(256)) - set(b"0123456789:=|"))
RULES = 4
"""Raised whenever other texts are masked than before: a view that was saved with other masks is not read again."""


def masking_of(chosen: PrivacySettings) -> Masking:
    """Return the masking that the settings ask for."""
    if chosen.secrets == "keep":
        return KEEP
    return SecretMasking(refuses=chosen.secrets == "refuse", told=chosen.secrets == "mask" and chosen.told == "keep")


def find_secrets(text: str, *, statement: bool = False) -> list[Found]:
    """Return the secrets of a text, in order; where several rules find one, the widest span and the first kind.

    It is read without invisible signs, as it will be shown: they come along with what is copied from pages.
    """
    said, text = text, readable(text)
    figures = text.encode("utf-8", "replace").translate(None, _NO_FIGURE)
    found = [*issued_secrets(text), *stated_secrets(text, figures, statement=statement)]
    if len(figures) > 13:  # the digits of the shortest
        found += cards(text)
    if "PRIVATE KEY" in text:
        found += private_keys(text)
    if not found:
        return []
    merged: list[Found] = []
    for start, end, kind in sorted(found, key=lambda one: (one[0], -one[1])):
        if merged and start < merged[-1][1]:
            first, last, known = merged[-1]
            merged[-1] = first, max(last, end), known
        else:
            merged.append((start, end, kind))
    if len(said) == len(text):
        return merged
    places = readable_places(said)
    return [(places[start], places[end - 1] + 1, kind) for start, end, kind in merged]


class SecretMasking:
    """Masks secrets by rules, see `Masking`.

    Attributes:
        refuses: whether what holds a secret is not to be stored.
        told: whether what the user tells to have it remembered stays readable.
    """

    def __init__(self, *, refuses: bool = False, told: bool = False) -> None:
        self._refuses, self._told = refuses, told

    @property
    def refuses(self) -> bool:  # noqa: D102
        return self._refuses

    def keeps(self, turn: Turn) -> bool:
        """See `Masking`."""
        return self._told and is_told(turn)

    def mask(self, text: str, *, statement: bool = False) -> str:
        """Return a text of the same length with `FILL` for each character of a secret."""
        parts, done = [], 0
        for start, end, _ in find_secrets(text, statement=statement):
            parts += [text[done:start], FILL * (end - start)]
            done = end
        return "".join([*parts, text[done:]]) if done else text

    def kinds(self, text: str, *, statement: bool = False) -> tuple[str, ...]:
        """Return what kinds of secrets a text holds, each once."""
        return tuple(dict.fromkeys(kind for *_, kind in find_secrets(text, statement=statement)))
