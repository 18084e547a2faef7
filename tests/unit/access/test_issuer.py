"""Tokens of an issuer whose keys are published, and change."""

import json
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
        return Issuer(URL, "memory", "", "org", self.fetch, lambda: self.now)


def signed(key, name):
    claims = {"iss": URL, "aud": "memory", "sub": "ann", "exp": int(time.time()) + 60, "org": "acme"}
    return jwt.encode(claims | {"scp": ["memory:read:*"]}, key, "ES256", headers={"kid": name, "typ": "at+jwt"})


async def test_keys_are_found_by_the_metadata_and_kept_for_a_while():
    published = Published()
    key, issuer = published.key("one"), published.issuer()
    for _ in range(3):
        grant = await issuer.verify(signed(key, "one"))
    assert (grant.caller, grant.tenant, grant.issuer) == ("ann", "acme", URL)
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
