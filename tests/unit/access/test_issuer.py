"""Tokens of an issuer whose keys are published, and change."""

import base64
import json
import math
import time

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from mcp_memory.access.tokens import AGAIN_S, KEYS_S, Issuer, permissions_of
from mcp_memory.domain.access import Permission
from mcp_memory.errors import ConfigurationError

pytestmark = pytest.mark.anyio

URL = "https://issuer.example/realm"


class Published:
    """The pages of an issuer, and how often each was asked for."""

    def __init__(self):
        self.now = 1_000.0
        self.asked = []
        self.keys = {}
        self.down = False

    def key(self, name):
        key = ec.generate_private_key(ec.SECP256R1())
        public = json.loads(jwt.algorithms.ECAlgorithm.to_jwk(key.public_key()))
        self.keys[name] = public | {"kid": name, "use": "sig"}
        return key

    async def fetch(self, url):
        self.asked.append(url)
        if self.down:
            raise OSError("no route")
        if url == "https://issuer.example/.well-known/oauth-authorization-server/realm":
            return {"issuer": URL, "jwks_uri": "https://issuer.example/keys"}
        if url == "https://issuer.example/keys":
            return {"keys": [{"kty": "oct", "k": "c2VjcmV0", "kid": "secret"}, *self.keys.values()]}
        raise OSError("404")

    def issuer(self):
        return Issuer(URL, "memory", "", self.fetch, lambda: self.now)


def claims():
    claims = {"iss": URL, "aud": "memory", "sub": "ann", "exp": int(time.time()) + 60}
    return claims | {"scp": ["memory:read:*"]}


HEADER = {"alg": "ES256", "kid": "one", "typ": "at+jwt"}


def signed(key, name):
    return by_hand(key, HEADER | {"kid": name}, claims())


def by_hand(key, header, payload):
    """Sign whatever it is, also what the library refuses to sign; a text stands for itself."""
    parts = [one if isinstance(one, str) else json.dumps(one) for one in (header, payload)]
    text = ".".join(base64.urlsafe_b64encode(part.encode()).rstrip(b"=").decode() for part in parts)
    signature = jwt.algorithms.ECAlgorithm(jwt.algorithms.ECAlgorithm.SHA256).sign(text.encode(), key)
    return f"{text}.{base64.urlsafe_b64encode(signature).rstrip(b'=').decode()}"


async def verified(header, payload):
    """Return the grant of a token that its issuer has signed, with this in it, and what was fetched for it."""
    published = Published()
    key = published.key("one")
    return await published.issuer().verify(by_hand(key, header, payload)), published.asked


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
    "another audience": {"aud": "memory/x"}, "an object for an audience": {"aud": {"memory": 1}},
    "a list in a list": {"aud": [["memory"]]}, "no audience": {"aud": None}, "another issuer": {"iss": URL + "/"},
    "a list of issuers": {"iss": [URL]}, "a number for a subject": {"sub": 7}, "no subject": {"sub": ""},
    "a subject of two lines": {"sub": "ann\nroot"}, "a subject without end": {"sub": "a" * 300},
    "an end that no clock shows": {"exp": 10**400}, "no end": {"exp": None}, "a list of ends": {"exp": [1]},
    "an end ten seconds ago": {"exp": int(time.time()) - 10}, "a beginning to come": {"nbf": int(time.time()) + 3_600},
    "an issue to come": {"iat": int(time.time()) + 3_600},
}  # fmt: skip
TEXTS = {
    "a deep header": (DEEP, claims()), "a header of brackets": ("[" * 12_000, claims()),
    "a deep payload": (HEADER, DEEP),
    "a list": (HEADER, "[1]"), "an end without end": (HEADER, json.dumps(claims() | {"exp": math.inf})),
    "an end that is no number": (HEADER, json.dumps(claims() | {"exp": math.nan})),
    "an end of 5,000 digits": (HEADER, json.dumps(claims())[:-1] + ', "exp": ' + "9" * 5_000 + "}"),
    "two audiences, the wrong one last": (HEADER, json.dumps(claims())[:-1] + ', "aud": "else"}'),
    "two algorithms, none last": (json.dumps(HEADER)[:-1] + ', "alg": "none"}', claims()),
}  # fmt: skip


@pytest.mark.parametrize(
    ("header", "payload"),
    [*((HEADER | one, claims()) for one in HEADERS.values()), *((HEADER, claims() | one) for one in CLAIMS.values()),
     *TEXTS.values()],
    ids=[*HEADERS, *CLAIMS, *TEXTS],
)  # fmt: skip
async def test_a_token_that_its_issuer_has_signed_is_refused_where_it_says_something_odd(header, payload):
    assert (await verified(header, payload))[0] is None


@pytest.mark.parametrize("name", ["jku", "x5u", "jwk", "x5c", "zip"])
async def test_what_a_token_says_of_its_own_key_is_neither_fetched_nor_believed(name):
    grant, asked = await verified(HEADER | {name: "https://evil.example/keys"}, claims())
    assert grant is not None
    assert not any("evil" in url for url in asked)


async def test_keys_are_found_by_the_metadata_and_kept_for_a_while():
    published = Published()
    key, issuer = published.key("one"), published.issuer()
    for _ in range(3):
        grant = await issuer.verify(signed(key, "one"))
    assert (grant.caller, grant.issuer) == ("ann", URL)
    assert grant.permissions == (Permission("*", frozenset(("read",))),)
    assert len(published.asked) == 2
    published.now += KEYS_S + 1
    published.down = True
    assert await issuer.verify(signed(key, "one"))  # known keys go on while the issuer is out of reach


async def test_a_new_key_is_found_and_unknown_ones_do_not_flood_the_issuer():
    published = Published()
    old, issuer = published.key("one"), published.issuer()
    assert await issuer.verify(signed(old, "one"))
    new = published.key("two")
    for _ in range(20):
        assert await issuer.verify(signed(new, "two")) is None
    assert len(published.asked) == 2
    published.now += AGAIN_S + 1
    assert await issuer.verify(signed(new, "two"))
    published.keys.pop("one")
    published.now += KEYS_S + 1
    assert await issuer.verify(signed(old, "one")) is None


def test_scopes_say_what_is_allowed_in_which_space():
    scopes = [
        "openid",
        "memory:read:a",
        "memory:write:a",
        "memory:forget:b-*",
        "memory:all:a",
        "memory:read:",
        "x:read:a",
    ]
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
