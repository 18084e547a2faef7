"""Secrets known by their own form: keys and tokens with their issuer's prefix, private keys, cards, headers, options.

The forms of keys and tokens are written after their issuers' documentation. Each has literal hints: it is tried only
in a text that holds one of them, so a text without any costs a few microseconds. All patterns are bounded, so that they
take linear time, and match the whole secret, which is then masked to the end of its word. Nothing is verified: no
request is ever sent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

from mcp_memory.privacy.shapes import PLACEHOLDER

Found = tuple[int, int, str]
"""Start, end (exclusive) and kind of a secret."""
_SHORTEST = 20
"""Characters of the shortest word with a token, an AWS access key. Most messages have no word of that length."""
_TOKENS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("AWS access key", ("AKIA", "ASIA", "ABIA", "ACCA", "A3T"), r"\b(?:A3T[A-Z0-9]|ABIA|ACCA|AKIA|ASIA)[0-9A-Z]{16}"),
    ("Artifactory token", ("AKC",), r"(?<![^\s=:\"])AKC[a-zA-Z0-9]{10,}(?=[\s\"]|$)"),
    ("Azure storage key", ("AccountKey=",), r"AccountKey=[a-zA-Z0-9+/=]{88}"),
    ("Discord token", ("M", "N", "O"), r"[MNO][\w-]{23,25}\.[\w-]{6}\.[\w-]{27}"),
    ("GitHub token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"gh[pousr]_[A-Za-z0-9_]{36}"),
    ("GitHub token", ("github_pat_",), r"github_pat_[A-Za-z0-9_]{36,}"),
    ("GitLab token", ("gl",), r"gl(?:pat|dt|ft|soat|rt|cbt|imt|ptt|agent|oas)-[\w-]{20,1024}"),
    ("GitLab token", ("GR1348941",), r"GR1348941[\w-]{20,50}"),
    ("Slack token", ("xapp-", "xox"), r"(?:xapp-\d|xox[abeoprs]|xoxe\.xox[bp])-[A-Za-z0-9-]{20,}"),
    ("Slack token", ("hooks.slack.com",), r"https://hooks\.slack\.com/services/T\w+/B\w+/\w+"),
    ("Stripe key", ("k_live_", "k_test_", "whsec_"), r"(?:[rs]k_(?:live|test)_|whsec_)[A-Za-z0-9]{24,}"),
    ("Square secret", ("sq0csp-",), r"sq0csp-[\w-]{43}"),
    ("SendGrid key", ("SG.",), r"SG\.[\w-]{22}\.[\w-]{43}"),
    ("Mailchimp key", ("-us",), r"[0-9a-z]{32}-us[0-9]{1,2}"),
    ("Mailgun key", ("key-",), r"key-[0-9a-f]{32}"),
    ("Telegram token", (":AA",), r"\d{8,10}:[\w-]{35}"),
    ("Twilio token", ("AC",), r"AC[0-9a-f]{32}\b[\s\S]{0,120}?\b(?P<secret>[0-9a-f]{32})\b"),
    ("Twilio key", ("AC", "SK"), r"(?:AC|SK)[a-z0-9]{32}"),
    ("PyPI token", ("pypi-AgE",), r"pypi-AgE[\w-]{70,}"),
    ("npm token", ("npm_",), r"npm_[A-Za-z0-9]{36}"),
    ("RubyGems key", ("rubygems_",), r"rubygems_[0-9a-f]{48}"),
    ("Google key", ("AIza",), r"AIza[\w-]{35}"),
    ("Google secret", ("GOCSPX-",), r"GOCSPX-[\w-]{20,}"),
    ("Google token", ("ya29.",), r"ya29\.[\w-]{30,}"),
    ("Anthropic key", ("sk-ant-",), r"sk-ant-[\w-]{20,}"),
    ("API key", ("sk-",), r"(?<![\w-])sk-(?:(?:proj|svcacct|admin|or-v1|lf)-[\w-]{20,}|[A-Za-z0-9]{32,})"),
    ("Hugging Face token", ("hf_",), r"hf_[A-Za-z]{30,}"),
    ("Groq key", ("gsk_",), r"gsk_[A-Za-z0-9]{40,}"),
    ("xAI key", ("xai-",), r"xai-[A-Za-z0-9]{60,}"),
    ("Perplexity key", ("pplx-",), r"pplx-[A-Za-z0-9]{40,}"),
    ("Replicate token", ("r8_",), r"r8_[A-Za-z0-9]{37}"),
    ("DigitalOcean token", ("_v1_",), r"do[opr]_v1_[0-9a-f]{64}"),
    ("Shopify token", ("shp",), r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"),
    ("Databricks token", ("dapi",), r"dapi[0-9a-f]{32}"),
    ("Linear key", ("lin_",), r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}"),
    ("Notion token", ("ntn_", "secret_"), r"ntn_[A-Za-z0-9]{40,}|secret_[A-Za-z0-9]{43}"),
    ("Atlassian token", ("ATATT3", "ATBB", "ATCTT3"), r"(?:ATATT3|ATCTT3)[\w=-]{20,}|ATBB[A-Za-z0-9]{28,}"),
    ("Vault token", ("hvs.", "hvb.", "hvr."), r"hv[sbr]\.[\w-]{20,}"),
    ("Grafana token", ("glsa_", "glc_"), r"glsa_[A-Za-z0-9]{32}_[0-9a-fA-F]{8}|glc_[A-Za-z0-9+/]{32,}={0,2}"),
    ("New Relic key", ("NRAK-", "NRJS-"), r"NR(?:AK-[A-Z0-9]{27}|JS-[0-9a-f]{19})"),
    ("Supabase token", ("sbp_", "sb_secret_"), r"sbp_[0-9a-f]{40}|sb_secret_[\w-]{20,}"),
    ("Figma token", ("figd_", "figo_", "figu_"), r"fig[dou]_[\w-]{36,}"),
    ("Postman key", ("PMAK-",), r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    ("Docker token", ("dckr_",), r"dckr_[po]at_[\w-]{27,}"),
    ("Doppler token", ("dp.",), r"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,}"),
    ("PlanetScale token", ("pscale_",), r"pscale_(?:tkn|pw|oauth)_[\w.=-]{32,}"),
    ("Sentry token", ("sntrys_", "sntryu_"), r"sntry(?:s_eyJ[\w+/=-]{60,}|u_[0-9a-f]{64})"),
    ("Pulumi token", ("pul-",), r"pul-[0-9a-f]{40}"),
    ("Airtable token", ("pat",), r"(?<!\w)pat[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    ("Terraform token", (".atlasv1.",), r"(?<!\w)[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,}"),
    ("Heroku key", ("HRKU-",), r"HRKU-[\w-]{36,}"),
    ("age key", ("AGE-SECRET-KEY-1",), r"AGE-SECRET-KEY-1[A-Z0-9]{58}"),
    ("JSON web token", ("eyJ",), r"(?<![\w-])eyJ[\w=-]{10,}\.eyJ[\w=-]{10,}(?:\.[\w=-]*)?"),
)  # fmt: skip
"""The kind, of what a text must hold one, and the form: the group ``secret`` of it, where there is one."""
_TOKEN_FORMS = tuple((kind, hints, re.compile(form, re.ASCII)) for kind, hints, form in _TOKENS)
_WORD_END = re.compile(r"[A-Za-z0-9_\-]*")


def issued_secrets(text: str) -> Iterator[Found]:
    """Yield start, end and kind of each secret that a text shows by its form."""
    searched = " ".join(word for word in text.split() if len(word) >= _SHORTEST)
    for kind, hints, form in _TOKEN_FORMS if searched else ():
        for match in form.finditer(text) if any(hint in searched for hint in hints) else ():
            start, end = match.span("secret" if "secret" in form.groupindex else 0)
            longer = _WORD_END.match(text, end)
            if not (start and text[start - 1].isalnum() and text[start].isalnum()):  # the middle of a longer word
                yield start, longer.end() if longer else end, kind
    yield from chain(_private_keys(text), _cards(text), _in_place(text))


_BEGIN = re.compile(r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_END = re.compile(r"-----END (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_REST = re.compile(r"(?:[\s>]{0,6}(?:[A-Z][A-Za-z-]{2,16}: [^\n]{1,80}|[A-Za-z0-9+/=:,\\-]{16,}))*")
_BLOCK = 20_000
"""Most characters of a private key's block; the largest in use, PGP's, have some thousand."""


def _private_keys(text: str) -> Iterator[Found]:
    """Yield each block of a private key; of one that was cut, what is left of it."""
    done = 0
    for match in _BEGIN.finditer(text) if "PRIVATE KEY" in text else ():
        if match.start() < done:
            continue
        ended = _END.search(text, match.end(), match.end() + _BLOCK)
        rest = _REST.match(text, match.end(), match.end() + _BLOCK)
        done = ended.end() if ended else rest.end() if rest else match.end()
        yield match.start(), done, "private key"


_BY = r"[\s.\u2010-\u2014-]{1,2}"
_CARD = re.compile(
    rf"(?<![\w.,+#$/-])[0-9]{{4}}(?:(?P<by>{_BY})[0-9]{{4}}(?P=by)[0-9]{{4}}(?P=by)[0-9]{{4}}"
    rf"|(?P<as>{_BY})[0-9]{{6}}(?P=as)[0-9]{{4,5}}|[0-9]{{10,15}})(?![^\W_]|[-.,][0-9])"
)
_ISSUERS = {
    16: re.compile(r"4|5[1-5]|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)|6011|64[4-9]|65|352[89]|35[3-8]\d|62"),
    15: re.compile(r"3[47]"),
    14: re.compile(r"30[0-5]|3[68]"),
    19: re.compile(r"62"),
}
"""How the numbers of cards begin, by how many digits they have."""


def _cards(text: str) -> Iterator[Found]:
    """Yield each number of a payment card: its issuer, length and check digit (Luhn) fit."""
    for match in _CARD.finditer(text):
        number = "".join(filter(str.isdigit, match[0]))
        issuer = _ISSUERS.get(len(number))
        if issuer and issuer.match(number) and _luhn(number):
            yield *match.span(), "card number"


def _luhn(number: str) -> bool:
    doubled = (0, 2, 4, 6, 8, 1, 3, 5, 7, 9)
    pairs = enumerate(reversed(number))
    return sum(doubled[int(digit)] if place % 2 else int(digit) for place, digit in pairs) % 10 == 0


_GIVEN = r"[\"']?(?P<value>[^\s\"'|@]{3,100})"
_PLACES = (
    ("://", "password", r"://[^\s/:@?#'\"<>]{0,64}:(?P<value>[^\s/@'\"<>{}$\[*]{3,128})@"),
    ("bearer ", "secret", r"bearer\s{1,3}(?P<value>(?=[^\s\d]*\d)[\w.~+/-]{20,2000}={0,2})"),
    ("basic ", "secret", r"authorization.{0,12}\bbasic\s{1,3}(?P<value>(?=\D{0,200}\d)[a-z0-9+/]{8,500}={0,2})"),
    ("cookie", "secret", r"(?:(?<=cookie: )|(?<=; )|(?<=;))[\w.-]{1,40}=(?P<value>[^\s;,\"']{16,4096})"),
    ("wifi:", "secret", r"WIFI:(?:[A-Z]:[^;\n]{0,64};){0,5}?P:(?P<value>(?:\\.|[^;\\\n]){3,100});"),
    ("mysql", "password", r"\bmysql\w*\b[^\n|]{0,120}?\s(?-i:-p)" + _GIVEN),
    ("sshpass", "password", r"\bsshpass\s(?-i:-p)\s?" + _GIVEN),
    ("login", "password", r"\b(?:docker|podman)\slogin\b[^\n|]{0,80}?\s(?-i:-p)\s?" + _GIVEN),
    ("curl", "password", r"\bcurl\b[^\n|]{0,120}?\s(?:-u|--user)[\s=]?[\"']?[\w.@+-]{1,64}:" + _GIVEN),
    ("redis-cli", "password", r"\bredis-cli\b[^\n|]{0,80}?\s(?-i:-a)\s" + _GIVEN),
)  # fmt: skip
"""What a text must hold in lower case, the kind, and the form in which a standard or a program takes a secret."""
_PLACE_FORMS = tuple((hint, kind, re.compile(form, re.IGNORECASE)) for hint, kind, form in _PLACES)


def _in_place(text: str) -> Iterator[Found]:
    """Yield each secret in an address, a header, a code for a wifi, or an option of a program."""
    lower = text.lower()
    for hint, kind, form in _PLACE_FORMS:
        for found in form.finditer(text) if hint in lower else ():
            if not PLACEHOLDER.fullmatch(found["value"]):
                yield *found.span("value"), kind
