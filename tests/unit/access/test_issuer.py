"""Tokens of an issuer whose keys are published, and change."""

import json
import math
import time

import anyio
import pytest
from issuers import AUDIENCE, HEADER, PublishedIssuer

from mcp_memory.access.issuer import Issuer, permissions_of
from mcp_memory.domain.access import Permission
from mcp_memory.errors import ConfigurationError

URL = "https://issuer.example/realm"


@pytest.fixture(scope="module")
def issuer():
    with PublishedIssuer() as published:
        yield published


DEEP = '{"a":' * 4_000 + "1" + "}" * 4_000
HEADERS = {
    "no algorithm": {"alg": "none"}, "none in other letters": {"alg": "nOnE"},
    "a list of algorithms": {"alg": ["ES256"]},
    "a secret": {"alg": "HS256"}, "an algorithm of other keys": {"alg": "PS256"}, "another curve": {"alg": "ES384"},
    "a list of keys": {"kid": ["one"]}, "a path for a key": {"kid": "../../keys"},
    "SQL for a key": {"kid": "' OR 1=1 --"},
    "no key": {"kid": ""}, "an extension that must be known": {"crit": ["x"], "x": 1},
    "a payload without base64": {"crit": ["b64"], "b64": False}, "a logout token": {"typ": "logout+jwt"},
    "a list of types": {"typ": ["at+jwt"]},
}  # fmt: skip
CLAIMS = {
    "another audience": {"aud": AUDIENCE + "/x"}, "an object for an audience": {"aud": {AUDIENCE: 1}},
    "a list in a list": {"aud": [[AUDIENCE]]}, "no audience": {"aud": None}, "another issuer": {"iss": URL},
    "a list of issuers": {"iss": [URL]}, "a number for a subject": {"sub": 7}, "no subject": {"sub": ""},
    "a subject of two lines": {"sub": "ann\nroot"}, "a subject without end": {"sub": "a" * 300},
    "an end that no clock shows": {"exp": 10**400}, "no end": {"exp": None}, "a list of ends": {"exp": [1]},
    "an end ten seconds ago": {"exp": int(time.time()) - 10}, "a beginning to come": {"nbf": int(time.time()) + 3_600},
    "an issue to come": {"iat": int(time.time()) + 3_600},
}  # fmt: skip
TEXTS = {
    "a deep header": lambda claims: (DEEP, claims), "a header of brackets": lambda claims: ("[" * 12_000, claims),
    "a deep payload": lambda _: (HEADER, DEEP), "a list": lambda _: (HEADER, "[1]"),
    "an end without end": lambda claims: (HEADER, claims | {"exp": math.inf}),
    "an end that is no number": lambda claims: (HEADER, claims | {"exp": math.nan}),
    "an end of 5,000 digits": lambda claims: (HEADER, json.dumps(claims)[:-1] + ', "exp": ' + "9" * 5_000 + "}"),
    "two audiences, the wrong one last": lambda claims: (HEADER, json.dumps(claims)[:-1] + ', "aud": "else"}'),
    "two algorithms, none last": lambda claims: (json.dumps(HEADER)[:-1] + ', "alg": "none"}', claims),
    "no subject at all": lambda claims: (HEADER, {name: claims[name] for name in ("iss", "aud", "exp")}),
}  # fmt: skip
ODD = {
    **{name: lambda claims, one=one: (HEADER | one, claims) for name, one in HEADERS.items()},
    **{name: lambda claims, one=one: (HEADER, claims | one) for name, one in CLAIMS.items()},
    **TEXTS,
}


@pytest.mark.parametrize("name", ODD)
async def test_a_token_that_its_issuer_has_signed_is_refused_where_it_says_something_odd(name, issuer):
    header, payload = ODD[name](issuer.claims())
    assert await Issuer(issuer.url, AUDIENCE).grant_of(issuer.signed(payload, header)) is None


@pytest.mark.parametrize("name", ["jku", "x5u", "jwk", "x5c", "zip"])
async def test_what_a_token_says_of_its_own_key_is_neither_fetched_nor_believed(name, issuer):
    token = issuer.signed(header=HEADER | {name: f"{issuer.home}/evil"})
    assert await Issuer(issuer.url, AUDIENCE).grant_of(token)
    assert "/evil" not in issuer.asked


async def test_keys_are_found_by_the_metadata_or_named_and_are_kept_while_the_issuer_is_away():
    with PublishedIssuer() as issuer:
        trusted, named = Issuer(issuer.url, AUDIENCE), Issuer(issuer.url, AUDIENCE, f"{issuer.home}/keys")
        grant = await trusted.grant_of(issuer.signed())
        assert (grant.caller, grant.issuer) == ("ann", issuer.url)
        assert grant.permissions == (Permission("*", frozenset(("read",))),)
        assert await named.grant_of(issuer.signed())
        asked, issuer.down = len(issuer.asked), True
        assert await trusted.grant_of(issuer.signed())
        assert len(issuer.asked) == asked


async def test_tokens_that_come_together_before_any_key_is_known_are_all_let_in():
    with PublishedIssuer() as issuer:
        trusted, grants = Issuer(issuer.url, AUDIENCE), []

        async def check():
            grants.append(await trusted.grant_of(issuer.signed()))

        async with anyio.create_task_group() as tasks:
            for _ in range(4):
                tasks.start_soon(check)
        assert [grant.caller for grant in grants] == ["ann"] * 4


async def test_an_issuer_whose_keys_are_no_json_lets_nobody_in():
    with PublishedIssuer() as issuer:
        issuer.broken = True
        assert await Issuer(issuer.url, AUDIENCE).grant_of(issuer.signed()) is None


async def test_unknown_keys_do_not_flood_the_issuer_whether_it_answers_or_not():
    with PublishedIssuer() as issuer:
        trusted, away = Issuer(issuer.url, AUDIENCE), Issuer(f"{issuer.home}/elsewhere", AUDIENCE)
        assert await trusted.grant_of(issuer.signed())
        asked = len(issuer.asked)
        new = issuer.add_key("two")
        for _ in range(5):
            assert await trusted.grant_of(issuer.signed(header=HEADER | {"kid": "two"}, key=new)) is None
            assert await away.grant_of(issuer.signed()) is None
        assert [path for path in issuer.asked[asked:] if "elsewhere" not in path] == []
        assert len(issuer.asked) - asked == 4  # the places where metadata may lie, once


def test_scopes_say_what_is_allowed_in_which_space():
    scopes = [
        "openid", "memory:read:a", "memory:write:a", "memory:forget:b-*", "memory:all:a", "memory:read:",
        "x:read:a",
    ]  # fmt: skip
    assert permissions_of(scopes) == (
        Permission("a", frozenset(("read", "write"))),
        Permission("b-*", frozenset(("forget",))),
    )


@pytest.mark.parametrize(
    ("url", "audience", "jwks"),
    [("http://issuer.example", "m", ""), (URL, "", ""), (URL, "m", "http://issuer.example/keys")],
)
def test_an_issuer_is_refused_that_is_not_safe(url, audience, jwks):
    with pytest.raises(ConfigurationError, match=r"access\.|jwks"):
        Issuer(url, audience, jwks)
